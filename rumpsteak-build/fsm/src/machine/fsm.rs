//! The machine of one role, and its builder.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, OnceLock},
};

use petgraph::{graph::DiGraph, visit::Bfs};

use super::{
    action::{Action, Direction, Transition},
    defect::Defect,
    ids::{StateId, TransitionId},
    interned::InternedMachine,
    names::Role,
};

/// The machine of one role.
///
/// Any finite graph of actions is a machine; [`check_directed`](Self::check_directed) says whether
/// it stands for a local type, which the algorithms need.
#[derive(Clone)]
pub struct Fsm {
    role: Role,
    initial: StateId,
    graph: DiGraph<(), Action>,
    /// All transitions, grouped by source, in insertion order within a group. petgraph yields the
    /// edges of a node in reverse; a machine's order is part of what the user wrote.
    outgoing: Vec<TransitionId>,
    /// `outgoing[offsets[s]..offsets[s + 1]]` leave state `s`; one longer than there are states.
    offsets: Vec<usize>,
    /// What [`check_directed`](Self::check_directed) says, once it was asked.
    directed: OnceLock<Result<(), Defect>>,
    /// The same machine with numbers, once an algorithm wants it.
    interned: OnceLock<Arc<InternedMachine>>,
}

impl Fsm {
    /// Starts the machine of `role`.
    pub fn builder(role: impl Into<Role>) -> FsmBuilder {
        FsmBuilder {
            role: role.into(),
            graph: DiGraph::new(),
        }
    }

    /// Whose machine this is.
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// Where it starts.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// The number of states; at least one.
    #[expect(clippy::len_without_is_empty, reason = "a machine has a state")]
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// The number of transitions.
    pub fn transition_count(&self) -> usize {
        self.graph.edge_count()
    }

    /// All states, in insertion order.
    pub fn states(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.len()).map(StateId::from_index)
    }

    /// All transitions, in insertion order.
    pub fn transitions(&self) -> impl Iterator<Item = Transition<'_>> {
        (0..self.transition_count()).map(|index| self.transition(TransitionId::from_index(index)))
    }

    /// The transitions that leave `state`, in insertion order. None if it is no state of this
    /// machine.
    pub fn transitions_from(&self, state: StateId) -> impl Iterator<Item = Transition<'_>> {
        let end = self.offsets.get(state.index() + 1).copied();
        let range = match end {
            Some(end) => self.offsets[state.index()]..end,
            None => 0..0,
        };
        self.outgoing[range].iter().map(|&id| self.transition(id))
    }

    /// The transition with this id.
    ///
    /// # Panics
    /// If it is no transition of this machine.
    #[track_caller]
    pub fn transition(&self, id: TransitionId) -> Transition<'_> {
        let (Some((source, target)), Some(action)) = (
            self.graph.edge_endpoints(id.edge()),
            self.graph.edge_weight(id.edge()),
        ) else {
            panic!(
                "transition {} is not of the machine of `{}`",
                id.index(),
                self.role
            );
        };
        Transition {
            id,
            source: StateId::from_index(source.index()),
            action,
            target: StateId::from_index(target.index()),
        }
    }

    /// Whether nothing leaves `state`: the role is finished there.
    pub fn is_terminal(&self, state: StateId) -> bool {
        self.transitions_from(state).next().is_none()
    }

    /// The states that a run can reach, breadth first from the initial one.
    pub fn reachable(&self) -> impl Iterator<Item = StateId> {
        let mut search = Bfs::new(&self.graph, self.initial.node());
        std::iter::from_fn(move || search.next(&self.graph))
            .map(|node| StateId::from_index(node.index()))
    }

    /// Whether the machine stands for a local type: each state sends to one peer or receives from
    /// one peer, under pairwise distinct labels, and never exchanges a message with itself.
    ///
    /// States that no run reaches are judged as well: they were written, so they were meant.
    ///
    /// # Errors
    /// The first [`Defect`] in order of states. Costs O(transitions · log(transitions of a state))
    /// the first time, and is known then.
    pub fn check_directed(&self) -> Result<(), Defect> {
        let check = || self.states().try_for_each(|state| self.check_state(state));
        self.directed.get_or_init(check).clone()
    }

    /// The same machine with numbers. It is directed.
    pub(crate) fn interned(&self) -> &Arc<InternedMachine> {
        self.interned.get_or_init(|| {
            let states = self.states().map(|state| self.transitions_from(state));
            Arc::new(InternedMachine::new(self.initial, states))
        })
    }

    fn check_state(&self, state: StateId) -> Result<(), Defect> {
        let Some(first) = self.transitions_from(state).next() else {
            return Ok(());
        };

        for transition in self.transitions_from(state) {
            let action = transition.action;
            if action.peer == self.role {
                return Err(Defect::SelfMessage {
                    state,
                    transition: transition.id,
                    role: self.role.clone(),
                });
            }
            if action.direction != first.action.direction {
                let (send, receive) = match action.direction {
                    Direction::Send => (transition.id, first.id),
                    Direction::Receive => (first.id, transition.id),
                };
                return Err(Defect::Mixed {
                    state,
                    send,
                    receive,
                });
            }
        }

        // Most states have one transition or a few; sets are for the others.
        let action = first.action;
        let mut others = self.transitions_from(state).skip(1);
        match (others.next(), others.next()) {
            (None, _) => return Ok(()),
            (Some(second), None)
                if second.action.peer == action.peer
                    && second.action.message.label != action.message.label =>
            {
                return Ok(());
            }
            _ => {}
        }

        let mut peers = vec![];
        let mut known = BTreeSet::new();
        let mut seen = BTreeMap::new();
        for transition in self.transitions_from(state) {
            let action = transition.action;
            if known.insert(&action.peer) {
                peers.push(action.peer.clone());
            }
            // Labels decide, payloads do not: a receiver looks at the label to know what the
            // payload is.
            if let Some(earlier) = seen.insert((&action.peer, &action.message.label), transition.id)
            {
                return Err(Defect::Nondeterministic {
                    state,
                    action: action.clone(),
                    transitions: [earlier, transition.id],
                });
            }
        }
        match peers.len() {
            1 => Ok(()),
            _ => Err(Defect::Undirected { state, peers }),
        }
    }
}

/// Lists the transitions: `k: from 0, 0 -s!ready-> 1, …`.
impl fmt::Debug for Fsm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} states from {}",
            self.role,
            self.len(),
            self.initial
        )?;
        for transition in self.transitions() {
            let Transition {
                source,
                action,
                target,
                ..
            } = transition;
            write!(f, ", {source} -{action}-> {target}")?;
        }
        Ok(())
    }
}

/// Equal as written: the same role, the same initial state, the same states and transitions in the
/// same order.
impl PartialEq for Fsm {
    fn eq(&self, other: &Self) -> bool {
        self.role == other.role
            && self.initial == other.initial
            && self.len() == other.len()
            && self.transitions().eq(other.transitions())
    }
}

impl Eq for Fsm {}

/// A machine under construction; made by [`Fsm::builder`].
#[derive(Clone, Debug)]
pub struct FsmBuilder {
    role: Role,
    graph: DiGraph<(), Action>,
}

impl FsmBuilder {
    /// Adds a state. Its id is the number of states before it.
    ///
    /// # Panics
    /// Beyond 2^32 - 2 states.
    pub fn add_state(&mut self) -> StateId {
        StateId::from_index(self.graph.add_node(()).index())
    }

    /// Adds a transition. Its id is the number of transitions before it.
    ///
    /// # Panics
    /// If one of the states was not added to this builder, and beyond 2^32 - 2 transitions.
    #[track_caller]
    pub fn add_transition(&mut self, from: StateId, action: Action, to: StateId) -> TransitionId {
        let edge = self.graph.add_edge(from.node(), to.node(), action);
        TransitionId::from_index(edge.index())
    }

    /// The number of states so far.
    pub fn state_count(&self) -> usize {
        self.graph.node_count()
    }

    /// Finishes the machine.
    ///
    /// # Panics
    /// If `initial` was not added to this builder.
    #[track_caller]
    pub fn build(self, initial: StateId) -> Fsm {
        let Self { role, graph } = self;
        assert!(
            initial.index() < graph.node_count(),
            "the initial state of `{role}` was not added to its builder"
        );

        let source = |edge: &TransitionId| graph.raw_edges()[edge.index()].source().index();
        let mut outgoing: Vec<TransitionId> = (0..graph.edge_count())
            .map(TransitionId::from_index)
            .collect();
        outgoing.sort_by_key(source);
        // The transitions of a state come behind those of all states before it.
        let mut offsets = vec![0; graph.node_count() + 1];
        for edge in graph.raw_edges() {
            offsets[edge.source().index() + 1] += 1;
        }
        for state in 0..graph.node_count() {
            offsets[state + 1] += offsets[state];
        }

        Fsm {
            role,
            initial,
            graph,
            outgoing,
            offsets,
            directed: OnceLock::new(),
            interned: OnceLock::new(),
        }
    }
}
