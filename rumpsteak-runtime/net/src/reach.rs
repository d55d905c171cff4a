//! The task of a lane: one connection after the other, until both ends have left.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rumpsteak_runtime::transport::Labelled;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::address::Address;
use crate::codec::Codec;
use crate::error::NetError;
use crate::guard::Guard;
use crate::handshake::{Answer, Hello, say};
use crate::host::{Arrival, Call, FIRST_PAUSE, Greeted, LONGEST_PAUSE, Shared, dismiss, texts};
use crate::lane::{Lane, LaneState, Luggage, Packed, Stop};
use crate::refusal::Refusal;
use crate::transport::Connection;

/// For how long a peer that has left may come back to hear that this one has its last messages:
/// long enough for several tries.
const LINGER: Duration = Duration::from_secs(2);

/// How to get a connection again that broke.
pub(crate) struct Reach {
    pub(crate) shared: Arc<Shared>,
    /// How this end greets the peer, whose instance it knows.
    pub(crate) own: Hello,
    /// How the peer has greeted it.
    pub(crate) theirs: Hello,
    /// Empty if it is the peer that calls.
    pub(crate) addresses: Vec<Address>,
    pub(crate) arrivals: UnboundedReceiver<Arrival>,
    /// `None` for a peer that stays where its own place is kept.
    pub(crate) guard: Option<Arc<Guard>>,
}

/// What comes next.
#[expect(clippy::large_enum_variant, reason = "one for each connection, and seldom moved")]
enum Event {
    Arrived(Arrival),
    Moved(Result<(), Stop>),
    Called(Result<(Connection, Hello), NetError>),
}

/// Moves messages until both ends have left, over one connection after the other: first over this
/// one, if there is one. If the peer is lost or gives up, who waits for one on demand is told.
pub(crate) async fn run<M: Labelled + Serialize + DeserializeOwned, C: Codec>(
    mut lane: Lane<M, C>,
    reach: Reach,
    connection: Option<Connection>,
) -> Result<(), NetError> {
    if let Some(connection) = &connection {
        lane.connect(connection);
    }
    let (guard, peer) = (reach.guard.clone(), reach.own.peer.clone());
    let moved = run_until_left(&mut lane, reach, connection).await.and_then(|()| lane.failure());
    if let Some(guard) = guard.filter(|_| moved.is_err() || lane.state.left_after == Some(0)) {
        guard.misses(&peer);
    }
    moved
}

async fn run_until_left<M: Labelled + Serialize + DeserializeOwned, C: Codec>(
    lane: &mut Lane<M, C>,
    mut reach: Reach,
    mut connection: Option<Connection>,
) -> Result<(), NetError> {
    let mut search = Search::new(&reach);
    let failed = loop {
        let event = match &mut connection {
            Some(connection) => tokio::select! {
                biased;
                Some(arrived) = reach.arrivals.recv() => Event::Arrived(arrived),
                moved = std::future::poll_fn(|context| lane.poll(connection, context)) => {
                    Event::Moved(moved)
                }
            },
            None if lane.state.is_told() && lane.state.has_peer_left() => {
                std::future::poll_fn(|context| lane.poll_rest(context)).await;
                return Ok(());
            }
            None => {
                let own = Hello { received: lane.state.received, ..reach.own.clone() };
                let Reach { shared, theirs, addresses, arrivals, .. } = &mut reach;
                tokio::select! {
                    biased;
                    Some(arrived) = arrivals.recv() => Event::Arrived(arrived),
                    called = search.call(shared, addresses, &own, theirs) => Event::Called(called),
                }
            }
        };
        let came = match event {
            // Who comes again, and is not the peer that was here.
            Event::Arrived(Arrival::Remote(again, theirs, Call::Again))
                if !theirs.follows(&reach.theirs) =>
            {
                tokio::spawn(dismiss(again, Answer::Refused(Refusal::Taken), true));
                continue;
            }
            Event::Arrived(Arrival::Remote(again, theirs, Call::Again)) => {
                if connection.take().is_some() {
                    search.broke(&lane.state, &reach, io::ErrorKind::ConnectionReset.into());
                }
                reach.theirs.moves.clone_from(&theirs.moves);
                reach.answer(lane, again, &theirs).await
            }
            Event::Arrived(Arrival::Leave(packed)) => {
                drop(connection);
                // Who asked may have given up.
                let _ = packed.send(lane.pack().map(|luggage| reach.pack(luggage)));
                return Ok(());
            }
            // Nobody else comes twice. A first connection that is late was given up.
            Event::Arrived(_) => continue,
            Event::Moved(Ok(())) => return Ok(()),
            Event::Moved(Err(stop)) => Err(stop),
            Event::Called(Ok((again, theirs))) => {
                reach.theirs.moves = theirs.moves;
                lane.resume(&again, theirs.received).map(|()| again)
            }
            // It has heard the end of this one, or does not care any more.
            Event::Called(Err(_)) if lane.state.has_peer_left() => {
                std::future::poll_fn(|context| lane.poll_rest(context)).await;
                return Ok(());
            }
            Event::Called(Err(error)) => break error,
        };
        match came.and_then(|again| search.resumed(&lane.state, &reach.own.peer).map(|()| again)) {
            Ok(again) => connection = Some(again),
            Err(Stop::Failed(error)) => break error,
            Err(Stop::Broken(_)) if lane.state.is_told() => return Ok(()),
            Err(Stop::Broken(error)) if connection.is_none() => search.last = Arc::new(error),
            Err(Stop::Broken(error)) => {
                search.broke(&lane.state, &reach, error);
                connection = None;
            }
        }
    };
    // Before the lane is dropped, by which the role learns of it.
    lane.fail(failed.clone());
    Err(failed)
}

impl Reach {
    /// What another host needs to go on.
    fn pack(self, luggage: Luggage) -> Packed {
        let Self { own, theirs, addresses, .. } = self;
        Packed { own, theirs: Some(theirs), addresses: texts(&addresses), luggage }
    }

    /// Answers a peer that has made a connection again.
    pub(crate) async fn answer<M: Labelled + Serialize + DeserializeOwned, C: Codec>(
        &self,
        lane: &mut Lane<M, C>,
        mut again: Connection,
        theirs: &Hello,
    ) -> Result<Connection, Stop> {
        lane.resume(&again, theirs.received)?;
        let own = Hello { received: lane.state.received, ..self.own.clone() };
        let welcome = Answer::Welcome(own);
        let said = timeout(self.shared.limits.handshake, say(&mut again, &welcome));
        let said = said.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        said.map(|()| again).map_err(Stop::Broken)
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
    /// The last thing that went wrong.
    last: Arc<io::Error>,
    /// Whether the peer has moved, and may not have arrived yet.
    has_moved: bool,
    /// When the last connection was made.
    connected: Instant,
    /// How much had got through when this was looked at last.
    progress: u64,
    /// When something has to have got through, if the connection broke since something did.
    deadline: Option<Instant>,
}

impl Search {
    fn new(Reach { shared, guard, .. }: &Reach) -> Self {
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

    /// Begins to look for a connection in the place of one that broke: this end has noticed, or the
    /// peer has, and calls again.
    fn broke(&mut self, lane: &LaneState, reach: &Reach, error: io::Error) {
        let Reach { shared, guard, .. } = reach;
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

    /// Calls a peer, or waits for its call, until the time is over.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the next call goes on.
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
                        if Some(theirs.instance) == own.known && theirs.follows(before) =>
                    {
                        answered_at(addresses, &connection);
                        return Ok((connection, *theirs));
                    }
                    // The first address is that of the peer. Another end may listen at another one.
                    Ok(Ok(Greeted::Welcome(..)) | Err(NetError::Refused { .. })) if at > 0 => {}
                    Ok(Ok(Greeted::Welcome(..))) => {
                        let (peer, refusal) = (own.peer.clone(), Refusal::Gone);
                        return Err(NetError::Refused { peer, refusal });
                    }
                    Ok(Ok(Greeted::Moved(to))) => {
                        *addresses = to;
                        (self.has_moved, self.pause) = (true, FIRST_PAUSE);
                        break;
                    }
                    Ok(Ok(Greeted::Offers(_)) | Err(NetError::Absent { last: None, .. }))
                    | Err(_) => {}
                    Ok(Err(NetError::Absent { last: Some(error), .. })) => self.last = error,
                    Ok(Err(NetError::Refused { refusal: Refusal::Gone, .. })) if self.has_moved => {
                    }
                    Ok(Err(error)) => return Err(error),
                }
            }
            self.wait();
        }
        sleep_until(self.until).await;
        let (peer, source) = (own.peer.clone(), Arc::clone(&self.last));
        Err(NetError::Lost { peer, waited: self.waited, source })
    }
}
