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

use super::connection::*;
use super::tcp;
#[cfg(feature = "tls")]
use super::tls::{Tls, may_play, shown};

/// WebSocket, which passes through HTTP proxies: `ws://host:port/path`, a frame in each binary
/// message. A listener ignores the path.
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

impl Transport for WebSocket {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move {
            let host = place.split('/').next().unwrap_or(place);
            #[cfg(feature = "tls")]
            if let Some(tls) = &self.tls {
                let stream = tls.call(host).await?;
                let may_play = may_play(shown(&stream));
                return Ok(call(place, stream, frame).await?.only_for(may_play));
            }
            call(place, tcp::call(host).await?, frame).await
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
                    Ok(answer(stream, frame).await?.only_for(may_play))
                });
            }
            Box::pin(answer(stream, frame))
        };
        let place = place.split('/').next().unwrap_or(place);
        Box::pin(tcp::listen(place, open))
    }
}

/// A TCP or TLS stream.
trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A stream that ends after the bytes of a greeting, until the limit is lifted: the library reads a
/// whole message before it reports the length.
type Limited = Join<Take<ReadHalf<Box<dyn ByteStream>>>, WriteHalf<Box<dyn ByteStream>>>;

fn limited(stream: impl ByteStream + 'static) -> Limited {
    let (reads, writes) = tokio::io::split(Box::new(stream) as Box<dyn ByteStream>);
    tokio::io::join(reads.take(3 * GREETING as u64), writes)
}

fn config(frame: usize) -> Option<WebSocketConfig> {
    Some(WebSocketConfig::default().max_message_size(Some(frame)).max_frame_size(Some(frame)))
}

async fn call(
    place: &str,
    stream: impl ByteStream + 'static,
    frame: usize,
) -> io::Result<Connection> {
    let (url, stream) = (format!("ws://{place}"), limited(stream));
    let (socket, _) = client_async_with_config(url, stream, config(frame)).await.map_err(failed)?;
    Ok(Connection::new(Messages { socket, largest: Largest::new(frame) }))
}

async fn answer(stream: impl ByteStream + 'static, frame: usize) -> io::Result<Connection> {
    let accepted = accept_async_with_config(limited(stream), config(frame)).await;
    let socket = accepted.map_err(failed)?;
    Ok(Connection::new(Messages { socket, largest: Largest::new(frame) }))
}

/// The binary messages of a WebSocket.
struct Messages {
    socket: WebSocketStream<Limited>,
    largest: Largest,
}

impl Stream for Messages {
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
                Some(Ok(Message::Binary(_) | Message::Text(_))) => {
                    Some(Err(io::ErrorKind::InvalidData.into()))
                }
                Some(Ok(Message::Close(_))) | None => None,
                // The library answers pings.
                Some(Ok(_)) => continue,
                Some(Err(error)) => Some(Err(failed(error))),
            });
        }
    }
}

sink_of_frames!(Messages, socket, |_: &mut Self, frame| Message::Binary(frame), failed);

fn failed(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        // The same kind as from a codec of frames.
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
