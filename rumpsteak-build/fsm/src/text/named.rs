//! Machines with the names and places that their text gave them.

use std::ops::Range;

use hashbrown::HashMap;

use crate::machine::{Action, Fsm, FsmBuilder, StateId, TransitionId};

/// A machine, with the names of its states and the places of its actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The machine; its states are in the order of first mention.
    pub fsm: Fsm,
    /// The names of the states, by [`StateId::index`]; their numbers if the form has no names.
    pub states: Vec<String>,
    /// The bytes of the text where each transition stands, by [`TransitionId::index`].
    pub actions: Vec<Range<usize>>,
}

pub(super) struct NamedBuilder {
    pub(super) fsm: FsmBuilder,
    ids: HashMap<String, StateId>,
    states: Vec<String>,
    actions: Vec<Range<usize>>,
}

impl NamedBuilder {
    pub(super) fn new(role: &str) -> Self {
        let (ids, states, actions) = (HashMap::new(), vec![], vec![]);
        Self { fsm: Fsm::builder(role), ids, states, actions }
    }

    /// The state with this name; a new one if the name is new.
    pub(super) fn state(&mut self, name: &str) -> StateId {
        self.known(name).unwrap_or_else(|| {
            let state = self.fsm.add_state();
            self.states.push(name.to_owned());
            self.ids.insert(name.to_owned(), state);
            state
        })
    }

    pub(super) fn known(&self, name: &str) -> Option<StateId> {
        self.ids.get(name).copied()
    }

    /// Adds a state that is called by its number.
    pub(super) fn add_state(&mut self) -> StateId {
        self.states.push(self.states.len().to_string());
        self.fsm.add_state()
    }

    pub(super) fn add_transition(
        &mut self,
        from: StateId,
        action: Action,
        to: StateId,
        span: Range<usize>,
    ) -> TransitionId {
        self.actions.push(span);
        self.fsm.add_transition(from, action, to)
    }

    /// The machine, if it has a state `initial`.
    pub(super) fn build(self, initial: StateId) -> Named {
        Named { fsm: self.fsm.build(initial), states: self.states, actions: self.actions }
    }
}
