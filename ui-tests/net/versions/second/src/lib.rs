//! A version of `Relay` that differs from the first one in the order of two messages.

/// An order, its price, and the total.
#[rumpsteak::protocol(
    Relay,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod relay {}

/// In the order of the protocol.
#[rumpsteak::protocol(
    Swap,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod swap {}

/// A time.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Stamp {
    /// From 0 to 59.
    pub minute: u32,
    /// From 0 to 23.
    pub hour: u32,
}

/// One message.
#[rumpsteak::protocol(
    Stamping,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod stamping {
    use super::Stamp;
}
