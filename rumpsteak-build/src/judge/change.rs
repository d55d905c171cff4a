//! The one change with which a machine fits.
//!
//! Where something is missing, or too much, subtyping goes on to the first action that has no place
//! at all, which may be one of the next round of a loop. So the two machines are walked together
//! from the start, without any reordering, and changes are tried where they first differ.
//!
//! ```text
//! supertype   ?play ─ !won ─ ?pay ─ ⟲        the subtype stops at the next `?play`;
//! subtype     ?play ─ !won ─ ⟲               it fits with a `?pay` behind `!won`
//! ```
//!
//! A change explains a refusal only if the changed machine was judged: it does just what the
//! supertype does, or else is a subtype at least. Where an action only has to come later, nothing
//! is missing or too much: that is an order. It costs a check for each change: of changed machines
//! with [`MOST`] states in all.

use std::collections::BTreeSet;

use rumpsteak_fsm::subtype::{self, Refusal};
use rumpsteak_fsm::{
    Action, Direction, Fsm, FsmBuilder, Limits, StateId, Transition, TransitionId,
};

use super::misfit::{Misfit, difference, displaced, has, walk};

/// Looks for a change that explains why `sub` is no subtype of `sup`; the refusal is one at that
/// place then.
pub(super) fn find(
    (sub, parts): (&Fsm, &[StateId]),
    sup: &Fsm,
    refusal: &mut Refusal,
) -> Option<Misfit> {
    let left = MOST / (sub.len() + sup.len());
    let search = |is_exact| Search { sub, parts, sup, refusal, left, is_exact };
    let (found, misfit) = match search(false).unanswered() {
        Some(found) => found,
        None => search(true).run().or_else(|| search(false).run()).flatten()?,
    };
    let later = search(false).postponed(&found, &misfit);
    *refusal = later.unwrap_or(found);
    Some(misfit)
}

/// How many states of changed machines are looked at, and how many steps are taken with each.
const MOST: usize = 20_000;

struct Search<'a> {
    sub: &'a Fsm,
    /// Where parts of it begin that are known to have a name.
    parts: &'a [StateId],
    sup: &'a Fsm,
    refusal: &'a Refusal,
    /// How many changes are still tried.
    left: usize,
    /// Whether the changed machine has to do just what the supertype does.
    is_exact: bool,
}

impl<'a> Search<'a> {
    /// `Some(None)` if an action only has to come later.
    fn run(mut self) -> Option<Option<(Refusal, Misfit)>> {
        let Self { sub, sup, refusal, .. } = self;
        let path = &refusal.path;
        let walk = walk(sub, sup, path);
        let (last, due) = (walk.len() - 1, walk[walk.len() - 1]);
        let own = self.state(last);
        if sub.is_terminal(own) {
            return None;
        }
        if self.is_moved(own) || self.is_moved(refusal.sub_state) {
            return Some(None);
        }
        if let Some((own, instead)) = self.instead(own, due) {
            let done = own.action;
            let misfit = if let Some(misfit) = difference(done, instead) {
                misfit
            } else if let Some(known) = sup.transitions().find(|due| due.action == done) {
                let why = (own.source == self.state(last))
                    .then(|| displaced(sub, sup, &path[..last], due, done));
                let is_elsewhere = |why: &Misfit| matches!(why, Misfit::OtherBranch(_));
                why.flatten().filter(is_elsewhere).unwrap_or(Misfit::Repeated(known.id))
            } else {
                Misfit::Unknown(Some(instead.id))
            };
            return Some(Some((self.at(last, Some(own.id), Some(instead)), misfit)));
        }
        let stops = refusal.sup.map(|id| sup.transition(id));
        // One that begins in the middle does what is due first, but later.
        if path.is_empty() && stops.is_some_and(|due| has(sub, due.action)) {
            return (!self.is_exact).then_some(None);
        }
        for length in (0..=path.len()).rev() {
            let Some(only) = single(sub, self.state(length)) else { continue };
            if self.explains(Draft::of(sub).without(only)) {
                let state = walk.get(length);
                let dues = || state.into_iter().flat_map(|&state| sup.transitions_from(state));
                let due = dues().find(|due| due.action == only.action).or_else(|| dues().next());
                let why = || displaced(sub, sup, &path[..length], *state?, only.action);
                let misfit = match has(sup, only.action) {
                    true => Misfit::Superfluous(why().map(Box::new)),
                    false => Misfit::Unknown(None),
                };
                return Some(Some((self.at(length, Some(only.id), due), misfit)));
            }
        }
        // In a machine whose order is another one, what is due may be missing anywhere before.
        let before = (0..=path.len()).rev().filter_map(|at| Some((at, stops?.source, false)));
        let places = [(last, due, true)].into_iter().chain(before);
        let missing =
            places.into_iter().find_map(|(at, due, is_first)| self.missing(at, due, is_first));
        match missing {
            // A choice that lacks is rather one that is made elsewhere.
            Some((_, Misfit::Missing { ref due, .. })) if due.len() == 1 => Some(missing),
            _ => self.elsewhere().or(missing).map(Some),
        }
    }

    /// The state of the subtype behind so much of the path.
    fn state(&self, length: usize) -> StateId {
        let last = self.refusal.path[..length].last();
        last.map_or(self.sub.initial(), |&id| self.sub.transition(id).target)
    }

    /// The refusal of a transition there, in whose place another one is due.
    fn at(&self, at: usize, sub: Option<TransitionId>, due: Option<Transition<'_>>) -> Refusal {
        let (path, sub_state) = (self.refusal.path[..at].to_vec(), self.state(at));
        let sup_state = due.map_or(self.refusal.sup_state, |due| due.source);
        let (sup, cycle) = (due.map(|due| due.id), Vec::new());
        Refusal { path, sub_state, sub, sup_state, sup, cycle, ..*self.refusal }
    }

    /// Whether the only action of a state has to come later.
    fn is_moved(&mut self, state: StateId) -> bool {
        let sub = self.sub;
        single(sub, state).is_some_and(|early| {
            let later = sub.reachable_from(early.target);
            let mut later = later.flat_map(|state| sub.transitions_from(state));
            later.any(|before| {
                before.id != early.id && self.explains(Draft::of(sub).later(early, before))
            })
        })
    }

    /// An action that stands in the place of one that is due, of the same peer or message.
    fn instead(&mut self, own: StateId, due: StateId) -> Option<(Transition<'a>, Transition<'a>)> {
        let Self { sub, sup, refusal, .. } = *self;
        // A machine whose order is another one has its mistake where subtyping stops.
        let owns = sub.transitions_from(own).chain(sub.transitions_from(refusal.sub_state));
        owns.into_iter().find_map(|own| {
            let mut tried = BTreeSet::from([own.action]);
            let dues = sup.transitions_from(due).chain(sup.transitions());
            let dues: Vec<_> = dues.filter(|due| tried.insert(due.action)).collect();
            let found = dues.into_iter().find(|instead| {
                let (wanted, done) = (instead.action, own.action);
                let is_end = wanted.peer == done.peer && wanted.direction == done.direction;
                (is_end || instead.source == due && wanted.message == done.message)
                    && [false, true].into_iter().any(|is_everywhere| {
                        self.explains(Draft::of(sub).replacing(sub, own, wanted, is_everywhere))
                    })
            });
            Some((own, found?))
        })
    }

    /// What the subtype lacks behind so much of the path, of what the supertype does from a state
    /// on: there, or wherever it comes to its own state there.
    fn missing(&mut self, at: usize, due: StateId, is_first: bool) -> Option<(Refusal, Misfit)> {
        let (sub, sup, own) = (self.sub, self.sup, self.state(at));
        let dues: Vec<_> = sup.transitions_from(due).collect();
        let is_new = dues.iter().all(|due| !has(sub, due.action));
        let mut owns = sub.transitions_from(own);
        let is_apart = owns.all(|own| dues.iter().all(|due| due.action != own.action));
        // What comes later, too, is rather one of another order than missing, or put off for ever.
        let is_late = !is_first || !self.refusal.cycle.is_empty();
        if !is_apart || dues.is_empty() || !is_new && !self.is_exact && is_late {
            return None;
        }
        let edge = self.refusal.path[..at].last().copied();
        let is_of_state = sup.reachable_from(due).filter(|to| *to != due).find_map(|to| {
            [false, true].into_iter().find(|&is_of_state| {
                let is_edge = |at, target| if is_of_state { target == own } else { at == edge };
                self.explains(Draft::of(sub).between(is_edge, own, sup, (due, to)))
            })
        });
        // Whatever else is wrong, what lacks at the first difference does.
        let is_known = |own: Transition<'_>| has(sup, own.action);
        let is_sure =
            is_new && is_first && !self.is_exact && sub.transitions_from(own).all(is_known);
        let is_of_state = is_of_state.or_else(|| is_sure.then_some(false))?;
        let due = dues.iter().map(|due| due.id).collect();
        let refusal = self.at(at, edge, dues.first().copied());
        Some((refusal, Misfit::Missing { due, is_new, is_of_state }))
    }

    /// A transition behind which the subtype goes on as the wrong part of itself. What several
    /// transitions lead to, where a choice is made, and the beginning, have a name as well.
    fn elsewhere(&mut self) -> Option<(Refusal, Misfit)> {
        let Self { sub, parts, sup, refusal, .. } = *self;
        let path: Vec<_> = refusal.path.iter().chain(&refusal.cycle).copied().collect();
        let is_part = |state| {
            let leads = |edge: &Transition<'_>| edge.target == state;
            let is_joint = || sub.transitions().filter(leads).count() > 1;
            let is_named = state == sub.initial() || parts.contains(&state);
            !sub.is_terminal(state) && (is_named || single(sub, state).is_none() || is_joint())
        };
        (1..=path.len()).rev().find_map(|at| {
            let edge = sub.transition(path[at - 1]);
            // A part that nothing else leads to is rather wrong itself.
            let turn = |id, target| if id == Some(edge.id) { edge.source } else { target };
            let Draft { machine, initial } = Draft::of(sub).leading(turn);
            let is_elsewhere = !sub.is_terminal(edge.target)
                && machine.build(initial).reachable().any(|state| state == edge.target);
            let others = sub.states().filter(|to| *to != edge.target && is_part(*to));
            let to = others.filter(|_| is_elsewhere).find(|&to| {
                let lead = |id, target| if id == Some(edge.id) { to } else { target };
                self.explains(Draft::of(sub).leading(lead))
            })?;
            let begins =
                |due: &Transition<'_>| sub.transitions_from(to).any(|own| own.action == due.action);
            let due = sup.transitions().filter(begins).map(|due| due.id).collect();
            let (path, sub, cycle) = (path[..at].to_vec(), Some(edge.id), Vec::new());
            let refusal = Refusal { path, sub_state: edge.target, sub, cycle, ..*refusal };
            Some((refusal, Misfit::Elsewhere { to, due }))
        })
    }

    /// The receive that is due where the subtype sends once more than it has heard back, if it fits
    /// with that: rather than one send less, with which it may fit, too.
    fn unanswered(mut self) -> Option<(Refusal, Misfit)> {
        let Self { sub, sup, refusal, .. } = self;
        let walk = walk(sub, sup, &refusal.path);
        let at = walk.len() - 1;
        let due = single(sup, walk[at])?;
        let (edge, own) = (refusal.path[..at].last().copied()?, self.state(at));
        let is_answer = |own: Transition<'_>| {
            let both = (own.action.direction, due.action.direction);
            both == (Direction::Send, Direction::Receive) && has(sup, own.action)
        };
        let mut owns = sub.transitions_from(own).peekable();
        if owns.peek().is_none() || !owns.all(is_answer) {
            return None;
        }
        let draft =
            Draft::of(sub).between(|id, _| id == Some(edge), own, sup, (due.source, due.target));
        let is_new = !has(sub, due.action);
        self.explains(draft).then(|| {
            let refusal = self.at(at, Some(edge), Some(due));
            (refusal, Misfit::Missing { due: vec![due.id], is_new, is_of_state: false })
        })
    }

    /// The last place where a receive that is missing may come: where the subtype does it elsewhere
    /// and puts it off, up to a choice at least, it lacks behind an option of that only.
    ///
    /// ```text
    /// supertype   !go ─ ?ok ─ ⟲                  the subtype is one message ahead; it fits with
    /// subtype     !go ─ (!go ─ ?ok ─ ⟲ | !stop)  a `?ok` behind `!go`, too, but means one behind
    /// ```                                        `!stop`
    fn postponed(&mut self, found: &Refusal, misfit: &Misfit) -> Option<Refusal> {
        let Misfit::Missing { due, is_new: false, is_of_state: false } = misfit else {
            return None;
        };
        let [due] = due[..] else { return None };
        let (sub, sup, path) = (self.sub, self.sup, &self.refusal.path);
        let due = sup.transition(due);
        let mut places = found.path.len()..path.len();
        let choice = places.find(|&at| single(sub, self.state(at)).is_none())?;
        let at = (choice + 1..=path.len()).rev().find(|&at| {
            let (edge, own) = (path.get(at - 1).copied(), self.state(at));
            let is_edge = |id, _| id == edge;
            let draft = Draft::of(sub).between(is_edge, own, sup, (due.source, due.target));
            due.action.direction == Direction::Receive && self.explains(draft)
        })?;
        Some(self.at(at, path.get(at - 1).copied(), Some(due)))
    }

    fn explains(&mut self, draft: Draft) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let changed = draft.machine.build(draft.initial).on_demand(self.sub.is_on_demand());
        let limits = Limits::default().steps(MOST);
        let limits = if self.is_exact { limits.anticipation(0).widening(0) } else { limits };
        let fits = |sub, sup| subtype::check(sub, sup, &limits).is_ok_and(|it| it.is_safe());
        fits(&changed, self.sup) && (!self.is_exact || fits(self.sup, &changed))
    }
}

/// A machine that is changed.
struct Draft {
    machine: FsmBuilder,
    initial: StateId,
}

impl Draft {
    fn of(fsm: &Fsm) -> Self {
        Self { machine: fsm.edit(), initial: fsm.initial() }
    }

    /// Leads elsewhere: every transition, and the beginning, which is none.
    fn leading(mut self, to: impl Fn(Option<TransitionId>, StateId) -> StateId) -> Self {
        self.machine.change(|id, _, target| *target = to(Some(id), *target));
        Self { initial: to(None, self.initial), ..self }
    }

    /// Leaves out a state with one action.
    fn without(self, only: Transition<'_>) -> Self {
        self.leading(|_, target| if target == only.source { only.target } else { target })
    }

    /// Does the only action of a state later, behind a transition.
    fn later(mut self, early: Transition<'_>, before: Transition<'_>) -> Self {
        let state = self.machine.add_state();
        let skip = |target| if target == early.source { early.target } else { target };
        let to = |id, target| if id == Some(before.id) { state } else { skip(target) };
        let mut draft = self.leading(to);
        draft.machine.add_transition(state, early.action.clone(), skip(before.target));
        draft
    }

    /// Does an action in the place of another one, there or everywhere: all options of a choice
    /// have one direction and one peer.
    fn replacing(
        mut self,
        of: &Fsm,
        own: Transition<'_>,
        wanted: &Action,
        everywhere: bool,
    ) -> Self {
        let is_same = own.action.message == wanted.message;
        self.machine.change(|id, action, _| {
            let is_here = id == own.id || is_same && of.transition(id).source == own.source;
            if is_here && !everywhere || action == own.action && everywhere {
                let message = if is_same { &action.message } else { &wanted.message };
                *action = Action { message: message.clone(), ..wanted.clone() };
            }
        });
        self
    }

    /// Does what `sup` does between two states before what `behind` does, where an edge leads to
    /// that.
    fn between(
        mut self,
        is_edge: impl Fn(Option<TransitionId>, StateId) -> bool,
        behind: StateId,
        sup: &Fsm,
        (from, to): (StateId, StateId),
    ) -> Self {
        let copies: Vec<StateId> = sup.states().map(|_| self.machine.add_state()).collect();
        let copy = |state: StateId| if state == to { behind } else { copies[state.index()] };
        let mut draft =
            self.leading(|at, target| if is_edge(at, target) { copy(from) } else { target });
        for due in sup.transitions().filter(|due| due.source != to) {
            draft.machine.add_transition(copy(due.source), due.action.clone(), copy(due.target));
        }
        draft
    }
}

/// The only transition from a state.
fn single(fsm: &Fsm, state: StateId) -> Option<Transition<'_>> {
    let mut from = fsm.transitions_from(state);
    from.next().filter(|_| from.next().is_none())
}
