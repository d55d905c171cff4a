//! The journal: sessions that NATS JetStream stores, one stream for each. A stream has a
//! [log](Log) for each role of its session.

mod entry;
mod log;

pub(crate) use self::entry::{Channel, Entry, Phase};
pub use self::log::Journal;
pub(crate) use self::log::{LOOK, Log, encoded, failed, next};
