//! The task of a lane: it makes one connection after the other, until both ends have left.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rumpsteak_runtime::transport::Labelled;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::{Guard, Lane, Stop};
use crate::host::{Arrival, Call, FIRST_PAUSE, Greeted, LONGEST_PAUSE, Shared, dismiss};
use crate::transport::Connection;
use crate::wire::{Answer, Hello, LaneSnapshot, LaneState, PackedLane, say};
use crate::{Address, Codec, NetError, Portable, Refusal};

/// How long a peer that has left may come back to hear that this end has its last messages: long
/// enough for several tries.
const LINGER: Duration = Duration::from_secs(2);

/// A peer of a role, and how to get a connection to it.
pub(crate) struct Remote {
    pub(crate) shared: Arc<Shared>,
    /// How the role greets the peer.
    pub(crate) own: Hello,
    /// The addresses of the peer; empty if the peer calls.
    pub(crate) addresses: Vec<Address>,
    pub(crate) arrivals: UnboundedReceiver<Arrival>,
    /// `None` for a peer that has left this host, where the role stays.
    pub(crate) guard: Option<Arc<Guard>>,
}

#[expect(clippy::large_enum_variant, reason = "one for each connection, and seldom moved")]
enum Event {
    Arrived(Arrival),
    Moved(Result<(), Stop>),
    Called(Result<(Connection, Hello), NetError>),
}

/// Moves messages until both ends have left, over one connection after the other: first over this
/// one, if there is one. `theirs` is the greeting of the peer, whose token the role knows. If the
/// peer is lost or gives up, the tasks that wait for a peer on demand are told.
pub(crate) async fn run<M: Labelled + Portable, C: Codec>(
    mut lane: Lane<M, C>,
    remote: Remote,
    theirs: Hello,
    connection: Option<Connection>,
) -> Result<(), NetError> {
    if let Some(connection) = &connection {
        lane.connect(connection);
    }
    let (guard, peer) = (remote.guard.clone(), remote.own.route.peer.clone());
    let moved = run_until_left(&mut lane, remote, theirs, connection).await;
    if let Err(error) = &moved {
        // Before the lane is dropped, by which the role learns of it.
        lane.status.fail(error.clone());
    }
    let moved = moved.and_then(|()| lane.status.check());
    if let Some(guard) = guard.filter(|_| moved.is_err() || lane.state.left_after == Some(0)) {
        guard.misses(&peer);
    }
    moved
}

async fn run_until_left<M: Labelled + Portable, C: Codec>(
    lane: &mut Lane<M, C>,
    mut remote: Remote,
    mut theirs: Hello,
    mut connection: Option<Connection>,
) -> Result<(), NetError> {
    let mut search = Search::new(&remote);
    loop {
        let event = if let Some(connection) = &mut connection {
            tokio::select! {
                biased;
                Some(arrived) = remote.arrivals.recv() => Event::Arrived(arrived),
                moved = poll_fn(|context| lane.poll(connection, context)) => Event::Moved(moved),
            }
        } else if lane.state.is_told() && lane.state.has_peer_left() {
            break;
        } else {
            let own = remote.own.clone().having(lane.state.received);
            let Remote { shared, addresses, arrivals, .. } = &mut remote;
            tokio::select! {
                biased;
                Some(arrived) = arrivals.recv() => Event::Arrived(arrived),
                called = search.call(shared, addresses, &own, &theirs) => Event::Called(called),
            }
        };
        let came = match event {
            Event::Arrived(Arrival::Remote(again, hello, Call::Again)) => {
                // A copy of the peer that was here.
                if !hello.follows(&theirs) {
                    tokio::spawn(dismiss(again, Answer::Refused(Refusal::Taken), true));
                    continue;
                }
                if connection.take().is_some() {
                    search.broke(&lane.state, &remote, io::ErrorKind::ConnectionReset.into());
                }
                theirs.lane.moves.clone_from(&hello.lane.moves);
                remote.answer(lane, again, &hello).await
            }
            Event::Arrived(Arrival::Leave(packed)) => {
                drop(connection);
                // The role that asked may have given up.
                let _ = packed.send(lane.pack().map(|it| remote.pack(Some(theirs), it)));
                return Ok(());
            }
            // Only the peer comes twice. A first connection that is late was given up.
            Event::Arrived(_) => continue,
            Event::Moved(Ok(())) => return Ok(()),
            Event::Moved(Err(stop)) => Err(stop),
            Event::Called(Ok((again, hello))) => {
                theirs.lane.moves = hello.lane.moves;
                lane.resume(&again, hello.lane.received).map(|()| again)
            }
            // The peer has heard the end of this one, or does not care any more.
            Event::Called(Err(_)) if lane.state.has_peer_left() => break,
            Event::Called(Err(error)) => return Err(error),
        };
        let peer = &remote.own.route.peer;
        match came.and_then(|again| search.resumed(&lane.state, peer).map(|()| again)) {
            Ok(again) => connection = Some(again),
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Broken(_)) if lane.state.is_told() => return Ok(()),
            Err(Stop::Broken(error)) => match connection.take() {
                Some(_) => search.broke(&lane.state, &remote, error),
                None => search.last = Arc::new(error),
            },
        }
    }
    poll_fn(|context| lane.poll_rest(context)).await;
    Ok(())
}

impl Remote {
    pub(super) fn pack(self, theirs: Option<Hello>, snapshot: LaneSnapshot) -> PackedLane {
        PackedLane { own: self.own, theirs, addresses: self.addresses, snapshot }
    }

    /// Answers a peer that has replaced a connection.
    pub(super) async fn answer<M: Labelled + Portable, C: Codec>(
        &self,
        lane: &mut Lane<M, C>,
        mut again: Connection,
        hello: &Hello,
    ) -> Result<Connection, Stop> {
        lane.resume(&again, hello.lane.received)?;
        let welcome = Answer::Welcome(self.own.clone().having(lane.state.received));
        let said = timeout(self.shared.limits.handshake, say(&mut again, &welcome)).await;
        said.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        Ok(again)
    }
}

/// Puts the address of the end that has answered first. Other ends may listen at the others.
pub(crate) fn answered_at(addresses: &mut Vec<Address>, connection: &Connection) {
    if let Some(at) = &connection.at {
        addresses.retain(|address| address != at);
        addresses.insert(0, at.clone());
    }
}

/// The search for a connection in the place of one that broke.
///
/// A connection that breaks again and again, before anything gets through, is as good as none: the
/// time of the search goes on from break to break, and so do the pauses between its tries.
struct Search {
    waited: Duration,
    until: Instant,
    next_try: Instant,
    pause: Duration,
    longest_pause: Duration,
    last: Arc<io::Error>,
    /// True if the peer has moved, and may not have arrived yet.
    has_moved: bool,
    connected: Instant,
    /// How much had got through at the last look.
    progress: u64,
    /// The deadline for progress, if the connection broke since the last progress.
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
            // The peer of a role that stays where both were has just moved.
            has_moved: guard.is_none(),
            connected: now,
            progress: 0,
            deadline: None,
        }
    }

    /// Begins to look for a connection in the place of one that broke. Either this end has noticed,
    /// or the peer has, and calls again.
    fn broke(&mut self, lane: &LaneState, remote: &Remote, error: io::Error) {
        let Remote { shared, guard, .. } = remote;
        let (now, resume) = (Instant::now(), shared.limits.resume);
        let lingers = resume.min(LINGER);
        self.waited = if lane.has_peer_left() { lingers } else { resume };
        self.until = now + self.waited;
        // A peer that has heard the end of this one does not wait for longer than it lingers.
        let longest = if lane.has_ended { lingers } else { resume } / 8;
        self.longest_pause = longest.min(LONGEST_PAUSE);
        self.notes(lane);
        // What got through may not be acknowledged yet, which the next connection shows.
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
        self.wait();
        (self.last, self.has_moved) = (Arc::new(error), guard.is_none());
    }

    /// Goes on over a new connection, unless nothing gets through, however often it is made.
    fn resumed(&mut self, lane: &LaneState, peer: &str) -> Result<(), Stop> {
        self.connected = Instant::now();
        self.notes(lane);
        if self.deadline.is_none_or(|deadline| self.connected <= deadline) {
            return Ok(());
        }
        let text = format!("it breaks again and again before anything gets through: {}", self.last);
        let (peer, source) = (peer.to_owned(), Arc::new(io::Error::other(text)));
        Err(Stop::Failed(NetError::Lost { peer, waited: self.waited, source }))
    }

    /// Notes how much has got through in both directions. If that is more than before, the time
    /// begins anew, and so do the pauses.
    fn notes(&mut self, lane: &LaneState) {
        let progress = lane.received + lane.first;
        if std::mem::replace(&mut self.progress, progress) != progress {
            (self.deadline, self.pause) = (None, FIRST_PAUSE);
        }
    }

    /// Waits longer from try to try.
    fn wait(&mut self) {
        let pause = self.pause.min(self.longest_pause);
        (self.next_try, self.pause) = (Instant::now() + pause, pause * 2);
    }

    /// Calls a peer, or waits for its call, until the time is over. Cancel safe: the next call goes
    /// on.
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
                match timeout_at(self.until, shared.greet(&address, own)).await {
                    Ok(Ok(Greeted::Welcome(connection, theirs)))
                        if Some(theirs.lane.own) == own.lane.known && theirs.follows(before) =>
                    {
                        answered_at(addresses, &connection);
                        return Ok((connection, *theirs));
                    }
                    // The first address is that of the peer. Another end may listen at another one.
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
                    Ok(Ok(Greeted::Offers(_))) | Err(_) => {}
                    Ok(Err(error)) => return Err(error),
                }
            }
            self.wait();
        }
        sleep_until(self.until).await;
        let (peer, source) = (own.route.peer.clone(), Arc::clone(&self.last));
        Err(NetError::Lost { peer, waited: self.waited, source })
    }
}
