//! A version of `Relay` that does not fit to the first one.

/// An order, its price, and the total.
#[rumpsteak::protocol(
    Relay,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod relay {}
