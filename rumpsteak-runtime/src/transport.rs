//! Transports: what a role needs to be connected with its peers by something else than a
//! [`Channel`](crate::Channel).

pub use crate::error::BoxError;
pub use crate::message::Labelled;
pub use crate::role::Route;
pub use crate::route::{Arrival, Bidirectional, Incoming, Link, Nil, Outgoing, Pair, RouteError};
