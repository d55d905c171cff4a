//! The protocol `Hygiene`: its types are called like the parameters of what `#[protocol]` makes.
//!
//! Not in the library of this package, because rustc writes out the path of each type whose name
//! occurs twice: the messages of `ui/` would change.

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
    let processes = try_join(send(&mut r, 3), count(&mut b));
    assert_eq!(block_on(processes).unwrap(), ((), (3, 3)));
}

/// Goes on as often as it is told, and sends that number at last.
async fn send(role: &mut R, times: u8) -> Result<()> {
    try_run(role, async |mut s: T<'_>| {
        for _ in 0..times {
            s = s.select(L).await?;
        }
        Ok(((), s.select(State(times)).await?))
    })
    .await
}

/// Counts how often it goes on.
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
