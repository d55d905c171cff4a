//! Why an action has no place where it is done: the simplest reason that is true.
//!
//! Subtyping says which two actions may not change places. Before that is called a reordering, the
//! simple causes are looked for, in this order: one [change](super::change) explains it; or the
//! supertype has no such action, but one with another peer, direction or payload, or of nearly the
//! same name; or it has the action, but earlier, in another branch, or only once a choice is made.
//!
//! ```text
//! supertype      ?run ─ !done ─┐        the subtype does `!done` first: it does not know yet
//!        start ─┤              ⟲        whether `run` or `stop` comes
//!                ?stop ─ end
//! ```

use rumpsteak_fsm::subtype::{Refusal, Rule};
use rumpsteak_fsm::{Action, Direction, Fsm, Run, StateId, Transition, TransitionId};
use rumpsteak_scribble::similar;

/// Why an action of a subtype has no place. Transitions are those of the supertype.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Misfit {
    /// The action is there with another peer.
    OtherPeer(TransitionId),
    /// The message goes the other way.
    OtherDirection(TransitionId),
    /// The message has another payload.
    OtherPayload(TransitionId),
    /// There is no such message with this peer; this one has nearly the same name.
    Unknown(Option<TransitionId>),
    /// These may come instead, and the subtype never takes any of them.
    NoOption(Vec<TransitionId>),
    /// One of these is due behind it, or before what is there, and does not come.
    Missing {
        due: Vec<TransitionId>,
        /// Whether the subtype never does it.
        is_new: bool,
        /// Whether it lacks wherever the subtype comes to that state.
        is_of_state: bool,
    },
    /// Behind it the subtype goes on as the wrong part of itself: it fits if it does so from this
    /// state on, where it does these.
    Elsewhere { to: StateId, due: Vec<TransitionId> },
    /// Without it the subtype fits; and why it has no place, unless it comes once more.
    Superfluous(Option<Box<Self>>),
    /// It comes after a choice that is not made yet: its options, and those that lead to the
    /// action.
    Undecided { options: Vec<TransitionId>, after: Vec<TransitionId> },
    /// It comes in another branch.
    OtherBranch(TransitionId),
    /// It was done already, and comes no more.
    Repeated(TransitionId),
}

impl Misfit {
    /// Whether no other order of the actions could help.
    pub(crate) fn is_foreign(&self) -> bool {
        !matches!(self, Self::Undecided { .. })
    }
}

/// Why an action of the subtype has no place, which the refusal names then. `None` if it is one
/// that comes later, or one that is missing.
pub(super) fn find(sub: &Fsm, sup: &Fsm, refusal: &mut Refusal) -> Option<Misfit> {
    let here = || sub.transitions_from(refusal.sub_state).map(|transition| transition.id);
    let blamed: Vec<TransitionId> = match (refusal.sub, refusal.rule) {
        (Some(id), _) => vec![id],
        // A message that is not handled may be one whose option has another name.
        (None, Rule::InputNotHandled) => here().collect(),
        (None, _) => Vec::new(),
    };
    let (id, misfit) = blamed.into_iter().find_map(|id| {
        let action = sub.transition(id).action;
        if !has(sup, action) {
            return Some((id, unknown(sub, sup, action)));
        }
        let state = *walk(sub, sup, &refusal.path).get(refusal.path.len())?;
        let misfit = displaced(sub, sup, &refusal.path, state, action)?;
        // Messages that are not handled are what is wrong, unless those that are never come here.
        let is_here =
            |own: Transition<'_>| sup.transitions_from(state).any(|due| due.action == own.action);
        let is_apart = || !sub.transitions_from(refusal.sub_state).any(is_here);
        let is_cause = refusal.rule != Rule::InputNotHandled
            || matches!(misfit, Misfit::OtherBranch(_)) && is_apart();
        // What is due here, and not where subtyping has gone on to.
        let due = sup.transitions_from(state).next().map(|due| due.id);
        is_cause.then(|| {
            if refusal.sup_state != state {
                (refusal.sup_state, refusal.sup) = (state, due);
            }
            (id, misfit)
        })
    })?;
    refusal.sub = Some(id);
    Some(misfit)
}

/// The first send of the subtype in a run that goes wrong which the supertype does not do there,
/// and never does in some run from there on: the refusal of it, and why it has no place. It is
/// looked for where subtyping itself has nothing to say. A send that is due whatever happens is
/// only early, and need not be to blame. Where it does nothing wrong in the run, what it waits for
/// in the end, if the supertype has that otherwise.
pub(super) fn on_run(sub: &Fsm, sup: &Fsm, run: &Run) -> Option<(Refusal, Misfit)> {
    let own = run.steps.iter().filter(|step| step.role == *sub.role());
    let mut path: Vec<TransitionId> = own.map(|step| step.transition).collect();
    let walk = walk(sub, sup, &path);
    let (length, sup_state) = (walk.len() - 1, walk[walk.len() - 1]);
    let mut waits = run.waits.iter().filter(|wait| wait.role == *sub.role());
    let mut awaited = waits.next().into_iter().flat_map(|wait| &wait.transitions);
    let early = match path.get(length) {
        Some(&early) => sub.transition(early),
        None => sub.transition(awaited.find(|(_, due)| !has(sup, due))?.0),
    };
    let is_awaited = length == path.len();
    if early.action.direction == Direction::Receive && !is_awaited {
        return None;
    }
    path.truncate(length);
    let misfit = if has(sup, early.action) {
        let reaching = states(sup, |due| due.action == early.action, false, None);
        displaced(sub, sup, &path, sup_state, early.action).filter(|misfit| match misfit {
            Misfit::Undecided { options, .. } => {
                options.iter().any(|&id| !reaching[sup.transition(id).target.index()])
            }
            _ => true,
        })?
    } else {
        // An option that never comes is no harm.
        Some(unknown(sub, sup, early.action))
            .filter(|misfit| !is_awaited || !matches!(misfit, Misfit::Unknown(_)))?
    };
    let due = sup.transitions_from(sup_state).next().map(|due| due.id);
    let (rule, sub_state, cycle) = (Rule::OutputNotReached, early.source, Vec::new());
    let refusal =
        Refusal { rule, path, sub_state, sub: Some(early.id), sup_state, sup: due, cycle };
    Some((refusal, misfit))
}

pub(super) fn has(fsm: &Fsm, action: &Action) -> bool {
    fsm.transitions().any(|found| found.action == action)
}

/// Where the supertype is on a path of the subtype, as long as it does the same.
pub(super) fn walk(sub: &Fsm, sup: &Fsm, path: &[TransitionId]) -> Vec<StateId> {
    let mut walk = vec![sup.initial()];
    walk.extend(path.iter().scan(sup.initial(), |state, &id| {
        let mut dues = sup.transitions_from(*state);
        *state = dues.find(|due| due.action == sub.transition(id).action)?.target;
        Some(*state)
    }));
    walk
}

/// Why the supertype never does an action: of those that the subtype does not know it has one that
/// differs in one thing, wherever that comes, or in a few letters of the name.
fn unknown(sub: &Fsm, sup: &Fsm, wanted: &Action) -> Misfit {
    let mut unmet: Vec<_> = sup.transitions().filter(|due| !has(sub, due.action)).collect();
    let alike = |due: &Action| {
        [due.direction == wanted.direction, due.peer == wanted.peer, due.message == wanted.message]
    };
    let one = unmet.iter().find(|due| {
        let differing = alike(due.action).into_iter().filter(|is_alike| !is_alike).count();
        differing == 1 && due.action.message.label == wanted.message.label
    });
    if let Some(misfit) = one.and_then(|due| difference(wanted, *due)) {
        return misfit;
    }
    unmet.retain(|due| matches!(alike(due.action), [true, true, _]));
    let names: Vec<&str> = unmet.iter().map(|due| due.action.message.label.as_str()).collect();
    let name = similar(wanted.message.label.as_str(), &names);
    let near = unmet.iter().find(|due| name == Some(due.action.message.label.as_str()));
    Misfit::Unknown(near.map(|due| due.id))
}

/// The first in which an action differs from one of the supertype: direction, peer or payload.
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

/// Why an action does not come next, or later whatever happens, in a state of the supertype. `None`
/// if it does.
pub(super) fn displaced(
    sub: &Fsm,
    sup: &Fsm,
    path: &[TransitionId],
    state: StateId,
    wanted: &Action,
) -> Option<Misfit> {
    let reaching = states(sup, |due| due.action == wanted, false, None);
    let here = || sup.transitions_from(state);
    let unused: Vec<_> = here().filter(|due| !has(sub, due.action)).map(|due| due.id).collect();
    let is_due = wanted.direction == Direction::Receive && here().any(|due| due.action == wanted);
    if is_due && !unused.is_empty() {
        return Some(Misfit::NoOption(unused));
    }
    if !reaching[state.index()] {
        let due = sup.transitions().find(|due| due.action == wanted)?.id;
        let is_done = path.iter().any(|id| sub.transition(*id).action == wanted);
        return Some(if is_done { Misfit::Repeated(due) } else { Misfit::OtherBranch(due) });
    }
    if let Some(due) = other_branch(sub, sup, path, state, wanted) {
        return Some(Misfit::OtherBranch(due));
    }
    let certain = states(sup, |due| due.action == wanted, true, None);
    // The nearest choice that decides about it.
    for state in sup.reachable_from(state).take_while(|state| !certain[state.index()]) {
        let leads = |known: &[bool]| {
            let options = sup.transitions_from(state);
            let options = options.filter(|due| known[due.target.index()]);
            options.map(|due| due.id).collect::<Vec<_>>()
        };
        let options: Vec<TransitionId> = sup.transitions_from(state).map(|due| due.id).collect();
        // What is an option itself is not decided by that.
        if options.iter().any(|&id| sup.transition(id).action == wanted) {
            return None;
        }
        let (sure, possible) = (leads(&certain), leads(&reaching));
        if options.len() > 1 && (!sure.is_empty() || possible.len() < options.len()) {
            let after = if sure.is_empty() { possible } else { sure };
            return Some(Misfit::Undecided { options, after });
        }
    }
    None
}

/// Where an action comes in an option that was not taken of a choice on the path of the subtype:
/// unless that choice is made again, it does not come in the one that was, which has not joined the
/// other yet.
///
/// ```text
/// supertype   (?x ─ !p | ?y ─ !q) ─ ⟲        behind `?x` the subtype does `!q`: it may come in
///                                            the next round, but `y` is another branch of this one
/// ```
fn other_branch(
    sub: &Fsm,
    sup: &Fsm,
    path: &[TransitionId],
    state: StateId,
    wanted: &Action,
) -> Option<TransitionId> {
    let mut seen = vec![state];
    let walk = walk(sub, sup, path);
    walk.into_iter().zip(path).rev().find_map(|(choice, taken)| {
        let is_last = !seen.contains(&choice);
        seen.push(choice);
        let options: Vec<_> = sup.transitions_from(choice).collect();
        if !is_last || options.iter().any(|option| option.action == wanted) {
            return None;
        }
        let within = states(sup, |due| due.action == wanted, false, Some(choice));
        let joining = states(sup, |due| due.target == state, false, Some(choice));
        let leads = |option: &&Transition<'_>| within[option.target.index()];
        let is_taken = |option: &Transition<'_>| option.action == sub.transition(*taken).action;
        if options.iter().filter(leads).any(is_taken) {
            return None;
        }
        let is_apart = |to: StateId| to != state && !joining[to.index()];
        let other = options.iter().filter(leads).find(|option| is_apart(option.target))?;
        let mut behind = sup.reachable_from(other.target).flat_map(|at| sup.transitions_from(at));
        behind.find(|due| due.action == wanted).map(|due| due.id)
    })
}

/// The states from which something comes whatever is chosen, or may come, by state; not by way of
/// one of them.
fn states(
    fsm: &Fsm,
    is_it: impl Fn(Transition<'_>) -> bool,
    whatever: bool,
    without: Option<StateId>,
) -> Vec<bool> {
    let mut found = vec![false; fsm.len()];
    let mut has_grown = true;
    while std::mem::take(&mut has_grown) {
        // From the last to the first: most transitions lead on.
        for state in (0..fsm.len()).rev().map(StateId::from_index) {
            let leads = |due: Transition<'_>| is_it(due) || found[due.target.index()];
            let mut due = fsm.transitions_from(state).map(leads).peekable();
            let is_new = !found[state.index()]
                && Some(state) != without
                && due.peek().is_some()
                && if whatever { due.all(|leads| leads) } else { due.any(|leads| leads) };
            if is_new {
                found[state.index()] = true;
                has_grown = true;
            }
        }
    }
    found
}
