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

use hashbrown::HashSet;

use super::network::{Event, Network, View};
use crate::system::interned::{MachineIndex, Move, StateIndex};

const MOST_CONFIGURATIONS: usize = 4_000;
/// The longest word, and the most free places of a pumped queue.
const LONGEST: usize = 2;

/// A queue of a symbolic configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Word {
    /// The word, or the messages before the pumped ones.
    first: Vec<u32>,
    pumped: Option<Pumped>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pumped {
    message: u32,
    /// How many messages are missing to the capacity.
    missing: usize,
    last: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Symbolic {
    states: Vec<StateIndex>,
    queues: Vec<Word>,
}

/// A configuration of a network with its fixed capacities.
struct At<'a>(&'a Network, &'a Symbolic);

impl View for At<'_> {
    fn state(&self, machine: MachineIndex) -> StateIndex {
        self.1.states[machine]
    }

    fn head(&self, queue: usize) -> Option<u32> {
        let word = &self.1.queues[queue];
        let pumped = word.pumped.as_ref().map(|pumped| pumped.message);
        word.first.first().copied().or(pumped)
    }

    fn is_full(&self, queue: usize) -> bool {
        let (place, word) = (&self.0.queues[queue], &self.1.queues[queue]);
        match &word.pumped {
            Some(pumped) => pumped.missing == 0,
            None if place.is_scaled => false,
            None => place.capacity.is_some_and(|most| word.first.len() >= most as usize),
        }
    }
}

impl Word {
    /// The capacity from which on this is a queue with room, and with a pumped message.
    fn least_size(&self) -> usize {
        let pumped = self.pumped.as_ref();
        1 + self.first.len() + pumped.map_or(0, |pumped| pumped.missing + pumped.last.len())
    }

    fn push(&mut self, message: u32) {
        match &mut self.pumped {
            None => self.first.push(message),
            Some(pumped) => {
                pumped.missing -= 1;
                if !pumped.last.is_empty() || message != pumped.message {
                    pumped.last.push(message);
                }
            }
        }
    }

    fn pop(&mut self) {
        if let Some(pumped) = &mut self.pumped {
            pumped.missing += 1;
        }
        // Otherwise a pumped message is taken.
        if !self.first.is_empty() {
            self.first.remove(0);
        }
    }

    fn is_short(&self) -> bool {
        let pumped = self.pumped.as_ref();
        self.first.len() <= LONGEST
            && pumped.is_none_or(|pumped| pumped.missing.max(pumped.last.len()) <= LONGEST)
    }
}

/// A part of a run.
#[derive(Clone, Debug)]
enum Part {
    Once(Event),
    /// These events, until the queue is full.
    Fill {
        events: Vec<Event>,
        queue: usize,
    },
}

/// A run that blocks roles at each capacity from `from` on.
#[derive(Clone, Debug)]
pub(super) struct Pump {
    pub(super) from: usize,
    parts: Vec<Part>,
}

/// A node of the search: a symbolic configuration, and how it was met.
struct Node {
    least: usize,
    parent: usize,
    part: Option<Part>,
}

impl Pump {
    /// Searches for one. `None` if none is found.
    pub(super) fn find(network: &Network) -> Option<Self> {
        let mut stuck = vec![];
        let large = &network.scaled(usize::MAX);
        let scales = network.queues.iter().any(|place| place.is_scaled);
        if scales && large.stuck(&At(large, &Symbolic::initial(large)), &mut stuck) {
            return Some(Self { from: 1, parts: vec![] });
        }
        Self::search(network, |network, _, at| network.stuck(&At(network, at), &mut stuck))
    }

    /// Searches for a queue that can be filled at every capacity: the events before, the events
    /// that fill it by being repeated, and the queue.
    pub(super) fn growing(network: &Network) -> Option<(Vec<Event>, Vec<Event>, usize)> {
        let is_filled = |_: &Network, part: &Part, _: &Symbolic| matches!(part, Part::Fill { .. });
        let mut before = vec![];
        for part in Self::search(network, is_filled)?.parts {
            match part {
                Part::Once(event) => before.push(event),
                Part::Fill { events, queue } => return Some((before, events, queue)),
            }
        }
        None
    }

    fn search(
        network: &Network,
        mut is_wanted: impl FnMut(&Network, &Part, &Symbolic) -> bool,
    ) -> Option<Self> {
        let is_fit = network.queues.iter().any(|place| place.is_scaled);
        if !is_fit || network.queues.iter().any(|place| place.drops) {
            return None;
        }
        // Sends wait as at a large capacity.
        let network = &network.scaled(usize::MAX);
        let initial = Symbolic::initial(network);
        let mut met = HashSet::new();
        met.insert(initial.clone());
        let mut all = vec![initial];
        let mut nodes = vec![Node { least: 1, parent: 0, part: None }];
        let mut at = 0;
        while at < nodes.len() && nodes.len() < MOST_CONFIGURATIONS {
            let mut events = vec![];
            network.events(&At(network, &all[at]), |event| events.push(event), |_| {});
            for event in events {
                let mut next = all[at].clone();
                next.take(network, event);
                if !next.queues.iter().all(Word::is_short) {
                    continue;
                }
                let filled = filled(network, &nodes, &all, at, event, &next);
                let once = (at, Part::Once(event), next);
                for (parent, part, next) in filled.into_iter().chain([once]) {
                    let sizes = next.queues.iter().map(Word::least_size);
                    // The events of a part are possible in this configuration's least size, too.
                    let least = sizes.max().unwrap_or(1).max(nodes[at].least);
                    if !met.insert(next.clone()) {
                        continue;
                    }
                    let is_found = is_wanted(network, &part, &next);
                    nodes.push(Node { least, parent, part: Some(part) });
                    all.push(next);
                    if is_found {
                        return Some(Self { from: least, parts: parts(&nodes, nodes.len() - 1) });
                    }
                }
            }
            at += 1;
        }
        None
    }

    /// The events at this capacity. `None` if there are more than `most`.
    pub(super) fn events(&self, network: &Network, most: usize) -> Option<Vec<Event>> {
        let mut lengths = vec![0; network.queues.len()];
        let mut all = vec![];
        let mut take = |events: &[Event], lengths: &mut Vec<u32>| {
            for by in events.iter().flat_map(|&event| network.moves_in(event)) {
                let length = &mut lengths[by.channel as usize];
                // A rendezvous adds and takes one.
                *length = if by.is_send { *length + 1 } else { length.checked_sub(1)? };
            }
            all.extend_from_slice(events);
            (all.len() <= most).then_some(())
        };
        for part in &self.parts {
            match part {
                Part::Once(event) => take(&[*event], &mut lengths)?,
                Part::Fill { events, queue } => {
                    while Some(lengths[*queue]) < network.queues[*queue].capacity {
                        take(events, &mut lengths)?;
                    }
                }
            }
        }
        Some(all)
    }
}

impl Symbolic {
    fn initial(network: &Network) -> Self {
        let queues = vec![Word::default(); network.queues.len()];
        Self { states: network.initial.clone(), queues }
    }

    fn take(&mut self, network: &Network, event: Event) {
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

/// The configurations that a repetition of events leads to, up to this event.
fn filled(
    network: &Network,
    nodes: &[Node],
    all: &[Symbolic],
    at: usize,
    last: Event,
    next: &Symbolic,
) -> Vec<(usize, Part, Symbolic)> {
    let mut found = vec![];
    let mut events = vec![last];
    let mut start = at;
    loop {
        if let Some(queue) = all[start].grown(next)
            && network.queues[queue].is_scaled
        {
            let receives = |by: &Move| !by.is_send && by.channel as usize == queue;
            let mut moves = events.iter().flat_map(|&event| network.moves_in(event));
            if !moves.any(receives)
                && let Some(&message) = next.queues[queue].first.last()
            {
                let mut full = all[start].clone();
                full.queues[queue].pumped = Some(Pumped { message, missing: 0, last: vec![] });
                let events = events.iter().rev().copied().collect();
                found.push((start, Part::Fill { events, queue }, full));
            }
        }
        // A repetition inside a repetition is not proven.
        match &nodes[start].part {
            Some(Part::Once(event)) => events.push(*event),
            _ => return found,
        }
        start = nodes[start].parent;
    }
}

fn parts(nodes: &[Node], mut at: usize) -> Vec<Part> {
    let mut parts = vec![];
    while let Some(part) = &nodes[at].part {
        parts.push(part.clone());
        at = nodes[at].parent;
    }
    parts.reverse();
    parts
}
