//! Machines with the names and places that their text gave them.

use std::ops::Range;

use crate::machine::{Action, Fsm, FsmBuilder, IndexSet, Late, StateId, TransitionId};

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
    pub(super) states: IndexSet<String>,
    actions: Vec<Range<usize>>,
    /// The messages that the role drops when it has ended.
    pub(super) late: Late,
}

impl NamedBuilder {
    pub(super) fn new(role: &str) -> Self {
        let (states, late) = (IndexSet::default(), Late::new());
        Self { fsm: Fsm::builder(role), states, actions: vec![], late }
    }

    /// The state with this name; a new one if the name is new.
    pub(super) fn state(&mut self, name: &str) -> StateId {
        self.known(name).unwrap_or_else(|| {
            self.states.insert(name.to_owned());
            self.fsm.add_state()
        })
    }

    pub(super) fn known(&self, name: &str) -> Option<StateId> {
        self.states.get_index_of(name).map(StateId::from_index)
    }

    /// Adds a state that is called by its number.
    pub(super) fn add_state(&mut self) -> StateId {
        self.states.insert(self.states.len().to_string());
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
        let fsm = self.fsm.build(initial).dropping(self.late);
        Named { fsm, states: self.states.into_iter().collect(), actions: self.actions }
    }
}
