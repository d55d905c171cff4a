//! Routes to other processes, and the tasks that serve them.

/// Does the same for all variants of an enum, whose fields have different types.
macro_rules! for_all {
    ($it:expr, $Enum:ident: $($variant:ident $fields:tt)|+ => $result:expr) => {
        match $it {
            $($Enum::$variant $fields => $result,)+
        }
    };
}

mod absent_peer;
mod bridge;
mod credit;
mod lane;
mod net;
mod outbox;
mod reconnect;
mod status;

pub use self::bridge::Bridge;
pub(crate) use self::credit::*;
pub(crate) use self::lane::*;
pub use self::net::*;
pub use self::outbox::*;
pub(crate) use self::reconnect::*;
pub use self::status::*;
