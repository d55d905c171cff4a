//! PPoPP'22, Fig. 5, rule by rule: the successors of a situation.
//!
//! The judgement of Fig. 5 is ρ; Σ ⊢ₖ ⟨π, T, n⟩ ≤ ⟨π′, T′, n′⟩. Here π is empty between steps, π′
//! and T′ are a [`Prefix`], ρ is the path from the first situation, and Σ is the table of
//! situations ([`Assumptions`](super::asm)).
//!
//! | rule | where | the difference, and why it is sound |
//! |---|---|---|
//! | INIT | [`Search::new`](super::search::Search::new) | Without bounds n and k; [`Limits`](crate::Limits) end a search with "undecided". |
//! | END | [`Rules::end`] | None. |
//! | ASM | [`asm`](super::asm) | All returns are checked together, kind by kind. |
//! | SUB with \[)I], \[)O], \[)A], \[)B] | [`Spine::take`](super::prefix::Spine::take) | The action that a rule below would push on π is reduced at once. Fig. 5 may do the same: π is in order, and \[)A] and \[)B] leave the other actions of π′ as they are. |
//! | OI, OO | [`Rules::outputs`], [`Anticipation::take`] | ∀i and ∀j (inputs on the way) are a situation each. For ∃j no j is guessed: an open choice is decided later, when more of U is known. |
//! | II | [`Rules::inputs`] | ∀j is a situation each. For ∃i the label is the label of the supertype's next p?, which is known by then. |
//! | IO | [`Rules::inputs`] | It is refused at once: a p? at the front of π is never reduced over the q! that IO puts into π′. |
//! | µL, µR | the edges of the machines | A machine is its type up to unfolding. |
//! | TRA | nowhere | Fewer rules prove less. |
//!
//! # Refusals and dropped alternatives
//!
//! An anticipation may drop alternatives of an output choice ([`Anticipation::lossy`]). A "yes"
//! stays right: it found a W′. A "no" may be caused by the dropping, but only about an output, and
//! only while the choice is *open*. Let q! be the kind of the choice. Messages to one peer stay in
//! order, so the label in W′ must be the label of the subtype's q! with the same number. Once the
//! subtype does that q!, either it does a dropped label, which fails there as a mismatch (`lossy`),
//! or nothing usable was dropped, and what is pending is the same as without dropping. As long as
//! the choice is open, a q! is pending in every alternative, in front of everything else there. So
//! a "no" is final
//!
//! * at the end of the subtype: an action is pending, of an open choice at least the q!;
//! * at an input: only actions in front of all pending outputs can be received;
//! * in a loop that forgets: either the q! of an open choice is never done on it, and is pending in
//!   every alternative, or all choices are made on the way, as W′ must make them;
//! * if no output is pending: no choice is open.
//!
//! The other refusals are about outputs that are not found or not the promised ones, and about
//! actions that the subtype may avoid (`Assumptions::avoided`). There another alternative may help,
//! and the search is repeated with more slack.

use super::anticipation::{Anticipation, Way, mismatch};
use super::pair::{Act, Edge, Kind, Pair, State};
use super::prefix::{Prefix, Promise, Rest, Segment};
use super::refusal::{Blame, Refusal, Result, Rule, Stop};
use super::sequences::{CHOOSE, EMPTY, Sequence};
use crate::verdict::Limit;

/// A state of the subtype, and the actions of the supertype that are pending there.
pub(super) struct Situation {
    pub(super) state: u32,
    pub(super) prefix: Prefix,
    /// True if an open choice may lack an alternative that might have been right.
    pub(super) lossy: bool,
}

/// A situation after one action of the subtype.
pub(super) struct Successor {
    pub(super) transition: u32,
    pub(super) situation: Situation,
    /// The rules in preorder, behind the rules of the successor before, without the last `Take`.
    pub(super) rules: Sequence,
}

pub(super) struct Rules<'a> {
    pub(super) pair: &'a Pair,
    pub(super) anticipation: Anticipation<'a>,
}

impl<'a> Rules<'a> {
    /// Does the next action of the subtype in place if there is no choice, the most frequent case.
    /// `None` if [`successors`](Self::successors) must decide; the situation is the same then, but
    /// the supertype may be unfolded further. `unfolded` counts the unfoldings.
    #[inline]
    pub(super) fn direct(&self, situation: &mut Situation, unfolded: &mut u32) -> Option<Edge> {
        let edge = match self.pair.sub.state(situation.state) {
            State::End => return None,
            State::Send(kind) => self.direct_output(situation, kind, unfolded)?,
            State::Receive(kind) => self.direct_input(situation, kind, unfolded)?,
        };
        situation.state = edge.target;
        Some(edge)
    }

    #[inline]
    fn direct_output(&self, at: &mut Situation, kind: Kind, unfolded: &mut u32) -> Option<Edge> {
        let pair = self.pair;
        let prefix = &mut at.prefix;
        let &[edge] = pair.sub.edges(at.state) else { return None };
        if let Some(promise) = prefix.spine.first(kind) {
            if promise.act != edge.act {
                return None;
            }
            prefix.spine.take(kind);
            return Some(edge);
        }
        *unfolded += prefix.stretch(pair, kind, false);
        let Rest::State(state) = prefix.rest else { return None };
        if pair.sup.state(state) != State::Send(kind) {
            return None;
        }
        prefix.rest = Rest::State(pair.sup.edge(state, edge.act)?.target);
        *unfolded += 1;
        Some(edge)
    }

    #[inline]
    fn direct_input(&self, at: &mut Situation, kind: Kind, unfolded: &mut u32) -> Option<Edge> {
        let pair = self.pair;
        let edges = pair.sub.edges(at.state);
        let own = |act| edges.iter().find(|edge| edge.act == act).copied();
        let prefix = &mut at.prefix;
        if let Some(promise) = prefix.spine.first_input(pair, kind).ok()? {
            let edge = own(promise.act)?;
            prefix.spine.take(kind);
            return Some(edge);
        }
        *unfolded += prefix.stretch(pair, kind, true);
        let Rest::State(state) = prefix.rest else { return None };
        let &[other] = pair.sup.edges(state) else { return None };
        if pair.sup.state(state) != State::Receive(kind) {
            return None;
        }
        let edge = own(other.act)?;
        prefix.rest = Rest::State(other.target);
        *unfolded += 1;
        Some(edge)
    }

    /// The situations after the subtype's next action; none if it ends.
    pub(super) fn successors(&mut self, situation: Situation) -> Result<Vec<Successor>> {
        match self.pair.sub.state(situation.state) {
            State::End => self.end(&situation.prefix),
            State::Send(kind) => self.outputs(situation, kind),
            State::Receive(kind) => self.inputs(situation, kind),
        }
    }

    fn end(&self, prefix: &Prefix) -> Result<Vec<Successor>> {
        let sup = match (prefix.head(), &prefix.rest) {
            (Some(promise), _) => Blame::Transition(promise.origin),
            (None, &Rest::State(end)) => match self.pair.sup.edges(end).first() {
                None => return Ok(vec![]),
                Some(edge) => Blame::of(edge),
            },
            // A choice has a head.
            (None, Rest::Choice(..)) => Blame::State(self.pair.sup.initial),
        };
        Err(refused(Rule::Forgotten, sup, None))
    }

    /// Rules OI and OO.
    fn outputs(&mut self, situation: Situation, kind: Kind) -> Result<Vec<Successor>> {
        let pair = self.pair;
        let Situation { state, mut prefix, lossy } = situation;
        let edges = pair.sub.edges(state);
        let (mut successors, mut rules) = (vec![], CHOOSE);
        for (index, edge) in edges.iter().enumerate() {
            let last = index + 1 == edges.len();
            let refused = |refusal, lossy| match lossy {
                true => Stop::Lossy,
                false => Stop::Refused(Refusal { sub: Some(edge.id), ..refusal }),
            };
            let after = |prefix, lossy, rules| Successor {
                transition: edge.id.index() as u32,
                situation: Situation { state: edge.target, prefix, lossy },
                rules,
            };
            if let Some(promise) = prefix.spine.first(kind) {
                if promise.act != edge.act {
                    return Err(refused(mismatch(promise), lossy));
                }
                let mut prefix = self.copy(&mut prefix, last)?;
                // Reduction by [)O] or [)B].
                prefix.spine.take(kind);
                successors.push(after(prefix, lossy, std::mem::take(&mut rules)));
                continue;
            }
            self.anticipation.lossy = false;
            let found = self.anticipation.take(&prefix.rest, edge.act, edge.target);
            let lossy = lossy || self.anticipation.lossy;
            let ways = found.map_err(|stop| match stop {
                Stop::Refused(refusal) => refused(refusal, lossy),
                other => other,
            })?;
            let count = ways.len();
            for (nth, Way { segment, rules: own }) in ways.into_iter().enumerate() {
                let mut prefix = self.copy(&mut prefix, last && nth + 1 == count)?;
                self.anticipation.spend(segment.promises.len())?;
                prefix.extend(pair, segment);
                let rules = self.anticipation.sequences.both(std::mem::take(&mut rules), own);
                successors.push(after(prefix, lossy, rules));
            }
        }
        Ok(successors)
    }

    /// Rules II and IO.
    fn inputs(&mut self, situation: Situation, kind: Kind) -> Result<Vec<Successor>> {
        let pair = self.pair;
        let Situation { state, mut prefix, lossy } = situation;
        let edges = pair.sub.edges(state);
        let own = |act: Act| edges.iter().find(|edge| edge.act == act);
        let handled = |promise: Promise| {
            let sup = Blame::Transition(promise.origin);
            own(promise.act).ok_or(refused(Rule::InputNotHandled, sup, None))
        };
        let after = |edge: &Edge, prefix, rules| Successor {
            transition: edge.id.index() as u32,
            situation: Situation { state: edge.target, prefix, lossy },
            rules,
        };
        let too_early = |output: Promise, promise: Option<Promise>| {
            let sub = promise.and_then(|promise| own(promise.act)).unwrap_or(&edges[0]);
            refused(Rule::InputBeforeOutput, Blame::Transition(output.origin), Some(sub))
        };
        let pending = prefix.spine.first_input(pair, kind);
        let pending = pending.map_err(|output| too_early(output, prefix.spine.first(kind)))?;
        if let Some(promise) = pending {
            let edge = handled(promise)?;
            // Reduction by [)I] or [)A].
            prefix.spine.take(kind);
            return Ok(vec![after(edge, prefix, EMPTY)]);
        }
        let start = match &prefix.rest {
            Rest::State(start) => *start,
            Rest::Choice(alternatives, _) => return Err(too_early(alternatives[0].promise, None)),
        };
        let ways = self.next_inputs(start, kind, &edges[0])?;
        let mut successors = vec![];
        let count = ways.len();
        for (nth, (promise, Way { segment, rules })) in ways.into_iter().enumerate() {
            let edge = handled(promise)?;
            let mut prefix = self.copy(&mut prefix, nth + 1 == count)?;
            self.anticipation.spend(segment.promises.len())?;
            prefix.extend(pair, segment);
            successors.push(after(edge, prefix, rules));
        }
        Ok(successors)
    }

    /// All ways on which the supertype comes from `start` to an input of `kind` over an A(p), that
    /// is over inputs of other kinds; each with that input. `sub` is the subtype's input.
    fn next_inputs(&mut self, start: u32, kind: Kind, sub: &Edge) -> Result<Vec<(Promise, Way)>> {
        let sup = &self.pair.sup;
        let mut found = vec![];
        let mut unfoldings = 0;
        let mut open: Vec<(u32, Vec<Promise>)> = vec![(start, vec![])];
        while let Some((state, promises)) = open.pop() {
            self.anticipation.spend(1 + promises.len())?;
            let edges = sup.edges(state);
            let State::Receive(own) = sup.state(state) else {
                return Err(match edges.first() {
                    None => refused(Rule::InputNotReached, Blame::State(state), Some(sub)),
                    Some(edge) => refused(Rule::InputBeforeOutput, Blame::of(edge), Some(sub)),
                });
            };
            // A path longer than there are states has a loop, and peers may stay in it.
            if promises.len() > sup.len() {
                return Err(refused(Rule::InputNotReached, Blame::of(&edges[0]), Some(sub)));
            }
            unfoldings += 1;
            if own == kind {
                for edge in edges {
                    let segment =
                        Segment { promises: promises.clone(), rest: Rest::State(edge.target) };
                    let rules = self.anticipation.sequences.unfold(std::mem::take(&mut unfoldings));
                    found.push((Promise::of(edge), Way { segment, rules }));
                }
                continue;
            }
            // Backwards, so that the first alternative is looked at first.
            for edge in edges.iter().rev() {
                let mut promises = promises.clone();
                promises.push(Promise::of(edge));
                open.push((edge.target, promises));
            }
        }
        Ok(found)
    }

    /// A copy that is paid for, or the original if it is not needed any more.
    fn copy(&mut self, prefix: &mut Prefix, last: bool) -> Result<Prefix, Limit> {
        if last {
            return Ok(std::mem::replace(prefix, Prefix::new(self.pair.sup.initial)));
        }
        self.anticipation.spend(1 + prefix.spine.len())?;
        Ok(prefix.clone())
    }
}

fn refused(rule: Rule, sup: Blame, sub: Option<&Edge>) -> Stop {
    Stop::Refused(Refusal::of(rule, sup, sub))
}
