//! The task of a lane. It replaces connections that break, until both ends have left.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{io, mem};

use futures_core::future::BoxFuture;
use rumpsteak_runtime::transport::Labelled;

use super::{Lane, Stop};
use crate::host::{
    Arrival, Arrivals, Call, FIRST_PAUSE, Greeted, Guard, LONGEST_PAUSE, LaneTask, Shared, dismiss,
};
use crate::platform::spawn;
use crate::platform::time::{Instant, sleep_until, timeout, timeout_at};
use crate::transport::Connection;
use crate::wire::{Answer, Hello, LaneSnapshot, LaneState, PackedLane, say};
use crate::{Address, Codec, NetError, Portable, Refusal};

/// How long a peer that has left may reconnect to get the last acknowledgement: long enough for
/// several tries.
const LINGER: Duration = Duration::from_secs(2);

/// A peer of a role on another host.
pub(crate) struct Remote {
    pub(crate) shared: Arc<Shared>,
    /// The greeting of the role.
    pub(crate) own: Arc<Hello>,
    /// The addresses of the peer; empty if the peer calls.
    pub(crate) addresses: Vec<Address>,
    pub(crate) arrivals: Arrivals,
    /// `None` if the peer has moved away from this host, where the role stays.
    pub(crate) guard: Option<Arc<Guard>>,
}

/// Begins the task of a lane. Each type of a task is compiled with all of its runtime: so there is
/// one.
pub(crate) fn begin(lane: BoxFuture<'static, Result<(), NetError>>) -> LaneTask {
    spawn(lane)
}

/// Moves messages until both ends have left, over one connection after the other, beginning with
/// this one if there is one. `theirs` is the greeting of the peer, whose token the role knows. If
/// the peer is lost or gives up, the guard notes it.
pub(crate) async fn run<M: Labelled + Portable, C: Codec>(
    mut lane: Box<Lane<M, C>>,
    remote: Box<Remote>,
    theirs: Box<Hello>,
    connection: Option<Box<Connection>>,
) -> Result<(), NetError> {
    if let Some(connection) = &connection {
        lane.connect(connection);
    }
    let (guard, peer) = (remote.guard.clone(), remote.own.route.peer.clone());
    let moved = run_until_left(&mut lane, remote, theirs, connection).await;
    // Before the lane is dropped, which wakes the role.
    let moved = moved.inspect_err(|error| lane.status.fail(error.clone()));
    let moved = moved.and_then(|()| lane.status.check());
    if let Some(guard) = guard.filter(|_| moved.is_err() || lane.state.left_after == Some(0)) {
        guard.lost(&peer);
    }
    moved
}

async fn run_until_left<M: Labelled + Portable, C: Codec>(
    lane: &mut Lane<M, C>,
    mut remote: Box<Remote>,
    mut theirs: Box<Hello>,
    mut connection: Option<Box<Connection>>,
) -> Result<(), NetError> {
    let (mut search, mut is_noted) = (Search::new(&remote), false);
    loop {
        let is_connected = connection.is_some();
        if !is_connected && lane.state.is_told() && lane.state.has_peer_left() {
            break;
        }
        let received = lane.state.received.messages;
        let Remote { shared, own, addresses, arrivals, .. } = &mut *remote;
        let move_messages = |context: &mut Context<'_>| {
            let Some(connection) = &mut connection else { return Poll::Pending };
            let moved = lane.poll(connection, context);
            if lane.state.has_peer_left() && !mem::replace(&mut is_noted, true) {
                shared.peer_left(own);
            }
            moved
        };
        let replaced = tokio::select! {
            biased;
            Ok(arrived) = arrivals.recv() => match *arrived {
                // A copy of the peer, from a copied parcel.
                Arrival::Remote(new, hello, Call::Again) if !hello.follows(&theirs) => {
                    spawn(dismiss(new, Answer::Refused(Refusal::Taken), true));
                    continue;
                }
                Arrival::Remote(new, hello, Call::Again) => {
                    if connection.take().is_some() {
                        search.broke(&lane.state, &remote, io::ErrorKind::ConnectionReset.into());
                    }
                    theirs.lane.moves.clone_from(&hello.lane.moves);
                    Box::pin(remote.answer(lane, new, &hello)).await
                }
                Arrival::Leave(packed) => {
                    drop(connection);
                    // If this fails, the role that asked has given up.
                    let _ = packed.send(lane.pack().map(|it| remote.pack(Some(*theirs), it)));
                    return Ok(());
                }
                // A first connection that is too late.
                _ => continue,
            },
            moved = poll_fn(move_messages) => match moved {
                Ok(()) => return Ok(()),
                Err(stop) => Err(stop),
            },
            // Only if it is needed.
            called = async { search.call(shared, addresses, (own, received), &theirs).await }, if !is_connected => match called {
                Ok((new, hello)) => {
                    theirs.lane.moves = hello.lane.moves;
                    lane.resume(&new, hello.lane.received).map(|()| new)
                }
                // The peer has left, and needs no acknowledgement.
                Err(_) if lane.state.has_peer_left() => break,
                Err(error) => return Err(error),
            },
        };
        let peer = &remote.own.route.peer;
        match replaced.and_then(|new| search.resumed(&lane.state, peer).map(|()| new)) {
            Ok(new) => connection = Some(new),
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Broken(_)) if lane.state.is_told() => return Ok(()),
            Err(Stop::Broken(error)) => match connection.take() {
                Some(_) => search.broke(&lane.state, &remote, error),
                None => search.last = Arc::new(error),
            },
        }
    }
    poll_fn(|context| lane.poll_deliver(context)).await;
    Ok(())
}

impl Remote {
    pub(super) fn pack(self, theirs: Option<Hello>, snapshot: LaneSnapshot) -> PackedLane {
        let own = Hello::clone(&self.own);
        let own = theirs.iter().fold(own, |own, theirs| own.knowing(theirs.lane.own));
        PackedLane { own, theirs, addresses: self.addresses, snapshot }
    }

    /// Answers a peer that has replaced a connection.
    pub(super) async fn answer<M: Labelled + Portable, C: Codec>(
        &self,
        lane: &mut Lane<M, C>,
        mut new: Box<Connection>,
        hello: &Hello,
    ) -> Result<Box<Connection>, Stop> {
        lane.resume(&new, hello.lane.received)?;
        let welcome = Hello::clone(&self.own).having(lane.state.received.messages).welcome();
        let said = timeout(self.shared.limits.handshake, say(&mut new, &welcome)).await;
        said.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        Ok(new)
    }
}

/// Moves the address of the end that has answered to the front.
pub(crate) fn answered_at(addresses: &mut Vec<Address>, connection: &Connection) {
    if let Some(at) = connection.at.as_ref().filter(|at| addresses.first() != Some(*at)) {
        addresses.retain(|address| address != at);
        addresses.insert(0, at.clone());
    }
}

/// The search for a connection that replaces a broken one.
///
/// If connections break again and again before anything gets through, the deadline and the pauses
/// carry over from break to break.
struct Search {
    waited: Duration,
    until: Instant,
    next_try: Instant,
    pause: Duration,
    longest_pause: Duration,
    last: Arc<io::Error>,
    /// True if the peer has moved, and may not be at the new host yet.
    has_moved: bool,
    connected: Instant,
    /// The number of messages that had got through at the last check, in both directions.
    progress: u64,
    /// The deadline for progress, if a connection broke since the last progress.
    deadline: Option<Instant>,
}

impl Search {
    fn new(Remote { shared, guard, .. }: &Remote) -> Self {
        let (now, waited) = (Instant::now(), shared.limits.resume);
        Self {
            waited,
            until: now + waited,
            next_try: now,
            pause: FIRST_PAUSE,
            longest_pause: LONGEST_PAUSE,
            last: Arc::new(io::ErrorKind::NotConnected.into()),
            // Without a guard, the peer has just moved away from this host.
            has_moved: guard.is_none(),
            connected: now,
            progress: 0,
            deadline: None,
        }
    }

    /// Begins to replace a connection that broke.
    fn broke(&mut self, lane: &LaneState, remote: &Remote, error: io::Error) {
        let Remote { shared, guard, .. } = remote;
        let (now, resume) = (Instant::now(), shared.limits.resume);
        let lingers = resume.min(LINGER);
        self.waited = if lane.has_peer_left() { lingers } else { resume };
        self.until = now + self.waited;
        // A peer that has received the end of this one only lingers.
        let longest = if lane.has_ended { lingers } else { resume } / 8;
        self.longest_pause = longest.min(LONGEST_PAUSE);
        self.note_progress(lane);
        // Messages may have got through without an acknowledgement. The next connection shows it.
        let has_held = now >= self.connected + shared.limits.beat;
        if has_held && !lane.is_waiting() {
            self.deadline = None;
        }
        let deadline = *self.deadline.get_or_insert(now + resume);
        if has_held {
            self.pause = FIRST_PAUSE;
        } else {
            self.until = self.until.min(deadline);
        }
        self.schedule();
        (self.last, self.has_moved) = (Arc::new(error), guard.is_none());
    }

    /// Accepts a new connection. Fails if there was no progress until the deadline.
    fn resumed(&mut self, lane: &LaneState, peer: &str) -> Result<(), Stop> {
        self.connected = Instant::now();
        self.note_progress(lane);
        if self.deadline.is_none_or(|deadline| self.connected <= deadline) {
            return Ok(());
        }
        let text = format!("it breaks again and again before anything gets through: {}", self.last);
        let (peer, source) = (peer.to_owned(), Arc::new(io::Error::other(text)));
        Err(Stop::Failed(NetError::Lost { peer, waited: self.waited, source }))
    }

    /// If more messages have got through than before, resets the deadline and the pauses.
    fn note_progress(&mut self, lane: &LaneState) {
        let progress = lane.received.messages + lane.first;
        if mem::replace(&mut self.progress, progress) != progress {
            (self.deadline, self.pause) = (None, FIRST_PAUSE);
        }
    }

    /// Sets the time of the next try. The pauses get longer.
    fn schedule(&mut self) {
        let pause = self.pause.min(self.longest_pause);
        (self.next_try, self.pause) = (Instant::now() + pause, pause * 2);
    }

    /// Calls the peer, or waits for its call, until the deadline. Cancel safe: the next call
    /// continues.
    fn call<'a>(
        &'a mut self,
        shared: &'a Arc<Shared>,
        addresses: &'a mut Vec<Address>,
        (own, received): (&'a Hello, u64),
        before: &'a Hello,
    ) -> BoxFuture<'a, Result<(Box<Connection>, Hello), NetError>> {
        Box::pin(async move {
            let own = &own.clone().knowing(before.lane.own).having(received);
            while !addresses.is_empty() && self.next_try <= self.until {
                sleep_until(self.next_try).await;
                for (at, address) in addresses.clone().into_iter().enumerate() {
                    match timeout_at(self.until, shared.greet(&address, own)).await {
                        Ok(Ok(Greeted::Welcome(connection, theirs)))
                            if Some(theirs.lane.own) == own.lane.known
                                && theirs.follows(before) =>
                        {
                            answered_at(addresses, &connection);
                            return Ok((connection, *theirs));
                        }
                        // Only the first address is known to be the peer's.
                        Ok(Ok(Greeted::Welcome(..)) | Err(NetError::Refused { .. })) if at > 0 => {}
                        Ok(Ok(Greeted::Welcome(..))) => {
                            let (peer, refusal) = (own.route.peer.to_string(), Refusal::Gone);
                            return Err(NetError::Refused { peer, refusal });
                        }
                        Ok(Ok(Greeted::Moved(to))) => {
                            *addresses = to;
                            (self.has_moved, self.pause) = (true, FIRST_PAUSE);
                            break;
                        }
                        Ok(Err(NetError::Absent { last, .. })) => {
                            self.last = last.unwrap_or_else(|| Arc::clone(&self.last));
                        }
                        Ok(Err(NetError::Refused { refusal: Refusal::Gone, .. }))
                            if self.has_moved => {}
                        Ok(Ok(Greeted::Offers(_))) | Err(_) => {}
                        Ok(Err(error)) => return Err(error),
                    }
                }
                self.schedule();
            }
            sleep_until(self.until).await;
            let (peer, source) = (own.route.peer.to_string(), Arc::clone(&self.last));
            Err(NetError::Lost { peer, waited: self.waited, source })
        })
    }
}
