//! Routes to other processes, and the tasks that serve them.

pub(crate) mod absent_peer;
pub(crate) mod bridge;
pub(crate) mod guard;
pub(crate) mod lane;
pub(crate) mod net;
pub(crate) mod reconnect;
