//! k-multiparty compatibility: whether a whole system is safe, judged at queues of length k.
//!
//! From J. Lange and N. Yoshida, *Verifying asynchronous interactions via communicating session automata*, CAV 2019.
//!
//! # The judgement
//!
//! RS_k are the configurations that a [`System`] reaches by runs in which no queue ever holds more than k messages;
//! →_k is one such step. A system is
//!
//! * *k-exhaustive*: for each configuration of RS_k and each send p!a that a machine p offers in it, some run →_k
//!   in which p does not move leads to where p!a is possible. What is blocked by the bound is only delayed by it;
//! * *k-safe*: from each configuration of RS_k, each machine that waits can move sooner or later (*progress*), and
//!   each message at the head of a queue can be received sooner or later (*eventual reception*), by runs →_k;
//! * *directed*: in each state a machine sends to one peer, or receives from one peer;
//! * *k-OBI* (output bound independent): where a machine can do one of its sends, none of the others is blocked;
//! * *k-IBI* (input bound independent): no machine can ever receive from two queues;
//! * *k-SIBI*: if a machine receives x, no message that it could have received instead from another queue is there,
//!   nor is sent later on by any run →_k;
//! * *k-CIBI*: as k-SIBI, but such a message may be sent later by somebody who, through messages, depends on the
//!   reception of x.
//!
//! **k-MC**: k-exhaustive and k-safe; and directed, or without mixed choices, k-OBI, and k-SIBI or k-CIBI. A system
//! that is k-MC for some k is safe with unbounded queues, in the sense of [`system`], and starves nobody.
//!
//! ```text
//!   K = S!r; S!r; rec X . S?v; T?r; T!v; S!r; X double buffering, the optimised kernel:
//!   S = rec X . K?r; K!v; X                     at k = 1 the second send of K waits for S, which takes the
//!   T = rec X . K!r; K?v; X                     first: 1-exhaustive, 1-safe, directed: safe for all k
//! ```
//!
//! # Why it is sound
//!
//! *Claim*: from r in RS_k let φ be any run, of unbounded queues, to s. If the system is k-exhaustive and directed,
//! there is a run ψ from s such that φψ, after swapping neighbouring moves of different machines that do not depend
//! on each other, is a run →_k. So whatever happens happens within the bound, and what can still happen within the
//! bound can still happen: k-safe is safe.
//!
//! *Proof* by induction on φ. If its first move is possible within the bound, take it. Otherwise it is a send of
//! some p into a full queue, and there is a run χ →_k without p that makes room. Take the first move x of χ, by
//! some m ≠ p. If m does not move in φ, x goes to the end of s, which it does not disable, and χ is one shorter. If
//! m moves in φ, its first move y there is from the same state: both send into the same queue, which is not full,
//! or both receive the same head; so y can be swapped to the front of φ, which is one shorter then.
//!
//! Without directedness, x and y may differ in their queue. If they send, k-OBI says that y is possible too. If
//! they receive, y's message is there already, or it is sent in φ before y, by moves that do not depend on m. By
//! the claim for that shorter part of φ after x, it can be sent within the bound after x, independently of m: which
//! k-SIBI and k-CIBI exclude. A machine that waits and has not moved in ψ waits after it too. Nothing here needs
//! machines to be deterministic; the paper does, and so does the verdict, because nobody can write such a machine.
//! Mixed states are outside of the claim: they are refused, unless the bound never mattered, so that all
//! configurations were seen and no claim is needed.
//!
//! The same claim gives the other direction: a system that is k-exhaustive (and directed or independent) and not
//! k-safe is not safe. So is one with a set of machines that wait for each other only ([`Verdict::Unsafe`] carries
//! a run of either). A system that is neither is deepened: k is searched from 1. For directed systems being
//! k-exhaustive is monotone in k, by the same claim, so that k is doubled and then halved; for others it is not (a
//! system of the paper is 1-MC and not 2-MC), and each k is tried.
//!
//! # Cost
//!
//! RS_k has up to (states · messages^k)^machines configurations; the problem is PSPACE-complete. What helps:
//!
//! * *parts*: machines that do not talk to each other are judged apart: sums instead of products;
//! * *reduction*: directed parts are explored one machine at a time, which leaves only choices as branching:
//!   streaming with n values ahead has O(n) configurations instead of O(n²), a ring of n machines that all send
//!   first O(n²) instead of 4ⁿ. The tests compare it with the definition;
//! * configurations are rows of numbers; queues are numbers too, and moving costs O(machines + channels).
//!
//! A search ends at [`Limits::configurations`], counted over all bounds tried, and at [`Limits::queue`].
//! Configurations take at most half a gigabyte; a system of thousands of roles may have no room for as many as the
//! limit says.

pub(crate) mod full;
pub(crate) mod graph;
pub(crate) mod net;
mod prune;
pub(crate) mod reduced;
pub(crate) mod space;
mod store;
pub(crate) mod taint;

use std::fmt;

use crate::{
    machine::{Defect, Role, TransitionId},
    run::{Failure, Run, Step},
    system::{self, System},
    verdict::{Limit, Limits},
};

use self::{
    full::Full,
    graph::Node,
    net::Net,
    reduced::Reduced,
    space::{Fault, Space},
};

/// What was found out about a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Whether it is safe.
    pub verdict: Verdict,
    /// Every property by itself, of each part of the system at the bound that decided it, or at the last one tried.
    pub properties: Properties,
}

/// Whether a system is safe, with unbounded queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Safe {
        /// The least k at which this was found: the system is k-MC, or no queue ever holds more than k
        /// messages. Of several parts that do not talk to each other, the largest of their least bounds. If the budget
        /// ends while a smaller bound is looked for, it is not the least.
        bound: usize,
    },
    /// It is not.
    ///
    /// The run to where it goes wrong is a shortest one, unless [`Limits::configurations`] are too few to find that.
    Unsafe(Box<Run>),
    /// It was not found out.
    Undecided {
        /// The limit that ended the search.
        limit: Limit,
        /// Why the bounds up to it say nothing about larger ones. `None` if the budget did not suffice for one.
        obstacle: Option<Obstacle>,
    },
}

/// Why the properties of a system at a bound say nothing about larger bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// It is not k-exhaustive: a send stays blocked, as queues of length k are too short for it.
    Blocked(Witness),
    /// It is not k-OBI, or neither k-SIBI nor k-CIBI: which message a role sends or receives next depends on
    /// the bound.
    Dependent(Witness),
    /// A machine both sends and receives in one state.
    Mixed(Role, Defect),
    /// A machine has two transitions with one action, which lead to different states.
    Nondeterministic(Role, Defect),
}

/// What is in the way, and what to do about it.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked(witness) => write!(
                f,
                "{}; let it wait for an answer before it sends on, or raise the limit",
                witness.flaw
            ),
            Self::Dependent(witness) => write!(
                f,
                "{}; let one peer decide, and tell the others after it",
                witness.flaw
            ),
            Self::Mixed(role, defect) | Self::Nondeterministic(role, defect) => {
                write!(f, "the machine of `{role}`: {defect}")
            }
        }
    }
}

/// The properties of a system at a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// The bound k.
    pub bound: usize,
    /// The first state that both sends and receives; `None` for communicating session automata.
    pub mixed: Option<(Role, Defect)>,
    /// The first state that two transitions with one action leave for different states.
    pub nondeterministic: Option<(Role, Defect)>,
    /// The first state that chooses between peers.
    pub undirected: Option<(Role, Defect)>,
    /// k-exhaustive.
    pub exhaustive: Property,
    /// The first half of k-safe: who waits can move sooner or later.
    pub progress: Property,
    /// The second half of k-safe: what is at the head of a queue can be received sooner or later.
    pub reception: Property,
    /// k-OBI.
    pub obi: Property,
    /// k-IBI.
    pub ibi: Property,
    /// k-SIBI.
    pub sibi: Property,
    /// k-CIBI.
    pub cibi: Property,
    /// How many configurations were met.
    pub configurations: usize,
}

impl Properties {
    /// Whether no state both sends and receives. The paper's session automata are
    /// [deterministic](Self::nondeterministic) besides.
    pub fn is_csa(&self) -> bool {
        self.mixed.is_none()
    }

    /// Whether each state sends to one peer or receives from one peer: *basic* in the paper's tool.
    pub fn is_directed(&self) -> bool {
        self.mixed.is_none() && self.undirected.is_none()
    }

    /// k-safe: both halves.
    pub fn is_safe(&self) -> Option<bool> {
        Some(self.progress.holds()? && self.reception.holds()?)
    }
}

/// Whether a property holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Property {
    /// It does.
    Holds,
    /// It does not.
    Fails(Witness),
    /// A limit ended the search.
    Unknown(Limit),
}

impl Property {
    /// Whether it holds, if that is known.
    pub fn holds(&self) -> Option<bool> {
        match self {
            Self::Holds => Some(true),
            Self::Fails(_) => Some(false),
            Self::Unknown(_) => None,
        }
    }
}

/// Where a property fails: a run within the bound, and what is wrong at its end.
///
/// Without [reduction](Reduction::None) it is a shortest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// What was done, in order.
    pub steps: Vec<Step>,
    /// What is wrong then.
    pub flaw: Flaw,
}

/// What is wrong with a configuration at a bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// The send does not become possible before its role moves otherwise; which it may never do. Not exhaustive.
    Blocked {
        /// The role.
        role: Role,
        /// The send.
        send: TransitionId,
    },
    /// The role can receive the first, and the second from another queue now or after the first. Not IBI, SIBI, CIBI.
    Competing {
        /// The role.
        role: Role,
        /// A reception that is possible.
        first: TransitionId,
        /// One from another queue that competes with it.
        second: TransitionId,
    },
    /// The next message of the queue is never received. No eventual reception.
    Lost {
        /// Who sent it.
        from: Role,
        /// Who does not receive it.
        to: Role,
    },
    /// Of two sends of the role one is possible and the other is blocked. Not OBI.
    Partial {
        /// The role.
        role: Role,
        /// The send that is possible.
        possible: TransitionId,
        /// The send that is not.
        blocked: TransitionId,
    },
    /// The role never moves again. No progress.
    Waits {
        /// The role.
        role: Role,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked { role, .. } => write!(f, "{role} is blocked by a full queue"),
            Self::Competing { role, .. } => {
                write!(
                    f,
                    "{role} can receive from two queues, whichever comes first"
                )
            }
            Self::Lost { from, to } => write!(f, "{to} never receives the message from {from}"),
            Self::Partial { role, .. } => {
                write!(
                    f,
                    "{role} can do one of its sends, and another is blocked by a full queue"
                )
            }
            Self::Waits { role } => write!(f, "{role} waits for ever"),
        }
    }
}

/// Whether configurations that are not needed are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// All of RS_k is explored, and every property is judged by its definition.
    None,
    /// Parts that are directed and deterministic are explored one machine at a time.
    PartialOrder,
}

/// Judges a system, searching for the least bound.
///
/// ```
/// use rumpsteak_fsm::{Limits, kmc, system::System, text};
///
/// let machines = text::parse("
///     K: S!r; S!r; rec X . S?v; T?r; T!v; S!r; X
///     S: rec X . K?r; K!v; X
///     T: rec X . K!r; K?v; X
/// ")?;
/// let report = kmc::check(&System::new(machines)?, &Limits::default());
/// assert_eq!(report.verdict, kmc::Verdict::Safe { bound: 1 });
/// assert!(report.properties.is_directed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: see the [module](self).
pub fn check(system: &System, limits: &Limits) -> Report {
    let parts = Net::parts(system);
    let mut budget = limits.configurations;
    let judged = judge(&parts, &mut budget, limits);
    let verdict = conclude(system, &parts, &judged, limits);
    let bound = judged.iter().map(|part| part.bound).max().unwrap_or(1);
    let properties = properties(
        system,
        bound,
        parts
            .iter()
            .zip(judged.into_iter().map(|part| part.evaluated)),
    );
    Report {
        verdict,
        properties,
    }
}

/// Each part at the bound that decides it.
pub(crate) fn judge(parts: &[Net], budget: &mut usize, limits: &Limits) -> Vec<Judged> {
    parts
        .iter()
        .map(|net| match reduces(net) {
            true => least_directed(net, budget, limits),
            false => least(net, budget, limits),
        })
        .collect()
}

/// The properties of a system at one bound.
///
/// A bound of 0 is taken for 1: no message can be sent without a place in its queue.
///
/// Cost: see the [module](self).
pub fn check_at(
    system: &System,
    bound: usize,
    reduction: Reduction,
    limits: &Limits,
) -> Properties {
    let parts = Net::parts(system);
    let bound = bound.max(1);
    let mut budget = limits.configurations;
    let evaluated: Vec<Evaluated> = parts
        .iter()
        .map(|net| {
            let reduction = match reduces(net) {
                true => reduction,
                false => Reduction::None,
            };
            evaluate(net, &uniform(net, bound), reduction, &mut budget, limits)
        })
        .collect();
    properties(system, bound, parts.iter().zip(evaluated))
}

/// Whether the reduction is for this part.
pub(crate) fn reduces(net: &Net) -> bool {
    net.is_directed && net.is_deterministic
}

/// The same bound for all channels.
pub(crate) fn uniform(net: &Net, bound: usize) -> Vec<u32> {
    vec![u32::try_from(bound).unwrap_or(u32::MAX); net.channels()]
}

/// What is wrong with a part, and by which moves it comes to it.
type Found = (Vec<u32>, Fault);

/// A part at a bound.
#[derive(Debug)]
pub(crate) struct Evaluated {
    exhaustive: Option<Found>,
    progress: Option<Found>,
    reception: Option<Found>,
    obi: Option<Found>,
    ibi: Option<Found>,
    sibi: Option<Found>,
    /// An error is the limit that ended the search.
    cibi: Result<Option<Found>, Limit>,
    /// What is wrong whatever the bound; looked for only where nothing else decides.
    definite: Option<Found>,
    /// Whether the bound mattered, as far as is known.
    pub(crate) hits_bounds: bool,
    /// The limit that ended the search; if so, properties without a violation are unknown.
    limit: Option<Limit>,
    configurations: usize,
}

impl Evaluated {
    fn is_safe(&self) -> bool {
        self.progress.is_none() && self.reception.is_none()
    }

    /// Whether the choices of machines do not depend on the bound.
    fn dependence(&self) -> Option<&Found> {
        match (&self.obi, &self.sibi, &self.cibi) {
            (Some(found), ..) | (None, Some(_), Ok(Some(found))) => Some(found),
            (None, Some(found), Err(_)) => Some(found),
            (None, None, _) | (None, Some(_), Ok(None)) => None,
        }
    }
}

fn evaluate(
    net: &Net,
    bounds: &[u32],
    reduction: Reduction,
    budget: &mut usize,
    limits: &Limits,
) -> Evaluated {
    let evaluated = match reduction {
        Reduction::PartialOrder => {
            let reduced = reduced::explore(net, bounds, *budget);
            let limit = limit(&reduced.space, *budget, limits);
            evaluate_reduced(&reduced, limit)
        }
        Reduction::None => {
            let full = full::explore(net, bounds, *budget);
            let limit = limit(&full.space, *budget, limits);
            evaluate_full(&full, *budget, limit)
        }
    };
    *budget = budget.saturating_sub(evaluated.configurations);
    evaluated
}

/// The limit that ends a search: what was set, or what fits into memory if that is less.
fn limit(space: &Space<'_>, budget: usize, limits: &Limits) -> Limit {
    match space.is_truncated && space.len() < budget {
        true => Limit::Configurations(space.len()),
        false => Limit::Configurations(limits.configurations),
    }
}

fn found(space: &Space<'_>, at: Option<(Node, Fault)>) -> Option<Found> {
    at.map(|(node, fault)| (space.path(node), fault))
}

fn evaluate_reduced(reduced: &Reduced<'_>, limit: Limit) -> Evaluated {
    let space = &reduced.space;
    Evaluated {
        exhaustive: found(space, reduced.blocked),
        progress: found(space, reduced.waits),
        reception: found(space, reduced.lost),
        // One channel for each state: whatever is possible or blocked is so altogether.
        obi: None,
        ibi: None,
        sibi: None,
        cibi: Ok(None),
        definite: found(space, reduced.definite),
        hits_bounds: true,
        limit: space.is_truncated.then_some(limit),
        configurations: space.len(),
    }
}

fn evaluate_full(full: &Full<'_>, budget: usize, limit: Limit) -> Evaluated {
    let space = &full.space;
    let mut configurations = space.len();
    let cibi = if full.sibi.is_none() {
        Ok(None)
    } else {
        match full.chain(budget.saturating_sub(configurations)) {
            Ok(at) => Ok(found(space, at)),
            Err(used) => {
                configurations += used;
                Err(limit)
            }
        }
    };
    let mut evaluated = Evaluated {
        exhaustive: found(space, full.exhaustive),
        progress: found(space, full.progress),
        reception: found(space, full.reception),
        obi: found(space, full.obi),
        ibi: found(space, full.ibi),
        sibi: found(space, full.sibi),
        cibi,
        definite: None,
        hits_bounds: full.hits_bounds || space.is_truncated,
        limit: space.is_truncated.then_some(limit),
        configurations,
    };
    if decide(space.net, &evaluated).is_none() {
        let at =
            (0..space.len() as Node).find_map(|node| Some((node, space.definite_fault(node)?)));
        evaluated.definite = found(space, at);
    }
    evaluated
}

/// What the properties of a part at a bound say about it at all bounds.
pub(crate) fn decide(net: &Net, at: &Evaluated) -> Option<bool> {
    if at.definite.is_some() {
        return Some(false);
    }
    // Without a bound that mattered, everything was seen.
    let holds_everywhere = !at.hits_bounds
        || (!net.is_mixed
            && net.is_deterministic
            && at.exhaustive.is_none()
            && at.dependence().is_none());
    (at.limit.is_none() && holds_everywhere).then(|| at.is_safe())
}

/// Why the properties of a part at a bound say nothing about it at all bounds.
fn obstacle(system: &System, net: &Net, at: &Evaluated) -> Option<Obstacle> {
    if at.limit.is_some() {
        None
    } else if net.is_mixed {
        let (role, defect) = net::mixed(system, net.roles())?;
        Some(Obstacle::Mixed(role, defect))
    } else if !net.is_deterministic {
        let (role, defect) = net::nondeterministic(system, net.roles())?;
        Some(Obstacle::Nondeterministic(role, defect))
    } else if let Some(found) = &at.exhaustive {
        Some(Obstacle::Blocked(witness(system, net, found)))
    } else {
        let found = at.dependence()?;
        Some(Obstacle::Dependent(witness(system, net, found)))
    }
}

/// A part at the bound that decided it, or at the last one that the budget sufficed for.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) bound: usize,
    pub(crate) evaluated: Evaluated,
    /// The limit that ended the search, if nothing decided it.
    limit: Limit,
}

/// Tries bounds until one decides: each, or in steps that double.
///
/// What is returned has met all configurations that were met at any bound.
fn search(
    net: &Net,
    reduction: Reduction,
    next: impl Fn(usize) -> usize,
    budget: &mut usize,
    limits: &Limits,
) -> Judged {
    let largest = limits.queue.max(1);
    let mut bound = 1;
    let mut last: Option<Judged> = None;
    loop {
        let evaluated = evaluate(net, &uniform(net, bound), reduction, budget, limits);
        let is_decided = decide(net, &evaluated).is_some();
        match (evaluated.limit, last) {
            // What is known of a smaller bound is more than nothing of this one.
            (Some(limit), Some(last)) if !is_decided => return Judged { limit, ..last },
            (limit, _) => {
                let judged = Judged {
                    bound,
                    evaluated,
                    limit: limit.unwrap_or(Limit::Queue(largest)),
                };
                if is_decided || limit.is_some() || bound == largest {
                    return judged;
                }
                last = Some(judged);
            }
        }
        bound = next(bound).min(largest);
    }
}

/// Tries each bound.
fn least(net: &Net, budget: &mut usize, limits: &Limits) -> Judged {
    search(net, Reduction::None, |bound| bound + 1, budget, limits)
}

/// Doubles the bound until one decides, then looks for the least between the last two.
fn least_directed(net: &Net, budget: &mut usize, limits: &Limits) -> Judged {
    let reduction = Reduction::PartialOrder;
    let mut judged = search(
        net,
        reduction,
        |bound| bound.saturating_mul(2),
        budget,
        limits,
    );
    // A violation needs no least bound.
    if decide(net, &judged.evaluated) != Some(true) {
        return judged;
    }
    // A bound known not to decide: the last one tried was at least half of this one.
    let mut below = judged.bound / 2;
    while judged.bound - below > 1 {
        let bound = below + (judged.bound - below) / 2;
        let evaluated = evaluate(net, &uniform(net, bound), reduction, budget, limits);
        if decide(net, &evaluated) == Some(true) {
            judged = Judged {
                bound,
                evaluated,
                ..judged
            };
        } else if evaluated.limit.is_some() {
            break;
        } else {
            below = bound;
        }
    }
    judged
}

/// What the parts say about the system.
pub(crate) fn conclude(
    system: &System,
    parts: &[Net],
    judged: &[Judged],
    limits: &Limits,
) -> Verdict {
    let decided = || {
        parts
            .iter()
            .zip(judged)
            .map(|(net, part)| (net, part, decide(net, &part.evaluated)))
    };
    if let Some((net, part, _)) = decided().find(|&(.., decision)| decision == Some(false)) {
        return refuse(system, net, &part.evaluated, limits);
    }
    match decided().find(|&(.., decision)| decision.is_none()) {
        Some((net, part, _)) => Verdict::Undecided {
            limit: part.limit,
            obstacle: obstacle(system, net, &part.evaluated),
        },
        None => Verdict::Safe {
            bound: judged.iter().map(|part| part.bound).max().unwrap_or(1),
        },
    }
}

/// A run to what is wrong.
fn refuse(system: &System, net: &Net, at: &Evaluated, limits: &Limits) -> Verdict {
    // A breadth-first search knows the shortest run, if it gets there.
    let exploration = system::explore(system, limits);
    let found = match exploration.verdict {
        crate::verdict::Verdict::Unsafe(run) => Some(run),
        _ => exploration.starvation,
    };
    let own = || {
        let faults = [&at.definite, &at.progress, &at.reception];
        faults.into_iter().flatten().find_map(|found| {
            let pruned = prune::prune(net, &found.0);
            let pruned = pruned.and_then(|pruned| run(system, net, &pruned));
            pruned.or_else(|| run(system, net, found))
        })
    };
    match found.or_else(own) {
        Some(run) => Verdict::Unsafe(Box::new(run)),
        // Every part that is decided to be unsafe has one of the three, and each shows on the system.
        None => Verdict::Undecided {
            limit: Limit::Configurations(limits.configurations),
            obstacle: None,
        },
    }
}

/// The run of the system that a violation of progress or reception is.
fn run(system: &System, net: &Net, (path, fault): &Found) -> Option<Run> {
    let steps: Vec<Step> = path
        .iter()
        .map(|&by| net.step(system, by as usize))
        .collect();
    let role = |machine: usize| net.role(system, machine);
    let failures: Vec<Failure> = match *fault {
        Fault::Waits(machine) => {
            let to = role(machine);
            (0..net.channels())
                .filter(|&channel| net.ends[channel].1 == machine)
                .map(|channel| Failure::UnspecifiedReception {
                    from: role(net.ends[channel].0),
                    to: to.clone(),
                })
                .chain([Failure::Deadlock, Failure::Starvation { role: to.clone() }])
                .collect()
        }
        Fault::Lost(channel) => {
            let (from, to) = net.ends[channel];
            vec![Failure::Orphan {
                from: role(from),
                to: role(to),
            }]
        }
        Fault::Blocked(_) | Fault::Competing(..) | Fault::Partial(..) => vec![],
    };
    failures
        .into_iter()
        .find_map(|failure| Run::of(system, steps.clone(), failure).ok())
}

fn witness(system: &System, net: &Net, (path, fault): &Found) -> Witness {
    let role = |by: usize| net.role(system, net.get(by).machine as usize);
    Witness {
        steps: path
            .iter()
            .map(|&by| net.step(system, by as usize))
            .collect(),
        flaw: match *fault {
            Fault::Blocked(by) => Flaw::Blocked {
                role: role(by),
                send: net.transition(by),
            },
            Fault::Competing(first, second) => Flaw::Competing {
                role: role(first),
                first: net.transition(first),
                second: net.transition(second),
            },
            Fault::Lost(channel) => {
                let (from, to) = net.ends[channel];
                Flaw::Lost {
                    from: net.role(system, from),
                    to: net.role(system, to),
                }
            }
            Fault::Partial(possible, blocked) => Flaw::Partial {
                role: role(possible),
                possible: net.transition(possible),
                blocked: net.transition(blocked),
            },
            Fault::Waits(machine) => Flaw::Waits {
                role: net.role(system, machine),
            },
        },
    }
}

/// Joins the parts: a property holds if it holds in all of them.
fn properties<'a>(
    system: &System,
    bound: usize,
    parts: impl Iterator<Item = (&'a Net, Evaluated)>,
) -> Properties {
    let all: Vec<usize> = (0..system.machines().len()).collect();
    let mut joined = Properties {
        bound,
        mixed: net::mixed(system, &all),
        nondeterministic: net::nondeterministic(system, &all),
        undirected: net::undirected(system, &all),
        exhaustive: Property::Holds,
        progress: Property::Holds,
        reception: Property::Holds,
        obi: Property::Holds,
        ibi: Property::Holds,
        sibi: Property::Holds,
        cibi: Property::Holds,
        configurations: 0,
    };
    for (net, part) in parts {
        joined.configurations += part.configurations;
        let limit = part.limit;
        let (cibi, cibi_limit) = match part.cibi {
            Ok(found) => (found, limit),
            Err(limit) => (None, Some(limit)),
        };
        for (property, found, limit) in [
            (&mut joined.exhaustive, part.exhaustive, limit),
            (&mut joined.progress, part.progress, limit),
            (&mut joined.reception, part.reception, limit),
            (&mut joined.obi, part.obi, limit),
            (&mut joined.ibi, part.ibi, limit),
            (&mut joined.sibi, part.sibi, limit),
            (&mut joined.cibi, cibi, cibi_limit),
        ] {
            let of_part = match (found, limit) {
                (Some(found), _) => Property::Fails(witness(system, net, &found)),
                (None, Some(limit)) => Property::Unknown(limit),
                (None, None) => continue,
            };
            // A violation in one part is more than not knowing another.
            if !matches!(property, Property::Fails(_)) {
                *property = of_part;
            }
        }
    }
    joined
}
