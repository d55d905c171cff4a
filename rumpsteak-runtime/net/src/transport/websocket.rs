//! WebSocket.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_sink::Sink;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_async_with_config, client_async_with_config};

use super::connection::*;
use super::multiplex::multiplexed;
use super::tcp;
#[cfg(feature = "tls")]
use super::tls::{Tls, may_play, shown};

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

fn config() -> Option<WebSocketConfig> {
    let most = Some(4 * BUFFER);
    Some(WebSocketConfig::default().max_message_size(most).max_frame_size(most))
}

async fn call<S>(place: &str, stream: S, frame: usize) -> io::Result<Connection>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let url = format!("ws://{place}");
    let (socket, _) = client_async_with_config(url, stream, config()).await.map_err(failed)?;
    multiplexed(Messages { socket, unread: Bytes::new() }, frame, true).await
}

async fn answer<S>(stream: S, frame: usize) -> io::Result<Connection>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let socket = accept_async_with_config(stream, config()).await.map_err(failed)?;
    multiplexed(Messages { socket, unread: Bytes::new() }, frame, false).await
}

/// A stream of the bytes in the binary messages of a WebSocket.
struct Messages<S> {
    socket: WebSocketStream<S>,
    unread: Bytes,
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Messages<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.unread.is_empty() {
            match ready!(Pin::new(&mut this.socket).poll_next(context)) {
                Some(Ok(Message::Binary(bytes))) => this.unread = bytes,
                Some(Ok(Message::Text(_))) => {
                    return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
                }
                Some(Ok(Message::Close(_))) | None => return Poll::Ready(Ok(())),
                // The library answers pings.
                Some(Ok(_)) => {}
                Some(Err(error)) => return Poll::Ready(Err(failed(error))),
            }
        }
        let size = this.unread.len().min(buffer.remaining());
        buffer.put_slice(&this.unread.split_to(size));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Messages<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    /// Writes the slices as one message.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut socket = Pin::new(&mut self.get_mut().socket);
        ready!(socket.as_mut().poll_ready(context)).map_err(failed)?;
        let mut message = BytesMut::new();
        for slice in slices {
            let size = slice.len().min(2 * BUFFER - message.len());
            message.extend_from_slice(&slice[..size]);
        }
        let size = message.len();
        socket.start_send(Message::Binary(message.freeze())).map_err(failed)?;
        Poll::Ready(Ok(size))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context).map_err(failed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_close(context).map_err(failed)
    }
}

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
