//! The simplest cause of a refusal: the cheapest edit with which the subtype fits.
//!
//! If an action is missing or superfluous, subtyping goes on to the first action that has no place
//! at all, maybe in the next round of a loop. So both machines are walked in step along the path of
//! the refusal. Edits are tried near the place where they part, cheapest first, as a parser with
//! error repair does (CPCT+, Diekmann and Tratt, ECOOP'20).
//!
//! ```text
//! supertype   ?play ─ !won ─ ?pay ─ ⟲        the subtype stops at the next `?play`;
//! subtype     ?play ─ !won ─ ⟲               it fits with a `?pay` inserted behind `!won`
//! ```
//!
//! An edit explains a refusal only if the edited machine is a subtype; an edit that makes the
//! machines equivalent is cheaper than any other. So if one edit of a projection is refused, the
//! edit that takes it back is found, or one as cheap (for all but one in 2,000 random edits). If an
//! action only has to come later, or no edit explains the refusal, the order is wrong: `place` says
//! why an action has no place where it is done.
//!
//! Cost: a check for each edit, of edited machines with at most `MOST` states in all.

mod edit;
mod place;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use self::edit::Edit;
use self::place::{Cause, difference, displaced, does, early, order, turned, walk};
pub use self::place::{Misfit, on_run};
use crate::machine::{Fsm, StateId, Transition, TransitionId};
use crate::subtype::{self, Refusal, Rule};
use crate::verdict::Limits;

/// The number of states of edited machines, and of steps with each.
const MOST: usize = 20_000;

/// Looks for the simplest cause of a refusal, which names the place of that cause then. `parts` are
/// the states of the subtype that a session has a name for.
///
/// ```
/// use rumpsteak_fsm::repair::{Misfit, find};
/// use rumpsteak_fsm::{Limits, subtype, text};
///
/// let sup = text::parse("b: rec X . a?play; a!won; a?pay; X")?.remove(0);
/// let sub = text::parse("b: rec X . a?play; a!won; X")?.remove(0);
/// let verdict = subtype::check(&sub, &sup, &Limits::default())?;
/// let mut refusal = verdict.refusal().ok_or("a refusal is expected")?.clone();
/// let Some(Misfit::Missing(due, true)) = find((&sub, &[]), &sup, &mut refusal) else { panic!() };
/// assert_eq!(sup.transition(due[0]).action.to_string(), "a?pay");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find((sub, parts): (&Fsm, &[StateId]), sup: &Fsm, refusal: &mut Refusal) -> Option<Misfit> {
    let path: Vec<_> = refusal.path.iter().chain(&refusal.cycle).copied().collect();
    let walk = walk(sub, sup, &refusal.path);
    let (last, most) = (walk.len() - 1, MOST / (sub.len() + sup.len()));
    let search = Search { sub, parts, sup, refusal, path: &path, walk: &walk, last, most };
    let cheapest = || search.cheapest().or_else(|| search.answer(false));
    // The subtype takes options of a choice, and leaves out another one.
    let offers = |own: &_| sup.transitions_from(walk[last]).any(|due| due.action == own);
    let is_narrow = matches!(refusal.rule, Rule::InputsFromOnePeer | Rule::InputNotHandled)
        && refusal.path.len() == last
        && sub.transitions_from(refusal.sub_state).all(|own| offers(own.action));
    let found = match search.answer(true).or_else(cheapest) {
        Some((_, Edit::Delete(_))) if is_narrow => None,
        Some((at, edit)) => search.explain(at, edit),
        None => search.unmet(),
    };
    let ordered = || order(sub, sup, &walk, refusal).or_else(|| early(sub, sup, &walk, refusal));
    let cause = found.or_else(ordered);
    if cause.is_none() && is_narrow {
        (refusal.rule, refusal.sub) = (Rule::InputNotHandled, None);
    }
    let (found, misfit) = cause?;
    *refusal = found;
    Some(misfit)
}

/// An edit, and how many actions of the path come before it.
type Candidate<'a> = (usize, Edit<'a>);

#[derive(Clone, Copy)]
struct Search<'a> {
    sub: &'a Fsm,
    parts: &'a [StateId],
    sup: &'a Fsm,
    refusal: &'a Refusal,
    /// The actions of the subtype up to the refusal, and the loop there.
    path: &'a [TransitionId],
    /// The states of the supertype, as long as it does the same.
    walk: &'a [StateId],
    /// The place where the two part.
    last: usize,
    /// How many edits are tried.
    most: usize,
}

impl<'a> Search<'a> {
    /// The last transition before the rest of the path, and the state there.
    fn at(self, at: usize) -> (Option<TransitionId>, StateId) {
        let edge = self.path[..at].last().copied();
        (edge, self.sub.after(edge))
    }

    fn fits(self, edit: Edit<'_>) -> bool {
        is_one(&edit.apply(self.sub, self.sup), self.sup, &Limits::default().steps(MOST))
    }

    /// The first edit that makes the machines equivalent, or else the first that makes a subtype.
    fn cheapest(self) -> Option<Candidate<'a>> {
        let Self { sub, sup, refusal, .. } = self;
        let limits = Limits::default().steps(MOST).anticipation(0).widening(0);
        let mut cheapest = None;
        let mut candidates = self.candidates();
        candidates.truncate(self.most);
        for (at, edit) in candidates.into_iter().filter(|(_, edit)| self.fits(*edit)) {
            let edited = edit.apply(sub, sup);
            if is_one(&edited, sup, &limits) && is_one(sup, &edited, &limits) {
                return Some((at, edit));
            }
            // An action that comes later, too, is rather in the wrong order than missing.
            let is_late = match edit {
                Edit::Insert { between: (from, _), .. } => {
                    let is_first = at == self.last && from == self.walk[at];
                    !(self.is_new(from) || is_first && refusal.cycle.is_empty())
                }
                _ => false,
            };
            cheapest = cheapest.or_else(|| (!is_late).then_some((at, edit)));
        }
        cheapest
    }

    /// True if the subtype never does what the supertype does in this state.
    fn is_new(self, due: StateId) -> bool {
        self.sup.transitions_from(due).all(|due| !does(self.sub, due.action))
    }

    /// The receive that is due if the subtype sends once more than it has heard back, and fits with
    /// it: behind an option, if it is put off up to a choice. It may also fit with one send less.
    /// With `is_first`, it fits with the receive where the two part, too.
    ///
    /// ```text
    /// supertype   !go ─ ?ok ─ ⟲                  the subtype is one message ahead; it may fit
    /// subtype     !go ─ (!go ─ ?ok ─ ⟲ | !stop)  with a `?ok` behind `!go`, too, but means one
    ///                                            behind `!stop`
    /// ```
    fn answer(self, is_first: bool) -> Option<Candidate<'a>> {
        let Self { sub, sup, refusal, walk, last, most, .. } = self;
        let due = single(sup, walk[last])?;
        let (edge, own) = self.at(last);
        let sends = |own: Transition<'_>| own.action.is_send() && does(sup, own.action);
        let is_ahead = edge.is_some() && !sub.is_terminal(own);
        let is_answer = !due.action.is_send();
        let between = (due.source, due.target);
        let insert = |at| (at, Edit::Insert { edge: self.at(at).0, is_of_state: false, between });
        let is_due = is_ahead && is_answer && sub.transitions_from(own).all(sends);
        if !is_due || is_first && !self.fits(insert(last).1) {
            return None;
        }
        let end = refusal.path.len();
        let choice = (last..end).find(|&at| single(sub, self.at(at).1).is_none());
        let late = choice.filter(|_| does(sub, due.action)).map_or(end, |choice| choice) + 1..=end;
        let mut late = late.rev().take(most).chain([last]).map(insert);
        late.find(|(_, edit)| self.fits(*edit))
    }

    /// The actions that are due where the two part, if the subtype never does them, and does
    /// nothing unknown there. Other things may be wrong, too.
    fn unmet(self) -> Option<Cause> {
        let Self { sub, sup, path, walk, last, .. } = self;
        let ((edge, own), due) = (self.at(last), walk[last]);
        let is_due = !sub.is_terminal(own) && !sup.is_terminal(due) && self.is_new(due);
        let is_known = sub.transitions_from(own).all(|own| does(sup, own.action));
        let edit = Edit::Insert { edge, is_of_state: false, between: (due, due) };
        let found = || turned(sub, sup, own, path[..last].to_vec());
        (is_due && is_known).then(|| found().or_else(|| self.explain(last, edit)))?
    }

    /// The edits, by kind, and then by their distance from where the two part.
    fn candidates(self) -> Vec<Candidate<'a>> {
        let Self { sub, parts, sup, refusal, path, walk, last, most } = self;
        let mut kinds: [Vec<Candidate<'a>>; 6] = Default::default();
        let (own, due) = (self.at(last).1, walk[last]);
        if sub.is_terminal(own) {
            return Vec::new();
        }
        if let Some(early) = single(sub, own) {
            let later = sub.reachable_from(early.target).flat_map(|at| sub.transitions_from(at));
            let later = later.filter(|before| before.id != early.id);
            kinds[0].extend(later.map(|before| (last, Edit::Later { early, before })));
        }
        for own in sub.transitions_from(own) {
            let mut tried = HashSet::from([own.action]);
            for due in sup.transitions_from(due).chain(sup.transitions()) {
                let (wanted, done) = (due.action, own.action);
                let is_end = wanted.peer == done.peer && wanted.direction == done.direction;
                let is_here = due.source == walk[last] && wanted.message == done.message;
                if tried.insert(wanted) && (is_end || is_here) {
                    kinds[1].push((last, Edit::Replace { own, due }));
                }
            }
        }
        let stop = refusal.sup.map(|id| sup.transition(id));
        // A subtype that begins in the middle does later what is due first.
        if refusal.path.is_empty() && stop.is_some_and(|due| does(sub, due.action)) {
            return kinds.concat();
        }
        let stop = stop.map_or(due, |stop| stop.source);
        let ends = (0..=path.len()).rev().take(most).map(|at| (at, stop));
        // What follows a mistake may look like what should stand there.
        let steps = (0..last).rev().take(most).map(|at| (at, walk[at]));
        for (at, due) in [(last, due)].into_iter().chain(ends).chain(steps) {
            let (edge, own) = self.at(at);
            let dues = || sup.transitions_from(due);
            let mut owns = sub.transitions_from(own);
            let is_apart =
                sub.is_terminal(own) || owns.any(|own| dues().all(|due| due.action != own.action));
            if at <= refusal.path.len() {
                kinds[2].extend(single(sub, own).map(|only| (at, Edit::Delete(only))));
                let kind = if dues().count() == 1 { 3 } else { 5 };
                for to in sup.reachable_from(due).filter(|to| is_apart && *to != due) {
                    let between = (due, to);
                    let insert = |is_of_state| (at, Edit::Insert { edge, is_of_state, between });
                    kinds[kind].extend([false, true].map(insert));
                }
            }
            // A part that nothing else leads to is rather wrong itself.
            let leads = |to: StateId| {
                sub.transitions().any(|other| other.target == to && Some(other.id) != edge)
            };
            let is_part = |to: &StateId| {
                let is_named = *to == sub.initial() || parts.contains(to);
                let is_joint = || sub.transitions().filter(|edge| edge.target == *to).count() > 1;
                let is_choice = sub.transitions_from(*to).count() > 1;
                *to != own && (is_choice || !sub.is_terminal(*to) && (is_named || is_joint()))
            };
            if edge.is_some() && !sub.is_terminal(own) && (own == sub.initial() || leads(own)) {
                let jump = |to| (at, Edit::Jump { edge, to });
                kinds[4].extend(sub.states().filter(is_part).map(jump));
            }
        }
        kinds.concat()
    }

    /// The cause that an edit shows, with its refusal. `None` if an action has to come later.
    fn explain(self, at: usize, edit: Edit<'a>) -> Option<Cause> {
        let Self { sub, sup, path, walk, refusal, .. } = self;
        let why = |done| displaced(sub, sup, &path[..at], walk, done);
        let (own, due, misfit) = match edit {
            Edit::Later { .. } => return None,
            Edit::Replace { own, due } => {
                let known = sup.transitions().find(|due| due.action == own.action);
                let misfit = difference(own.action, due).unwrap_or_else(|| match known {
                    Some(known) => why(own.action)
                        .filter(|why| matches!(why, Misfit::OtherBranch(_)))
                        .unwrap_or(Misfit::Repeated(known.id)),
                    None => Misfit::Unknown(Some(due.id)),
                });
                (Some(own.id), Some(due), misfit)
            }
            Edit::Delete(only) => {
                let dues = || walk.get(at).into_iter().flat_map(|at| sup.transitions_from(*at));
                let due = dues().find(|due| due.action == only.action).or_else(|| dues().next());
                let misfit = match does(sup, only.action) {
                    true => Misfit::Superfluous(why(only.action).map(Box::new)),
                    false => Misfit::Unknown(None),
                };
                (Some(only.id), due, misfit)
            }
            Edit::Insert { edge, between: (from, _), .. } => {
                let dues = sup.transitions_from(from).map(|due| due.id).collect();
                let due = sup.transitions_from(from).next();
                (edge, due, Misfit::Missing(dues, self.is_new(from)))
            }
            Edit::Jump { edge, to } => {
                let begins = |due: &Transition<'_>| {
                    sub.transitions_from(to).any(|own| own.action == due.action)
                };
                let due = refusal.sup.map(|id| sup.transition(id));
                let dues = sup.transitions().filter(begins).map(|due| due.id).collect();
                (edge, due, Misfit::Elsewhere(to, dues))
            }
        };
        let refusal = Refusal {
            path: path[..at].to_vec(),
            sub_state: self.at(at).1,
            sub: own,
            sup_state: due.map_or(refusal.sup_state, |due| due.source),
            sup: due.map(|due| due.id),
            cycle: Vec::new(),
            ..*refusal
        };
        Some((refusal, misfit))
    }
}

/// True if a machine is known to be a subtype of another one.
fn is_one(sub: &Fsm, sup: &Fsm, limits: &Limits) -> bool {
    subtype::check(sub, sup, limits).is_ok_and(|found| found.is_safe())
}

fn single(fsm: &Fsm, state: StateId) -> Option<Transition<'_>> {
    let mut from = fsm.transitions_from(state);
    from.next().filter(|_| from.next().is_none())
}
