//! The protocol `Handover`: a payload that is not `Send`, and whose clones can be counted.

use std::rc::Rc;

use rumpsteak::{Result, try_run};

#[rumpsteak::protocol(Handover)]
mod protocol {
    /// Both roles, not in the order of the protocol.
    #[derive(Debug, Roles)]
    struct Roles(Taker, Giver);

    /// Gives a payload away.
    #[derive(Debug, Role)]
    #[protocol(Handover)]
    #[message(Label)]
    struct Giver(#[route(Taker)] Channel<Label>);

    /// Takes it.
    #[derive(Debug, Role)]
    #[protocol(Handover)]
    #[role("taker")]
    #[message(Label)]
    struct Taker(#[route(Giver)] Channel<Label>);

    /// The session of the giver.
    #[session(Giver)]
    type Give = Send<Taker, Gift, End>;

    /// The session of the taker.
    #[session(Taker)]
    type Take = Receive<Giver, Gift, End>;
}
pub use protocol::*;

/// Gives.
///
/// # Errors
///
/// The errors of the session.
pub async fn give(role: &mut Giver, gift: Rc<str>) -> Result<()> {
    try_run(role, async |s: Give<'_>| Ok(((), s.send(Gift(gift)).await?))).await
}

/// Takes.
///
/// # Errors
///
/// The errors of the session.
pub async fn take(role: &mut Taker) -> Result<Rc<str>> {
    try_run(role, async |s: Take<'_>| {
        let (Gift(gift), end) = s.receive().await?;
        Ok((gift, end))
    })
    .await
}
