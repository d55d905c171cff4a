//! Exploration of a system, bound by bound; the [module](super) explains what it decides and why.

use std::cell::LazyCell;

use super::search::{Order, Scope, Search, listens};
use super::{Continuations, InternedSystem, Run, System, partial_order};
use crate::verdict::{Limit, Limits, Verdict};

/// The result of [`explore`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// Safe: every configuration was explored. Undecided: nothing bad was found within the
    /// [`coverage`](Self::coverage).
    pub verdict: Verdict<(), Run>,
    /// A shortest run to a starving role, if one was found and the system is not unsafe.
    pub starvation: Option<Run>,
    /// How far the exploration went.
    pub coverage: Coverage,
}

/// How much of a system was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// True if nothing that can happen was left out.
    pub exhaustive: bool,
    /// All runs were explored in which no queue holds more messages than this. If the exploration
    /// was exhaustive, every run is a reordering of one of them.
    pub bound: usize,
    /// The number of configurations in the last search.
    pub configurations: usize,
}

/// Explores a system until something is wrong, everything is explored or a limit is reached.
///
/// ```
/// use rumpsteak_fsm::{Limits, dot, system::{System, explore}};
///
/// let machines = dot::parse(r#"
///     digraph a { 0 -> 1 [label="b?x"]; 1 -> 2 [label="b!y"] }
///     digraph b { 0 -> 1 [label="a?y"]; 1 -> 2 [label="a!x"] }
/// "#)?;
/// let system = System::new(machines)?;
/// let exploration = explore(&system, &Limits::default());
/// let run = exploration.verdict.refusal().ok_or("a deadlock is expected")?;
/// assert_eq!(run.steps, []);
/// assert_eq!(run.failure.to_string(), "no role can move");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explore(system: &System, limits: &Limits) -> Exploration {
    let interned = InternedSystem::whole(system);
    let listens = listens(&interned);
    let explore = |order| bound_by_bound(&interned, &listens, order, limits);
    if system.machines().iter().all(|machine| machine.check_directed().is_ok()) {
        return explore(Order::All { is_directed: true });
    }
    let reduced = explore(Order::OneMachine);
    if reduced.verdict.is_safe() && reduced.starvation.is_none() {
        return reduced;
    }
    // The whole search may find a shorter run.
    let whole = explore(Order::All { is_directed: false });
    match whole.verdict {
        Verdict::Undecided(_) => reduced,
        _ => whole,
    }
}

fn bound_by_bound(
    interned: &InternedSystem<'_>,
    listens: &Continuations,
    order: Order,
    limits: &Limits,
) -> Exploration {
    let mut budget = limits.configurations;
    let mut bound = limits.queue.min(1);
    let mut starvation = None;
    let mut done = Coverage { exhaustive: false, bound: 0, configurations: 0 };
    loop {
        let scope = Scope { order, bound, budget, depth: usize::MAX };
        let mut search = Search::new(interned, listens, scope);
        match order {
            Order::All { .. } => search.all(),
            Order::OneMachine => partial_order::explore(&mut search),
        }
        let limit = search.explorer.limit(budget, limits);
        budget -= search.explorer.len().min(budget);
        // Not needed if a configuration is wrong by itself.
        let continuations = LazyCell::new(|| search.continuations());
        let settled = search.is_settled(|node, event| continuations.can(node, event));
        let lost = |node| search.lost(node, &continuations, settled);
        let coverage = Coverage {
            exhaustive: settled,
            bound: if search.held_back.is_empty() { search.longest as usize } else { bound },
            configurations: search.explorer.len(),
        };
        if let Some(found) = search.wrong.clone().or_else(|| search.lost_message(lost)) {
            let run = match search.shorter(found.0, budget, limits.queue) {
                Some((shorter, found)) => shorter.run(found),
                None => search.run(found),
            };
            // Always there: each run that a search finds replays.
            return match run.map(Verdict::Unsafe) {
                Some(verdict) => Exploration { verdict, starvation: None, coverage },
                None => {
                    Exploration { verdict: Verdict::Undecided(limit), starvation, coverage: done }
                }
            };
        }
        if starvation.is_none() {
            starvation = search.starved(lost).and_then(|found| search.run(found));
        }
        let verdict = if settled {
            done = coverage;
            Verdict::Safe(())
        } else if search.explorer.is_truncated {
            Verdict::Undecided(limit)
        } else {
            done = coverage;
            if bound < limits.queue {
                bound = bound.saturating_mul(2).min(limits.queue);
                continue;
            }
            Verdict::Undecided(Limit::Queue(limits.queue))
        };
        return Exploration { verdict, starvation, coverage: done };
    }
}
