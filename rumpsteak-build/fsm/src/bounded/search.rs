//! Breadth-first search for a configuration in which roles are stuck, and what can happen after
//! each configuration.

use petgraph::graph::Graph;

use super::network::{Event, Network, View};
use crate::system::components::{Node, index};
use crate::system::explorer::{Continuations, StepGraph};
use crate::system::interned::MachineIndex;
use crate::system::run::Failure;
use crate::system::store::{EMPTY, QueueContents, Rows};
use crate::verdict::{Limit, Limits};

/// The most memory for rows, in 32-bit words: a quarter of a gigabyte.
const MOST_WORDS: usize = 1 << 26;

/// The configurations met so far. Node 0 is the initial one.
pub(super) struct Search<'a> {
    network: &'a Network,
    /// The most messages that each queue may hold.
    bounds: Vec<u32>,
    contents: QueueContents,
    /// The state of each machine, and the content of each queue.
    rows: Rows,
    /// By node but the initial one, the node before and the event that led here first.
    parents: Vec<(Node, Event)>,
    /// True if a send into an unbounded queue was held back.
    is_held_back: bool,
    limit: Limit,
    draft: Vec<u32>,
}

/// The result of a search for stuck roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Some role is stuck in this configuration.
    Stuck(Node),
    /// No role is ever stuck.
    None,
    /// A limit ended the search.
    Limit(Limit),
}

/// A configuration of a search.
pub(super) struct At<'a>(pub(super) &'a Search<'a>, pub(super) Node);

impl View for At<'_> {
    fn state(&self, machine: MachineIndex) -> u32 {
        self.0.rows.row(self.1)[machine]
    }

    fn head(&self, queue: usize) -> Option<u32> {
        self.0.contents.head(self.content(queue))
    }

    fn is_full(&self, queue: usize) -> bool {
        let capacity = self.0.network.queues[queue].capacity;
        capacity.is_some_and(|most| self.0.contents.length(self.content(queue)) >= most)
    }
}

impl At<'_> {
    fn content(&self, queue: usize) -> u32 {
        self.0.rows.row(self.1)[self.0.network.initial.len() + queue]
    }

    /// The messages in a queue, oldest first.
    pub(super) fn messages(&self, queue: usize) -> Vec<u32> {
        let contents = &self.0.contents;
        let mut content = self.content(queue);
        let next = || {
            let head = contents.head(content);
            content = contents.pop(content);
            head
        };
        std::iter::from_fn(next).collect()
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(network: &'a Network, limits: &Limits) -> Self {
        let mut row = network.initial.clone();
        row.resize(row.len() + network.queues.len(), EMPTY);
        let longest = u32::try_from(limits.queue).unwrap_or(u32::MAX);
        let bounds = network.queues.iter().map(|place| place.capacity.unwrap_or(longest));
        let most = limits.configurations.min(MOST_WORDS / row.len().max(1)).max(1);
        let mut rows = Rows::new(row.len(), most, 64);
        rows.intern(&row);
        Self {
            network,
            bounds: bounds.collect(),
            contents: QueueContents::new(),
            rows,
            parents: vec![],
            is_held_back: false,
            limit: Limit::Configurations(most),
            draft: row,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Searches for the shortest run to a configuration in which some role is stuck.
    pub(super) fn run(&mut self, limits: &Limits) -> Found {
        let mut stuck = vec![];
        if self.network.stuck(&At(self, 0), &mut stuck) {
            return Found::Stuck(0);
        }
        let mut events = vec![];
        let mut node = 0;
        while (node as usize) < self.len() {
            self.is_held_back |= self.events(node, &mut events);
            for &event in &events {
                let Some((to, is_new)) = self.after(node, event) else {
                    return Found::Limit(self.limit);
                };
                if is_new {
                    self.parents.push((node, event));
                    if self.network.stuck(&At(self, to), &mut stuck) {
                        return Found::Stuck(to);
                    }
                }
            }
            node += 1;
        }
        match self.is_held_back {
            true => Found::Limit(Limit::Queue(limits.queue)),
            false => Found::None,
        }
    }

    /// Collects the events that are possible. Returns true if the search holds a send back whose
    /// queue is unbounded.
    fn events(&self, node: Node, events: &mut Vec<Event>) -> bool {
        events.clear();
        let (network, view) = (self.network, At(self, node));
        let mut is_held_back = false;
        let mut waiting = vec![];
        network.events(&view, |event| events.push(event), |send| waiting.push(send));
        events.retain(|&event| {
            let Event::Move(number) = event else { return true };
            let by = &network.moves[number as usize];
            let queue = by.channel as usize;
            let is_unbounded = by.is_send && network.queues[queue].capacity.is_none();
            let fits =
                !is_unbounded || self.contents.length(view.content(queue)) < self.bounds[queue];
            is_held_back |= !fits;
            fits
        });
        waiting.retain(|&send| {
            let machine = network.moves[send as usize].machine as MachineIndex;
            network.commits(view.state(machine))
        });
        events.extend(waiting.into_iter().map(Event::Commit));
        is_held_back
    }

    /// The configuration after an event, and true if it is new. `None` without room for it.
    fn after(&mut self, node: Node, event: Event) -> Option<(Node, bool)> {
        let Self { network, contents, rows, draft, .. } = self;
        let machines = network.initial.len();
        draft.clear();
        draft.extend_from_slice(rows.row(node));
        if let Event::Commit(number) = event {
            let machine = network.moves[number as usize].machine as usize;
            draft[machine] = network.commitment(number);
        }
        let is_met = matches!(event, Event::Rendezvous(..));
        for by in network.moves_in(event) {
            draft[by.machine as usize] = by.target;
            let place = &network.queues[by.channel as usize];
            let content = &mut draft[machines + by.channel as usize];
            let is_full = place.capacity == Some(contents.length(*content));
            match by.is_send {
                _ if is_met => {}
                // Dropped.
                true if is_full => {}
                true => *content = contents.push(*content, by.message),
                false => *content = contents.pop(*content),
            }
        }
        rows.intern(draft)
    }

    /// Takes these events from the initial configuration. `None` if one is not possible.
    pub(super) fn walk(&mut self, path: &[Event]) -> Option<Node> {
        let (mut node, mut possible) = (0, vec![]);
        for &event in path {
            self.events(node, &mut possible);
            let (to, is_new) = possible.contains(&event).then(|| self.after(node, event))??;
            if is_new {
                self.parents.push((node, event));
            }
            node = to;
        }
        Some(node)
    }

    /// The events that lead to a node, commitments left out.
    pub(super) fn path(&self, mut node: Node) -> Vec<Event> {
        let mut path = vec![];
        while node > 0 {
            let (parent, event) = self.parents[node as usize - 1];
            path.push(event);
            node = parent;
        }
        path.reverse();
        path.retain(|event| !matches!(event, Event::Commit(_)));
        path
    }

    /// The first configuration, of those that are all there are, from which a role never moves
    /// again or a message is never received.
    pub(super) fn lost(&mut self) -> Option<(Node, Failure)> {
        let network = self.network;
        let machines = network.initial.len();
        let mut graph: StepGraph = Graph::with_capacity(self.len(), self.len());
        (0..self.len()).for_each(|_| {
            graph.add_node(());
        });
        let (mut events, mut by_edge) = (vec![], vec![]);
        for node in 0..self.len() as Node {
            self.events(node, &mut events);
            for &event in &events {
                if let Some((to, _)) = self.after(node, event) {
                    graph.add_edge(index(node), index(to), by_edge.len() as u32);
                    by_edge.push(event);
                }
            }
        }
        let happens = |number: usize| {
            let moves = network.moves_in(by_edge[number]);
            moves.flat_map(move |by| {
                let received = (!by.is_send).then_some(machines + by.channel as usize);
                [Some(by.machine as usize), received].into_iter().flatten()
            })
        };
        let count = machines + network.queues.len();
        let after = Continuations::of(&graph, count, happens, |_| None);
        (0..self.len() as Node).find_map(|node| {
            let view = At(self, node);
            after.lost(None, node).filter(|&event| event < count).find_map(|event| {
                let failure = match event.checked_sub(machines) {
                    None if network.is_finished(&view, event) => return None,
                    None => Failure::Starvation { role: network.role(event).clone() },
                    Some(queue) => {
                        let head = view.head(queue)?;
                        let (from, _) = network.message(head);
                        let to = network.role(network.queues[queue].to);
                        Failure::Orphan { from: network.role(from).clone(), to: to.clone() }
                    }
                };
                Some((node, failure))
            })
        })
    }
}
