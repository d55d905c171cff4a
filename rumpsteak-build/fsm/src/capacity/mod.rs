//! How long queues get, and how short they may be made.
//!
//! # The judgement
//!
//! Give each channel a capacity and let a send block while its channel is full: a role that has chosen what to send
//! waits until there is room. A channel's capacities are *enough* if this brings nothing that unbounded queues do
//! not: every role that waits or is blocked goes on sooner or later, every message is received sooner or later. The
//! *occupancy* of a channel is the most messages that it ever holds if nothing blocks.
//!
//! ```text
//!   s: rec X . k?ready; k!value; X             s▶k   occupancy 2   capacity 1
//!   k: s!ready; rec X . s!ready; s?value;      k▶s   occupancy 2   capacity 1
//!                       t?ready; t!value; X    k▶t   occupancy 1   capacity 1
//!   t: rec X . k!ready; k?value; X             t▶k   occupancy 1   capacity 1
//! ```
//!
//! Roles are used for session after session, and one may start the next while its peers still finish the last. For
//! that, ask about the [`repeated`] protocol: its terminal states are its initial ones, so that roles run ahead as
//! far as the protocol lets them. A role that only sends then has no finite occupancy; capacities are finite all
//! the same.
//!
//! # Why the capacities are enough
//!
//! Runs with capacities are the runs of [k-MC](crate::kmc) with a bound for each channel. A system at its least
//! bound k is exhaustive, safe, and all sends of a role are blocked together (k-OBI), so that it does not matter
//! that a blocked role has chosen already. So k places for each channel are enough. Then one channel after the
//! other is made as short as it can be, and each step is judged by the same properties.
//!
//! In a directed system what is enough stays enough when channels get longer (each run with longer channels is, by
//! the claim of the [`kmc`] module, part of a reordered run with the shorter ones). So where no channel can be
//! shortened alone, no shorter capacities are enough: they are minimal. Others may be minimal too, shorter here and
//! longer there. If a role chooses between peers, or the budget ends, the capacities are enough, and nothing is
//! said about shorter ones.
//!
//! # Why the occupancy is right
//!
//! By the same claim, for each run φ with unbounded queues there is a run within the bounds that, reordered, begins
//! with φ. Let φ be a run in which the channel from p to q is as full as it gets. What q receives after its last
//! reception in φ does not help p to send: leave that out, and all that depends on it. So the occupancy is what the
//! channel holds when q stops, in some configuration within the bounds, and what p sends from there on before it
//! depends on something that q does later. Finding that is a longest path, over configurations together with who
//! depends on q; if p can send on a cycle there, the channel has no finite occupancy.
//!
//! # Cost
//!
//! For capacities O(channels · log k) explorations, reduced where the system is directed. For occupancies one
//! search for each channel, of up to the square of the reduced configurations, rarely more than a few times their
//! number. All within [`Limits::configurations`] once more.

use std::{error::Error, fmt};

use crate::{
    kmc::{
        self, Verdict,
        full::{self, Full},
        graph::{Graph, Node},
        net::{Channel, Net},
        reduced,
        space::Space,
        taint::Taint,
    },
    machine::{Fsm, Role},
    sorted::{self, SortedMap},
    system::System,
    verdict::{Limit, Limits},
};

/// The channels of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacities {
    /// Every ordered pair of roles between which messages may go, in the order of the system's roles.
    pub channels: Vec<ChannelCapacity>,
    /// Whether no capacity can be smaller without another one being larger.
    pub is_minimal: bool,
}

/// How long a channel gets, and how short it may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelCapacity {
    /// Who sends.
    pub from: Role,
    /// Who receives.
    pub to: Role,
    /// How many messages the channel holds at most, if no send ever blocks.
    pub occupancy: Occupancy,
    /// How many messages it must have room for. Zero if none is ever sent.
    pub capacity: usize,
}

/// The most messages that a channel ever holds, if no send ever blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Occupancy {
    /// So many, in some run.
    AtMost(usize),
    /// More than any number.
    Unbounded,
    /// A limit ended the search.
    Unknown(Limit),
}

/// A system whose capacities are not known because it is not known to be safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSafe(
    /// What is known: it is unsafe, or undecided.
    pub Verdict,
);

impl fmt::Display for NotSafe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Verdict::Unsafe(run) => write!(
                f,
                "no capacities make an unsafe system safe: {}; mend it first",
                run.failure
            ),
            Verdict::Undecided { limit, .. } => write!(
                f,
                "the system is not known to be safe, because {limit}; raise the limit"
            ),
            // Never refused for this.
            Verdict::Safe { .. } => write!(f, "the system is safe"),
        }
    }
}

impl Error for NotSafe {}

/// Finds capacities that are enough for a safe system, and how long its channels get.
///
/// ```
/// use rumpsteak_fsm::{Limits, System, capacity::{self, Occupancy}, text};
///
/// let machines = text::parse("a: b!x; b!y; end  b: a?x; a?y; end")?;
/// let system = System::new(machines)?;
/// let once = capacity::find(&system, &Limits::default())?;
/// assert_eq!(once.channels[0].occupancy, Occupancy::AtMost(2));
/// assert_eq!(once.channels[0].capacity, 1);
///
/// // Again and again, a may be any number of sessions ahead; one place is still enough.
/// let repeated = capacity::find(&capacity::repeated(&system), &Limits::default())?;
/// assert_eq!(repeated.channels[0].occupancy, Occupancy::Unbounded);
/// assert_eq!(repeated.channels[0].capacity, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`NotSafe`], if [`kmc::check`] does not say that the system is safe.
///
/// Cost: see the [module](self).
pub fn find(system: &System, limits: &Limits) -> Result<Capacities, NotSafe> {
    let parts = Net::parts(system);
    let judged = kmc::judge(&parts, &mut limits.configurations.clone(), limits);
    match kmc::conclude(system, &parts, &judged, limits) {
        Verdict::Safe { .. } => {}
        verdict => return Err(NotSafe(verdict)),
    }

    let mut budget = limits.configurations;
    let mut is_minimal = true;
    let mut channels = SortedMap::new();
    for (net, part) in parts.iter().zip(&judged) {
        let bounds = kmc::uniform(net, part.bound);
        let (capacities, is_least) = shorten(net, bounds.clone(), &mut budget);
        let occupancies = occupancies(
            net,
            &bounds,
            part.evaluated.hits_bounds,
            &mut budget,
            limits,
        );
        is_minimal &= is_least;
        for (channel, (capacity, occupancy)) in capacities.into_iter().zip(occupancies).enumerate()
        {
            let (from, to) = net.ends[channel];
            // Room for more than there ever is serves nothing; room for none only where nothing is sent.
            let capacity = match occupancy {
                Occupancy::AtMost(most) => most.min(capacity as usize),
                Occupancy::Unbounded | Occupancy::Unknown(_) => capacity as usize,
            };
            let entry = ChannelCapacity {
                from: net.role(system, from),
                to: net.role(system, to),
                occupancy,
                capacity,
            };
            channels.insert((net.roles()[from], net.roles()[to]), entry);
        }
    }
    Ok(Capacities {
        channels: channels.into_values().collect(),
        is_minimal,
    })
}

/// The system whose machines start again when they are finished.
///
/// Whatever leads to a terminal state leads to the initial one instead. States and transitions keep their ids. A
/// machine that has nothing to do stays so.
pub fn repeated(system: &System) -> System {
    let machines = system.machines().iter().map(repeat).collect();
    match System::new(machines) {
        Ok(repeated) => repeated,
        // Roles and peers are those of a system.
        Err(_) => system.clone(),
    }
}

fn repeat(machine: &Fsm) -> Fsm {
    let mut builder = Fsm::builder(machine.role());
    let states: Vec<_> = machine.states().map(|_| builder.add_state()).collect();
    let initial = states[machine.initial().index()];
    for transition in machine.transitions() {
        let target = match machine.is_terminal(transition.target) {
            true => initial,
            false => states[transition.target.index()],
        };
        let source = states[transition.source.index()];
        builder.add_transition(source, transition.action.clone(), target);
    }
    builder.build(initial)
}

/// Makes channels shorter, one after the other, and says whether the result is minimal.
fn shorten(net: &Net, mut bounds: Vec<u32>, budget: &mut usize) -> (Vec<u32>, bool) {
    // Where a machine may both send and receive, what a blocked send means is for the implementation to say.
    if net.is_mixed || !net.is_deterministic {
        return (bounds, false);
    }
    let mut is_minimal = kmc::reduces(net);
    for channel in 0..net.channels() {
        let mut enough = bounds[channel];
        let mut too_short = 0;
        while enough > too_short + 1 {
            // What is enough stays so for longer channels only where the net is directed; elsewhere each length is
            // tried.
            let tried = match kmc::reduces(net) {
                true => too_short + (enough - too_short) / 2,
                false => enough - 1,
            };
            bounds[channel] = tried;
            match is_enough(net, &bounds, budget) {
                Some(true) => enough = tried,
                Some(false) => too_short = tried,
                None => {
                    is_minimal = false;
                    break;
                }
            }
        }
        bounds[channel] = enough;
    }
    (bounds, is_minimal)
}

/// Whether blocking sends do no harm under these capacities; `None` if the budget does not suffice.
fn is_enough(net: &Net, bounds: &[u32], budget: &mut usize) -> Option<bool> {
    let (space_len, is_truncated, is_enough) = match kmc::reduces(net) {
        true => {
            let at = reduced::explore(net, bounds, *budget);
            let is_enough = at.blocked.is_none() && at.waits.is_none() && at.lost.is_none();
            (at.space.len(), at.space.is_truncated, is_enough)
        }
        false => {
            let at = full::explore(net, bounds, *budget);
            let found = [at.exhaustive, at.progress, at.reception, at.obi];
            let is_enough = found.iter().all(Option::is_none);
            (at.space.len(), at.space.is_truncated, is_enough)
        }
    };
    *budget = budget.saturating_sub(space_len);
    (!is_truncated).then_some(is_enough)
}

/// The occupancy of each channel of a net that is safe, judged at these bounds.
fn occupancies(
    net: &Net,
    bounds: &[u32],
    hits_bounds: bool,
    budget: &mut usize,
    limits: &Limits,
) -> Vec<Occupancy> {
    let unknown = Occupancy::Unknown(Limit::Configurations(limits.configurations));
    let full: Full<'_>;
    let reduced;
    let space = match kmc::reduces(net) {
        true => {
            reduced = reduced::explore(net, bounds, *budget);
            &reduced.space
        }
        false => {
            full = full::explore(net, bounds, *budget);
            &full.space
        }
    };
    *budget = budget.saturating_sub(space.len());
    if space.is_truncated {
        return vec![unknown; net.channels()];
    }
    (0..net.channels())
        .map(|channel| match hits_bounds {
            // All that ever happens was seen.
            false => {
                let held = (0..space.len() as Node).map(|node| space.held(node, channel));
                Occupancy::AtMost(held.max().unwrap_or(0) as usize)
            }
            true => occupancy(space, channel, budget).unwrap_or(unknown),
        })
        .collect()
}

/// The longest path of what the sender can do without what the receiver does; `None` if the budget does not suffice.
fn occupancy(space: &Space<'_>, channel: Channel, budget: &mut usize) -> Option<Occupancy> {
    let (sender, receiver) = space.net.ends[channel];
    let mut taint = Taint::new(space, *budget);
    let mut graph = Graph::default();
    // By start: what the channel holds there.
    let mut held = vec![];
    for node in 0..space.len() as Node {
        if let Some((_, true)) = taint.start(node, receiver) {
            graph.add_node();
            held.push(space.held(node, channel));
        }
    }
    let mut at: Node = 0;
    while let Some(node) = taint.node(at)
        && !taint.is_truncated
    {
        // A sender that depends on the receiver adds nothing.
        if !taint.depends(at, sender) {
            for edge in space.edges_from(node) {
                let by = space.net.get(edge.by as usize);
                let adds = by.is_send && by.channel as Channel == channel;
                if let Some((to, is_new)) = taint.step(at, edge) {
                    if is_new {
                        graph.add_node();
                    }
                    graph.add_edge(at, to, u32::from(adds));
                }
            }
        }
        at += 1;
    }
    *budget = budget.saturating_sub(taint.len());
    if taint.is_truncated {
        return None;
    }

    let components = graph.components();
    let (_, nodes) = sorted::grouped(&components, graph.len());
    // By component: how much can be added from there on.
    let mut added = vec![0_usize; graph.len()];
    for &node in &nodes {
        let own = components[node as usize] as usize;
        for edge in graph.edges_from(node) {
            let to = components[edge.to as usize] as usize;
            if to != own {
                added[own] = added[own].max(added[to] + edge.by as usize);
            } else if edge.by > 0 {
                return Some(Occupancy::Unbounded);
            }
        }
    }
    let most = held
        .iter()
        .zip(&components)
        .map(|(&held, &component)| held as usize + added[component as usize])
        .max();
    Some(Occupancy::AtMost(most.unwrap_or(0)))
}
