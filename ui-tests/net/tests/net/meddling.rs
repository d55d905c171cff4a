//! A transport whose frames pass somebody's hands.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use futures::{Sink, Stream};
use rumpsteak_net::transport::{Connection, IoFuture, Listens, Memory, Transport};

/// Changes the frames of one connection at the caller's end. An error breaks the connection.
pub(crate) trait Hands: Send + Unpin + 'static {
    /// A frame that is sent; what is sent in its place.
    fn send(&mut self, frame: Bytes) -> io::Result<Bytes>;

    /// A frame has come.
    fn receive(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Connections in memory, each with hands of its own.
pub(crate) struct Meddling<F>(pub(crate) F);

impl<F, H> Transport for Meddling<F>
where
    F: Fn() -> H + Send + Sync + 'static,
    H: Hands,
{
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move {
            let inner = Some(Memory.connect(place, frame).await?);
            Ok(Connection::new(Meddled { inner, hands: (self.0)() }))
        })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        Memory.listen(place, frame)
    }
}

struct Meddled<H> {
    /// `None` once it is broken.
    inner: Option<Connection>,
    hands: H,
}

impl<H: Hands> Meddled<H> {
    fn inner(&mut self) -> io::Result<Pin<&mut Connection>> {
        self.inner.as_mut().map(Pin::new).ok_or(io::ErrorKind::ConnectionReset.into())
    }

    /// The verdict of the meddler, which may break the connection.
    fn said<T>(&mut self, said: io::Result<T>) -> io::Result<T> {
        if said.is_err() {
            self.inner = None;
        }
        said
    }
}

impl<H: Hands> Stream for Meddled<H> {
    type Item = io::Result<BytesMut>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let next = ready!(this.inner()?.poll_next(context));
        let received = this.hands.receive();
        this.said(received)?;
        Poll::Ready(next)
    }
}

impl<H: Hands> Sink<Bytes> for Meddled<H> {
    type Error = io::Error;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().inner()?.poll_ready(context)
    }

    fn start_send(self: Pin<&mut Self>, frame: Bytes) -> io::Result<()> {
        let this = self.get_mut();
        let sent = this.hands.send(frame);
        let frame = this.said(sent)?;
        this.inner()?.start_send(frame)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().inner()?.poll_flush(context)
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().inner()?.poll_close(context)
    }
}
