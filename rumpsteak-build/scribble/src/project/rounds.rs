//! The rounds of a block in a loop, and late interrupts that could be taken for new ones.
//!
//! ```text
//!   rec Next { choice at client {
//!       interruptible { request() from client to server; reply() from server to client; }
//!       with { timeout() by client; }
//!       continue Next; } or { close() from client to server; } }
//!
//!   client: … ?reply, !timeout …        server: … !reply, then ?timeout: of which round?
//! ```
//!
//! An interrupt of one round may be [late](super::late): its receiver has ended the round. If the
//! receiver would take it for one of the next round, the block is changed by one of three rules. No
//! rule adds a message or a number, so these machines run and are judged like all others.
//!
//! * **After a message.** If the interrupter sends something to the receiver in the block before it
//!   waits for anything, it interrupts only after that. Until the receiver hears something in this
//!   round, it finds only old interrupts, since queues are first in, first out. It drops them.
//! * **Through another role.** Else the interrupter does not tell the receiver, but only the other
//!   roles. They pass it on as if the block had a `via` with all of them. The receiver hears from
//!   one of them that the next round begins, so it cannot mistake what that role has told before.
//! * **Before its last send.** Else, or if a late interrupt would be left at the end, it interrupts
//!   only before its last send in the block, if it waits for something before that or never waits.
//!   A role that cannot be done before that tells all its hops of any interrupt, as they wait.
//!
//! # At the end
//! An interrupt that is left at the end is [dropped](rumpsteak_fsm::Fsm::dropping) by a role that
//! has ended. No message is needed for that, since queues count sessions. If the protocol is not
//! safe so, or has a family, whose members may end one by one, the third rule holds there.
//!
//! # Why this is sound
//! The rules are not trusted. Two meanings of one message are an error (S0311). Otherwise the
//! machines are [judged](super::blocks::judge), and if unsafe, refused as if there were no rules.
//!
//! # Why interrupts have no numbers
//! A number in each interrupt would tell all rounds apart. It would allow more only where the
//! receiver goes from round to round and hears nothing from the interrupter, directly or through
//! others. There it may be any number of rounds ahead, and no finite machine models that.

use std::cell::Cell;

use litemap::LiteMap;
use rumpsteak_fsm::Message;

use crate::diagnostics::Span;
use crate::global::automaton::{Block, Global};

/// The rules by which late interrupts are kept apart from new ones: for the place of a block, the
/// role that tells of the interrupt, and the role that is told.
#[derive(Clone, Default)]
pub(super) struct Rounds<'a> {
    rules: LiteMap<(Span, u32, u32), Rule>,
    /// If roles that have ended drop what comes too late: true once one of them may have to.
    pub(super) drops: Option<&'a Cell<bool>>,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Rule {
    AfterMessage,
    ThroughAnother,
    BeforeLastSend,
}

/// An interrupt that `role` may hear of from `by` too late: in a state in which it could be taken
/// for another message, or else at the end.
pub(super) struct TooLate {
    pub(super) block: u32,
    pub(super) by: u32,
    pub(super) role: u32,
    pub(super) message: Message,
    /// The places of the other message.
    pub(super) confused: Option<Vec<Span>>,
}

impl<'a> Rounds<'a> {
    /// No rules, and late interrupts are dropped at the end.
    pub(super) fn dropping(drops: &'a Cell<bool>) -> Self {
        Self { drops: Some(drops), ..Self::default() }
    }

    /// The rule for how `by` tells `role` that it has interrupted this block.
    pub(super) fn rule(&self, block: Span, by: u32, role: u32) -> Option<Rule> {
        self.rules.get(&(block, by, role)).copied()
    }

    /// True if `by` does not interrupt this block after its last send.
    pub(super) fn is_early(&self, block: Span, by: u32) -> bool {
        let is_one = |key: &(Span, u32, u32)| (key.0, key.1) == (block, by);
        self.rules.iter().any(|(key, rule)| is_one(key) && *rule == Rule::BeforeLastSend)
    }

    /// Adds rules against what was found, or replaces those that were of no use. Returns false if
    /// nothing else can be tried. `is_late` is true of a block whose interrupts may be late.
    pub(super) fn mend(
        &mut self,
        global: &Global,
        found: &[TooLate],
        is_late: impl Fn(u32) -> bool,
    ) -> bool {
        if found.is_empty() {
            let rules = self.rules.iter_mut().filter(|(_, rule)| **rule != Rule::BeforeLastSend);
            let waits = |rule: &Rule| *rule == Rule::AfterMessage;
            let next = |waits| if waits { Rule::ThroughAnother } else { Rule::BeforeLastSend };
            return rules.map(|(_, rule)| *rule = next(waits(rule))).count() > 0;
        }
        found.iter().filter(|found| self.mend_one(global, found, &is_late)).count() > 0
    }

    fn mend_one(
        &mut self,
        global: &Global,
        &TooLate { block, by, role, ref confused, .. }: &TooLate,
        is_late: impl Fn(u32) -> bool,
    ) -> bool {
        let places = confused.as_deref().unwrap_or_default();
        let sends = |block: &Block| {
            let mut edges = block.parts.iter().flat_map(Global::all_edges);
            edges.any(|edge| {
                let letter = global.letter(edge);
                (letter.from, letter.to) == (by, role)
            })
        };
        let may_wait = |place: &Span| {
            let mut blocks = (0..).zip(&global.blocks);
            blocks.any(|(number, block)| block.span == *place && is_late(number) && sends(block))
        };
        let is_new = |place: &Span| !self.rules.contains_key(&(*place, by, role));
        if confused.is_some() && places.iter().all(|place| is_new(place) && may_wait(place)) {
            let keys = places.iter().map(|&place| (place, by, role));
            keys.for_each(|key| _ = self.rules.insert(key, Rule::AfterMessage));
            return true;
        }
        let key = (global.blocks[block as usize].span, by, role);
        let next = match self.rules.get(&key) {
            None | Some(Rule::AfterMessage) if confused.is_some() => Rule::ThroughAnother,
            _ => Rule::BeforeLastSend,
        };
        self.rules.insert(key, next) != Some(next)
    }
}
