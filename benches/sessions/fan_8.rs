//! A hub with eight writers. It receives from the first one to write, or from one after the other.

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
        W3(Receive<W3, Line, Send<W3, Got, WhoeverIsFirst>>),
        W4(Receive<W4, Line, Send<W4, Got, WhoeverIsFirst>>),
        W5(Receive<W5, Line, Send<W5, Got, WhoeverIsFirst>>),
        W6(Receive<W6, Line, Send<W6, Got, WhoeverIsFirst>>),
        W7(Receive<W7, Line, Send<W7, Got, WhoeverIsFirst>>),
        W8(Receive<W8, Line, Send<W8, Got, WhoeverIsFirst>>),
    }

    #[session(Hub)]
    struct InTurn(
        Receive<
            W1,
            Line,
            Send<
                W1,
                Got,
                Receive<
                    W2,
                    Line,
                    Send<
                        W2,
                        Got,
                        Receive<
                            W3,
                            Line,
                            Send<
                                W3,
                                Got,
                                Receive<
                                    W4,
                                    Line,
                                    Send<
                                        W4,
                                        Got,
                                        Receive<
                                            W5,
                                            Line,
                                            Send<
                                                W5,
                                                Got,
                                                Receive<
                                                    W6,
                                                    Line,
                                                    Send<
                                                        W6,
                                                        Got,
                                                        Receive<
                                                            W7,
                                                            Line,
                                                            Send<
                                                                W7,
                                                                Got,
                                                                Receive<
                                                                    W8,
                                                                    Line,
                                                                    Send<W8, Got, Self>,
                                                                >,
                                                            >,
                                                        >,
                                                    >,
                                                >,
                                            >,
                                        >,
                                    >,
                                >,
                            >,
                        >,
                    >,
                >,
            >,
        >,
    );

    struct Write(Send<Hub, Line, Receive<Hub, Got, Self>>);

    #[session(W1)]
    type Write1 = Write;

    #[session(W2)]
    type Write2 = Write;

    #[session(W3)]
    type Write3 = Write;

    #[session(W4)]
    type Write4 = Write;

    #[session(W5)]
    type Write5 = Write;

    #[session(W6)]
    type Write6 = Write;

    #[session(W7)]
    type Write7 = Write;

    #[session(W8)]
    type Write8 = Write;
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
                First::W3(Line(line), s) => (line, s.send(Got).await?),
                First::W4(Line(line), s) => (line, s.send(Got).await?),
                First::W5(Line(line), s) => (line, s.send(Got).await?),
                First::W6(Line(line), s) => (line, s.send(Got).await?),
                First::W7(Line(line), s) => (line, s.send(Got).await?),
                First::W8(Line(line), s) => (line, s.send(Got).await?),
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
        for _ in 0..lines / 8 {
            let (Line(line), s) = next.receive().await?;
            sum += line;
            let s = s.send(Got).await?;
            let (Line(line), s) = s.receive().await?;
            sum += line;
            let s = s.send(Got).await?;
            let (Line(line), s) = s.receive().await?;
            sum += line;
            let s = s.send(Got).await?;
            let (Line(line), s) = s.receive().await?;
            sum += line;
            let s = s.send(Got).await?;
            let (Line(line), s) = s.receive().await?;
            sum += line;
            let s = s.send(Got).await?;
            let (Line(line), s) = s.receive().await?;
            sum += line;
            let s = s.send(Got).await?;
            let (Line(line), s) = s.receive().await?;
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
write!(write3, W3, Write3);
write!(write4, W4, Write4);
write!(write5, W5, Write5);
write!(write6, W6, Write6);
write!(write7, W7, Write7);
write!(write8, W8, Write8);

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
    let (stopped, ..) = join((
        hub,
        write1(&mut roles.w1),
        write2(&mut roles.w2),
        write3(&mut roles.w3),
        write4(&mut roles.w4),
        write5(&mut roles.w5),
        write6(&mut roles.w6),
        write7(&mut roles.w7),
        write8(&mut roles.w8),
    ))
    .await;
    match stopped {
        Err(Stopped::With(heard)) => heard,
        Err(Stopped::Failed(error)) => panic!("{error}"),
        Ok(never) => match never {},
    }
}
