//! WebSocket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_sink::Sink;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, Join, ReadHalf, Take, WriteHalf};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_async_with_config, client_async_with_config};

use super::connection::{Connection, GREETING, Largest};
use super::listener::{IoFuture, Listens, Opening, Transport};
use super::tcp;
#[cfg(feature = "tls")]
use super::tls::{Tls, may_play, shown};

/// WebSocket, which passes through proxies of HTTP: `ws://host:port/path`, a frame in each binary
/// message. The path does not matter to whoever listens.
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
#[derive(Clone, Debug, Default)]
pub struct WebSocket {
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

impl WebSocket {
    /// WebSocket over TLS.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn over(tls: Tls) -> Self {
        Self { tls: Some(tls) }
    }
}

fn config(frame: usize) -> Option<WebSocketConfig> {
    Some(WebSocketConfig::default().max_message_size(Some(frame)).max_frame_size(Some(frame)))
}

impl Transport for WebSocket {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move {
            let host = place.split('/').next().unwrap_or(place);
            let url = format!("ws://{place}");
            #[cfg(feature = "tls")]
            if let Some(tls) = &self.tls {
                let stream = tls.call(host).await?;
                let may_play = may_play(shown(&stream));
                let called = client_async_with_config(url, greeting(stream), config(frame)).await;
                return Ok(opened(called.map(|(socket, _)| socket), frame)?.only_for(may_play));
            }
            let stream = tcp::call(host).await?;
            let called = client_async_with_config(url, greeting(stream), config(frame)).await;
            opened(called.map(|(socket, _)| socket), frame)
        })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        #[cfg(feature = "tls")]
        let tls = self.tls.clone();
        let open = move |stream| -> Opening {
            #[cfg(feature = "tls")]
            if let Some(tls) = tls.clone() {
                return Box::pin(async move {
                    let stream = tls.answer(stream).await?;
                    let may_play = may_play(shown(&stream));
                    let accepted = accept_async_with_config(greeting(stream), config(frame)).await;
                    Ok(opened(accepted, frame)?.only_for(may_play))
                });
            }
            Box::pin(async move {
                opened(accept_async_with_config(greeting(stream), config(frame)).await, frame)
            })
        };
        let place = place.split('/').next().unwrap_or(place);
        Box::pin(tcp::listen(place, open))
    }
}

/// A stream of which no more is read than a greeting needs, until it is done: the library collects
/// a message before it can be asked how large it is.
type Greeting<S> = Join<Take<ReadHalf<S>>, WriteHalf<S>>;

fn greeting<S: AsyncRead + AsyncWrite>(stream: S) -> Greeting<S> {
    let (reads, writes) = tokio::io::split(stream);
    tokio::io::join(reads.take(3 * GREETING as u64), writes)
}

fn opened<S>(
    opened: Result<WebSocketStream<Greeting<S>>, Error>,
    frame: usize,
) -> io::Result<Connection>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let messages = |socket| Messages { socket, largest: Largest::new(frame) };
    opened.map(|socket| Connection::new(messages(socket))).map_err(failed)
}

/// The binary messages of a WebSocket.
struct Messages<S> {
    socket: WebSocketStream<Greeting<S>>,
    largest: Largest,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for Messages<S> {
    type Item = io::Result<BytesMut>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            return Poll::Ready(match ready!(Pin::new(&mut this.socket).poll_next(context)) {
                Some(Ok(Message::Binary(bytes))) if bytes.len() <= this.largest.next() => {
                    if this.largest.count() {
                        this.socket.get_mut().reader_mut().set_limit(u64::MAX);
                    }
                    Some(Ok(bytes.into()))
                }
                Some(Ok(Message::Binary(_))) => Some(Err(io::ErrorKind::InvalidData.into())),
                Some(Ok(Message::Close(_))) | None => None,
                Some(Ok(Message::Text(_))) => Some(Err(io::ErrorKind::InvalidData.into())),
                // The library answers pings.
                Some(Ok(_)) => continue,
                Some(Err(error)) => Some(Err(failed(error))),
            });
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Sink<Bytes> for Messages<S> {
    type Error = io::Error;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_ready(context).map_err(failed)
    }

    fn start_send(self: Pin<&mut Self>, frame: Bytes) -> io::Result<()> {
        Pin::new(&mut self.get_mut().socket).start_send(Message::Binary(frame)).map_err(failed)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context).map_err(failed)
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_close(context).map_err(failed)
    }
}

fn failed(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        // As the codec of frames says it.
        Error::Capacity(error) => io::Error::new(io::ErrorKind::InvalidData, error),
        Error::Url(error) => io::Error::new(io::ErrorKind::InvalidInput, error),
        Error::Http(ref answer)
            if [400, 401, 403, 405, 426].contains(&answer.status().as_u16()) =>
        {
            io::Error::new(io::ErrorKind::PermissionDenied, error)
        }
        error => io::Error::other(error),
    }
}
