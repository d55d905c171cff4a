//! Exploring a directed system one machine at a time.
//!
//! # What is left out
//!
//! In a directed system every state of a machine has one channel. Whatever the others do, a machine
//! that can move stays able to move, by the same moves: only it takes from the channel that it
//! receives from, and only it fills the channel that it sends to. Moves of different machines
//! commute. So in each configuration it is enough to let *one* machine move, in all its ways:
//!
//! ```text
//!   all of RS_k                        reduced
//!   ●──a!──●──a!──●                    ●──a!──●──a!──●
//!   │      │      │                                  │
//!   b!     b!     b!                                 b!
//!   │      │      │                                  │
//!   ●──a!──●──a!──●                                  ●
//! ```
//!
//! The others move later, and later must come. In a terminal strongly connected component of the
//! reduced graph that never moves a machine which could move, that machine is let move from the
//! component's root, and the search goes on.
//!
//! # Why it gives the same answers
//!
//! *(E)* For a configuration r of the reduced graph and a run φ of RS_k from r to s there is a run
//! ψ from s such that φψ, after swapping neighbouring moves of different machines that do not
//! depend on each other, is a run of the reduced graph. By induction on the length of φ: along a
//! reduced run from r that comes to a machine that moves first in φ (there is one, because it stays
//! able to move and nothing is left out for ever), let m be the machine chosen. If m moves in φ,
//! its first move there is one of those explored, and is swapped to the front. If not, its move is
//! appended to s, which it does not disable.
//!
//! The three properties say that from every configuration something can still happen: a machine
//! that waits moves (progress), one that is blocked moves (exhaustivity: only others empty its one
//! channel), a head is received (reception). If it cannot happen from s it cannot happen from where
//! ψ leads; if it can happen from r by φ, it happens in φψ, so on a reduced run from r. What can
//! happen from a configuration can happen in all terminal components below, or not at all; so
//! looking at these is enough. There, a machine that does not move never will.
//!
//! Cost: O(configurations · machines) time; every component is looked at once more for each machine
//! left out.

use super::violation::{Explored, Violation, Violations, definite, first_definite};
use crate::system::components::{NONE, Walk, components};
use crate::system::explorer::{Explorer, Node, StepGraph};
use crate::system::interned::{InternedSystem, StateKind};

struct Search<'a> {
    explorer: Explorer<'a>,
    found: Violations,
}

/// Explores a directed system under these bounds.
pub(crate) fn explore<'a>(
    system: &'a InternedSystem,
    bounds: &'a [u32],
    budget: usize,
) -> Explored<'a> {
    let mut search =
        Search { explorer: Explorer::new(system, bounds, budget), found: Violations::default() };
    components(&mut search);
    let Search { explorer, mut found } = search;
    if explorer.is_truncated {
        // All that was found is real.
        found.definite = first_definite(&explorer);
    }
    // Of OBI, IBI, SIBI and CIBI there is no violation: each state has one channel, so whatever is
    // possible or blocked is so altogether.
    Explored { explorer, found, hits_bounds: true }
}

impl Walk for Search<'_> {
    type Weight = u32;

    fn graph(&self) -> &StepGraph {
        &self.explorer.graph
    }

    fn enter(&mut self, node: Node) -> Option<()> {
        if let Some(machine) = self.choose(node) {
            self.explorer.expand(node, machine);
        }
        (!self.explorer.is_truncated).then_some(())
    }

    /// Looks again at a component that left a machine out which could move.
    fn complete(&mut self, members: &[Node], component_of: &[u32]) -> Option<bool> {
        let left_out = self.finish(members, component_of);
        if let Some(machine) = left_out {
            self.explorer.expand(members[0], machine);
        }
        (!self.explorer.is_truncated).then_some(left_out.is_none())
    }
}

impl Search<'_> {
    /// The machine to move: one that receives, because it has one way to, before one that sends.
    fn choose(&self, node: Node) -> Option<usize> {
        let mut sender = None;
        for machine in self.explorer.ready(node) {
            let StateKind::Sends(channel) = self.explorer.kind(node, machine) else {
                return Some(machine);
            };
            if sender.is_none() && !self.explorer.is_full(node, channel as usize) {
                sender = Some(machine);
            }
        }
        sender
    }

    /// Judges a component, whose root is its first member, if nothing leaves it. Returns a machine
    /// that was left out of it.
    fn finish(&mut self, members: &[Node], component_of: &[u32]) -> Option<usize> {
        let explorer = &self.explorer;
        let system = explorer.system;
        let root = members[0];
        let steps = || members.iter().flat_map(|&member| explorer.steps_from(member));
        if steps().any(|step| component_of[step.to as usize] != NONE) {
            return None;
        }
        let mut moved = vec![false; system.machines()];
        let mut popped = vec![false; system.channels()];
        for step in steps() {
            let by = system.get(step.by as usize);
            moved[by.machine as usize] = true;
            popped[by.channel as usize] |= !by.is_send;
        }
        // Who does not move here is in one state throughout, and can move throughout or nowhere.
        let still = |&machine: &usize| !moved[machine];
        let can_move = |&machine: &usize| explorer.can_move(root, machine);
        let left_out = explorer.ready(root).filter(still).find(can_move);
        if left_out.is_some() {
            return left_out;
        }

        let mut blocked = None;
        let mut waits = None;
        for machine in (0..system.machines()).filter(still) {
            match explorer.kind(root, machine) {
                _ if explorer.may_end(root, machine) => {}
                StateKind::Sends(_) => {
                    let first = explorer.moves(root, machine).start;
                    blocked = blocked.or(Some((root, Violation::Blocked(first))));
                }
                _ => waits = waits.or(Some((root, Violation::Waits(machine)))),
            }
        }
        let lost = (0..system.channels())
            .find(|&channel| !popped[channel] && explorer.held(root, channel) > 0)
            .map(|channel| (root, Violation::Lost(channel)));
        // Without a blocked machine the system is exhaustive from here on, and what does not happen
        // under these bounds does not happen under any.
        let definite = match blocked {
            None => waits.or(lost),
            Some(_) => definite(explorer, root).map(|fault| (root, fault)),
        };
        let found = &mut self.found;
        found.exhaustive = found.exhaustive.or(blocked);
        found.progress = found.progress.or(waits);
        found.reception = found.reception.or(lost);
        found.definite = found.definite.or(definite);
        None
    }
}
