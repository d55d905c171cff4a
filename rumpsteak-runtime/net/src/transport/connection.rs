//! Connections: frames in both directions.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_sink::Sink;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::codec::{Framed, LengthDelimitedCodec};

/// Frames in both directions. Implemented by every such stream and sink.
pub trait Duplex:
    Stream<Item = io::Result<BytesMut>> + Sink<Bytes, Error = io::Error> + Send + Unpin
{
}

impl<T> Duplex for T where
    T: Stream<Item = io::Result<BytesMut>> + Sink<Bytes, Error = io::Error> + Send + Unpin
{
}

/// A connection of any transport, to whoever is at its other end.
pub struct Connection {
    frames: Box<dyn Duplex>,
    /// Which roles the other end may play, if the transport knows.
    may_play: Option<Box<MayPlay>>,
}

/// Whether somebody may play a role: of this protocol, by this name.
type MayPlay = dyn Fn(&str, &str) -> bool + Send + Sync;

impl Connection {
    /// A connection whose other end is not known.
    pub fn new(frames: impl Duplex + 'static) -> Self {
        Self { frames: Box::new(frames), may_play: None }
    }

    /// A connection whose other end may play those roles for which this holds: it is given the
    /// protocol and the role.
    #[must_use]
    pub fn only_for(self, may_play: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Self {
        Self { may_play: Some(Box::new(may_play)), ..self }
    }

    pub(crate) fn may_play(&self, protocol: &str, role: &str) -> bool {
        self.may_play.as_ref().is_none_or(|may_play| may_play(protocol, role))
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("restricted", &self.may_play.is_some()).finish()
    }
}

impl Stream for Connection {
    type Item = io::Result<BytesMut>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut *self.get_mut().frames).poll_next(context)
    }
}

impl Sink<Bytes> for Connection {
    type Error = io::Error;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.get_mut().frames).poll_ready(context)
    }

    fn start_send(self: Pin<&mut Self>, frame: Bytes) -> io::Result<()> {
        Pin::new(&mut *self.get_mut().frames).start_send(frame)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.get_mut().frames).poll_flush(context)
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.get_mut().frames).poll_close(context)
    }
}

/// Frames over a stream of bytes, each with its length before it.
pub(crate) fn framed<T>(stream: T, frame: usize) -> Connection
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let codec = LengthDelimitedCodec::builder().max_frame_length(frame).new_codec();
    let mut framed = Framed::with_capacity(stream, codec, BUFFER);
    framed.set_backpressure_boundary(BUFFER);
    Connection::new(framed)
}

/// How many bytes are collected before they are written.
pub(crate) const BUFFER: usize = 64 << 10;
