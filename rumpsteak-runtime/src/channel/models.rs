//! Models of the races between the two ends of a queue, one test each, for which [loom] tries every
//! interleaving and every reordering of memory accesses that the C11 model allows.
//!
//! ```text
//! RUSTFLAGS="--cfg rumpsteak_loom" cargo test -p rumpsteak-runtime --lib --release models
//! ```
//!
//! The models run the code of this folder: the ring, parking, dropped ends, growth and locks. Only
//! the atomics, the locks, the `Arc`s and the memory of the slots are loom's, see
//! [`sync`](crate::sync). So loom also reports a slot that one side accesses without having seen
//! the other side's last access.
//!
//! A lost wake-up is a deadlock, a lost or doubled message fails an assertion, and loom reports
//! leaks.
//!
//! [loom]: https://docs.rs/loom

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use futures_sink::Sink;
use loom::future::block_on;
use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;

use super::queue::queue;
use super::{Capacity, Disconnected, Queue, QueueReceiver, QueueSender};

fn model(race: impl Fn() + Sync + Send + 'static) {
    model_within(3, race);
}

/// Tries every interleaving with this many switches away from threads that could continue.
fn model_within(switches: usize, race: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(switches);
    builder.check(race);
}

fn with<M>(capacity: Capacity) -> (QueueSender<M>, QueueReceiver<M>) {
    queue(Queue::new(capacity))
}

async fn send<M>(sender: &mut QueueSender<M>, message: M) -> Result<(), Disconnected> {
    poll_fn(|context| Pin::new(&mut *sender).poll_ready(context)).await?;
    Pin::new(sender).start_send(message)
}

async fn receive<M>(receiver: &mut QueueReceiver<M>) -> Option<M> {
    poll_fn(|context| Pin::new(&mut *receiver).poll_next(context)).await
}

/// Receives until the end.
fn collect<M>(mut receiver: QueueReceiver<M>) -> Vec<M> {
    block_on(async {
        let mut received = vec![];
        while let Some(message) = receive(&mut receiver).await {
            received.push(message);
        }
        received
    })
}

/// The receiver goes to sleep while the sender puts a message in and wakes it.
#[test]
fn receive_registers_while_send_wakes() {
    model(|| {
        let (mut tx, mut rx) = with(Capacity::AtMost(2));
        let sender = thread::spawn(move || {
            block_on(async {
                send(&mut tx, 1).await.unwrap();
                send(&mut tx, 2).await.unwrap();
            });
            tx
        });
        assert_eq!(block_on(receive(&mut rx)), Some(1));
        assert_eq!(block_on(receive(&mut rx)), Some(2));
        drop(sender.join().unwrap());
    });
}

/// Two senders put messages in while one task waits for both queues and polls only those that may
/// have a message, as a choice among peers does. The last message is wanted after all others only.
#[test]
fn two_sends_race_with_a_receiver_of_both() {
    model(|| {
        let ((mut first, rx), (mut second, other)) =
            (with(Capacity::AtMost(2)), with(Capacity::AtMost(1)));
        let mut queues = [rx, other];
        let senders = [
            thread::spawn(move || {
                block_on(send(&mut first, 1)).unwrap();
                block_on(send(&mut first, 2)).unwrap();
                first
            }),
            thread::spawn(move || {
                block_on(send(&mut second, 4)).unwrap();
                second
            }),
        ];
        let mut sum = 0;
        while sum < 7 {
            let is_wanted = |message: &i32| *message != 2 || sum == 5;
            sum += block_on(poll_fn(|context| {
                for waits in [false, true] {
                    for queue in &mut queues {
                        if waits && queue.is_parked(context.waker()) {
                            continue;
                        }
                        match queue.poll_if(waits, is_wanted, context) {
                            Poll::Ready(Some(Some(message))) => return Poll::Ready(message),
                            Poll::Pending if waits && !queue.is_parked(context.waker()) => {
                                return Poll::Pending;
                            }
                            _ => {}
                        }
                    }
                }
                Poll::Pending
            }));
        }
        assert_eq!(sum, 7);
        for sender in senders {
            drop(sender.join().unwrap());
        }
    });
}

/// The sender puts a message in and drops its end while the receiver checks for either.
#[test]
fn send_races_with_close() {
    model(|| {
        let (mut tx, rx) = with(Capacity::AtMost(1));
        let sender = thread::spawn(move || {
            block_on(send(&mut tx, 1)).unwrap();
        });
        assert_eq!(collect(rx), [1]);
        sender.join().unwrap();
    });
}

/// The sender drops its end without a message while the receiver goes to sleep.
#[test]
fn receive_registers_while_sender_goes() {
    model(|| {
        let (tx, rx) = with::<u8>(Capacity::AtMost(1));
        let sender = thread::spawn(move || drop(tx));
        assert_eq!(collect(rx), []);
        sender.join().unwrap();
    });
}

/// The receiver drops its end while the sender puts messages in: the sender learns of it, and every
/// message is dropped once.
#[test]
fn send_races_with_receiver_going() {
    model(|| {
        let alive = Arc::new(());
        let (mut tx, rx) = with(Capacity::AtMost(2));
        let receiver = thread::spawn(move || drop(rx));
        let sent = block_on(async {
            let mut sent = 0;
            while sent < 2 && send(&mut tx, Arc::clone(&alive)).await.is_ok() {
                sent += 1;
            }
            sent
        });
        receiver.join().unwrap();
        assert_eq!(block_on(send(&mut tx, Arc::clone(&alive))), Err(Disconnected));
        assert!(sent <= 2);
        drop(tx);
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}

/// The sender goes to sleep at a full ring while the receiver makes room and wakes it.
#[test]
fn full_ring_wakes_sender() {
    model(|| {
        let (mut tx, rx) = with(Capacity::Waits(1));
        let sender = thread::spawn(move || {
            block_on(async {
                send(&mut tx, 1).await.unwrap();
                send(&mut tx, 2).await.unwrap();
            });
        });
        assert_eq!(collect(rx), [1, 2]);
        sender.join().unwrap();
    });
}

/// The sender goes to sleep at a full ring while the receiver drops its end.
#[test]
fn full_ring_registers_while_receiver_goes() {
    model(|| {
        let (mut tx, mut rx) = with(Capacity::Waits(1));
        let receiver = thread::spawn(move || block_on(receive(&mut rx)));
        let sent = block_on(async {
            let mut sent = 0;
            while send(&mut tx, sent).await.is_ok() {
                sent += 1;
            }
            sent
        });
        // The received message, one that may have taken its place, and one more if the receiver
        // dropped that.
        assert!((1..=3).contains(&sent));
        assert_eq!(receiver.join().unwrap(), Some(0));
    });
}

/// The sender continues in a new ring while the receiver empties the old one.
#[test]
fn receive_races_with_growth() {
    model(|| {
        let (mut tx, mut rx) = with(Capacity::Growable);
        let sender = thread::spawn(move || {
            // The first ring has room for one, the second for two.
            for message in 1..=4 {
                tx.try_send(message).unwrap();
            }
            tx
        });
        for message in 1..=4 {
            assert_eq!(block_on(receive(&mut rx)), Some(message));
        }
        let tx = sender.join().unwrap();
        assert_eq!(rx.try_receive(), None);
        drop(tx);
    });
}

/// The sender continues in a new ring and drops its end while the receiver checks for either.
#[test]
fn growth_races_with_close() {
    model(|| {
        let (mut tx, rx) = with(Capacity::Growable);
        let sender = thread::spawn(move || {
            tx.try_send(1).unwrap();
            tx.try_send(2).unwrap();
        });
        assert_eq!(collect(rx), [1, 2]);
        sender.join().unwrap();
    });
}

/// The receiver drops its end and the rings that it knows while the sender makes another ring.
#[test]
fn growth_races_with_receiver_going() {
    model(|| {
        let alive = Arc::new(());
        let (mut tx, rx) = with(Capacity::Growable);
        let receiver = thread::spawn(move || drop(rx));
        for _ in 0..2 {
            let _ = tx.try_send(Arc::clone(&alive));
        }
        receiver.join().unwrap();
        // The sender learns of it in whichever ring it is.
        assert!(tx.try_send(Arc::clone(&alive)).is_err());
        drop(tx);
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}

/// The receiver leaves a new waker while the sender takes the old one: the new one is woken.
#[test]
fn new_waker_races_with_send() {
    model(|| {
        let (mut tx, mut rx) = with(Capacity::AtMost(1));
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut rx).poll_next(&mut context).is_pending());
        let sender = thread::spawn(move || {
            block_on(send(&mut tx, 1)).unwrap();
            tx
        });
        // Waits with the waker of this thread.
        assert_eq!(block_on(receive(&mut rx)), Some(1));
        drop(sender.join().unwrap());
    });
}

/// As before, while the sender has a copy of the waker from the message before.
#[test]
fn new_waker_races_with_a_known_one() {
    model(|| {
        let (mut tx, mut rx) = with(Capacity::AtMost(2));
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut rx).poll_next(&mut context).is_pending());
        tx.try_send(1).unwrap();
        assert_eq!(Pin::new(&mut rx).poll_next(&mut context), Poll::Ready(Some(1)));
        assert!(Pin::new(&mut rx).poll_next(&mut context).is_pending());
        let sender = thread::spawn(move || {
            tx.try_send(2).unwrap();
            tx.try_send(3).unwrap();
            tx
        });
        assert_eq!(block_on(receive(&mut rx)), Some(2));
        assert_eq!(block_on(receive(&mut rx)), Some(3));
        drop(sender.join().unwrap());
    });
}

/// Two roles ask each other over two queues, so that each goes to sleep while it is being woken.
#[test]
fn two_roles_wake_each_other() {
    model(|| {
        let (mut there, mut at_echo) = with(Capacity::AtMost(1));
        let (mut back, mut at_home) = with(Capacity::AtMost(1));
        let echo = thread::spawn(move || {
            block_on(async {
                while let Some(message) = receive(&mut at_echo).await {
                    if send(&mut back, message).await.is_err() {
                        break;
                    }
                }
            });
        });
        block_on(async {
            for message in 1..=2 {
                send(&mut there, message).await.unwrap();
                assert_eq!(receive(&mut at_home).await, Some(message));
            }
        });
        drop(there);
        echo.join().unwrap();
    });
}

/// A set of roles is replaced while a peer still sends into the old one and another waits in it.
/// The sender learns of it or its message is dropped, the waiting peer wakes, and nothing of the
/// old queues gets into the new ones.
#[test]
fn reset_races_with_the_old_session() {
    model(|| {
        let (mut old_tx, old_rx) = with(Capacity::AtMost(1));
        let (old_back, mut old_home) = with::<u8>(Capacity::AtMost(1));
        let straggler = thread::spawn(move || {
            let sent = block_on(send(&mut old_tx, 1));
            // Unless it is woken, it waits forever.
            (sent, block_on(receive(&mut old_home)))
        });
        let (mut new_tx, mut new_rx) = with(Capacity::AtMost(1));
        drop((old_rx, old_back));
        new_tx.try_send(2).unwrap();
        assert_eq!(block_on(receive(&mut new_rx)), Some(2));
        assert_eq!(new_rx.try_receive(), None);
        let (sent, answer) = straggler.join().unwrap();
        assert!(matches!(sent, Ok(()) | Err(Disconnected)));
        assert_eq!(answer, None);
    });
}

async fn begin<M>(sender: &mut QueueSender<M>, session: usize) {
    poll_fn(|context| sender.poll_begin(session, context.waker())).await;
}

/// Sends a message in each of three sessions.
fn three_sessions(mut sender: QueueSender<usize>) -> QueueSender<usize> {
    block_on(async {
        for session in 0..3 {
            begin(&mut sender, session).await;
            send(&mut sender, session).await.unwrap();
        }
    });
    sender
}

/// The sender begins the next session while the receiver completes this one: the receiver gets no
/// message early, and the sender waits when it is two sessions ahead.
#[test]
fn next_session_races_with_end_of_session() {
    for capacity in [Capacity::AtMost(1), Capacity::Waits(1)] {
        model_within(2, move || {
            let (tx, mut rx) = with(capacity);
            let sender = thread::spawn(move || three_sessions(tx));
            for session in 0..3 {
                assert_eq!(block_on(receive(&mut rx)), Some(session));
                assert_eq!(rx.try_receive(), None);
                rx.complete(session + 1);
            }
            drop(sender.join().unwrap());
        });
    }
}

/// The receiver checks the queue, and waits, one session before its next message; then it waits
/// with another waker.
#[test]
fn next_session_races_with_a_receiver_that_waits_elsewhere() {
    model(|| {
        let (mut tx, mut rx) = with(Capacity::AtMost(1));
        let sender = thread::spawn(move || {
            block_on(async {
                begin(&mut tx, 1).await;
                send(&mut tx, 1).await.unwrap();
            });
            tx
        });
        let mut context = Context::from_waker(Waker::noop());
        assert!(rx.poll_if(true, |_| true, &context).is_pending());
        assert!(Pin::new(&mut rx).poll_next(&mut context).is_pending());
        rx.complete(1);
        assert_eq!(block_on(receive(&mut rx)), Some(1));
        drop(sender.join().unwrap());
    });
}

/// The receiver has ended a session while the sender still sends, ends it, and begins the next one:
/// what comes too late is dropped, and nothing else.
#[test]
fn late_messages_race_with_the_next_session() {
    model_within(2, || {
        let (mut tx, mut rx) = with(Capacity::AtMost(2));
        let sender = thread::spawn(move || {
            block_on(async {
                send(&mut tx, 0).await.unwrap();
                tx.end(1);
                begin(&mut tx, 1).await;
                send(&mut tx, 1).await.unwrap();
            });
            tx
        });
        let late = |message| assert_eq!(message, 0);
        block_on(poll_fn(|context| rx.poll_end(1, late, context.waker())));
        assert_eq!(block_on(receive(&mut rx)), Some(1));
        drop(sender.join().unwrap());
    });
}

/// The receiver drops its end while the sender is ahead of it or waits to begin a session.
#[test]
fn next_session_races_with_receiver_going() {
    model(|| {
        let (tx, mut rx) = with(Capacity::Growable);
        let receiver = thread::spawn(move || block_on(receive(&mut rx)));
        let mut sender = tx;
        block_on(async {
            let mut sent = 0;
            loop {
                begin(&mut sender, sent).await;
                if send(&mut sender, sent).await.is_err() {
                    break;
                }
                sent += 1;
            }
            assert!((1..=3).contains(&sent));
        });
        assert_eq!(receiver.join().unwrap(), Some(0));
    });
}
