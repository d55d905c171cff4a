//! Alternating bit (PPoPP'22, App. B.4): a sender numbers its data by one bit, and repeats the last
//! until it is acknowledged by the same bit. So everything arrives once and in order, over a line
//! that loses and doubles what it carries.
//!
//! The line is a sink and a stream of its own ([`Line`], [`Ear`]) instead of the usual channel. The
//! verifier knows nothing of losses: the sessions say what is sent after what, as over a line
//! without faults. Faults are dealt with by two things that the types allow:
//!
//! * what is lost comes to the sender as silence, and who hears nothing for a while takes that for
//!   the wrong bit: the [`Ear`] of the sender says so, and the session has the sender repeat;
//! * what is doubled comes to the receiver as data with the wrong bit. Its session has an
//!   alternative more than the protocol asks of it, which a subtype may have: it acknowledges the
//!   data again and forgets it.
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
use rumpsteak_runtime::transport::{Bidirectional, Labelled};
use rumpsteak_runtime::{Message, Result, Role, session, try_run};
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep};

// Wired by hand in `roles`: `#[derive(Roles)]` has no seed for the faults.
#[derive(Role)]
#[protocol(AlternatingBit::s)]
#[message(Label)]
struct S {
    #[route(R)]
    r: Bidirectional<Line, Ear>,
}

#[derive(Role)]
#[protocol(AlternatingBit::r)]
#[message(Label)]
struct R {
    #[route(S)]
    s: Bidirectional<Line, UnboundedReceiver<Label>>,
}

#[derive(Clone, Message)]
enum Label {
    D0(D0),
    A0(A0),
    D1(D1),
    A1(A1),
}

#[derive(Clone)]
struct D0(Vec<u8>);
#[derive(Clone)]
struct A0;
#[derive(Clone)]
struct D1(Vec<u8>);
#[derive(Clone)]
struct A1;

#[session(S)]
pub type Sender = Send<R, D0, Branch<R, Zero>>;

/// What follows data with the bit 0.
#[session]
enum Zero {
    A0(A0, Send<R, D1, Branch<R, One>>),
    A1(A1, Sender),
}

/// What follows data with the bit 1.
#[session]
enum One {
    A0(A0, Send<R, D1, Branch<R, Self>>),
    A1(A1, Sender),
}

#[session(R)]
pub type Receiver = Branch<S, ExpectZero>;

/// The next new data has the bit 0; data with the bit 1 has come before.
#[session]
enum ExpectZero {
    D0(D0, Send<S, A0, Branch<S, ExpectOne>>),
    D1(D1, Send<S, A1, Receiver>),
}

/// The next new data has the bit 1; data with the bit 0 has come before.
#[session]
enum ExpectOne {
    D0(D0, Send<S, A0, Branch<S, Self>>),
    D1(D1, Send<S, A1, Receiver>),
}

async fn sender(role: &mut S, data: &[u8]) -> Result<Infallible> {
    try_run(role, async |mut session: Sender<'_>| {
        for pair in data.chunks(2) {
            // After the last one, if it is alone, comes an empty one.
            let (zero, one) = (vec![pair[0]], pair[1..].to_vec());
            let mut answer = session.send(D0(zero.clone())).await?.branch().await?;
            let mut next = loop {
                answer = match answer {
                    Zero::A0(A0, next) => break next,
                    Zero::A1(A1, next) => next.send(D0(zero.clone())).await?.branch().await?,
                };
            };
            session = loop {
                next = match next.send(D1(one.clone())).await?.branch().await? {
                    One::A0(A0, next) => next,
                    One::A1(A1, next) => break next,
                };
            };
        }
        // The protocol goes on for ever; the program stops when everything has arrived.
        std::future::pending().await
    })
    .await
}

async fn receiver(
    role: &mut R,
    count: usize,
    done: oneshot::Sender<Vec<u8>>,
) -> Result<Infallible> {
    try_run(role, async |mut session: Receiver<'_>| {
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
    })
    .await
}

/// One direction of the line: it loses a quarter of all messages, and doubles a quarter.
struct Line {
    queue: UnboundedSender<Label>,
    faults: Faults,
    /// Which bit went out last.
    bit: Arc<AtomicBool>,
}

/// Which messages are lost and which are doubled: always the same for one seed.
struct Faults {
    state: u32,
    count: Arc<Count>,
}

/// How many faults there were.
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
    /// How many times the next message arrives.
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

/// What the sender hears: the acknowledgements that arrive, and the wrong one after a silence.
struct Ear {
    queue: UnboundedReceiver<Label>,
    /// Which bit the sender has sent last, hence waits for.
    bit: Arc<AtomicBool>,
    /// The end of the silence, while there is one.
    silence: Option<Pin<Box<Sleep>>>,
}

/// Long enough for an answer, if there is one. A silence that is taken for a loss too early only
/// costs a repetition.
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

/// Both roles at a line with faults of its own in each direction.
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

/// What became of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What the receiver took.
    pub received: String,
    /// Whether anything was lost on the way.
    pub has_lost: bool,
    /// Whether anything was doubled.
    pub has_doubled: bool,
}

/// Sends a text of even length, byte by byte.
pub async fn run() -> Result<Outcome> {
    let text = "everything once and in order";
    let count = Arc::default();
    let (mut s, mut r) = roles(&count);
    let (done, finished) = oneshot::channel();
    let all = async {
        tokio::try_join!(sender(&mut s, text.as_bytes()), receiver(&mut r, text.len(), done),)
    };
    let received = tokio::select! {
        stopped = all => match stopped?.0 {},
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
