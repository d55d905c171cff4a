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

/// Explores the configurations, with Tarjan's algorithm over the graph that grows meanwhile. It
/// does not recurse.
pub(crate) fn explore(visitor: &mut impl Visitor) {
    // `None` is the end of the search.
    let _ = walk(visitor);
}

fn walk(visitor: &mut impl Visitor) -> Option<()> {
    // By node: its order of meeting, from 1; the lowest order that it leads to; and true if its
    // component is complete.
    let (mut order, mut low, mut is_complete) = (vec![], vec![], vec![]);
    let mut met = 0_u32;
    let mut early = Early::new(visitor.explorer().system);
    // By node, true if only an early receive was taken.
    let mut is_early = vec![];
    // The roots of terminal components.
    let mut ends = vec![];
    let mut stack: Vec<Node> = vec![];
    // The nodes whose edges are being followed, each with the next edge and its place on the stack.
    let mut open = vec![];
    let mut start: Option<Node> = Some(0);
    loop {
        if let Some(node) = start.take() {
            let is_early_now = enter(visitor, &mut early, node)?;
            let graph = &visitor.explorer().graph;
            order.resize(graph.node_count(), 0);
            low.resize(graph.node_count(), 0);
            is_complete.resize(graph.node_count(), false);
            is_early.resize(graph.node_count(), false);
            is_early[node as usize] = is_early_now;
            met += 1;
            (order[node as usize], low[node as usize]) = (met, met);
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
            *edge = graph.next_edge(at, Outgoing);
            let to = graph.raw_edges()[at.index()].target().index();
            if order[to] == 0 {
                start = Some(to as Node);
            } else if !is_complete[to] {
                low[node as usize] = low[node as usize].min(order[to]);
            }
            continue;
        }
        let own = low[node as usize];
        if own == order[node as usize] {
            let members = &stack[height..];
            if !complete(visitor, members, &is_complete, &is_early, &mut ends)? {
                members.iter().for_each(|&member| is_early[member as usize] = false);
                let graph = &visitor.explorer().graph;
                *edge = graph.first_edge(index(node), Outgoing);
                order.resize(graph.node_count(), 0);
                continue;
            }
            stack.drain(height..).for_each(|member| is_complete[member as usize] = true);
        }
        open.pop();
        if let Some(&(parent, ..)) = open.last() {
            low[parent as usize] = low[parent as usize].min(own);
        }
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
    is_complete: &[bool],
    is_early: &[bool],
    ends: &mut Vec<Node>,
) -> Option<bool> {
    let explorer = visitor.explorer();
    let steps = || members.iter().flat_map(|&member| explorer.steps_from(member));
    if steps().any(|step| is_complete[step.to as usize]) {
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
    if members.iter().any(|&member| is_early[member as usize]) {
        visitor.expand_all(root);
        return has_room(visitor).map(|()| false);
    }
    let is_left_out =
        |&machine: &MachineIndex| !component.moved[machine] && explorer.can_move(root, machine);
    let left_out = || explorer.ready(root).filter(is_left_out);
    let is_whole = left_out().next().is_none();
    // A machine that does not decide alone may have other moves after others have moved.
    let alone = left_out().find(|&machine| decides_alone(explorer, root, machine));
    match alone {
        Some(machine) => visitor.expand(root, machine),
        None if is_whole => {
            visitor.terminal(root, &component);
            ends.push(root);
        }
        None => visitor.expand_all(root),
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
