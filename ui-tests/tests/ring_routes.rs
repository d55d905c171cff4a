//! Routes over rings of a fixed size: the same promises as those of the default channel.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use futures::executor::block_on;
use futures::future::{join, try_join};
use futures::{FutureExt as _, SinkExt as _, StreamExt as _, poll};
use rumpsteak_runtime::{
    Action, Branch, End, Error, ErrorKind, Message, Pair, Receive, Result, Ring, RingClosed,
    RingReceiver, RingSender, Role, Roles, Select, Send, session, try_session,
};

#[derive(Debug, Roles)]
struct Roles {
    p: P,
    q: Q,
}

/// Room for three numbers, and for one sum.
#[derive(Debug, Role)]
#[protocol(Numbers::p)]
#[message(Label)]
struct P(#[route(Q)] Ring<Label, 3, 1>);

#[derive(Debug, Role)]
#[protocol(Numbers::q)]
#[message(Label)]
struct Q(#[route(P)] Ring<Label, 1, 3>);

#[derive(Debug, Message)]
enum Label {
    Number(Number),
    Stop(Stop),
    Sum(Sum),
}

#[derive(Debug)]
struct Number(i32);
#[derive(Debug)]
struct Stop;
#[derive(Debug)]
struct Sum(i32);

#[session(P)]
type Producer = Select<Q, More>;

#[session]
enum More {
    Number(Number, Producer),
    Stop(Stop, Receive<Q, Sum, End>),
}

#[session(Q)]
type Consumer = Branch<P, Next>;

#[session]
enum Next {
    Number(Number, Consumer),
    Stop(Stop, Send<P, Sum, End>),
}

async fn producer(role: &mut P, numbers: std::ops::Range<i32>) -> Result<i32> {
    try_session(role, async |mut s: Producer<'_>| {
        for number in numbers {
            s = s.select(Number(number)).await?;
        }
        let (Sum(sum), end) = s.select(Stop).await?.receive().await?;
        Ok((sum, end))
    })
    .await
}

async fn consumer(role: &mut Q) -> Result<i32> {
    try_session(role, async |mut s: Consumer<'_>| {
        let mut sum = 0;
        loop {
            s = match s.branch().await? {
                Next::Number(Number(number), s) => {
                    sum += number;
                    s
                }
                Next::Stop(Stop, s) => return Ok((sum, s.send(Sum(sum)).await?)),
            };
        }
    })
    .await
}

fn ring<M, const CAPACITY: usize>() -> (RingSender<M, CAPACITY>, RingReceiver<M, CAPACITY>) {
    Pair::pair()
}

#[test]
fn sessions_run_over_rings() {
    let Roles { mut p, mut q } = Roles::default();
    for _ in 0..10 {
        // Two numbers and the stop: as many as there is room for.
        let sums = block_on(try_join(producer(&mut p, 1..3), consumer(&mut q))).unwrap();
        assert_eq!(sums, (3, 3));
    }
}

#[test]
fn a_full_ring_panics_and_poisons() {
    let Roles { mut p, mut q } = Roles::default();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        producer(&mut p, 0..4).now_or_never();
    }))
    .unwrap_err();
    assert_eq!(
        panic.downcast_ref::<String>().unwrap(),
        "a ring with room for 3 messages is full: more can be under way in this direction than its type says; \
         make the ring larger, or use a `Channel`"
    );
    assert!(p.is_poisoned());
    // What was in the ring arrives, and then its end.
    assert!(matches!(
        block_on(consumer(&mut q)).map_err(Error::into_kind),
        Err(ErrorKind::Closed {
            role: "q",
            peer: "p",
            action: Action::Receive(&["Number", "Stop"]),
        })
    ));
}

#[test]
fn a_dropped_session_wakes_the_peer() {
    let Roles { mut p, mut q } = Roles::default();
    block_on(async {
        let mut waiting = Box::pin(producer(&mut p, 0..1));
        assert!(poll!(&mut waiting).is_pending());
        let mut dropped = Box::pin(consumer(&mut q));
        drop(dropped.as_mut().now_or_never());
        drop(dropped);
        // The consumer answered before it was dropped.
        assert_eq!(waiting.await.unwrap(), 0);
    });
    let Roles { mut p, mut q } = Roles::default();
    block_on(async {
        let mut waiting = Box::pin(consumer(&mut q));
        let gone = async {
            let mut dropped = Box::pin(try_session(&mut p, async |s: Producer<'_>| {
                let _s = s.select(Number(1)).await?;
                std::future::pending::<Result<((), _)>>().await
            }));
            assert!(poll!(&mut dropped).is_pending());
        };
        assert!(poll!(&mut waiting).is_pending());
        assert!(matches!(
            join(waiting, gone).await.0.map_err(Error::into_kind),
            Err(ErrorKind::Closed { peer: "p", .. })
        ));
    });
    assert!(p.is_poisoned() && q.is_poisoned());
}

#[test]
fn a_send_to_nobody_returns_its_label() {
    let Roles { mut p, q } = Roles::default();
    drop(q);
    let result = block_on(try_session(&mut p, async |s: Producer<'_>| {
        let unsent = s.select_or_return(Number(8)).await.unwrap_err();
        assert_eq!(unsent.label.as_ref().unwrap().0, 8);
        Err::<((), _), Error>(unsent.into())
    }));
    assert!(matches!(
        result.map_err(Error::into_kind),
        Err(ErrorKind::Closed {
            role: "p",
            peer: "q",
            action: Action::Send("Number"),
        })
    ));
}

#[test]
fn no_message_outlives_its_receiver() {
    let alive = Arc::new(());
    let (mut tx, rx) = ring::<_, 4>();
    block_on(async {
        tx.send(Arc::clone(&alive)).await.unwrap();
        tx.send(Arc::clone(&alive)).await.unwrap();
        assert_eq!(Arc::strong_count(&alive), 3);
        drop(rx);
        assert_eq!(Arc::strong_count(&alive), 1);
        assert_eq!(tx.send(Arc::clone(&alive)).await, Err(RingClosed));
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}

#[test]
fn closing_is_the_end_of_the_stream() {
    let (mut tx, mut rx) = ring::<_, 2>();
    block_on(async {
        tx.send(1).await.unwrap();
        tx.close().await.unwrap();
        assert_eq!(tx.send(2).await, Err(RingClosed));
        assert_eq!(rx.next().await, Some(1));
        assert_eq!(rx.next().await, None);
        assert_eq!(rx.next().await, None);
    });
}

/// `sending_and_waiting`: each receiver goes to sleep just when the other thread sends, again and
/// again. A lost wake-up hangs.
#[test]
fn two_threads_lose_nothing() {
    const ROUNDS: u32 = 20_000;
    let (mut there, mut at_echo) = ring::<_, 1>();
    let (mut back, mut at_home) = ring::<_, 1>();
    let echo = thread::spawn(move || {
        block_on(async {
            while let Some(number) = at_echo.next().await {
                if back.send(number).await.is_err() {
                    break;
                }
            }
        });
    });
    block_on(async {
        for round in 0..ROUNDS {
            there.send(round).await.unwrap();
            assert_eq!(at_home.next().await, Some(round));
        }
    });
    drop(there);
    echo.join().unwrap();
    assert_eq!(block_on(at_home.next()), None);
}

/// `closing_and_waiting`: the receiver goes to sleep just when the sender goes.
#[test]
fn a_sender_that_goes_on_another_thread_is_noticed() {
    for _ in 0..500 {
        let (mut tx, rx) = ring::<_, 1>();
        let sender = thread::spawn(move || {
            block_on(tx.send(1)).unwrap();
            drop(tx);
        });
        assert_eq!(block_on(rx.collect::<Vec<_>>()), [1]);
        sender.join().unwrap();
    }
}
