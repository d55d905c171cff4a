//! Routes to other processes, and the tasks that serve them.

mod absent_peer;
mod bridge;
mod guard;
mod lane;
mod net;
mod reconnect;

pub use self::bridge::Bridge;
pub(crate) use self::guard::Guard;
pub(crate) use self::lane::*;
pub(crate) use self::net::{
    Arrived, FarEnd, Incoming, Read, SharedStatus, WINDOW, every, net, net_of_messages, queues,
    window, wired,
};
pub use self::net::{Inbox, Net, Outbox};
pub(crate) use self::reconnect::{Remote, answered_at, run};
