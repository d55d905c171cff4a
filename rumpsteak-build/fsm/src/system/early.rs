//! Early receives, for the [partial-order reduction](super::partial_order).

use hashbrown::{HashMap, HashSet};

use super::explorer::listens;
use super::{ChannelIndex, Explorer, InternedSystem, MachineIndex, Move, Node, StateIndex};
use crate::machine::IndexSet;

/// The most pairs of states that are compared for one receive.
const MOST_PAIRS: usize = 1 << 12;

pub(super) struct Early {
    /// False if the system cannot have one that is worth a search.
    is_possible: bool,
    /// By the number of a receive, true if it may be early.
    known: HashMap<usize, bool>,
    /// The states of machines that have received early, and could not receive now.
    ahead: HashSet<StateIndex>,
}

impl Early {
    pub(super) fn new(system: &InternedSystem<'_>) -> Self {
        let is_possible = system.is_deterministic && !system.is_directed;
        Self { is_possible, known: HashMap::new(), ahead: HashSet::new() }
    }

    /// True if the machine in this state may have received early what it could not receive now.
    pub(super) fn is_ahead(&self, state: StateIndex) -> bool {
        self.ahead.contains(&state)
    }

    /// A possible receive that may be early, of a machine that could do something else.
    pub(super) fn first(&mut self, explorer: &Explorer<'_>, node: Node) -> Option<usize> {
        if !self.is_possible {
            return None;
        }
        let can_choose = |&machine: &MachineIndex| !explorer.kind(node, machine).is_directed();
        explorer.ready(node).filter(can_choose).find_map(|machine| {
            explorer.moves(node, machine).find(|&number| {
                let by = explorer.system.get(number);
                let is_enabled = !by.is_send && explorer.is_enabled(node, by);
                is_enabled && self.may_be(number, explorer.state(node, machine), explorer.system)
            })
        })
    }

    fn may_be(&mut self, number: usize, source: StateIndex, system: &InternedSystem<'_>) -> bool {
        if let Some(&known) = self.known.get(&number) {
            return known;
        }
        let found = compare(system, source, system.get(number));
        self.known.insert(number, found.is_some());
        for (receive, after) in found.into_iter().flatten() {
            match receive {
                Some(number) => _ = self.known.insert(number, true),
                None => _ = self.ahead.insert(after),
            }
        }
        self.known[&number]
    }
}

/// Compares the states before and after an early receive, and those that the same other moves lead
/// to. Returns the receive from each state before, if there is one, and the state after; `None` if
/// the machine could do something else.
fn compare(
    system: &InternedSystem<'_>,
    source: StateIndex,
    early: &Move,
) -> Option<Vec<(Option<usize>, StateIndex)>> {
    let is_from = |by: &Move| !by.is_send && by.channel == early.channel;
    let mut pairs = IndexSet::from_iter([(source, early.target)]);
    let (heard, mut found) = (listens(system), Vec::new());
    while let Some(&(before, after)) = pairs.get_index(found.len()) {
        let (own, others) = (system.all_from(before), system.all_from(after));
        let is_it = |by: &Move| is_from(by) && by.message == early.message;
        let receive = system.moves_from(before).find(|&by| is_it(system.get(by)));
        // A state that never receives it again leaves it in its queue.
        let hears = |state| heard.can(state, early.channel as ChannelIndex);
        let is_equal = match receive {
            Some(number) => system.get(number).target == after,
            None => {
                let may_end = system.may_end(before) || system.may_end(after) || !hears(before);
                own.len() == others.len() && !may_end && !own.iter().any(is_from)
            }
        };
        if !is_equal || pairs.len() > MOST_PAIRS {
            return None;
        }
        for by in own.iter().filter(|by| !is_from(by)) {
            let key = |of: &Move| (of.is_send, of.channel, of.message);
            let same = others.iter().find(|of| key(of) == key(by))?;
            pairs.insert((by.target, same.target));
        }
        found.push((receive, after));
    }
    Some(found)
}
