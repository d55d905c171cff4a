//! The capacities that routes declare: can the sessions of a module hang at these sizes?
//!
//! [`rumpsteak_fsm::bounded`] judges every combination of the roles' sessions. A queue is unbounded
//! if its route declares nothing. A role may have chosen a send before there is room, even in a
//! `Race`: once its future has completed, the role only sends.
//!
//! # Why it is sound
//!
//! *Larger queues.* A real queue may hold more than is declared, for example in the buffers of a
//! connection. So "safe" counts only if larger queues are safe too. Either the cut-off of
//! [`Safe::AndLarger`] proves that, or the sessions are directed: see
//! [`capacity`](rumpsteak_fsm::capacity).
//!
//! *Successive sessions.* A queue that is made by hand holds messages of several sessions. Consider
//! the lowest session that some role is in. A role that has ended it has received all messages of
//! it, and its own are in the queues, before all later ones. So between two roles in this session,
//! a queue holds messages of this session only, and they act as judged. Each later session is a run
//! of the judged system in which some sends wait longer. A role on demand between two calls is in
//! the session of the next call.
//!
//! *Other programs.* The sessions are safe with one another, as a closed system is. The number of
//! the system covers the capacities, so a peer with others is refused.
//!
//! *Every run.* A sender that waits for room needs a receiver that receives. This is so in every
//! run if all roles are live in every run.

use proc_macro2::Span;
use rumpsteak_front::arguments::Liveness;
use rumpsteak_fsm::bounded::{Bounded, Hang, Queue, Safe, Topology};
use rumpsteak_fsm::{Direction, Fsm, Role, System, Transition, Verdict};

use crate::fault::{Cause, Fault, Hangs};
use crate::judge::closed_system::{combinations, of_several};
use crate::judge::sessions::Judgement;
use crate::scope::Scope;
use crate::settings::Settings;

/// A queue with its declared capacity, and the place of the declaration.
type Declared = (Queue, usize, Span);

/// A hang, and the least capacity that is enough for all of these queues, if one was found.
type Hanging = (Box<Hang>, Option<usize>);

/// The largest capacity that is tried for advice, and the number of configurations for each.
const ADVICE: (usize, usize) = (32, 5_000);

/// Judges the sessions of a module without a mistake at the capacities of its routes.
pub(crate) fn judge(
    scope: &Scope<'_>,
    judgement: &mut Judgement,
    settings: &Settings,
) -> Option<Fault> {
    let mut declared: Vec<Declared> = vec![];
    for own in &scope.roles {
        declared.extend(own.item.routes.iter().filter_map(|route| {
            let ((most, span), peer) = (scope.capacity(route)?, scope.role(&route.peer)?);
            let (from, to) = (Some(own.role.clone()), peer.role.clone());
            Some((Queue { from, to, labels: vec![] }, most, span))
        }));
    }
    let first = declared.first()?;
    judgement.is_closed = true;
    judgement.capacities =
        declared.iter().map(|(queue, most, _)| format!("{queue}: {most};")).collect();
    let set = scope.module.name.to_string();
    let undecided = |reason| Some(Cause::UndecidedCapacities { set, reason }.at(first.2));
    if scope.loaded().is_some_and(|(protocol, _)| !protocol.counts()) {
        return undecided("the number of members of a family matters".to_owned());
    }
    let late = scope.loaded().map_or_else(Vec::new, |(protocol, _)| protocol.late());
    let is_declared = |(from, to): &&(Role, Role)| {
        declared.iter().any(|(queue, ..)| (queue.from.as_ref(), &queue.to) == (Some(from), to))
    };
    if let Some((from, to)) = late.iter().find(is_declared) {
        return undecided(format!("`{to}` may end and leave messages of `{from}` in the queue"));
    }
    let Some(sessions) = judgement.sessions(scope) else {
        return undecided("a role has no session".to_owned());
    };
    let chosen = match combinations(&sessions, &settings.limits) {
        Ok(chosen) => chosen,
        Err(reason) => return undecided(reason),
    };
    for chosen in chosen {
        let machines: Vec<Fsm> = chosen.iter().map(|(_, machine)| machine.fsm.clone()).collect();
        let is_member = |fsm: &&Fsm| scope.loaded()?.0.protocol.members(fsm.role());
        let mut members = machines.iter().filter(|fsm| is_member(fsm).is_some());
        if let Some(fsm) = members.find(|fsm| fsm.check_directed().is_err()) {
            return undecided(format!("a member of `{}` receives from several roles", fsm.role()));
        }
        let roles = machines.iter().map(|fsm| (fsm.role().clone(), fsm.initial())).collect();
        let (hang, enough) = match judge_one(machines, &declared, settings) {
            Ok(None) => continue,
            Ok(Some(hangs)) => hangs,
            Err(reason) => return undecided(reason),
        };
        let is_full = |(queue, ..): &&Declared| {
            let mut full = hang.waits.iter().filter_map(|wait| wait.full.as_ref());
            full.any(|(full, _)| full == queue)
        };
        let (queue, most, span) = declared.iter().find(is_full).unwrap_or(first).clone();
        let with = of_several(scope, &chosen, &sessions);
        let hangs = Hangs { queue, most, hang, roles, enough, with };
        return Some(Cause::Hangs(Box::new(hangs)).at(span));
    }
    None
}

/// Judges one combination of sessions. An error is the reason why it is undecided.
fn judge_one(
    machines: Vec<Fsm>,
    declared: &[Declared],
    settings: &Settings,
) -> Result<Option<Hanging>, String> {
    let system = System::new(machines).map_err(|error| error.to_string())?;
    let is_used = |queue: &Queue| {
        let sent = Direction::Send;
        let sends =
            |by: Transition<'_>| (by.action.direction, &by.action.peer) == (sent, &queue.to);
        let mut senders = system.machines().iter();
        let sender = senders.find(|own| Some(own.role()) == queue.from.as_ref());
        sender.is_some_and(|own| own.transitions().any(sends))
    };
    let limits = settings.limits.scribble.verifier;
    let check = |least: usize, limits| {
        let used = declared.iter().filter(|(queue, ..)| is_used(queue));
        let topology = used.fold(Topology::default(), |all, (queue, most, _)| {
            all.bound(queue.clone(), least.max(*most))
        });
        Bounded::new(system.machines().to_vec(), &topology).map(|of| of.check(&limits))
    };
    match check(0, limits).map_err(|error| error.to_string())? {
        Verdict::Undecided(limit) => return Err(limit.to_string()),
        Verdict::Unsafe(hang) => {
            let (largest, configurations) = ADVICE;
            let few = limits.configurations(limits.configurations.min(configurations));
            let is_enough = |&all: &usize| check(all, few).is_ok_and(|found| found.is_safe());
            return Ok(Some((hang, (1..=largest).find(is_enough))));
        }
        Verdict::Safe(safe) => {
            let is_directed = |fsm: &Fsm| fsm.check_directed().is_ok();
            if safe != Safe::AndLarger && !system.machines().iter().all(is_directed) {
                return Err(LARGER.to_owned());
            }
        }
    }
    let required = &settings.required;
    let is_strict = |role: &Option<Liveness>| *role == Some(Liveness::EveryRun);
    let asks_some = required.iter().any(is_strict) && !required.iter().all(is_strict);
    if asks_some { Err(EVERY_RUN.to_owned()) } else { Ok(None) }
}

const EVERY_RUN: &str = "only some roles are `every_run`, and a sender may wait for room while another role does something \
                         else for ever";
const LARGER: &str = "with exactly this room they do not, but a queue may hold more, and a role that chooses among several \
                      peers, or races, may then go another way";
