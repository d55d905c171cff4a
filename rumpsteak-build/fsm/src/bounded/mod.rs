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
//! Without such a run or a cut-off, an answer is about the given capacities only. At large
//! capacities, such a run is the answer, and need not be a shortest one.
//!
//! # Cost
//!
//! O(configurations · (moves + machines²)) time, and up to (states · messagesⁿ)^machines
//! configurations, within [`Limits::configurations`].

mod hang;
mod network;
mod pump;
mod search;
mod topology;

pub use self::hang::{Hang, Wait};
use self::network::{Event, Network, View};
use self::pump::{Part, Pump};
use self::search::{At, Search};
use self::topology::Place;
pub use self::topology::{Queue, Topology, TopologyError};
use crate::capacity::{self, Occupancy};
use crate::kmc::check::reduces;
use crate::machine::{Fsm, Role};
use crate::system::{Failure, InternedSystem, StateKind, Step, System};
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
    system: System,
    topology: Topology,
}

/// A longer run that is known is not made shorter.
const LONG: usize = 1_000;
/// The most configurations of a search for a proof about several capacities.
const FEW: usize = 20_000;

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
        topology.check(&system, &Network::new(&system, topology).queues)?;
        Ok(Self { system, topology: topology.clone() })
    }

    /// The roles that may commit to a send in a state that also receives. Whether they
    /// [race](Topology::race) there instead may decide the answer.
    pub fn committing(&self) -> Vec<Role> {
        let network = self.network();
        let machines = &network.machines;
        let is_one =
            |&state: &u32| network.commits(state) && machines.kind(state) == StateKind::Mixed;
        let role = |state| machines.role(machines.all_from(state)[0].machine as usize);
        let mut roles: Vec<Role> = (0..machines.states()).filter(is_one).map(role).collect();
        roles.dedup();
        roles
    }

    /// Tells whether the system can hang.
    pub fn check(&self, limits: &Limits) -> Verdict<Safe, Box<Hang>> {
        let (network, few) =
            (self.network(), limits.configurations(limits.configurations.min(FEW)));
        let pump = Pump::blocking(&self.scaled(usize::MAX).network());
        let pumped = pump.as_ref().and_then(|pump| pumped(&network, pump, limits));
        let verdict = match pumped {
            Some(hang) if hang.steps.len() > LONG => Verdict::Unsafe(hang),
            None if self.is_safe_from_here_on(&few) => return Verdict::Safe(Safe::AndLarger),
            pumped => match (explored(&network, limits), pumped) {
                (Verdict::Undecided(_), Some(hang)) => Verdict::Unsafe(hang),
                (verdict, _) => verdict,
            },
        };
        let Verdict::Unsafe(mut hang) = verdict else { return verdict };
        hang.every_capacity_from = pump.map(|pump| {
            let hangs =
                |&size: &usize| explored(&self.scaled(size).network(), &few).refusal().is_some();
            (0..pump.from).rev().take_while(hangs).last().unwrap_or(pump.from)
        });
        Verdict::Unsafe(hang)
    }

    /// Searches for the least capacity of the queues that have none of their own, up to
    /// [`Limits::queue`]. Returns the last capacity that it tried, and the answer for it. Each
    /// smaller capacity hangs. Larger ones may hang, too, unless the answer is
    /// [`Safe::AndLarger`].
    ///
    /// Unsafe if it is proven that no capacity is enough.
    pub fn least(&self, limits: &Limits) -> (usize, Verdict<Safe, Box<Hang>>) {
        let queues = self.network().queues;
        // Without such a queue, the capacity makes no difference.
        let is_scaled = queues.iter().any(|place| place.is_scaled);
        let first = usize::from(queues.iter().any(|place| place.is_scaled && place.drops));
        for capacity in first..=limits.queue {
            let verdict = self.scaled(capacity).check(limits);
            match &verdict {
                Verdict::Unsafe(hang)
                    if is_scaled && hang.every_capacity_from.is_none_or(|from| from > capacity) => {
                }
                _ => return (capacity, verdict),
            }
        }
        (limits.queue, Verdict::Undecided(Limit::Queue(limits.queue)))
    }

    fn network(&self) -> Network<'_> {
        Network::new(&self.system, &self.topology)
    }

    /// The system with this capacity of all queues that have none of their own.
    fn scaled(&self, capacity: usize) -> Self {
        let mut scaled = self.clone();
        scaled.topology.capacity = self.topology.capacity.map(|_| capacity);
        scaled
    }

    /// True if a cut-off proves the system safe at these capacities and all larger ones.
    fn is_safe_from_here_on(&self, limits: &Limits) -> bool {
        let queues = self.network().queues;
        let is_plain = |Place { queue, capacity, drops, .. }: &Place| {
            queue.from.is_some() && queue.labels.is_empty() && *capacity != Some(0) && !drops
        };
        let Ok(system) = System::new(self.system.machines().to_vec()) else { return false };
        let Ok(found) = capacity::find(&system, limits) else { return false };
        let is_monotone = InternedSystem::parts(&system).iter().all(reduces);
        let is_enough = |Place { queue, capacity, .. }: &Place| {
            let Some(most) = capacity.map(|most| most as usize) else { return true };
            let mut channels = found.channels.iter();
            let own = channels.find(|channel| {
                Some(&channel.from) == queue.from.as_ref() && channel.to == queue.to
            });
            own.is_none_or(|channel| {
                matches!(channel.occupancy, Occupancy::AtMost(held) if held <= most)
                    || (is_monotone && channel.capacity <= most)
            })
        };
        queues.iter().all(|place| is_plain(place) && is_enough(place))
    }
}

/// Explores these capacities only.
fn explored(network: &Network<'_>, limits: &Limits) -> Verdict<Safe, Box<Hang>> {
    let mut search = Search::new(network, limits);
    let (node, failure) = match search.run() {
        Err(limit) => return Verdict::Undecided(limit),
        Ok(Some(node)) => (node, Failure::Deadlock),
        Ok(None) => match search.lost() {
            None => return Verdict::Safe(Safe::Explored(search.len())),
            Some(lost) => lost,
        },
    };
    Verdict::Unsafe(Box::new(Hang::at(&search, node, failure)))
}

/// A hang at these capacities by a run that exists at all large ones.
fn pumped(network: &Network<'_>, pump: &Pump, limits: &Limits) -> Option<Box<Hang>> {
    // The run is taken step by step, and judged at its end.
    let (mut search, mut node) = (Search::new(network, limits), 0);
    for Part { events, fills } in &pump.parts {
        match *fills {
            None => node = search.walk(node, events)?,
            Some(queue) => {
                while !At(&search, node).is_full(queue) {
                    node = search.walk(node, events)?;
                }
            }
        }
    }
    let hang = Hang::at(&search, node, Failure::Deadlock);
    (!hang.waits.is_empty()).then(|| Box::new(Hang { is_shortest: false, ..hang }))
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
    let network = Network::new(system, &Topology::default().capacity(usize::MAX));
    let mut before = Pump::growing(&network)?.parts;
    let again = before.pop()?;
    let before: Vec<Event> = before.into_iter().flat_map(|part| part.events).collect();
    Some(Growth {
        queue: network.queues[again.fills?].queue.clone(),
        before: network.steps(&before),
        again: network.steps(&again.events),
    })
}
