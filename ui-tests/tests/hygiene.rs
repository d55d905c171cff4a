//! The protocol `Hygiene`: its types are called like the parameters of what `#[session]` makes.
//!
//! Not in the library of this package, because rustc writes out the path of each type whose name
//! occurs twice: the messages of `ui/` would change.

use futures::executor::block_on;
use futures::future::try_join;
use rumpsteak_runtime::{Channel, Message, Result, Role, Roles, session, try_run};

/// Both roles.
#[derive(Debug, Roles)]
struct Roles {
    /// The one that sends.
    r: R,
    /// The one that receives.
    b: B,
}

/// The one that sends.
#[derive(Debug, Role)]
#[protocol(Hygiene::r)]
#[message(M)]
struct R {
    #[route(B)]
    b: Channel<M>,
}

/// The one that receives.
#[derive(Debug, Role)]
#[protocol(Hygiene::b)]
#[message(M)]
struct B {
    #[route(R)]
    r: Channel<M>,
}

/// What they say.
#[derive(Debug, Message)]
enum M {
    /// Go on.
    L(L),
    /// Stop.
    State(State),
}

/// Go on.
#[derive(Debug)]
struct L;

/// Stop.
#[derive(Debug)]
struct State(u8);

/// What `r` does.
#[session(R)]
struct T(Select<B, C>);

/// What `r` sends next.
#[session]
enum C {
    /// Go on.
    L(L, T),
    /// Stop.
    State(State, End),
}

/// What `b` does.
#[session(B)]
struct S(Branch<R, P>);

/// What `b` gets next.
#[session]
enum P {
    /// Go on.
    L(L, S),
    /// Stop.
    State(State, End),
}

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
