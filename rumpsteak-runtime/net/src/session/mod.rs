//! Sessions: a role joins one, leaves it, and moves it to another host.

mod join;
mod parcel;
mod wiring;

pub use self::join::{Join, Joined, Service};
pub use self::parcel::Parcel;
pub use self::wiring::Joins;
