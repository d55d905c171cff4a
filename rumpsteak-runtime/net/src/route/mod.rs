//! Routes to other processes, and the tasks that serve them.

mod absent_peer;
mod bridge;
mod lane;
mod net;
mod outbox;
mod reconnect;
mod status;
mod window;

pub use self::bridge::Bridge;
pub(crate) use self::lane::*;
pub use self::net::*;
pub use self::outbox::Outbox;
pub(crate) use self::outbox::{LocalQueue, Next, Outgoing, Write};
pub(crate) use self::reconnect::{Remote, answered_at, begin, run};
pub use self::status::Peer;
pub(crate) use self::status::SharedStatus;
#[cfg(feature = "nats")]
pub(crate) use self::status::Unsaved;
#[cfg(feature = "nats")]
pub(crate) use self::window::Taken;
pub(crate) use self::window::{Reports, Window, capacity, windows};
