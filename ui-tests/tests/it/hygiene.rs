//! The protocol `Hygiene`, whose types have the names of parameters in the code of `#[protocol]`.
//!
//! It is not in the library of this package: rustc writes out the path of a type whose name occurs
//! twice, so the messages of `ui/` would change.

use futures::executor::block_on;
use futures::future::try_join;
use rumpsteak::{Result, try_run};

#[rumpsteak::protocol(Hygiene)]
mod hygiene {
    #[derive(Message)]
    enum M {
        L(L),
        State(State),
    }

    struct L;

    struct State(u8);

    #[session(R)]
    struct T(Select<B, C>);

    enum C {
        L(L, T),
        State(State, End),
    }

    #[session(B)]
    struct S(Branch<R, P>);

    enum P {
        L(L, S),
        State(State, End),
    }
}

use hygiene::{B, L, P, R, Roles, S, State, T};

#[test]
fn names_do_not_clash_with_generated_ones() {
    let Roles { mut r, mut b } = Roles::default();
    assert_eq!(block_on(try_join(send(&mut r, 3), count(&mut b))).unwrap(), ((), (3, 3)));
}

/// Continues as often as it is told, and then sends that number.
async fn send(role: &mut R, times: u8) -> Result<()> {
    try_run(role, async |mut s: T<'_>| {
        for _ in 0..times {
            s = s.select(L).await?;
        }
        Ok(((), s.select(State(times)).await?))
    })
    .await
}

/// Counts how often it continues.
async fn count(role: &mut B) -> Result<(u8, u8)> {
    try_run(role, async |mut s: S<'_>| {
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

/// Items outside of a module that also have names of its items.
#[allow(dead_code, reason = "names alone")]
mod outside {
    #[derive(Debug)]
    pub(super) struct Ping;
    #[derive(Debug)]
    pub(super) struct C;
    #[derive(Debug)]
    pub(super) struct Send;
    #[derive(Debug)]
    pub(super) struct Receive;
    #[derive(Debug)]
    pub(super) struct End;
    #[derive(Debug)]
    pub(super) struct Label;
}

/// Items of a module shadow items of a glob, and the words of sessions shadow all items.
#[rumpsteak::protocol(Ping)]
mod imports {
    #[allow(unused_imports, reason = "each of its names has another item here")]
    use super::outside::*;
    use super::outside::{End, Receive, Send};

    #[session(C)]
    type Client = Send<S, Ping, Receive<S, Pong, End>>;

    pub fn outer() -> (Send, Receive, End) {
        (Send, Receive, End)
    }
}

#[test]
fn names_of_the_module_go_before_those_from_outside() {
    use imports::{Client, Ping, Pong, Roles, SSession};

    let ran = block_on(Roles::default().run(
        async |s: Client<'_>| {
            let (Pong(answer), end) = s.send(Ping(1)).await?.receive().await?;
            end.end(answer)
        },
        async |s: SSession<'_>| {
            let (Ping(question), s) = s.receive().await?;
            s.send(Pong(question + 1)).await?.end(())
        },
    ));
    assert_eq!(ran.unwrap(), (2, ()));
    assert_eq!(format!("{:?}", imports::outer()), "(Send, Receive, End)");
}

/// All names that the code of a macro might use, as labels, roles and choices.
#[rumpsteak::closed_system]
#[allow(unused)]
mod prelude {
    struct Ok(u8);
    struct Err;
    struct Some;
    struct None;
    struct Vec;
    struct Box;
    struct String;
    struct Drop;
    struct Self_;

    #[session(Default)]
    type Iterator = Send<Option, Ok, Branch<Option, Result>>;

    #[session(Option)]
    type FnOnce = Receive<Default, Ok, Select<Default, Future>>;

    enum Result {
        Err(Err, Send<Option, Some, Receive<Option, None, End>>),
        Vec(Vec, Debug),
    }

    enum Future {
        Err(Err, Receive<Default, Some, Send<Default, None, End>>),
        Vec(Vec, Clone),
    }

    struct Debug(Send<Option, Box, Send<Option, String, Receive<Option, Drop, End>>>);
    struct Clone(Receive<Default, Box, Receive<Default, String, Send<Default, Drop, End>>>);
}

#[test]
fn names_of_the_prelude_are_names_like_others() {
    let ran = block_on(prelude::Roles::default().run(
        async |s: prelude::Iterator<'_>| match s.send(prelude::Ok(3)).await?.branch().await? {
            prelude::Result::Err(_, s) => {
                s.send(prelude::Some).await?.receive().await?.1.end("err")
            }
            prelude::Result::Vec(_, s) => {
                let s = s.send(prelude::Box).await?.send(prelude::String).await?;
                s.receive().await?.1.end("vec")
            }
        },
        async |s: prelude::FnOnce<'_>| {
            let (prelude::Ok(sent), s) = s.receive().await?;
            let (_, s) = s.select(prelude::Vec).await?.receive().await?;
            s.receive().await?.1.send(prelude::Drop).await?.end(sent)
        },
    ));
    assert_eq!(ran.unwrap(), ("vec", 3));
}

macro_rules! answers {
    ($name:ident, $client:ident, $payload:ty, $end:ident) => {
        #[rumpsteak::protocol(Ping)]
        mod $name {
            #[session($client)]
            type Client = Send<S, Ping, Receive<S, Pong, $end>>;

            struct Ping($payload);
        }
    };
}

answers!(made, C, i32, End);

#[test]
fn a_macro_may_make_a_module() {
    let ran = block_on(made::Roles::default().run(
        async |s: made::Client<'_>| s.send(made::Ping(1)).await?.receive().await?.1.end(()),
        async |s: made::SSession<'_>| {
            let (made::Ping(question), s) = s.receive().await?;
            s.send(made::Pong(question)).await?.end(question)
        },
    ));
    assert_eq!(ran.unwrap(), ((), 1));
}
