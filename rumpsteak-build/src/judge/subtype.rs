//! A session against its protocol, by [`rumpsteak_fsm::verify()`]: its machine must be an
//! asynchronous subtype of the projection onto its role. This module finds the token to blame, and
//! the names that the user knows.

use proc_macro2::Span;
use rumpsteak_front::arguments::Liveness;
use rumpsteak_front::session::Tail;
use rumpsteak_fsm::repair::{self, Misfit};
use rumpsteak_fsm::run::{Failure, Step};
use rumpsteak_fsm::subtype::{InputError, Side};
use rumpsteak_fsm::verify::together::Condition;
use rumpsteak_fsm::verify::{Accepted, Evidence, Refused, VerifyError, verify_fair};
use rumpsteak_fsm::{Defect, Fsm, StateId, TransitionId, Verdict, verify};

use crate::fault::{Cause, Hint, Refusal, Subject};
use crate::protocols::Loaded;
use crate::scope::session::SessionMachine;
use crate::scope::{ItemId, Place, Scope, ScopedRole};
use crate::settings::Settings;

/// Judges a session of a struct that plays the role at the position `own`.
pub(crate) fn judge(
    scope: &Scope<'_>,
    (protocol, own): (&Loaded, usize),
    (root, role): (ItemId, &ScopedRole<'_>),
    session: &SessionMachine,
    settings: &Settings,
) -> Result<(Accepted, bool), Box<(Place, Cause)>> {
    let subject = || subject(scope, root, role);
    let machine = (&session.fsm, &*session.parts);
    judge_machine(protocol, subject, own, machine, settings).map_err(|mut cause| {
        let place = match &mut *cause {
            Cause::Refused(refusal) => {
                refused_at(scope, root, &protocol.projections[own].fsm, session, refusal)
            }
            Cause::AmbiguousChoice {
                defect: Defect::Nondeterministic { transitions, .. }, ..
            } => Some(session.origins[transitions[1].index()]),
            _ => None,
        };
        Box::new((place.unwrap_or_else(|| name(scope, root)), *cause))
    })
}

/// The token of a refusal. Also looks for a part that would fit.
fn refused_at(
    scope: &Scope<'_>,
    root: ItemId,
    projection: &Fsm,
    session: &SessionMachine,
    refusal: &mut Refusal,
) -> Option<Place> {
    let Some((id, _)) = refusal.action else { return blamed_at(session, &refusal.refused) };
    let (origin, behind) = (session.origins[id.index()], session.behind[id.index()]);
    let place = match &refusal.misfit {
        Some(Misfit::Elsewhere(to, _)) => {
            refusal.hint = part(scope, root, session, *to).map(Hint::RightPart);
            behind
        }
        Some(Misfit::Missing(..)) => behind,
        _ => origin,
    };
    // If the protocol has ended, everything after the last action is too much.
    let found = refusal.refused.refusal.as_ref();
    let done = found.filter(|found| projection.is_terminal(found.sup_state));
    Some(done.and_then(|found| found.path.last()).map_or(place, |id| session.behind[id.index()]))
}

/// The source with which a session goes on as the part of itself that begins in a state.
fn part(scope: &Scope<'_>, root: ItemId, of: &SessionMachine, state: StateId) -> Option<String> {
    if state == of.fsm.initial() {
        return Some(scope.name_of(root));
    }
    let Place { item, span } = of.states[state.index()];
    let is_here = |tail: &&Tail| tail.ident().span().start() == span.start();
    let tails = scope.session(item)?.chains().map(|chain| &chain.tail);
    let Some(Tail::Choice { constructor, peer, choice, .. }) = { tails }.find(is_here) else {
        return Some(scope.name_of(item));
    };
    let peer = peer.as_ref().map_or(String::new(), |peer| format!("{peer}, "));
    let choice = Some(choice.to_string()).filter(|choice| choice != "Self");
    let choice = choice.unwrap_or_else(|| scope.name_of(item));
    Some(format!("{constructor}<{peer}{choice}>"))
}

pub(super) fn name(scope: &Scope<'_>, root: ItemId) -> Place {
    let span = scope.session(root).map_or_else(Span::call_site, |session| session.name.span());
    Place { item: root, span }
}

/// Judges a machine of a role. True if it is compared with the projection whose parts come in any
/// order: the other one refuses it, or accepts it with a condition only.
pub(crate) fn judge_machine(
    protocol: &Loaded,
    subject: impl Fn() -> Subject,
    role: usize,
    machine: (&Fsm, &[StateId]),
    settings: &Settings,
) -> Result<(Accepted, bool), Box<Cause>> {
    let against = |due: &Fsm| judge_against(due, protocol, &subject, role, machine, settings);
    let own = &protocol.projections[role];
    let first = against(&own.fsm);
    if first.as_ref().is_ok_and(|found| found.condition.is_none()) {
        return first.map(|found| (found, false));
    }
    match own.in_any_order.as_ref().map(against) {
        Some(Ok(found)) if first.is_err() || found.condition.is_none() => Ok((found, true)),
        _ => first.map(|found| (found, false)),
    }
}

fn judge_against(
    projection: &Fsm,
    protocol: &Loaded,
    subject: &impl Fn() -> Subject,
    role: usize,
    (fsm, parts): (&Fsm, &[StateId]),
    settings: &Settings,
) -> Result<Accepted, Box<Cause>> {
    let subject = || Box::new(subject());
    let others = protocol.projections.iter().enumerate().filter(|(other, _)| *other != role);
    let peers: Vec<&Fsm> = others.map(|(_, other)| &other.fsm).collect();
    let limits = &settings.limits.scribble.verifier;
    let judged = verify(fsm, projection, &peers, limits);
    let fair = match &judged {
        Ok(Verdict::Unsafe(_) | Verdict::Undecided(_)) => {
            verify_fair(fsm, projection, &peers, limits)
        }
        _ => Ok(None),
    };
    // The role that waits may be another one.
    let refused = judged.as_ref().ok().and_then(Verdict::refusal);
    let neglected = refused.and_then(|refused| refused.neglected());
    let neglected = protocol.protocol.roles().iter().position(|own| Some(own) == neglected);
    let required = settings.required[neglected.unwrap_or(role)];
    let fair = match fair {
        Ok(Some(accepted)) if required == Some(Liveness::Fair) => return Ok(accepted),
        Ok(fair) => fair.is_some(),
        Err(error) => return Err(Box::new(Cause::Unjudged { subject: subject(), error })),
    };
    Err(Box::new(match judged {
        Ok(Verdict::Safe(accepted)) => return Ok(accepted),
        Ok(Verdict::Unsafe(mut refused)) => {
            let misfit = match (&mut refused.refusal, &refused.condition, &refused.evidence) {
                (Some(found), ..) => repair::find((fsm, parts), projection, found),
                (None, Some(Condition::Undirected(_)), Evidence::Run(run)) => {
                    let (found, misfit) = repair::on_run(fsm, projection, run).unzip();
                    refused.refusal = found;
                    misfit.flatten()
                }
                _ => None,
            };
            let sub = refused.refusal.as_ref().and_then(|found| found.sub);
            let action = sub.map(|id| (id, fsm.transition(id).action.clone()));
            let refusal = Refusal { action, misfit, fair, ..Refusal::new(*subject(), refused) };
            Cause::Refused(Box::new(refusal))
        }
        Ok(Verdict::Undecided(limit)) => Cause::Undecided { subject: subject(), limit, fair },
        Err(VerifyError::Machine(InputError { side: Side::Sub, defect })) => {
            Cause::AmbiguousChoice { subject: subject(), defect }
        }
        Err(error) => Cause::Unjudged { subject: subject(), error },
    }))
}

/// The place to blame in a machine.
pub(super) enum Blamed {
    Action(TransitionId),
    Behind(TransitionId),
    State(StateId),
}

/// The place to blame for a refusal without an action: where an action is missing, or else the last
/// step of the run. A machine with several peers that does not send is blamed for not receiving.
pub(super) fn blame(fsm: &Fsm, refused: &Refused) -> Option<Blamed> {
    if let Some(Condition::NarrowedChoice(state, _)) = refused.condition {
        return Some(Blamed::State(state));
    }
    let Some(refusal) = &refused.refusal else {
        let Evidence::Run(run) = &refused.evidence else { return None };
        if let Some(dead) = run.never(fsm) {
            return Some(Blamed::Action(dead));
        }
        let is_own = |step: &&Step| step.transition.index() < fsm.transition_count();
        let mut own = run.steps.iter().filter(|step| step.role == *fsm.role());
        let last = own.rfind(is_own)?;
        let is_sender = match &run.failure {
            Failure::Orphan { from, .. } | Failure::UnspecifiedReception { from, .. } => {
                from == fsm.role()
            }
            _ => false,
        };
        return Some(match refused.condition {
            Some(Condition::Undirected(_)) if !is_sender => {
                Blamed::State(fsm.transition(last.transition).target)
            }
            _ => Blamed::Action(last.transition),
        });
    };
    Some(match (refusal.cycle.first(), refusal.path.last()) {
        (Some(transition), _) => Blamed::Action(*transition),
        (None, Some(last)) if fsm.is_terminal(refusal.sub_state) => Blamed::Behind(*last),
        (None, _) => Blamed::State(refusal.sub_state),
    })
}

/// The token to blame for a refusal without an action.
pub(super) fn blamed_at(session: &SessionMachine, refused: &Refused) -> Option<Place> {
    Some(match blame(&session.fsm, refused)? {
        Blamed::Action(id) => session.origins[id.index()],
        Blamed::Behind(id) => session.behind[id.index()],
        Blamed::State(state) => session.states[state.index()],
    })
}

/// The names of a session, its roles and its messages in the user's source.
pub(super) fn subject(scope: &Scope<'_>, root: ItemId, role: &ScopedRole<'_>) -> Subject {
    let labels = role.labels.values();
    let labels = labels.filter_map(|of| Some((of.message.clone().ok()?, of.ty.to_string())));
    let own = role.position.unwrap_or_default();
    let players = scope.roles.iter();
    let roles = players.map(|player| (player.role.clone(), player.item.name.to_string()));
    let (name, roles, labels) = (scope.name_of(root), roles.collect(), labels.collect());
    Subject { name, role: own, roles, labels }
}
