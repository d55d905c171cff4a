//! Reordering: a machine that sends messages before their turn.
//!
//! ```text
//!   configuration   (u, ahead)     u: the state after what was done in order
//!                                  ahead: the messages that were sent before their turn, for each peer
//!
//!   u is about to send to q, and ahead(q) = m·w        skip it: (u after m, ahead[q ↦ w])
//!   u waits, |ahead(q)| < window(q), and on every way   q!mᵢ: (u, ahead[q ↦ ahead(q)·mᵢ]), each i
//!     from u the next unsent message to q is one of mᵢ
//!   otherwise                                           what u does
//! ```
//!
//! The messages to one peer stay in order, and so do the receives. A send is looked for behind
//! receives and behind sends to others; all ways from `u` must come to the same send, or the same
//! choice of sends. A send is not moved over a receive that it depends on.

use std::collections::{BTreeSet, VecDeque};

use indexmap::IndexSet;
use rumpsteak_fsm::{Action, Fsm, Role, StateId, Transition, TransitionId};

/// True if the payload of a send (the first action) is made from a receive (the second one), so
/// that it must come later.
pub type Depends<'a> = &'a dyn Fn(&Action, &Action) -> bool;

/// The messages that were sent before their turn, oldest first, for each window: any transition of
/// the machine with the action.
type Early = Vec<VecDeque<TransitionId>>;

/// The machine that does what `machine` does, and sends up to so many messages to each peer before
/// their turn. It may not be a subtype. `None` if it has more than `states` states, or if `machine`
/// is not directed.
pub fn anticipate(
    machine: &Fsm,
    windows: &[(Role, usize)],
    depends: Depends<'_>,
    states: usize,
) -> Option<Fsm> {
    machine.check_directed().ok()?;
    let ahead = Reordering { machine, windows, depends };
    let mut builder = Fsm::builder(machine.role().clone());
    let initial = builder.add_state();
    let start = (machine.initial(), vec![VecDeque::new(); windows.len()]);
    let mut met: IndexSet<_> = [start].into_iter().collect();
    let mut source = 0;
    while let Some(configuration) = met.get_index(source).cloned() {
        for (action, next) in ahead.steps(&configuration) {
            let (target, is_new) = met.insert_full(next);
            if is_new {
                if target >= states {
                    return None;
                }
                builder.add_state();
            }
            let (from, to) = (StateId::from_index(source), StateId::from_index(target));
            builder.add_transition(from, action, to);
        }
        source += 1;
    }
    Some(builder.build(initial).played_like(machine))
}

struct Reordering<'a> {
    machine: &'a Fsm,
    windows: &'a [(Role, usize)],
    depends: Depends<'a>,
}

impl Reordering<'_> {
    /// The next actions, each with the configuration after it.
    fn steps(&self, (state, ahead): &(StateId, Early)) -> Vec<(Action, (StateId, Early))> {
        let after = |state: StateId, ahead: &Early| self.skip(state, ahead.clone());
        let mut own = self.machine.transitions_from(*state);
        if own.any(|transition| !transition.action.is_send()) {
            for (group, (_, window)) in self.windows.iter().enumerate() {
                if ahead[group].len() >= *window {
                    continue;
                }
                let found = self.next(*state, ahead, group);
                if !found.is_empty() {
                    let step = |id: TransitionId| {
                        let mut more = ahead.clone();
                        more[group].push_back(id);
                        (self.machine.transition(id).action.clone(), after(*state, &more))
                    };
                    return found.into_iter().map(step).collect();
                }
            }
        }
        let own = self.machine.transitions_from(*state);
        own.map(|found| (found.action.clone(), after(found.target, ahead))).collect()
    }

    /// Follows what was sent already. Ends, because each step shortens what is ahead.
    fn skip(&self, mut state: StateId, mut ahead: Early) -> (StateId, Early) {
        while let Some((group, target)) = self.sent(state, |group| ahead[group].front().copied()) {
            ahead[group].pop_front();
            state = target;
        }
        (state, ahead)
    }

    /// The target of `state` if its next send was done already; `sent` gives the next such message.
    fn sent(
        &self,
        state: StateId,
        sent: impl Fn(usize) -> Option<TransitionId>,
    ) -> Option<(usize, StateId)> {
        let mut own = self.machine.transitions_from(state).map(|by| by.action);
        let group = self.group(own.next().filter(|first| first.is_send())?)?;
        let done = self.machine.transition(sent(group)?).action;
        let mut leaving = self.machine.transitions_from(state);
        // It is there: the message was found on every way.
        let same = leaving.find(|transition| transition.action == done)?;
        Some((group, same.target))
    }

    fn group(&self, action: &Action) -> Option<usize> {
        self.windows.iter().position(|(peer, _)| *peer == action.peer)
    }

    /// The next unsent message to a peer, or its options, if that is the same on every way from
    /// `state`; otherwise none.
    fn next(&self, state: StateId, ahead: &Early, group: usize) -> Vec<TransitionId> {
        let mut found: Option<Vec<Transition<'_>>> = None;
        let mut passed: Vec<&Action> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut work = vec![(state, vec![0_usize; ahead.len()])];
        while let Some((state, taken)) = work.pop() {
            if !seen.insert((state, taken.clone())) {
                continue;
            }
            let sent = self.sent(state, |group| ahead[group].get(taken[group]).copied());
            if let Some((of, target)) = sent {
                let mut taken = taken;
                taken[of] += 1;
                work.push((target, taken));
                continue;
            }
            let leaving: Vec<Transition<'_>> = self.machine.transitions_from(state).collect();
            let Some(first) = leaving.first() else {
                // The protocol is over on this way.
                return Vec::new();
            };
            let sends = first.action.is_send();
            if sends && self.group(first.action) == Some(group) {
                let is_here =
                    |one: &Transition<'_>| leaving.iter().any(|it| it.action == one.action);
                let same = |known: &Vec<Transition<'_>>| {
                    known.len() == leaving.len() && known.iter().all(is_here)
                };
                match &found {
                    Some(known) if !same(known) => return Vec::new(),
                    Some(_) => {}
                    None => found = Some(leaving),
                }
                continue;
            }
            if !sends {
                passed.extend(leaving.iter().map(|transition| transition.action));
            }
            let targets = leaving.iter().map(|transition| transition.target);
            work.extend(targets.map(|target| (target, taken.clone())));
        }
        let is_blocked = |send: &Transition<'_>| {
            passed.iter().any(|receive| (self.depends)(send.action, receive))
        };
        let found = found.filter(|found| !found.iter().any(is_blocked));
        found.into_iter().flatten().map(|transition| transition.id).collect()
    }
}
