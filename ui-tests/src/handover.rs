//! The protocol `Handover`: a payload that is not `Send`, and whose clones can be counted.

use std::rc::Rc;

use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

/// Both roles.
#[derive(Debug, Roles)]
pub struct Roles(pub Taker, pub Giver);

/// Has the gift first.
#[derive(Debug, Role)]
#[protocol(Handover)]
#[message(Label)]
pub struct Giver(#[route(Taker)] pub Channel<Label>);

/// Has it afterwards.
#[derive(Debug, Role)]
#[protocol(Handover)]
#[role("taker")]
#[message(Label)]
pub struct Taker(#[route(Giver)] pub Channel<Label>);

/// What they say.
#[derive(Debug, Message)]
pub enum Label {
    /// The gift.
    Gift(Gift),
}

/// The gift.
#[derive(Debug)]
pub struct Gift(pub Rc<str>);

/// What the giver does.
#[session(Giver)]
pub type Give = Send<Taker, Gift, End>;

/// What the taker does.
#[session(Taker)]
pub type Take = Receive<Giver, Gift, End>;

/// Gives.
///
/// # Errors
///
/// Those of the session.
pub async fn give(role: &mut Giver, gift: Rc<str>) -> Result<()> {
    try_run(role, async |s: Give<'_>| Ok(((), s.send(Gift(gift)).await?))).await
}

/// Takes.
///
/// # Errors
///
/// Those of the session.
pub async fn take(role: &mut Taker) -> Result<Rc<str>> {
    try_run(role, async |s: Take<'_>| {
        let (Gift(gift), end) = s.receive().await?;
        Ok((gift, end))
    })
    .await
}
