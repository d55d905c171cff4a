//! A lane: the messages under way between two roles, and the credit of each role with the other. It
//! outlives the connections that carry it.
//!
//! ```text
//! role ── queue ──▶ unacknowledged ── frames ──▶ arrived ── queue ──▶ role of the peer
//!                      ◀────────── received, limit ──────────
//! ```
//!
//! # Credit
//!
//! A role may have no more messages under way than its peer has granted. The peer grants at least
//! the proven capacity of the queue between them, beyond what its role has received. So there is
//! room for everything that is sent, and the task always reads what the connection has. The window
//! of a transport therefore never holds back a message behind others that the peer does not wait
//! for: an order that is safe over queues of the proven capacities is safe over any transport. The
//! number of bytes is limited, too: see [`credit`](super::credit). Both ends know the proven
//! number, so its first grant is not sent.
//!
//! # A connection that breaks
//!
//! An end keeps frames until the peer acknowledges them. On a new connection each end says how many
//! messages it has, and the other end continues there: nothing is lost, doubled or out of order.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use futures_core::Stream as _;
use futures_sink::Sink as _;
use rumpsteak_runtime::transport::Labelled;

use super::{
    Arrived, FarEnd, Incoming, Next, Outgoing, Read, Reports, SharedStatus, WINDOW, Window, Write,
    capacity, windows,
};
use crate::limits::{FOR_EVER, SILENT_BEATS};
use crate::platform::time::{Instant, Interval, interval_at};
use crate::transport::{Connection, GREETING};
use crate::wire::{
    Amount, Batch, Frame, Grant, Hello, LaneSnapshot, LaneState, Messages, Numbers, Room, frame,
};
use crate::{Codec, CodecError, Limits, NetError, Portable};

/// The reason why a connection ended: it broke, or an end violated the protocol.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stop {
    #[error(transparent)]
    Broken(#[from] io::Error),
    #[error(transparent)]
    Failed(#[from] NetError),
}

/// The number of messages that are taken from the role in a row.
const BATCH: u64 = 1024;

/// The number of frames that may wait for the connection. More messages stay with the role.
const AHEAD: usize = 16;

const INVALID: &str = "an invalid snapshot of a lane";

pub(crate) fn unwritten(peer: &str, label: &'static str, error: CodecError) -> NetError {
    NetError::Encode { peer: peer.to_owned(), label, source: Arc::new(error) }
}

/// The error of a message that was written before, and does not fit the connection.
fn encode_error<M: Labelled + Portable, C: Codec>(
    peer: &str,
    codec: &C,
    message: &[u8],
    error: CodecError,
) -> NetError {
    unwritten(peer, codec.decode::<M>(message).map_or("", |message| message.label()), error)
}

pub(crate) fn reader<M: Portable, C: Codec>(peer: &Arc<str>, codec: C) -> Read<M> {
    let peer = Arc::clone(peer);
    Box::new(move |bytes, numbers| {
        let read = match numbers {
            None => codec.decode(bytes),
            Some(numbers) => renumber(&codec, bytes, numbers).and_then(|it| codec.decode(&it)),
        };
        read.map_err(|error| NetError::Decode { peer: peer.to_string(), source: Arc::new(error) })
    })
}

/// Writes a message to frames of at most so many bytes.
pub(crate) fn writer<M: Labelled + Portable, C: Codec>(
    peer: &Arc<str>,
    codec: C,
    largest: usize,
) -> Write<M> {
    let peer = Arc::clone(peer);
    Box::new(move |batch, frames, message| {
        let written = batch.add(largest, frames, |bytes| codec.encode(message, bytes));
        written.map_err(|error| unwritten(&peer, message.label(), error))
    })
}

/// The bytes of a message with the number that its label has here.
fn renumber<C: Codec>(codec: &C, bytes: &[u8], numbers: &Numbers) -> Result<Vec<u8>, CodecError> {
    codec.renumber(bytes.to_vec(), |theirs| *numbers.get(theirs as usize)?)
}

/// A lane, seen from one of its ends.
pub(crate) struct Lane<M, C> {
    peer: Arc<str>,
    codec: C,
    /// The numbers of the peer's labels here, if they differ.
    pub(crate) numbers: Option<Arc<Numbers>>,
    limits: Limits,
    /// The largest frame over this connection, in bytes.
    largest: usize,
    /// The queues from and to the role. `None` once the role or its peer has left.
    outgoing: Option<Outgoing<M>>,
    incoming: Option<Incoming<M>>,
    /// A frame of the role that does not fit as a whole.
    split: Option<Messages>,
    pub(crate) state: LaneState,
    /// The frames that the peer may not have, in order.
    unacknowledged: VecDeque<Bytes>,
    /// The number of these frames that were written to this connection.
    sent: usize,
    /// The peer has granted the messages below this number.
    limit: u64,
    /// Messages for which the role's queue had no room yet.
    arrived: VecDeque<Arrived>,
    /// The number of messages that may be under way to this role, including its queue.
    room: u64,
    reports: Reports,
    /// The window for what the role sends.
    sending: Window,
    /// The windows of this host for what the role receives and sends, in bytes.
    windows: [u64; 2],
    /// The messages that were sent before this lane began.
    sent_before: Amount,
    pub(crate) status: SharedStatus,
    /// True if the peer must get an acknowledgement, even without new credit.
    must_acknowledge: bool,
    /// The number of completed sessions that the peer was told.
    told_completed: u64,
    batch: Batch,
    /// `None` if other lanes share the connection, which has heartbeats of its own. Otherwise the
    /// first one ticks after an interval without a frame from this end, and the second one after
    /// too long without a frame from the peer.
    beats: Option<[Interval; 2]>,
}

impl<M: Labelled + Portable, C: Codec> Lane<M, C> {
    pub(crate) fn new(
        ends: [&Hello; 2],
        codec: C,
        FarEnd { incoming, outgoing, status, taken: (taken, before) }: FarEnd<M>,
        limits: &Limits,
    ) -> Box<Self> {
        let ([own, theirs], [receiving, sending]) = (ends, windows(ends, limits));
        // If waiting is safe with some room, it is safe with more, and larger frames cost less.
        let count = match capacity(theirs, own) {
            Room::AtMost(most) => most as usize,
            Room::Waits(_) | Room::Growable => WINDOW,
        };
        // A report wakes a task and sends a frame, which costs more than a message.
        let every = count.clamp(32, WINDOW / 4) as u64;
        let granted = Amount { messages: receiving.least, bytes: 0 };
        Box::new(Self {
            peer: Arc::clone(&own.route.peer),
            codec,
            numbers: own.numbers(theirs).map(Arc::new),
            limits: *limits,
            largest: limits.frame,
            outgoing: Some(outgoing),
            incoming: Some(incoming),
            split: None,
            state: LaneState { granted, ..LaneState::default() },
            unacknowledged: VecDeque::new(),
            sent: 0,
            limit: sending.least,
            arrived: VecDeque::new(),
            // Messages that were received and not reported yet take room, too.
            room: count as u64 + every,
            reports: Reports::new(receiving, taken, before, every),
            sending,
            windows: [receiving.bytes, sending.bytes],
            sent_before: Amount::default(),
            status,
            must_acknowledge: receiving.least < count as u64,
            told_completed: 0,
            batch: Batch::default(),
            beats: None,
        })
    }

    /// Packs the lane for another host. Fails if a message cannot be written or read.
    pub(crate) fn pack(&mut self) -> Result<LaneSnapshot, NetError> {
        self.pack_outgoing()?;
        // The other messages belong to a session that the peer has not begun.
        let before = self.unacknowledged.len() - self.state.ahead;
        self.outgoing.iter_mut().for_each(|outgoing| outgoing.complete(usize::MAX));
        self.pack_outgoing()?;
        let failed = |it| NetError::Decode { peer: self.peer.to_string(), source: Arc::new(it) };
        let mut unread = Vec::new();
        for Arrived { mut messages, numbers } in self.arrived.drain(..) {
            while let Some(bytes) = messages.next() {
                unread.push(match numbers.as_deref() {
                    None => bytes.to_vec(),
                    Some(numbers) => renumber(&self.codec, bytes, numbers).map_err(failed)?,
                });
            }
        }
        let state = LaneState { ahead: self.unacknowledged.len() - before, ..self.state.clone() };
        let unacknowledged = self.unacknowledged.iter().map(|frame| frame.to_vec()).collect();
        Ok(LaneSnapshot { state, unacknowledged, unread })
    }

    /// Makes frames of the messages that the role has sent, as far as the peer is in their session.
    fn pack_outgoing(&mut self) -> Result<(), NetError> {
        let mut context = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(added)) = self.poll_add(&mut context) {
            added?;
        }
        self.unacknowledged.extend(self.batch.take());
        Ok(())
    }

    /// Continues from a snapshot of another host. If both ends count the same sessions, the peer
    /// may be a session behind. Fails if the snapshot is invalid.
    pub(crate) fn unpack(
        mut self: Box<Self>,
        snapshot: LaneSnapshot,
        is_counted: bool,
    ) -> Result<Box<Self>, NetError> {
        let LaneSnapshot { state, unacknowledged, unread } = snapshot;
        let LaneState { first, sent, received, granted, completed, peer_completed, .. } = state;
        let count: Option<u64> = unacknowledged.iter().map(|frame| frame::count(frame)).sum();
        let numbers = [first, received.messages, granted.messages, completed, peer_completed];
        let is_sound = received.messages >= unread.len() as u64
            && numbers.iter().chain([&received.bytes, &sent.bytes]).all(|it| *it < u64::MAX / 2)
            && granted.messages + 1 >= received.messages
            && state.taken.messages <= sent.messages
            && state.taken.bytes <= sent.bytes
            && state.ahead <= unacknowledged.len();
        let Some(count) = count.filter(|_| is_sound) else {
            return Err(self.violation(INVALID));
        };
        // The role here does not report the messages that it received at other hosts.
        let size = unread.iter().map(|bytes| frame::size_of(bytes.len())).sum();
        let messages = received.messages - unread.len() as u64;
        self.reports.resume(Amount { messages, bytes: received.bytes.saturating_sub(size) });
        let (mut batch, mut frames) = (Batch::default(), Vec::new());
        for bytes in unread {
            let added = batch.add(usize::MAX, &mut frames, |frame| {
                frame.extend(bytes);
                Ok(())
            });
            added.map_err(|_| self.violation(INVALID))?;
        }
        frames.extend(batch.take());
        for messages in frames.into_iter().filter_map(Messages::read) {
            self.reports.come(messages.amounts()[0]);
            self.arrived.push_back(Arrived { messages, numbers: None });
        }
        self.unacknowledged = unacknowledged.into_iter().map(Bytes::from).collect();
        if state.left_after.is_some() {
            self.outgoing = None;
        }
        let peer_completed = if is_counted { peer_completed } else { u64::MAX };
        let sent = Amount { messages: first + count, ..sent };
        let granted = state.granted.max(self.state.granted);
        self.state = LaneState { sent, peer_completed, granted, ..state };
        self.sent_before = sent;
        self.note_taken();
        Ok(self)
    }

    /// Begins to use a first connection.
    pub(crate) fn connect(&mut self, connection: &Connection) {
        self.largest = self.limits.frame.min(connection.max_payload());
        self.status.connected(connection);
        self.sent = 0;
        self.beats = (!connection.is_shared()).then(|| {
            let beat = self.limits.beat.min(FOR_EVER / SILENT_BEATS);
            [beat, beat * SILENT_BEATS].map(|every| interval_at(Instant::now() + every, every))
        });
    }

    /// Continues over a new connection, whose other end has received so many messages. Fails if
    /// fewer were sent.
    pub(crate) fn resume(&mut self, connection: &Connection, received: u64) -> Result<(), Stop> {
        self.connect(connection);
        self.must_acknowledge = true;
        Ok(self.acknowledge(received)?)
    }

    /// Moves messages in both directions. Ready when both ends have left, or the connection ends.
    pub(crate) fn poll(
        &mut self,
        connection: &mut Connection,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Stop>> {
        loop {
            self.poll_read(connection, context)?;
            let _ = self.poll_deliver(context);
            let has_more = self.poll_take(context);
            let before = self.sent;
            self.poll_write(connection, context)?;
            // Frames that were written make room for messages of the role.
            let takes_more = has_more && self.sent > before;
            self.poll_heartbeat(connection, context)?;
            let is_done = self.is_done();
            let is_flushed = match (is_done, connection.flushes_itself()) {
                (true, true) => Pin::new(&mut *connection).poll_close(context)?.is_ready(),
                (false, true) => false,
                (_, false) => Pin::new(&mut *connection).poll_flush(context)?.is_ready(),
            };
            let is_over = is_flushed && is_done && self.arrived.is_empty();
            if is_over || !takes_more {
                self.status.note_progress(self.progress());
                return if is_over { Poll::Ready(Ok(())) } else { Poll::Pending };
            }
        }
    }

    /// Returns true if both ends have left, and know it.
    fn is_done(&self) -> bool {
        self.state.is_told() && self.state.has_peer_left() && !self.must_acknowledge
    }

    /// The number of messages that were sent, have come, and the peer has taken: without the ends.
    fn progress(&self) -> [u64; 3] {
        let LaneState { sent, has_ended, received, taken, .. } = &self.state;
        let left = u64::from(self.state.has_peer_left());
        [sent.messages - u64::from(*has_ended), received.messages - left, taken.messages]
    }

    /// Reads the frames that have come.
    fn poll_read(
        &mut self,
        connection: &mut Connection,
        context: &mut Context<'_>,
    ) -> Result<(), Stop> {
        let mut came = false;
        while !self.is_done()
            && let Poll::Ready(next) = Pin::new(&mut *connection).poll_next(context)
        {
            let closed = || io::Error::from(io::ErrorKind::UnexpectedEof);
            let bytes = next.ok_or_else(closed).and_then(|bytes| bytes).map_err(|error| {
                // The codec reports a frame that is too large so.
                if error.kind() == io::ErrorKind::InvalidData {
                    Stop::Failed(self.violation("a frame that is larger than the limit"))
                } else {
                    Stop::Broken(error)
                }
            })?;
            let frame = Frame::read(bytes);
            self.take_frame(frame.ok_or_else(|| self.violation("bytes that are not a frame"))?)?;
            came = true;
        }
        if came {
            if let Some([_, silence]) = &mut self.beats {
                silence.reset();
            }
            self.status.heard();
        }
        Ok(())
    }

    fn take_frame(&mut self, frame: Frame) -> Result<(), NetError> {
        match frame {
            Frame::Beat => {}
            Frame::Grant(Grant { received, limit, sessions, taken, windows: [receive, send] }) => {
                self.acknowledge(received)?;
                self.limit = self.limit.max(limit);
                let sent = self.state.sent;
                if taken.messages > sent.messages || taken.bytes > sent.bytes {
                    return Err(self.violation("a count of messages that it was not sent"));
                }
                self.state.taken = self.state.taken.max(taken);
                self.reports.window.bytes = self.windows[0].min(send);
                self.sending.bytes = self.windows[1].min(receive);
                self.note_taken();
                self.state.peer_completed = self.state.peer_completed.max(sessions);
                let here = self.sessions_here(self.state.peer_completed);
                self.outgoing.iter_mut().for_each(|outgoing| outgoing.complete(here));
            }
            Frame::Messages(_) | Frame::End { .. } if self.state.has_peer_left() => {
                return Err(self.violation("a message after its end"));
            }
            Frame::Messages(messages) => {
                let [all, but_one] = messages.amounts();
                let LaneState { received, granted, .. } = self.state;
                if received.messages + all.messages > granted.messages {
                    return Err(self.violation("more messages than it was granted"));
                }
                // So many were untaken before the last one, at most.
                let untaken = received.messages + but_one.messages - self.reports.reported.messages;
                if untaken >= self.reports.window.least
                    && received.bytes + but_one.bytes >= granted.bytes
                {
                    return Err(self.violation("more bytes than its window has"));
                }
                self.state.received.add(all);
                self.reports.come(all);
                self.arrived.push_back(Arrived { messages, numbers: self.numbers.clone() });
            }
            Frame::End { sessions, received } => {
                // The peer receives no further messages.
                let here = self.sessions_here(sessions);
                self.outgoing.iter_mut().for_each(|outgoing| outgoing.complete(here));
                self.outgoing = None;
                self.acknowledge(received)?;
                self.state.received.messages += 1;
                self.state.left_after = Some(sessions);
                self.must_acknowledge = true;
            }
        }
        Ok(())
    }

    /// Tells the role how much the peer has taken.
    fn note_taken(&self) {
        self.status.note_taken(self.state.taken.since(self.sent_before), self.sending.bytes);
    }

    /// The number of these sessions that the role has played on this host.
    fn sessions_here(&self, sessions: u64) -> usize {
        sessions.saturating_sub(self.state.completed).try_into().unwrap_or(usize::MAX)
    }

    /// Drops the frames that the peer has received: all before this number.
    fn acknowledge(&mut self, received: u64) -> Result<(), NetError> {
        if received > self.state.sent.messages {
            return Err(self.violation("an acknowledgement of messages that it was not sent"));
        }
        // A grant may be older than the handshake of a new connection.
        while self.state.first < received
            && let Some(frame) = self.unacknowledged.pop_front()
        {
            self.state.first += frame::count(&frame).unwrap_or(0);
            if let Some(outgoing) = &mut self.outgoing {
                outgoing.reuse(frame);
            }
            self.sent = self.sent.saturating_sub(1);
            if self.state.first > received {
                return Err(self.violation("an acknowledgement of a part of a frame"));
            }
        }
        Ok(())
    }

    /// Moves messages that have arrived into the role's queue. Ready when none is left.
    pub(crate) fn poll_deliver(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(Arrived { messages, numbers }) = self.arrived.front_mut() {
            let is_delivered = match &mut self.incoming {
                // The queue grows. It fails only if the role has left.
                Some(Incoming::Frames(queue)) => {
                    let _ = self.arrived.pop_front().map(|arrived| queue.try_send(arrived));
                    continue;
                }
                Some(Incoming::Messages(queue, read)) => loop {
                    if ready!(Pin::new(&mut *queue).poll_ready(context)).is_err() {
                        break Ok(());
                    }
                    let Some(bytes) = messages.next() else { break Ok(()) };
                    match read(bytes, numbers.as_deref()) {
                        Ok(message) => drop(Pin::new(&mut *queue).start_send(message)),
                        Err(error) => break Err(error),
                    }
                },
                None => Ok(()),
            };
            self.arrived.pop_front();
            if let Err(error) = is_delivered {
                self.status.fail(error);
                self.incoming = None;
            }
        }
        let here = self.sessions_here(self.state.peer_completed);
        self.incoming.iter_mut().for_each(|incoming| incoming.end(here));
        if let Some(sessions) = self.state.left_after {
            let here = self.sessions_here(sessions);
            if let Some(incoming) = self.incoming.take() {
                for_all!(incoming, Incoming: Messages(queue, _) | Frames(queue) => queue.leave(here));
            }
        }
        Poll::Ready(())
    }

    /// Adds the next message of the role to the frames, or the next frame, if all of it fits. Ready
    /// with `None` if the role has left.
    fn poll_add(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<(), NetError>>> {
        let Self { peer, codec, batch, unacknowledged, largest, state, .. } = self;
        let Some(outgoing) = &mut self.outgoing else { return Poll::Ready(None) };
        loop {
            let added = if let Some(message) = self.split.as_mut().and_then(Messages::next) {
                let write = |bytes: &mut Vec<u8>| {
                    bytes.extend_from_slice(message);
                    Ok(())
                };
                let added = batch.add(*largest, unacknowledged, write);
                added.map_err(|error| encode_error::<M, C>(peer, codec, message, error))
            } else {
                match ready!(outgoing.poll_next(context)) {
                    None => return Poll::Ready(None),
                    Some(Next::Message(message)) => {
                        let write = |bytes: &mut _| codec.encode(&message, bytes);
                        let added = batch.add(*largest, unacknowledged, write);
                        added.map_err(|error| unwritten(peer, message.label(), error))
                    }
                    Some(Next::Frame(frame)) => {
                        let all = frame::amount(&frame);
                        let mut before = state.sent.since(state.taken);
                        if all.messages > 1 {
                            before.add(Amount { messages: all.messages - 1, ..all });
                        }
                        if frame.len() <= *largest
                            && state.sent.messages + all.messages <= self.limit
                            && self.sending.has_room(before)
                        {
                            unacknowledged.extend(batch.take());
                            unacknowledged.push_back(frame);
                            state.sent.add(all);
                            return Poll::Ready(Some(Ok(())));
                        }
                        self.split = Messages::read(frame);
                        continue;
                    }
                }
            };
            let sent = |size| state.sent.add(Amount { messages: 1, bytes: frame::size_of(size) });
            return Poll::Ready(Some(added.map(sent)));
        }
    }

    /// Waits until the role sends something. Returns false if it leaves without.
    pub(crate) fn poll_need(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        // The role may have sent messages at another host.
        match &mut self.outgoing {
            Some(outgoing) if self.unacknowledged.is_empty() => outgoing.poll_has(context),
            _ => Poll::Ready(!self.unacknowledged.is_empty()),
        }
    }

    /// Takes messages from the role, as far as the peer has granted. Returns true if it stopped
    /// because enough frames wait for the connection.
    fn poll_take(&mut self, context: &mut Context<'_>) -> bool {
        let before = self.state.sent.messages;
        if self.is_ahead() {
            return false;
        }
        let until = self.limit.min(before + BATCH);
        let mut sessions = 0;
        while self.state.sent.messages < until
            && self.unacknowledged.len() < self.sent + AHEAD
            && self.sending.has_room(self.state.sent.since(self.state.taken))
            && let Poll::Ready(added) = self.poll_add(context)
        {
            let Some(added) = added else {
                let outgoing = self.outgoing.take();
                sessions = match outgoing.map_or(0, |outgoing| outgoing.left_after() as u64) {
                    0 => 0,
                    here => here + self.state.completed,
                };
                break;
            };
            if let Err(error) = added {
                self.status.fail(error);
                // The role gets the error, and the peer hears that this end has left.
                (self.outgoing, self.incoming) = (None, None);
                break;
            }
        }
        self.unacknowledged.extend(self.batch.take());
        if self.outgoing.is_none() && !self.state.has_ended {
            // The end acknowledges, unless a frame comes before it that may be large.
            self.state.has_ended = true;
            self.must_acknowledge &= self.unacknowledged.len() > self.sent;
            self.unacknowledged.push_back(frame::end(sessions, self.state.received.messages));
            self.state.sent.messages += 1;
        }
        self.state.sent.messages >= before + BATCH || self.unacknowledged.len() >= self.sent + AHEAD
    }

    /// Writes grants and frames to the connection, as long as it accepts them.
    fn poll_write(
        &mut self,
        connection: &mut Connection,
        context: &mut Context<'_>,
    ) -> Result<(), Stop> {
        // After its end, the role takes nothing that the peer has to know.
        let waker = if self.state.has_ended { Waker::noop() } else { context.waker() };
        self.reports.taken.lane.register(waker);
        // The first frame after the greetings has to be small: a grant, if there was none.
        let is_large = |frame: &Bytes| frame.len() > GREETING;
        self.must_acknowledge |= self.state.granted.bytes == 0
            && self.unacknowledged.get(self.sent).is_some_and(is_large);
        loop {
            let (taken, is_due) = self.reports.poll(self.state.granted.messages);
            let completed = self.completed();
            // After the end, the peer sends nothing, and knows the completed sessions.
            let is_due = is_due || completed > self.told_completed;
            if !self.must_acknowledge && (!is_due || self.state.has_ended) {
                break;
            }
            if Pin::new(&mut *connection).poll_ready(context)?.is_pending() {
                return Ok(());
            }
            let (received, limit) = (self.state.received.messages, taken + self.room);
            let (taken, windows) = (self.reports.report(taken), self.windows);
            let grant = Grant { received, limit, sessions: completed, taken, windows };
            self.put(connection, frame::grant(grant))?;
            let bytes = taken.bytes.saturating_add(windows[0]);
            self.state.granted = self.state.granted.max(Amount { messages: limit, bytes });
            (self.told_completed, self.must_acknowledge) = (completed, false);
        }
        if !self.is_ahead() {
            self.state.ahead = 0;
        }
        while self.sent + self.state.ahead < self.unacknowledged.len()
            && let Some(frame) = self.unacknowledged.get(self.sent).cloned()
        {
            if frame.len() > self.largest {
                return Err(self.too_large(&frame).into());
            }
            if Pin::new(&mut *connection).poll_ready(context)?.is_pending() {
                return Ok(());
            }
            self.put(connection, frame)?;
            self.sent += 1;
        }
        if self.completed() > self.told_completed && !self.state.has_ended {
            return self.poll_write(connection, context);
        }
        Ok(())
    }

    /// The number of sessions that the role has completed, as far as the peer may know. If it waits
    /// for the end of a session, all that was sent before is on the way.
    fn completed(&mut self) -> u64 {
        let here = self.incoming.as_ref().map_or(0, Incoming::completed);
        let is_written = self.split.is_none() && self.sent == self.unacknowledged.len();
        let is_sent = self
            .outgoing
            .as_mut()
            .is_none_or(|outgoing| outgoing.left_after() == 0 || is_written && outgoing.is_empty());
        (self.state.completed + if is_sent { here as u64 } else { 0 }).max(self.told_completed)
    }

    /// Returns true if the peer has not begun the session in which the role moved to this host.
    fn is_ahead(&self) -> bool {
        self.state.peer_completed < self.state.completed
    }

    /// Writes one frame to the connection, which has room.
    fn put(&mut self, connection: &mut Connection, frame: Bytes) -> Result<(), Stop> {
        Pin::new(connection).start_send(frame)?;
        if let Some([heartbeat, _]) = &mut self.beats {
            heartbeat.reset();
        }
        Ok(())
    }

    /// Sends heartbeats. Fails if the peer is silent.
    fn poll_heartbeat(
        &mut self,
        connection: &mut Connection,
        context: &mut Context<'_>,
    ) -> Result<(), Stop> {
        let Some([heartbeat, silence]) = &mut self.beats else { return Ok(()) };
        if silence.poll_tick(context).is_ready() {
            return Err(io::Error::from(io::ErrorKind::TimedOut).into());
        }
        while heartbeat.poll_tick(context).is_ready() {
            // If the connection has no room, the peer notices the silence.
            if Pin::new(&mut *connection).poll_ready(context)?.is_ready() {
                Pin::new(&mut *connection).start_send(frame::beat())?;
            }
        }
        Ok(())
    }

    /// The error of a frame that was made for another connection, and is too large for this one.
    fn too_large(&self, frame: &Bytes) -> NetError {
        let mut messages = Messages::read(frame.clone());
        let all = std::iter::from_fn(|| Some(messages.as_mut()?.next()?.to_vec()));
        let largest = all.max_by_key(Vec::len).unwrap_or_default();
        let error = frame::too_large(largest.len(), self.largest);
        encode_error::<M, C>(&self.peer, &self.codec, &largest, error)
    }

    fn violation(&self, what: &'static str) -> NetError {
        NetError::Frame { peer: self.peer.to_string(), what }
    }
}
