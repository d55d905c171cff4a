//! The first version of `Relay`.

/// An order, its price, and the total.
#[rumpsteak::protocol(
    Relay,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod relay {}

/// Its sessions are only safe together.
#[rumpsteak::protocol(
    Swap,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize),
    accept_closed_system
)]
pub mod swap {
    /// Hears before it asks.
    #[session(C)]
    type AsksLate = Receive<S, Tell, Send<S, Ask, End>>;

    /// Tells before it is asked.
    #[session(S)]
    type TellsEarly = Send<C, Tell, Receive<C, Ask, End>>;
}

/// A time.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Stamp {
    /// From 0 to 23.
    pub hour: u32,
    /// From 0 to 59.
    pub minute: u32,
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
