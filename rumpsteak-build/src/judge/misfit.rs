//! Why an action has no place where it is done: the simplest reason that is true.
//!
//! Subtyping says which two actions may not change places. Before that is called a reordering, the
//! simple causes are looked for, in this order: the supertype has no such action, but one with
//! another peer, direction or payload, or of nearly the same name; or the subtype lacks what is due
//! before it; or the supertype has the action, but only once a choice is made, in another branch,
//! or earlier.
//!
//! ```text
//! supertype      ?run ─ !done ─┐        the subtype does `!done` first: it does not know yet
//!        start ─┤              ⟲        whether `run` or `stop` comes
//!                ?stop ─ end
//! ```

use std::collections::{BTreeSet, VecDeque};

use rumpsteak_fsm::subtype::{Refusal, Rule};
use rumpsteak_fsm::{Action, Direction, Fsm, StateId, Transition, TransitionId};
use rumpsteak_scribble::similar;

/// Why an action of a subtype has no place. Transitions are those of the supertype.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Misfit {
    /// The action is there with these other peers, one transition for each.
    OtherPeer(Vec<TransitionId>),
    /// The message goes the other way.
    OtherDirection(TransitionId),
    /// The message has another payload.
    OtherPayload(TransitionId),
    /// There is no such message with this peer; this one has nearly the same name.
    Unknown(Option<TransitionId>),
    /// These are due before it, or may come instead, and the subtype never does any of them.
    Missing { due: Vec<TransitionId>, is_option: bool },
    /// It comes after a choice that is not made yet: its options, and those that lead to the
    /// action.
    Undecided { options: Vec<TransitionId>, after: Vec<TransitionId> },
    /// It comes in another branch.
    OtherBranch(TransitionId),
    /// It was done already, and comes no more.
    Repeated(TransitionId),
}

impl Misfit {
    /// Whether the supertype has no such action: no order of its actions could help.
    pub(crate) fn is_foreign(&self) -> bool {
        !matches!(self, Self::Undecided { .. })
    }
}

/// The action of the subtype that has no place, and why. `None` if it is one that comes later, or
/// one that is missing.
pub(crate) fn find(sub: &Fsm, sup: &Fsm, refusal: &Refusal) -> Option<(TransitionId, Misfit)> {
    let is_known = |action: &Action| sup.transitions().any(|due| due.action == action);
    let here = || sub.transitions_from(refusal.sub_state).map(|transition| transition.id);
    let blamed: Vec<TransitionId> = match (refusal.sub, refusal.rule) {
        (Some(id), _) => vec![id],
        // A message that is not handled may be one whose option has another name.
        (None, Rule::InputNotHandled) => here().collect(),
        (None, _) => Vec::new(),
    };
    let unknown = blamed.iter().filter(|id| !is_known(sub.transition(**id).action));
    let foreign = unknown.filter_map(|&id| {
        let action = sub.transition(id).action;
        // Where the other label is what differs, nobody means the other direction.
        let is_due = |due: TransitionId| {
            let due = sup.transition(due).action;
            due.direction == action.direction && due.peer == action.peer
        };
        match foreign(sub, sup, action) {
            Misfit::OtherDirection(_) if refusal.sup.is_some_and(is_due) => None,
            misfit => Some((id, misfit)),
        }
    });
    if let Some(found) = { foreign }.next() {
        return Some(found);
    }
    let (state, first_early) = standing(sub, sup, &refusal.path);
    if let Some((step, state)) = first_early {
        let (path, id) = (&refusal.path[..step], refusal.path[step]);
        let misfit = displaced(sub, sup, path, state, sub.transition(id).action);
        if let Some(misfit) = misfit.filter(|misfit| is_reason(misfit, sub, sup, refusal)) {
            return Some((id, misfit));
        }
    }
    let mut blamed = blamed.into_iter().filter(|_| refusal.rule != Rule::InputNotHandled);
    blamed.find_map(|id| {
        let action = sub.transition(id).action;
        let misfit = displaced(sub, sup, &refusal.path, state, action)?;
        let is_certain = first_early.is_none() || is_reason(&misfit, sub, sup, refusal);
        (is_known(action) && is_certain).then_some((id, misfit))
    })
}

/// Whether what keeps an action from being done early is why there is a refusal later: something
/// is never done, or another option may come, or is chosen there.
fn is_reason(misfit: &Misfit, sub: &Fsm, sup: &Fsm, refusal: &Refusal) -> bool {
    let refused = refusal.sub.map(|id| sub.transition(id).action);
    match misfit {
        Misfit::Missing { .. } => true,
        Misfit::Undecided { options, after } => options.iter().any(|id| {
            let option = sup.transition(*id).action;
            !after.contains(id)
                && (option.direction == Direction::Receive || refused == Some(option))
        }),
        _ => false,
    }
}

/// Why the supertype does not have an action.
fn foreign(sub: &Fsm, sup: &Fsm, wanted: &Action) -> Misfit {
    let first = |fits: &dyn Fn(&Action) -> bool| {
        sup.transitions().find(|due| fits(due.action)).map(|due| due.id)
    };
    let Action { peer, direction, message } = wanted;
    if let Some(due) = first(&|due| due.message == *message && due.peer == *peer) {
        return Misfit::OtherDirection(due);
    }
    let named = |due: &Action| due.direction == *direction && due.message.label == message.label;
    if let Some(due) = first(&|due| named(due) && due.peer == *peer) {
        return Misfit::OtherPayload(due);
    }
    // A name that the subtype does not know either.
    let is_near = |due: &Action| due.direction == *direction && due.peer == *peer;
    let is_used = |action: &Action| sub.transitions().any(|own| own.action == action);
    let near = sup.transitions().map(|due| due.action);
    let near = near.filter(|due| is_near(due) && !is_used(due));
    let near: Vec<&str> = near.map(|due| due.message.label.as_str()).collect();
    if let Some(name) = similar(message.label.as_str(), &near) {
        return Misfit::Unknown(first(&|due| is_near(due) && due.message.label.as_str() == name));
    }
    let mut peers = BTreeSet::new();
    let others = sup.transitions().filter(|due| named(due.action) && !is_used(due.action));
    let others = others.filter(|due| peers.insert(due.action.peer.clone())).map(|due| due.id);
    let others: Vec<TransitionId> = others.collect();
    if !others.is_empty() {
        return Misfit::OtherPeer(others);
    }
    match first(&|due| due.message == *message && due.direction != *direction) {
        Some(due) => Misfit::OtherDirection(due),
        None => Misfit::Unknown(None),
    }
}

/// Where the supertype stands after a path of the subtype; and the first step that is not its next
/// one, with where it stands then.
fn standing(sub: &Fsm, sup: &Fsm, path: &[TransitionId]) -> (StateId, Option<(usize, StateId)>) {
    let (mut state, mut first, mut early) = (sup.initial(), None, Vec::new());
    for (step, id) in path.iter().enumerate() {
        early.push(sub.transition(*id).action);
        let done = |state, early: &[&Action]| {
            let mut due = sup.transitions_from(state);
            due.find_map(|due| {
                let place = early.iter().position(|action| *action == due.action)?;
                Some((place, due.target))
            })
        };
        while let Some((place, target)) = done(state, &early) {
            early.remove(place);
            state = target;
        }
        if first.is_none() && !early.is_empty() {
            first = Some((step, state));
        }
    }
    (state, first)
}

/// Why an action does not come next, or later whatever happens, in a state of the supertype. `None`
/// if it does.
fn displaced(
    sub: &Fsm,
    sup: &Fsm,
    path: &[TransitionId],
    state: StateId,
    wanted: &Action,
) -> Option<Misfit> {
    let here = || sup.transitions_from(state);
    let unused = |due: &Transition<'_>| !sub.transitions().any(|own| own.action == due.action);
    let is_option =
        here().any(|due| due.action == wanted) && wanted.direction == Direction::Receive;
    let reaching = states(sup, wanted, false);
    let due: Vec<TransitionId> = here().filter(unused).map(|due| due.id).collect();
    if !due.is_empty() && (is_option || due.len() == here().count() && reaching[state.index()]) {
        return Some(Misfit::Missing { due, is_option });
    }
    if !reaching[state.index()] {
        let due = sup.transitions().find(|due| due.action == wanted)?.id;
        let is_done = path.iter().any(|id| sub.transition(*id).action == wanted);
        return Some(if is_done { Misfit::Repeated(due) } else { Misfit::OtherBranch(due) });
    }
    let certain = states(sup, wanted, true);
    // The nearest choice that decides about it.
    let (mut seen, mut open) = (BTreeSet::from([state]), VecDeque::from([state]));
    while let Some(state) = open.pop_front().filter(|state| !certain[state.index()]) {
        let leads = |known: &[bool]| {
            let options = sup.transitions_from(state);
            let options = options.filter(|due| due.action == wanted || known[due.target.index()]);
            options.map(|due| due.id).collect::<Vec<_>>()
        };
        let options: Vec<TransitionId> = sup.transitions_from(state).map(|due| due.id).collect();
        let (sure, possible) = (leads(&certain), leads(&reaching));
        if options.len() > 1 && (!sure.is_empty() || possible.len() < options.len()) {
            let after = if sure.is_empty() { possible } else { sure };
            return Some(Misfit::Undecided { options, after });
        }
        let targets = sup.transitions_from(state).map(|due| due.target);
        open.extend(targets.filter(|target| seen.insert(*target)));
    }
    None
}

/// The states from which an action comes whatever is chosen, or may come, by state.
fn states(fsm: &Fsm, wanted: &Action, whatever: bool) -> Vec<bool> {
    let mut found = vec![false; fsm.len()];
    let mut has_grown = true;
    while std::mem::take(&mut has_grown) {
        // From the last to the first: most transitions lead on.
        for state in (0..fsm.len()).rev().map(StateId::from_index) {
            let leads = |due: Transition<'_>| due.action == wanted || found[due.target.index()];
            let mut due = fsm.transitions_from(state).map(leads).peekable();
            let is_new = !found[state.index()]
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
