//! The judgement of a system: bounds are tried until one decides.

use super::report::{Flaw, Obstacle, Properties, Property, Report, Verdict, Witness};
use super::violation::{Explored, Violation, Violations, definite, first_definite};
use crate::machine::{Defect, Fsm, Role, StateId};
use crate::system::{self, Explorer, Failure, InternedSystem, Node, Paths, Run, System};
use crate::verdict::{Limit, Limits};

/// Which configurations are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// All of RS_k is explored, and every property is judged by its definition.
    None,
    /// Parts that are directed and deterministic are explored one machine at a time.
    PartialOrder,
}

/// Judges a system, searching for the least bound. The [module](crate::kmc) names the cost.
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
/// assert_eq!(report.verdict, kmc::Verdict::Safe(1));
/// assert!(report.properties.is_directed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(system: &System, limits: &Limits) -> Report {
    let parts = InternedSystem::parts(system);
    let judged = judge(&parts, limits);
    let verdict = conclude(&parts, &judged, limits);
    let undecided = |&(part, judged): &(_, &Evaluated)| decide(part, judged).is_none();
    let obstacle = parts.iter().zip(&judged).find(undecided);
    let obstacle = obstacle.and_then(|(part, judged)| obstacle_of(part, judged));
    let bound = judged.iter().map(|part| part.bound).max().unwrap_or(1);
    Report { verdict, obstacle, properties: properties(system, bound, parts.iter().zip(judged)) }
}

/// Judges each part at the bound that decides it.
pub(crate) fn judge(parts: &[InternedSystem<'_>], limits: &Limits) -> Vec<Evaluated> {
    let (reduction, budget) = (Reduction::PartialOrder, limits.configurations);
    let mut search = Search { reduction, limits, budget };
    let judge = |part| {
        let judged = search.first(part);
        if reduces(part) { search.least(part, judged) } else { judged }
    };
    parts.iter().map(judge).collect()
}

/// The properties of a system at one bound; at least 1, since a message needs a place in its queue.
pub fn check_at(system: &System, k: usize, reduction: Reduction, limits: &Limits) -> Properties {
    let parts = InternedSystem::parts(system);
    let k = k.max(1);
    let mut search = Search { reduction, limits, budget: limits.configurations };
    properties(system, k, parts.iter().map(|part| (part, search.evaluate(part, k))))
}

pub(crate) fn reduces(part: &InternedSystem<'_>) -> bool {
    part.is_directed && part.is_deterministic
}

pub(crate) fn explore<'a>(
    part: &'a InternedSystem<'a>,
    bounds: &[u32],
    reduction: Reduction,
    budget: usize,
) -> Explored<'a> {
    let is_reduced = reduction == Reduction::PartialOrder && reduces(part);
    let start = if is_reduced { Explorer::new } else { Explorer::all };
    let explorer = start(part, bounds, budget);
    let hits_bounds = is_reduced || explorer.is_truncated;
    let mut explored = Explored { explorer, found: Violations::default(), hits_bounds };
    if is_reduced {
        explored.reduce();
    } else if !hits_bounds {
        explored.judge();
    }
    explored
}

/// A part at a bound.
#[derive(Debug)]
pub(crate) struct Evaluated {
    pub(crate) bound: usize,
    found: Violations,
    paths: Paths,
    cibi_limit: Option<Limit>,
    hits_bounds: bool,
    /// The limit that ended the search; then properties without a violation are unknown.
    limit: Option<Limit>,
    /// The limit that keeps larger bounds from being tried.
    last: Limit,
    configurations: usize,
}

impl Evaluated {
    /// A violation because of which the choices of a machine depend on the bound.
    fn dependence(&self) -> Option<(Node, Violation)> {
        let Violations { obi, sibi, cibi, .. } = self.found;
        obi.or(match self.cibi_limit {
            Some(_) => sibi,
            None => sibi.and(cibi),
        })
    }
}

/// The search for the bound that decides a part.
struct Search<'a> {
    reduction: Reduction,
    limits: &'a Limits,
    /// The number of configurations that may still be explored.
    budget: usize,
}

impl Search<'_> {
    fn evaluate(&mut self, part: &InternedSystem<'_>, bound: usize) -> Evaluated {
        let explored = explore(part, &part.uniform(bound), self.reduction, self.budget);
        let limit = explored.explorer.limit(self.budget, self.limits);
        let mut configurations = explored.explorer.len();
        let left = self.budget.saturating_sub(configurations);
        let cibi = explored.found.sibi.map_or(Ok(None), |_| explored.chain(left));
        let Explored { mut explorer, mut found, hits_bounds } = explored;
        let mut cibi_limit = None;
        match cibi {
            Ok(cibi) => found.cibi = cibi,
            Err(used) => {
                configurations += used;
                cibi_limit = Some(limit);
            }
        }
        self.budget = self.budget.saturating_sub(configurations);
        let largest = Limit::Queue(self.limits.queue.max(1));
        let mut evaluated = Evaluated {
            bound,
            found,
            paths: std::mem::take(&mut explorer.paths),
            cibi_limit,
            hits_bounds,
            limit: explorer.is_truncated.then_some(limit),
            last: if explorer.is_truncated { limit } else { largest },
            configurations,
        };
        // The reduction has looked for it.
        let is_reduced = self.reduction == Reduction::PartialOrder && reduces(part);
        if !is_reduced && decide(part, &evaluated).is_none() {
            evaluated.found.definite = first_definite(&explorer);
        }
        evaluated
    }

    /// Tries bounds until one decides: each, or doubled ones if the reduction is for the part. The
    /// result is at the bound that decides, or the last one tried, and has met all configurations
    /// that were met at any bound.
    fn first(&mut self, part: &InternedSystem<'_>) -> Evaluated {
        let largest = self.limits.queue.max(1);
        let mut bound = 1;
        let mut last: Option<Evaluated> = None;
        loop {
            let judged = self.evaluate(part, bound);
            let is_decided = decide(part, &judged).is_some();
            match (judged.limit, last) {
                // Results for a smaller bound are more than none for this one.
                (Some(limit), Some(smaller)) if !is_decided => {
                    return Evaluated { last: limit, ..smaller };
                }
                (limit, _) if is_decided || limit.is_some() || bound == largest => return judged,
                _ => last = Some(judged),
            }
            bound = if reduces(part) { bound.saturating_mul(2).min(largest) } else { bound + 1 };
        }
    }

    /// Binary search for the smallest deciding bound, between the last failure and the first
    /// success.
    fn least(&mut self, part: &InternedSystem<'_>, mut judged: Evaluated) -> Evaluated {
        if decide(part, &judged) != Some(true) {
            return judged;
        }
        // The last bound that did not decide was at least half of this one.
        let mut below = judged.bound / 2;
        while judged.bound - below > 1 {
            let bound = below + (judged.bound - below) / 2;
            let evaluated = self.evaluate(part, bound);
            if decide(part, &evaluated) == Some(true) {
                judged = evaluated;
            } else if evaluated.limit.is_some() {
                break;
            } else {
                below = bound;
            }
        }
        judged
    }
}

/// True if the properties at a bound show that the part is safe, false if they show that it is not.
pub(crate) fn decide(part: &InternedSystem<'_>, at: &Evaluated) -> Option<bool> {
    if at.found.definite.is_some() {
        return Some(false);
    }
    let holds_everywhere = !at.hits_bounds
        || (!part.is_mixed
            && part.is_deterministic
            && at.found.exhaustive.is_none()
            && at.dependence().is_none());
    let is_safe = at.found.progress.is_none() && at.found.reception.is_none();
    (at.limit.is_none() && holds_everywhere).then_some(is_safe)
}

/// Why the properties at a bound say nothing about all bounds.
fn obstacle_of(part: &InternedSystem<'_>, at: &Evaluated) -> Option<Obstacle> {
    if at.limit.is_some() {
        return None;
    }
    let mixed = first_defect(part.fsms(), Fsm::mixed);
    let defect = mixed.or_else(|| first_defect(part.fsms(), Fsm::nondeterministic));
    if let Some((role, defect)) = defect {
        return Some(Obstacle::Machine(role, defect));
    }
    let found = at.found.exhaustive.or_else(|| at.dependence())?;
    Some(Obstacle::Bound(witness(part, &at.paths, found)))
}

pub(crate) fn conclude(
    parts: &[InternedSystem<'_>],
    judged: &[Evaluated],
    limits: &Limits,
) -> Verdict {
    let decided = |decision: Option<bool>| {
        let mut parts = parts.iter().zip(judged);
        parts.find(|(part, judged)| decide(part, judged) == decision)
    };
    if let Some((part, judged)) = decided(Some(false)) {
        return refuse(part, judged, limits);
    }
    match decided(None) {
        Some((_, judged)) => Verdict::Undecided(judged.last),
        None => Verdict::Safe(judged.iter().map(|part| part.bound).max().unwrap_or(1)),
    }
}

fn refuse(part: &InternedSystem<'_>, at: &Evaluated, limits: &Limits) -> Verdict {
    // A breadth-first search finds the shortest run, if it gets there.
    let exploration = system::explore(part.whole, limits);
    let found = exploration.verdict.refusal().cloned().or(exploration.starvation);
    let own = || {
        let faults = [at.found.definite, at.found.progress, at.found.reception];
        faults.into_iter().flatten().find_map(|(node, fault)| {
            let path = at.paths.to(node);
            let sliced = slice(part, &path).and_then(|(path, fault)| run(part, &path, fault));
            sliced.or_else(|| run(part, &path, fault))
        })
    };
    // Not reached: every unsafe part has one of the three, and each shows on the system.
    let undecided = Verdict::Undecided(Limit::Configurations(limits.configurations));
    found.or_else(own).map_or(undecided, |run| Verdict::Unsafe(Box::new(run)))
}

/// A part of the run that ends with a fault and needs each of its moves.
///
/// From the last move to the first, each move is left out if the rest is a run with the same fault
/// at its end. With unbounded queues a move needs only earlier moves, so one pass is enough. Cost:
/// O(n²) configurations for a run of n moves.
fn slice(part: &InternedSystem<'_>, path: &[u32]) -> Option<(Vec<u32>, Violation)> {
    const LONGEST: usize = 1_000;
    let bounds = part.uniform(usize::MAX);
    let end = |path: &[u32]| {
        let mut explorer = Explorer::new(part, &bounds, path.len().saturating_add(2));
        let node = explorer.walk(path)?;
        definite(&explorer, node)
    };
    let fault = end(path).filter(|_| path.len() <= LONGEST)?;
    let mut sliced = path.to_vec();
    for at in (0..path.len()).rev() {
        let by = sliced.remove(at);
        if end(&sliced) != Some(fault) {
            sliced.insert(at, by);
        }
    }
    Some((sliced, fault))
}

/// The run of the system for a violation of progress or reception.
fn run(part: &InternedSystem<'_>, path: &[u32], fault: Violation) -> Option<Run> {
    let steps = part.steps(path);
    let failures: Vec<Failure> = match fault {
        Violation::Waits(machine) => {
            let channels = (0..part.channels()).filter(|&channel| part.ends[channel].1 == machine);
            let refused = channels.map(|channel| {
                let (from, to) = part.end_roles(channel);
                Failure::UnspecifiedReception { from, to }
            });
            refused.chain([Failure::Deadlock, Failure::Starvation(part.role(machine))]).collect()
        }
        Violation::Lost(channel) => {
            let (from, to) = part.end_roles(channel);
            vec![Failure::Orphan { from, to }]
        }
        Violation::Blocked(_) | Violation::Competing(..) | Violation::Partial(..) => vec![],
    };
    failures.into_iter().find_map(|failure| Run::of(part.whole, steps.clone(), failure))
}

fn witness(part: &InternedSystem<'_>, paths: &Paths, (node, fault): (Node, Violation)) -> Witness {
    let steps = part.steps(&paths.to(node));
    let role = |by: usize| part.role(part.get(by).machine as usize);
    let id = |by: usize| part.get(by).transition;
    let flaw = match fault {
        Violation::Blocked(by) => Flaw::Blocked(role(by), id(by)),
        Violation::Competing(first, second) => Flaw::Competing(role(first), id(first), id(second)),
        Violation::Lost(channel) => {
            let (from, to) = part.end_roles(channel);
            Flaw::Lost(from, to)
        }
        Violation::Partial(first, second) => Flaw::Partial(role(first), id(first), id(second)),
        Violation::Waits(machine) => Flaw::Waits(part.role(machine)),
    };
    Witness { steps, flaw }
}

/// Joins the parts: a property holds if it holds in all of them.
fn properties<'a>(
    system: &System,
    bound: usize,
    parts: impl Iterator<Item = (&'a InternedSystem<'a>, Evaluated)>,
) -> Properties {
    let parts: Vec<_> = parts.collect();
    // Most systems have no defect, and their parts know that.
    let defect = |is: fn(&InternedSystem<'_>) -> bool, of: fn(&Fsm, StateId) -> Option<Defect>| {
        let is_there = parts.iter().any(|(part, _)| is(part));
        is_there.then(|| first_defect(system.machines().iter(), of)).flatten()
    };
    let mut joined = Properties {
        bound,
        mixed: defect(|part| part.is_mixed, Fsm::mixed),
        nondeterministic: defect(|part| !part.is_deterministic, Fsm::nondeterministic),
        undirected: defect(|part| !part.is_directed, Fsm::undirected),
        ..Properties::default()
    };
    for (part, evaluated) in parts {
        joined.configurations += evaluated.configurations;
        let (limit, found) = (evaluated.limit, evaluated.found);
        for (property, found, limit) in [
            (&mut joined.exhaustive, found.exhaustive, limit),
            (&mut joined.progress, found.progress, limit),
            (&mut joined.reception, found.reception, limit),
            (&mut joined.obi, found.obi, limit),
            (&mut joined.ibi, found.ibi, limit),
            (&mut joined.sibi, found.sibi, limit),
            (&mut joined.cibi, found.cibi, evaluated.cibi_limit.or(limit)),
        ] {
            let of_part = match (found, limit) {
                (Some(found), _) => Property::Fails(witness(part, &evaluated.paths, found)),
                (None, Some(limit)) => Property::Unknown(limit),
                (None, None) => continue,
            };
            // A violation in one part counts more than a limit in another.
            if !matches!(property, Property::Fails(_)) {
                *property = of_part;
            }
        }
    }
    joined
}

/// The first reachable state with a defect of this kind.
fn first_defect<'a>(
    mut machines: impl Iterator<Item = &'a Fsm>,
    of: impl Fn(&Fsm, StateId) -> Option<Defect>,
) -> Option<(Role, Defect)> {
    machines.find_map(|machine| {
        let mut states: Vec<StateId> = machine.reachable().collect();
        states.sort_unstable();
        Some((machine.role().clone(), states.into_iter().find_map(|state| of(machine, state))?))
    })
}
