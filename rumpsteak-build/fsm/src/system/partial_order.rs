#![doc = include_str!("partial_order.md")]

use petgraph::Direction::Outgoing;

use super::early::Early;
use super::{ChannelIndex, Explorer, MachineIndex, Node, StateKind, index};

pub(crate) trait Visitor {
    fn explorer(&self) -> &Explorer<'_>;

    /// Judges a configuration; `false` ends the search.
    fn enter(&mut self, _node: Node) -> bool {
        true
    }

    /// Takes a move, if it is possible.
    fn take(&mut self, node: Node, number: usize);

    fn expand(&mut self, node: Node, machine: MachineIndex) {
        for number in self.explorer().moves(node, machine) {
            self.take(node, number);
        }
    }

    fn expand_all(&mut self, node: Node) {
        for word in 0..self.explorer().ready_words() {
            for machine in self.explorer().ready_of(node, word) {
                self.expand(node, machine);
            }
        }
    }

    /// Judges a component that no step leaves and that leaves out no machine that could move.
    fn terminal(&mut self, root: Node, component: &Terminal);

    /// Learns that a machine may be ahead of a message for ever in the component of a root.
    fn is_ahead(&mut self, _root: Node) {}
}

/// A component that no step leaves. A machine that does not move in it is in one state throughout,
/// and can move throughout or nowhere.
pub(crate) struct Terminal {
    /// By machine, true if it moves.
    pub(crate) moved: Vec<bool>,
    /// By channel, true if a message is received from it.
    pub(crate) popped: Vec<bool>,
}

#[derive(Clone, Copy, Default)]
struct Visit {
    /// The order of meeting, from 1; 0 for a node that was not met.
    order: u32,
    /// The lowest order that the node leads to, or [`COMPLETE`].
    low: u32,
    /// True if only an early receive was taken.
    is_early: bool,
}

/// The component of the node is complete.
const COMPLETE: u32 = u32::MAX;

/// Explores the configurations, with Tarjan's algorithm over the graph that grows meanwhile. It
/// does not recurse.
pub(crate) fn explore(visitor: &mut impl Visitor) {
    // `None` is the end of the search.
    let _ = walk(visitor);
}

fn walk(visitor: &mut impl Visitor) -> Option<()> {
    // By node.
    let mut visits: Vec<Visit> = vec![];
    let mut met = 0_u32;
    let mut early = Early::new(visitor.explorer().system);
    // The roots of terminal components.
    let mut ends = vec![];
    let mut stack: Vec<Node> = vec![];
    // The nodes whose edges are being followed, each with the next edge and its place on the stack.
    let mut open = vec![];
    let mut start: Option<Node> = Some(0);
    loop {
        if let Some(node) = start.take() {
            let is_early = enter(visitor, &mut early, node)?;
            let graph = &visitor.explorer().graph;
            visits.resize(graph.node_count(), Visit::default());
            met += 1;
            visits[node as usize] = Visit { order: met, low: met, is_early };
            open.push((node, graph.first_edge(index(node), Outgoing), stack.len()));
            stack.push(node);
        }
        let Some(&mut (node, ref mut edge, height)) = open.last_mut() else {
            // A component may be met again after a receive that was early.
            ends.retain(|&root| early.is_ahead(visitor.explorer(), root));
            ends.into_iter().for_each(|root| visitor.is_ahead(root));
            return None;
        };
        let graph = &visitor.explorer().graph;
        if let Some(at) = *edge {
            let to = graph.raw_edges()[at.index()].target().index();
            let Visit { order, low, .. } = visits[to];
            if order == 0 {
                start = Some(to as Node);
            } else {
                *edge = graph.next_edge(at, Outgoing);
                let own = &mut visits[node as usize].low;
                *own = low.min(*own);
            }
            continue;
        }
        let Visit { order, low, .. } = visits[node as usize];
        if low == order {
            let members = &stack[height..];
            if !complete(visitor, members, &visits, &mut ends)? {
                members.iter().for_each(|&member| visits[member as usize].is_early = false);
                let graph = &visitor.explorer().graph;
                *edge = graph.first_edge(index(node), Outgoing);
                visits.resize(graph.node_count(), Visit::default());
                continue;
            }
            stack.drain(height..).for_each(|member| visits[member as usize].low = COMPLETE);
        }
        open.pop();
    }
}

/// Meets a configuration, before its steps are followed. Returns true if only an early receive was
/// taken. `None` ends the search.
fn enter(visitor: &mut impl Visitor, early: &mut Early, node: Node) -> Option<bool> {
    if !visitor.enter(node) {
        return None;
    }
    let first = early.first(visitor.explorer(), node);
    match (first, choose(visitor.explorer(), node)) {
        (Some(number), _) => visitor.take(node, number),
        (None, Some(machine)) => visitor.expand(node, machine),
        (None, None) => visitor.expand_all(node),
    }
    has_room(visitor).map(|()| first.is_some())
}

/// Completes a component, whose first member was met first. Returns false if that one has got more
/// steps, because the component left out a machine that could move, or took an early receive alone.
/// `None` ends the search.
fn complete(
    visitor: &mut impl Visitor,
    members: &[Node],
    visits: &[Visit],
    ends: &mut Vec<Node>,
) -> Option<bool> {
    let explorer = visitor.explorer();
    let steps = || members.iter().flat_map(|&member| explorer.steps_from(member));
    if steps().any(|step| visits[step.to as usize].low == COMPLETE) {
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
    let is_early = members.iter().any(|&member| visits[member as usize].is_early);
    let is_left_out =
        |&machine: &MachineIndex| !component.moved[machine] && explorer.can_move(root, machine);
    let left_out = || explorer.ready(root).filter(is_left_out);
    let is_whole = !is_early && left_out().next().is_none();
    // A machine that does not decide alone may have other moves after others have moved.
    let alone = left_out().find(|&machine| decides_alone(explorer, root, machine));
    match alone {
        Some(machine) if !is_early => visitor.expand(root, machine),
        None if is_whole => {
            visitor.terminal(root, &component);
            ends.push(root);
        }
        _ => visitor.expand_all(root),
    }
    has_room(visitor).map(|()| is_whole)
}

fn has_room(visitor: &impl Visitor) -> Option<()> {
    (!visitor.explorer().is_truncated).then_some(())
}

/// A machine that decides alone, preferably one that receives.
fn choose(explorer: &Explorer<'_>, node: Node) -> Option<MachineIndex> {
    let receives = |&machine: &MachineIndex| explorer.kind(node, machine).receives_only();
    let decides = |&machine: &MachineIndex| decides_alone(explorer, node, machine);
    let receiver = explorer.ready(node).filter(receives).find(decides);
    receiver.or_else(|| explorer.ready(node).find(decides))
}

fn decides_alone(explorer: &Explorer<'_>, node: Node, machine: MachineIndex) -> bool {
    match explorer.kind(node, machine) {
        // It can receive from its only channel.
        StateKind::Receives(_) => true,
        StateKind::Sends(channel) => !explorer.is_full(node, channel as ChannelIndex),
        _ => explorer.options(node, machine).iter().all(|by| match by.is_send {
            true => explorer.is_enabled(node, by),
            false => explorer.held(node, by.channel as ChannelIndex) > 0,
        }),
    }
}
