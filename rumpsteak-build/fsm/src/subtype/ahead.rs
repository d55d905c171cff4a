//! Looking ahead in the supertype for an output that the subtype does first.
//!
//! The subtype sends `p!ℓ`, and no `p!` is on the spine. Then the supertype must come to `p!ℓ` over a B(p): any inputs, and outputs to
//! others. Its inputs are chosen by its peers, so all of them must lead there; its outputs are chosen by the subtype, which need only be
//! able to make a choice that leads there.
//!
//! ```text
//!   state of the supertype      p!ℓ can be found from it, with rank
//!   sends to p                  0, if it offers ℓ                         (never, if it does not: order to one peer)
//!   receives                    1 + the greatest of all successors
//!   sends to q ≠ p              1 + the least of the successors whose output the subtype may still make
//!   end                         never
//! ```
//!
//! Outputs that are passed over are not chosen here: the alternatives stay open ([`Tail::Choice`]), without those from where
//! `p!ℓ` cannot be found and those whose output the subtype can never make. Both are lost for every choice, so nothing is lost by dropping
//! them. Inputs that are passed over are chosen by peers, so each yields a prefix of its own.
//!
//! An alternative whose rank is not less may be passed over for ever. Such ones are kept `slack` times on a path and dropped then; this *does*
//! lose choices, and the search remembers it ([`Ahead::lossy`]).
//!
//! # Cost
//!
//! What is found may be exponential in the branching states that are passed over: peers choose in each alternative by themselves, and a
//! prefix is written down for each way. So each action that is looked at or copied is paid for ([`Ahead::spend`]), from the budget of the whole search.

use std::rc::Rc;

use super::{
    Rule,
    pair::{Act, Kind, Pair, State},
    pending::{Branch, Item, Segment, Tail},
};
use crate::{hashed::HashedMap, verdict::Limit};

/// How many branching states one path may pass over, because the look ahead recurses on them.
const DEEPEST: usize = 256;

/// The rank of a state from where an output cannot be found.
pub(super) const NEVER: u32 = u32::MAX;

/// Why an output cannot be found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Why {
    pub(super) rule: Rule,
    pub(super) sup: Place,
}

/// A place in the supertype.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    State(u32),
    Transition(u32),
}

pub(super) enum Stop {
    Refused(Why),
    Limited(Limit),
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Self {
        Self::Limited(limit)
    }
}

pub(super) struct Ahead<'a> {
    pair: &'a Pair,
    /// How many alternatives that lead no nearer may be kept on a path.
    slack: usize,
    /// The budget: how many actions may be compared, looked at or copied, by the search and its looks ahead together.
    steps: usize,
    spent: usize,
    /// Whether the supertype chooses between outputs anywhere: only such choices are pruned by what the subtype may still do.
    chooses: bool,
    /// What the subtype may still do from each of its states, once a choice is passed over.
    futures: Option<Futures>,
    ranks: HashedMap<(Act, u32), Rc<[u32]>>,
    /// Whether a choice that might have been right was dropped since this was last set to `false`.
    pub(super) lossy: bool,
}

impl<'a> Ahead<'a> {
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
            ranks: HashedMap::new(),
            lossy: false,
        }
    }

    /// Takes `cost` actions from the budget.
    pub(super) fn spend(&mut self, cost: usize) -> Result<(), Limit> {
        self.spent = self.spent.saturating_add(cost);
        match self.spent > self.steps {
            true => Err(Limit::Steps(self.steps)),
            false => Ok(()),
        }
    }

    /// Which set of actions the subtype may still do from a state on.
    pub(super) fn set(&mut self, state: u32) -> u32 {
        if !self.chooses {
            return 0;
        }
        let pair = self.pair;
        let futures = self.futures.get_or_insert_with(|| Futures::new(pair));
        futures.set_of[state as usize]
    }

    /// The prefixes, one for each way in which peers may choose, after `act` was taken from beyond `tail`, when the subtype goes on in
    /// state `then`.
    pub(super) fn take(&mut self, tail: &Tail, act: Act, then: u32) -> Result<Vec<Segment>, Stop> {
        self.in_tail(tail, act, then, self.slack, 0)
    }

    fn in_tail(
        &mut self,
        tail: &Tail,
        act: Act,
        then: u32,
        slack: usize,
        depth: usize,
    ) -> Result<Vec<Segment>, Stop> {
        let branches = match tail {
            Tail::State(state) => return self.in_state(*state, act, then, slack, depth),
            Tail::Choice(branches, _) => Rc::clone(branches),
        };
        if depth >= DEEPEST {
            return Err(Stop::Limited(Limit::Branching(DEEPEST)));
        }
        self.spend(branches.len())?;
        let kind = self.pair.kind(act);
        if self.pair.kind(branches[0].item.act) == kind {
            // The choice is made.
            return match branches.iter().find(|branch| branch.item.act == act) {
                Some(branch) => Ok(vec![branch.segment.clone()]),
                None => Err(Stop::Refused(mismatch(branches[0].item))),
            };
        }
        let mut alternatives = vec![];
        let mut why = None;
        for Branch { item, segment } in branches.iter() {
            match self.in_segment(segment, act, then, slack, depth + 1) {
                Ok(segments) => alternatives.push((*item, segments)),
                Err(Stop::Refused(reason)) => why = Some(reason),
                Err(limited) => return Err(limited),
            }
        }
        self.choices(&[], alternatives, why)
    }

    fn in_segment(
        &mut self,
        segment: &Segment,
        act: Act,
        then: u32,
        slack: usize,
        depth: usize,
    ) -> Result<Vec<Segment>, Stop> {
        self.spend(segment.items.len())?;
        let kind = self.pair.kind(act);
        if let Some(index) = segment
            .items
            .iter()
            .position(|item| self.pair.kind(item.act) == kind)
        {
            let item = segment.items[index];
            if item.act != act {
                return Err(Stop::Refused(mismatch(item)));
            }
            let mut segment = segment.clone();
            segment.items.remove(index);
            return Ok(vec![segment]);
        }
        let mut found = self.in_tail(&segment.tail, act, then, slack, depth)?;
        for beyond in &mut found {
            self.spend(segment.items.len())?;
            beyond.items.splice(0..0, segment.items.iter().copied());
        }
        Ok(found)
    }

    fn in_state(
        &mut self,
        mut state: u32,
        act: Act,
        then: u32,
        slack: usize,
        depth: usize,
    ) -> Result<Vec<Segment>, Stop> {
        let pair = self.pair;
        let kind = pair.kind(act);
        let mut items = vec![];
        loop {
            if pair.sup.state(state) == State::Send(kind) {
                return match pair.sup.edge(state, act) {
                    Some(edge) => Ok(vec![Segment {
                        items,
                        tail: Tail::State(edge.target),
                    }]),
                    None => {
                        let first = pair.sup.edges(state)[0];
                        let item = Item {
                            act: first.act,
                            origin: first.id.index() as u32,
                        };
                        Err(Stop::Refused(mismatch(item)))
                    }
                };
            }
            let edges = pair.sup.edges(state);
            let [edge] = edges else { break };
            self.spend(1)?;
            // A chain longer than there are states is a loop.
            if items.len() > pair.sup.len() {
                let sup = Place::Transition(edge.id.index() as u32);
                return Err(Stop::Refused(Why {
                    rule: Rule::OutputNotReached,
                    sup,
                }));
            }
            items.push(Item {
                act: edge.act,
                origin: edge.id.index() as u32,
            });
            state = edge.target;
        }

        let set = self.set(then);
        let ranks = self.ranks(act, set);
        if ranks[state as usize] == NEVER {
            self.spend(pair.sup.len())?;
            return Err(Stop::Refused(self.explain(state, act, &ranks)));
        }
        if depth >= DEEPEST {
            return Err(Stop::Limited(Limit::Branching(DEEPEST)));
        }
        let mut alternatives = vec![];
        let mut why = None;
        let receives = matches!(pair.sup.state(state), State::Receive(_));
        let edges = pair.sup.edges(state);
        self.spend(edges.len())?;
        for edge in edges {
            let rank = ranks[edge.target as usize];
            let mut slack = slack;
            if !receives {
                if rank == NEVER || !self.allows(set, edge.act) {
                    continue;
                }
                if rank >= ranks[state as usize] {
                    if slack == 0 {
                        self.lossy = true;
                        continue;
                    }
                    slack -= 1;
                }
            }
            let item = Item {
                act: edge.act,
                origin: edge.id.index() as u32,
            };
            match self.in_state(edge.target, act, then, slack, depth + 1) {
                Ok(segments) => alternatives.push((item, segments)),
                Err(Stop::Refused(reason)) if !receives => why = Some(reason),
                Err(stop) => return Err(stop),
            }
        }
        if !receives {
            return self.choices(&items, alternatives, why);
        }

        let mut found = vec![];
        for (item, segments) in alternatives {
            for segment in segments {
                self.spend(items.len() + 1 + segment.items.len())?;
                let mut all = items.clone();
                all.push(item);
                all.extend(segment.items);
                found.push(Segment {
                    items: all,
                    tail: segment.tail,
                });
            }
        }
        Ok(found)
    }

    /// `items`, then an open choice of the alternatives. Peers choose in each alternative by themselves, so all combinations are possible.
    fn choices(
        &mut self,
        items: &[Item],
        alternatives: Vec<(Item, Vec<Segment>)>,
        why: Option<Why>,
    ) -> Result<Vec<Segment>, Stop> {
        let mut combinations: Vec<Vec<Branch>> = vec![vec![]];
        // How many actions they have in all; each of them is copied for each further prefix, and each prefix for each of them.
        let mut size = 0_usize;
        for (item, segments) in alternatives {
            let own: usize = segments.iter().map(|own| 1 + own.items.len()).sum();
            let copies = size.saturating_mul(segments.len());
            size = copies.saturating_add(combinations.len().saturating_mul(own));
            self.spend(size)?;
            combinations = combinations
                .iter()
                .flat_map(|chosen| {
                    segments.iter().map(move |segment| {
                        let mut chosen = chosen.clone();
                        chosen.push(Branch {
                            item,
                            segment: segment.clone(),
                        });
                        chosen
                    })
                })
                .collect();
        }
        let mut found = Vec::with_capacity(combinations.len());
        for mut branches in combinations {
            self.spend(items.len())?;
            let mut items = items.to_vec();
            match branches.len() {
                0 => {
                    // No alternative was left; the reason of one of them, unless all were dropped for lack of slack.
                    let why = why.unwrap_or(Why {
                        rule: Rule::OutputNotReached,
                        sup: Place::State(0),
                    });
                    return Err(Stop::Refused(why));
                }
                1 => {
                    let Branch { item, segment } = branches.remove(0);
                    items.push(item);
                    items.extend(segment.items);
                    found.push(Segment {
                        items,
                        tail: segment.tail,
                    });
                }
                _ => found.push(Segment {
                    items,
                    tail: Tail::choice(branches),
                }),
            }
        }
        Ok(found)
    }

    /// Whether the subtype may still do `act`, if `set` is what it may still do.
    pub(super) fn allows(&self, set: u32, act: Act) -> bool {
        self.futures.as_ref().is_none_or(|futures| {
            futures.sets[set as usize][act as usize / 64] >> (act % 64) & 1 == 1
        })
    }

    /// The ranks of all states of the supertype, computed backwards from the states that offer `act`. Paid for by what is looked for with them.
    pub(super) fn ranks(&mut self, act: Act, set: u32) -> Rc<[u32]> {
        if let Some(ranks) = self.ranks.get(&(act, set)) {
            return Rc::clone(ranks);
        }
        let (sup, kind) = (&self.pair.sup, self.pair.kind(act));
        self.spent = self.spent.saturating_add(sup.len());
        let mut ranks = vec![NEVER; sup.len()];
        // For a receiving state, how many successors have no rank yet.
        let mut missing = vec![0_usize; sup.len()];
        let mut layer = vec![];
        for state in 0..sup.len() as u32 {
            match sup.state(state) {
                State::End => {}
                State::Send(own) if own == kind => {
                    if sup.edge(state, act).is_some() {
                        ranks[state as usize] = 0;
                        layer.push(state);
                    }
                }
                State::Receive(_) => {
                    missing[state as usize] = sup.edges(state).len();
                }
                State::Send(_) => missing[state as usize] = 1,
            }
        }
        let mut rank = 0;
        while !layer.is_empty() {
            rank += 1;
            let mut next = vec![];
            for state in layer {
                for (predecessor, edge) in sup.incoming(state) {
                    match sup.state(predecessor) {
                        // Ranked from the start, or never.
                        State::Send(own) if own == kind => continue,
                        State::Send(_) if !self.allows(set, edge.act) => continue,
                        _ => {}
                    }
                    let missing = &mut missing[predecessor as usize];
                    *missing = missing.saturating_sub(1);
                    if *missing == 0 && ranks[predecessor as usize] == NEVER {
                        ranks[predecessor as usize] = rank;
                        next.push(predecessor);
                    }
                }
            }
            layer = next;
        }
        let ranks: Rc<[u32]> = ranks.into();
        self.ranks.insert((act, set), Rc::clone(&ranks));
        ranks
    }

    /// A way on which peers keep the supertype from ever doing `act`, from a state without a rank.
    fn explain(&self, mut state: u32, act: Act, ranks: &[u32]) -> Why {
        let (sup, kind) = (&self.pair.sup, self.pair.kind(act));
        let mut seen = vec![false; sup.len()];
        loop {
            seen[state as usize] = true;
            if sup.state(state) == State::Send(kind) {
                let first = sup.edges(state)[0];
                return mismatch(Item {
                    act: first.act,
                    origin: first.id.index() as u32,
                });
            }
            let lost = |target: u32| ranks[target as usize] == NEVER;
            let Some(edge) = sup.edges(state).iter().find(|edge| lost(edge.target)) else {
                // The end, or a choice between outputs that the subtype never makes.
                return Why {
                    rule: Rule::OutputNotReached,
                    sup: Place::State(state),
                };
            };
            if seen[edge.target as usize] {
                let sup = Place::Transition(edge.id.index() as u32);
                return Why {
                    rule: Rule::OutputNotReached,
                    sup,
                };
            }
            state = edge.target;
        }
    }
}

/// The first action of its kind that the supertype does is `item`, which is another than the one looked for.
pub(super) fn mismatch(item: Item) -> Why {
    Why {
        rule: Rule::OutputsToOnePeer,
        sup: Place::Transition(item.origin),
    }
}

/// What the subtype may still do: sets of actions, and which one each of its states has.
struct Futures {
    set_of: Vec<u32>,
    sets: Vec<Vec<u64>>,
}

impl Futures {
    fn new(pair: &Pair) -> Self {
        let sub = &pair.sub;
        let words = pair.acts().div_ceil(64);
        let mut futures = vec![0_u64; words * sub.len()];
        for state in 0..sub.len() as u32 {
            for edge in sub.edges(state) {
                futures[words * state as usize + edge.act as usize / 64] |= 1 << (edge.act % 64);
            }
        }
        // Each state is looked at again once a successor's set grew; sets grow at most as often as there are actions.
        let mut open: Vec<u32> = (0..sub.len() as u32).collect();
        let mut queued = vec![true; sub.len()];
        while let Some(state) = open.pop() {
            queued[state as usize] = false;
            for (predecessor, _) in sub.incoming(state) {
                let mut grew = false;
                for word in 0..words {
                    let own = futures[words * state as usize + word];
                    let other = &mut futures[words * predecessor as usize + word];
                    grew |= own & !*other != 0;
                    *other |= own;
                }
                if grew && !std::mem::replace(&mut queued[predecessor as usize], true) {
                    open.push(predecessor);
                }
            }
        }
        let mut ids: HashedMap<&[u64], u32> = HashedMap::new();
        let mut sets = vec![];
        let set_of = futures
            .chunks(words.max(1))
            .map(|set| {
                *ids.or_insert_with(set, || {
                    sets.push(set.to_vec());
                    sets.len() as u32 - 1
                })
            })
            .collect();
        Self { set_of, sets }
    }
}

/// By state of the subtype, whether it may never do an action of `kind` from there on, whatever its peers choose: it can choose its outputs so
/// that it ends without, or goes on for ever without.
pub(super) fn may_avoid(pair: &Pair, kind: Kind) -> Vec<bool> {
    let sub = &pair.sub;
    // For a state, how many of its edges must lead to where `kind` is inevitable until it is so here: all if it sends, one if
    // it receives.
    let mut missing = vec![0_usize; sub.len()];
    let mut avoids = vec![true; sub.len()];
    let mut open = vec![];
    for state in 0..sub.len() as u32 {
        missing[state as usize] = match sub.state(state) {
            State::End => continue,
            State::Send(own) | State::Receive(own) if own == kind => {
                avoids[state as usize] = false;
                open.push(state);
                continue;
            }
            State::Send(_) => sub.edges(state).len(),
            State::Receive(_) => 1,
        };
    }
    while let Some(state) = open.pop() {
        for (predecessor, _) in sub.incoming(state) {
            let missing = &mut missing[predecessor as usize];
            *missing = missing.saturating_sub(1);
            if *missing == 0 && std::mem::replace(&mut avoids[predecessor as usize], false) {
                open.push(predecessor);
            }
        }
    }
    avoids
}
