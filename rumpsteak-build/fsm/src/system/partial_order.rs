//! Exploring a system one machine at a time: the reduction of [k-MC](crate::kmc), and of the
//! exploration of systems with machines that are not directed.
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
//!   all configurations                 reduced
//!   ●──a!──●──a!──●                    ●──a!──●──a!──●
//!   │      │      │                                  │
//!   b!     b!     b!                                 b!
//!   │      │      │                                  │
//!   ●──a!──●──a!──●                                  ●
//!
//!   pool = {w1?ready; w1!run; …, w2?ready; w2!run; …}        w1, w2 = pool!ready; pool?run; …
//!
//!   w1 sends, then w2: alone.  Then both channels of the pool hold a message: it decides alone
//! ```
//!
//! In a directed system every state of a machine has one channel, so each machine that can move
//! decides alone.
//!
//! The others move later, and later must come. In a terminal strongly connected component that
//! never moves a machine which could move, such a machine is let move from the component's root if
//! it decides alone, and all machines otherwise; then the search goes on. (What waits for such a
//! machine does not change there: nobody else takes from its channels, and what others put there
//! would never go away.) If only the bound keeps it from moving, the bound has held it back.
//!
//! # Why it says enough
//!
//! *(E)* For a configuration r of this search and a run φ from r to s there is a run ψ from s such
//! that φψ, after swapping neighbouring moves of different machines that do not depend on each
//! other, is a run of this search. By induction on the length of φ. Where all machines are let
//! move, the first step of φ is one of those explored. Where machine m decides alone: if it moves
//! in φ, its first move there is among those explored, and is swapped to the front; if not, its
//! move is appended to s, which it does not disable, and the search is followed on. So it comes to
//! where all machines are let move, or into a terminal component, where the machine that moves
//! first in φ is let move at last.
//!
//! So what cannot be mended later (a deadlock, an unspecified reception, an orphan; a role or a
//! message that waits in all continuations) is so in the configuration at the end of the longer
//! run, too, and what can happen from r can happen in this search. The bound is no condition:
//! unless it holds a send back in a configuration from which a machine is let move, this is a
//! search of the system with unbounded queues.
//!
//! The run to what is wrong may not be the shortest.
//!
//! Cost: as the whole search, for the configurations that are left; every component is looked at
//! once more for each machine left out.

use super::components::{NONE, Node, Walk, components};
use super::explorer::{Explorer, StepGraph};
use super::interned::{ChannelIndex, MachineIndex, StateKind};

/// What a search does with what it meets.
pub(crate) trait Visitor {
    fn explorer(&self) -> &Explorer<'_>;

    /// Judges a configuration. `false` ends the search.
    fn enter(&mut self, _node: Node) -> bool {
        true
    }

    /// Takes all possible steps of a machine.
    fn expand(&mut self, node: Node, machine: MachineIndex);

    /// Takes all possible steps.
    fn expand_all(&mut self, node: Node) {
        for word in 0..self.explorer().ready_words() {
            for machine in self.explorer().ready_of(node, word) {
                self.expand(node, machine);
            }
        }
    }

    /// Judges a component that no step leaves, and that leaves no machine out which could move.
    fn terminal(&mut self, root: Node, component: &Terminal);
}

/// What happens in a component that no step leaves. A machine that does not move there is in one
/// state throughout, and can move throughout or nowhere.
pub(crate) struct Terminal {
    /// By machine, true if it moves.
    pub(crate) moved: Vec<bool>,
    /// By channel, true if a message is received from it.
    pub(crate) popped: Vec<bool>,
}

/// Explores from the initial configuration, until the search is ended or the budget is used up.
pub(crate) fn explore(visitor: &mut impl Visitor) {
    components(&mut Reduction(visitor));
}

struct Reduction<'s, V>(&'s mut V);

impl<V: Visitor> Walk for Reduction<'_, V> {
    type Weight = u32;

    fn graph(&self) -> &StepGraph {
        &self.0.explorer().graph
    }

    fn enter(&mut self, node: Node) -> Option<()> {
        if !self.0.enter(node) {
            return None;
        }
        match choose(self.0.explorer(), node) {
            Some(machine) => self.0.expand(node, machine),
            None => self.0.expand_all(node),
        }
        self.has_room()
    }

    /// Looks again at a component that left a machine out which could move.
    fn complete(&mut self, members: &[Node], component_of: &[u32]) -> Option<bool> {
        let explorer = self.0.explorer();
        let steps = || members.iter().flat_map(|&member| explorer.steps_from(member));
        if steps().any(|step| component_of[step.to as usize] != NONE) {
            return Some(true);
        }
        let system = explorer.system;
        let (moved, popped) = (vec![false; system.machines()], vec![false; system.channels()]);
        let mut component = Terminal { moved, popped };
        for by in steps().map(|step| system.get(step.by as usize)) {
            component.moved[by.machine as usize] = true;
            component.popped[by.channel as usize] |= !by.is_send;
        }
        let root = members[0];
        let is_left_out =
            |&machine: &MachineIndex| !component.moved[machine] && explorer.can_move(root, machine);
        let left_out = || explorer.ready(root).filter(is_left_out);
        let is_whole = left_out().next().is_none();
        // One that does not decide alone may have other moves once others have moved.
        let alone = left_out().find(|&machine| decides_alone(explorer, root, machine));
        match alone {
            Some(machine) => self.0.expand(root, machine),
            None if is_whole => self.0.terminal(root, &component),
            None => self.0.expand_all(root),
        }
        self.has_room().map(|()| is_whole)
    }
}

impl<V: Visitor> Reduction<'_, V> {
    fn has_room(&self) -> Option<()> {
        (!self.0.explorer().is_truncated).then_some(())
    }
}

/// The machine to move, if one decides alone: one that receives before one that sends.
fn choose(explorer: &Explorer<'_>, node: Node) -> Option<MachineIndex> {
    let mut first = None;
    for machine in explorer.ready(node) {
        let receives = explorer.kind(node, machine).receives_only();
        if (receives || first.is_none()) && decides_alone(explorer, node, machine) {
            if receives {
                return Some(machine);
            }
            first = Some(machine);
        }
    }
    first
}

/// True if a machine that is ready decides alone.
fn decides_alone(explorer: &Explorer<'_>, node: Node, machine: MachineIndex) -> bool {
    match explorer.kind(node, machine) {
        // It can receive from its only channel.
        StateKind::Receives(_) => true,
        StateKind::Sends(channel) => !explorer.is_full(node, channel as ChannelIndex),
        _ => {
            let mut moves = explorer.moves(node, machine).map(|by| explorer.system.get(by));
            moves.all(|by| match by.is_send {
                true => explorer.is_enabled(node, by),
                false => explorer.held(node, by.channel as ChannelIndex) > 0,
            })
        }
    }
}
