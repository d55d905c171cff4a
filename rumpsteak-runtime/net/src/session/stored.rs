//! Roles that are stored, and survive their processes.
//!
//! A stored role has no connection with its peers. Each [entry](Entry) of its log has what it sends
//! in a step, what it has taken until then, the state of its session, and the value of the program.
//! So a step and its record cannot come apart: there is only one write. A peer takes the messages
//! of an entry when it reads the log, each once, because they are numbered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::StreamExt as _;
use rumpsteak_runtime::channel::{QueueReceiver, QueueSender};
use rumpsteak_runtime::private::{ByMacro, Leaves, Played, Structure};
use rumpsteak_runtime::states::{Plays, Session, State};
use rumpsteak_runtime::{Detached, Role};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::join::MessageCodec as _;
use super::wiring::{Facts, Families, role_of, token};
use crate::journal::{Channel, Entry, Final, LOOK, Log, Phase, encoded, failed};
use crate::route::{Read, Taken, Unsaved, net_of_messages, reader};
use crate::wire::schema;
use crate::{Joins, Journal, NetError, Postcard, Refusal};

/// A stored role between two steps of its session, with a value of the program.
///
/// The program that is killed, and started again, joins the session [again](Journal::join), and
/// continues after the last step that it [saved](Self::save). For the role and its peers, nothing
/// happened after that step: the messages that it sent have not left, and it takes again what it
/// had received. The [guide](crate::guide::stored) shows a program.
///
/// Dropping it stops the role as the death of the process would, and it can be joined again.
#[must_use = "the role stops here, until it joins again"]
pub struct Stored<R: Role, V> {
    /// The value of the program: what it has to remember. It is saved with each step.
    pub value: V,
    role: R,
    log: Arc<Log>,
    /// The last entry.
    entry: Entry,
    lanes: Vec<Lane<R::Message>>,
    unsaved: Unsaved,
    /// True from the time when a step takes the session until it is saved.
    is_taken: bool,
    /// A reader for each lane, which ends when the session is over for the peer, and the task that
    /// receives the news of the session, which never ends.
    tasks: JoinSet<Result<(), NetError>>,
}

/// The messages between the role and a peer.
struct Lane<M> {
    peer: String,
    outgoing: QueueReceiver<M>,
    /// The number of messages that the role has taken since it joined, and before.
    taken: (Arc<Taken>, u64),
}

/// The number of steps after which a role looks what its peers have taken.
const LOOKS: u64 = 16;

impl Journal {
    /// Joins a session as a role that is stored: in its first state `S` with this value, or where
    /// its last entry says. All roles of the session join it through journals at the same server.
    /// It need not be at the same time.
    ///
    /// Fails if another instance plays the role, if the server does not answer, or if the entry is
    /// of another version of the program. A role that is a family or has one as a peer does not
    /// compile, nor does a protocol with roles on demand. If the future is dropped, the role can
    /// join again.
    pub async fn join<S, R, V>(&self, session: &str, value: V) -> Result<Stored<R, V>, NetError>
    where
        S: Session<State = State<'static, R>> + Structure,
        R: Joins + Leaves<()> + Plays<S>,
        V: Serialize + DeserializeOwned,
    {
        const {
            assert!(<R as Plays<S>>::VERIFIED);
            let Played { is_family, on_demand, .. } = R::PLAYED.0;
            assert!(
                !is_family && on_demand.is_empty(),
                "a family, or a role on demand, is not stored"
            );
        }
        let families = Families::new();
        let peers = Facts::of::<R, Postcard>().queues(&families)?;
        let log = self.log::<R>(&encoded(session)).await?;
        log.create().await.map_err(failed)?;
        let entry = loop {
            let (last, mut entry) = match log.last(R::NAME).await.map_err(failed)? {
                Some((_, entry)) if entry.phase == Phase::GivenUp => {
                    return Err(NetError::GaveUp { peer: R::NAME.to_owned() });
                }
                Some((last, entry)) => (last, entry),
                None => (0, self.claim(session.to_owned(), &log)),
            };
            if entry.instance != self.instance {
                return Err(failed(format!("`{}` plays `{}`", entry.instance, R::NAME)));
            }
            if entry.phase == Phase::Claimed {
                entry.phase = Phase::At(S::FINGERPRINT);
                entry.value = postcard::to_stdvec(&value).map_err(failed)?;
            }
            if entry.program != log.program {
                return Err(NetError::OtherSession { role: R::NAME });
            }
            if let Some(entry) = log.begin(last, entry).await? {
                break entry;
            }
        };
        let Ok(value) = postcard::from_bytes(&entry.value) else {
            return Err(NetError::OtherSession { role: R::NAME });
        };
        let (log, unsaved, mut tasks) = (Arc::new(log), Unsaved::default(), JoinSet::new());
        let (mut ends, mut lanes) = (Vec::new(), Vec::new());
        for peer in peers.iter().map(|queue| &queue.peer) {
            let before = entry.channels.get(&**peer).map_or(0, |channel| channel.received);
            let (end, mut queue, outgoing, status, taken) = net_of_messages();
            let _ = status.unsaved.set(Arc::clone(&unsaved));
            let decode = reader::<R::Message, _>(peer, Postcard);
            let lane = Lane { peer: peer.to_string(), outgoing, taken: (taken, before) };
            let (log, peer, taken) = (Arc::clone(&log), lane.peer.clone(), lane.taken.clone());
            tasks.spawn(async move {
                let read = read(&log, peer, &mut queue, decode, taken).await;
                // Before the queue is dropped, which wakes the role.
                read.inspect_err(|error| status.fail(error.clone()))
            });
            ends.push(end);
            lanes.push(lane);
        }
        let followed = Arc::clone(&log);
        tasks.spawn(async move {
            loop {
                followed.follow().await;
                sleep(LOOK).await;
            }
        });
        let (role, is_taken) = (role_of::<R>(ends, &families), false);
        Ok(Stored { value, role, log, entry, lanes, unsaved, is_taken, tasks })
    }

    /// Gives `begin` the name of each session in which others wait for the role `R`, to
    /// [join](Self::join) it, unless another instance plays the role there. The sessions that the
    /// process before had come first. Goes on after the server was restarted; fails if it does not
    /// answer at the beginning. If the future is dropped, a name may be given only to the next
    /// process of the instance.
    pub async fn serve<R: Joins>(&self, mut begin: impl FnMut(String)) -> Result<(), NetError> {
        let (mut calls, mut connects) = (self.calls(R::PROTOCOL).await?, self.connects());
        // True if this process may have claimed the session, or the one before.
        let found = |names: Vec<_>, may_be_own| names.into_iter().map(move |it| (it, may_be_own));
        let mut names: Vec<_> = found(self.sessions(R::PROTOCOL).await?, true).collect();
        loop {
            for (name, may_be_own) in std::mem::take(&mut names) {
                match self.claimed::<R>(&name, may_be_own).await {
                    Ok(session) => session.into_iter().for_each(&mut begin),
                    Err(_) => names.push((name, true)),
                }
            }
            match timeout(LOOK, calls.next()).await {
                Ok(Some(call)) => {
                    let name = String::from_utf8(call.payload.into()).into_iter().collect();
                    names.extend(found(name, false));
                }
                Ok(None) => return Ok(()),
                Err(_) => {}
            }
            // Calls may have been lost.
            let now = self.connects();
            if now != connects
                && let Ok(all) = self.sessions(R::PROTOCOL).await
            {
                connects = now;
                names.extend(found(all, false));
            }
        }
    }

    /// The log of a role in the session of this encoded name.
    async fn log<R: Joins>(&self, session: &str) -> Result<Log, NetError> {
        let (fingerprint, format) = Facts::of::<R, Postcard>().told()?;
        let said = (fingerprint, &format.codec, &format.labels, &format.types);
        let program = schema::fingerprint(postcard::to_stdvec(&said).map_err(failed)?.into_iter());
        Log::open(self, [R::PROTOCOL, session], R::NAME, token()?, program).await
    }

    /// Returns the session of this encoded name if it is for this instance.
    async fn claimed<R: Joins>(
        &self,
        name: &str,
        may_be_own: bool,
    ) -> Result<Option<String>, NetError> {
        let log = self.log::<R>(name).await?;
        if let Some((_, entry)) = log.last(R::NAME).await.map_err(failed)? {
            let is_own = entry.instance == self.instance && !entry.has_left();
            return Ok((is_own && may_be_own).then_some(entry.session));
        }
        let Some((_, of_peer)) = log.next("*", 1).await.map_err(failed)? else { return Ok(None) };
        Ok(log.begin(0, self.claim(of_peer.session, &log)).await?.map(|entry| entry.session))
    }

    /// The entry of number 0 of a role in a session, which is never written.
    fn claim(&self, session: String, log: &Log) -> Entry {
        let &Log { role, owner, program, .. } = log;
        let (role, instance, channels) = (role.to_owned(), self.instance.clone(), BTreeMap::new());
        let (phase, value) = (Phase::Claimed, Vec::new());
        Entry { session, role, instance, owner, program, step: 0, phase, value, channels }
    }
}

/// Moves the messages of a peer into the queue to the role, entry by entry: the next one when the
/// role has taken everything. Ready when the session is over for the peer.
async fn read<M>(
    log: &Log,
    peer: String,
    queue: &mut QueueSender<M>,
    decode: Read<M>,
    (taken, before): (Arc<Taken>, u64),
) -> Result<(), NetError> {
    let (mut news, mut at, mut step, mut moved) = (log.news.subscribe(), 1, 0, before);
    let mut connections = *news.borrow_and_update();
    loop {
        let (number, entry) = match log.next(&peer, at).await {
            Ok(Some(found)) => found,
            Err(error) if error.is::<Final>() => return Err(failed(error)),
            // If the server is gone, it may come back.
            Ok(None) | Err(_) => {
                let _ = news.changed().await;
                if std::mem::replace(&mut connections, *news.borrow_and_update()) != connections {
                    at = 1;
                }
                continue;
            }
        };
        at = number + 1;
        if entry.step <= step {
            continue;
        }
        step = entry.step;
        if entry.program != log.program {
            let refusal = Refusal::Protocol("their programs differ".to_owned());
            return Err(NetError::Refused { peer, refusal });
        }
        let nothing = Channel::default();
        let channel = entry.channels.get(log.role).unwrap_or(&nothing);
        if channel.sent > moved {
            return Err(failed(format!("messages of `{peer}` are not at the server any more")));
        }
        let known = usize::try_from(moved - channel.sent).unwrap_or(usize::MAX);
        for message in channel.messages.iter().skip(known) {
            // A role that has ended does not take what it does not need.
            let _ = queue.try_send(decode(message, None)?);
            moved += 1;
        }
        match entry.phase {
            Phase::GivenUp => return Err(NetError::GaveUp { peer }),
            Phase::Over | Phase::Left => return Ok(()),
            Phase::Claimed | Phase::At(_) => taken.reach(moved - before).await,
        }
    }
}

impl<R: Joins + Leaves<()>, V: Serialize> Stored<R, V> {
    /// True if the session is over, and only has to be [finished](Self::finish).
    pub fn is_over(&self) -> bool {
        !matches!(self.entry.phase, Phase::At(_))
    }

    /// The session, if it was saved in the state `S`: for a step, which [runs](Detached::run) it,
    /// and takes the rest away by [`Detached::new`]. `None` if the session is in another state, or
    /// was not saved since the last step.
    ///
    /// A step receives any number of messages, and then sends any number. If it receives after it
    /// has sent, the error is [`NetError::Unsaved`].
    pub fn session<S>(&mut self) -> Option<Detached<S>>
    where
        S: Session<State = State<'static, R>> + Structure,
    {
        if self.is_taken || self.entry.phase != Phase::At(S::FINGERPRINT) {
            return None;
        }
        self.is_taken = true;
        Some(Detached::from_role(&mut self.role, ByMacro(())))
    }

    /// Saves a step: the rest of the session, which the step has returned, and the value. When the
    /// future is ready, both are stored, with the messages of the step. Fails if `rest` was
    /// continued, if a message cannot be written, if the server does not answer, or if another
    /// process plays the role now. After an error, or if the future is dropped, drop the role and
    /// join again.
    pub async fn save<S>(&mut self, rest: Detached<S>) -> Result<(), NetError>
    where
        S: Session<State = State<'static, R>> + Structure,
    {
        self.role = rest.into_role(ByMacro(())).ok_or(NetError::NotHere { role: R::NAME })?;
        self.add(Phase::At(S::FINGERPRINT)).await?;
        self.is_taken = false;
        if self.entry.step.is_multiple_of(LOOKS) {
            // It is tried again.
            let _ = self.forget().await;
        }
        Ok(())
    }

    /// Finishes a session that has ended: saves this with the value, waits until it is over for all
    /// peers, runs `end`, and leaves. The last role to leave removes the session from the server.
    /// If the program is killed in between, the session [is over](Self::is_over) when it joins
    /// again; to finish it then may run `end` again. Fails if no step has continued the session, if
    /// a peer has given the session up, or if the server does not answer.
    pub async fn finish<T>(mut self, end: impl AsyncFnOnce(&V) -> T) -> Result<T, NetError> {
        if !self.is_over() && !self.is_taken {
            return Err(NetError::NotHere { role: R::NAME });
        }
        if self.entry.phase != Phase::Left {
            self.add(Phase::Over).await?;
            // The role takes no more, if a peer sent something that it did not need.
            self.lanes.iter().for_each(|lane| lane.taken.0.store(u64::MAX));
            for _ in &self.lanes {
                if let Some(Ok(Err(error))) = self.tasks.join_next().await {
                    self.leave(Phase::GivenUp).await?;
                    return Err(error);
                }
            }
        }
        let ended = end(&self.value).await;
        self.leave(Phase::Left).await?;
        Ok(ended)
    }

    /// Gives the session up. Its peers get [`NetError::GaveUp`], after the messages that were
    /// saved. Fails if the server does not answer.
    pub async fn abandon(mut self) -> Result<(), NetError> {
        self.leave(Phase::GivenUp).await
    }

    async fn leave(&mut self, phase: Phase) -> Result<(), NetError> {
        self.entry.advance();
        self.entry.phase = phase;
        self.tasks.abort_all();
        self.log.leave(&self.entry).await
    }

    /// Adds an entry with all that the role has sent and taken.
    async fn add(&mut self, phase: Phase) -> Result<(), NetError> {
        let value = postcard::to_stdvec(&self.value).map_err(failed)?;
        self.entry.advance();
        (self.entry.phase, self.entry.value) = (phase, value);
        for Lane { peer, outgoing, taken: (taken, before) } in &mut self.lanes {
            let messages = std::iter::from_fn(|| outgoing.try_receive()).collect();
            let messages = Postcard.bytes_of(peer, messages)?;
            let channel = self.entry.channels.entry(peer.clone()).or_default();
            (channel.received, channel.messages) =
                (before.saturating_add(taken.messages()), messages);
        }
        self.log.add(&self.entry).await?;
        self.unsaved.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Removes the entries from the server whose messages the peers have taken.
    async fn forget(&self) -> Result<(), async_nats::Error> {
        let mut taken = BTreeMap::new();
        for Lane { peer, .. } in &self.lanes {
            let last = self.log.last(peer).await?.map(|(_, entry)| entry);
            let channel = last.as_ref().and_then(|entry| entry.channels.get(R::NAME));
            taken.insert(peer, channel.map_or(0, |channel| channel.received));
        }
        let is_taken = |(peer, Channel { sent, messages, .. }): (&String, &Channel)| {
            taken.get(peer).is_some_and(|taken| sent + messages.len() as u64 <= *taken)
        };
        let mut at = 1;
        while let Some((number, entry)) = self.log.next(R::NAME, at).await?
            && entry.step < self.entry.step
            && entry.channels.iter().all(is_taken)
        {
            self.log.remove(number).await?;
            at = number + 1;
        }
        Ok(())
    }
}

impl_debug!([R: Role, V] Stored<R, V>, "role": |it| (R::PROTOCOL, it.entry.session.clone(), R::NAME));
