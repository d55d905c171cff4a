//! A ring of three (COORDINATION'21, §2), which goes round for ever.

use std::convert::Infallible;

use rumpsteak_runtime::{Error, Result, try_run};

/// The roles, whose routes go in one direction each.
#[rumpsteak_runtime::protocol(Ring)]
mod roles {
    use super::super::{In, Out};

    /// All roles.
    #[derive(Debug, Roles)]
    pub struct Roles {
        /// The first.
        pub a: A,
        /// The second.
        pub b: B,
        /// The third.
        pub c: C,
    }

    /// The first.
    #[derive(Debug, Role)]
    #[message(Label)]
    pub struct A {
        #[route(B, unbounded)]
        b: Out<Label>,
        #[route(C)]
        c: In<Label>,
    }

    /// The second.
    #[derive(Debug, Role)]
    #[message(Label)]
    pub struct B {
        #[route(A)]
        a: In<Label>,
        #[route(C, unbounded)]
        c: Out<Label>,
    }

    /// The third.
    #[derive(Debug, Role)]
    #[message(Label)]
    pub struct C {
        #[route(A, unbounded)]
        a: Out<Label>,
        #[route(B)]
        b: In<Label>,
    }

    /// The messages.
    #[derive(Debug, Message)]
    pub enum Label {
        /// The value that goes round.
        Value(Value),
    }

    /// The value that goes round.
    #[derive(Debug)]
    pub struct Value(pub i32);

    #[session(A)]
    struct First(Send<B, Value, Receive<C, Value, Self>>);

    #[session(B)]
    struct Second(Receive<A, Value, Send<C, Value, Self>>);

    #[session(C)]
    struct Third(Receive<B, Value, Send<A, Value, Self>>);
}
pub use roles::*;

/// The reason why the first role stops.
#[derive(Debug)]
pub enum Stopped {
    /// With this value, after the last lap.
    With(i32),
    /// Because its session failed.
    Failed(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Sends a value round `laps` times, then stops.
///
/// # Errors
///
/// The last value: a session without an end has no other way out.
pub async fn first(role: &mut A, laps: i32) -> Result<Infallible, Stopped> {
    try_run(role, async |mut s: First<'_>| {
        let mut value = 0;
        for _ in 0..laps {
            let next = s.send(Value(value + 1)).await?;
            let (Value(came), next) = next.receive().await?;
            (value, s) = (came, next);
        }
        Err(Stopped::With(value))
    })
    .await
}

/// Passes it on.
///
/// # Errors
///
/// If the session fails.
pub async fn second(role: &mut B) -> Result<Infallible, Stopped> {
    try_run(role, async |mut s: Second<'_>| {
        loop {
            let (Value(value), next) = s.receive().await?;
            s = next.send(Value(value + 1)).await?;
        }
    })
    .await
}

/// Passes it on.
///
/// # Errors
///
/// If the session fails.
pub async fn third(role: &mut C) -> Result<Infallible, Stopped> {
    try_run(role, async |mut s: Third<'_>| {
        loop {
            let (Value(value), next) = s.receive().await?;
            s = next.send(Value(value + 1)).await?;
        }
    })
    .await
}
