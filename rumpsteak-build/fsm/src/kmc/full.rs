//! Exploring all of RS_k, and judging every property by its definition.

use litemap::LiteMap;

use fixedbitset::FixedBitSet;
use hashbrown::HashMap;
use petgraph::visit::{Dfs, EdgeFiltered, Reversed, Visitable};

use super::causality::Causality;
use super::violation::{Explored, Violation};
use crate::machine::IndexSet;
use crate::system::{
    ChannelIndex, Continuations, ExploredStep, Explorer, InternedSystem, MachineIndex, Node,
    StateKind, index,
};

impl Explored<'_> {
    /// Judges all configurations.
    pub(super) fn judge(&mut self) {
        let (explorer, found) = (&self.explorer, &mut self.found);
        let system = explorer.system;

        // Events: a machine moves, which has its number; the head of a channel is received; a
        // competing message is sent.
        let competing = Competing::of(system);
        let receives = |channel: ChannelIndex| system.machines() + channel;
        let sends = |index: usize| system.machines() + system.channels() + index;
        let events = |by| {
            let by = system.get(by as usize);
            let sent = || competing.0.get_index_of(&(by.channel, by.message)).map(sends);
            let other = by.received().map(receives).or_else(sent);
            other.into_iter().chain([by.machine as MachineIndex])
        };
        let count = sends(competing.0.len());
        let continuations = Continuations::of(&explorer.graph, count, events, |_| None);
        let can = |node, event| continuations.can(node, event);

        let mut reach = Reach { explorer, known: HashMap::new() };
        for node in 0..explorer.len() as Node {
            for event in continuations.lost(None, node) {
                let Some(channel) = event.checked_sub(receives(0)) else {
                    let kind = explorer.kind(node, event);
                    if kind.receives_only() && !explorer.may_end(node, event) {
                        found.progress = found.progress.or(Some((node, Violation::Waits(event))));
                    }
                    continue;
                };
                if channel < system.channels() && explorer.held(node, channel) > 0 {
                    found.reception = found.reception.or(Some((node, Violation::Lost(channel))));
                }
            }
            for machine in explorer.ready(node) {
                let kind = explorer.kind(node, machine);
                if let StateKind::Receives(_) = kind {
                    continue;
                }
                if !matches!(kind, StateKind::Sends(_)) {
                    found.ibi = found.ibi.or(competing_now(explorer, node, machine));
                }

                let mut blocked = None;
                for number in sends_from(explorer, node, machine, true) {
                    blocked = blocked.or(Some(number));
                    let channel = system.get(number).channel as ChannelIndex;
                    // A machine with one channel cannot move itself before the channel has room.
                    let gets_room = found.exhaustive.is_some()
                        || can(node, receives(channel))
                            && (matches!(kind, StateKind::Sends(_))
                                || reach.without(machine, channel).contains(node as usize));
                    if !gets_room {
                        found.exhaustive = Some((node, Violation::Blocked(number)));
                    }
                }
                self.hits_bounds |= blocked.is_some();
                let possible = sends_from(explorer, node, machine, false).next();
                if let (None, Some(possible), Some(blocked)) = (found.obi, possible, blocked) {
                    found.obi = Some((node, Violation::Partial(possible, blocked)));
                }
            }
            if found.sibi.is_none() {
                found.sibi =
                    competing.overtaken(explorer, node, |after, index| can(after, sends(index)));
            }
        }
    }

    /// Looks for a violation of k-CIBI, which matters if k-SIBI fails: a machine sends a competing
    /// message after a reception on which it does not depend. `Err` with the number of
    /// configurations if that exceeds `budget`.
    ///
    /// The search explores RS_k together with the machines that depend on the reception: first the
    /// receiver, then each receiver of a message from a dependent sender.
    pub(crate) fn chain(&self, budget: usize) -> Result<Option<(Node, Violation)>, usize> {
        let explorer = &self.explorer;
        let system = explorer.system;
        let competing = Competing::of(system);
        let mut used = 0;
        let overtaken = |node| competing.overtaken(explorer, node, |_, _| false);
        if let fault @ Some(_) = explorer.nodes().find_map(overtaken) {
            return Ok(fault);
        }
        // One search for all receptions by a machine in one state from one channel: they have the
        // same rivals.
        let mut groups: LiteMap<(MachineIndex, u32, u32), Vec<(Node, ExploredStep)>> =
            LiteMap::new();
        for node in 0..explorer.len() as Node {
            for step in explorer.steps_from(node) {
                let by = system.get(step.by as usize);
                let machine = by.machine as MachineIndex;
                if !by.is_send && explorer.kind(node, machine) == StateKind::ReceivesAny {
                    let state = explorer.state(node, machine);
                    groups.entry((machine, state, by.channel)).or_default().push((node, step));
                }
            }
        }
        for ((machine, state, channel), receptions) in groups {
            let is_rival = |&number: &usize| system.get(number).channel != channel;
            let rivals: Vec<usize> = system.moves_from(state).filter(is_rival).collect();
            let mut causality = Causality::new(explorer, budget.saturating_sub(used));
            let mut starts: HashMap<u32, (Node, ExploredStep)> = HashMap::new();
            for (node, step) in receptions {
                if let Some((start, true)) = causality.start(step.to, machine) {
                    starts.insert(start, (node, step));
                }
            }
            let mut at = 0;
            loop {
                if causality.is_truncated {
                    return Err(used + causality.len());
                }
                let Some(from) = causality.node(at) else { break };
                for step in explorer.steps_from(from) {
                    let by = system.get(step.by as usize);
                    let rival = rivals.iter().find(|&&rival| {
                        let rival = system.get(rival);
                        by.is_send && (rival.channel, rival.message) == (by.channel, by.message)
                    });
                    if let Some(&rival) = rival
                        && !causality.depends(at, by.machine as MachineIndex)
                        && let Some(&(node, received)) = starts.get(&causality.starts[at as usize])
                    {
                        return Ok(Some((node, Violation::Competing(received.by as usize, rival))));
                    }
                    causality.step(at, step);
                }
                at += 1;
            }
            used += causality.len();
        }
        Ok(None)
    }
}

/// The sends of a machine to channels that are full, or that are not.
fn sends_from(
    explorer: &Explorer<'_>,
    node: Node,
    machine: MachineIndex,
    full: bool,
) -> impl Iterator<Item = usize> {
    explorer.moves(node, machine).filter(move |&number| {
        let by = explorer.system.get(number);
        by.is_send && explorer.is_full(node, by.channel as ChannelIndex) == full
    })
}

/// Two possible receptions of a machine from different channels.
fn competing_now(
    explorer: &Explorer<'_>,
    node: Node,
    machine: MachineIndex,
) -> Option<(Node, Violation)> {
    let get = |number| explorer.system.get(number);
    let mut possible = explorer
        .moves(node, machine)
        .filter(|&number| !get(number).is_send && explorer.is_enabled(node, get(number)));
    let first = possible.next()?;
    let second = possible.find(|&number| get(number).channel != get(first).channel)?;
    Some((node, Violation::Competing(first, second)))
}

/// The messages that a machine may receive from one channel while it may receive from another, as
/// channel and message.
struct Competing(IndexSet<(u32, u32)>);

impl Competing {
    fn of(system: &InternedSystem<'_>) -> Self {
        let competes = |&state: &u32| system.kind(state) == StateKind::ReceivesAny;
        let moves = (0..system.states()).filter(competes).flat_map(|state| system.all_from(state));
        Self(moves.map(|by| (by.channel, by.message)).collect())
    }

    /// A reception in `node` that another one competes with: now, or later if `sent(after,
    /// message)`.
    fn overtaken(
        &self,
        explorer: &Explorer<'_>,
        node: Node,
        sent: impl Fn(Node, usize) -> bool,
    ) -> Option<(Node, Violation)> {
        if self.0.is_empty() {
            return None;
        }
        let system = explorer.system;
        for step in explorer.steps_from(node) {
            let by = system.get(step.by as usize);
            let machine = by.machine as MachineIndex;
            if by.is_send || explorer.kind(node, machine) != StateKind::ReceivesAny {
                continue;
            }
            for number in explorer.moves(node, machine) {
                let rival = system.get(number);
                let index = || self.0.get_index_of(&(rival.channel, rival.message));
                let comes = || index().is_some_and(|index| sent(step.to, index));
                if rival.channel != by.channel && (explorer.is_enabled(node, rival) || comes()) {
                    return Some((node, Violation::Competing(step.by as usize, number)));
                }
            }
        }
        None
    }
}

/// The configurations from which the head of a channel can be received without a machine's moving.
struct Reach<'a, 'b> {
    explorer: &'a Explorer<'b>,
    known: HashMap<(MachineIndex, ChannelIndex), FixedBitSet>,
}

impl Reach<'_, '_> {
    fn without(&mut self, machine: MachineIndex, channel: ChannelIndex) -> &FixedBitSet {
        let Self { explorer, known } = self;
        known.entry((machine, channel)).or_insert_with(|| {
            let graph = &explorer.graph;
            let get = |by: u32| explorer.system.get(by as usize);
            let receives = |&node: &Node| {
                let mut steps = explorer.steps_from(node).map(|step| get(step.by));
                steps.any(|by| !by.is_send && by.channel as ChannelIndex == channel)
            };
            let ends = explorer.nodes().filter(receives).map(index).collect();
            let by_others = |by: u32| get(by).machine as MachineIndex != machine;
            let others = EdgeFiltered::from_fn(graph, |edge| by_others(*edge.weight()));
            let others = Reversed(&others);
            let mut search = Dfs::from_parts(ends, others.visit_map());
            while search.next(others).is_some() {}
            search.discovered
        })
    }
}
