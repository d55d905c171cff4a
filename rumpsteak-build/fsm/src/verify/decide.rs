//! Deciding a whole system: it is explored first. If its queues grow for ever, [k-MC](kmc) decides,
//! or a [certificate](crate::certificate::drained) that they can always be emptied.

use super::drain::drain;
use crate::kmc;
use crate::system::{Coverage, Exploration, Failure, Run, System, explore};
use crate::verdict::{Limits, Verdict};

/// The result of [`decide`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Unsafe: a run to any failure except starvation. Undecided: the limit that ended the
    /// exploration.
    pub verdict: Verdict<Grounds, Box<Run>>,
    /// The exploration; with the starvation that k-MC found, if any.
    pub exploration: Exploration,
}

/// The reason for a "safe" of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grounds {
    /// All configurations that matter were explored.
    Explored(Coverage),
    /// The system is k-MC: the least k that was found.
    Compatible(usize),
    /// All queues can always be emptied, however long they are. The number of situations in the
    /// [certificate](crate::certificate::drained).
    Drained(usize),
}

/// Decides if a system is safe: explores it. At a limit, asks k-MC, and then [`drain`].
///
/// ```
/// use rumpsteak_fsm::verify::{Grounds, decide};
/// use rumpsteak_fsm::{Limits, System, Verdict, text};
///
/// // `a` may be any number of messages ahead.
/// let machines = text::parse("a: rec X . b!x; b!x; X  b: rec X . a?x; X")?;
/// let found = decide(&System::new(machines)?, &Limits::default());
/// assert!(found.verdict.is_safe());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decide(system: &System, limits: &Limits) -> Decision {
    let mut exploration = explore(system, limits);
    let verdict = match &exploration.verdict {
        Verdict::Safe(()) => Verdict::Safe(Grounds::Explored(exploration.coverage)),
        Verdict::Unsafe(run) => Verdict::Unsafe(Box::new(run.clone())),
        // A system that is k-MC starves no role.
        &Verdict::Undecided(limit) if exploration.starvation.is_some() => Verdict::Undecided(limit),
        &Verdict::Undecided(limit) => match kmc::check(system, limits).verdict {
            kmc::Verdict::Safe(bound) => Verdict::Safe(Grounds::Compatible(bound)),
            kmc::Verdict::Unsafe(run) if matches!(run.failure, Failure::Starvation(_)) => {
                exploration.starvation = Some(*run);
                Verdict::Undecided(limit)
            }
            kmc::Verdict::Unsafe(run) => Verdict::Unsafe(run),
            kmc::Verdict::Undecided(_) => match drain(system, limits) {
                Some(found) => Verdict::Safe(Grounds::Drained(found.situations.len())),
                None => Verdict::Undecided(limit),
            },
        },
    };
    Decision { verdict, exploration }
}
