//! Connections, which carry frames in both directions, and the traits of a transport.

use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_core::future::BoxFuture;
use futures_sink::Sink;
use tokio::io::{AsyncRead, AsyncWrite};

use super::framing::frames;
pub(crate) use super::framing::{BUFFER, GREETING};
use crate::address::Address;

/// A way to carry frames between processes.
///
/// Both methods are given the part of an [`Address`](crate::Address) behind `://`, and the size in
/// bytes of the largest frame, beyond which a connection fails with an error. Both are cancel safe.
pub trait Transport: Send + Sync + 'static {
    /// Connects to a place where a peer listens. Fails if no peer is there; the caller tries again,
    /// except after two errors: [`io::ErrorKind::InvalidInput`] says that the place is invalid, and
    /// [`io::ErrorKind::PermissionDenied`], unless it comes from the operating system, that one end
    /// does not trust the other.
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection>;

    /// Listens at a place. Fails if that is not possible. After
    /// [`io::ErrorKind::ConnectionRefused`], which says that a broker is not there, a host tries
    /// again as long as it waits for peers.
    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens>;
}

/// The future of a transport.
pub type IoFuture<'a, T> = BoxFuture<'a, io::Result<T>>;

/// A listener, and the place by which others reach it. It differs from the requested place if a
/// part was left open, such as port 0.
pub type Listens = (Box<dyn Listener>, String);

/// The transport's own handshake with a caller.
pub type Opening = IoFuture<'static, Connection>;

/// A listener of a transport.
pub trait Listener: Send + 'static {
    /// The next caller, and its address. The [`Opening`] does what takes time, so that no caller
    /// waits for another one. Cancel safe: no caller is lost.
    ///
    /// A host limits how many connections one address may have [before they
    /// greet](crate::Limits::connections_of_address). An address of `None` sets no such limit:
    /// behind a broker all callers have one address. Fails if this caller failed. The next one may
    /// succeed.
    fn accept(&mut self) -> IoFuture<'_, (Opening, Option<IpAddr>)>;
}

/// A function that polls for the next caller.
impl<F> Listener for F
where
    F: FnMut(&mut Context<'_>) -> Poll<io::Result<(Opening, Option<IpAddr>)>> + Send + 'static,
{
    fn accept(&mut self) -> IoFuture<'_, (Opening, Option<IpAddr>)> {
        Box::pin(poll_fn(self))
    }
}

/// Frames in both directions. Implemented by every such stream and sink.
pub trait Duplex:
    Stream<Item = io::Result<BytesMut>> + Sink<Bytes, Error = io::Error> + Send + Unpin
{
}

impl<T> Duplex for T where
    T: Stream<Item = io::Result<BytesMut>> + Sink<Bytes, Error = io::Error> + Send + Unpin
{
}

/// A connection of any transport.
pub struct Connection {
    frames: Box<dyn Duplex>,
    /// Decides which roles the other end may play, if the transport knows.
    may_play: Option<Arc<MayPlay>>,
    max_payload: usize,
    /// The connection of which this is a stream, if sessions share it.
    line: Option<Arc<dyn Line>>,
    /// The further streams of that connection, for the host.
    streams: Option<Streams>,
    /// The address at which the very end that has answered is called again.
    pub(crate) at: Option<Address>,
    /// The address of the other end, if that has called.
    pub(crate) caller: Option<IpAddr>,
    /// The scheme of the address at which it has called.
    pub(crate) scheme: Option<Arc<str>>,
}

/// Returns true if the other end may play the role of this protocol and name.
type MayPlay = dyn Fn(&str, &str) -> bool + Send + Sync;

impl Connection {
    /// A connection whose other end is not known.
    pub fn new(frames: impl Duplex + 'static) -> Self {
        Self {
            frames: Box::new(frames),
            may_play: None,
            max_payload: usize::MAX,
            line: None,
            streams: None,
            at: None,
            caller: None,
            scheme: None,
        }
    }

    /// A connection whose other end may play only the roles for which `may_play` returns true,
    /// given the protocol and the role.
    #[must_use]
    pub fn only_for(self, may_play: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Self {
        Self { may_play: Some(Arc::new(may_play)), ..self }
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
    pub fn max_payload(&self) -> usize {
        self.max_payload
    }

    /// A stream of a connection that sessions share.
    pub(super) fn of(line: Arc<dyn Line>, frames: impl Duplex + 'static) -> Self {
        Self { line: Some(line), ..Self::new(frames) }
    }

    /// Returns true if sessions share the connection, which then has heartbeats of its own.
    pub(crate) fn is_shared(&self) -> bool {
        self.line.is_some()
    }

    /// Returns true if the frames that were sent are written without a flush.
    pub(crate) fn flushes_itself(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.flushes_itself())
    }

    /// Keeps a shared connection for a while without streams, with heartbeats in this interval.
    pub(crate) fn keep(&self, beat: Duration) {
        self.line.iter().for_each(|line| Arc::clone(line).keep(beat));
    }

    /// Takes the further streams of the connection, if this is the first stream of a shared one.
    /// The other end may play the same roles over all of them.
    pub(crate) fn take_streams(&mut self) -> Option<Streams> {
        let mut streams = self.streams.take()?;
        (streams.may_play, streams.max_payload) = (self.may_play.clone(), self.max_payload);
        Some(streams)
    }

    pub(crate) fn may_play(&self, protocol: &str, role: &str) -> bool {
        // A certificate names a family, and allows each member.
        let family = role.split('[').next().unwrap_or(role);
        self.may_play.as_ref().is_none_or(|may_play| may_play(protocol, family))
    }
}

/// A connection between two hosts, which their sessions share: each route has a stream of it.
pub(super) trait Line: Send + Sync {
    /// Opens a stream. Fails if the connection has ended.
    fn open(self: Arc<Self>) -> IoFuture<'static, Connection>;

    /// The next stream that the other end has opened. Fails if the connection has ended.
    fn accept(self: Arc<Self>) -> IoFuture<'static, Connection>;

    fn is_open(&self) -> bool;

    /// See [`Connection::flushes_itself`].
    fn flushes_itself(&self) -> bool {
        false
    }

    /// See [`Connection::keep`].
    fn keep(self: Arc<Self>, beat: Duration);

    /// Ends the connection with its last stream. The host neither opens nor accepts more. The
    /// default is for a connection that its last stream drops.
    fn release(&self) {}
}

/// The streams that a host may open or accept over a connection.
pub(crate) struct Streams {
    line: Arc<dyn Line>,
    may_play: Option<Arc<MayPlay>>,
    max_payload: usize,
}

impl Streams {
    /// The first stream of a connection, and in it the others.
    pub(super) async fn first(line: Arc<dyn Line>, is_caller: bool) -> io::Result<Connection> {
        let streams = Self { line, may_play: None, max_payload: usize::MAX };
        let first = if is_caller { streams.open().await } else { streams.accept().await };
        Ok(Connection { streams: Some(streams), ..first? })
    }

    pub(crate) async fn open(&self) -> io::Result<Connection> {
        Ok(self.restrict(Arc::clone(&self.line).open().await?))
    }

    pub(crate) async fn accept(&self) -> io::Result<Connection> {
        Ok(self.restrict(Arc::clone(&self.line).accept().await?))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.line.is_open()
    }

    pub(crate) fn has(&self, stream: &Connection) -> bool {
        stream.line.as_ref().is_some_and(|line| Arc::ptr_eq(line, &self.line))
    }

    fn restrict(&self, stream: Connection) -> Connection {
        let (may_play, max_payload) = (self.may_play.clone(), self.max_payload);
        Connection { may_play, max_payload, ..stream }
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.line.release();
    }
}

impl_debug!([] Connection, "restricted": |it| it.may_play.is_some());

impl Stream for Connection {
    type Item = io::Result<BytesMut>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.get_mut().frames).poll_next(context)
    }
}

/// Implements a sink of frames by the sink in a field, given functions that turn a frame into an
/// item, and an error into one of I/O.
macro_rules! sink_of_frames {
    ($type:ty, $field:ident, $item:expr, $error:expr) => {
        impl Sink<Bytes> for $type {
            type Error = io::Error;

            fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.get_mut().$field).poll_ready(context).map_err($error)
            }

            fn start_send(self: Pin<&mut Self>, frame: Bytes) -> io::Result<()> {
                let this = self.get_mut();
                let item = $item(this, frame);
                Pin::new(&mut this.$field).start_send(item).map_err($error)
            }

            fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.get_mut().$field).poll_flush(context).map_err($error)
            }

            fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.get_mut().$field).poll_close(context).map_err($error)
            }
        }
    };
}
#[cfg(feature = "nats")]
pub(super) use sink_of_frames;

sink_of_frames!(Connection, frames, |_: &mut Self, frame| frame, io::Error::from);

pub(crate) fn framed<T>(stream: T, frame: usize) -> Connection
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    Connection::new(frames(stream, frame, BUFFER))
}

/// An error that several calls or streams get. The lengths of frames are not to blame for it.
pub(crate) fn copied(error: &Arc<io::Error>) -> io::Error {
    let kind = match error.kind() {
        io::ErrorKind::InvalidData => io::ErrorKind::ConnectionAborted,
        kind => kind,
    };
    io::Error::new(kind, Arc::clone(error))
}

/// How long the end that has called keeps a shared connection without streams. The other end keeps
/// it for twice as long.
pub(super) const IDLE: Duration = Duration::from_secs(60);

/// An unpredictable number, for names and tokens: 128 bits of the operating system's generator.
pub(crate) fn random() -> io::Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_ne_bytes(bytes))
}
