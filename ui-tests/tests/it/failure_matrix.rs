//! Every way in which a session can be cut short, at every kind of place in it.
//!
//! One role, the *victim*, fails. Its two peers wait for it or for each other. For each cause and
//! place, the test states which roles are poisoned and what the peers' sessions return. The peers
//! must return within a bounded number of polls, and every payload is dropped exactly once. The
//! roles run no further session until they are reset, and then receive no message of the old one.
//!
//! ```text
//! v -> p  bounded: the second message waits until the first was received; all others unbounded
//!
//! v  p!first . p!second . w!third . p?{ more . p!last . w!over, stop . w!over }
//! p  v?first . v?second . w?fourth . v!{ more . v?last, stop }           (prompt)
//! p  w?fourth . v?first . v?second . v!{ more . v?last, stop }           (patient)
//! w  v?third . p!fourth . v?over
//! ```
//!
//! Both orders of `p` are verified for unbounded queues. Over the bounded queue, the patient order
//! makes `v` wait for room, `p` for `w` and `w` for `v`: all three in the middle of an action.

#![allow(clippy::print_stdout, reason = "the output says which case it was")]

use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::channel::{mpsc, oneshot};
use futures::future::{Either, select};
use rumpsteak::channel::Capacity;
use rumpsteak::error::Action;
use rumpsteak::transport::Bidirectional;
use rumpsteak::{Channel, Error, ErrorKind, Result, Role as _, try_run};
use tokio::sync::{Mutex, OwnedMutexGuard};

#[rumpsteak::protocol(Failures)]
mod failures {
    use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender};
    use rumpsteak::channel::{QueueReceiver, QueueSender};

    use super::Bidirectional;

    #[derive(Roles)]
    struct Roles {
        v: V,
        p: P,
        w: W,
    }

    #[derive(Debug, Role)]
    struct V {
        #[route(P)]
        p: Bidirectional<QueueSender<Label>, UnboundedReceiver<Label>>,
        #[route(W)]
        w: Channel<Label>,
    }

    #[derive(Role)]
    struct P {
        #[route(V)]
        v: Bidirectional<UnboundedSender<Label>, QueueReceiver<Label>>,
        #[route(W)]
        w: Channel<Label>,
    }

    #[session(V)]
    type Victim = Send<P, First, Send<P, Second, Send<W, Third, Branch<P, Choice>>>>;

    enum Choice {
        More(More, Send<P, Last, Send<W, Over, End>>),
        Stop(Stop, Send<W, Over, End>),
    }

    #[session(P)]
    type Prompt = Receive<V, First, Receive<V, Second, Receive<W, Fourth, Select<V, Choose>>>>;

    #[session(P)]
    type Patient = Receive<W, Fourth, Receive<V, First, Receive<V, Second, Select<V, Choose>>>>;

    enum Choose {
        More(More, Receive<V, Last, End>),
        Stop(Stop, End),
    }

    #[session(W)]
    type Watcher = Receive<V, Third, Send<P, Fourth, Receive<V, Over, End>>>;
}

use failures::{
    Choice, First, Fourth, Last, More, Over, P, Patient, Prompt, Roles, Second, Stop, Third, V,
    Victim, W, Watcher,
};

/// A payload that knows its session and whose copies can be counted.
struct Counted {
    session: u32,
    _alive: Arc<()>,
}

/// Makes payloads, and checks them on arrival.
#[derive(Clone)]
struct Mint {
    session: u32,
    alive: Arc<()>,
}

impl Mint {
    fn new(session: u32) -> Self {
        Self { session, alive: Arc::new(()) }
    }

    fn payload(&self) -> Counted {
        Counted { session: self.session, _alive: Arc::clone(&self.alive) }
    }

    fn check(&self, payload: &Counted) {
        assert_eq!(payload.session, self.session, "a message of another session");
    }

    fn alive(&self) -> usize {
        Arc::strong_count(&self.alive) - 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    BeforeFirstAction,
    BetweenActions,
    InSendThatWaits,
    InReceiveThatWaits,
    InsideBranch,
    AtEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Error,
    Panic,
    Drop,
    Timeout,
    TaskAborted,
    RuntimeShutDown,
}

/// The behaviour of the roles between the failure and the reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BeforeReset {
    /// They do nothing: messages of the failed session are still in the routes between the peers.
    Untouched,
    /// Each tries to begin another session.
    Retried,
}

const PLACES: [Place; 6] = [
    Place::BeforeFirstAction,
    Place::BetweenActions,
    Place::InSendThatWaits,
    Place::InReceiveThatWaits,
    Place::InsideBranch,
    Place::AtEnd,
];

const CAUSES: [Cause; 6] = [
    Cause::Error,
    Cause::Panic,
    Cause::Drop,
    Cause::Timeout,
    Cause::TaskAborted,
    Cause::RuntimeShutDown,
];

type Outcome = Option<(&'static str, Action)>;

/// The expected results of `p` and `w`: `None` for a session that ended, `Some((peer, action))` for
/// one that failed because `peer` was closed.
fn expected(place: Place) -> [Outcome; 2] {
    match place {
        Place::BeforeFirstAction => {
            [Some(("v", Action::Receive(&["First"]))), Some(("v", Action::Receive(&["Third"])))]
        }
        Place::BetweenActions => {
            [Some(("v", Action::Receive(&["Second"]))), Some(("v", Action::Receive(&["Third"])))]
        }
        // `p` does not wait for the victim but for `w`, which waits for the victim.
        Place::InSendThatWaits => {
            [Some(("w", Action::Receive(&["Fourth"]))), Some(("v", Action::Receive(&["Third"])))]
        }
        Place::InReceiveThatWaits => {
            [Some(("v", Action::Send("More"))), Some(("v", Action::Receive(&["Over"])))]
        }
        Place::InsideBranch => {
            [Some(("v", Action::Receive(&["Last"]))), Some(("v", Action::Receive(&["Over"])))]
        }
        // Only the victim's own session fails: its peers had nothing left to do.
        Place::AtEnd => [None, None],
    }
}

/// Stops the victim at its place, reports it, and fails when told to.
struct Halt {
    place: Option<Place>,
    cause: Cause,
    reached: Arc<AtomicBool>,
    go: oneshot::Receiver<()>,
}

impl Halt {
    fn never() -> Self {
        Self { place: None, cause: Cause::Drop, reached: Arc::default(), go: oneshot::channel().1 }
    }

    async fn at(&mut self, place: Place) -> Result<(), Failed> {
        if self.place != Some(place) {
            return Ok(());
        }
        self.reached.store(true, Ordering::SeqCst);
        let told = (&mut self.go).await;
        match self.cause {
            Cause::Error if told.is_ok() => Err(Failed::Process),
            Cause::Panic if told.is_ok() => panic!("the process gives up"),
            _ => pending().await,
        }
    }

    /// Performs an action, or stops while it waits.
    async fn during<T>(
        &mut self,
        place: Place,
        action: impl Future<Output = Result<T>>,
    ) -> Result<T, Failed> {
        match select(pin!(action), pin!(self.at(place))).await {
            Either::Left((done, _)) => Ok(done?),
            // Not this place, so perform the action.
            Either::Right((Ok(()), action)) => Ok(action.await?),
            Either::Right((Err(failed), _)) => Err(failed),
        }
    }
}

#[derive(Debug)]
enum Failed {
    Process,
    Session(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Session(error)
    }
}

async fn victim(role: &mut V, mint: &Mint, halt: &mut Halt) -> Result<(), Failed> {
    try_run(role, async |s: Victim<'_>| {
        halt.at(Place::BeforeFirstAction).await?;
        let s = s.send(First(mint.payload())).await?;
        halt.at(Place::BetweenActions).await?;
        let s = halt.during(Place::InSendThatWaits, s.send(Second(mint.payload()))).await?;
        let s = s.send(Third(mint.payload())).await?;
        let s = match halt.during(Place::InReceiveThatWaits, s.branch()).await? {
            Choice::More(More(payload), s) => {
                mint.check(&payload);
                halt.at(Place::InsideBranch).await?;
                s.send(Last(mint.payload())).await?
            }
            Choice::Stop(Stop, s) => s,
        };
        let end = s.send(Over).await?;
        halt.at(Place::AtEnd).await?;
        Ok(((), end))
    })
    .await
}

async fn prompt(role: &mut P, mint: &Mint, more: bool) -> Result<()> {
    try_run(role, async |s: Prompt<'_>| {
        let (First(first), s) = s.receive().await?;
        mint.check(&first);
        let (Second(second), s) = s.receive().await?;
        mint.check(&second);
        let (Fourth(fourth), s) = s.receive().await?;
        mint.check(&fourth);
        if more {
            let (Last(last), end) = s.select(More(mint.payload())).await?.receive().await?;
            mint.check(&last);
            Ok(((), end))
        } else {
            Ok(((), s.select(Stop).await?))
        }
    })
    .await
}

async fn patient(role: &mut P, mint: &Mint) -> Result<()> {
    try_run(role, async |s: Patient<'_>| {
        let (Fourth(fourth), s) = s.receive().await?;
        mint.check(&fourth);
        let (First(first), s) = s.receive().await?;
        mint.check(&first);
        let (Second(second), s) = s.receive().await?;
        mint.check(&second);
        let (Last(last), end) = s.select(More(mint.payload())).await?.receive().await?;
        mint.check(&last);
        Ok(((), end))
    })
    .await
}

/// The watcher sends `fourth` only when `go` allows.
async fn watcher(role: &mut W, mint: &Mint, go: impl Future) -> Result<()> {
    try_run(role, async |s: Watcher<'_>| {
        let (Third(third), s) = s.receive().await?;
        mint.check(&third);
        go.await;
        let (Over, end) = s.send(Fourth(mint.payload())).await?.receive().await?;
        Ok(((), end))
    })
    .await
}

#[test]
fn every_cause_at_every_place() {
    for place in PLACES {
        for cause in CAUSES {
            for before_reset in [BeforeReset::Untouched, BeforeReset::Retried] {
                println!("{cause:?} at {place:?}, {before_reset:?} before the reset");
                scenario(place, cause, before_reset);
            }
        }
    }
}

fn scenario(place: Place, cause: Cause, before_reset: BeforeReset) {
    let Roles { mut v, mut p, mut w } = Roles::default();
    bound(&mut v, &mut p);
    let v = Arc::new(Mutex::new(v));
    let mint = Mint::new(1);
    let reached = Arc::new(AtomicBool::new(false));

    let (tell, go) = oneshot::channel();
    let mut task = Task::spawn(
        cause,
        fail(
            Arc::clone(&v).try_lock_owned().unwrap(),
            mint.clone(),
            Halt { place: Some(place), cause, reached: Arc::clone(&reached), go },
        ),
    );
    let (open, gate) = oneshot::channel::<()>();
    let gate: Pin<Box<dyn Future<Output = ()>>> = match place {
        Place::InReceiveThatWaits => Box::pin(async {
            // Opened or dropped: continue.
            gate.await.unwrap_or(());
        }),
        _ => Box::pin(ready(())),
    };
    let mut peers = [
        match place {
            Place::InSendThatWaits => Peer::new(patient(&mut p, &mint)),
            _ => Peer::new(prompt(&mut p, &mint, true)),
        },
        Peer::new(watcher(&mut w, &mint, gate)),
    ];

    // Run to the place: the victim has stopped there, and each peer waits or is done.
    let mut rounds = 0;
    while !reached.load(Ordering::SeqCst) || peers.iter().any(Peer::is_woken) {
        rounds += 1;
        assert!(rounds < 100, "the victim never came to its place");
        task.run_for_a_while();
        settle(&mut peers);
    }

    // The failure.
    peers.iter_mut().for_each(|peer| peer.polls = 0);
    task.kill(cause, tell);
    drop(open);
    settle(&mut peers);

    // The peers learn of it soon: each can be woken once for each of its two routes, and by the
    // gate.
    let expected = expected(place);
    for (peer, expected) in peers.iter().zip(expected) {
        let outcome = peer.outcome.as_ref().expect("the peer was not woken");
        match (outcome.as_ref().map_err(Error::kind), expected) {
            (Ok(()), None) => {}
            (Err(ErrorKind::Closed { peer, action, .. }), Some(expected)) => {
                assert_eq!((*peer, *action), expected);
            }
            other => panic!("{other:?}"),
        }
        assert!(peer.polls <= 3, "{} polls", peer.polls);
    }
    drop(peers);

    // Poisoned or clean.
    let mut v = Arc::try_unwrap(v).unwrap().into_inner();
    assert!(v.is_poisoned());
    assert_eq!([p.is_poisoned(), w.is_poisoned()], expected.map(|outcome| outcome.is_some()));

    // No further session over these routes, not even for roles whose own session ended, and no
    // message in them.
    let later = Mint::new(2);
    if before_reset == BeforeReset::Retried {
        refused(&mut v, &mut p, &mut w, expected, &later);
        // All three have closed their routes: nothing is left in them.
        assert_eq!((mint.alive(), later.alive()), (0, 0));
    }

    // Reset together, they run again, twice, and see only messages of the new session.
    let mut roles = match before_reset {
        BeforeReset::Retried => {
            Roles::reset_each(&mut v, &mut p, &mut w);
            Roles { v, p, w }
        }
        BeforeReset::Untouched => {
            let mut roles = Roles { v, p, w };
            roles.reset();
            roles
        }
    };
    // The payloads in the routes of the old session were dropped with them.
    assert_eq!(mint.alive(), 0);
    for more in [true, false] {
        let mut halt = Halt::never();
        let mut session = [
            Peer::new(async {
                victim(&mut roles.v, &later, &mut halt).await.map_err(|failed| match failed {
                    Failed::Session(error) => error,
                    Failed::Process => panic!("never halted"),
                })
            }),
            Peer::new(prompt(&mut roles.p, &later, more)),
            Peer::new(watcher(&mut roles.w, &later, ready(()))),
        ];
        settle(&mut session);
        for peer in &session {
            assert!(matches!(peer.outcome, Some(Ok(()))), "{:?}", peer.outcome);
        }
    }
    assert!(!roles.v.is_poisoned() && !roles.p.is_poisoned() && !roles.w.is_poisoned());
    assert_eq!(later.alive(), 0);
}

/// Gives the victim a queue with room for one message to `p`.
fn bound(v: &mut V, p: &mut P) {
    let (near, far) = Channel::with_capacities(Capacity::Waits(1), Capacity::Growable);
    let ((tx, _), (_, rx)) = near.into_inner().zip(far.into_inner()).unwrap();
    let (back, from_p) = mpsc::unbounded();
    v.p = Bidirectional::new(tx, from_p);
    p.v = Bidirectional::new(back, rx);
}

/// No role can begin another session, or none that has a route to the victim.
fn refused(v: &mut V, p: &mut P, w: &mut W, expected: [Outcome; 2], later: &Mint) {
    let again = now(victim(v, later, &mut Halt::never()));
    assert!(
        matches!(&again, Err(Failed::Session(error)) if matches!(error.kind(), ErrorKind::Poisoned { role: "v" })),
        "{again:?}"
    );
    match (now(prompt(p, later, true)).map_err(Error::into_kind), expected[0]) {
        (Err(ErrorKind::Poisoned { role: "p" }), Some(_))
        | (Err(ErrorKind::Closed { peer: "v", action: Action::Receive(&["First"]), .. }), None) => {
        }
        other => panic!("{other:?}"),
    }
    match (now(watcher(w, later, ready(()))).map_err(Error::into_kind), expected[1]) {
        (Err(ErrorKind::Poisoned { role: "w" }), Some(_))
        | (Err(ErrorKind::Closed { peer: "v", action: Action::Receive(&["Third"]), .. }), None) => {
        }
        other => panic!("{other:?}"),
    }
}

/// The victim as a future of its own. Its guard outlives the session, like the role in a task that
/// owns it.
async fn fail(mut role: OwnedMutexGuard<V>, mint: Mint, mut halt: Halt) -> Result<(), Failed> {
    victim(&mut role, &mint, &mut halt).await
}

enum Task {
    /// Polled by the test.
    Future(Pin<Box<dyn Future<Output = Result<(), Failed>>>>),
    /// A task on a runtime of its own.
    Tokio(
        tokio::runtime::Runtime,
        tokio::task::JoinHandle<Result<Result<(), Failed>, tokio::time::error::Elapsed>>,
    ),
}

impl Task {
    fn spawn(
        cause: Cause,
        future: impl Future<Output = Result<(), Failed>> + std::marker::Send + 'static,
    ) -> Self {
        let limit = match cause {
            Cause::Error | Cause::Panic | Cause::Drop => return Self::Future(Box::pin(future)),
            Cause::Timeout => Duration::from_secs(1),
            Cause::TaskAborted | Cause::RuntimeShutDown => Duration::MAX,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            // The clock moves only when the runtime has nothing to do.
            .start_paused(true)
            .build()
            .unwrap();
        let task = {
            let _context = runtime.enter();
            runtime.spawn(tokio::time::timeout(limit, future))
        };
        Self::Tokio(runtime, task)
    }

    fn run_for_a_while(&mut self) {
        match self {
            Self::Future(future) => {
                assert!(now_pending(future.as_mut()), "the victim ended");
            }
            Self::Tokio(runtime, task) => {
                runtime.block_on(async {
                    for _ in 0..4 {
                        tokio::task::yield_now().await;
                    }
                });
                assert!(!task.is_finished(), "the victim ended before its place");
            }
        }
    }

    fn kill(self, cause: Cause, tell: oneshot::Sender<()>) {
        match (self, cause) {
            (Self::Future(future), Cause::Error) => {
                tell.send(()).unwrap();
                assert!(matches!(now(future), Err(Failed::Process)));
            }
            (Self::Future(future), Cause::Panic) => {
                tell.send(()).unwrap();
                assert!(catch_unwind(AssertUnwindSafe(|| now(future))).is_err());
            }
            (Self::Future(future), _) => drop(future),
            (Self::Tokio(runtime, task), Cause::Timeout) => {
                assert!(runtime.block_on(task).unwrap().is_err());
            }
            (Self::Tokio(runtime, task), Cause::TaskAborted) => {
                task.abort();
                assert!(runtime.block_on(task).unwrap_err().is_cancelled());
            }
            (Self::Tokio(runtime, _), _) => drop(runtime),
        }
    }
}

/// The session of a peer, which is only polled when woken. Counts its polls.
struct Peer<'a> {
    future: Pin<Box<dyn Future<Output = Result<()>> + 'a>>,
    woken: Arc<Woken>,
    polls: usize,
    outcome: Option<Result<()>>,
}

/// True if a future must be polled, as at first.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl<'a> Peer<'a> {
    fn new(future: impl Future<Output = Result<()>> + 'a) -> Self {
        Self {
            future: Box::pin(future),
            woken: Arc::new(Woken(AtomicBool::new(true))),
            polls: 0,
            outcome: None,
        }
    }

    fn is_woken(&self) -> bool {
        self.outcome.is_none() && self.woken.0.load(Ordering::SeqCst)
    }

    fn poll(&mut self) {
        self.woken.0.store(false, Ordering::SeqCst);
        self.polls += 1;
        let waker = Waker::from(Arc::clone(&self.woken));
        if let Poll::Ready(outcome) = self.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            self.outcome = Some(outcome);
        }
    }
}

/// Polls woken futures until all wait or are done.
fn settle(peers: &mut [Peer<'_>]) {
    while let Some(peer) = peers.iter_mut().find(|peer| peer.is_woken()) {
        peer.poll();
        assert!(peer.polls < 100, "woken without end");
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future waits"),
    }
}

fn now_pending<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_pending()
}
