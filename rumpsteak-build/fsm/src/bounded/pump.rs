//! A search for a run that blocks roles at every capacity from some size on.
//!
//! # The judgement
//!
//! Let n be the capacity of all queues that have none of their own. A *symbolic* configuration
//! stands for one configuration for each n ≥ m, where m is its *least size*. A queue is either a
//! word w, or `u aᵏ v`, where k is such that the whole holds n - d messages, for a fixed d.
//!
//! ```text
//!   C ──event──▶ C′       the event is possible in C at each n ≥ m′
//!   A ──β──▶ B            B is A with one message a more at the end of one queue w, and β does not
//!                         receive from that queue
//!   ─────────────────
//!   A ──β^(n-|w|)──▶ A[w := w aᵏ],  n messages in all
//! ```
//!
//! If some role is stuck in a symbolic configuration, it is stuck at every n ≥ m.
//!
//! ```text
//!   D: rec X . {C?task; W!job; X, W?request; X}    β = C: D!task, D: C?task, D: W!job, W: D?job, W: D!request
//!   W: rec X . D?job; D!request; X                 appends `request` to the queue from W to D, n times;
//!                                                  then W takes one more job and waits for room. The first
//!                                                  three steps of β, n times, fill the queue from D to W.
//! ```
//!
//! # Why it is sound
//!
//! *Event.* A word w is shorter than n if m > |w|, so a send is possible. `u aᵏ v` has room if
//! d > 0, and k ≥ 1 if m > d + |u| + |v|; both are kept as a part of m. A receive needs the head,
//! which is then known.
//!
//! *β.* By induction on the number of repetitions, before each of them all machines and all queues
//! but one are as in A, and that one is `w aⁱ` with i < n - |w|. β only sends to it, once, so all
//! its other events are possible as in A, and this one because there is room.
//!
//! # Cost
//!
//! At most 4,000 symbolic configurations, with words of at most two messages. A longer search finds
//! little more. If it finds nothing, nothing is said.

use std::iter;

use hashbrown::HashSet;

use super::{Event, Network, View};
use crate::system::{MachineIndex, StateIndex};

const MOST_CONFIGURATIONS: usize = 4_000;
/// The longest word, and the most free places of a pumped queue.
const LONGEST: usize = 2;

/// A queue of a symbolic configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Word {
    /// The word, or the messages before the pumped ones.
    first: Vec<u32>,
    /// The message of which there are so many that `missing` are missing to the capacity.
    pumped: Option<u32>,
    missing: usize,
    /// The messages after the pumped ones.
    last: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Symbolic {
    states: Vec<StateIndex>,
    queues: Vec<Word>,
}

struct At<'a>(&'a Network<'a>, &'a Symbolic);

impl View for At<'_> {
    fn state(&self, machine: MachineIndex) -> StateIndex {
        self.1.states[machine]
    }

    fn head(&self, queue: usize) -> Option<u32> {
        let word = &self.1.queues[queue];
        word.first.first().copied().or(word.pumped)
    }

    fn is_full(&self, queue: usize) -> bool {
        let (place, word) = (&self.0.queues[queue], &self.1.queues[queue]);
        match word.pumped {
            Some(_) => word.missing == 0,
            None if place.is_scaled => false,
            None => place.capacity.is_some_and(|most| word.first.len() >= most as usize),
        }
    }
}

impl Word {
    fn push(&mut self, message: u32) {
        if self.pumped.is_none() {
            return self.first.push(message);
        }
        self.missing -= 1;
        if !self.last.is_empty() || self.pumped != Some(message) {
            self.last.push(message);
        }
    }

    fn pop(&mut self) {
        self.missing += usize::from(self.pumped.is_some());
        // Otherwise a pumped message is taken.
        if !self.first.is_empty() {
            self.first.remove(0);
        }
    }
}

/// A part of a run: events, once or until a queue is full.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    pub(super) events: Vec<Event>,
    /// The queue that the events fill.
    pub(super) fills: Option<usize>,
}

/// A run that is possible at each capacity from `from` on.
#[derive(Clone, Debug)]
pub(super) struct Pump {
    pub(super) from: usize,
    pub(super) parts: Vec<Part>,
}

/// A symbolic configuration, and how the search met it.
struct Node {
    at: Symbolic,
    least: usize,
    parent: usize,
    part: Part,
}

impl Pump {
    /// Searches for a run that blocks roles. Queues with the capacity of all queues need a large
    /// one here. `None` if none is found.
    pub(super) fn blocking(network: &Network<'_>) -> Option<Self> {
        let mut stuck = vec![];
        Self::find(network, |node| network.stuck(&At(network, &node.at), &mut stuck))
    }

    /// Searches for a run whose last part fills a queue.
    pub(super) fn growing(network: &Network<'_>) -> Option<Self> {
        Self::find(network, |node| node.part.fills.is_some())
    }

    fn find(network: &Network<'_>, mut is_wanted: impl FnMut(&Node) -> bool) -> Option<Self> {
        let queues = &network.queues;
        if !queues.iter().any(|place| place.is_scaled) || queues.iter().any(|place| place.drops) {
            return None;
        }
        let (mut met, mut next) = (HashSet::new(), 0);
        let mut nodes: Vec<Node> = vec![];
        let words = vec![Word::default(); queues.len()];
        let at = Symbolic { states: network.machines.initial.clone(), queues: words };
        let mut found = vec![Node { at, least: 1, parent: 0, part: Part::default() }];
        loop {
            for node in found.drain(..) {
                if met.insert(node.at.clone()) {
                    let is_found = is_wanted(&node);
                    nodes.push(node);
                    if is_found {
                        return Some(Self::to(&nodes));
                    }
                }
            }
            if next == nodes.len() || nodes.len() >= MOST_CONFIGURATIONS {
                return None;
            }
            network.events(&At(network, &nodes[next].at), |event| {
                found.extend(after(network, &nodes, next, event));
            });
            next += 1;
        }
    }

    /// The run to the last node.
    fn to(nodes: &[Node]) -> Self {
        let last = nodes.len() - 1;
        let way = iter::successors(Some(last), |&at| Some(nodes[at].parent));
        let way = way.take_while(|&at| at > 0);
        let mut parts: Vec<Part> = way.map(|at| nodes[at].part.clone()).collect();
        parts.reverse();
        Self { from: nodes[last].least, parts }
    }
}

impl Symbolic {
    fn take(&mut self, network: &Network<'_>, event: Event) {
        let is_met = matches!(event, Event::Rendezvous(..));
        for by in network.moves_in(event) {
            self.states[by.machine as usize] = by.target;
            let word = &mut self.queues[by.channel as usize];
            match by.is_send {
                _ if is_met => {}
                true => word.push(by.message),
                false => word.pop(),
            }
        }
    }

    /// The only queue that is longer in `next`, by one message, if all else is the same.
    fn grown(&self, next: &Self) -> Option<usize> {
        let mut differ = (0..self.queues.len()).filter(|&at| self.queues[at] != next.queues[at]);
        let queue = (self.states == next.states).then(|| differ.next()).flatten()?;
        let (old, new) = (&self.queues[queue], &next.queues[queue]);
        let is_longer = old.pumped.is_none()
            && new.pumped.is_none()
            && new.first.len() == old.first.len() + 1
            && new.first.starts_with(&old.first);
        (is_longer && differ.next().is_none()).then_some(queue)
    }
}

/// The configurations after an event: taken once, or repeated together with the events before it
/// until a queue is full.
fn after(network: &Network<'_>, nodes: &[Node], last: usize, event: Event) -> Vec<Node> {
    let mut next = nodes[last].at.clone();
    next.take(network, event);
    let is_long = |of: &Word| of.first.len().max(of.missing).max(of.last.len()) > LONGEST;
    // A send that waits changes nothing.
    if matches!(event, Event::Wait(_)) || next.queues.iter().any(is_long) {
        return vec![];
    }
    let node = |parent, part, at: Symbolic| {
        // The capacity from which on each queue has room, and a pumped message.
        let sizes = at.queues.iter().map(|of| 1 + of.first.len() + of.missing + of.last.len());
        // The events of a part are possible in this configuration's least size, too.
        let least = sizes.max().unwrap_or(1).max(nodes[last].least);
        Node { at, least, parent, part }
    };
    let (mut found, mut events, mut start) = (vec![], vec![event], last);
    loop {
        let moves = || events.iter().flat_map(|&event| network.moves_in(event));
        if let Some(queue) = nodes[start].at.grown(&next)
            && network.queues[queue].is_scaled
            && let Some(&message) = next.queues[queue].first.last()
            && !moves().any(|by| by.received() == Some(queue))
        {
            let mut full = nodes[start].at.clone();
            full.queues[queue].pumped = Some(message);
            let events = events.iter().rev().copied().collect();
            found.push(node(start, Part { events, fills: Some(queue) }, full));
        }
        // A repetition inside a repetition is not proven.
        if start == 0 || nodes[start].part.fills.is_some() {
            break;
        }
        events.extend(&nodes[start].part.events);
        start = nodes[start].parent;
    }
    found.push(node(last, Part { events: vec![event], fills: None }, next));
    found
}
