//! Why an action has no place where it is done, if no edit explains a refusal.
//!
//! ```text
//! supertype      ?run ─ !done ─┐        the subtype does `!done` first: it does not know yet
//!        start ─┤              ⟲        whether `run` or `stop` comes
//!                ?stop ─ end
//! ```

use std::collections::{HashSet, VecDeque};

use crate::machine::{Action, Direction, Fsm, IndexSet, StateId, Transition, TransitionId};
use crate::subtype::{Refusal, Rule};
use crate::system::{Failure, Run};

/// Why an action of a subtype has no place. Transitions are transitions of the supertype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The action is there with another peer.
    OtherPeer(TransitionId),
    /// The message goes the other way.
    OtherDirection(TransitionId),
    /// The message has another payload.
    OtherPayload(TransitionId),
    /// This peer has no such message; this one may be meant.
    Unknown(Option<TransitionId>),
    /// These may come instead, and the subtype never takes any of them.
    NoOption(Vec<TransitionId>),
    /// One of these is due behind it, or before what is there, and does not come. True if the
    /// subtype never does it.
    Missing(Vec<TransitionId>, bool),
    /// Behind it the subtype goes on as the wrong part of itself: it fits if it does so from this
    /// state on, and does these there.
    Elsewhere(StateId, Vec<TransitionId>),
    /// Without it the subtype fits; and why it has no place, unless it comes once more.
    Superfluous(Option<Box<Self>>),
    /// It comes after a choice that is not made yet: its options, and those that lead to it.
    Undecided(Vec<TransitionId>, Vec<TransitionId>),
    /// It comes in another branch.
    OtherBranch(TransitionId),
    /// It was done already, and comes no more.
    Repeated(TransitionId),
}

/// A refusal at the place of its cause, and why the action there has no place.
pub(super) type Cause = (Refusal, Misfit);

/// The misplaced action, and why. `None` if it comes later in any case: its order is wrong.
pub(super) fn order(sub: &Fsm, sup: &Fsm, walk: &[StateId], refusal: &Refusal) -> Option<Cause> {
    let mut here = sub.transitions_from(refusal.sub_state);
    // A message that is not handled may have another name in the subtype.
    let is_blamed = |id| refusal.sub.map_or(refusal.rule == Rule::InputNotHandled, |own| own == id);
    here.find_map(|own| {
        let mut refusal = Refusal { sub: Some(own.id), ..refusal.clone() };
        if !is_blamed(own.id) {
            return None;
        }
        if !does(sup, own.action) {
            return Some((refusal, unknown(sub, sup, own.action)));
        }
        let Some(&state) = walk.get(refusal.path.len()) else {
            // The subtype is ahead, as it may be. What it does here may depend on what is due.
            let misfit = undecided(sup, refusal.sup_state, own.action)?;
            return Some((refusal, misfit));
        };
        let misfit = displaced(sub, sup, &refusal.path, walk, own.action)?;
        if refusal.rule == Rule::InputNotHandled && !matches!(misfit, Misfit::OtherBranch(_)) {
            return None;
        }
        // The action that is due here, and not where subtyping stopped.
        if refusal.sup_state != state {
            let due = sup.transitions_from(state).next();
            (refusal.sup_state, refusal.sup) = (state, due.map(|due| due.id));
        }
        Some((refusal, misfit))
    })
}

/// An action that comes before the choice that decides about it, if the subtype then takes an
/// option that does not lead to the action.
///
/// ```text
/// supertype   (!yes ─ !go | !no)
/// subtype     !go ─ (!yes | !no)             subtyping stops at `!no`, but `!go` is to blame
/// ```
pub(super) fn early(sub: &Fsm, sup: &Fsm, walk: &[StateId], refusal: &Refusal) -> Option<Cause> {
    let mut path = refusal.path.clone();
    let early = sub.transition(*path.get(walk.len() - 1)?);
    path.truncate(walk.len() - 1);
    let sup_state = walk[path.len()];
    let misfit = displaced(sub, sup, &path, walk, early.action)?;
    let Misfit::Undecided(options, after) = &misfit else { return None };
    let stop = sub.transition(refusal.sub?).action;
    let is_taken = |id: &TransitionId| sup.transition(*id).action == stop;
    if !options.iter().any(is_taken) || after.iter().any(is_taken) {
        return None;
    }
    let (sub_state, sub, sup) = (early.source, Some(early.id), after.first().copied());
    let (rule, cycle) = (Rule::OutputNotReached, Vec::new());
    Some((Refusal { rule, path, sub_state, sub, sup_state, sup, cycle }, misfit))
}

/// Looks for the cause of a run that goes wrong although subtyping accepts the machine. A message
/// that it cannot take in the end has no misfit.
pub fn on_run(sub: &Fsm, sup: &Fsm, run: &Run) -> Option<(Refusal, Option<Misfit>)> {
    let misplaced = misplaced(sub, sup, run);
    let misfit = misplaced.or_else(|| turned(sub, sup, sub.initial(), path(sub, run)));
    let misfit = misfit.map(|(refusal, misfit)| (refusal, Some(misfit)));
    misfit.or_else(|| Some((unhandled(sub, sup, run).or_else(|| forgotten(sub, sup))?, None)))
}

/// The first end of the subtype where the supertype, which has done the same, goes on.
fn forgotten(sub: &Fsm, sup: &Fsm) -> Option<Refusal> {
    let mut pending = VecDeque::from([(sub.initial(), sup.initial(), Vec::new())]);
    let mut seen = HashSet::from([(sub.initial(), sup.initial())]);
    while let Some((sub_state, sup_state, path)) = pending.pop_front() {
        let due = sup.transitions_from(sup_state).next();
        if let Some(due) = due.filter(|_| sub.is_terminal(sub_state)) {
            let (rule, cycle, sup) = (Rule::Forgotten, Vec::new(), Some(due.id));
            return Some(Refusal { rule, path, sub_state, sub: None, sup_state, sup, cycle });
        }
        for own in sub.transitions_from(sub_state) {
            let same = sup.transitions_from(sup_state).find(|due| due.action == own.action);
            let Some(same) = same.filter(|due| seen.insert((own.target, due.target))) else {
                continue;
            };
            let path = path.iter().copied().chain([own.id]).collect();
            pending.push_back((own.target, same.target, path));
        }
    }
    None
}

/// An action from a state on that the supertype has with another peer, direction or payload only.
pub(super) fn turned(sub: &Fsm, sup: &Fsm, at: StateId, path: Vec<TransitionId>) -> Option<Cause> {
    let ahead = sub.reachable_from(at).flat_map(|state| sub.transitions_from(state));
    ahead.filter(|own| !does(sup, own.action)).find_map(|own| {
        let misfit = unknown(sub, sup, own.action);
        let (Misfit::OtherPeer(id) | Misfit::OtherDirection(id) | Misfit::OtherPayload(id)) =
            misfit
        else {
            return None;
        };
        let (rule, sup_state) = (Rule::OutputNotOffered, sup.transition(id).source);
        let (path, cycle, sup) = (path.clone(), Vec::new(), Some(id));
        let (sub_state, sub) = (own.source, Some(own.id));
        Some((Refusal { rule, path, sub_state, sub, sup_state, sup, cycle }, misfit))
    })
}

/// The transitions of a machine in a run.
fn path(sub: &Fsm, run: &Run) -> Vec<TransitionId> {
    let own = run.steps.iter().filter(|step| step.role == *sub.role());
    own.map(|step| step.transition).collect()
}

/// The message that the subtype cannot take at the end of a run, and that the supertype takes
/// behind the last action.
fn unhandled(sub: &Fsm, sup: &Fsm, run: &Run) -> Option<Refusal> {
    let Failure::UnspecifiedReception { from, to } = &run.failure else { return None };
    let mut queues = run.queues.iter().filter(|_| to == sub.role());
    let message = queues.find(|of| (&of.from, &of.to) == (from, to))?.messages.first();
    let path = path(sub, run);
    let sub_state = sub.after(path.last().copied());
    let last = path.last().map(|&id| sub.transition(id).action);
    let after = sup.transitions().find(|due| Some(due.action) == last);
    let is_it = |due: Transition<'_>| {
        let Action { direction, peer, message: taken } = due.action;
        (*direction, peer, Some(taken)) == (Direction::Receive, from, message)
    };
    let due = leads(sup, after.map_or(sup.initial(), |due| due.target), None, is_it)?;
    let (sup_state, cycle) = (sup.transition(due).source, Vec::new());
    let (rule, sup) = (Rule::InputNotHandled, Some(due));
    Some(Refusal { rule, path, sub_state, sub: None, sup_state, sup, cycle })
}

/// The first action of the subtype in a run that the supertype does not do there. A receive is not
/// to blame unless it is awaited in the end.
fn misplaced(sub: &Fsm, sup: &Fsm, run: &Run) -> Option<Cause> {
    let mut path = path(sub, run);
    let walk = walk(sub, sup, &path);
    let (at, sup_state) = (walk.len() - 1, walk[walk.len() - 1]);
    let mut waits = run.waits.iter().filter(|wait| wait.role == *sub.role());
    let mut awaited = waits.next().into_iter().flat_map(|wait| &wait.transitions);
    let is_awaited = at == path.len();
    let early = match path.get(at) {
        Some(&early) => sub.transition(early),
        None => sub.transition(awaited.find(|(_, due)| !does(sup, due))?.0),
    };
    path.truncate(at);
    let (rule, sub_state, cycle) = (Rule::OutputNotReached, early.source, Vec::new());
    let due = sup.transitions_from(sup_state).next().map(|due| due.id);
    let refusal =
        Refusal { rule, path, sub_state, sub: Some(early.id), sup_state, sup: due, cycle };
    let is_cause = early.action.is_send() || is_awaited;
    let found = order(sub, sup, &walk, &refusal).filter(|_| is_cause);
    // An option that never comes does no harm.
    found.filter(|(_, misfit)| !is_awaited || !matches!(misfit, Misfit::Unknown(_)))
}

pub(super) fn does(fsm: &Fsm, action: &Action) -> bool {
    fsm.transitions().any(|found| found.action == action)
}

/// The states of the supertype on a path of the subtype, as long as it does the same.
pub(super) fn walk(sub: &Fsm, sup: &Fsm, path: &[TransitionId]) -> Vec<StateId> {
    let mut walk = vec![sup.initial()];
    walk.extend(path.iter().scan(sup.initial(), |state, &id| {
        let mut dues = sup.transitions_from(*state);
        *state = dues.find(|due| due.action == sub.transition(id).action)?.target;
        Some(*state)
    }));
    walk
}

/// The reason why the supertype never does an action: it has an unused one with the same label, or
/// nothing like it.
fn unknown(sub: &Fsm, sup: &Fsm, wanted: &Action) -> Misfit {
    let mut unmet = sup.transitions().filter(|due| !does(sub, due.action));
    let alike = unmet.find(|due| due.action.message.label == wanted.message.label);
    alike.and_then(|due| difference(wanted, due)).unwrap_or(Misfit::Unknown(None))
}

/// The first difference of an action from one of the supertype: direction, peer or payload.
pub(super) fn difference(done: &Action, wanted: Transition<'_>) -> Option<Misfit> {
    let (id, wanted) = (wanted.id, wanted.action);
    if done.direction != wanted.direction {
        Some(Misfit::OtherDirection(id))
    } else if done.peer != wanted.peer {
        Some(Misfit::OtherPeer(id))
    } else {
        (done.message.label == wanted.message.label).then_some(Misfit::OtherPayload(id))
    }
}

/// The reason why an action is misplaced at the end of a path. `None` if it comes next, or later
/// whatever happens.
pub(super) fn displaced(
    sub: &Fsm,
    sup: &Fsm,
    path: &[TransitionId],
    walk: &[StateId],
    wanted: &Action,
) -> Option<Misfit> {
    let state = *walk.get(path.len())?;
    let is_it = |due: Transition<'_>| due.action == wanted;
    let here = || sup.transitions_from(state);
    let unused: Vec<_> = here().filter(|due| !does(sub, due.action)).map(|due| due.id).collect();
    if !wanted.is_send() && here().any(is_it) && !unused.is_empty() {
        return Some(Misfit::NoOption(unused));
    }
    if let Some(due) = other_branch(sub, sup, path, walk, wanted) {
        return Some(Misfit::OtherBranch(due));
    }
    if leads(sup, state, None, is_it).is_none() {
        let due = sup.transitions().find(|due| due.action == wanted)?.id;
        let is_done = path.iter().any(|id| sub.transition(*id).action == wanted);
        return Some(if is_done { Misfit::Repeated(due) } else { Misfit::OtherBranch(due) });
    }
    undecided(sup, state, wanted)
}

/// The nearest choice from a state on that decides about an action. `None` if the action is an
/// option itself, which is not decided by that, or comes whatever happens.
fn undecided(sup: &Fsm, state: StateId, wanted: &Action) -> Option<Misfit> {
    let is_it = |due: Transition<'_>| due.action == wanted;
    let mut ahead = sup.reachable_from(state);
    ahead.find_map(|state| {
        let options: Vec<_> = sup.transitions_from(state).collect();
        let after =
            options.iter().filter(|due| leads(sup, due.target, Some(state), is_it).is_some());
        let after: Vec<_> = after.map(|due| due.id).collect();
        let is_option = options.iter().any(|due| due.action == wanted);
        let decides = !after.is_empty() && after.len() < options.len();
        let options = options.iter().map(|due| due.id).collect();
        (is_option || decides).then(|| (!is_option).then_some(Misfit::Undecided(options, after)))
    })?
}

/// The place of an action in an option that the subtype did not take, of a choice on its path. The
/// choice is not made again before the action, the taken option does not lead to the action, and
/// the two options have not joined yet.
///
/// ```text
/// supertype   (?x ─ !p | ?y ─ !q) ─ ⟲        behind `?x` the subtype does `!q`: it may come in
///                                            the next round, but `y` is another branch of this one
/// ```
fn other_branch(
    sub: &Fsm,
    sup: &Fsm,
    path: &[TransitionId],
    walk: &[StateId],
    wanted: &Action,
) -> Option<TransitionId> {
    let state = walk[path.len()];
    let mut seen = IndexSet::from_iter([state]);
    walk.iter().zip(path).rev().filter(|(choice, _)| seen.insert(**choice)).find_map(
        |(&choice, taken)| {
            let comes = |option: Transition<'_>| {
                leads(sup, option.target, Some(choice), |due| due.action == wanted)
            };
            let joins = |option: Transition<'_>| {
                option.target == state
                    || leads(sup, option.target, Some(choice), |due| due.target == state).is_some()
            };
            let is_taken = |option: Transition<'_>| option.action == sub.transition(*taken).action;
            let options = || sup.transitions_from(choice);
            let is_here = options().any(|option| {
                option.action == wanted || is_taken(option) && comes(option).is_some()
            });
            options().filter(|option| !is_here && !joins(*option)).find_map(comes)
        },
    )
}

/// The nearest transition of a kind from a state on, not by way of another state.
fn leads(
    fsm: &Fsm,
    from: StateId,
    without: Option<StateId>,
    is_it: impl Fn(Transition<'_>) -> bool,
) -> Option<TransitionId> {
    let mut met: IndexSet<StateId> = without.into_iter().collect();
    let mut at = met.len();
    met.insert(from);
    while let Some(&state) = met.get_index(at) {
        if let Some(found) = fsm.transitions_from(state).find(|due| is_it(*due)) {
            return Some(found.id);
        }
        met.extend(fsm.transitions_from(state).map(|due| due.target));
        at += 1;
    }
    None
}
