//! The task of a lane. It replaces connections that break, until both ends have left.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{io, mem};

use rumpsteak_runtime::transport::Labelled;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::{Lane, Stop};
use crate::host::{Arrival, Call, FIRST_PAUSE, Greeted, Guard, LONGEST_PAUSE, Shared, dismiss};
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
    pub(crate) own: Hello,
    /// The addresses of the peer; empty if the peer calls.
    pub(crate) addresses: Vec<Address>,
    pub(crate) arrivals: UnboundedReceiver<Box<Arrival>>,
    /// `None` if the peer has moved away from this host, where the role stays.
    pub(crate) guard: Option<Arc<Guard>>,
}

/// Moves messages until both ends have left, over one connection after the other, beginning with
/// this one if there is one. `theirs` is the greeting of the peer, whose token the role knows. If
/// the peer is lost or gives up, the guard notes it.
pub(crate) async fn run<M: Labelled + Portable, C: Codec>(
    mut lane: Box<Lane<M, C>>,
    remote: Box<Remote>,
    theirs: Box<Hello>,
    connection: Option<Connection>,
) -> Result<(), NetError> {
    let (guard, peer) = (remote.guard.clone(), remote.own.route.peer.clone());
    let called = remote.addresses.is_empty().then(|| (Arc::clone(&remote.shared), theirs.lane.own));
    let moved = run_until_left(&mut lane, remote, theirs, connection).await;
    if let Some((shared, token)) = called
        && lane.state.received > 0
        && !lane.state.is_told()
    {
        shared.note_ended(token);
    }
    if let Err(error) = &moved {
        // Before the lane is dropped, which wakes the role.
        lane.status.fail(error.clone());
    }
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
    mut connection: Option<Connection>,
) -> Result<(), NetError> {
    let (mut search, mut is_noted) = (Search::new(&remote, &lane.state), false);
    loop {
        let is_connected = connection.is_some();
        if !is_connected && lane.has_ended() {
            break;
        }
        let own = remote.own.clone().having(lane.acknowledged());
        let Remote { shared, addresses, arrivals, .. } = &mut *remote;
        let is_called = addresses.is_empty();
        let move_messages = |context: &mut Context<'_>| {
            let moved = poll_messages(lane, &mut connection, is_called, context);
            if is_connected && lane.state.has_peer_left() && !mem::replace(&mut is_noted, true) {
                shared.peer_left(&own);
            }
            moved
        };
        let replaced = tokio::select! {
            biased;
            Some(arrived) = arrivals.recv() => match *arrived {
                // A copy of the peer, from a copied parcel.
                Arrival::Remote(new, hello, Call::Again) if !hello.follows(&theirs) => {
                    tokio::spawn(dismiss(new, Answer::Refused(Refusal::Taken), true));
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
                    if let Some(mut connection) = connection {
                        // The peer may wait for the welcome. If this fails, it calls again.
                        let _ = poll_fn(|context| lane.poll_open(&mut connection, context)).await;
                    }
                    // If this fails, the role that asked has given up.
                    let _ = packed.send(lane.pack().map(|it| remote.pack(Some(*theirs), it)));
                    return Ok(());
                }
                arrived => {
                    remote.record(lane, &theirs, arrived);
                    continue;
                }
            },
            moved = poll_fn(move_messages) => match moved {
                Ok(()) => return Ok(()),
                Err(stop) => Err(stop),
            },
            // In memory of its own, and only if it is needed.
            called = async { Box::pin(search.call(shared, addresses, &own, &theirs)).await }, if !is_connected => match called {
                Ok((new, hello)) => {
                    theirs.lane.moves = hello.lane.moves;
                    lane.resume(&new, hello.lane.received).map(|()| new)
                }
                // The peer has left, and needs no acknowledgement.
                Err(_) if lane.state.has_peer_left() && lane.is_recorded() => break,
                Err(error) => return Err(error),
            },
        };
        let peer = &remote.own.route.peer;
        match replaced.and_then(|new| search.resumed(&lane.state, peer).map(|()| new)) {
            Ok(new) => connection = Some(new),
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Broken(_)) if lane.state.is_told() && lane.is_recorded() => return Ok(()),
            Err(Stop::Broken(error)) => match connection.take() {
                Some(_) => search.broke(&lane.state, &remote, error),
                None => search.last = Arc::new(error),
            },
        }
    }
    poll_fn(|context| lane.poll_deliver(context)).await;
    Ok(())
}

fn poll_messages<M: Labelled + Portable, C: Codec>(
    lane: &mut Lane<M, C>,
    connection: &mut Option<Connection>,
    is_called: bool,
    context: &mut Context<'_>,
) -> Poll<Result<(), Stop>> {
    let Some(connection) = connection else {
        // At another host, the role need not wait for a connection to get what came before.
        let _ = lane.poll_deliver(context);
        return Poll::Pending;
    };
    lane.is_called = is_called;
    let moved = lane.poll(connection, context);
    if lane.is_flushed {
        // If the connection breaks, the end that was called is found by its place at the host.
        lane.status.leave(is_called);
    }
    moved
}

impl Remote {
    /// The answer to a peer that calls, of which so many messages have come.
    pub(super) fn welcome(&self, received: u64) -> Answer {
        Answer::Welcome(self.own.clone().having(received).at(self.shared.number))
    }

    /// Handles an event of a record. Drops all others: a first connection that is too late.
    fn record<M: Labelled + Portable, C: Codec>(
        &self,
        lane: &mut Lane<M, C>,
        theirs: &Hello,
        arrived: Arrival,
    ) {
        match arrived {
            Arrival::Record(is_over, packed) => {
                let snapshot = lane.snapshot(is_over);
                let _ = packed.send(snapshot.map(|it| self.pack(Some(theirs.clone()), it)));
            }
            Arrival::Recorded => lane.recorded(),
            _ => {}
        }
    }

    pub(super) fn pack(&self, theirs: Option<Hello>, snapshot: LaneSnapshot) -> PackedLane {
        PackedLane { own: self.own.clone(), theirs, addresses: self.addresses.clone(), snapshot }
    }

    /// Answers a peer that has replaced a connection.
    pub(super) async fn answer<M: Labelled + Portable, C: Codec>(
        &self,
        lane: &mut Lane<M, C>,
        mut new: Connection,
        hello: &Hello,
    ) -> Result<Connection, Stop> {
        lane.resume(&new, hello.lane.received)?;
        let welcome = self.welcome(lane.acknowledged());
        let said = timeout(self.shared.limits.handshake, say(&mut new, &welcome)).await;
        said.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        Ok(new)
    }
}

/// Moves the address of the end that has answered to the front.
pub(crate) fn answered_at(addresses: &mut Vec<Address>, connection: &Connection) {
    if let Some(at) = &connection.at {
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

/// How long an end waits for a connection.
fn patience(Remote { shared, own, .. }: &Remote, lane: &LaneState) -> Duration {
    let resume = shared.limits.resume;
    // A peer that is stored, as this role is, may come back for its last messages much later.
    let is_done =
        lane.has_peer_left() && (lane.is_told() || !shared.is_recorded(&own.route.near()));
    if is_done { resume.min(LINGER) } else { resume }
}

impl Search {
    fn new(remote: &Remote, lane: &LaneState) -> Self {
        let (now, waited) = (Instant::now(), patience(remote, lane));
        Self {
            waited,
            until: now + waited,
            next_try: now,
            pause: FIRST_PAUSE,
            longest_pause: LONGEST_PAUSE,
            last: Arc::new(io::ErrorKind::NotConnected.into()),
            // Without a guard, the peer has just moved away from this host.
            has_moved: remote.guard.is_none(),
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
        self.waited = patience(remote, lane);
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
        let progress = lane.received + lane.first;
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
    async fn call(
        &mut self,
        shared: &Arc<Shared>,
        addresses: &mut Vec<Address>,
        own: &Hello,
        before: &Hello,
    ) -> Result<(Connection, Hello), NetError> {
        while !addresses.is_empty() && self.next_try <= self.until {
            sleep_until(self.next_try).await;
            for (at, address) in addresses.clone().into_iter().enumerate() {
                // A process that dies answers no more, and another one may be there already.
                let until = Instant::now() + (self.waited / 4).max(LINGER / 2);
                match timeout_at(until.min(self.until), shared.greet(&address, own)).await {
                    Ok(Ok(Greeted::Welcome(connection, theirs)))
                        if Some(theirs.lane.own) == own.lane.known && theirs.follows(before) =>
                    {
                        answered_at(addresses, &connection);
                        return Ok((connection, *theirs));
                    }
                    // Only the first address is known to be the peer's.
                    Ok(Ok(Greeted::Welcome(..)) | Err(NetError::Refused { .. })) if at > 0 => {}
                    Ok(Ok(Greeted::Welcome(..))) => {
                        let (peer, refusal) = (own.route.peer.clone(), Refusal::Gone);
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
                    Ok(Err(NetError::Refused { refusal: Refusal::Gone, .. })) if self.has_moved => {
                    }
                    // A role that is stored may join again later.
                    Ok(Err(NetError::Refused { refusal: Refusal::Unknown, .. })) => {}
                    Ok(Ok(Greeted::Offers(_))) | Err(_) => {}
                    Ok(Err(error)) => return Err(error),
                }
            }
            self.schedule();
        }
        sleep_until(self.until).await;
        let (peer, source) = (own.route.peer.clone(), Arc::clone(&self.last));
        Err(NetError::Lost { peer, waited: self.waited, source })
    }
}
