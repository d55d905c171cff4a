//! A ring of three over `rumpsteak` 0.1.

use std::convert::Infallible;

use rumpsteak::role::{From, Role, Roles, To};
use rumpsteak::{Error, IntoSession, Label, Receive, Result, Send, try_session};

/// All roles.
#[derive(Roles)]
pub struct Roles(pub A, pub B, pub C);

/// The first.
#[derive(Role)]
#[message(Message)]
pub struct A(#[route(B)] To<B>, #[route(C)] From<C>);

/// The second.
#[derive(Role)]
#[message(Message)]
pub struct B(#[route(A)] From<A>, #[route(C)] To<C>);

/// The third.
#[derive(Role)]
#[message(Message)]
pub struct C(#[route(A)] To<A>, #[route(B)] From<B>);

/// The messages.
#[derive(Label)]
pub enum Message {
    /// The value that goes round.
    Value(Value),
}

/// The value that goes round.
pub struct Value(pub i32);

#[derive(IntoSession)]
#[role('s, A)]
struct First<'s>(Send<'s, A, B, Value, Receive<'s, A, C, Value, First<'s>>>);

#[derive(IntoSession)]
#[role('s, B)]
struct Second<'s>(Receive<'s, B, A, Value, Send<'s, B, C, Value, Second<'s>>>);

#[derive(IntoSession)]
#[role('s, C)]
struct Third<'s>(Receive<'s, C, B, Value, Send<'s, C, A, Value, Third<'s>>>);

/// The reason why the first role stops.
pub enum Stopped {
    /// With this value, after the last lap.
    With(i32),
    /// Because its session failed.
    Failed,
}

impl std::convert::From<Error> for Stopped {
    fn from(_: Error) -> Self {
        Self::Failed
    }
}

impl std::convert::From<rumpsteak::SendError> for Stopped {
    fn from(_: rumpsteak::SendError) -> Self {
        Self::Failed
    }
}

impl std::convert::From<rumpsteak::ReceiveError> for Stopped {
    fn from(_: rumpsteak::ReceiveError) -> Self {
        Self::Failed
    }
}

/// Sends a value round `laps` times.
pub async fn first(role: &mut A, laps: i32) -> Result<Infallible, Stopped> {
    try_session(role, |mut s: First<'_>| async {
        let mut value = 0;
        for _ in 0..laps {
            let next = s.into_session().send(Value(value + 1))?;
            let (Value(came), next) = next.receive().await?;
            (value, s) = (came, next);
        }
        Err(Stopped::With(value))
    })
    .await
}

/// Passes it on.
pub async fn second(role: &mut B) -> Result<Infallible, Stopped> {
    try_session(role, |mut s: Second<'_>| async {
        loop {
            let (Value(value), next) = s.into_session().receive().await?;
            s = next.send(Value(value + 1))?;
        }
    })
    .await
}

/// Passes it on.
pub async fn third(role: &mut C) -> Result<Infallible, Stopped> {
    try_session(role, |mut s: Third<'_>| async {
        loop {
            let (Value(value), next) = s.into_session().receive().await?;
            s = next.send(Value(value + 1))?;
        }
    })
    .await
}
