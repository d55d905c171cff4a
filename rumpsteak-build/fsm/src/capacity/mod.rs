//! The lengths of queues: how long they get, and how short they may be made.
//!
//! # The judgement
//!
//! Give each channel a capacity and let a send block while its channel is full: a role that has
//! chosen its message waits until there is room. Capacities are *enough* if this changes nothing:
//! every role that waits or is blocked goes on eventually, and every message is received
//! eventually. The *occupancy* of a channel is the most messages that it ever holds if nothing
//! blocks.
//!
//! ```text
//!   s: rec X . k?ready; k!value; X             s▶k   occupancy 2   capacity 1
//!   k: s!ready; rec X . s!ready; s?value;      k▶s   occupancy 2   capacity 1
//!                       t?ready; t!value; X    k▶t   occupancy 1   capacity 1
//!   t: rec X . k!ready; k?value; X             t▶k   occupancy 1   capacity 1
//! ```
//!
//! This is about one session. If nothing keeps the sessions of a role apart, as in the queues of a
//! role on demand, ask about the [`repeated`] protocol: there, roles run ahead into the next
//! session. A role that only sends has no finite occupancy then, but its capacity is finite.
//!
//! # Why the capacities are enough
//!
//! Runs with capacities are the runs of [k-MC](crate::kmc) with a bound for each channel. A system
//! at its least bound k is exhaustive, safe, and all sends of a role are blocked together (k-OBI),
//! so it does not matter that a blocked role has chosen already. So k places for each channel are
//! enough. Then one channel after the other is made as short as possible, judged by the same
//! properties.
//!
//! In a directed system what is enough stays enough for longer channels, by the claim of the
//! [`kmc`](crate::kmc) module. So if no channel can be shortened alone, the capacities are minimal.
//! If a role chooses between peers, or the budget ends, nothing is said about shorter ones.
//!
//! # Why the occupancy is right
//!
//! By the same claim, for each run φ with unbounded queues there is a run within the bounds that,
//! reordered, begins with φ. Let φ be a run in which the channel from p to q is as full as it gets.
//! Everything that q receives after its last reception in φ does not help p to send: leave that
//! out, and all that depends on it. So the occupancy is what the channel holds when q stops, in
//! some configuration within the bounds, plus what p sends from there on before it depends on a
//! later action of q: a longest path, over configurations together with the roles that depend on q.
//! It begins in the initial configuration or where q has just moved: from there, the others reach
//! each configuration in which q may have stopped. If p can send on a cycle, the occupancy is
//! unbounded.
//!
//! # Cost
//!
//! For capacities O(channels · log k) explorations. For occupancies one exploration of a small part
//! whose queues the bounds never fill, or else one search for each channel, of up to the square of
//! the reduced configurations. All within the [budget](crate::Limits::configurations) once more.

use litemap::LiteMap;
use std::iter;

use petgraph::graph::{DiGraph, Edge};
use petgraph::visit::EdgeRef;

use crate::kmc::causality::Causality;
use crate::kmc::check::{conclude, explore, judge, reduces};
use crate::kmc::violation::Violations;
use crate::kmc::{Reduction, Verdict};
use crate::machine::{Fsm, Role};
use crate::system::{
    ChannelIndex, Explorer, InternedSystem, MachineIndex, Node, System, components, index,
};
use crate::verdict::{Limit, Limits};

/// The channels of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacities {
    /// Every ordered pair of roles that exchange messages, in the order of the system's roles.
    pub channels: Vec<ChannelCapacity>,
    /// True if no capacity can be smaller without another being larger.
    pub is_minimal: bool,
}

/// The occupancy and the capacity of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelCapacity {
    /// The sender.
    pub from: Role,
    /// The receiver.
    pub to: Role,
    /// The most messages that the channel holds, if no send blocks.
    pub occupancy: Occupancy,
    /// The number of messages that it must have room for. Zero if none is ever sent.
    pub capacity: usize,
}

/// The most messages that a channel holds, if no send blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Occupancy {
    /// This number, in some run.
    AtMost(usize),
    /// Any number.
    Unbounded,
    /// A limit ended the search.
    Unknown(Limit),
}

/// Finds capacities that are enough for a safe system, and how long its channels get.
///
/// ```
/// use rumpsteak_fsm::{Limits, System, capacity::{self, Occupancy}, text};
///
/// let machines = text::parse("a: b!x; b!y; end  b: a?x; a?y; end")?;
/// let system = System::new(machines)?;
/// let once = capacity::find(&system, &Limits::default()).map_err(|_| "it is safe")?;
/// assert_eq!(once.channels[0].occupancy, Occupancy::AtMost(2));
/// assert_eq!(once.channels[0].capacity, 1);
///
/// // Again and again, a may be any number of sessions ahead; one place is still enough.
/// let repeated = capacity::find(&capacity::repeated(&system), &Limits::default());
/// let repeated = repeated.map_err(|_| "it is safe")?;
/// assert_eq!(repeated.channels[0].occupancy, Occupancy::Unbounded);
/// assert_eq!(repeated.channels[0].capacity, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The verdict of [`kmc::check`](crate::kmc::check()), if it is not that the system is safe.
///
/// Cost: see the [module](self).
pub fn find(system: &System, limits: &Limits) -> Result<Capacities, Verdict> {
    let parts = InternedSystem::parts(system);
    let judged = judge(&parts, limits);
    let verdict = conclude(&parts, &judged, limits);
    if !verdict.is_safe() {
        return Err(verdict);
    }

    let mut budget = limits.configurations;
    let mut is_minimal = true;
    let mut channels = LiteMap::new_vec();
    for (part, judged) in parts.iter().zip(&judged) {
        let bounds = part.uniform(judged.bound);
        let (capacities, is_least) = shorten(part, bounds.clone(), &mut budget);
        let occupancies = occupancies(part, &bounds, &mut budget, limits);
        is_minimal &= is_least;
        for (at, (capacity, occupancy)) in capacities.into_iter().zip(occupancies).enumerate() {
            let (from, to) = part.ends[at];
            // A capacity above the maximum is never used. Zero is only right if nothing is ever
            // sent.
            let capacity = match occupancy {
                Occupancy::AtMost(most) => most.min(capacity as usize),
                Occupancy::Unbounded | Occupancy::Unknown(_) => capacity as usize,
            };
            let entry =
                ChannelCapacity { from: part.role(from), to: part.role(to), occupancy, capacity };
            channels.insert((part.roles[from], part.roles[to]), entry);
        }
    }
    Ok(Capacities { channels: channels.values().cloned().collect(), is_minimal })
}

/// The system whose machines start again when they are finished. States and transitions keep their
/// ids.
pub fn repeated(system: &System) -> System {
    let machines = system.machines().iter().map(Fsm::repeated).collect();
    // The roles and peers form a system already.
    System::new(machines).unwrap_or_else(|_| system.clone())
}

/// Makes channels shorter, one after the other, and says whether the result is minimal.
fn shorten(
    part: &InternedSystem<'_>,
    mut bounds: Vec<u32>,
    budget: &mut usize,
) -> (Vec<u32>, bool) {
    // The meaning of a blocked send in a mixed state is left to the implementation.
    if part.is_mixed || !part.is_deterministic {
        return (bounds, false);
    }
    let mut is_minimal = reduces(part);
    for channel in 0..part.channels() {
        let mut enough = bounds[channel];
        let mut too_short = 0;
        while enough > too_short + 1 {
            // Longer channels stay enough only if the part is directed.
            let tried = match reduces(part) {
                true => too_short + (enough - too_short) / 2,
                false => enough - 1,
            };
            bounds[channel] = tried;
            match is_enough(part, &bounds, budget) {
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

/// True if blocking sends do no harm under these capacities; `None` if the budget does not suffice.
fn is_enough(part: &InternedSystem<'_>, bounds: &[u32], budget: &mut usize) -> Option<bool> {
    let explored = explore(part, bounds, Reduction::PartialOrder, *budget);
    *budget = budget.saturating_sub(explored.explorer.len());
    let Violations { exhaustive, progress, reception, obi, .. } = explored.found;
    let found = [exhaustive, progress, reception, obi];
    (!explored.explorer.is_truncated).then(|| found.iter().all(Option::is_none))
}

/// The occupancy of each channel of a part that is safe, judged at these bounds.
fn occupancies(
    part: &InternedSystem<'_>,
    bounds: &[u32],
    budget: &mut usize,
    limits: &Limits,
) -> Vec<Occupancy> {
    // Beyond a few, a part has many more configurations than its reduction.
    let most = if reduces(part) { 128.min(*budget) } else { *budget };
    let all = Explorer::all(part, bounds, most);
    let is_everything = !all.is_truncated && !all.is_held_back();
    let explore = || explore(part, bounds, Reduction::PartialOrder, *budget).explorer;
    let reduced = (!is_everything && reduces(part)).then(explore);
    let explorer = reduced.as_ref().unwrap_or(&all);
    *budget = budget.saturating_sub(explorer.len());
    let unknown = Occupancy::Unknown(Limit::Configurations(limits.configurations));
    if explorer.is_truncated {
        return vec![unknown; part.channels()];
    }
    let mut known = |at| match is_everything {
        true => all.nodes().map(|node| all.held(node, at) as usize).max().map(Occupancy::AtMost),
        false => occupancy(explorer, at, budget),
    };
    (0..part.channels()).map(|channel| known(channel).unwrap_or(unknown)).collect()
}

/// The occupancy of a channel: the longest path of the sender without the receiver. `None` if the
/// budget does not suffice.
fn occupancy(
    explorer: &Explorer<'_>,
    channel: ChannelIndex,
    budget: &mut usize,
) -> Option<Occupancy> {
    let (sender, receiver) = explorer.system.ends[channel];
    let mut causality = Causality::new(explorer, *budget);
    // The configurations of `causality`; edges are the number of messages that a step adds.
    let mut graph: DiGraph<(), usize> = DiGraph::with_capacity(explorer.len(), explorer.len());
    let by_receiver = |edge: &&Edge<u32>| {
        let by = explorer.system.get(edge.weight as usize);
        by.machine as MachineIndex == receiver
    };
    let moved = explorer.graph.raw_edges().iter().filter(by_receiver);
    // By start, the number of messages in the channel.
    let mut held = vec![];
    for node in iter::once(0).chain(moved.map(|edge| edge.target().index() as Node)) {
        if let Some((_, true)) = causality.start(node, receiver) {
            graph.add_node(());
            held.push(explorer.held(node, channel) as usize);
        }
    }
    let mut at: Node = 0;
    while let Some(node) = causality.node(at)
        && !causality.is_truncated
    {
        // A sender that depends on the receiver adds nothing.
        if !causality.depends(at, sender) {
            for step in explorer.steps_from(node) {
                let by = explorer.system.get(step.by as usize);
                let adds = by.is_send && by.channel as ChannelIndex == channel;
                if let Some((to, is_new)) = causality.step(at, step) {
                    if is_new {
                        graph.add_node(());
                    }
                    graph.add_edge(index(at), index(to), usize::from(adds));
                }
            }
        }
        at += 1;
    }
    *budget = budget.saturating_sub(causality.len());
    if causality.is_truncated {
        return None;
    }

    // By node, the number of messages that can be added from there on.
    let mut added = vec![0; graph.node_count()];
    let (components, component_of) = components(&graph);
    for (own, members) in (0..).zip(components) {
        let mut most = 0;
        for edge in members.iter().flat_map(|&member| graph.edges(member)) {
            let to = edge.target().index();
            if component_of[to] != own {
                most = most.max(added[to] + edge.weight());
            } else if *edge.weight() > 0 {
                return Some(Occupancy::Unbounded);
            }
        }
        members.iter().for_each(|member| added[member.index()] = most);
    }
    let most = held.iter().zip(&added).map(|(held, added)| held + added);
    Some(Occupancy::AtMost(most.max().unwrap_or(0)))
}
