//! Mutations of a role, as a programmer may make them, right or wrong.
//!
//! Each mutation of a directed machine gives a directed machine. [`Mutation::Swap`],
//! [`Mutation::Hoist`], [`Mutation::Unroll`] and [`Mutation::SendAhead`] reorder, which may be safe
//! or not; subtyping allows [`Mutation::Narrow`] and [`Mutation::Widen`]; the others do
//! damage.

use std::collections::VecDeque;

use rumpsteak_fsm::{Action, Direction, Fsm, Late, Role};

use fastrand::Rng;

/// A machine that can be edited: the transitions of each state, by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The role.
    pub role: Role,
    /// The initial state.
    pub initial: usize,
    /// The transitions from each state, and their targets.
    pub states: Vec<Vec<(Action, usize)>>,
    /// The messages that the role drops when it has ended.
    pub late: Late,
}

impl From<&Fsm> for Draft {
    fn from(fsm: &Fsm) -> Self {
        Self {
            role: fsm.role().clone(),
            initial: fsm.initial().index(),
            states: fsm
                .states()
                .map(|state| {
                    fsm.transitions_from(state)
                        .map(|t| (t.action.clone(), t.target.index()))
                        .collect()
                })
                .collect(),
            late: fsm.late().clone(),
        }
    }
}

impl Draft {
    /// The machine, without the states that no run reaches, numbered breadth first.
    pub fn build(&self) -> Fsm {
        let mut builder = Fsm::builder(&self.role);
        let mut ids = vec![None; self.states.len()];
        let initial = builder.add_state();
        ids[self.initial] = Some(initial);
        let mut pending = VecDeque::from([(self.initial, initial)]);
        while let Some((state, source)) = pending.pop_front() {
            for (action, target) in &self.states[state] {
                let id = match ids[*target] {
                    Some(id) => id,
                    None => {
                        let id = builder.add_state();
                        ids[*target] = Some(id);
                        pending.push_back((*target, id));
                        id
                    }
                };
                builder.add_transition(source, action.clone(), id);
            }
        }
        builder.build(initial).dropping(self.late.clone())
    }

    fn add(&mut self, transitions: Vec<(Action, usize)>) -> usize {
        self.states.push(transitions);
        self.states.len() - 1
    }

    /// All transitions: a state, and the position in it.
    fn sites(&self) -> Vec<(usize, usize)> {
        let positions = |(state, transitions): (usize, &Vec<_>)| {
            (0..transitions.len()).map(move |position| (state, position))
        };
        self.states.iter().enumerate().flat_map(positions).collect()
    }

    /// A random transition whose state, action and target fit.
    fn site(
        &self,
        rng: &mut Rng,
        fits: impl Fn(usize, &Action, usize) -> bool,
    ) -> Option<(usize, usize)> {
        let mut sites = self.sites();
        sites.retain(|&(state, position)| {
            let (action, target) = &self.states[state][position];
            fits(state, action, *target)
        });
        rng.choice(&sites).copied()
    }

    fn only(&self, state: usize) -> Option<&(Action, usize)> {
        let [transition] = &self.states[state][..] else { return None };
        Some(transition)
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.states.len()];
        let mut pending = vec![from];
        while let Some(state) = pending.pop() {
            if state == to {
                return true;
            }
            if !std::mem::replace(&mut seen[state], true) {
                pending.extend(self.states[state].iter().map(|(_, target)| *target));
            }
        }
        false
    }
}

/// A way to change a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutation {
    /// Two actions in a row change places.
    Swap,
    /// An action after a choice moves before it. In a bold mutation, only some branches need to
    /// have the action.
    Hoist,
    /// One transition into a state leads to a copy of the state, which changes nothing by itself.
    Unroll,
    /// A send of the machine happens once more at the start, or before another state.
    SendAhead,
    /// An alternative of a sending state is removed.
    Narrow,
    /// A receiving state takes one more label.
    Widen,
    /// An action is removed.
    Drop,
    /// An action happens twice.
    Duplicate,
    /// An action gets another label, payload or peer.
    Relabel,
    /// A transition leads to another state.
    Redirect,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Swap,
        Self::Hoist,
        Self::Unroll,
        Self::SendAhead,
        Self::Narrow,
        Self::Widen,
        Self::Drop,
        Self::Duplicate,
        Self::Relabel,
        Self::Redirect,
    ];

    /// A mutation that a programmer would try for speed: mostly reorderings.
    pub fn gentle(rng: &mut Rng) -> Self {
        match rng.usize(..100) {
            0..40 => Self::Swap,
            40..60 => Self::Hoist,
            60..78 => Self::Unroll,
            78..88 => Self::SendAhead,
            88..94 => Self::Narrow,
            _ => Self::Widen,
        }
    }

    /// A mutation for a long series of small accepted steps: a few that are nearly always accepted,
    /// and some that are nearly never.
    pub fn daring(rng: &mut Rng) -> Self {
        match rng.usize(..100) {
            0..30 => Self::Swap,
            30..48 => Self::Hoist,
            48..60 => Self::Unroll,
            60..72 => Self::SendAhead,
            72..77 => Self::Narrow,
            77..79 => Self::Widen,
            79..85 => Self::Drop,
            85..91 => Self::Redirect,
            91..98 => Self::Duplicate,
            _ => Self::Relabel,
        }
    }

    /// Any mutation.
    pub fn any(rng: &mut Rng) -> Self {
        Self::ALL[rng.usize(..Self::ALL.len())]
    }
}

/// A machine after `mutation` at a random place; `None` if no place allows it, or the result is not
/// deterministic, or not directed although the machine is.
pub fn mutate(fsm: &Fsm, mutation: Mutation, rng: &mut Rng) -> Option<Fsm> {
    let mut draft = Draft::from(fsm);
    match mutation {
        Mutation::Swap => swap(&mut draft, rng),
        Mutation::Hoist => hoist(&mut draft, rng),
        Mutation::Unroll => unroll(&mut draft, rng),
        Mutation::SendAhead => send_ahead(&mut draft, rng),
        Mutation::Narrow => narrow(&mut draft, rng),
        Mutation::Widen => widen(&mut draft, rng),
        Mutation::Drop => drop_action(&mut draft, rng),
        Mutation::Duplicate => duplicate(&mut draft, rng),
        Mutation::Relabel => relabel(&mut draft, rng),
        Mutation::Redirect => redirect(&mut draft, rng),
    }?;
    let mutated = draft.build();
    let is_kept = match fsm.check_directed() {
        Ok(()) => mutated.check_directed().is_ok(),
        Err(_) => mutated.check_deterministic().is_ok(),
    };
    is_kept.then_some(mutated)
}

/// A machine that chooses among peers: one of the options of a choice of sends comes after the send
/// to another peer that follows it. `None` if no place allows it.
pub fn scatter(fsm: &Fsm, rng: &mut Rng) -> Option<Fsm> {
    let mut draft = Draft::from(fsm);
    let is_send = |action: &Action| action.direction == Direction::Send;
    let sites: Vec<_> = draft
        .sites()
        .into_iter()
        .filter_map(|(state, position)| {
            let options = &draft.states[state];
            let (first, middle) = &options[position];
            let (second, last) = draft.only(*middle)?;
            let scatters = options.len() > 1 && is_send(first) && is_send(second);
            (scatters && first.peer != second.peer)
                .then(|| (state, position, first.clone(), second.clone(), *last))
        })
        .collect();
    let (state, position, first, second, last) = rng.choice(&sites)?.clone();
    draft.states[state][position] = (second, draft.add(vec![(first, last)]));
    Some(draft.build())
}

/// A machine that does an action of a loop so many times at the start, so that it is as many rounds
/// ahead, or behind with the actions before it. `None` without a loop.
pub fn shift(fsm: &Fsm, rounds: usize, rng: &mut Rng) -> Option<Fsm> {
    let mut draft = Draft::from(fsm);
    let (state, position) = draft.site(rng, |state, _, target| draft.reaches(target, state))?;
    let action = draft.states[state][position].0.clone();
    for _ in 0..rounds {
        draft.initial = draft.add(vec![(action.clone(), draft.initial)]);
    }
    Some(draft.build())
}

/// A machine that does not receive in a loop, but after it, before the next message of the same
/// peer. `None` without a receive whose options all lead to one state, or without such a message.
pub fn put_off(fsm: &Fsm, rng: &mut Rng) -> Option<Fsm> {
    let mut draft = Draft::from(fsm);
    let sender = |draft: &Draft, state: usize| {
        let (first, _) = draft.states[state].first()?;
        (first.direction == Direction::Receive).then(|| first.peer.clone())
    };
    let sites: Vec<_> = (0..draft.states.len())
        .filter_map(|state| {
            let peer = sender(&draft, state)?;
            let next = draft.states[state][0].1;
            let is_one = draft.states[state].iter().all(|(_, target)| *target == next);
            let is_later = |later: &usize| {
                sender(&draft, *later).as_ref() == Some(&peer) && !draft.reaches(*later, state)
            };
            let later: Vec<usize> = (0..draft.states.len()).filter(is_later).collect();
            let is_looped = next != state && draft.reaches(next, state);
            (is_one && is_looped && !later.is_empty()).then_some((state, next, later))
        })
        .collect();
    let (state, next, later) = rng.choice(&sites)?.clone();
    for later in later {
        for (action, _) in draft.states[state].clone() {
            if draft.states[later].iter().all(|(other, _)| *other != action) {
                draft.states[later].push((action, later));
            }
        }
    }
    for (_, target) in draft.states.iter_mut().flatten().filter(|(_, target)| *target == state) {
        *target = next;
    }
    if draft.initial == state {
        draft.initial = next;
    }
    Some(draft.build())
}

fn swap(draft: &mut Draft, rng: &mut Rng) -> Option<()> {
    let sites: Vec<_> = (0..draft.states.len())
        .filter_map(|state| {
            let (first, middle) = draft.only(state)?;
            let (second, last) = draft.only(*middle)?;
            (first != second).then(|| (state, first.clone(), second.clone(), *last))
        })
        .collect();
    let (state, first, second, last) = rng.choice(&sites)?.clone();
    draft.states[state] = vec![(second, draft.add(vec![(first, last)]))];
    Some(())
}

fn hoist(draft: &mut Draft, rng: &mut Rng) -> Option<()> {
    let is_exact = |state: usize, pattern: usize| {
        draft.states[state].iter().all(|(_, target)| {
            let (left, right) = (&draft.states[*target], &draft.states[pattern]);
            left.len() == right.len()
                && right.iter().all(|(action, _)| left.iter().any(|(other, _)| other == action))
        })
    };
    let bold = rng.usize(..100) < 25;
    let (state, position) = draft.site(rng, |state, _, pattern| {
        !draft.states[pattern].is_empty()
            && (draft.states[state].len() > 1 || draft.states[pattern].len() > 1)
            && (bold || is_exact(state, pattern))
    })?;
    let pattern = draft.states[state][position].1;
    let before = draft.states[state].clone();
    let mut hoisted = vec![];
    for (action, _) in draft.states[pattern].clone() {
        let after = before
            .iter()
            .map(|(first, target)| {
                let last = draft.states[*target].iter().find(|(a, _)| *a == action);
                // A branch without the action continues as before, with a superfluous
                // action.
                (first.clone(), last.map_or(*target, |(_, last)| *last))
            })
            .collect();
        hoisted.push((action, draft.add(after)));
    }
    draft.states[state] = hoisted;
    Some(())
}

fn unroll(draft: &mut Draft, rng: &mut Rng) -> Option<()> {
    let (state, position) = draft.site(rng, |_, _, target| !draft.states[target].is_empty())?;
    let copied = draft.states[state][position].1;
    let copy = draft.add(draft.states[copied].clone());
    draft.states[state][position].1 = copy;
    Some(())
}

fn send_ahead(draft: &mut Draft, rng: &mut Rng) -> Option<()> {
    let sends: Vec<_> = draft
        .sites()
        .into_iter()
        .filter(|&(state, position)| {
            draft.states[state][position].0.direction == Direction::Send
                // One of a loop, mostly: it is the lap that is sent ahead.
                && (draft.reaches(draft.states[state][position].1, state) || rng.usize(..100) < 20)
        })
        .collect();
    let &(state, position) = rng.choice(&sends)?;
    let action = draft.states[state][position].0.clone();
    if rng.usize(..100) < 65 {
        draft.initial = draft.add(vec![(action, draft.initial)]);
    } else {
        let (state, position) = draft.site(rng, |_, _, _| true)?;
        let target = draft.states[state][position].1;
        draft.states[state][position].1 = draft.add(vec![(action, target)]);
    }
    Some(())
}

fn narrow(draft: &mut Draft, rng: &mut Rng) -> Option<()> {
    let (state, position) = draft.site(rng, |state, action, _| {
        draft.states[state].len() > 1 && action.direction == Direction::Send
    })?;
    draft.states[state].remove(position);
    Some(())
}

fn widen(draft: &mut Draft, rng: &mut Rng) -> Option<()> {
    let receives = |_, action: &Action, _| action.direction == Direction::Receive;
    let (state, position) = draft.site(rng, receives)?;
    let mut action = draft.states[state][position].0.clone();
    action.message.label = format!("l{}", rng.usize(..8)).into();
    let known = |(other, _): &(Action, usize)| other.message.label == action.message.label;
    if draft.states[state].iter().any(known) {
        return None;
    }
    let target = rng.usize(..draft.states.len());
    draft.states[state].push((action, target));
    Some(())
}

fn drop_action(draft: &mut Draft, rng: &mut Rng) -> Option<()> {
    let mut sites: Vec<_> = draft
        .sites()
        .into_iter()
        .filter(|&(state, position)| {
            let target = draft.states[state][position].1;
            draft.only(target).is_some_and(|(_, last)| *last != target)
        })
        .map(Some)
        .collect();
    if draft.only(draft.initial).is_some() {
        sites.push(None);
    }
    match *rng.choice(&sites)? {
        Some((state, position)) => {
            let target = draft.states[state][position].1;
            draft.states[state][position].1 = draft.only(target)?.1;
        }
        None => draft.initial = draft.only(draft.initial)?.1,
    }
    Some(())
}

fn duplicate(draft: &mut Draft, rng: &mut Rng) -> Option<()> {
    let (state, position) = draft.site(rng, |_, _, _| true)?;
    let again = draft.states[state][position].clone();
    draft.states[state][position].1 = draft.add(vec![again]);
    Some(())
}

fn relabel(draft: &mut Draft, rng: &mut Rng) -> Option<()> {
    let sites = draft.sites();
    let &(state, position) = rng.choice(&sites)?;
    let &(from, at) = rng.choice(&sites)?;
    let other = draft.states[from][at].0.clone();
    let action = &mut draft.states[state][position].0;
    match rng.usize(..3) {
        0 => action.message = other.message,
        1 => action.peer = other.peer,
        _ => action.message.payload = other.message.payload,
    }
    Some(())
}

fn redirect(draft: &mut Draft, rng: &mut Rng) -> Option<()> {
    let (state, position) = draft.site(rng, |_, _, _| true)?;
    draft.states[state][position].1 = rng.usize(..draft.states.len());
    Some(())
}

/// The action of a role that sends this message to a peer, or receives it from there.
pub fn action(sends: bool, peer: &str, label: &str, payload: &[&str]) -> Action {
    if sends { Action::send(peer, label, payload) } else { Action::receive(peer, label, payload) }
}
