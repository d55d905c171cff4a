//! The traits of a transport.

use std::io;
use std::net::IpAddr;

use futures_core::future::BoxFuture;

use super::connection::Connection;

/// A way to carry frames between processes.
///
/// Both methods are given the part of an [`Address`](crate::Address) behind `://`, and the size in
/// bytes of the largest frame, beyond which a connection fails with an error. Both are cancel safe.
pub trait Transport: Send + Sync + 'static {
    /// Connects to a place where a peer listens.
    ///
    /// # Errors
    ///
    /// If no peer is there; the caller tries again, except after two errors.
    /// [`io::ErrorKind::InvalidInput`] says that the place makes no sense.
    /// [`io::ErrorKind::PermissionDenied`], unless it comes from the operating system, says that
    /// one end does not believe the other.
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection>;

    /// Listens at a place.
    ///
    /// # Errors
    ///
    /// If that is not possible. After [`io::ErrorKind::ConnectionRefused`], which says that a
    /// broker is not there, a host tries again as long as it waits for peers.
    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens>;
}

/// The future of a transport.
pub type IoFuture<'a, T> = BoxFuture<'a, io::Result<T>>;

/// A listener, and the place by which others reach it. That is another place than was asked for if
/// a part was left open, as by port 0.
pub type Listens = (Box<dyn Listener>, String);

/// The transport's own handshake with a caller.
pub type Opening = IoFuture<'static, Connection>;

/// A listener of a transport.
pub trait Listener: Send + 'static {
    /// The next caller, and its address. The [`Opening`] does what takes time, so that no caller
    /// waits for another one. Cancel safe: no caller is lost.
    ///
    /// A host limits how many connections one address may have
    /// [before they greet](crate::Limits::connections_of_address). An address of `None` sets no
    /// such limit: behind a broker all callers have one address.
    ///
    /// # Errors
    ///
    /// If this caller failed. The next one may succeed.
    fn accept(&mut self) -> IoFuture<'_, (Opening, Option<IpAddr>)>;
}
