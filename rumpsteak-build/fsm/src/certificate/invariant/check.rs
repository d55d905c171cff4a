//! The checker of invariants. It shares no code with the engines.

use litemap::LiteMap;

use super::fair::FairInvariant;
use super::{Between, Invariant, Judgement, Step, Words};
use crate::certificate::fault::{Fault, Invalid};
use crate::machine::{Direction, Fsm, Role, StateId, Transition, TransitionId};

/// Checks that `invariant` proves `sub ≤ sup` for two directed machines, or the fair relation if it
/// is `fair`. Malformed judgements are refused first.
pub(crate) fn check(
    invariant: &Invariant,
    fair: Option<&FairInvariant>,
    sub: &Fsm,
    sup: &Fsm,
) -> Result<(), Invalid> {
    let checker = Checker { sub, sup };
    let mut claims = Vec::with_capacity(invariant.judgements.len());
    for (index, judgement) in invariant.judgements.iter().enumerate() {
        claims.push(checker.claim(judgement).map_err(|fault| Invalid::at(index, 0, fault))?);
    }
    let initial = Goal { sub: sub.initial(), sup: sup.initial(), pending: LiteMap::new() };
    if claims.first().map(|claim| &claim.goal) != Some(&initial) {
        return Err(Invalid::at(0, 0, Fault::Initial));
    }

    for (index, (judgement, claim)) in invariant.judgements.iter().zip(&claims).enumerate() {
        let applied = checker.apply(judgement.rule, &claim.goal);
        let (goals, taken) = applied.map_err(|fault| Invalid::at(index, 0, fault))?;
        for (number, goal) in goals.iter().enumerate() {
            let reached = match judgement.next.get(number) {
                Some(&next) => claims.get(next as usize).ok_or(Fault::Unknown),
                None => Err(Fault::OpenGoal),
            };
            reached
                .and_then(|reached| {
                    claim.leads_to(goal, reached)?;
                    let falls = fair.is_some() || claim.falls(taken, reached);
                    falls.then_some(()).ok_or(Fault::Rank)
                })
                .map_err(|fault| Invalid::at(index, number, fault))?;
        }
        if judgement.next.len() > goals.len() {
            return Err(Invalid::at(index, goals.len(), Fault::NoGoal));
        }
        if let Some(fair) = fair {
            checker.fair(fair, index, &claim.goal).map_err(|fault| Invalid::at(index, 0, fault))?;
        }
    }
    Ok(())
}

type Kind<'a> = (&'a Role, Direction);

#[derive(Clone, PartialEq)]
struct Goal<'a> {
    sub: StateId,
    sup: StateId,
    /// Nothing is pending of all other kinds.
    pending: LiteMap<Kind<'a>, Words>,
}

struct Claim<'a> {
    goal: Goal<'a>,
    ranks: Vec<(Kind<'a>, u32)>,
}

/// The goals after a rule, and the kind of the pending action that the rule does.
type Applied<'a> = (Vec<Goal<'a>>, Option<Kind<'a>>);

impl Claim<'_> {
    /// Checks that all situations of a goal are in the claim that is reached.
    fn leads_to(&self, goal: &Goal<'_>, to: &Self) -> Result<(), Fault> {
        let known = &to.goal;
        let mut both = goal.pending.values().zip(known.pending.values());
        let within = (goal.sub, goal.sup) == (known.sub, known.sup)
            && goal.pending.keys().eq(known.pending.keys())
            && both.all(|(words, known)| known.contains(words));
        within.then_some(()).ok_or(Fault::OtherClaim)
    }

    /// True if the rank of everything that is put off falls.
    fn falls(&self, taken: Option<Kind<'_>>, to: &Self) -> bool {
        let falls = |&(kind, rank): &(Kind<'_>, u32)| {
            let lower = to.ranks.iter().find(|&&(own, _)| own == kind);
            taken == Some(kind) || lower.is_some_and(|&(_, lower)| lower < rank)
        };
        self.ranks.iter().all(falls)
    }
}

impl Goal<'_> {
    fn sends(&self) -> bool {
        self.pending.keys().any(|(_, direction)| *direction == Direction::Send)
    }
}

struct Checker<'a> {
    sub: &'a Fsm,
    sup: &'a Fsm,
}

impl<'a> Checker<'a> {
    /// The claim of a judgement; a fault if it names something that does not exist.
    fn claim(&self, judgement: &Judgement) -> Result<Claim<'a>, Fault> {
        let &Judgement { sub, sup, .. } = judgement;
        if sub.index() >= self.sub.len() || sup.index() >= self.sup.len() {
            return Err(Fault::Unknown);
        }
        let (mut pending, mut ranks) = (LiteMap::new(), vec![]);
        for entry in &judgement.pending {
            let (kind, words) = self.words(&entry.words)?;
            if pending.insert(kind, words).is_some() {
                return Err(Fault::NoWords);
            }
            ranks.push((kind, entry.rank));
        }
        let goal = Goal { sub, sup, pending };
        Ok(Claim { goal, ranks })
    }

    /// The kind of a set of words, and the set with its windows in order.
    fn words(&self, written: &Words) -> Result<(Kind<'a>, Words), Fault> {
        let mut words = written.clone();
        if let Words::Between(Between { first, last, windows }) = &mut words {
            let m = first.len();
            let wrong = windows.iter().any(|window| window.len() != m + 1);
            if windows.is_empty() || last.len() != m || wrong {
                return Err(Fault::NoWords);
            }
            windows.sort_unstable();
            windows.dedup();
        }
        Ok((self.kind(&words)?, words))
    }

    fn kind(&self, words: &Words) -> Result<Kind<'a>, Fault> {
        let (ends, windows) = match words {
            Words::Exactly(word) => ([&word[..], &[]], &[][..]),
            Words::Between(between) => ([&between.first[..], &between.last], &between.windows[..]),
        };
        let letters = ends.into_iter().chain(windows.iter().map(Vec::as_slice)).flatten();
        let is_known = |letter: &TransitionId| letter.index() < self.sup.transition_count();
        if !letters.clone().all(is_known) {
            return Err(Fault::Unknown);
        }
        let mut kinds = letters.map(|&letter| kind_of(&self.sup.transition(letter)));
        kinds.next().filter(|&kind| kinds.all(|other| other == kind)).ok_or(Fault::NoWords)
    }

    fn apply(&self, rule: Step, goal: &Goal<'a>) -> Result<Applied<'a>, Fault> {
        let own: Vec<_> = self.sub.transitions_from(goal.sub).collect();
        let theirs: Vec<_> = self.sup.transitions_from(goal.sup).collect();
        // The kind that the subtype does; no input while an output is pending.
        let kind = || match own.first().map(kind_of) {
            Some((_, Direction::Receive)) if goal.sends() => Err(Fault::Order),
            Some(kind) => Ok(kind),
            None => Err(Fault::WrongRule),
        };
        let is_end = own.is_empty() && theirs.is_empty() && goal.pending.is_empty();
        match rule {
            Step::End => is_end.then_some((vec![], None)).ok_or(Fault::WrongRule),
            Step::Match => Ok((matched(kind()?, goal, &own, &theirs)?, None)),
            Step::Take => Ok((self.taken(kind()?, goal, &own)?, Some(kind()?))),
            Step::Ahead => Ok((ahead(goal, &theirs)?, None)),
        }
    }

    /// Checks what a fair invariant claims of a judgement.
    fn fair(&self, fair: &FairInvariant, index: usize, goal: &Goal<'a>) -> Result<(), Fault> {
        let FairInvariant { invariant: Invariant { judgements }, drains, unfoldings, left } = fair;
        if drains.len() != judgements.len() || unfoldings.len() != judgements.len() {
            return Err(Fault::Unknown);
        }
        if goal.sends() {
            return Err(Fault::Order);
        }
        let Judgement { rule, next, .. } = &judgements[index];
        let own = || self.sub.transitions_from(goal.sub);
        let sends = own().any(|own| own.action.is_send());
        let is_match = *rule == Step::Match;
        if is_match && sends && own().count() != self.sup.transitions_from(goal.sup).count() {
            return Err(Fault::LeftOut);
        }
        let mut next = next.iter().map(|&next| next as usize);
        let is_left = sends && left.contains(&goal.sup);
        let unfolds = |next: usize| unfoldings[next] < unfoldings[index];
        if *rule == Step::Ahead && !is_left && !next.clone().all(unfolds) {
            return Err(Fault::Rank);
        }
        let falls = |next: usize| drains[next] < drains[index];
        let drains = match (is_match, sends) {
            _ if goal.pending.is_empty() => true,
            (true, true) => next.any(falls),
            (true, false) => next.all(falls),
            (false, _) => next.all(|next| drains[next] <= drains[index]),
        };
        drains.then_some(()).ok_or(Fault::Rank)
    }

    fn taken(
        &self,
        kind: Kind<'a>,
        goal: &Goal<'a>,
        own: &[Transition<'a>],
    ) -> Result<Vec<Goal<'a>>, Fault> {
        let words = goal.pending.get(&kind).ok_or(Fault::WrongRule)?;
        if kind.1 == Direction::Send && own.len() > 1 {
            return Err(Fault::Order);
        }
        let take = |(letter, rest): (TransitionId, Option<Words>)| {
            let promised = self.sup.transition(letter).action;
            let done = own.iter().find(|own| own.action == promised);
            let sub = done.ok_or(not_done(kind))?.target;
            let mut pending = goal.pending.clone();
            match rest {
                Some(rest) => pending.insert(kind, rest),
                None => pending.remove(&kind),
            };
            Ok(Goal { sub, sup: goal.sup, pending })
        };
        words.take_off().into_iter().map(take).collect()
    }
}

fn matched<'a>(
    kind: Kind<'a>,
    goal: &Goal<'a>,
    own: &[Transition<'a>],
    theirs: &[Transition<'a>],
) -> Result<Vec<Goal<'a>>, Fault> {
    if theirs.first().map(kind_of) != Some(kind) || goal.pending.contains_key(&kind) {
        return Err(Fault::WrongRule);
    }
    let sends = kind.1 == Direction::Send;
    let (chosen, offered) = if sends { (own, theirs) } else { (theirs, own) };
    let both = |choice: &Transition<'a>| {
        let same = offered.iter().find(|offer| offer.action == choice.action);
        let same = same.ok_or(not_done(kind))?;
        let (own, theirs) = if sends { (choice, same) } else { (same, choice) };
        Ok(Goal { sub: own.target, sup: theirs.target, pending: goal.pending.clone() })
    };
    chosen.iter().map(both).collect()
}

fn ahead<'a>(goal: &Goal<'a>, theirs: &[Transition<'a>]) -> Result<Vec<Goal<'a>>, Fault> {
    let [first, others @ ..] = theirs else { return Err(Fault::WrongRule) };
    let kind = kind_of(first);
    // It is not known which of several outputs is sent.
    if kind.1 == Direction::Send && !others.is_empty() {
        return Err(Fault::Order);
    }
    let name = |next: &Transition<'a>| {
        let mut onward = goal.clone();
        onward.sup = next.target;
        let words = Words::append(onward.pending.remove(&kind), next.id);
        onward.pending.insert(kind, words);
        onward
    };
    Ok(theirs.iter().map(name).collect())
}

/// The fault if one machine does an action of a kind and the other does not.
fn not_done(kind: Kind<'_>) -> Fault {
    match kind.1 {
        Direction::Send => Fault::Order,
        Direction::Receive => Fault::NotHandled,
    }
}

/// All transitions of a state of a directed machine are of one kind.
fn kind_of<'a>(transition: &Transition<'a>) -> Kind<'a> {
    (&transition.action.peer, transition.action.direction)
}
