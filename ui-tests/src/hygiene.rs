//! The protocol `Hygiene`: its types are called like the parameters of what `#[session]` makes.

use rumpsteak_runtime::{
    Branch, Channel, End, Message, Result, Role, Roles, Select, session, try_session,
};

/// Both roles.
#[derive(Debug, Roles)]
pub struct Roles {
    /// The one that sends.
    pub r: R,
    /// The one that receives.
    pub b: B,
}

/// The one that sends.
#[derive(Debug, Role)]
#[protocol(Hygiene::r)]
#[message(M)]
pub struct R {
    #[route(B)]
    b: Channel<M>,
}

/// The one that receives.
#[derive(Debug, Role)]
#[protocol(Hygiene::b)]
#[message(M)]
pub struct B {
    #[route(R)]
    r: Channel<M>,
}

/// What they say.
#[derive(Debug, Message)]
pub enum M {
    /// Go on.
    L(L),
    /// Stop.
    State(State),
}

/// Go on.
#[derive(Debug)]
pub struct L;

/// Stop.
#[derive(Debug)]
pub struct State(pub u8);

/// What `r` does.
#[session(R)]
pub struct T(Select<B, C>);

/// What `r` sends next.
#[session]
pub enum C {
    /// Go on.
    L(L, T),
    /// Stop.
    State(State, End),
}

/// What `b` does.
#[session(B)]
pub struct S(Branch<R, P>);

/// What `b` gets next.
#[session]
pub enum P {
    /// Go on.
    L(L, S),
    /// Stop.
    State(State, End),
}

/// Goes on as often as it is told, and sends that number at last.
///
/// # Errors
///
/// Those of the session.
pub async fn send(role: &mut R, times: u8) -> Result<()> {
    try_session(role, async |mut s: T<'_>| {
        for _ in 0..times {
            s = s.select(L).await?;
        }
        Ok(((), s.select(State(times)).await?))
    })
    .await
}

/// Counts how often it goes on.
///
/// # Errors
///
/// Those of the session.
pub async fn count(role: &mut B) -> Result<(u8, u8)> {
    try_session(role, async |mut s: S<'_>| {
        let mut times = 0;
        loop {
            s = match s.branch().await? {
                P::L(L, s) => s,
                P::State(State(sent), end) => return Ok(((times, sent), end)),
            };
            times += 1;
        }
    })
    .await
}
