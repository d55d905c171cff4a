//! Early receives, for the partial-order reduction: it makes no difference when they happen.

use hashbrown::{HashMap, HashSet};

use super::{Explorer, InternedSystem, MachineIndex, Move, Node, StateIndex};
use crate::machine::IndexSet;

/// The most pairs of states that are compared for one receive.
const MOST_PAIRS: usize = 1 << 12;

/// States that are equal but for a message: where it is due, and where it was received early. True
/// if it can be received in the first one.
pub type Pair = (u32, u32, bool);

/// Compares the states before and after a receive, and those that the same other moves lead to.
/// `None` if the receive is not early, or too many states would have to be compared.
///
/// `moves` has the actions of a state, each with its target, `hears` those that receive from the
/// same sender, and `may_wait` the states where the message may be due.
pub fn compare<A: PartialEq, M: Iterator<Item = (A, u32)>>(
    states: (u32, u32),
    receive: &A,
    moves: impl Fn(u32) -> M,
    hears: impl Fn(&A) -> bool,
    may_wait: impl Fn(u32) -> bool,
) -> Option<Vec<Pair>> {
    let mut pairs = IndexSet::from_iter([states]);
    let mut found = Vec::new();
    while let Some(&(before, after)) = pairs.get_index(found.len()) {
        let [own, others] = [before, after].map(|state| moves(state).collect::<Vec<_>>());
        let target = own.iter().find(|(action, _)| action == receive).map(|of| of.1);
        let is_equal = target.map_or_else(
            || own.len() == others.len() && may_wait(before) && may_wait(after),
            |target| target == after,
        );
        let (heard, same): (Vec<_>, Vec<_>) = own.iter().partition(|of| hears(&of.0));
        if !is_equal || target.is_none() && !heard.is_empty() || pairs.len() > MOST_PAIRS {
            return None;
        }
        for (action, target) in same {
            let (_, other) = others.iter().find(|(other, _)| other == action)?;
            pairs.insert((*target, *other));
        }
        found.push((before, after, target.is_some()));
    }
    Some(found)
}

/// Direction, channel and message of a move.
type Key = (bool, u32, u32);

pub(super) struct Early {
    /// False if the system cannot have one that is worth a search.
    is_possible: bool,
    /// By the state and the receive, true if it is early.
    known: HashMap<(StateIndex, Key), bool>,
    /// The states of machines that have received early, and could not receive now.
    ahead: HashSet<StateIndex>,
}

impl Early {
    pub(super) fn new(system: &InternedSystem<'_>) -> Self {
        let is_possible = system.is_deterministic && !system.is_directed;
        Self { is_possible, known: HashMap::new(), ahead: HashSet::new() }
    }

    /// True if a machine may have received early here what it could not receive now.
    pub(super) fn is_ahead(&self, explorer: &Explorer<'_>, node: Node) -> bool {
        let mut states = (0..explorer.system.machines()).map(|own| explorer.state(node, own));
        states.any(|state| self.ahead.contains(&state))
    }

    /// A possible receive that is early, of a machine that could do something else.
    pub(super) fn first(&mut self, explorer: &Explorer<'_>, node: Node) -> Option<usize> {
        if !self.is_possible {
            return None;
        }
        let can_choose = |&machine: &MachineIndex| !explorer.kind(node, machine).is_directed();
        explorer.ready(node).filter(can_choose).find_map(|machine| {
            explorer.moves(node, machine).find(|&number| {
                let by = explorer.system.get(number);
                let is_enabled = !by.is_send && explorer.is_enabled(node, by);
                is_enabled && self.is_early(explorer.system, explorer.state(node, machine), by)
            })
        })
    }

    fn is_early(&mut self, system: &InternedSystem<'_>, state: StateIndex, by: &Move) -> bool {
        let key = |by: &Move| (by.is_send, by.channel, by.message);
        let receive = key(by);
        if let Some(&known) = self.known.get(&(state, receive)) {
            return known;
        }
        let moves = |state| system.all_from(state).iter().map(|by| (key(by), by.target));
        let hears = |&(is_send, channel, _): &Key| !is_send && channel == by.channel;
        let may_wait = |state| !system.may_end(state);
        let found = compare((state, by.target), &receive, moves, hears, may_wait);
        self.known.insert((state, receive), found.is_some());
        for (before, after, receives) in found.into_iter().flatten() {
            match receives {
                true => _ = self.known.insert((before, receive), true),
                false => _ = self.ahead.insert(after),
            }
        }
        self.known[&(state, receive)]
    }
}
