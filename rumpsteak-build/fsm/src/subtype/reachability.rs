//! The actions that a machine must, may and need never do from a state on, computed backwards in
//! O(transitions).

use super::pair::{Act, Edge, Kind, Pair, State};
use crate::machine::{Groups, IndexSet};

/// The rank of a state from which an output cannot be found.
pub(super) const NEVER: u32 = u32::MAX;

/// By state of the supertype, the distance to the output `act` over actions that it may overtake.
///
/// ```text
///   state of the supertype      rank for p!ℓ
///   sends to p                  0 if it offers ℓ, otherwise NEVER (order to one peer)
///   receives                    1 + the greatest rank of all successors
///   sends to q ≠ p              1 + the least rank of the successors whose output is `allowed`
///   end                         NEVER
/// ```
pub(super) fn ranks(pair: &Pair, act: Act, allowed: impl Fn(Act) -> bool) -> Vec<u32> {
    let (sup, kind) = (&pair.sup, pair.kind(act));
    let needed = |state| match sup.state(state) {
        State::End => NONE_SUFFICE,
        State::Send(own) if own == kind && sup.edge(state, act).is_some() => 0,
        State::Send(own) if own == kind => NONE_SUFFICE,
        State::Send(_) => 1,
        State::Receive(_) => sup.edges(state).len(),
    };
    let counts = |edge| match sup.nth_edge(edge) {
        edge if matches!(sup.state(edge.source), State::Send(_)) => allowed(edge.act),
        _ => true,
    };
    rounds(sup.incoming(), needed, |edge| sup.nth_edge(edge).source, counts)
}

/// The number of needed edges of a state that gets no rank.
const NONE_SUFFICE: usize = usize::MAX;

/// By state, a rank: 0 if no edge is `needed`, and otherwise one more than the rank of the state to
/// which the last needed edge leads. [`NEVER`] if there are not enough edges that count.
fn rounds(
    incoming: &Groups,
    needed: impl Fn(u32) -> usize,
    source: impl Fn(u32) -> u32,
    counts: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let mut missing = vec![0_usize; incoming.len()];
    let mut ranks = vec![NEVER; incoming.len()];
    let mut open: Vec<u32> = Vec::with_capacity(incoming.len());
    for (state, missing) in missing.iter_mut().enumerate() {
        *missing = needed(state as u32);
        if *missing == 0 {
            ranks[state] = 0;
            open.push(state as u32);
        }
    }
    let mut at = 0;
    // In the order of ranks.
    while let Some(&state) = open.get(at) {
        for &edge in incoming.of(state) {
            let source = source(edge);
            let missing = &mut missing[source as usize];
            if *missing > 0 && counts(edge) {
                *missing -= 1;
                if *missing == 0 {
                    ranks[source as usize] = ranks[state as usize] + 1;
                    open.push(source);
                }
            }
        }
        at += 1;
    }
    ranks
}

/// The set of actions that the subtype may still do from each of its states.
pub(super) struct Futures {
    set_of: Vec<u32>,
    sets: IndexSet<Box<[u64]>>,
}

impl Futures {
    pub(super) fn new(pair: &Pair) -> Self {
        let (sub, width) = (&pair.sub, pair.acts().div_ceil(64).max(1));
        let mut futures = vec![0_u64; width * sub.len()];
        // A state is open again if its set grew, at most once for each action.
        let mut open: Vec<u32> = (0..sub.len() as u32).collect();
        let mut is_open = vec![true; sub.len()];
        while let Some(state) = open.pop() {
            is_open[state as usize] = false;
            for &edge in sub.incoming().of(state) {
                let Edge { source, act, .. } = *sub.nth_edge(edge);
                let mut grew = false;
                for word in 0..width {
                    let done = u64::from(act as usize / 64 == word) << (act % 64);
                    let own = futures[width * state as usize + word] | done;
                    let before = &mut futures[width * source as usize + word];
                    grew |= own & !*before != 0;
                    *before |= own;
                }
                if grew && !std::mem::replace(&mut is_open[source as usize], true) {
                    open.push(source);
                }
            }
        }
        let mut sets: IndexSet<Box<[u64]>> = IndexSet::default();
        let number = |set: &[u64]| {
            let known = sets.get_index_of(set);
            known.unwrap_or_else(|| sets.insert_full(set.into()).0) as u32
        };
        let set_of = futures.chunks(width).map(number).collect();
        Self { set_of, sets }
    }

    pub(super) fn set_of(&self, state: u32) -> u32 {
        self.set_of[state as usize]
    }

    pub(super) fn has(&self, set: u32, act: Act) -> bool {
        self.sets[set as usize][act as usize / 64] >> (act % 64) & 1 == 1
    }
}

/// By state of the subtype, [`NEVER`] if it need never do an action of `kind`, whatever its peers
/// choose: it can choose its outputs so that it ends, or goes on for ever, without one.
pub(super) fn inevitable(pair: &Pair, kind: Kind) -> Vec<u32> {
    let sub = &pair.sub;
    // It is inevitable if all edges lead to where it is and the subtype chooses, or one edge if
    // not.
    let needed = |state| match sub.state(state) {
        State::End => NONE_SUFFICE,
        State::Send(own) | State::Receive(own) if own == kind => 0,
        State::Send(_) => sub.edges(state).len(),
        State::Receive(_) => 1,
    };
    rounds(sub.incoming(), needed, |edge| sub.nth_edge(edge).source, |_| true)
}

/// True if a few actions without a choice lead from a state of the subtype to one of `kind`: then
/// that is [`inevitable`], without a look at all states.
pub(super) fn is_near(pair: &Pair, kind: Kind, state: u32) -> bool {
    const FEW: usize = 8;
    let onward = |&state: &u32| match pair.sub.edges(state) {
        [only] => Some(only.target),
        _ => None,
    };
    let mut way = std::iter::successors(Some(state), onward).take(FEW);
    way.any(|state| match pair.sub.state(state) {
        State::Send(own) | State::Receive(own) => own == kind,
        State::End => false,
    })
}

/// By node of a graph, the greatest number of steps from it. `None` if there is an endless way.
pub(super) fn heights(len: usize, steps: impl Iterator<Item = (usize, usize)>) -> Vec<Option<u32>> {
    let steps: Vec<(usize, usize)> = steps.collect();
    let incoming = Groups::new(len, steps.iter().map(|&(_, to)| to as u32));
    let mut onward = vec![0; len];
    steps.iter().for_each(|&(from, _)| onward[from] += 1);
    let needed = |node: u32| onward[node as usize];
    let heights = rounds(&incoming, needed, |step| steps[step as usize].0 as u32, |_| true);
    heights.into_iter().map(|height| (height != NEVER).then_some(height)).collect()
}
