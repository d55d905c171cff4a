//! The checker of derivations. It shares no code with the engines.

use std::collections::VecDeque;

use hashbrown::HashMap;
use litemap::LiteMap;

use super::{DEEPEST, Derivation, Inference, Situation, Tail, Tree};
use crate::certificate::fault::{Fault, Invalid};
use crate::machine::{Action, Direction, Fsm, Role, StateId, TransitionId};

/// Checks that `derivation` proves `sub ≤ sup`, of two directed machines.
pub(crate) fn check(derivation: &Derivation, sub: &Fsm, sup: &Fsm) -> Result<(), Invalid> {
    let checker = Checker::new(sub, sup);
    let mut claims = Vec::with_capacity(derivation.situations.len());
    for (index, situation) in derivation.situations.iter().enumerate() {
        let claim = checker.claim(situation);
        claims.push(claim.map_err(|fault| Invalid::at(index, situation.rules.len(), fault))?);
    }
    let initial = Branch { spine: Spine::default(), tail: End::State(sup.initial()) };
    if !claims.first().is_some_and(|claim| claim.state == sub.initial() && claim.tree == initial) {
        return Err(Invalid::at(0, 0, Fault::Initial));
    }

    for (index, situation) in derivation.situations.iter().enumerate() {
        let mut goals = vec![Goal {
            own: None,
            state: situation.state,
            tree: claims[index].tree.clone(),
            done: vec![false; checker.kinds],
            moved: false,
        }];
        for (number, rule) in situation.rules.iter().enumerate() {
            let applied = checker.apply(rule, &claims, index, &mut goals);
            applied.map_err(|fault| Invalid::at(index, number, fault))?;
        }
        if !goals.is_empty() {
            return Err(Invalid::at(index, situation.rules.len(), Fault::OpenGoal));
        }
    }
    Ok(())
}

/// An action by number, equal for equal actions, with its kind: a peer and a direction.
#[derive(Clone, Copy, Debug)]
struct Act {
    number: u32,
    kind: u32,
    sends: bool,
}

/// Only the action is compared; its kind belongs to it.
impl PartialEq for Act {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

/// Promised actions in order. The first of a kind is found without looking at the others, so that a
/// derivation is checked in linear time.
#[derive(Clone, Debug, Default)]
struct Spine {
    /// `None` where an action was taken.
    acts: Vec<Option<Act>>,
    /// By kind, the places of its remaining actions, in order.
    places: LiteMap<u32, VecDeque<usize>>,
}

impl Spine {
    fn acts(&self) -> impl Iterator<Item = Act> {
        self.acts.iter().copied().flatten()
    }

    fn push(&mut self, act: Act) {
        self.places.entry(act.kind).or_default().push_back(self.acts.len());
        self.acts.push(Some(act));
    }

    /// The first action of a kind, and its place.
    fn first(&self, kind: u32) -> Option<(usize, Act)> {
        let &place = self.places.get(&kind)?.front()?;
        self.acts[place].map(|act| (place, act))
    }

    fn first_send(&self) -> Option<usize> {
        let firsts = self.places.keys().filter_map(|&kind| self.first(kind));
        firsts.filter(|(_, act)| act.sends).map(|(place, _)| place).min()
    }

    fn take(&mut self, kind: u32) {
        let place = self.places.get_mut(&kind).and_then(VecDeque::pop_front);
        if let Some(place) = place {
            self.acts[place] = None;
        }
    }
}

impl PartialEq for Spine {
    fn eq(&self, other: &Self) -> bool {
        self.acts().eq(other.acts())
    }
}

/// A [`Tree`] of actions instead of transitions.
#[derive(Clone, Debug, PartialEq)]
struct Branch {
    spine: Spine,
    tail: End,
}

#[derive(Clone, Debug, PartialEq)]
enum End {
    State(StateId),
    Choice(Vec<(Act, Branch)>),
}

struct Claim {
    state: StateId,
    tree: Branch,
    pending: Vec<bool>,
    ranks: Vec<u32>,
}

#[derive(Clone)]
struct Goal {
    /// An output that the subtype chose, and which is to be taken.
    own: Option<Act>,
    state: StateId,
    tree: Branch,
    /// By kind, true if the subtype did it since the claim.
    done: Vec<bool>,
    moved: bool,
}

struct Checker<'a> {
    sub: &'a Fsm,
    sup: &'a Fsm,
    sub_acts: Vec<Act>,
    sup_acts: Vec<Act>,
    kinds: usize,
}

impl<'a> Checker<'a> {
    fn new(sub: &'a Fsm, sup: &'a Fsm) -> Self {
        let mut numbers: HashMap<&Action, u32> = HashMap::new();
        let mut kinds: HashMap<(&Role, Direction), u32> = HashMap::new();
        let mut acts = |machine: &'a Fsm| -> Vec<Act> {
            let act = |action: &'a Action| {
                let number = numbers.len() as u32;
                let kind = kinds.len() as u32;
                Act {
                    number: *numbers.entry(action).or_insert(number),
                    kind: *kinds.entry((&action.peer, action.direction)).or_insert(kind),
                    sends: action.is_send(),
                }
            };
            machine.transitions().map(|t| t.action).map(act).collect()
        };
        let (sub_acts, sup_acts) = (acts(sub), acts(sup));
        Self { sub, sup, sub_acts, sup_acts, kinds: kinds.len() }
    }

    /// The claim of a situation; a fault if it names something that does not exist.
    fn claim(&self, situation: &Situation) -> Result<Claim, Fault> {
        if situation.state.index() >= self.sub.len() {
            return Err(Fault::Unknown);
        }
        let tree = self.branch(&situation.tree, 0)?;
        let mut pending = vec![false; self.kinds];
        for act in tree.spine.acts() {
            pending[act.kind as usize] = true;
        }
        if let End::Choice(branches) = &tree.tail {
            for (act, _) in branches {
                pending[act.kind as usize] = true;
            }
        }
        let mut ranks = vec![0; self.kinds];
        for &(transition, rank) in &situation.ranks {
            ranks[self.act(transition)?.kind as usize] = rank;
        }
        Ok(Claim { state: situation.state, tree, pending, ranks })
    }

    fn act(&self, transition: TransitionId) -> Result<Act, Fault> {
        self.sup_acts.get(transition.index()).copied().ok_or(Fault::Unknown)
    }

    /// Recursion stops at [`DEEPEST`].
    fn branch(&self, tree: &Tree, depth: usize) -> Result<Branch, Fault> {
        if depth > DEEPEST {
            return Err(Fault::TooDeep);
        }
        let mut spine = Spine::default();
        for &transition in &tree.spine {
            spine.push(self.act(transition)?);
        }
        let tail = match &tree.tail {
            Tail::State(state) if state.index() < self.sup.len() => End::State(*state),
            Tail::State(_) => return Err(Fault::Unknown),
            Tail::Choice(branches) => {
                let branch = |(transition, tree): &(TransitionId, Tree)| {
                    Ok((self.act(*transition)?, self.branch(tree, depth + 1)?))
                };
                End::Choice(branches.iter().map(branch).collect::<Result<_, _>>()?)
            }
        };
        Ok(Branch { spine, tail })
    }

    /// Applies a rule to the last goal, in its place: moving it costs time. The next goal is last.
    fn apply(
        &self,
        rule: &Inference,
        claims: &[Claim],
        from: usize,
        goals: &mut Vec<Goal>,
    ) -> Result<(), Fault> {
        let goal = goals.last_mut().ok_or(Fault::NoGoal)?;
        match rule {
            Inference::End => {
                let finished = goal.own.is_none()
                    && self.sub.is_terminal(goal.state)
                    && goal.tree.spine.acts().next().is_none()
                    && matches!(goal.tree.tail, End::State(state) if self.sup.is_terminal(state));
                finished.then(|| goals.pop()).ok_or(Fault::WrongRule)?;
            }
            Inference::Choose => self.choose(goals)?,
            Inference::Unfold(path) => self.unfold(path, goals)?,
            Inference::Assume(to) => {
                self.assume(*to, goal, claims, from).map(|()| drop(goals.pop()))?
            }
            Inference::Drop(path) => goal.tree.drop(path)?,
            Inference::Take => {
                match goal.own.take() {
                    Some(act) => {
                        goal.tree.take(act, 0)?;
                        goal.done[act.kind as usize] = true;
                    }
                    None => self.receive(goal)?,
                }
                goal.moved = true;
            }
        }
        Ok(())
    }

    fn choose(&self, goals: &mut Vec<Goal>) -> Result<(), Fault> {
        let at = goals.len().checked_sub(1).ok_or(Fault::NoGoal)?;
        let goal = &goals[at];
        let outputs: Vec<_> = self.sub.transitions_from(goal.state).collect();
        let sends = outputs.first().is_some_and(|output| output.action.is_send());
        if goal.own.is_some() || !sends {
            return Err(Fault::WrongRule);
        }
        // Backwards, so that the first is on top.
        let copies: Vec<Goal> = outputs[1..].iter().map(|_| goal.clone()).collect();
        goals.extend(copies);
        for (goal, output) in goals[at..].iter_mut().zip(outputs.iter().rev()) {
            goal.own = Some(self.sub_acts[output.id.index()]);
            goal.state = output.target;
        }
        Ok(())
    }

    /// Checks that a goal is a claim, and that the rank of each kind that was put off since the
    /// claim `from` falls.
    fn assume(&self, to: u32, goal: &Goal, claims: &[Claim], from: usize) -> Result<(), Fault> {
        let claim = claims.get(to as usize).ok_or(Fault::Unknown)?;
        if goal.own.is_some() || goal.state != claim.state || goal.tree != claim.tree {
            return Err(Fault::OtherClaim);
        }
        if !goal.moved {
            return Err(Fault::NoProgress);
        }
        let from = &claims[from];
        let falls = |kind: usize| {
            !from.pending[kind] || goal.done[kind] || from.ranks[kind] > claim.ranks[kind]
        };
        (0..self.kinds).all(falls).then_some(()).ok_or(Fault::Rank)
    }

    fn unfold(&self, path: &[u32], goals: &mut Vec<Goal>) -> Result<(), Fault> {
        if path.len() >= DEEPEST {
            return Err(Fault::TooDeep);
        }
        let goal = goals.last_mut().ok_or(Fault::NoGoal)?;
        let branch = goal.tree.at(path)?;
        let End::State(state) = branch.tail else { return Err(Fault::WrongRule) };
        let next = self.sup.transitions_from(state);
        let next: Vec<_> = next.map(|next| (self.sup_acts[next.id.index()], next.target)).collect();
        match next.as_slice() {
            [] => return Err(Fault::WrongRule),
            &[(act, target)] => {
                branch.spine.push(act);
                branch.tail = End::State(target);
            }
            [(first, _), ..] if first.sends => {
                let leaf = |(act, target)| {
                    let (spine, tail) = (Spine::default(), End::State(target));
                    (act, Branch { spine, tail })
                };
                branch.tail = End::Choice(next.into_iter().map(leaf).collect());
            }
            inputs => {
                let goal = goals.pop().ok_or(Fault::NoGoal)?;
                for &(act, target) in inputs.iter().rev() {
                    let mut tree = goal.tree.clone();
                    let branch = tree.at(path)?;
                    branch.spine.push(act);
                    branch.tail = End::State(target);
                    goals.push(Goal { tree, done: goal.done.clone(), ..goal });
                }
            }
        }
        Ok(())
    }

    /// The subtype receives what is promised, over inputs from others: \[ref-in\] or \[ref-A\].
    fn receive(&self, goal: &mut Goal) -> Result<(), Fault> {
        let inputs = || self.sub.transitions_from(goal.state);
        let first = inputs().next().filter(|input| !input.action.is_send());
        let kind = self.sub_acts[first.ok_or(Fault::WrongRule)?.id.index()].kind;
        let spine = &mut goal.tree.spine;
        let (place, act) = spine.first(kind).ok_or(Fault::Order)?;
        if spine.first_send().is_some_and(|send| send < place) {
            return Err(Fault::Order);
        }
        let input = inputs().find(|input| self.sub_acts[input.id.index()] == act);
        let input = input.ok_or(Fault::NotHandled)?;
        spine.take(kind);
        goal.done[kind as usize] = true;
        goal.state = input.target;
        Ok(())
    }
}

impl Branch {
    fn at(&mut self, path: &[u32]) -> Result<&mut Self, Fault> {
        let mut branch = self;
        for &alternative in path {
            let End::Choice(branches) = &mut branch.tail else { return Err(Fault::Unknown) };
            branch = &mut branches.get_mut(alternative as usize).ok_or(Fault::Unknown)?.1;
        }
        Ok(branch)
    }

    fn drop(&mut self, path: &[u32]) -> Result<(), Fault> {
        let (&last, path) = path.split_last().ok_or(Fault::Unknown)?;
        let branch = self.at(path)?;
        let End::Choice(branches) = &mut branch.tail else { return Err(Fault::Unknown) };
        // One of them must be left.
        if last as usize >= branches.len() || branches.len() < 2 {
            return Err(Fault::Unknown);
        }
        branches.remove(last as usize);
        if let [_] = branches.as_slice() {
            let (act, rest) = branches.remove(0);
            branch.spine.push(act);
            branch.prolong(rest);
        }
        Ok(())
    }

    /// Takes an output on every way down the tree, over all but outputs to the same peer:
    /// \[ref-out\] or \[ref-B\].
    fn take(&mut self, output: Act, depth: usize) -> Result<(), Fault> {
        if depth > DEEPEST {
            return Err(Fault::TooDeep);
        }
        if let Some((_, act)) = self.spine.first(output.kind) {
            if act != output {
                return Err(Fault::Order);
            }
            self.spine.take(output.kind);
            return Ok(());
        }
        let End::Choice(branches) = &mut self.tail else { return Err(Fault::Order) };
        if branches.first().is_some_and(|(act, _)| act.kind == output.kind) {
            // The choice is made.
            let made = branches.iter().position(|(act, _)| *act == output);
            let (_, rest) = branches.remove(made.ok_or(Fault::Order)?);
            self.prolong(rest);
            return Ok(());
        }
        branches.iter_mut().try_for_each(|(_, branch)| branch.take(output, depth + 1))
    }

    fn prolong(&mut self, rest: Self) {
        rest.spine.acts().for_each(|act| self.spine.push(act));
        self.tail = rest.tail;
    }
}
