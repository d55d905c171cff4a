//! Judging a directed system [one machine at a time](crate::system::partial_order).
//!
//! # Why it gives the same answers
//!
//! The three properties say that something can still happen from every configuration: a waiting
//! machine moves (progress), a blocked machine moves (exhaustivity: only others empty its channel),
//! a head is received (reception). Let φ be a run of RS_k from r to s, and ψ the run of *(E)* in
//! the argument for the reduction. If the event cannot happen from s, it cannot happen after ψ. If
//! it happens from r by φ, it happens in φψ, so on a reduced run from r. An event that can happen
//! from a configuration can happen in all terminal components below, or not at all. So it is enough
//! to look at these. There, a machine that does not move never will.

use super::violation::{Explored, Violation, definite, first_definite};
use crate::system::partial_order::{self, Terminal, Visitor};
use crate::system::{Explorer, Node, StateKind};

impl Explored<'_> {
    /// Explores a directed system, and judges it. OBI, IBI, SIBI and CIBI hold: each state has one
    /// channel, so its moves are possible or blocked together.
    pub(super) fn reduce(&mut self) {
        partial_order::explore(self);
        if self.explorer.is_truncated {
            self.found.definite = first_definite(&self.explorer);
        }
    }
}

impl Visitor for Explored<'_> {
    fn explorer(&self) -> &Explorer<'_> {
        &self.explorer
    }

    fn take(&mut self, node: Node, number: usize) {
        if self.explorer.is_enabled(node, self.explorer.system.get(number)) {
            self.explorer.take(node, number);
        }
    }

    fn terminal(&mut self, root: Node, component: &Terminal) {
        let explorer = &self.explorer;
        let system = explorer.system;
        let mut blocked = None;
        let mut waits = None;
        for machine in (0..system.machines()).filter(|&machine| !component.moved[machine]) {
            match explorer.kind(root, machine) {
                _ if explorer.may_end(root, machine) => {}
                StateKind::Sends(_) => {
                    let first = explorer.moves(root, machine).start;
                    blocked = blocked.or(Some((root, Violation::Blocked(first))));
                }
                _ => waits = waits.or(Some((root, Violation::Waits(machine)))),
            }
        }
        let is_lost =
            |&channel: &usize| !component.popped[channel] && explorer.held(root, channel) > 0;
        let lost = (0..system.channels()).find(is_lost);
        let lost = lost.map(|channel| (root, Violation::Lost(channel)));
        // Without a blocked machine the system is exhaustive from here on, so what does not happen
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
    }
}
