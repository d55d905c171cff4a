//! Sessions: a role is invited to one, joins it, leaves it, and moves it to another host.

mod invitation;
mod join;
mod parcel;
#[cfg(feature = "nats")]
mod stored;
mod wiring;

pub use self::invitation::Invitation;
pub use self::join::{Join, Joined, Service};
pub use self::parcel::Parcel;
#[cfg(feature = "nats")]
pub use self::stored::Stored;
pub use self::wiring::Joins;
