//! The lanes of a role that is stored: see [`Stored`](crate::Stored).
//!
//! A record has, for each lane, how far the role has come in both directions, and the frames that
//! it sent and that the peer has not acknowledged. Two rules make a role that comes back from its
//! record the same as one that only paused:
//!
//! 1. A frame leaves only when it is in the record. So the peers of a role that dies know nothing
//!    that the record does not say.
//! 2. A frame is acknowledged only when the record says that the role has taken it. So the peers
//!    still have everything that came after the record, and send it again.
//!
//! With rule 2, a peer repeats frames over a new connection that a role that did not die already
//! has. Frames keep their bounds, so each repeated frame is dropped as a whole. A record may end
//! within a frame; then the first messages of the repeated frame are skipped.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rumpsteak_runtime::transport::Labelled;

use super::{INVALID, Lane};
use crate::route::{Stop, Unsaved};
use crate::transport::Connection;
use crate::wire::{Amount, Frame, LaneSnapshot, LaneState, Messages, Recorded, frame};
use crate::{Codec, NetError, Portable};

impl<M: Labelled + Portable, C: Codec> Lane<M, C> {
    /// The lane of a stored role that begins.
    pub(crate) fn stored(mut self: Box<Self>, unsaved: &Unsaved) -> Box<Self> {
        self.record = Some(Recorded::default());
        let _ = self.status.unsaved.set(Arc::clone(unsaved));
        self.accept_all()
    }

    /// Accepts all messages: the peer may have got credit from a process that died.
    fn accept_all(mut self: Box<Self>) -> Box<Self> {
        (self.state.granted, self.state.granted_bytes) = (u64::MAX, u64::MAX);
        self
    }

    /// Continues from a snapshot of a record. Fails if the snapshot is invalid.
    pub(crate) fn restore(
        self: Box<Self>,
        snapshot: LaneSnapshot,
        is_over: bool,
    ) -> Result<Box<Self>, NetError> {
        let skipped = snapshot.skipped;
        let mut lane = self.unpack(snapshot, true)?;
        lane.reports.before = lane.reports.before.wrapping_sub(skipped);
        let LaneState { received, received_bytes, next, .. } = lane.state;
        let acknowledged = Amount { messages: received, bytes: received_bytes };
        lane = lane.accept_all();
        if lane.state.has_ended {
            lane.outgoing = None;
        }
        let next = (acknowledged, next);
        let released = next.1;
        lane.record = Some(Recorded {
            acknowledged,
            next,
            released,
            skipped,
            is_over,
            ..Recorded::default()
        });
        Ok(lane)
    }

    /// A snapshot for the record of the role, which has nothing under way now. If its session is
    /// over, the end is part of the snapshot. Fails if a message cannot be written.
    pub(crate) fn snapshot(&mut self, is_over: bool) -> Result<LaneSnapshot, NetError> {
        let mut context = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(added)) = self.poll_add(&mut context) {
            added?;
        }
        self.unacknowledged.extend(self.batch.take());
        if is_over || self.outgoing.is_none() {
            self.end();
        }
        let (taken, _) = self.reports.poll();
        let state = &self.state;
        let came = Amount { messages: state.received, bytes: state.received_bytes };
        let Some(record) = &mut self.record else { return Err(self.violation(INVALID)) };
        record.is_over |= is_over;
        let taken_ends = record.ends.iter().take_while(|end| end.0 <= taken);
        let last = taken_ends.last().map_or(record.acknowledged, |end| end.1);
        let acknowledged = if record.is_over { came } else { last };
        record.next = (acknowledged, state.next);
        let state = LaneState {
            received: acknowledged.messages,
            received_bytes: acknowledged.bytes,
            granted: acknowledged.messages,
            granted_bytes: acknowledged.bytes,
            left_after: state.left_after.filter(|_| acknowledged == came),
            ahead: 0,
            ..state.clone()
        };
        let unacknowledged = self.unacknowledged.iter().map(|frame| frame.to_vec()).collect();
        let skipped = taken.saturating_sub(acknowledged.messages);
        Ok(LaneSnapshot { state, unacknowledged, unread: Vec::new(), skipped })
    }

    /// The last snapshot is stored.
    pub(crate) fn recorded(&mut self) {
        let Some(record) = &mut self.record else { return };
        (record.acknowledged, record.released) = record.next;
        let acknowledged = record.acknowledged.messages;
        while record.ends.front().is_some_and(|end| end.1.messages <= acknowledged) {
            record.ends.pop_front();
        }
        self.must_acknowledge = true;
    }

    /// The number of messages that the peer need not send again.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.record.as_ref().map_or(self.state.received, |record| record.acknowledged.messages)
    }

    /// Returns true if the record, if there is one, has everything that has come.
    pub(crate) fn is_recorded(&self) -> bool {
        self.acknowledged() == self.state.received
    }

    /// Returns true if both ends have left, and neither needs the other.
    pub(crate) fn has_ended(&self) -> bool {
        self.state.is_told() && self.state.has_peer_left() && self.is_recorded()
    }

    /// Begins a new connection, over which the peer continues after what was acknowledged.
    pub(super) fn begin_recorded(&mut self) {
        let coming = self.acknowledged();
        let Some(record) = &mut self.record else { return };
        record.coming = coming;
        let mut messages = 0;
        let mut bytes = self.state.next_bytes;
        for frame in self.unacknowledged.iter().filter(|frame| !frame::is_end(frame)) {
            let all = frame::amount(frame);
            messages += all.messages;
            bytes = bytes.saturating_sub(all.bytes);
        }
        let end = u64::from(self.state.has_ended);
        record.written =
            Amount { messages: (self.state.next - end).saturating_sub(messages), bytes };
    }

    /// Counts a frame of the peer. Returns true if it came before, over another connection.
    pub(super) fn is_repeated(&mut self, frame: &Frame) -> bool {
        let Some(record) = &mut self.record else { return false };
        let is_repeated = record.coming < self.state.received;
        record.coming += match frame {
            Frame::Messages(messages) => messages.amounts()[0].messages,
            _ => 1,
        };
        // The peer keeps a frame until it is written again.
        self.must_acknowledge |= is_repeated && record.coming <= record.acknowledged.messages;
        is_repeated
    }

    /// Notes the end of a frame, which has come: of messages, or of the end of the peer.
    pub(super) fn note_come(&mut self, ends: u64, messages: Option<&mut Messages>) {
        let (received, bytes) = (self.state.received, self.state.received_bytes);
        let Some(record) = &mut self.record else { return };
        let came = Amount { messages: received, bytes };
        record.ends.push_back((received - ends, came));
        if let Some(messages) = messages {
            while record.skipped > 0 && messages.next().is_some() {
                record.skipped -= 1;
            }
        }
    }

    /// Returns true unless the frame of a stored role has to wait: for the record, or for the
    /// credit of the peer. A frame that exceeds the window goes when the peer has taken all others.
    pub(super) fn may_write(&self, frame: &[u8]) -> bool {
        let Some(record) = &self.record else { return true };
        let all = frame::amount(frame);
        let end = record.written.messages + all.messages;
        if end > record.released || frame::is_end(frame) {
            return end <= record.released;
        }
        // The peer may have taken what is written again.
        let mut before = record.written.max(self.state.taken).since(self.state.taken);
        let is_first = before.messages == 0;
        if all.messages > 1 {
            before.add(all.messages - 1, all.bytes);
        }
        end <= self.limit && (is_first || self.sending.has_room(before))
    }

    /// Counts a frame that was written to this connection.
    pub(super) fn note_written(&mut self, frame: &[u8]) {
        let Some(record) = &mut self.record else { return };
        let all = frame::amount(frame);
        record.written.add(all.messages, if frame::is_end(frame) { 0 } else { all.bytes });
    }

    /// Continues over a new connection, whose other end has received so many messages. Fails if
    /// fewer were sent.
    pub(crate) fn resume(&mut self, connection: &Connection, received: u64) -> Result<(), Stop> {
        // All frames were written, for now: none that the peer has is written again.
        self.sent = self.unacknowledged.len();
        self.acknowledge(received)?;
        self.connect(connection);
        Ok(())
    }

    /// Adds the end to the frames, unless it is among them. The role sends no more.
    pub(super) fn end(&mut self) {
        self.unacknowledged.extend(self.batch.take());
        let outgoing = self.outgoing.take();
        let sessions = match outgoing.map_or(0, |outgoing| outgoing.left_after() as u64) {
            0 => 0,
            here => here + self.state.completed,
        };
        if !self.state.has_ended {
            self.state.has_ended = true;
            self.unacknowledged.push_back(frame::end(sessions));
            self.state.next += 1;
        }
    }
}
