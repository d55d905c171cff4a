//! Alternating bit (PPoPP'22, App. B.4): a sender numbers its data by one bit, and repeats the last
//! until it is acknowledged by the same bit. So everything arrives once and in order, over a line
//! that loses and doubles what it carries.
//!
//! The line is a special sink and stream ([`Line`], [`Ear`]) instead of the usual channel. The
//! verifier knows nothing of losses: the sessions are the same as over a line without faults. The
//! types allow two ways to handle faults:
//!
//! * A loss is silence to the sender. After a timeout, the [`Ear`] of the sender returns the wrong
//!   bit, and the session makes the sender repeat.
//! * A doubled message comes to the receiver as data with the wrong bit. Its session has one more
//!   alternative than the protocol, which a subtype may have: it acknowledges the data again and
//!   drops it.
//!
//! `cargo run -p rumpsteak-examples --example alternating_bit`

use std::convert::Infallible;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::channel::mpsc::{self, SendError, UnboundedReceiver, UnboundedSender};
use futures::{Sink, Stream};
use rumpsteak::transport::{Bidirectional, Labelled};
use rumpsteak::{Ended, Result, join, try_run};
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep};

#[rumpsteak::protocol(AlternatingBit, derive(Clone))]
pub mod alternating_bit {
    use super::{Bidirectional, Ear, Line, UnboundedReceiver};

    // Each route has a type of its own, so `roles` connects them without a set.
    #[derive(Role)]
    #[message(Label)]
    struct S {
        #[route(R, unbounded)]
        r: Bidirectional<Line, Ear>,
    }

    #[derive(Role)]
    #[message(Label)]
    struct R {
        #[route(S, unbounded)]
        s: Bidirectional<Line, UnboundedReceiver<Label>>,
    }

    #[session(R)]
    type Receiver = Branch<S, ExpectZero>;

    /// The next new data has the bit 0; data with the bit 1 has come before.
    enum ExpectZero {
        D0(D0, Send<S, A0, Branch<S, ExpectOne>>),
        D1(D1, Send<S, A1, Receiver>),
    }

    /// The next new data has the bit 1; data with the bit 0 has come before.
    enum ExpectOne {
        D0(D0, Send<S, A0, Branch<S, Self>>),
        D1(D1, Send<S, A1, Receiver>),
    }
}
use alternating_bit::*;

async fn sender<'s>(mut session: SSession<'s>, data: &[u8]) -> Ended<'s, S, Infallible> {
    for pair in data.chunks(2) {
        // An odd number of data ends with an empty one.
        let (zero, one) = (vec![pair[0]], pair[1..].to_vec());
        let mut answer = session.send(D0(zero.clone())).await?.branch().await?;
        let mut next = loop {
            answer = match answer {
                SA0Choice::A0(A0, next) => break next,
                SA0Choice::A1(A1, next) => next.send(D0(zero.clone())).await?.branch().await?,
            };
        };
        session = loop {
            next = match next.send(D1(one.clone())).await?.branch().await? {
                SA0Choice::A0(A0, next) => next,
                SA0Choice::A1(A1, next) => break next,
            };
        };
    }
    // The protocol never ends. The program stops when everything has arrived.
    std::future::pending().await
}

async fn receiver(
    mut session: Receiver<'_>,
    count: usize,
    done: oneshot::Sender<Vec<u8>>,
) -> Ended<'_, R, Infallible> {
    let mut done = Some(done);
    let mut received = Vec::new();
    loop {
        let mut expect_one = loop {
            session = match session.branch().await? {
                ExpectZero::D0(D0(data), next) => {
                    println!("receiver: takes {:?}", String::from_utf8_lossy(&data));
                    received.extend(data);
                    break next.send(A0).await?;
                }
                ExpectZero::D1(D1(_), next) => next.send(A1).await?,
            };
        };
        session = loop {
            expect_one = match expect_one.branch().await? {
                ExpectOne::D0(D0(_), next) => next.send(A0).await?,
                ExpectOne::D1(D1(data), next) => {
                    println!("receiver: takes {:?}", String::from_utf8_lossy(&data));
                    received.extend(data);
                    break next.send(A1).await?;
                }
            };
        };
        if received.len() >= count
            && let Some(done) = done.take()
        {
            let _ = done.send(received.clone());
        }
    }
}

/// One direction of the line: it loses a quarter of all messages, and doubles a quarter.
pub struct Line {
    queue: UnboundedSender<Label>,
    faults: Faults,
    /// The bit of the last message: true for 1.
    bit: Arc<AtomicBool>,
}

/// The messages that are lost or doubled: always the same for one seed.
struct Faults {
    state: u32,
    count: Arc<Count>,
}

/// The number of faults.
#[derive(Default)]
struct Count {
    lost: AtomicUsize,
    doubled: AtomicUsize,
}

impl Line {
    fn new(queue: UnboundedSender<Label>, seed: u32, count: &Arc<Count>) -> Self {
        Self {
            queue,
            faults: Faults { state: seed, count: Arc::clone(count) },
            bit: Arc::default(),
        }
    }
}

impl Faults {
    /// The number of times that the next message arrives.
    fn copies(&mut self) -> usize {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        match self.state >> 30 {
            0 => {
                self.count.lost.fetch_add(1, Ordering::Relaxed);
                0
            }
            1 => {
                self.count.doubled.fetch_add(1, Ordering::Relaxed);
                2
            }
            _ => 1,
        }
    }
}

impl Sink<Label> for Line {
    type Error = SendError;

    fn poll_ready(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::result::Result<(), SendError>> {
        self.queue.poll_ready(context)
    }

    fn start_send(mut self: Pin<&mut Self>, message: Label) -> std::result::Result<(), SendError> {
        self.bit.store(matches!(message, Label::D1(_) | Label::A1(_)), Ordering::Relaxed);
        let copies = self.faults.copies();
        for _ in 0..copies {
            self.queue.start_send(message.clone())?;
        }
        if copies != 1 {
            println!("line:     {} {copies} times", message.label());
        }
        Ok(())
    }

    fn poll_flush(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<std::result::Result<(), SendError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<std::result::Result<(), SendError>> {
        self.queue.disconnect();
        Poll::Ready(Ok(()))
    }
}

/// The stream of acknowledgements to the sender: the ones that arrive, and a wrong one after a
/// timeout.
pub struct Ear {
    queue: UnboundedReceiver<Label>,
    /// The bit that the sender has sent last, and waits for: true for 1.
    bit: Arc<AtomicBool>,
    /// The end of the timeout, while there is one.
    silence: Option<Pin<Box<Sleep>>>,
}

/// Long enough for an answer. If the timeout is too short, it only costs a repetition.
const SILENCE: Duration = Duration::from_millis(2);

impl Stream for Ear {
    type Item = Label;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Label>> {
        if let Poll::Ready(message) = Pin::new(&mut self.queue).poll_next(context) {
            self.silence = None;
            return Poll::Ready(message);
        }
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep(SILENCE)));
        ready!(silence.as_mut().poll(context));
        self.silence = None;
        let wrong = match self.bit.load(Ordering::Relaxed) {
            false => Label::A1(A1),
            true => Label::A0(A0),
        };
        Poll::Ready(Some(wrong))
    }
}

/// Both roles, over a line with different faults in each direction.
fn roles(count: &Arc<Count>) -> (S, R) {
    let (to_receiver, from_sender) = mpsc::unbounded();
    let (to_sender, from_receiver) = mpsc::unbounded();
    let line = Line::new(to_receiver, 1, count);
    let ear = Ear { queue: from_receiver, bit: Arc::clone(&line.bit), silence: None };
    let back = Line::new(to_sender, 2, count);
    let s = S { r: Bidirectional::new(line, ear) };
    let r = R { s: Bidirectional::new(back, from_sender) };
    (s, r)
}

/// The result of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The text that the receiver took.
    pub received: String,
    /// True if anything was lost on the way.
    pub has_lost: bool,
    /// True if anything was doubled.
    pub has_doubled: bool,
}

/// Sends a text of even length, byte by byte.
pub async fn run() -> Result<Outcome> {
    let text = "everything once and in order";
    let count = Arc::default();
    let (mut s, mut r) = roles(&count);
    let (done, finished) = oneshot::channel();
    let sends = try_run(&mut s, |session| sender(session, text.as_bytes()));
    let receives = try_run(&mut r, |session| receiver(session, text.len(), done));
    let received = tokio::select! {
        stopped = join((sends, receives)) => match stopped.0? {},
        Ok(received) = finished => String::from_utf8_lossy(&received).into_owned(),
    };
    Ok(Outcome {
        received,
        has_lost: count.lost.load(Ordering::Relaxed) > 0,
        has_doubled: count.doubled.load(Ordering::Relaxed) > 0,
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let expected = Outcome {
        received: "everything once and in order".to_owned(),
        has_lost: true,
        has_doubled: true,
    };
    rumpsteak_examples::conclude(run().await, expected)
}
