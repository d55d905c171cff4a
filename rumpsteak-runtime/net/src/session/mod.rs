//! Joining a session, leaving it, and taking it to another host.

pub(crate) mod join;
pub(crate) mod joined;
pub(crate) mod parcel;
pub(crate) mod wiring;
