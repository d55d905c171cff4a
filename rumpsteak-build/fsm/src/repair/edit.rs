//! An edit of a machine.

use crate::machine::{Action, Fsm, FsmBuilder, StateId, Transition, TransitionId};

#[derive(Clone, Copy, Debug)]
pub(super) enum Edit<'a> {
    /// Does the only action of a state behind another one.
    Later { early: Transition<'a>, before: Transition<'a> },
    /// Does another action instead.
    Replace { own: Transition<'a>, due: Transition<'a> },
    /// Leaves out the only action of a state.
    Delete(Transition<'a>),
    /// Does before a state what the projection does between two states: behind one edge, or behind
    /// all edges to that state.
    Insert { edge: Option<TransitionId>, is_of_state: bool, between: (StateId, StateId) },
    /// Leads to another state. The machine begins behind no edge.
    Jump { edge: Option<TransitionId>, to: StateId },
}

struct Draft {
    machine: FsmBuilder,
    initial: StateId,
}

impl Draft {
    /// Redirects edges to another state where the condition holds: of an edge, and its target.
    fn lead(&mut self, is_here: impl Fn(Option<TransitionId>, StateId) -> bool, to: StateId) {
        self.machine.change(|id, _, target| {
            if is_here(Some(id), *target) {
                *target = to;
            }
        });
        if is_here(None, self.initial) {
            self.initial = to;
        }
    }
}

impl Edit<'_> {
    pub(super) fn apply(self, sub: &Fsm, sup: &Fsm) -> Fsm {
        let mut draft = Draft { machine: sub.edit(), initial: sub.initial() };
        match self {
            Self::Later { early, before } => {
                let state = draft.machine.add_state();
                draft.lead(|_, target| target == early.source, early.target);
                let is_skipped = before.target == early.source;
                let behind = if is_skipped { early.target } else { before.target };
                draft.lead(|id, _| id == Some(before.id), state);
                draft.machine.add_transition(state, early.action.clone(), behind);
            }
            // All options of a choice have one direction and one peer.
            Self::Replace { own, due } => {
                let is_same = own.action.message == due.action.message;
                draft.machine.change(|id, action, _| {
                    if id == own.id || is_same && sub.transition(id).source == own.source {
                        let message = if is_same { &action.message } else { &due.action.message };
                        *action = Action { message: message.clone(), ..due.action.clone() };
                    }
                });
            }
            Self::Delete(only) => draft.lead(|_, target| target == only.source, only.target),
            Self::Insert { edge, is_of_state, between: (from, to) } => {
                let behind = sub.after(edge);
                let copies = sup.states().map(|_| draft.machine.add_state()).collect::<Vec<_>>();
                let copy =
                    |state: StateId| if state == to { behind } else { copies[state.index()] };
                draft
                    .lead(|id, at| if is_of_state { at == behind } else { id == edge }, copy(from));
                for due in sup.transitions().filter(|due| due.source != to) {
                    let (from, to) = (copy(due.source), copy(due.target));
                    draft.machine.add_transition(from, due.action.clone(), to);
                }
            }
            Self::Jump { edge, to } => draft.lead(|id, _| id == edge, to),
        }
        draft.machine.build(draft.initial).played_like(sub)
    }
}
