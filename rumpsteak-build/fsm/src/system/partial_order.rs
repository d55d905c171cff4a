//! The partial-order reduction: exploring a system one machine at a time. [k-MC](crate::kmc) uses
//! it for directed systems, and [exploration](super::explore) for the others.
//!
//! # What is left out
//!
//! A machine *decides alone* if each of its sends has room and each channel that it listens to
//! holds a message. Whatever the others do first, they take neither those messages nor the room,
//! and they only append behind the messages. So the machine's moves stay the same and commute with
//! everything that the others do. In such a configuration it is enough to explore all moves of this
//! machine (a persistent set; Godefroid, LNCS 1032, 1996). Receivers go first, so that queues stay
//! short. If no machine decides alone, all move.
//!
//! ```text
//!   all configurations                 reduced
//!   ●──a!──●──a!──●                    ●──a!──●──a!──●
//!   │      │      │                                  │
//!   b!     b!     b!                                 b!
//!   ●──a!──●──a!──●                                  ●
//! ```
//!
//! In a directed system every state of a machine has one channel, so each machine that can move
//! decides alone.
//!
//! The other machines must move later. If a terminal strongly connected component leaves out a
//! machine that could move, the search goes on from the component's root: with such a machine if it
//! decides alone, and with all machines otherwise. (A machine that could move can move everywhere
//! in the component: no other machine takes from its channels, and what others put there would
//! never go away.) If only the bound keeps it from moving, the bound has held it back.
//!
//! # Why it is sound
//!
//! *(E)* For a configuration r of this search and a run φ from r to s there is a run ψ from s such
//! that φψ, after swapping neighbouring independent moves of different machines, is a run of this
//! search. By induction on the length of φ. Where all machines move, the first step of φ is
//! explored. Where machine m decides alone: if m moves in φ, its first move there is explored and
//! can be swapped to the front. If not, its move is appended to s, which it does not disable, and
//! the search is followed on, to where all machines move or into a terminal component, where the
//! machine that moves first in φ moves at last.
//!
//! So everything that cannot be mended later (a deadlock, an unspecified reception, an orphan; a
//! role or a message that waits in all continuations) still holds at the end of the longer run, and
//! everything that can happen from r can happen in this search. The bound does not matter: unless
//! it holds a send back in a configuration from which a machine moves, this is a search with
//! unbounded queues.
//!
//! The run to a failure may not be the shortest. Each component is looked at once more for each
//! machine left out.

use petgraph::Direction::Outgoing;

use super::{ChannelIndex, Explorer, MachineIndex, Node, StateKind, index};

pub(crate) trait Visitor {
    fn explorer(&self) -> &Explorer<'_>;

    /// Judges a configuration; `false` ends the search.
    fn enter(&mut self, _node: Node) -> bool {
        true
    }

    fn expand(&mut self, node: Node, machine: MachineIndex);

    fn expand_all(&mut self, node: Node) {
        for word in 0..self.explorer().ready_words() {
            for machine in self.explorer().ready_of(node, word) {
                self.expand(node, machine);
            }
        }
    }

    /// Judges a component that no step leaves and that leaves out no machine that could move.
    fn terminal(&mut self, root: Node, component: &Terminal);
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
    let mut stack: Vec<Node> = vec![];
    // The nodes whose edges are being followed, each with the next edge and its place on the stack.
    let mut open = vec![];
    let mut start: Option<Node> = Some(0);
    loop {
        if let Some(node) = start.take() {
            enter(visitor, node)?;
            let graph = &visitor.explorer().graph;
            order.resize(graph.node_count(), 0);
            low.resize(graph.node_count(), 0);
            is_complete.resize(graph.node_count(), false);
            met += 1;
            (order[node as usize], low[node as usize]) = (met, met);
            open.push((node, graph.first_edge(index(node), Outgoing), stack.len()));
            stack.push(node);
        }
        let &mut (node, ref mut edge, height) = open.last_mut()?;
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
            if !complete(visitor, &stack[height..], &is_complete)? {
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

/// Meets a configuration, before its steps are followed. `None` ends the search.
fn enter(visitor: &mut impl Visitor, node: Node) -> Option<()> {
    if !visitor.enter(node) {
        return None;
    }
    match choose(visitor.explorer(), node) {
        Some(machine) => visitor.expand(node, machine),
        None => visitor.expand_all(node),
    }
    has_room(visitor)
}

/// Completes a component, whose first member was met first. Returns false if that one has got more
/// steps, because the component left out a machine that could move. `None` ends the search.
fn complete(visitor: &mut impl Visitor, members: &[Node], is_complete: &[bool]) -> Option<bool> {
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
    let is_left_out =
        |&machine: &MachineIndex| !component.moved[machine] && explorer.can_move(root, machine);
    let left_out = || explorer.ready(root).filter(is_left_out);
    let is_whole = left_out().next().is_none();
    // A machine that does not decide alone may have other moves after others have moved.
    let alone = left_out().find(|&machine| decides_alone(explorer, root, machine));
    match alone {
        Some(machine) => visitor.expand(root, machine),
        None if is_whole => visitor.terminal(root, &component),
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
