//! Small pairs without branching, which most roles are: the same search without a store.
//!
//! ```text
//!   sub   q0 → q1 → … → q ↺        one way, and so is the supertype's:
//!   sup   p0 → p1 → … → p ↺        there is one sequence of situations
//! ```
//!
//! The sequence is followed, with what is pending in an array. Where a situation comes again, everything repeats, and everything that is
//! pending must have been done since (rule ASM). All that is not as simple is left to [`engine`](super::engine): this says
//! "yes" or nothing. So it is a shortcut of that search, not another judgement, and its "yes" has the same certificate.

use super::pair::{Act, Pair, State};
use crate::verdict::Limits;

/// How many actions may be pending.
const SPINE: usize = 16;

/// How many actions are compared before it is left to the engine.
const STEPS: usize = 64;

#[derive(Clone, Copy)]
struct Situation {
    state: u32,
    spine: [Act; SPINE],
    len: usize,
    /// The state of the supertype behind what is pending.
    sup: u32,
}

/// The number of situations and of actions that are pending at most, if it is found out that `sub ≤ sup`.
pub(super) fn run(pair: &Pair, limits: &Limits) -> Option<(usize, usize)> {
    // Otherwise the engine would stop at a limit, and so must the answer.
    if limits.anticipation < SPINE || limits.steps < 100 * STEPS || pair.kinds() > 64 {
        return None;
    }
    let bit = |kind: u32| 1_u64 << kind;
    let mut now = Situation {
        state: pair.sub.initial,
        spine: [0; SPINE],
        len: 0,
        sup: pair.sup.initial,
    };
    let mut last: Option<Situation> = None;
    // The kinds that were done since then.
    let mut done = 0_u64;
    let (mut situations, mut longest) = (0, 0);
    for _ in 0..STEPS {
        if pair.sub.is_anchor(now.state) {
            if last.is_some_and(|last| last.same(&now)) {
                let mut kinds = now.spine[..now.len].iter().map(|&act| bit(pair.kind(act)));
                return kinds
                    .all(|kind| done & kind != 0)
                    .then_some((situations, longest));
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

    /// The first pending action of a kind, unfolding the supertype as far as that takes; an input may not overtake outputs.
    fn find(&mut self, pair: &Pair, kind: u32, receives: bool) -> Option<(usize, Act)> {
        let mut position = 0;
        loop {
            if position == self.len {
                let [edge] = pair.sup.edges(self.sup) else {
                    return None;
                };
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
