//! A store of records.

use crate::transport::IoFuture;

/// A place for the records of [stored](crate::Stored) roles: a bucket of NATS JetStream
/// (`KeyValue`), or a database.
///
/// The process that opens the records last has them. A process that had them before must not write
/// any more: two processes that play one role from one record break its session.
pub trait Records: Send + Sync + 'static {
    /// All records, by name.
    fn load(&self) -> IoFuture<'_, Vec<(String, Vec<u8>)>>;

    /// Replaces a record, as a whole or not at all. Ready when it survives the death of the
    /// process, and of the machine if the store promises so.
    fn put<'a>(&'a self, name: &'a str, record: Vec<u8>) -> IoFuture<'a, ()>;

    /// Removes a record, if there is one.
    fn remove<'a>(&'a self, name: &'a str) -> IoFuture<'a, ()>;
}
