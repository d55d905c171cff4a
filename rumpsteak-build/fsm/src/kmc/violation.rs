//! The violations of a configuration under bounds, and those that hold under any bounds.

use crate::system::{ChannelIndex, Explorer, MachineIndex, Move, Node, StateKind};

/// A [`Flaw`](super::Flaw), with the numbers of its machine, its channel or its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Violation {
    Waits(MachineIndex),
    Lost(ChannelIndex),
    Blocked(usize),
    Partial(usize, usize),
    Competing(usize, usize),
}

/// The first violation of each property that was met, and its configuration.
#[derive(Debug, Default)]
pub(crate) struct Violations {
    pub(crate) exhaustive: Option<(Node, Violation)>,
    pub(crate) progress: Option<(Node, Violation)>,
    pub(crate) reception: Option<(Node, Violation)>,
    pub(crate) obi: Option<(Node, Violation)>,
    pub(crate) ibi: Option<(Node, Violation)>,
    pub(crate) sibi: Option<(Node, Violation)>,
    pub(crate) cibi: Option<(Node, Violation)>,
    /// A violation under any bounds.
    pub(crate) definite: Option<(Node, Violation)>,
}

#[derive(Debug)]
pub(crate) struct Explored<'a> {
    pub(crate) explorer: Explorer<'a>,
    pub(crate) found: Violations,
    /// False if this is known to be all that the part can do under any bounds.
    pub(crate) hits_bounds: bool,
}

pub(crate) fn first_definite(explorer: &Explorer<'_>) -> Option<(Node, Violation)> {
    explorer.nodes().find_map(|node| Some((node, definite(explorer, node)?)))
}

/// A violation in this configuration and all that follow it, whatever the bounds: a machine is
/// [stuck], or a message is left for a finished machine.
pub(crate) fn definite(explorer: &Explorer<'_>, node: Node) -> Option<Violation> {
    let stuck = stuck(explorer, node);
    if let Some(machine) = stuck.iter().position(|&stuck| stuck) {
        return Some(Violation::Waits(machine));
    }
    let lost = |&channel: &ChannelIndex| {
        explorer.held(node, channel) > 0
            && explorer.kind(node, explorer.system.ends[channel].1) == StateKind::Final
    };
    (0..explorer.system.channels()).find(lost).map(Violation::Lost)
}

/// The machines that never move again, because they wait for each other, for finished machines, and
/// behind messages that they cannot take.
///
/// They are the largest set D of waiting machines such that each, on every channel that it listens
/// to, finds a message that it cannot take, or nothing and a sender that is finished or in D. The
/// first of D to move would need a message from D or a finished machine; so none ever moves.
fn stuck(explorer: &Explorer<'_>, node: Node) -> Vec<bool> {
    let system = explorer.system;
    let waits =
        |machine| explorer.kind(node, machine).receives_only() && !explorer.may_end(node, machine);
    let mut stuck: Vec<bool> = (0..system.machines()).map(waits).collect();
    explorer.ready(node).for_each(|machine| stuck[machine] = false);
    let mut is_changed = true;
    while std::mem::take(&mut is_changed) {
        for machine in 0..system.machines() {
            let hopeless = |by: &Move| {
                let channel = by.channel as ChannelIndex;
                let sender = system.ends[channel].0;
                explorer.held(node, channel) > 0
                    || stuck[sender]
                    || explorer.kind(node, sender) == StateKind::Final
            };
            if stuck[machine] && !explorer.options(node, machine).iter().all(hopeless) {
                stuck[machine] = false;
                is_changed = true;
            }
        }
    }
    stuck
}
