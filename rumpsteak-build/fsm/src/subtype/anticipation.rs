//! Anticipation: the subtype sends `p!ℓ` first, and no `p!` is on the spine.
//!
//! Then the supertype must come to `p!ℓ` over a B(p): any inputs, and outputs to others. Its peers
//! choose its inputs, so all of them must lead there. The subtype chooses its outputs, so one
//! choice that leads there is enough. The [`ranks`] of the supertype's states say from where `p!ℓ`
//! can be found.
//!
//! Outputs that are passed over stay open ([`Rest::Choice`]), without the alternatives from where
//! `p!ℓ` cannot be found and those that the subtype can never make. Inputs that are passed over
//! yield a prefix each.
//!
//! An alternative whose rank is not less may be passed over for ever. It is kept `slack` times on a
//! path and then dropped, which *does* lose choices ([`Anticipation::lossy`]).
//!
//! # Cost
//!
//! The ways may be exponentially many in the branching states that are passed over. So each action
//! that is inspected or copied is paid for ([`Anticipation::spend`]) from the budget of the search.

use std::rc::Rc;

use hashbrown::HashMap;

use super::pair::{Act, Edge, Pair, State};
use super::prefix::{Alternative, Promise, Rest, Segment};
use super::reachability::{Futures, NEVER, ranks};
use super::refusal::{Blame, Refusal, Result, Rule, Stop};
use super::sequences::{EMPTY, Sequence, Sequences};
use crate::machine::lasso;
use crate::verdict::Limit;

/// The most branching states on a path, and the depth of the recursion.
const DEEPEST: usize = 256;

#[derive(Clone)]
pub(super) struct Way {
    /// The actions on the way without the output, and the continuation.
    pub(super) segment: Segment,
    /// The rules of a certificate in preorder, behind the rules of the way before. Paths in them
    /// start at the part of the tree that is searched.
    pub(super) rules: Sequence,
}

pub(super) struct Anticipation<'a> {
    pair: &'a Pair,
    /// How many alternatives that lead no nearer may be kept on a path.
    slack: usize,
    /// How many actions the search and its anticipations may compare, inspect or copy together.
    steps: usize,
    spent: usize,
    /// True if the supertype chooses between outputs anywhere. Only such choices are pruned by the
    /// actions that the subtype may still do.
    chooses: bool,
    futures: Option<Futures>,
    ranks: HashMap<(Act, u32), Rc<[u32]>>,
    pub(super) sequences: Sequences,
    /// True if a choice that might have been right was dropped since this was last set to `false`.
    pub(super) lossy: bool,
}

/// The output that is wanted, and the state of the subtype after it.
#[derive(Clone, Copy)]
struct Goal {
    act: Act,
    then: u32,
    /// How many more alternatives that lead no nearer may be kept.
    slack: usize,
    /// The number of branching states that were passed over.
    depth: usize,
}

impl Goal {
    /// The goal beyond a branching state.
    fn deeper(self) -> Result<Self, Limit> {
        match self.depth < DEEPEST {
            true => Ok(Self { depth: self.depth + 1, ..self }),
            false => Err(Limit::Branching(DEEPEST)),
        }
    }
}

/// The alternatives of a choice from which an output can be found, with the ways there.
#[derive(Default)]
struct Found {
    alternatives: Vec<(Promise, Vec<Way>)>,
    /// The numbers of the others.
    dropped: Vec<u32>,
    /// Why the last of the others fails.
    reason: Option<Refusal>,
}

impl Found {
    fn add(&mut self, index: usize, promise: Promise, ways: Result<Vec<Way>>) -> Result<()> {
        match ways {
            Ok(ways) => self.alternatives.push((promise, ways)),
            Err(Stop::Refused(reason)) => {
                self.dropped.push(index as u32);
                self.reason = Some(reason);
            }
            Err(stop) => return Err(stop),
        }
        Ok(())
    }
}

impl<'a> Anticipation<'a> {
    pub(super) fn new(pair: &'a Pair, slack: usize, steps: usize) -> Self {
        let sup = &pair.sup;
        let chooses =
            |state: u32| matches!(sup.state(state), State::Send(_)) && sup.edges(state).len() > 1;
        Self {
            pair,
            slack,
            steps,
            spent: 0,
            chooses: (0..sup.len() as u32).any(chooses),
            futures: None,
            ranks: HashMap::new(),
            sequences: Sequences::default(),
            lossy: false,
        }
    }

    pub(super) fn spend(&mut self, cost: usize) -> Result<(), Limit> {
        self.spent = self.spent.saturating_add(cost);
        if self.spent > self.steps {
            return Err(Limit::Steps(self.steps));
        }
        Ok(())
    }

    /// The ways on which the peers may lead the supertype to `act` from beyond `rest`, each without
    /// that action; the subtype goes on in state `then`.
    pub(super) fn take(&mut self, rest: &Rest, act: Act, then: u32) -> Result<Vec<Way>> {
        self.in_rest(rest, Goal { act, then, slack: self.slack, depth: 0 })
    }

    fn in_rest(&mut self, rest: &Rest, goal: Goal) -> Result<Vec<Way>> {
        let alternatives = match rest {
            Rest::State(state) => return self.in_state(*state, goal),
            Rest::Choice(alternatives, _) => Rc::clone(alternatives),
        };
        let deeper = goal.deeper()?;
        self.spend(alternatives.len())?;
        if self.pair.kind(alternatives[0].promise.act) == self.pair.kind(goal.act) {
            // The choice is made.
            let made = alternatives.iter().find(|own| own.promise.act == goal.act);
            let made = made.ok_or_else(|| Stop::Refused(mismatch(alternatives[0].promise)))?;
            return Ok(vec![Way { segment: made.segment.clone(), rules: EMPTY }]);
        }
        let mut found = Found::default();
        for (index, Alternative { promise, segment }) in alternatives.iter().enumerate() {
            found.add(index, *promise, self.in_segment(segment, deeper))?;
        }
        self.choices(&[], EMPTY, found)
    }

    fn in_segment(&mut self, segment: &Segment, goal: Goal) -> Result<Vec<Way>> {
        let promises = &segment.promises;
        self.spend(promises.len())?;
        let kind = self.pair.kind(goal.act);
        let first = |promise: &Promise| self.pair.kind(promise.act) == kind;
        if let Some(index) = promises.iter().position(first) {
            if promises[index].act != goal.act {
                return Err(Stop::Refused(mismatch(promises[index])));
            }
            let mut segment = segment.clone();
            segment.promises.remove(index);
            return Ok(vec![Way { segment, rules: EMPTY }]);
        }
        let mut ways = self.in_rest(&segment.rest, goal)?;
        for way in &mut ways {
            self.spend(promises.len())?;
            way.segment.promises.splice(0..0, promises.iter().copied());
        }
        Ok(ways)
    }

    fn in_state(&mut self, mut state: u32, goal: Goal) -> Result<Vec<Way>> {
        let sup = &self.pair.sup;
        let kind = self.pair.kind(goal.act);
        let mut promises = vec![];
        let mut unfoldings = 1;
        loop {
            let edges = sup.edges(state);
            if sup.state(state) == State::Send(kind) {
                let Some(edge) = sup.edge(state, goal.act) else {
                    return Err(Stop::Refused(mismatch(Promise::of(&edges[0]))));
                };
                let segment = Segment { promises, rest: Rest::State(edge.target) };
                return Ok(vec![Way { segment, rules: self.sequences.unfold(unfoldings) }]);
            }
            let [edge] = edges else { break };
            self.spend(1)?;
            // A chain longer than there are states is a loop.
            if promises.len() > sup.len() {
                return Err(Stop::Refused(not_reached(Blame::of(edge))));
            }
            promises.push(Promise::of(edge));
            unfoldings += 1;
            state = edge.target;
        }

        let set = self.set(goal.then);
        let ranks = self.ranks(goal.act, set);
        if ranks[state as usize] == NEVER {
            self.spend(sup.len())?;
            return Err(Stop::Refused(self.explain(state, goal.act, &ranks)));
        }
        let deeper = goal.deeper()?;
        let edges = sup.edges(state);
        self.spend(edges.len())?;
        let rules = self.sequences.unfold(unfoldings);
        if matches!(sup.state(state), State::Receive(_)) {
            return self.over_inputs(&promises, rules, edges, deeper);
        }
        let mut found = Found::default();
        for (index, edge) in edges.iter().enumerate() {
            let rank = ranks[edge.target as usize];
            if rank == NEVER || !self.allows(set, edge.act) {
                found.dropped.push(index as u32);
                continue;
            }
            let nearer = rank < ranks[state as usize];
            if !nearer && goal.slack == 0 {
                self.lossy = true;
                found.dropped.push(index as u32);
                continue;
            }
            let goal = Goal { slack: goal.slack - usize::from(!nearer), ..deeper };
            found.add(index, Promise::of(edge), self.in_state(edge.target, goal))?;
        }
        self.choices(&promises, rules, found)
    }

    /// Passes over inputs among which peers choose: each of them must lead to the goal.
    fn over_inputs(
        &mut self,
        promises: &[Promise],
        mut rules: Sequence,
        edges: &[Edge],
        goal: Goal,
    ) -> Result<Vec<Way>> {
        let mut each = vec![];
        for edge in edges {
            each.push((edge, self.in_state(edge.target, goal)?));
        }
        let mut ways = vec![];
        for (edge, beyond) in each {
            for Way { segment, rules: own } in beyond {
                self.spend(promises.len() + 1 + segment.promises.len())?;
                let promises = [promises, &[Promise::of(edge)], &segment.promises].concat();
                // Those before are applied once, on the first way.
                let rules = self.sequences.both(std::mem::take(&mut rules), own);
                ways.push(Way { segment: Segment { promises, ..segment }, rules });
            }
        }
        Ok(ways)
    }

    /// `promises`, then an open choice of the alternatives that were found. Peers choose in each
    /// alternative independently, so all combinations are possible. `rules` lead to the choice.
    fn choices(&mut self, due: &[Promise], mut rules: Sequence, found: Found) -> Result<Vec<Way>> {
        let Found { alternatives, dropped, reason } = found;
        // Backwards, so that the numbers of the others stay.
        for index in dropped.into_iter().rev() {
            let dropped = self.sequences.drop(index);
            rules = self.sequences.both(rules, dropped);
        }
        let count = alternatives.len();
        let mut combinations: Vec<(Vec<Alternative>, Sequence)> = vec![(vec![], rules)];
        // The number of their actions, which are copied for each further prefix.
        let mut size = 0_usize;
        for (index, (promise, mut ways)) in alternatives.into_iter().enumerate() {
            let own: usize = ways.iter().map(|way| 1 + way.segment.promises.len()).sum();
            let copies = size.saturating_mul(ways.len());
            size = copies.saturating_add(combinations.len().saturating_mul(own));
            self.spend(size)?;
            // A single alternative has no number.
            if count > 1 {
                for way in &mut ways {
                    way.rules = self.sequences.within(index as u32, way.rules);
                }
            }
            let mut longer = Vec::with_capacity(combinations.len() * ways.len());
            for (chosen, mut before) in combinations {
                for Way { segment, rules } in &ways {
                    let mut all: Vec<Alternative> = Vec::with_capacity(count);
                    all.extend_from_slice(&chosen);
                    all.push(Alternative { promise, segment: segment.clone() });
                    // Those before are applied once, on the first way.
                    let rules = self.sequences.both(std::mem::take(&mut before), *rules);
                    longer.push((all, rules));
                }
            }
            combinations = longer;
        }
        let mut ways = Vec::with_capacity(combinations.len());
        for (mut alternatives, rules) in combinations {
            self.spend(due.len())?;
            let segment = match alternatives.len() {
                // No alternative is left: the reason of one of them, unless all were dropped for
                // lack of slack.
                0 => return Err(Stop::Refused(reason.unwrap_or(not_reached(Blame::State(0))))),
                1 => {
                    let Alternative { promise, segment } = alternatives.remove(0);
                    let due = [due, &[promise], &segment.promises].concat();
                    Segment { promises: due, ..segment }
                }
                _ => Segment { promises: due.to_vec(), rest: Rest::choice(alternatives) },
            };
            ways.push(Way { segment, rules });
        }
        Ok(ways)
    }

    /// The number of the set of actions that the subtype may still do.
    fn set(&mut self, state: u32) -> u32 {
        if !self.chooses {
            return 0;
        }
        self.futures.get_or_insert_with(|| Futures::new(self.pair)).set_of(state)
    }

    /// True if a set has an action. Without choices of outputs, every action is allowed.
    fn allows(&self, set: u32, act: Act) -> bool {
        self.futures.as_ref().is_none_or(|futures| futures.has(set, act))
    }

    /// The [`ranks`] for an output, if the outputs of a set are allowed.
    fn ranks(&mut self, act: Act, set: u32) -> Rc<[u32]> {
        if let Some(ranks) = self.ranks.get(&(act, set)) {
            return Rc::clone(ranks);
        }
        self.spent = self.spent.saturating_add(self.pair.sup.len());
        let ranks: Rc<[u32]> = ranks(self.pair, act, |other| self.allows(set, other)).into();
        self.ranks.insert((act, set), Rc::clone(&ranks));
        ranks
    }

    /// Finds a way on which peers keep the supertype from ever doing `act`, from a state without a
    /// rank.
    fn explain(&self, state: u32, act: Act, ranks: &[u32]) -> Refusal {
        let (sup, kind) = (&self.pair.sup, self.pair.kind(act));
        let sends = |state| sup.state(state) == State::Send(kind);
        let onward = |state| {
            let mut edges = sup.edges(state).iter().filter(|_| !sends(state));
            let edge = edges.find(|edge| ranks[edge.target as usize] == NEVER)?;
            Some((edge, edge.target))
        };
        let (_, cycle, end) = lasso(state, onward);
        match cycle.last() {
            Some(edge) => not_reached(Blame::of(edge)),
            None if sends(end) => mismatch(Promise::of(&sup.edges(end)[0])),
            // The end, or a choice between outputs that the subtype never makes.
            None => not_reached(Blame::State(end)),
        }
    }
}

/// The refusal if the supertype's next action of the kind is `promise`, and not the wanted one.
pub(super) fn mismatch(promise: Promise) -> Refusal {
    Refusal::of(Rule::OutputsToOnePeer, Blame::Transition(promise.origin), None)
}

fn not_reached(sup: Blame) -> Refusal {
    Refusal::of(Rule::OutputNotReached, sup, None)
}
