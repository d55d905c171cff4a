//! Joining a session, leaving it, and taking it to another host.

mod join;
mod joined;
mod parcel;
mod wiring;

pub use self::join::{Join, Service};
pub use self::joined::Joined;
pub use self::parcel::Parcel;
pub use self::wiring::Joins;
