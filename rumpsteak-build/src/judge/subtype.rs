//! One session against its protocol.
//!
//! The judgement itself is that of [`rumpsteak_fsm::verify()`]: the machine of the session must be
//! an asynchronous subtype of the projection onto its role. Here are the token to blame, and the
//! names that the user has for what is refused.

use std::collections::BTreeMap;

use rumpsteak_contract::session::{Chain, Form, Tail};
use rumpsteak_fsm::repair::{self, Misfit};
use rumpsteak_fsm::run::{Failure, Step};
use rumpsteak_fsm::subtype::{self, InputError, Side};
use rumpsteak_fsm::verify::together::Condition;
use rumpsteak_fsm::verify::{Accepted, Evidence, Refused, VerifyError, verify_fair};
use rumpsteak_fsm::{Action, Defect, Fsm, Limits, Message, Role, StateId, Verdict, verify};

use crate::configuration::{Configuration, Liveness};
use crate::fault::{Cause, Fault, Place, Refusal, Subject};
use crate::judge::liveness;
use crate::link::context::Context;
use crate::link::labels::{LabelMatch, match_label};
use crate::protocols::{Loaded, ProtocolRole, Protocols};
use crate::sessions::machine::SessionMachine;
use crate::source::crate_tree::{ItemId, Tree};

/// Judges a session, which the struct `role` plays.
///
/// # Errors
/// What is wrong, at the token to blame.
pub(crate) fn judge(
    context: Context<'_>,
    (root, role): (ItemId, ItemId),
    linked: ProtocolRole,
    session: &SessionMachine,
    configuration: &Configuration,
) -> Result<Accepted, Box<Fault>> {
    let subject = || subject(context, root, role, linked);
    let machine = (&session.fsm, &*session.parts);
    let judged = judge_machine(context.protocols, subject, linked, machine, configuration);
    judged.map_err(|unfit| {
        let (mut cause, defect) = *unfit;
        let place = match (&mut cause, defect) {
            (Cause::Refused(refusal), _) => refused_at(context, (root, linked), session, refusal),
            (_, Some(Defect::Nondeterministic { transitions, .. })) => {
                Some(session.origins[transitions[1].index()])
            }
            _ => None,
        };
        let place = place.unwrap_or_else(|| name(context.tree, root));
        Box::new(cause.at(place.item, place.token))
    })
}

/// The token to report a refusal at. Notes if a whole choice goes the other way in the protocol,
/// and the part of itself with which the session fits.
fn refused_at(
    context: Context<'_>,
    (root, linked): (ItemId, ProtocolRole),
    session: &SessionMachine,
    refusal: &mut Refusal,
) -> Option<Place> {
    let projection = &context.protocols.protocols[linked.protocol].projections[linked.role].fsm;
    let Some((id, _)) = refusal.action else { return blame(session, &refusal.refused) };
    let (origin, behind) = (session.origins[id.index()], session.behind[id.index()]);
    let place = match &refusal.misfit {
        Some(Misfit::OtherDirection(_)) => {
            let source = session.fsm.transition(id).source;
            let is_turned = |Action { direction, message, .. }: &Action| {
                let mut dues = projection.transitions().map(|due| due.action);
                dues.any(|due| due.direction != *direction && due.message == *message)
            };
            let mut options = session.fsm.transitions_from(source);
            let form = &context.tree.session(origin.item)?.form;
            refusal.is_turned = session.states[source.index()] != origin
                && matches!(form, Form::Choice(options) if options[0].head.action().is_none())
                && options.all(|option| is_turned(option.action));
            if refusal.is_turned { session.states[source.index()] } else { origin }
        }
        Some(Misfit::Elsewhere(to, _)) => {
            refusal.right_part = part(context.tree, root, session, *to);
            behind
        }
        Some(Misfit::Missing(..)) => behind,
        _ => origin,
    };
    // Where nothing is due any more, what the session goes on as is too much.
    let found = refusal.refused.refusal.as_ref();
    let done = found.filter(|found| projection.is_terminal(found.sup_state));
    let last = done.and_then(|found| found.path.last()).filter(|_| !refusal.is_turned);
    Some(last.map_or(place, |id| session.behind[id.index()]))
}

/// What a session says to go on as the part of itself that begins in a state.
fn part(tree: &Tree, root: ItemId, session: &SessionMachine, state: StateId) -> Option<String> {
    if state == session.fsm.initial() {
        return Some(tree.item(root).name.clone());
    }
    let Place { item, token } = session.states[state.index()];
    let name = &tree.item(item).name;
    let chains: Vec<&Chain> = match &tree.session(item)?.form {
        Form::Alias(chain) | Form::Struct(chain) => vec![chain],
        Form::Choice(variants) => variants.iter().map(|variant| &variant.then).collect(),
    };
    let tail = chains.into_iter().find_map(|chain| match &chain.tail {
        Tail::Choice { constructor, peer, choice, .. } if constructor.last_token() == token => {
            let peer = peer.as_ref().map_or(String::new(), |peer| format!("{peer}, "));
            let choice = Some(choice.to_string()).filter(|choice| choice != "Self");
            let choice = choice.as_ref().unwrap_or(name);
            Some(format!("{constructor}<{peer}{choice}>"))
        }
        _ => None,
    });
    tail.or_else(|| Some(name.clone()))
}

/// The name of a session.
pub(super) fn name(tree: &Tree, root: ItemId) -> Place {
    Place::new(root, tree.session(root).map_or(0, |session| session.name_token))
}

/// Judges a machine for a role of a protocol.
///
/// # Errors
/// What is wrong, and the defect of the machine if it is one.
pub(crate) fn judge_machine(
    protocols: &Protocols,
    subject: impl Fn() -> Subject,
    linked: ProtocolRole,
    (fsm, parts): (&Fsm, &[StateId]),
    configuration: &Configuration,
) -> Result<Accepted, Box<(Cause, Option<Defect>)>> {
    let protocol = &protocols.protocols[linked.protocol];
    let projection = &protocol.projections[linked.role].fsm;
    let subject = || Box::new(subject());
    let (peers, limits) = (protocol.peers(linked.role), &configuration.limits.verifier);
    let judged = verify(fsm, projection, &peers, limits);
    let fair = match &judged {
        Ok(Verdict::Unsafe(_) | Verdict::Undecided(_)) => {
            verify_fair(fsm, projection, &peers, limits)
        }
        _ => Ok(None),
    };
    // All sessions together are asked once more about the other roles.
    let neglected = match &judged {
        Ok(Verdict::Unsafe(refused)) => refused.neglected(),
        _ => None,
    };
    let neglected = protocol.protocol.roles().iter().position(|own| Some(own) == neglected);
    let asked = ProtocolRole { role: neglected.unwrap_or(linked.role), ..linked };
    let fair = match fair {
        Ok(Some(accepted))
            if liveness::asked(configuration, protocols, asked) == Some(Liveness::Fair) =>
        {
            return Ok(accepted);
        }
        Ok(fair) => fair.is_some(),
        Err(error) => {
            return Err(Box::new((Cause::Unjudged { subject: subject(), error }, None)));
        }
    };
    let cause = match judged {
        Ok(Verdict::Safe(accepted)) => return Ok(accepted),
        Ok(Verdict::Unsafe(mut refused)) => {
            let misfit = match (&mut refused.refusal, &refused.condition, &refused.evidence) {
                (Some(found), ..) => repair::find((fsm, parts), projection, found),
                (None, Some(Condition::Undirected { .. }), Evidence::Run(run)) => {
                    let (found, misfit) = repair::on_run(fsm, projection, run).unzip();
                    refused.refusal = found;
                    misfit
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
            let cause = Cause::AmbiguousChoice { subject: subject(), defect: defect.clone() };
            return Err(Box::new((cause, Some(defect))));
        }
        Err(error) => Cause::Unjudged { subject: subject(), error },
    };
    Err(Box::new((cause, None)))
}

/// Which of these roles of the protocol a session of another one fits.
pub(super) fn fits(
    fsm: &Fsm,
    protocol: &Loaded,
    mut roles: impl Iterator<Item = usize>,
) -> Option<usize> {
    roles.find(|&role| {
        let projection = &protocol.projections[role].fsm;
        let played = fsm.edit().played_by(projection.role()).build(fsm.initial());
        is_one(&played, projection)
    })
}

/// Whether a machine is known to be a subtype of another one.
pub(super) fn is_one(sub: &Fsm, sup: &Fsm) -> bool {
    subtype::check(sub, sup, &Limits::default()).is_ok_and(|found| found.is_safe())
}

/// The state from which on a machine fits, of which the first action has no place.
pub(super) fn beginning(fsm: &Fsm, protocol: &Loaded, role: usize) -> Option<StateId> {
    const MOST: usize = 64;
    let projection = &protocol.projections[role].fsm;
    let fits = |state: &StateId| is_one(&fsm.edit().build(*state), projection);
    fsm.states().take(MOST).find(fits)
}

/// The token to report a refusal at that names no action of the session: the place where an action
/// is missing, or else the last step of the run. A session of several peers that does not send what
/// goes wrong is blamed for what it does instead of receiving.
pub(super) fn blame(session: &SessionMachine, refused: &Refused) -> Option<Place> {
    if let Some(Condition::NarrowedChoice { state, .. }) = refused.condition {
        return Some(session.states[state.index()]);
    }
    let Some(refusal) = &refused.refusal else {
        let Evidence::Run(run) = &refused.evidence else { return None };
        if let Some(dead) = run.never(&session.fsm) {
            return Some(session.origins[dead.index()]);
        }
        let own = |step: &&Step| step.role == *session.fsm.role();
        let last = run.steps.iter().rev().find(own)?;
        let is_sender = match &run.failure {
            Failure::Orphan { from, .. } | Failure::UnspecifiedReception { from, .. } => {
                from == session.fsm.role()
            }
            _ => false,
        };
        return Some(match refused.condition {
            Some(Condition::Undirected { .. }) if !is_sender => {
                session.states[session.fsm.transition(last.transition).target.index()]
            }
            _ => session.origins[last.transition.index()],
        });
    };
    Some(match (refusal.cycle.first(), refusal.path.last()) {
        (Some(transition), _) => session.origins[transition.index()],
        (None, Some(last)) if session.fsm.is_terminal(refusal.sub_state) => {
            session.behind[last.index()]
        }
        (None, _) => session.states[refusal.sub_state.index()],
    })
}

/// What the user calls a session, and what it talks about.
pub(super) fn subject(
    context: Context<'_>,
    root: ItemId,
    role: ItemId,
    linked: ProtocolRole,
) -> Subject {
    let Context { tree, protocols, pairs, .. } = context;
    let protocol = &protocols.protocols[linked.protocol];
    let file = &protocols.files[protocol.file];
    let mut labels: BTreeMap<Message, String> = BTreeMap::new();
    for label in pairs.roles.get(&role).into_iter().flat_map(|role| &*role.labels) {
        if let LabelMatch::Found(message) = match_label(label, protocol, file) {
            let written = || label.written.clone();
            labels.entry(message.clone()).or_insert_with(written);
        }
    }
    Subject {
        name: tree.item(root).name.clone(),
        linked,
        roles: structs(context, root, linked.protocol, protocol),
        labels,
    }
}

/// The structs that play the roles of a protocol, in its order: in the session's own crate if there
/// is one, and of several the one nearest to the session in the source.
fn structs(context: Context<'_>, root: ItemId, position: usize, protocol: &Loaded) -> Vec<String> {
    let Context { tree, pairs, .. } = context;
    let distance = |id: &ItemId| (tree.crate_id(*id) != tree.crate_id(root), id.0.abs_diff(root.0));
    let name = |(role, known): (usize, &Role)| {
        let wanted = ProtocolRole { protocol: position, role };
        let plays = pairs.roles.iter().filter(|(_, pair)| {
            let linked = pair.link.as_ref();
            linked.is_ok_and(|linked| *linked == wanted)
        });
        let nearest = plays.map(|(&id, _)| id).min_by_key(distance);
        nearest.map_or_else(|| known.to_string(), |id| tree.item(id).name.clone())
    };
    protocol.protocol.roles().iter().enumerate().map(name).collect()
}
