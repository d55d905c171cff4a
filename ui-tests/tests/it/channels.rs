//! Channels: the capacities that the build script proved, and the behaviour of each kind of queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use futures::executor::block_on;
use futures::future::{join, try_join};
use futures::{FutureExt as _, SinkExt as _, StreamExt as _, poll};
use rumpsteak::channel::{Capacity, Disconnected, Queue, QueueReceiver, QueueSender};
use rumpsteak::error::Action;
use rumpsteak::transport::{Outgoing as _, Route as _};
use rumpsteak::{Channel, Error, Result, Role as _, try_run};
use rumpsteak_ui_tests::closed;
use rumpsteak_ui_tests::numbers::{
    Label, Number, P, Producer, Q, Roles, Stop, Sum, consumer, producer,
};

/// A set whose route has these capacities, whatever was proven.
fn roles(sent_by_p: Capacity, sent_by_q: Capacity) -> (P, Q) {
    let (p, q) = Channel::with_capacities(sent_by_p, sent_by_q);
    (P(p), Q(q))
}

fn queue<M>(capacity: Capacity) -> (QueueSender<M>, QueueReceiver<M>) {
    let (near, far) = Channel::with_capacities(capacity, Capacity::Growable);
    let (tx, _) = near.into_inner().unwrap();
    let (_, rx) = far.into_inner().unwrap();
    (tx, rx)
}

/// Every kind of capacity, each with room for at least one message.
const KINDS: [Capacity; 4] =
    [Capacity::AtMost(1), Capacity::Growable, Capacity::Waits(1), Capacity::Waits(3)];

fn message_of(panic: Box<dyn std::any::Any + std::marker::Send>) -> String {
    *panic.downcast::<String>().unwrap()
}

#[test]
fn the_roles_get_the_capacities_that_were_proven() {
    let Roles(p, q) = Roles::default();
    let (p, q) = (p.0.into_inner().unwrap(), q.0.into_inner().unwrap());
    // A producer may be any number of messages ahead. A consumer answers once per session and
    // cannot be a session ahead, because its next session begins with a message of the producer,
    // which has received the sum by then. One message is proven, and a queue has room for at least
    // four.
    let numbers = Queue::new(Capacity::Waits(16)).between("p", "q");
    let sums = Queue::new(Capacity::AtMost(4)).between("q", "p");
    assert_eq!((p.0.queue(), p.1.queue()), (numbers, sums));
    assert_eq!((q.0.queue(), q.1.queue()), (sums, numbers));
}

#[test]
fn sessions_run_within_the_capacities() {
    let Roles(mut p, mut q) = Roles::default();
    for many in [0, 1, 15, 16, 17, 1_000] {
        let sums =
            block_on(try_join(producer(&mut p, &(0..many).collect::<Vec<_>>()), consumer(&mut q)))
                .unwrap();
        assert_eq!(sums, (many * (many - 1) / 2, many * (many - 1) / 2));
    }
}

#[test]
fn a_sender_waits_for_room() {
    let Roles(mut p, mut q) = Roles::default();
    block_on(async {
        let numbers: Vec<i32> = (0..16).collect();
        let mut waiting = Box::pin(producer(&mut p, &numbers));
        // There is room for the sixteen numbers, but not for the message that stops the stream.
        assert!(poll!(&mut waiting).is_pending());
        assert_eq!(join(waiting, consumer(&mut q)).await.0.unwrap(), 120);
    });
    assert!(!p.is_poisoned() && !q.is_poisoned());
}

#[test]
fn a_sender_that_waits_wakes_when_its_peer_goes() {
    let (mut p, mut q) = roles(Capacity::Waits(2), Capacity::AtMost(1));
    block_on(async {
        let waiting = producer(&mut p, &[0, 1, 2]);
        let mut dropped = Box::pin(consumer(&mut q));
        let go = async {
            // The receiver is polled after the sender, and never again.
            drop(dropped.as_mut().now_or_never());
            drop(dropped);
        };
        assert_eq!(closed(join(waiting, go).await.0), ("p", "q", Action::Send("Number")));
    });
    assert!(p.is_poisoned() && q.is_poisoned());
}

#[test]
fn a_message_that_waits_comes_back_from_a_peer_that_is_gone() {
    let (mut p, q) = roles(Capacity::Waits(1), Capacity::AtMost(1));
    block_on(async {
        let waiting = try_run(&mut p, async |s: Producer<'_>| {
            let unsent = s.select(Number(1)).await?.select_or_return(Number(2)).await.unwrap_err();
            assert_eq!(unsent.label.as_ref().unwrap().0, 2);
            Err::<((), _), Error>(unsent.into())
        });
        let mut waiting = Box::pin(waiting);
        assert!(poll!(&mut waiting).is_pending());
        drop(q);
        assert_eq!(closed(waiting.await), ("p", "q", Action::Send("Number")));
    });
}

#[test]
fn too_many_messages_for_a_proof_panic() {
    let Roles(_p, mut q) = Roles::default();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        // Put in by hand: the session itself cannot do this.
        for sum in 0..5 {
            q.route().start_send(Label::Total(Sum(sum))).unwrap();
        }
    }))
    .unwrap_err();
    assert_eq!(
        message_of(panic),
        "the channel from `q` to `p` is full: its capacity is 4, which its sessions never exceed; \
         messages that were put into the route by hand count too"
    );
}

#[test]
fn a_capacity_that_is_wrong_panics_and_poisons() {
    let (mut p, mut q) = roles(Capacity::AtMost(3), Capacity::AtMost(1));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        producer(&mut p, &[0, 1, 2, 3]).now_or_never();
    }))
    .unwrap_err();
    assert!(message_of(panic).starts_with("the channel is full: its capacity is 3, "));
    assert!(p.is_poisoned());
    // The messages in the queue arrive, and then its end.
    assert_eq!(
        closed(block_on(consumer(&mut q))),
        ("q", "p", Action::Receive(&["Number", "Stop"]))
    );
}

#[test]
fn a_message_without_asking_for_room_panics() {
    let (mut p, _q) = roles(Capacity::Waits(1), Capacity::AtMost(1));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        p.route().start_send(Label::Stop(Stop)).unwrap();
        p.route().start_send(Label::Stop(Stop)).unwrap();
    }))
    .unwrap_err();
    assert_eq!(
        message_of(panic),
        "the channel is full, and a message was sent without waiting for room"
    );
}

#[test]
fn a_dropped_session_wakes_the_peer() {
    for capacity in KINDS {
        let (mut p, mut q) = roles(capacity, Capacity::AtMost(1));
        block_on(async {
            let mut waiting = Box::pin(consumer(&mut q));
            let gone = async {
                let mut dropped = Box::pin(try_run(&mut p, async |s: Producer<'_>| {
                    let _s = s.select(Number(1)).await?;
                    std::future::pending::<Result<((), _)>>().await
                }));
                assert!(poll!(&mut dropped).is_pending());
            };
            assert!(poll!(&mut waiting).is_pending());
            assert_eq!(closed(join(waiting, gone).await.0).1, "p");
        });
        assert!(p.is_poisoned() && q.is_poisoned());
    }
}

#[test]
fn a_queue_that_grows_keeps_the_order() {
    let (mut tx, mut rx) = queue(Capacity::Growable);
    let (mut sent, mut received) = (0, 0);
    // Two steps forward, one back: the queue grows several times between two reads.
    let rounds = if cfg!(miri) { 20 } else { 200 };
    for round in 0..rounds {
        for _ in 0..2 * round {
            assert_eq!(tx.try_send(sent), Ok(()));
            sent += 1;
        }
        for _ in 0..round {
            assert_eq!(rx.try_receive(), Some(received));
            received += 1;
        }
    }
    drop(tx);
    let rest: Vec<u32> = block_on(rx.collect());
    assert_eq!(rest, (received..sent).collect::<Vec<_>>());
}

#[test]
fn a_full_queue_returns_the_message() {
    let (mut tx, mut rx) = queue(Capacity::Waits(1));
    assert_eq!(tx.try_send('a'), Ok(()));
    assert_eq!(tx.try_send('b'), Err('b'));
    assert_eq!(rx.try_receive(), Some('a'));
    assert_eq!(rx.try_receive(), None);
    assert_eq!(tx.try_send('b'), Ok(()));
    drop(rx);
    assert_eq!(tx.try_send('c'), Err('c'));
}

/// Slots are in the ring if they take at most 256 bytes and have an alignment of at most 16.
#[test]
fn messages_of_any_size_and_alignment() {
    #[derive(Clone, Debug, PartialEq)]
    #[repr(align(64))]
    struct Aligned(Arc<u8>);

    fn go_through<M: Clone + PartialEq + std::fmt::Debug>(message: &M) {
        for room in [0, 1, 2, 3, 100] {
            let (mut tx, mut rx) = queue(Capacity::AtMost(room));
            for _ in 0..room {
                assert_eq!(tx.try_send(message.clone()), Ok(()), "{room}");
            }
            if room > 1 {
                assert_eq!(rx.try_receive().as_ref(), Some(message), "{room}");
            }
        }
    }

    let counted = Arc::new(7);
    go_through(&());
    go_through(&counted);
    go_through(&Aligned(Arc::clone(&counted)));
    go_through(&[(); 20].map(|()| Arc::clone(&counted)));
    assert_eq!(Arc::strong_count(&counted), 1);
}

#[test]
fn no_message_outlives_its_receiver() {
    for (capacity, many) in
        [(Capacity::AtMost(2), 2), (Capacity::Waits(2), 2), (Capacity::Growable, 100)]
    {
        let alive = Arc::new(());
        let (mut tx, rx) = queue(capacity);
        block_on(async {
            for _ in 0..many {
                tx.send(Arc::clone(&alive)).await.unwrap();
            }
            assert_eq!(Arc::strong_count(&alive), many + 1);
            drop(rx);
            assert_eq!(Arc::strong_count(&alive), 1);
            assert_eq!(tx.send(Arc::clone(&alive)).await, Err(Disconnected));
            assert_eq!(Arc::strong_count(&alive), 1);
        });
    }
}

#[test]
fn closing_is_the_end_of_the_stream() {
    for capacity in KINDS {
        let (mut tx, mut rx) = queue(capacity);
        block_on(async {
            tx.send(1).await.unwrap();
            tx.close().await.unwrap();
            assert_eq!(tx.send(2).await, Err(Disconnected));
            assert_eq!(tx.try_send(2), Err(2));
            assert_eq!(rx.next().await, Some(1));
            assert_eq!(rx.next().await, None);
            assert_eq!(rx.next().await, None);
        });
    }
}

/// A receiver that different tasks poll in turn wakes the last one.
#[test]
fn the_newest_waker_is_woken() {
    let (mut tx, mut rx) = queue(Capacity::Growable);
    let counts: [_; 3] = std::array::from_fn(|_| futures_test_waker());
    for (round, (_, waker)) in counts.iter().enumerate() {
        let mut context = std::task::Context::from_waker(waker);
        assert!(rx.poll_next_unpin(&mut context).is_pending());
        // In the second round, both sides know the waker.
        assert!(rx.poll_next_unpin(&mut context).is_pending());
        if round == 1 {
            tx.try_send(round).unwrap();
            assert_eq!(rx.try_receive(), Some(round));
        }
    }
    tx.try_send(9).unwrap();
    let woken = counts.map(|(count, _)| count.0.load(std::sync::atomic::Ordering::Relaxed));
    assert_eq!(woken, [0, 1, 1]);
}

#[derive(Default)]
struct Count(std::sync::atomic::AtomicUsize);

impl std::task::Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

fn futures_test_waker() -> (Arc<Count>, std::task::Waker) {
    let count = Arc::<Count>::default();
    (Arc::clone(&count), std::task::Waker::from(count))
}

/// The number of repetitions: small under Miri, which is slow and tries interleavings of its own.
const fn often(rounds: u32) -> u32 {
    if cfg!(miri) { rounds / 200 } else { rounds }
}

/// Each receiver goes to sleep just when the other thread sends, again and again. A lost wake-up
/// would hang.
#[test]
fn two_threads_lose_nothing() {
    for capacity in KINDS {
        const ROUNDS: u32 = often(10_000);
        let (mut there, mut at_echo) = queue(capacity);
        let (mut back, mut at_home) = queue(capacity);
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
}

/// A sender that is faster than its receiver, or slower, on another thread.
#[test]
fn two_threads_stream_in_order() {
    for capacity in
        [Capacity::Growable, Capacity::Waits(1), Capacity::Waits(2), Capacity::Waits(100)]
    {
        const MANY: u32 = often(100_000);
        let (mut tx, mut rx) = queue(capacity);
        let sender = thread::spawn(move || {
            block_on(async {
                for number in 0..MANY {
                    tx.send(number).await.unwrap();
                }
            });
        });
        let received = block_on(async {
            let mut next = 0;
            while let Some(number) = rx.next().await {
                assert_eq!(number, next);
                next += 1;
            }
            next
        });
        sender.join().unwrap();
        assert_eq!(received, MANY);
    }
}

/// The receiver goes to sleep just when the sender goes.
#[test]
fn a_sender_that_goes_on_another_thread_is_noticed() {
    for round in 0..often(2_000) {
        let (mut tx, rx) = queue(KINDS[round as usize % KINDS.len()]);
        let sender = thread::spawn(move || {
            block_on(tx.send(1)).unwrap();
            drop(tx);
        });
        assert_eq!(block_on(rx.collect::<Vec<_>>()), [1]);
        sender.join().unwrap();
    }
}

/// The sender goes to sleep just when the receiver goes.
#[test]
fn a_receiver_that_goes_on_another_thread_is_noticed() {
    for _ in 0..often(2_000) {
        let (mut tx, mut rx) = queue(Capacity::Waits(1));
        let receiver = thread::spawn(move || {
            assert_eq!(block_on(rx.next()), Some(0));
        });
        let refused = block_on(async {
            let mut next = 0;
            while tx.send(next).await.is_ok() {
                next += 1;
            }
            next
        });
        // The first message was received, and one may have been in the queue when it was dropped.
        assert!((1..=3).contains(&refused), "{refused}");
        receiver.join().unwrap();
    }
}
