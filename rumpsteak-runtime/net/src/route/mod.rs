//! Routes to other processes, and the tasks that serve them.

mod absent_peer;
mod bridge;
mod lane;
mod net;
mod reconnect;

pub use self::bridge::Bridge;
pub(crate) use self::lane::*;
pub use self::net::*;
pub(crate) use self::reconnect::{Remote, answered_at, run};
