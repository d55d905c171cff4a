//! `run` of a set: one process for each role, and their values and errors.

use std::future::pending;
use std::pin::pin;

use futures::FutureExt as _;
use futures::executor::block_on;
use rumpsteak::{Ended, Error, ErrorKind, Role as _};
use rumpsteak_ui_tests::numbers::{self, Consumer, Next, Number, P, Producer, Q, Stop, Sum};
use rumpsteak_ui_tests::ping::{C, Client, Ping, Pong, Roles, S, Server};

async fn client(s: Client<'_>) -> Ended<'_, C, i32> {
    let (Pong(answer), end) = s.send(Ping(1)).await?.receive().await?;
    end.end(answer)
}

async fn server(s: Server<'_>) -> Ended<'_, S> {
    let (Ping(question), s) = s.receive().await?;
    s.send(Pong(question + 1)).await?.end(())
}

#[test]
fn the_values_are_in_the_order_of_the_fields_and_the_set_runs_again() {
    let mut roles = Roles::default();
    for _ in 0..3 {
        assert_eq!(block_on(roles.run(server, client)).unwrap(), ((), 2));
    }
    assert!(!roles.s.is_poisoned() && !roles.c.is_poisoned());
}

#[rumpsteak::protocol(Ping)]
mod by_hand {
    #[session(C)]
    type Asking = Send<S, Ping, Receive<S, Pong, End>>;
}

/// A session written by hand has the name of a generated one, too.
const _: fn(by_hand::CSession<'static>) -> by_hand::Asking<'static> = |session| session;

#[test]
fn processes_are_functions_closures_or_both_and_may_borrow() {
    let numbers = vec![1, 2, 3];
    let sums = numbers::Roles::default()
        .run(
            async |mut s: Producer<'_>| {
                for &number in &numbers {
                    s = s.select(Number(number)).await?;
                }
                let (Sum(sum), end) = s.select(Stop).await?.receive().await?;
                end.end(sum)
            },
            consumer,
        )
        .now_or_never();
    assert_eq!(sums.unwrap().unwrap(), (6, 3));

    async fn consumer(mut s: Consumer<'_>) -> Ended<'_, Q, usize> {
        let (mut sum, mut count) = (0, 0);
        loop {
            s = match s.branch().await? {
                Next::Number(Number(number), s) => {
                    (sum, count) = (sum + number, count + 1);
                    s
                }
                Next::Stop(Stop, s) => return s.send(Sum(sum)).await?.end(count),
            };
        }
    }
}

#[test]
fn the_error_is_the_one_that_is_no_consequence_of_another() {
    let mut roles = Roles::default();
    let fails = async |s: Server<'_>| -> Ended<'_, S> {
        let (Ping(_), _s) = s.receive().await?;
        Err(Error::other("no answer"))
    };
    assert_eq!(block_on(roles.run(fails, client)).unwrap_err().to_string(), "no answer");
    assert!(roles.s.is_poisoned() && roles.c.is_poisoned());
    // Poisoned roles run no session until they are reset.
    let refused = block_on(roles.run(server, client)).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Poisoned { .. }), "{refused}");
    roles.reset();
    assert_eq!(block_on(roles.run(server, client)).unwrap(), ((), 2));
}

#[test]
fn a_set_that_is_dropped_in_the_middle_is_poisoned() {
    let mut roles = numbers::Roles::default();
    {
        let mut running = pin!(roles.run(
            async |s: Producer<'_>| -> Ended<'_, P> {
                let _s = s.select(Number(1)).await?;
                pending().await
            },
            async |s: Consumer<'_>| -> Ended<'_, Q> {
                let _next = s.branch().await?;
                pending().await
            },
        ));
        assert!(running.as_mut().now_or_never().is_none());
    }
    assert!(roles.0.is_poisoned() && roles.1.is_poisoned());
    let mut fresh = Roles::default();
    drop(fresh.run(server, client));
    assert!(!fresh.s.is_poisoned() && !fresh.c.is_poisoned());
}
