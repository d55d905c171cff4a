#![doc = include_str!("subtype.md")]

mod anticipation;
mod asm;
mod draining;
mod pair;
mod prefix;
mod proof;
mod reachability;
mod record;
mod refusal;
mod rules;
mod search;
mod sequences;
mod unbounded;

use self::draining::Stop;
use self::pair::Pair;
use self::search::Search;
use crate::certificate::{Certificate, Steps};
use crate::machine::{Action, Fsm, StateId};
use crate::verdict::{Limit, Limits, Verdict};

pub use self::proof::Proof;
pub use self::refusal::{InputError, Refusal, Rule, Side};

/// Judges `sub ≤ sup`. The names of peers are compared, the names of the two roles are not.
///
/// ```
/// use rumpsteak_fsm::{Limits, Verdict, dot, subtype};
///
/// let sup = dot::parse(r#"digraph b { 0 -> 1 [label="a?v"]; 1 -> 0 [label="c!v"] }"#)?.remove(0);
/// let sub = dot::parse(r#"digraph b { 0 -> 1 [label="c!v"]; 1 -> 0 [label="a?v"] }"#)?.remove(0);
///
/// // Sending before receiving is safe …
/// assert!(subtype::check(&sub, &sup, &Limits::default())?.is_safe());
/// // … and the other way round is not.
/// let verdict = subtype::check(&sup, &sub, &Limits::default())?;
/// let refusal = verdict.refusal().ok_or("a refusal is expected")?;
/// assert_eq!(refusal.rule, subtype::Rule::InputBeforeOutput);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If one of the machines is not [directed](Fsm::check_directed), and they do not do the same
/// actions in the same order, as [`steps`](crate::certificate::steps) defines it.
pub fn check(sub: &Fsm, sup: &Fsm, limits: &Limits) -> Result<Verdict<Proof, Refusal>, InputError> {
    let pair = match directed(sub, sup) {
        Ok(pair) => pair,
        Err(error) => {
            let steps = steps(sub, sup).ok_or(error)?;
            let (situations, certificate) = (steps.pairs.len(), Certificate::Steps(steps));
            return Ok(Verdict::Safe(Proof::written(situations, Some(0), certificate)));
        }
    };
    let size = pair.sub.len() + pair.sup.len();
    let anticipation = limits.anticipation.saturating_mul(size.div_ceil(100).max(1));
    let limits = &limits.anticipation(anticipation);
    // If more and more is pending, no budget helps the first engine, so the second is asked early.
    let quick = limits
        .anticipation(limits.anticipation.min(16 + 4 * size))
        .steps(limits.steps.min(2_000 + 200 * size));
    let budgets = [quick, *limits];
    let budgets = if quick == *limits { &budgets[1..] } else { &budgets };
    let mut verdict = Verdict::Undecided(Limit::Steps(limits.steps));
    let mut widen = true;
    for budget in budgets {
        verdict = remembered(&pair, sub, sup, budget);
        if !matches!(verdict, Verdict::Undecided(_)) {
            break;
        }
        if widen {
            match unbounded::search(&pair, budget, false) {
                Ok(proof) => return Ok(Verdict::Safe(proof)),
                // A larger budget would not help.
                Err(Stop::Stuck) => widen = false,
                Err(Stop::Spent) => {}
            }
        }
    }
    Ok(verdict)
}

/// Looks for a proof that `sub ≤ sup` in the [fair relation](crate::certificate::invariant::fair):
/// everything that is put off *can* always still be done. `None` if no proof was found. Neither
/// relation implies the other.
///
/// ```
/// use rumpsteak_fsm::{Limits, subtype, text};
///
/// let sup = text::parse("p: rec X . {h!data; {h?ok; X, h?ko; X}, h!enough; h?bye; end}")?.remove(0);
/// let sub = "p: rec X . {h!data; X, h!enough; rec Y . {h?ok; Y, h?ko; Y, h?bye; end}}";
/// let sub = text::parse(sub)?.remove(0);
/// // It may send data for ever, and never read an answer.
/// assert!(!subtype::check(&sub, &sup, &Limits::default())?.is_safe());
/// assert!(subtype::check_fair(&sub, &sup, &Limits::default())?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If one of the machines is not [directed](Fsm::check_directed).
pub fn check_fair(sub: &Fsm, sup: &Fsm, limits: &Limits) -> Result<Option<Proof>, InputError> {
    Ok(unbounded::search(&directed(sub, sup)?, limits, true).ok())
}

fn directed(sub: &Fsm, sup: &Fsm) -> Result<Pair, InputError> {
    for (side, machine) in [(Side::Sub, sub), (Side::Sup, sup)] {
        machine.check_directed().map_err(|defect| InputError { side, defect })?;
    }
    Ok(Pair::new(sub, sup))
}

/// Follows two machines that do everything at its turn, whatever their states are. `None` if `sub`
/// does something else, or a machine is not deterministic.
fn steps(sub: &Fsm, sup: &Fsm) -> Option<Steps> {
    sub.check_deterministic().ok()?;
    sup.check_deterministic().ok()?;
    let fits = |&(q, p): &(StateId, StateId)| fits(&sub.actions_from(q), &sup.actions_from(p));
    let pairs = sub.in_step(sup).map(|pair| fits(&pair).then_some(pair));
    Some(Steps { pairs: pairs.collect::<Option<_>>()? })
}

/// True if a state may stand for another: see the [certificate](crate::certificate::steps).
fn fits(own: &[&Action], due: &[&Action]) -> bool {
    let send = |offers: &[&Action]| offers.iter().all(|it| it.is_send());
    let within =
        |few: &[&Action], all: &[&Action]| few.iter().all(|it| all.binary_search(it).is_ok());
    let has_one_peer = own.is_sorted_by(|one, other| one.peer == other.peer);
    if own.is_empty() || due.is_empty() {
        own == due
    } else if send(own) && send(due) {
        within(own, due)
    } else if has_one_peer && !own.iter().any(|it| it.is_send()) {
        within(due, own)
    } else {
        own == due
    }
}

/// The first engine, which knows pending actions one by one.
fn remembered(pair: &Pair, sub: &Fsm, sup: &Fsm, limits: &Limits) -> Verdict<Proof, Refusal> {
    // Most protocols need no slack. It is costly if loops of choices are nested.
    let mut slack = 0;
    loop {
        match Search::new(pair, limits, slack).run() {
            Some(mut verdict) => {
                if let Verdict::Unsafe(refusal) = &mut verdict {
                    refusal.classify(sub, sup);
                }
                return verdict;
            }
            None if slack >= limits.branching => {
                return Verdict::Undecided(Limit::Branching(limits.branching));
            }
            None => slack = (2 * slack + 1).min(limits.branching),
        }
    }
}
