//! The search: all situations of a subtype, breadth first.
//!
//! Situations are compared and stored at the subtype's *anchors* only, the states where several
//! transitions meet: every loop has one.

use std::collections::VecDeque;
use std::sync::Arc;

use super::anticipation::Anticipation;
use super::asm::{Assumptions, Way};
use super::pair::Pair;
use super::prefix::Prefix;
use super::proof::{Evidence, Proof};
use super::record::{Done, encode};
use super::refusal::{Refusal, Result, Stop};
use super::rules::{Rules, Situation, Successor};
use super::sequences::Sequence;
use crate::machine::StateId;
use crate::verdict::{Limit, Limits, Verdict};

pub(super) struct Search<'a> {
    pair: &'a Pair,
    limits: &'a Limits,
    rules: Rules<'a>,
    assumptions: Assumptions<'a>,
    tasks: VecDeque<(Situation, Way)>,
    longest: usize,
    key: Vec<u32>,
}

impl<'a> Search<'a> {
    pub(super) fn new(pair: &'a Pair, limits: &'a Limits, slack: usize) -> Self {
        let situation = Situation {
            state: pair.sub.initial,
            prefix: Prefix::new(pair.sup.initial),
            lossy: false,
        };
        Self {
            pair,
            limits,
            rules: Rules { pair, anticipation: Anticipation::new(pair, slack, limits.steps) },
            assumptions: Assumptions::new(pair),
            tasks: VecDeque::from([(situation, Way::start())]),
            longest: 0,
            key: vec![],
        }
    }

    /// `None` if no derivation was found, and a dropped alternative may be the reason.
    pub(super) fn run(mut self) -> Option<Verdict<Proof, Refusal>> {
        let mut dropped = false;
        let mut limit = None;
        while let Some((situation, way)) = self.tasks.pop_front() {
            match self.follow(situation, way) {
                Ok(()) => {}
                Err(Stop::Limited(reached)) => {
                    limit.get_or_insert(reached);
                    if matches!(reached, Limit::Steps(_)) {
                        break;
                    }
                }
                Err(Stop::Lossy) => dropped = true,
                Err(Stop::Refused(refusal)) => return Some(Verdict::Unsafe(refusal)),
            }
        }
        // The graph may be incomplete, but its loops are real.
        match (self.assumptions.forgotten(), limit, dropped) {
            (Some(refusal), ..) => Some(Verdict::Unsafe(refusal)),
            (None, Some(limit), _) => Some(Verdict::Undecided(limit)),
            (None, None, true) => None,
            (None, None, false) => {
                let situations = self.assumptions.len();
                let mut record = self.assumptions.record;
                record.sequences = self.rules.anticipation.sequences;
                let evidence = Evidence::Recorded(Arc::new(record));
                let anticipation = Some(self.longest);
                Some(Verdict::Safe(Proof { situations, anticipation, evidence }))
            }
        }
    }

    /// Follows a situation to one that was met before, to a branching or to the end.
    fn follow(&mut self, mut situation: Situation, mut way: Way) -> Result<()> {
        loop {
            if self.pair.sub.is_anchor(situation.state) {
                match self.arrive(&mut situation, way)? {
                    Some(onward) => way = onward,
                    None => return Ok(()),
                }
            }
            self.rules.anticipation.spend(1)?;
            let pending = situation.prefix.spine.len() + situation.prefix.rest.size();
            if pending > self.limits.anticipation {
                return Err(Limit::Anticipation(self.limits.anticipation).into());
            }
            self.longest = self.longest.max(pending);

            if let Some(edge) = self.rules.direct(&mut situation, &mut way.unfolded) {
                way.done(edge.id.index() as u32);
                continue;
            }
            let sub_state = situation.state;
            let successors = self.rules.successors(situation);
            let mut successors = successors.map_err(|stop| self.halt(stop, &way, sub_state))?;
            match successors.len() {
                0 => {
                    self.assumptions.end(&way);
                    return Ok(());
                }
                1 => {
                    let successor = successors.remove(0);
                    self.prolong(&mut way, successor.transition, successor.rules);
                    situation = successor.situation;
                }
                count => {
                    for (successor, mut way) in
                        successors.into_iter().zip(self.assumptions.branch(way, count))
                    {
                        let Successor { transition, situation, rules } = successor;
                        self.prolong(&mut way, transition, rules);
                        let cost = way.trail.len() + situation.prefix.spine.len();
                        self.rules.anticipation.spend(cost)?;
                        self.tasks.push_back((situation, way));
                    }
                    return Ok(());
                }
            }
        }
    }

    /// Adds an action that is done by these rules to a way.
    fn prolong(&mut self, way: &mut Way, transition: u32, rules: Sequence) {
        let sequences = &mut self.rules.anticipation.sequences;
        let unfolded = sequences.unfold(std::mem::take(&mut way.unfolded));
        let rules = sequences.both(unfolded, rules);
        way.trail.push(Done::by(transition, rules));
    }

    /// Compares a situation with earlier ones. `None` if it was met before (rule ASM), otherwise
    /// the way from it.
    fn arrive(&mut self, situation: &mut Situation, way: Way) -> Result<Option<Way>> {
        // If no output is pending, every choice is made.
        situation.lossy &= situation.prefix.awaits_send(self.pair);
        let (state, prefix) = (situation.state, &situation.prefix);
        encode(state, prefix, situation.lossy, &mut self.key);
        self.rules.anticipation.spend(self.key.len())?;
        let Some((node, way)) = self.assumptions.meet(&self.key, situation, way) else {
            return Ok(None);
        };
        match self.assumptions.avoided(node) {
            Some(_) if situation.lossy => Err(Stop::Lossy),
            Some(refusal) => Err(Stop::Refused(refusal)),
            None => Ok(Some(way)),
        }
    }

    fn halt(&self, stop: Stop, way: &Way, sub_state: u32) -> Stop {
        let Stop::Refused(refusal) = stop else { return stop };
        let (path, sub_state) =
            (self.assumptions.path(way), StateId::from_index(sub_state as usize));
        Stop::Refused(Refusal { path, sub_state, ..refusal })
    }
}
