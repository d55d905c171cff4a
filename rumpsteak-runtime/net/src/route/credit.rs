//! The credit of a lane, its window: how many messages and bytes its sender may keep, and its
//! receiver, until the role at the other end has taken them.
//!
//! A sender sends its next message if the peer's role has yet to take fewer than [`least`]
//! messages, or fewer than [`bytes`] bytes. So each end holds at most `least` messages, or the
//! window and the one message that exceeds it. A message larger than the window travels alone.
//!
//! # Why no role waits for ever
//!
//! `least` is the number of messages that the proof needs: the n of
//! [`AtMost(n)`](rumpsteak_runtime::channel::Capacity) or of
//! [`Waits(n)`](rumpsteak_runtime::channel::Capacity). With `AtMost(n)`, no more than n messages
//! are ever untaken, so the window never makes a role wait.
//!
//! With `Waits(n)`, suppose that the roles are stuck, and that each role that waits for room waits
//! at a queue of at least n messages, however long the queues were before. The proof (k-MC of
//! directed machines) says that their run continues to one that fits into queues of n messages, in
//! some order. Take the first action in that order that is still missing. All actions before it
//! have happened, so its role is about to do it. If it receives, the message is there. If it sends,
//! then the message n places before it was taken, so fewer than n messages are in the queue. In
//! both cases its role is not stuck. It does not matter that the room changes with the sizes of
//! messages, as long as there always is room for n.
//!
//! A sender only knows what the peer has *reported* as taken. So the peer reports at once if the
//! sender may be waiting and fewer than `least` messages are untaken ([`Reports::due`]); otherwise
//! after a number of messages, or a quarter of the window. Messages of a next session count, too. A
//! role that is in its next session waits, at most, for a peer that is still in the session before,
//! and no role of that session waits for it.
//!
//! Without a proof, any limit can deadlock. Then there is none, unless the user
//! [sets one](crate::Limits::unproven_window). The argument assumes that all roles of the session
//! come from one build, as the capacities do.
//!
//! [`least`]: Window::least
//! [`bytes`]: Window::bytes

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(feature = "nats")]
use std::task::Poll;

use atomic_waker::AtomicWaker;

use crate::Limits;
use crate::wire::{Amount, Hello, Room};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The number of messages that have room, whatever their sizes are. At least 1.
    pub(crate) least: u64,
    /// The number of bytes that other messages have room for.
    pub(crate) bytes: u64,
}

impl Window {
    /// Returns true if another message may follow these untaken ones.
    pub(crate) fn has_room(&self, untaken: Amount) -> bool {
        untaken.messages < self.least || untaken.bytes < self.bytes
    }
}

/// The windows of a lane between these ends: for what the first one receives, and sends. Both ends
/// know the same number of messages that need room.
pub(crate) fn windows([own, theirs]: [&Hello; 2], limits: &Limits) -> [Window; 2] {
    [(theirs, own), (own, theirs)].map(|(from, to)| match capacity(from, to) {
        Room::AtMost(least) | Room::Waits(least) => {
            Window { least: u64::from(least).max(1), bytes: limits.window as u64 }
        }
        Room::Growable => Window { least: 1, bytes: limits.unproven_window as u64 },
    })
}

/// The capacity of the queue from one end to another. It is proven for the sessions of a whole
/// system, so it only counts if both ends belong to one system.
pub(crate) fn capacity(from: &Hello, to: &Hello) -> Room {
    match from.contract.capacity {
        _ if from.contract.system == 0 || from.contract.system != to.contract.system => {
            Room::Growable
        }
        // Limits the memory that a stranger can ask for.
        Room::AtMost(most) | Room::Waits(most) if most > LARGEST => Room::Growable,
        room => room,
    }
}

/// The largest queue that another end can ask for.
const LARGEST: u32 = 1024;

/// The number of messages that a role has taken. The role and the task of its lane share it.
pub(crate) struct Taken {
    messages: AtomicU64,
    /// The task wants to know when the role has taken so many messages.
    report_at: AtomicU64,
    pub(crate) lane: AtomicWaker,
}

impl Default for Taken {
    fn default() -> Self {
        let (messages, report_at) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        Self { messages, report_at, lane: AtomicWaker::new() }
    }
}

impl Taken {
    /// Notes that the role has taken so many messages. Wakes the task if it wants to know.
    ///
    /// Both sides store before they load, so at least one of them sees what the other has stored.
    #[inline]
    pub(crate) fn store(&self, messages: u64) {
        self.messages.store(messages, Ordering::SeqCst);
        if messages >= self.report_at.load(Ordering::SeqCst) {
            self.lane.wake();
        }
    }

    fn load(&self, report_at: u64) -> u64 {
        self.report_at.store(report_at, Ordering::SeqCst);
        self.messages.load(Ordering::SeqCst)
    }

    #[cfg(feature = "nats")]
    pub(crate) fn messages(&self) -> u64 {
        self.messages.load(Ordering::SeqCst)
    }

    /// Waits until the role has taken so many messages.
    #[cfg(feature = "nats")]
    pub(crate) async fn reach(&self, messages: u64) {
        std::future::poll_fn(|context| {
            self.lane.register(context.waker());
            if self.load(messages) < messages { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }
}

/// The messages of a peer that the role has not taken, and what the peer knows of it.
pub(crate) struct Reports {
    /// Limits this direction at both ends.
    pub(crate) window: Window,
    pub(crate) taken: Arc<Taken>,
    /// The count of the role when it began to take messages of this lane, modulo 2⁶⁴.
    pub(crate) before: u64,
    /// All messages and bytes up to the end of each frame that the peer does not know to be taken.
    frames: VecDeque<Amount>,
    came: Amount,
    /// The number of messages and bytes that the peer knows to be taken.
    pub(crate) reported: Amount,
    /// The role reports after so many messages.
    every: u64,
}

impl Reports {
    pub(crate) fn new(window: Window, taken: Arc<Taken>, before: u64, every: u64) -> Self {
        let (came, reported) = Default::default();
        Self { window, taken, before, frames: VecDeque::new(), came, reported, every }
    }

    /// Continues after messages that were taken at other hosts.
    pub(crate) fn resume(&mut self, taken: Amount) {
        self.before = self.before.wrapping_sub(taken.messages);
        (self.came, self.reported) = (taken, taken);
    }

    pub(crate) fn come(&mut self, frame: Amount) {
        self.came.add(frame);
        self.frames.push_back(self.came);
    }

    /// The number of messages that the role has to take before the next report. The peer may send
    /// the `granted` ones.
    fn due(&self, granted: u64) -> u64 {
        let Self { window, frames, came, reported, .. } = self;
        let share = reported.bytes.saturating_add((window.bytes / 4).max(1));
        let share = frames.partition_point(|all| all.bytes < share);
        let share = frames.get(share).map_or(u64::MAX, |all| all.messages);
        // The peer may be waiting.
        let is_full = came.messages >= granted || !window.has_room(came.since(*reported));
        let need = if is_full { came.messages + 1 - window.least } else { u64::MAX };
        (reported.messages + self.every).min(share).min(need)
    }

    /// The number of messages that the role has taken. True if the peer is to know it. Otherwise
    /// the role wakes the task in time.
    pub(crate) fn poll(&self, granted: u64) -> (u64, bool) {
        let due = self.due(granted);
        let taken = self.taken.load(due.wrapping_add(self.before)).wrapping_sub(self.before);
        // The role may still take what came before this lane.
        let taken = if taken > u64::MAX / 2 { 0 } else { taken };
        (taken, taken >= due)
    }

    /// The peer gets to know that the role has taken so many messages. Returns the amount.
    pub(crate) fn report(&mut self, taken: u64) -> Amount {
        self.reported.messages = taken;
        while let Some(all) = self.frames.front().filter(|all| all.messages <= taken) {
            self.reported.bytes = all.bytes;
            self.frames.pop_front();
        }
        self.reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lane whose role takes messages at random moments, and whose frames and reports are late.
    /// When nothing is under way, the sender has room unless the messages that the proof needs are
    /// untaken.
    #[test]
    fn a_sender_has_room_for_what_the_proof_needs() {
        let mut random = 1_u64;
        let mut below = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % most
        };
        for _ in 0..20_000 {
            let window = Window { least: 1 + below(5), bytes: below(200) };
            let before = below(3).wrapping_sub(1);
            let mut reports = Reports::new(window, Arc::default(), before, 32);
            let (mut sent, mut known) = (Amount::default(), Amount::default());
            let (mut frames, mut grants) = (VecDeque::new(), VecDeque::new());
            let mut taken = 0_u64;
            for _ in 0..below(60) {
                match below(4) {
                    0 if window.has_room(sent.since(known)) => {
                        let frame = Amount { messages: 1 + below(2), bytes: below(150) };
                        if frame.messages == 1 || window.bytes > 150 {
                            frames.push_back(frame);
                            sent.add(frame);
                        }
                    }
                    1 => frames.pop_front().into_iter().for_each(|frame| reports.come(frame)),
                    2 if taken < reports.came.messages => {
                        taken += 1;
                        reports.taken.store(taken.wrapping_add(before));
                    }
                    _ => {
                        if let (taken, true) = reports.poll(u64::MAX) {
                            grants.push_back(reports.report(taken));
                        }
                        grants.pop_front().into_iter().for_each(|taken| known = taken);
                    }
                }
            }
            frames.drain(..).for_each(|frame| reports.come(frame));
            while let (taken, true) = reports.poll(u64::MAX) {
                grants.push_back(reports.report(taken));
            }
            grants.pop_back().into_iter().for_each(|taken| known = taken);
            let has_room = window.has_room(sent.since(known));
            assert!(
                has_room || sent.messages - taken >= window.least,
                "{window:?} {sent:?} {known:?} {taken}"
            );
        }
    }
}
