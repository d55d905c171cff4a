//! Breadth-first search for a configuration in which roles are stuck, and what can happen after
//! each configuration.

use super::{Event, Network, View};
use crate::machine::digraph;
use crate::system::store::{EMPTY, QueueContents, Rows};
use crate::system::{Continuations, Failure, MOST_WORDS, MachineIndex, Node, Paths};
use crate::verdict::{Limit, Limits};

/// The configurations met so far. Node 0 is the initial one.
pub(super) struct Search<'a> {
    pub(super) network: &'a Network<'a>,
    limits: Limits,
    contents: QueueContents,
    /// The state of each machine, and the content of each queue.
    rows: Rows,
    pub(super) paths: Paths<Event>,
    draft: Vec<u32>,
}

pub(super) struct At<'a>(pub(super) &'a Search<'a>, pub(super) Node);

impl View for At<'_> {
    fn state(&self, machine: MachineIndex) -> u32 {
        self.0.rows.row(self.1)[machine]
    }

    fn head(&self, queue: usize) -> Option<u32> {
        self.0.contents.head(self.content(queue))
    }

    /// An unbounded queue is full at the limit.
    fn is_full(&self, queue: usize) -> bool {
        let length = self.0.contents.length(self.content(queue));
        let capacity = self.0.network.queues[queue].capacity;
        capacity.map_or(length as usize >= self.0.limits.queue, |most| length >= most)
    }
}

impl At<'_> {
    fn content(&self, queue: usize) -> u32 {
        self.0.rows.row(self.1)[self.0.network.machines.machines() + queue]
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(network: &'a Network<'a>, limits: &Limits) -> Self {
        let mut row = network.machines.initial.clone();
        row.resize(row.len() + network.queues.len(), EMPTY);
        let most = limits.configurations.min(MOST_WORDS / row.len().max(1)).max(1);
        let mut rows = Rows::new(row.len(), most, 64);
        rows.intern(&row);
        Self {
            network,
            limits: limits.configurations(most),
            contents: QueueContents::new(),
            rows,
            paths: Paths(vec![None]),
            draft: row,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Searches for the shortest run to a configuration in which some role is stuck. `None` if
    /// all configurations are explored without one.
    pub(super) fn run(&mut self) -> Result<Option<Node>, Limit> {
        let full = Limit::Configurations(self.limits.configurations);
        let (mut stuck, mut events) = (vec![], vec![]);
        let (mut node, mut is_held_back) = (0, false);
        if self.network.stuck(&At(self, 0), &mut stuck) {
            return Ok(Some(0));
        }
        while (node as usize) < self.len() {
            is_held_back |= self.events(node, &mut events);
            for &event in &events {
                let (to, is_new) = self.after(node, event).ok_or(full)?;
                if is_new && self.network.stuck(&At(self, to), &mut stuck) {
                    return Ok(Some(to));
                }
            }
            node += 1;
        }
        if is_held_back { Err(Limit::Queue(self.limits.queue)) } else { Ok(None) }
    }

    /// Collects the events that are possible. Returns true if the search holds a send back whose
    /// queue is unbounded.
    fn events(&self, node: Node, events: &mut Vec<Event>) -> bool {
        events.clear();
        let (network, view) = (self.network, At(self, node));
        let mut is_held_back = false;
        network.events(&view, |event| {
            if let Event::Wait(send) = event {
                let by = network.machines.get(send as usize);
                let is_unbounded = network.queues[by.channel as usize].capacity.is_none();
                is_held_back |= is_unbounded;
                if is_unbounded || !network.commits(view.state(by.machine as MachineIndex)) {
                    return;
                }
            }
            events.push(event);
        });
        is_held_back
    }

    /// The configuration after an event, and true if it is new. `None` without room for it.
    fn after(&mut self, node: Node, event: Event) -> Option<(Node, bool)> {
        let Self { network, contents, rows, draft, .. } = self;
        let machines = &network.machines;
        draft.clear();
        draft.extend_from_slice(rows.row(node));
        if let Event::Wait(send) = event {
            draft[machines.get(send as usize).machine as usize] = machines.states() + send;
        }
        let is_met = matches!(event, Event::Rendezvous(..));
        for by in network.moves_in(event) {
            draft[by.machine as usize] = by.target;
            let place = &network.queues[by.channel as usize];
            let content = &mut draft[machines.machines() + by.channel as usize];
            let is_full = place.capacity == Some(contents.length(*content));
            match by.is_send {
                _ if is_met => {}
                // Dropped.
                true if is_full => {}
                true => *content = contents.push(*content, by.message),
                false => *content = contents.pop(*content),
            }
        }
        let (to, is_new) = rows.intern(draft)?;
        if is_new {
            self.paths.0.push(Some((node, event)));
        }
        Some((to, is_new))
    }

    /// Takes these events from a configuration. `None` if one is not possible.
    pub(super) fn walk(&mut self, from: Node, path: &[Event]) -> Option<Node> {
        let mut possible = vec![];
        path.iter().try_fold(from, |node, &event| {
            self.events(node, &mut possible);
            possible.contains(&event).then(|| self.after(node, event))?.map(|(to, _)| to)
        })
    }

    /// The first configuration, of those that are all there are, from which a role never moves
    /// again or a message is never received.
    pub(super) fn lost(&mut self) -> Option<(Node, Failure)> {
        let network = self.network;
        let machines = network.machines.machines();
        let (mut events, mut steps) = (vec![], vec![]);
        for node in 0..self.len() as Node {
            self.events(node, &mut events);
            for &event in &events {
                steps.extend(self.after(node, event).map(|(to, _)| (node, to, event)));
            }
        }
        let graph = digraph(self.len(), steps.into_iter());
        let happens = |event| {
            network.moves_in(event).flat_map(move |by| {
                let received = by.received().map(|queue| machines + queue);
                [Some(by.machine as usize), received].into_iter().flatten()
            })
        };
        let count = machines + network.queues.len();
        let after = Continuations::of(&graph, count, happens, |_| None);
        (0..self.len() as Node).find_map(|node| {
            let view = At(self, node);
            let lost = after.lost(None, node).filter(|&event| event < count);
            let mut failure = lost.filter_map(|event| match event.checked_sub(machines) {
                None if network.is_finished(&view, event) => None,
                None => Some(Failure::Starvation(network.machines.role(event))),
                Some(queue) => {
                    let (from, _) = network.message(view.head(queue)?)?;
                    let (_, to) = network.machines.end_roles(queue);
                    Some(Failure::Orphan { from, to })
                }
            });
            Some((node, failure.next()?))
        })
    }
}
