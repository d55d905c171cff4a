//! What a machine must, may and need never do from a state on. All are computed backwards, in
//! O(transitions).

use hashbrown::HashMap;

use super::pair::{Act, Edge, Kind, Pair, State};
use crate::machine::interned::Groups;

/// The rank of a state from which an output cannot be found.
pub(super) const NEVER: u32 = u32::MAX;

/// By state of the supertype, how far it is from the output `act` over actions that the output may
/// overtake.
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
    let mut ranks = vec![NEVER; sup.len()];
    // By state, how many successors must still get a rank until it gets its own.
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
            State::Receive(_) => missing[state as usize] = sup.edges(state).len(),
            State::Send(_) => missing[state as usize] = 1,
        }
    }
    let incoming = sup.incoming();
    let mut rank = 0;
    while !layer.is_empty() {
        rank += 1;
        let mut next = vec![];
        for state in layer {
            for &edge in incoming.of(state) {
                let &Edge { source: predecessor, act, .. } = sup.nth_edge(edge);
                match sup.state(predecessor) {
                    // Ranked from the start, or never.
                    State::Send(own) if own == kind => continue,
                    State::Send(_) if !allowed(act) => continue,
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
    ranks
}

/// The actions that the subtype may still do: sets of actions, and the set of each of its states.
pub(super) struct Futures {
    set_of: Vec<u32>,
    sets: Vec<Vec<u64>>,
}

impl Futures {
    pub(super) fn new(pair: &Pair) -> Self {
        let sub = &pair.sub;
        let words = pair.acts().div_ceil(64);
        let mut futures = vec![0_u64; words * sub.len()];
        for state in 0..sub.len() as u32 {
            for edge in sub.edges(state) {
                futures[words * state as usize + edge.act as usize / 64] |= 1 << (edge.act % 64);
            }
        }
        // Each state is looked at again once a successor's set grew; sets grow at most as often as
        // there are actions.
        let mut open: Vec<u32> = (0..sub.len() as u32).collect();
        let mut queued = vec![true; sub.len()];
        let incoming = sub.incoming();
        while let Some(state) = open.pop() {
            queued[state as usize] = false;
            for &edge in incoming.of(state) {
                let predecessor = sub.nth_edge(edge).source;
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
        let mut ids: HashMap<&[u64], u32> = HashMap::new();
        let mut sets = vec![];
        let number = |set| {
            *ids.entry(set).or_insert_with(|| {
                sets.push(set.to_vec());
                sets.len() as u32 - 1
            })
        };
        let set_of = futures.chunks(words.max(1)).map(number).collect();
        Self { set_of, sets }
    }

    /// The number of a state's set.
    pub(super) fn set_of(&self, state: u32) -> u32 {
        self.set_of[state as usize]
    }

    pub(super) fn has(&self, set: u32, act: Act) -> bool {
        self.sets[set as usize][act as usize / 64] >> (act % 64) & 1 == 1
    }
}

/// By state of the subtype, whether it need never do an action of `kind` from there on, whatever
/// its peers choose: it can choose its outputs so that it ends without one, or goes on for ever
/// without one.
pub(super) fn may_avoid(pair: &Pair, kind: Kind) -> Vec<bool> {
    let sub = &pair.sub;
    // By state, how many of its edges must still lead to where `kind` is inevitable until it is
    // inevitable here: all if it sends, one if it receives.
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
    let incoming = sub.incoming();
    while let Some(state) = open.pop() {
        for &edge in incoming.of(state) {
            let predecessor = sub.nth_edge(edge).source;
            let missing = &mut missing[predecessor as usize];
            *missing = missing.saturating_sub(1);
            if *missing == 0 && std::mem::replace(&mut avoids[predecessor as usize], false) {
                open.push(predecessor);
            }
        }
    }
    avoids
}

/// By node of a graph, the greatest number of steps from it. `None` if there is an endless way.
///
/// Nodes without a step onward are taken away one by one; what is left has endless ways. (A
/// topological order would say only that there is a loop, and not from where it is reached.)
pub(super) fn heights(len: usize, steps: impl Iterator<Item = (usize, usize)>) -> Vec<Option<u32>> {
    let steps: Vec<(usize, usize)> = steps.collect();
    let incoming = Groups::new(len, steps.iter().map(|&(_, to)| to as u32));
    let mut onward = vec![0_usize; len];
    steps.iter().for_each(|&(from, _)| onward[from] += 1);
    let mut heights = vec![0_u32; len];
    let mut open: Vec<usize> = (0..len).filter(|&node| onward[node] == 0).collect();
    while let Some(node) = open.pop() {
        for &step in incoming.of(node as u32) {
            let (from, _) = steps[step as usize];
            heights[from] = heights[from].max(heights[node] + 1);
            onward[from] -= 1;
            if onward[from] == 0 {
                open.push(from);
            }
        }
    }
    let ended = |(height, onward)| (onward == 0).then_some(height);
    heights.into_iter().zip(onward).map(ended).collect()
}
