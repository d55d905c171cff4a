//! Closed systems: sessions that are safe with one another, but not with every peer.
//!
//! ```text
//!   sessions of s ─┐
//!   sessions of k ─┼─ a system for each choice of one session per role ─ k-MC
//!   sessions of t ─┘
//!
//! one session ≤ its projection     safe with every peer that follows the protocol
//! a closed system, k-MC            safe with exactly these peers
//! ```
//!
//! A closed system is either a module with `#[closed_system]`, which has no protocol, or a protocol
//! that refuses one of its sessions. The latter is only safe if no other program takes part. The
//! build cannot check that, so the module has to say `accept_closed_system`.
//!
//! Each role needs a session. Every combination of sessions is judged, and the bound is the largest
//! k. One unsafe combination makes the system unsafe. Successive sessions need no judgement: a role
//! that has ended a session has received all of its messages, and the runtime never delivers
//! messages of a session that the role has not begun.

use std::iter::successors;

use rumpsteak_front::arguments::Liveness;
use rumpsteak_fsm::kmc;
use rumpsteak_fsm::run::{Failure, Step, Wait};
use rumpsteak_fsm::system::keeps_promises;
use rumpsteak_fsm::verify::dead_receives;
use rumpsteak_fsm::{
    Action, Direction, Role, Run, StateId, System, Transition, TransitionId, Verdict,
};

use crate::fault::{Blamed, Gap};
use crate::limits::Limits;
use crate::protocols::Loaded;
use crate::scope::session::SessionMachine;
use crate::scope::{ItemId, Place, Scope};
use crate::settings::Settings;

pub(crate) type Session<'a> = (ItemId, &'a SessionMachine);

/// The reason why sessions are not known to be safe, and the part of the run to blame, with places.
pub(crate) type Refusal = (Gap, Option<(Blamed, Vec<Place>)>);

/// Finds the least bound for which all combinations of sessions are k-MC. With a protocol, every
/// run also has to receive each message that every run of the protocol receives.
pub(crate) fn judge(
    scope: &Scope<'_>,
    sessions: &[Vec<Session<'_>>],
    protocol: Option<&Loaded>,
    settings: &Settings,
) -> Result<usize, Refusal> {
    let limits = &settings.limits.scribble.verifier;
    let undecided = |reason: String| (Gap::Undecided(reason), None);
    let compose = |fsms| System::new(fsms).map_err(|error| undecided(error.to_string()));
    let mut bound = 0;
    for chosen in combinations(sessions, &settings.limits).map_err(undecided)? {
        let machines: Vec<&SessionMachine> = chosen.iter().map(|(_, machine)| *machine).collect();
        let system = compose(machines.iter().map(|machine| machine.fsm.clone()).collect())?;
        let kmc::Report { verdict, obstacle, .. } = kmc::check(&system, limits);
        let refuse = |run: Box<Run>| {
            let blamed = blame(&machines, &run);
            (Gap::Unsafe(run, of_several(scope, &chosen, sessions)), blamed)
        };
        if let (Some(Loaded { projections, .. }), Verdict::Safe(_)) = (protocol, &verdict) {
            let required = &settings.required;
            let projected = compose(projections.iter().map(|of| of.fsm.clone()).collect())?;
            let is_required = |role: &Role| {
                let position = projections.iter().position(|of| of.fsm.role() == role);
                position.is_some_and(|position| required[position] != Some(Liveness::Fair))
            };
            match keeps_promises(&system, &projected, is_required, limits) {
                Verdict::Unsafe(run) => return Err(refuse(run)),
                Verdict::Undecided(limit) if required.contains(&Some(Liveness::EveryRun)) => {
                    let reason = format!("that each message is received in every run: {limit}");
                    return Err(undecided(reason));
                }
                _ => {}
            }
        }
        match verdict {
            Verdict::Safe(least) => {
                for (own, fsm) in system.machines().iter().enumerate() {
                    let mut projections = protocol.iter().flat_map(|of| &of.projections);
                    let projected = projections.find(|of| of.fsm.role() == fsm.role());
                    match dead_receives(&system, own, projected.map(|of| &of.fsm), limits) {
                        Verdict::Safe(()) => {}
                        Verdict::Unsafe(run) => return Err(refuse(run)),
                        Verdict::Undecided(limit) => return Err(undecided(limit.to_string())),
                    }
                }
                bound = bound.max(least);
            }
            Verdict::Unsafe(run) => return Err(refuse(run)),
            Verdict::Undecided(limit) => {
                let obstacle = obstacle.map(|obstacle| format!(": {obstacle}")).unwrap_or_default();
                return Err(undecided(format!("{limit}{obstacle}")));
            }
        }
    }
    Ok(bound)
}

/// The names of the chosen sessions of roles that have several.
pub(super) fn of_several(
    scope: &Scope<'_>,
    chosen: &[Session<'_>],
    sessions: &[Vec<Session<'_>>],
) -> Vec<String> {
    let several = chosen.iter().zip(sessions).filter(|(_, of_role)| of_role.len() > 1);
    several.map(|((item, _), _)| scope.name_of(*item)).collect()
}

/// All choices of one session per role.
pub(super) fn combinations<T: Copy>(
    sessions: &[Vec<T>],
    limits: &Limits,
) -> Result<impl Iterator<Item = Vec<T>>, String> {
    let counts = sessions.iter().map(Vec::len);
    let count = counts.fold(1_usize, |product, count| product.saturating_mul(count));
    if count > limits.combinations {
        return Err(format!(
            "the roles have {count} combinations of sessions, and at most {} are judged \
             (limit `combinations`)",
            limits.combinations
        ));
    }
    Ok((0..count).map(|mut number| {
        let chosen = sessions.iter().map(|of_role| {
            // The count is 0 if a role has no session.
            let chosen = of_role[number % of_role.len()];
            number /= of_role.len();
            chosen
        });
        chosen.collect()
    }))
}

/// The part of a run to blame, and its places: a receive that never happens; a wait for a message
/// that the peer never sends; the last step of a role that has ended, but is waited for; a circle
/// of waits; or else the last step.
fn blame(machines: &[&SessionMachine], run: &Run) -> Option<(Blamed, Vec<Place>)> {
    let of = |role: &Role| machines.iter().find(|machine| machine.fsm.role() == role);
    let has_ended = |role: &Role| {
        let stands = run.states.iter().find(|(stands, _)| stands == role);
        stands.zip(of(role)).is_some_and(|((_, state), own)| own.fsm.is_terminal(*state))
    };
    let origin = |role: &Role, id: TransitionId| of(role)?.origins.get(id.index()).copied();
    if let Failure::Never { role, action, .. } = &run.failure {
        let (_, state) = run.states.iter().find(|(own, _)| own == role)?;
        let dead = of(role)?.fsm.transitions_from(*state).find(|by| by.action == action)?;
        return Some((Blamed::Dead, vec![origin(role, dead.id)?]));
    }
    let of_wait = |&number: &usize| {
        let wait = run.waits.get(number)?;
        origin(&wait.role, wait.transitions.first()?.0)
    };
    // True if the awaited message is sent to the role, from a state of the peer or anywhere.
    let is_sent = |role: &Role, due: &Action, from: Option<StateId>| {
        let sends = |sent: Transition<'_>| {
            let Action { direction, peer, message } = sent.action;
            *direction == Direction::Send && peer == role && *message == due.message
        };
        of(&due.peer).is_some_and(|peer| {
            let mut states = peer.fsm.reachable_from(from.unwrap_or(peer.fsm.initial()));
            states.any(|state| peer.fsm.transitions_from(state).any(sends))
        })
    };
    let is_in_vain =
        |wait: &Wait| wait.transitions.iter().all(|(_, due)| !is_sent(&wait.role, due, None));
    if let Some(number) = run.waits.iter().position(is_in_vain) {
        return Some((Blamed::Unsent(number), vec![of_wait(&number)?]));
    }
    let mut awaited = run.waits.iter().flat_map(|wait| &wait.transitions);
    let left = awaited.find(|(_, due)| has_ended(&due.peer)).map(|(_, due)| &due.peer);
    // The wait of the only peer of a wait, if that peer sends the awaited message later.
    let next = |number: &usize| {
        let Wait { role, transitions, .. } = &run.waits[*number];
        let (_, first) = transitions.first()?;
        let next = run.waits.iter().position(|wait| wait.role == first.peer)?;
        let is_later = |due| is_sent(role, due, Some(run.waits[next].state));
        let is_peer = |due: &Action| due.peer == first.peer && due.peer != *role;
        let is_only = transitions.iter().all(|(_, due)| is_peer(due));
        (is_only && transitions.iter().any(|(_, due)| is_later(due))).then_some(next)
    };
    let circle = |first: usize| {
        let waits = successors(Some(first), next).skip(1).take(run.waits.len());
        let behind: Vec<usize> = waits.collect();
        let length = behind.iter().position(|number| *number == first)?;
        Some([&[first], &behind[..length]].concat())
    };
    // The roles that have waited longest come first.
    let mut waits: Vec<usize> = (0..run.waits.len()).collect();
    let last = |role: &Role| run.steps.iter().rposition(|step| step.role == *role);
    waits.sort_by_key(|&number| last(&run.waits[number].role));
    let may_be = run.failure == Failure::Deadlock && left.is_none();
    if let Some(waits) = waits.into_iter().filter(|_| may_be).find_map(circle) {
        let places = waits.iter().map(of_wait).collect::<Option<_>>()?;
        return Some((Blamed::Circle(waits), places));
    }
    let is_last = |step: &Step| left.is_none_or(|left| step.role == *left);
    let number = run.steps.iter().rposition(is_last)?;
    let step = &run.steps[number];
    Some((Blamed::Step(number), vec![origin(&step.role, step.transition)?]))
}
