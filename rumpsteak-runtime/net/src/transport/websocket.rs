use std::future::ready;
use std::io;
use std::sync::Arc;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use futures_util::{SinkExt as _, StreamExt as _, TryStreamExt as _};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufWriter, join};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::http::header::{
    AUTHORIZATION, HeaderValue, SEC_WEBSOCKET_PROTOCOL,
};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{ClientRequestBuilder, Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config, client_async_with_config};
use tokio_util::io::{CopyToBytes, SinkWriter, StreamReader};

use super::connection::*;
use super::multiplex::multiplexed;
use super::tcp;
#[cfg(feature = "tls")]
use super::tls::{self, Tls};

/// WebSocket, which passes through HTTP proxies: `ws://host:port/path`. Binary messages carry the
/// bytes. A listener ignores the path.
///
/// ```
/// # #[cfg(feature = "tls")]
/// # fn f(identity: rumpsteak_net::transport::Identity) -> std::io::Result<()> {
/// use rumpsteak_net::transport::{Tls, Transports, WebSocket};
///
/// let transports = Transports::default().with("wss", WebSocket::over(Tls::new(identity)?));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct WebSocket {
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
    proxy: Option<String>,
    token: Option<String>,
    admits: Option<Arc<Admits>>,
}

/// Returns true if the owner of a token may play the role of this protocol and name.
type Admits = dyn Fn(&str, &str, &str) -> bool + Send + Sync;

impl WebSocket {
    /// WebSocket over TLS.
    #[cfg(feature = "tls")]
    pub fn over(tls: Tls) -> Self {
        Self { tls: Some(tls), ..Self::default() }
    }

    /// Calls through a forward proxy, `host:port` or `user:password@host:port`, as where a firewall
    /// lets only HTTP out (`CONNECT`, RFC 9110, §9.3.6).
    #[must_use]
    pub fn through(self, proxy: impl Into<String>) -> Self {
        Self { proxy: Some(proxy.into()), ..self }
    }

    /// Shows this token when it calls (`Authorization: Bearer`, RFC 6750), as behind a proxy that
    /// ends TLS and so hides the certificate of the caller. Only show a token over TLS.
    #[must_use]
    pub fn with_token(self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self }
    }

    /// Accepts only callers with a token. A caller may play the roles for which `admits` returns
    /// true, given the token, the protocol and the role. A [page](crate::guide::browser) can show a
    /// token too. With TLS, the certificate has to be for the role, too. Compare tokens in constant
    /// time.
    pub fn admitting(
        self,
        admits: impl Fn(&str, &str, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { admits: Some(Arc::new(admits)), ..self }
    }

    async fn call<S>(&self, place: &str, stream: S, frame: usize) -> io::Result<Connection>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let mut request =
            ClientRequestBuilder::new(format!("ws://{place}").parse().map_err(invalid)?);
        if let Some(token) = &self.token {
            request = request.with_header(AUTHORIZATION.as_str(), format!("Bearer {token}"));
        }
        let socket = client_async_with_config(request, stream, config()).await.map_err(failed)?.0;
        multiplexed(bytes_of(socket), frame, true).await
    }

    async fn answer<S>(
        self,
        stream: S,
        frame: usize,
        may_play: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
    ) -> io::Result<Connection>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut token = None;
        #[expect(clippy::result_large_err, reason = "the signature is the library's")]
        let check = |request: &Request, mut answer: Response| {
            let shown = request.headers().get(AUTHORIZATION).and_then(|it| it.to_str().ok());
            token = shown.and_then(|it| it.strip_prefix("Bearer ")).map(str::to_owned);
            // A page cannot set a header. It offers subprotocols, and its browser ends the call
            // unless one of them is chosen.
            let offered = request.headers().get(SEC_WEBSOCKET_PROTOCOL);
            let offered = offered.and_then(|it| it.to_str().ok()).unwrap_or_default();
            let mut offered = offered.split(',').map(str::trim);
            if offered.clone().any(|it| it == SUBPROTOCOL) {
                let chosen = HeaderValue::from_static(SUBPROTOCOL);
                answer.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, chosen);
                token = token.take().or_else(|| offered.find_map(token_in));
            }
            if self.admits.is_some() && token.is_none() {
                let mut refused = ErrorResponse::new(Some("a token is needed".to_owned()));
                *refused.status_mut() = StatusCode::UNAUTHORIZED;
                return Err(refused);
            }
            Ok(answer)
        };
        let socket = accept_hdr_async_with_config(stream, check, config()).await.map_err(failed)?;
        let opened = multiplexed(bytes_of(socket), frame, false).await?;
        Ok(opened.only_for(move |protocol, role| {
            let admits = |admits: &Arc<Admits>| {
                token.as_ref().is_some_and(|token| admits(token, protocol, role))
            };
            may_play(protocol, role) && self.admits.as_ref().is_none_or(admits)
        }))
    }
}

impl Transport for WebSocket {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move {
            let host = place.split('/').next().unwrap_or(place);
            let stream = async {
                match &self.proxy {
                    Some(proxy) => tunnel(proxy, host).await,
                    None => tcp::call(host).await,
                }
            };
            #[cfg(feature = "tls")]
            if let Some(tls) = &self.tls {
                let stream = tls.call(host, stream).await?;
                let may_play = tls.may_play(&stream);
                return Ok(self.call(place, stream, frame).await?.only_for(may_play));
            }
            self.call(place, stream.await?, frame).await
        })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        Box::pin(async move {
            let own = self.clone();
            #[cfg(feature = "tls")]
            let acceptor = self.tls.as_ref().map(Tls::acceptor).transpose()?;
            let open = move |stream| -> Opening {
                let own = own.clone();
                #[cfg(feature = "tls")]
                if let (Some(tls), Some(acceptor)) = (own.tls.clone(), acceptor.clone()) {
                    return Box::pin(async move {
                        let stream = tls::answer(acceptor, stream).await?;
                        let may_play = tls.may_play(&stream);
                        own.answer(stream, frame, may_play).await
                    });
                }
                Box::pin(own.answer(stream, frame, |_, _| true))
            };
            tcp::listen(place.split('/').next().unwrap_or(place), open).await
        })
    }
}

impl_debug!([] WebSocket, "proxy": |it| {
    it.proxy.as_deref().and_then(|proxy| proxy.rsplit('@').next()).map(str::to_owned)
});

/// The longest answer of a proxy, in bytes.
const LONGEST_HEAD: usize = 8 << 10;

async fn tunnel(proxy: &str, place: &str) -> io::Result<TcpStream> {
    let (user, at) = proxy.rsplit_once('@').map_or((None, proxy), |(user, at)| (Some(user), at));
    let mut stream = tcp::call(at).await?;
    let place = tcp::with_port(place)?;
    let mut request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n");
    if let Some(user) = user {
        let user = BASE64.encode(user.as_bytes());
        request += &format!("Proxy-Authorization: Basic {user}\r\n");
    }
    stream.write_all(format!("{request}\r\n").as_bytes()).await?;
    // What follows the head belongs to the place.
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < LONGEST_HEAD {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head);
    let status = head.lines().next().unwrap_or_default();
    let code: Option<u16> = status.split(' ').nth(1).and_then(|code| code.parse().ok());
    let kind = match code {
        Some(200..300) if head.ends_with("\r\n\r\n") => return Ok(stream),
        Some(401 | 403 | 405 | 407) => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::Other,
    };
    Err(io::Error::new(kind, format!("the proxy {at} answered {status:?} to CONNECT {place}")))
}

/// The subprotocol that a page offers beside the one that shows its token: see `browser.rs`.
const SUBPROTOCOL: &str = "rumpsteak";

fn token_in(offered: &str) -> Option<String> {
    let token = offered.strip_prefix("bearer.")?;
    String::from_utf8(BASE64URL_NOPAD.decode(token.as_bytes()).ok()?).ok()
}

fn config() -> Option<WebSocketConfig> {
    let most = Some(4 * BUFFER);
    Some(WebSocketConfig::default().max_message_size(most).max_frame_size(most))
}

/// A stream of the bytes in the binary messages of a WebSocket.
fn bytes_of<S: AsyncRead + AsyncWrite + Send + Unpin>(
    socket: WebSocketStream<S>,
) -> impl AsyncRead + AsyncWrite + Send + Unpin {
    let (sink, stream) = socket.split();
    let messages = stream.map_err(failed).try_take_while(|it| ready(Ok(!it.is_close())));
    let bytes = messages.try_filter_map(|message| {
        ready(match message {
            Message::Binary(bytes) => Ok(Some(bytes)),
            Message::Text(_) => Err(io::ErrorKind::InvalidData.into()),
            // The library answers pings.
            _ => Ok(None),
        })
    });
    let sink =
        sink.sink_map_err(failed).with(|bytes| ready(io::Result::Ok(Message::Binary(bytes))));
    let writer = SinkWriter::new(CopyToBytes::new(sink));
    join(StreamReader::new(bytes), BufWriter::with_capacity(BUFFER, writer))
}

fn failed(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        // The same kind as from a codec of frames.
        Error::Capacity(error) => io::Error::new(io::ErrorKind::InvalidData, error),
        Error::Url(error) => io::Error::new(io::ErrorKind::InvalidInput, error),
        // The token has characters that no header may have.
        Error::HttpFormat(error) => io::Error::new(io::ErrorKind::InvalidInput, error),
        Error::Http(ref answer)
            if [400, 401, 403, 405, 426].contains(&answer.status().as_u16()) =>
        {
            io::Error::new(io::ErrorKind::PermissionDenied, error)
        }
        error => io::Error::other(error),
    }
}
