//! Connections: frames in both directions.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_sink::Sink;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::codec::{Decoder, Encoder, Framed, LengthDelimitedCodec};

use crate::address::Address;

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
    /// Decides which roles the other end may play, if the transport knows.
    may_play: Option<Box<MayPlay>>,
    max_payload: usize,
    /// The place of the very end that has answered, if the transport knows a better one than was
    /// called.
    pub(crate) home: Option<String>,
    /// The address at which that end is called again.
    pub(crate) at: Option<Address>,
    /// The address of a caller.
    pub(crate) caller: Option<IpAddr>,
}

/// Returns true if the other end may play the role of this protocol and name.
type MayPlay = dyn Fn(&str, &str) -> bool + Send + Sync;

impl Connection {
    /// A connection whose other end is not known.
    pub fn new(frames: impl Duplex + 'static) -> Self {
        let (frames, max_payload) = (Box::new(frames), usize::MAX);
        Self { frames, may_play: None, max_payload, home: None, at: None, caller: None }
    }

    /// A connection whose other end may play those roles for which this holds: it is given the
    /// protocol and the role.
    #[must_use]
    pub fn only_for(self, may_play: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Self {
        Self { may_play: Some(Box::new(may_play)), ..self }
    }

    /// A connection over which a frame has at most so many bytes, whatever the
    /// [limit](crate::Limits::frame) of the host is. A larger message is
    /// [`NetError::Encode`](crate::NetError::Encode) at once.
    #[must_use]
    pub fn with_max_payload(self, max_payload: usize) -> Self {
        Self { max_payload, ..self }
    }

    /// The largest frame that this end may send, in bytes; `usize::MAX` if the transport sets no
    /// limit.
    #[must_use]
    pub fn max_payload(&self) -> usize {
        self.max_payload
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
    let codec = Lengths { codec: LengthDelimitedCodec::new(), largest: Largest::new(frame) };
    let mut framed = Framed::with_capacity(stream, codec, BUFFER);
    framed.set_backpressure_boundary(BUFFER);
    Connection::new(framed)
}

/// The largest frame before the greeting is done, in bytes.
pub(crate) const GREETING: usize = 64 << 10;

/// The size of the largest frame that may come next. The first two frames of a connection are
/// small: a greeting or its answer, and a first grant or a farewell. A stranger gets no further.
pub(crate) struct Largest {
    frame: usize,
    came: u8,
}

impl Largest {
    pub(crate) fn new(frame: usize) -> Self {
        Self { frame, came: 0 }
    }

    /// How large the next frame may be.
    pub(crate) fn next(&self) -> usize {
        if self.came < 2 { GREETING } else { self.frame }
    }

    /// Counts a frame that has come; true if the greeting is done.
    pub(crate) fn count(&mut self) -> bool {
        self.came = self.came.saturating_add(1);
        self.came >= 2
    }
}

struct Lengths {
    codec: LengthDelimitedCodec,
    largest: Largest,
}

impl Decoder for Lengths {
    type Item = BytesMut;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> io::Result<Option<BytesMut>> {
        self.codec.set_max_frame_length(self.largest.next());
        let frame = self.codec.decode(bytes)?;
        frame.is_some().then(|| self.largest.count());
        Ok(frame)
    }
}

impl Encoder<Bytes> for Lengths {
    type Error = io::Error;

    fn encode(&mut self, frame: Bytes, bytes: &mut BytesMut) -> io::Result<()> {
        self.codec.set_max_frame_length(self.largest.frame.max(GREETING));
        self.codec.encode(frame, bytes)
    }
}

/// The number of bytes that are collected before they are written.
pub(crate) const BUFFER: usize = 64 << 10;

/// An unpredictable number, for names and tokens: 128 bits of the operating system's generator.
pub(crate) fn random() -> io::Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_ne_bytes(bytes))
}
