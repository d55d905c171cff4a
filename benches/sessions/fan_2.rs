//! A hub with two writers. It receives from the first one to write, or from one after the other.

use std::convert::Infallible;

use rumpsteak_runtime::{Error, join, try_run};

/// The roles: a hub and its writers.
#[rumpsteak_runtime::closed_system]
mod roles {
    struct Line(i32);

    struct Got;

    #[session(Hub)]
    struct WhoeverIsFirst(Branch<First>);

    enum First {
        W1(Receive<W1, Line, Send<W1, Got, WhoeverIsFirst>>),
        W2(Receive<W2, Line, Send<W2, Got, WhoeverIsFirst>>),
    }

    #[session(Hub)]
    struct InTurn(Receive<W1, Line, Send<W1, Got, Receive<W2, Line, Send<W2, Got, Self>>>>);

    struct Write(Send<Hub, Line, Receive<Hub, Got, Self>>);

    #[session(W1)]
    type Write1 = Write;

    #[session(W2)]
    type Write2 = Write;
}
pub use roles::*;

/// Why the hub stops.
#[derive(Debug)]
pub enum Stopped {
    /// Because it has heard enough: the sum.
    With(i32),
    /// Because its session failed.
    Failed(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

async fn whoever_is_first(role: &mut Hub, lines: i32) -> Result<Infallible, Stopped> {
    try_run(role, async |mut s: WhoeverIsFirst<'_>| {
        let mut sum = 0;
        for _ in 0..lines {
            let line;
            (line, s) = match s.branch().await? {
                First::W1(Line(line), s) => (line, s.send(Got).await?),
                First::W2(Line(line), s) => (line, s.send(Got).await?),
            };
            sum += line;
        }
        Err(Stopped::With(sum))
    })
    .await
}

async fn in_turn(role: &mut Hub, lines: i32) -> Result<Infallible, Stopped> {
    try_run(role, async |mut next: InTurn<'_>| {
        let mut sum = 0;
        for _ in 0..lines / 2 {
            let (Line(line), s) = next.receive().await?;
            sum += line;
            let s = s.send(Got).await?;
            let (Line(line), s) = s.receive().await?;
            sum += line;
            next = s.send(Got).await?;
        }
        Err(Stopped::With(sum))
    })
    .await
}

macro_rules! write {
    ($name:ident, $Role:ident, $Session:ident) => {
        async fn $name(role: &mut $Role) -> Result<Infallible, Error> {
            try_run(role, async |mut s: $Session<'_>| {
                loop {
                    (Got, s) = s.send(Line(1)).await?.receive().await?;
                }
            })
            .await
        }
    };
}

write!(write1, W1, Write1);
write!(write2, W2, Write2);

/// Returns how many of `lines` lines the hub has received, in any order or in turn.
///
/// # Panics
///
/// If a session fails.
pub async fn hear(roles: &mut Roles, lines: i32, is_in_turn: bool) -> i32 {
    let hub = async {
        match is_in_turn {
            true => in_turn(&mut roles.hub, lines).await,
            false => whoever_is_first(&mut roles.hub, lines).await,
        }
    };
    let (stopped, ..) = join((hub, write1(&mut roles.w1), write2(&mut roles.w2))).await;
    match stopped {
        Err(Stopped::With(heard)) => heard,
        Err(Stopped::Failed(error)) => panic!("{error}"),
        Ok(never) => match never {},
    }
}
