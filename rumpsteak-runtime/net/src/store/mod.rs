//! Stores of records, from which roles come back after their processes died.

#[cfg(feature = "nats")]
mod jetstream;
mod records;

#[cfg(feature = "nats")]
pub use self::jetstream::KeyValue;
pub use self::records::Records;
