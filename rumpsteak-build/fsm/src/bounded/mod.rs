//! Can a system hang if its queues have these capacities?
//!
//! # The judgement
//!
//! A [`Topology`] says which messages share a queue, and how many messages each queue holds. A send
//! waits while its queue is full. With capacity 0 it waits until its receiver takes the message (a
//! *rendezvous*). In a state with several moves, a role may *commit* to a send before there is
//! room, as a program does that calls `send` and awaits it; then it can do nothing else. A role
//! that [races](Topology::race) takes whichever is possible instead, in states that both send and
//! receive.
//!
//! A set of roles is *stuck* in a configuration if each of them is finished or can move only after
//! another role of the set has moved: its queue is full and the receiver is stuck; or the queue
//! that it waits at is empty and the sender is stuck; or a message that it cannot take is at the
//! head. The system *hangs* if it reaches a configuration where a role is stuck and not finished,
//! or where a role never moves again in any run, or a message is never received in any run.
//!
//! ```text
//!   D: rec X . {C?task; W!job; X, W?request; X}    With n places, W does n + 1 jobs and makes n requests, and
//!   W: rec X . D?job; D!request; X                 D sends n jobs more. Now W waits for room for a request,
//!   C: rec X . D!task; X                           which only D can make, and D has chosen to send a job.
//! ```
//!
//! # Why it is sound
//!
//! *Hangs.* All configurations are explored breadth first, so the first run is a shortest one. It
//! may leave commitments to its end: only the role itself sees one, so a role that is blocked in
//! the end may as well have committed then. A stuck set stays stuck, because nothing that the
//! other roles do makes one of its moves possible. So it does not matter what they do. Stuck sets
//! are closed under union, so there is a largest one.
//!
//! *Safe.* The explored configurations, with commitments as states of their own, are all there are.
//! If an unbounded queue grows beyond [`Limits::queue`], this is not so, and the answer is
//! undecided. There is a *cut-off* for a system with one queue for each pair of roles: it is safe
//! at each capacity from n on if [`capacity::find`] proves it. Either no queue ever holds more than
//! n messages, so no send ever waits. Or the system is directed, and n is enough by k-MC; then more
//! is enough, too.
//!
//! *Hangs with every capacity.* See `pump.rs`: a run in which queues are filled by a repetition.
//! What is not proven there or by a cut-off is said about the given capacities only. At large
//! capacities, such a run is the answer, and need not be a shortest one.
//!
//! # Cost
//!
//! O(configurations · (moves + machines²)) time, and up to (states · messagesⁿ)^machines
//! configurations, within [`Limits::configurations`].

use std::sync::Arc;

mod hang;
mod network;
mod pump;
mod search;
mod topology;

pub use self::hang::{Hang, Wait};
use self::network::Network;
use self::pump::Pump;
use self::search::{Found, Search};
pub use self::topology::{Queue, Topology, TopologyError};
use crate::capacity::{self, Occupancy};
use crate::kmc::check::reduces;
use crate::machine::Fsm;
use crate::system::System;
use crate::system::interned::InternedSystem;
use crate::system::run::{Failure, Step};
use crate::verdict::{Limit, Limits, Verdict};

/// Machines over the queues of a [`Topology`].
///
/// ```
/// use rumpsteak_fsm::{Limits, bounded::{Bounded, Topology}, text};
///
/// let machines = text::parse("A: B!x; B!x; B?y; end  B: A!y; A!y; A?x; A?x; end")?;
/// let bounded = |capacity| Bounded::new(machines.clone(), &Topology::default().capacity(capacity));
/// let hang = bounded(1)?.check(&Limits::default());
/// let hang = hang.refusal().ok_or("each waits for room for its second message")?;
/// assert_eq!(hang.to_string(), "A and B wait for each other");
/// assert_eq!(hang.steps.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bounded {
    network: Network,
}

/// A longer run that is known is not made shorter.
const LONG: usize = 1_000;

/// Why a system is safe at its capacities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safe {
    /// All configurations were explored: this many. It says nothing about other capacities.
    Explored(usize),
    /// It is safe at every larger capacity of each queue as well.
    AndLarger,
}

impl Bounded {
    /// Puts machines and queues together. Machines may send messages to themselves.
    ///
    /// # Errors
    /// The machines are not a system, or the topology names a role or a queue that is not there.
    pub fn new(machines: Vec<Fsm>, topology: &Topology) -> Result<Self, TopologyError> {
        let system = System::with_self_messages(machines).map_err(TopologyError::System)?;
        Ok(Self { network: Network::new(Arc::new(system), topology)? })
    }

    /// The roles that may commit to a send in a state that also receives. Whether they
    /// [race](Topology::race) there instead may decide the answer.
    pub fn committing(&self) -> impl Iterator<Item = &crate::Role> {
        self.network.committing.ones().map(|machine| self.network.role(machine))
    }

    /// Tells whether the system can hang.
    pub fn check(&self, limits: &Limits) -> Verdict<Safe, Box<Hang>> {
        // A small search and the proofs about all capacities are cheap.
        let few = few(limits);
        let verdict = match self.search(&few) {
            Verdict::Unsafe(hang) => Verdict::Unsafe(hang),
            _ if self.is_safe_from_here_on(&few) => return Verdict::Safe(Safe::AndLarger),
            Verdict::Undecided(_) if few != *limits => {
                let pumped = self.pumped(limits);
                match pumped {
                    Some(hang) if hang.steps.len() > LONG => Verdict::Unsafe(hang),
                    pumped => match (self.search(limits), pumped) {
                        (Verdict::Undecided(_), Some(hang)) => Verdict::Unsafe(hang),
                        (verdict, _) => verdict,
                    },
                }
            }
            verdict => verdict,
        };
        match verdict {
            Verdict::Unsafe(hang) => Verdict::Unsafe(self.with_capacities(hang, &few)),
            verdict => verdict,
        }
    }

    /// Explores these capacities only.
    fn search(&self, limits: &Limits) -> Verdict<Safe, Box<Hang>> {
        let network = &self.network;
        let mut search = Search::new(network, limits);
        let (node, failure) = match search.run(limits) {
            Found::Stuck(node) => (node, Failure::Deadlock),
            Found::Limit(limit) => return Verdict::Undecided(limit),
            Found::None => match search.lost() {
                None => return Verdict::Safe(Safe::Explored(search.len())),
                Some(lost) => lost,
            },
        };
        Verdict::Unsafe(Box::new(Hang::at(network, &search, node, failure)))
    }

    /// Searches for the least capacity of the queues that have none of their own, up to
    /// [`Limits::queue`]. Each smaller one hangs. Larger ones may hang, too, unless the answer for
    /// this one is [`Safe::AndLarger`].
    ///
    /// Unsafe if it is proven that no capacity is enough, with the run for the last one tried.
    pub fn least(&self, limits: &Limits) -> Verdict<(usize, Safe), Box<Hang>> {
        for capacity in 0..=limits.queue {
            match self.scaled(capacity).check(limits) {
                Verdict::Safe(safe) => return Verdict::Safe((capacity, safe)),
                Verdict::Undecided(limit) => return Verdict::Undecided(limit),
                Verdict::Unsafe(hang) => {
                    // Without such a queue, the capacity makes no difference.
                    let scales = self.network.queues.iter().any(|place| place.is_scaled);
                    if !scales || hang.every_capacity_from.is_some_and(|from| from <= capacity) {
                        return Verdict::Unsafe(hang);
                    }
                }
            }
        }
        Verdict::Undecided(Limit::Queue(limits.queue))
    }

    fn scaled(&self, capacity: usize) -> Self {
        Self { network: self.network.scaled(capacity) }
    }

    /// True if a cut-off proves the system safe at these capacities and all larger ones.
    fn is_safe_from_here_on(&self, limits: &Limits) -> bool {
        let Network { system, queues, .. } = &self.network;
        let is_pair = |queue: &Queue| matches!(queue, Queue::Pair { .. });
        let is_plain = queues.iter().all(|place| is_pair(&place.queue) && !place.drops);
        let Ok(system) = System::new(system.machines().to_vec()) else { return false };
        if !is_plain || queues.iter().any(|place| place.capacity == Some(0)) {
            return false;
        }
        let Ok(found) = capacity::find(&system, limits) else { return false };
        let is_monotone = InternedSystem::parts(&system).iter().all(reduces);
        queues.iter().all(|place| {
            let Some(most) = place.capacity else { return true };
            let Queue::Pair { from, to } = &place.queue else { return false };
            let mut channels = found.channels.iter();
            channels.find(|channel| channel.from == *from && channel.to == *to).is_none_or(
                |channel| {
                    let never_full = match channel.occupancy {
                        Occupancy::AtMost(held) => held <= most as usize,
                        Occupancy::Unbounded | Occupancy::Unknown(_) => false,
                    };
                    never_full || (is_monotone && channel.capacity <= most as usize)
                },
            )
        })
    }

    /// A hang at these capacities by a run that exists at all large ones.
    fn pumped(&self, limits: &Limits) -> Option<Box<Hang>> {
        let network = &self.network;
        let events = Pump::find(network)?.events(network, limits.configurations)?;
        // The run is taken step by step, and judged at its end.
        let mut search = Search::new(network, limits);
        let node = search.walk(&events)?;
        let hang = Hang::at(network, &search, node, Failure::Deadlock);
        (!hang.waits.is_empty()).then(|| Box::new(Hang { is_shortest: false, ..hang }))
    }

    /// Adds the least capacity from which on it is proven that each one hangs.
    fn with_capacities(&self, hang: Box<Hang>, few: &Limits) -> Box<Hang> {
        let hangs = |capacity: &usize| self.scaled(*capacity).search(few).refusal().is_some();
        let pump = Pump::find(&self.network);
        let from = pump.map(|Pump { from, .. }| {
            let smaller = (0..from).rev().take_while(hangs);
            smaller.last().unwrap_or(from)
        });
        Box::new(Hang { every_capacity_from: from, ..*hang })
    }
}

/// A queue that grows without bound if nothing limits it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The queue.
    pub queue: Queue,
    /// A run to where it begins to grow.
    pub before: Vec<Step>,
    /// The steps that add one message to it, and can be repeated for ever.
    pub again: Vec<Step>,
}

/// Searches for a queue of a system that grows without bound. `None` if none is found.
pub fn growth(system: &System) -> Option<Growth> {
    let bounded =
        Bounded::new(system.machines().to_vec(), &Topology::default().capacity(1)).ok()?;
    let network = &bounded.network;
    let (before, again, queue) = Pump::growing(network)?;
    let [before, again] = [before, again].map(|events| network.steps(&events));
    Some(Growth { queue: network.queues[queue].queue.clone(), before, again })
}

/// The limits of what is tried before the whole search.
fn few(limits: &Limits) -> Limits {
    limits.configurations(limits.configurations.min(20_000))
}
