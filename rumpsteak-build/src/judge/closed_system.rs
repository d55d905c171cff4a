//! Whether sessions are safe together, with one another and with nobody else.
//!
//! ```text
//!   sessions of s ─┐
//!   sessions of k ─┼─ a system for each choice of one session per role ─ k-MC
//!   sessions of t ─┘
//!
//! one session ≤ its projection     safe with every peer that keeps to the protocol
//! a closed system, k-MC            safe with these very peers
//! ```
//!
//! Closed systems are the roles of a set with `#[closed_system]`, which has no protocol; and those
//! of a protocol one of whose sessions is refused. Subtyping knows nothing of the peers but the
//! protocol, so it refuses orders that only these peers can bear. That they are safe together is a
//! proof only if no other program takes part, which no build can see: so the module has to accept
//! it, by the word `accept_closed_system` in the attribute of the module.
//!
//! Each role needs a session, because nobody knows what its peers meet otherwise. A role may have
//! several and begin any of them, in whatever target, so every combination is judged, and the
//! largest of the least bounds k is the answer. The system holds as a whole or not at all: a proof
//! about one session is a proof about its peers.
//!
//! Sessions that follow one another need no judgement of their own. In a system that is k-MC, a
//! role that ends a session has received all that was sent to it, and its own messages will be
//! received. The runtime gives a role no message of a session that it has not begun.
//!
//! At most [`Limits::combinations`] systems are judged, each within the limits of the verifier.

use std::iter::successors;

use rumpsteak_fsm::kmc::{self, Verdict};
use rumpsteak_fsm::run::{Failure, Step, Wait};
use rumpsteak_fsm::system::keeps_promises;
use rumpsteak_fsm::{Action, Direction, Role, Run, StateId, System, Transition, TransitionId};
use rumpsteak_scribble::Projection;

use rumpsteak_front::arguments::Liveness;

use crate::fault::{Blamed, Gap};
use crate::limits::Limits;
use crate::scope::Place;
use crate::scope::machine::SessionMachine;

/// A role of a closed system.
#[derive(Debug)]
pub(crate) struct Member<'a> {
    /// The role, as the user calls it.
    pub(crate) name: String,
    pub(crate) sessions: Vec<Session<'a>>,
}

/// A session of a closed system.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) name: &'a str,
    /// `None` if the session was not read.
    pub(crate) machine: Option<&'a SessionMachine>,
}

/// The projections of the protocol that a closed system stands for, and by role the liveness that
/// build.rs asks for.
pub(crate) type Promised<'a> = (&'a [Projection], &'a [Option<Liveness>]);

/// Why sessions are not known to be a safe closed system, and what of the run that shows it is to
/// blame, with its places.
pub(crate) type Refusal = (Gap, Option<(Blamed, Vec<Place>)>);

/// Judges every combination of sessions: the least bound for which all of them are k-MC. With a
/// protocol, they also have to receive in every run what it has received in every run.
pub(crate) fn judge(
    members: &[Member<'_>],
    promised: Option<Promised<'_>>,
    limits: &Limits,
) -> Result<usize, Refusal> {
    if let Some(silent) = members.iter().find(|member| member.sessions.is_empty()) {
        return Err((Gap::Silent(silent.name.clone()), None));
    }
    let mut machines: Vec<Vec<(&str, &SessionMachine)>> = Vec::new();
    for member in members {
        let mut of_role = Vec::new();
        for session in &member.sessions {
            let unread = || (Gap::Unread(session.name.to_owned()), None);
            of_role.push((session.name, session.machine.ok_or_else(unread)?));
        }
        machines.push(of_role);
    }
    let chosen = combinations(&machines, limits);
    let mut bound = 0;
    for chosen in chosen.map_err(|reason| (Gap::Undecided(reason), None))? {
        let of_several = chosen.iter().zip(&machines).filter(|(_, of_role)| of_role.len() > 1);
        let named: Vec<String> = of_several.map(|((name, _), _)| (*name).to_owned()).collect();
        let chosen: Vec<&SessionMachine> = chosen.iter().map(|(_, machine)| *machine).collect();
        bound = bound.max(judge_one(&chosen, &named, promised, limits)?);
    }
    Ok(bound)
}

/// Every way to take one session of each role.
///
/// # Errors
/// The reason why nothing is judged: there are too many.
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
            // Where a role has none, there is no combination.
            let chosen = of_role[number % of_role.len()];
            number /= of_role.len();
            chosen
        });
        chosen.collect()
    }))
}

/// Judges one combination: `named` are the sessions of roles that have several.
fn judge_one(
    machines: &[&SessionMachine],
    named: &[String],
    promised: Option<Promised<'_>>,
    limits: &Limits,
) -> Result<usize, Refusal> {
    let undecided = |reason: String| (Gap::Undecided(reason), None);
    let system = System::new(machines.iter().map(|machine| machine.fsm.clone()).collect())
        .map_err(|error| undecided(error.to_string()))?;
    let verdict = kmc::check(&system, &limits.verifier).verdict;
    let refuse = |run: Box<Run>| {
        let blamed = blame(machines, &run);
        (Gap::Unsafe(run, named.to_vec()), blamed)
    };
    if let (Some((projections, asked)), Verdict::Safe { .. }) = (promised, &verdict) {
        let projected = System::new(projections.iter().map(|of| of.fsm.clone()).collect());
        let projected = projected.map_err(|error| undecided(error.to_string()))?;
        let roles = || projections.iter().map(|of| of.fsm.role());
        let asked_of = |role: &Role| roles().zip(asked).find(|(own, _)| *own == role);
        let is_asked =
            |role: &Role| asked_of(role).is_some_and(|(_, asked)| *asked != Some(Liveness::Fair));
        match keeps_promises(&system, &projected, is_asked, &limits.verifier) {
            rumpsteak_fsm::Verdict::Unsafe(run) => return Err(refuse(run)),
            rumpsteak_fsm::Verdict::Undecided(limit)
                if asked.contains(&Some(Liveness::EveryRun)) =>
            {
                return Err(undecided(format!(
                    "that each message is received in every run: {limit}"
                )));
            }
            _ => {}
        }
    }
    match verdict {
        Verdict::Safe { bound } => Ok(bound),
        Verdict::Unsafe(run) => Err(refuse(run)),
        Verdict::Undecided { limit, obstacle } => Err(undecided(match obstacle {
            Some(obstacle) => format!("{limit}: {obstacle}"),
            None => limit.to_string(),
        })),
    }
}

/// What of a run is to blame, and where that is written: a wait for what the peer sends nowhere;
/// the last step of a role that has ended, but is waited for; roles each of which waits for the
/// next one; or else the last step.
fn blame(machines: &[&SessionMachine], run: &Run) -> Option<(Blamed, Vec<Place>)> {
    let of = |role: &Role| machines.iter().find(|machine| machine.fsm.role() == role);
    let has_ended = |role: &Role| {
        let stands = run.states.iter().find(|(stands, _)| stands == role);
        stands.zip(of(role)).is_some_and(|((_, state), own)| own.fsm.is_terminal(*state))
    };
    let origin = |role: &Role, id: TransitionId| of(role)?.origins.get(id.index()).copied();
    let of_wait = |&number: &usize| {
        let wait = run.waits.get(number)?;
        origin(&wait.role, wait.transitions.first()?.0)
    };
    // Whether what a role waits for is sent to it, from a state of the peer on or anywhere.
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
    // The wait of the only peer of a wait, if that sends later what is waited for.
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
    // Beginning with who has waited for longest.
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
