//! Small machines without choices, as most roles are: the same search without a store. A role of a
//! ring of 30 costs 760 instructions here, and 6,500 in [`search`](super::search), which sets up
//! its tables. A certificate, if it is asked for, is made by that search.
//!
//! ```text
//!   sub   q0 → q1 → … → q ↺        one way, and so is the supertype's:
//!   sup   p0 → p1 → … → p ↺        there is one sequence of situations
//! ```
//!
//! Where a situation comes again, everything repeats, and all pending actions must have been done
//! since (rule ASM). Pairs that are not as simple get no answer here.

use super::pair::{Act, Pair, State};
use crate::verdict::Limits;

/// How many actions may be pending.
const SPINE: usize = 16;

/// How many actions of the subtype are followed.
const STEPS: usize = 64;

#[derive(Clone, Copy)]
struct Situation {
    state: u32,
    spine: [Act; SPINE],
    len: usize,
    /// The state of the supertype behind the pending actions.
    sup: u32,
}

/// The number of situations and the greatest number of pending actions, if the subtype is one.
pub(super) fn search(pair: &Pair, limits: &Limits) -> Option<(usize, usize)> {
    // With less, the other search might stop at a limit, and the answer must be the same.
    if limits.anticipation < SPINE || limits.steps < 100 * STEPS || pair.kinds() > 64 {
        return None;
    }
    let bit = |kind: u32| 1_u64 << kind;
    let mut now =
        Situation { state: pair.sub.initial, spine: [0; SPINE], len: 0, sup: pair.sup.initial };
    let mut last: Option<Situation> = None;
    // The kinds that were done since then.
    let mut done = 0_u64;
    let (mut situations, mut longest) = (0, 0);
    for _ in 0..STEPS {
        if pair.sub.is_anchor(now.state) {
            if last.is_some_and(|last| last.same(&now)) {
                let mut kinds = now.spine[..now.len].iter().map(|&act| bit(pair.kind(act)));
                let all = kinds.all(|kind| done & kind != 0);
                return all.then_some((situations, longest));
            }
            situations += 1;
            last = Some(now);
            done = 0;
        }
        longest = longest.max(now.len);

        let edges = pair.sub.edges(now.state);
        let (kind, receives) = match pair.sub.state(now.state) {
            State::End => {
                let finished = now.len == 0 && pair.sup.state(now.sup) == State::End;
                return finished.then_some((situations, longest));
            }
            State::Receive(kind) => (kind, true),
            State::Send(kind) => (kind, false),
        };
        let (position, act) = now.find(pair, kind, receives)?;
        let edge = match edges {
            [edge] if edge.act == act => edge,
            _ if receives => edges.iter().find(|edge| edge.act == act)?,
            _ => return None,
        };
        now.spine.copy_within(position + 1..now.len, position);
        now.len -= 1;
        done |= bit(kind);
        now.state = edge.target;
    }
    None
}

impl Situation {
    fn same(&self, other: &Self) -> bool {
        (self.state, self.sup) == (other.state, other.sup)
            && self.spine[..self.len] == other.spine[..other.len]
    }

    /// The first pending action of a kind, with its position. The supertype is unfolded as far as
    /// that takes; an input may not overtake outputs.
    fn find(&mut self, pair: &Pair, kind: u32, receives: bool) -> Option<(usize, Act)> {
        let mut position = 0;
        loop {
            if position == self.len {
                let [edge] = pair.sup.edges(self.sup) else { return None };
                *self.spine.get_mut(self.len)? = edge.act;
                self.len += 1;
                self.sup = edge.target;
            }
            let act = *self.spine.get(position)?;
            let own = pair.kind(act);
            if own == kind {
                return Some((position, act));
            }
            if receives && pair.sends(own) {
                return None;
            }
            position += 1;
        }
    }
}
