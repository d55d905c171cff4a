//! Exploring a system one machine at a time, where some machine is not directed.
//!
//! # What is left out
//!
//! A machine *decides alone* if each of its sends has room and each channel that it listens to
//! holds a message. Whatever the others do before it moves, they neither take those messages nor
//! the room, and what they put behind them makes no difference: its moves stay the same, and
//! commute with all that the others do. So in such a configuration it is enough to let this machine
//! move, in all its ways (a persistent set; Godefroid, LNCS 1032, 1996). A machine that receives
//! goes first, so that queues stay short. Where no machine decides alone, all move.
//!
//! ```text
//!   pool = {w1?ready; w1!run; …, w2?ready; w2!run; …}        w1, w2 = pool!ready; pool?run; …
//!
//!   w1 sends, then w2: alone.  Then both channels of the pool hold a message: it decides alone
//! ```
//!
//! The others move later, and later must come. In a terminal strongly connected component that
//! never moves a machine which could move, such a machine is let move from the component's root if
//! it decides alone, and all machines otherwise; then the search goes on. (What waits for such a
//! machine does not change there: nobody else takes from its channels, and what others put there
//! would never go away.) If only the bound keeps it from moving, the bound has held it back.
//!
//! # Why it says enough
//!
//! Each run from a configuration of this search is, but for the order of independent steps, the
//! beginning of a run of this search. By induction on its length. Where all machines are let move,
//! its first step is one of those explored. Where one that decides alone is: if it moves in the
//! run, its first move there is among those explored, and is swapped to the front; if not, it
//! disables nothing, and the search is followed on. So it comes to where all machines are let move,
//! or into a terminal component, where the machine that moves first in the run is let move at last.
//!
//! So what cannot be mended later (a deadlock, an unspecified reception, an orphan; a role or a
//! message that waits in all continuations) is so in the configuration at the end of the longer
//! run, too, and what can happen there can happen in this search. The bound is no condition: unless
//! it holds a send back in a configuration from which a machine is let move, this is a search of
//! the system with unbounded queues.
//!
//! The run to what is wrong may not be the shortest. So the whole search follows.
//!
//! Cost: as the whole search, for the configurations that are left; every component is looked at
//! once more for each machine left out.

use super::components::{NONE, Node, Walk, components};
use super::explorer::{Continuations, StepGraph};
use super::interned::{ChannelIndex, MachineIndex};
use super::search::Search;

struct Reduced<'s, 'a> {
    search: &'s mut Search<'a>,
    listens: &'s Continuations,
}

/// Explores, until something is wrong.
pub(super) fn explore(search: &mut Search<'_>, listens: &Continuations) {
    components(&mut Reduced { search, listens });
}

impl Walk for Reduced<'_, '_> {
    type Weight = u32;

    fn graph(&self) -> &StepGraph {
        &self.search.explorer.graph
    }

    fn enter(&mut self, node: Node) -> Option<()> {
        if !self.search.enter(node, self.listens) {
            return None;
        }
        match self.choose(node) {
            Some(machine) => self.search.expand_machine(node, machine),
            None => self.search.expand(node),
        }
        self.has_room()
    }

    /// Looks again at a component that left a machine out which could move.
    fn complete(&mut self, members: &[Node], component_of: &[u32]) -> Option<bool> {
        let left_out = self.left_out(members, component_of);
        let root = members[0];
        // One that does not decide alone may have other moves once others have moved.
        let alone = left_out.iter().find(|&&machine| self.decides_alone(root, machine));
        match alone {
            Some(&machine) => self.search.expand_machine(root, machine),
            None if !left_out.is_empty() => self.search.expand(root),
            None => {}
        }
        self.has_room().map(|()| left_out.is_empty())
    }
}

impl Reduced<'_, '_> {
    fn has_room(&self) -> Option<()> {
        (!self.search.explorer.is_truncated).then_some(())
    }

    /// The machine to move, if one decides alone.
    fn choose(&self, node: Node) -> Option<MachineIndex> {
        let explorer = &self.search.explorer;
        let mut alone = explorer.ready(node).filter(|&machine| self.decides_alone(node, machine));
        let first = alone.next()?;
        let receives = |machine: &MachineIndex| explorer.kind(node, *machine).receives_only();
        Some([first].into_iter().chain(alone).find(receives).unwrap_or(first))
    }

    fn decides_alone(&self, node: Node, machine: MachineIndex) -> bool {
        let explorer = &self.search.explorer;
        let mut moves = explorer.moves(node, machine).map(|by| explorer.system.get(by));
        moves.all(|by| match by.is_send {
            true => explorer.is_enabled(node, by),
            false => explorer.held(node, by.channel as ChannelIndex) > 0,
        })
    }

    /// The machines that can move in a terminal component and do not.
    fn left_out(&mut self, members: &[Node], component_of: &[u32]) -> Vec<MachineIndex> {
        let explorer = &self.search.explorer;
        let steps = || members.iter().flat_map(|&member| explorer.steps_from(member));
        if steps().any(|step| component_of[step.to as usize] != NONE) {
            return vec![];
        }
        let mut moved = vec![false; explorer.system.machines()];
        for step in steps() {
            moved[explorer.system.get(step.by as usize).machine as usize] = true;
        }
        let root = members[0];
        let still: Vec<MachineIndex> =
            explorer.ready(root).filter(|&machine| !moved[machine]).collect();
        let can_move = |&machine: &MachineIndex| explorer.can_move(root, machine);
        let left_out: Vec<MachineIndex> = still.iter().copied().filter(can_move).collect();
        if left_out.is_empty() && !still.is_empty() {
            self.search.hold_back(root);
        }
        left_out
    }
}
