//! What a transport is.

use std::io;
use std::net::IpAddr;

use futures_core::future::BoxFuture;

use super::connection::Connection;

/// A way to carry frames between processes.
///
/// Both methods are given the part of an [`Address`](crate::Address) behind `://`, and the size in
/// bytes of the largest frame, beyond which a connection fails with an error.
pub trait Transport: Send + Sync + 'static {
    /// Connects to a place where somebody listens.
    ///
    /// # Errors
    ///
    /// If nobody is there; the caller tries again. After two errors it does not:
    /// [`io::ErrorKind::InvalidInput`] says that the place makes no sense, and
    /// [`io::ErrorKind::PermissionDenied`], unless it comes from the operating system, that one end
    /// does not believe the other.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a connection that is under way is given up.
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection>;

    /// Listens at a place.
    ///
    /// # Errors
    ///
    /// If that is not possible. [`io::ErrorKind::ConnectionRefused`] says that somebody whom it
    /// takes is not there, such as a broker: it is tried again, as long as peers are waited for.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nobody listens then.
    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens>;
}

/// What a transport does in its own time, and may fail to do.
pub type IoFuture<'a, T> = BoxFuture<'a, io::Result<T>>;

/// Somebody who listens, and the place by which others reach it; another place than was asked for
/// if that left a part open, as port 0 does.
pub type Listens = (Box<dyn Listener>, String);

/// What is left to do until somebody who has called is connected: the transport's own handshake.
pub type Opening = IoFuture<'static, Connection>;

/// Somebody who listens.
pub trait Listener: Send + 'static {
    /// The next one who calls, and its address. What takes time beyond that is left to the
    /// [`Opening`], so that nobody waits for somebody else.
    ///
    /// A host limits how many connections one address may have
    /// [before they greet](crate::Limits::connections_of_address). An address of `None` sets no
    /// such limit: behind a broker all callers have one address.
    ///
    /// # Errors
    ///
    /// If this one failed. The next one may succeed.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nobody is lost.
    fn accept(&mut self) -> IoFuture<'_, (Opening, Option<IpAddr>)>;
}
