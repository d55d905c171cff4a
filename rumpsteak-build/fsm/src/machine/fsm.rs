//! The machine of one role, and its builder.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use litemap::LiteMap;
use petgraph::graph::DiGraph;

use super::interned::InternedMachine;
use super::{
    Action, Defect, Direction, Groups, IndexSet, Message, Role, StateId, Transition, TransitionId,
    digraph,
};

/// The machine of one role: any finite graph of actions. [`check_directed`](Self::check_directed)
/// checks that it stands for a local type, which the algorithms need.
#[derive(Clone)]
pub struct Fsm {
    role: Role,
    initial: StateId,
    /// In insertion order, each with its ends.
    transitions: Vec<(StateId, Action, StateId)>,
    /// By state, the transitions that leave it, in insertion order.
    outgoing: Groups,
    is_on_demand: bool,
    late: Late,
    /// The result of [`check_directed`](Self::check_directed), once it is known.
    directed: OnceLock<Result<(), Defect>>,
    /// The machine with numbers, once an algorithm needs it.
    interned: OnceLock<Arc<InternedMachine>>,
}

/// The messages that a role drops if they come when it has ended, by their senders.
pub type Late = BTreeMap<Role, BTreeSet<Message>>;

impl Fsm {
    /// Starts the machine of `role`.
    pub fn builder(role: impl Into<Role>) -> FsmBuilder {
        FsmBuilder { role: role.into(), states: 0, transitions: vec![] }
    }

    /// A builder with a copy of this machine; states and transitions keep their ids.
    pub fn edit(&self) -> FsmBuilder {
        let (role, transitions) = (self.role.clone(), self.transitions.clone());
        FsmBuilder { role, states: self.len(), transitions }
    }

    /// The role of the machine.
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// The same machine for a role that plays on demand only, or not (the default).
    ///
    /// A role on demand (Hu, Yoshida, *Explicit connection actions in multiparty session types*,
    /// FASE'17) begins with a first message, which need not come; when it has finished, it may be
    /// called again. In a [`System`](crate::System) it may be finished in its initial state, and
    /// begins again where it would end.
    #[must_use]
    pub fn on_demand(self, is_on_demand: bool) -> Self {
        Self { is_on_demand, ..self }
    }

    /// True if the role plays [on demand](Self::on_demand) only.
    pub fn is_on_demand(&self) -> bool {
        self.is_on_demand
    }

    /// The same machine for a role that drops these messages if they come when it has ended.
    ///
    /// It begins its next session once each sender has ended this one, and so has sent all of them.
    /// In a [`System`](crate::System), a message stands for that; at run time, the queue tells it.
    #[must_use]
    pub fn dropping(self, late: Late) -> Self {
        Self { late, ..self }
    }

    /// The messages that the role [drops](Self::dropping) when it has ended.
    pub fn late(&self) -> &Late {
        &self.late
    }

    /// The same machine, [on demand](Self::on_demand) and [dropping](Self::dropping) as `other`.
    #[must_use]
    pub fn played_like(self, other: &Self) -> Self {
        self.on_demand(other.is_on_demand).dropping(other.late.clone())
    }

    /// True if the machine sends nothing in its initial state and never comes back to it.
    pub fn waits_to_be_asked(&self) -> bool {
        self.transitions().all(|Transition { source, action, target, .. }| {
            (source != self.initial || !action.is_send()) && target != self.initial
        })
    }

    /// The initial state.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// The number of states; at least one.
    #[expect(clippy::len_without_is_empty, reason = "a machine has a state")]
    pub fn len(&self) -> usize {
        self.outgoing.len()
    }

    /// The number of transitions.
    pub fn transition_count(&self) -> usize {
        self.transitions.len()
    }

    /// All states, in insertion order.
    pub fn states(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.len()).map(StateId::from_index)
    }

    /// All transitions, in insertion order.
    pub fn transitions(&self) -> impl Iterator<Item = Transition<'_>> {
        (0..self.transition_count()).map(|index| self.transition(TransitionId::from_index(index)))
    }

    /// The transitions that leave `state`, in insertion order; none for a state of another machine.
    pub fn transitions_from(&self, state: StateId) -> impl Iterator<Item = Transition<'_>> {
        let known = (state.index() < self.len()).then(|| self.outgoing.of(state.index() as u32));
        let ids = known.unwrap_or_default().iter();
        ids.map(|&id| self.transition(TransitionId::from_index(id as usize)))
    }

    /// The transitions that leave `state` and send.
    pub(crate) fn sends_from(&self, state: StateId) -> impl Iterator<Item = Transition<'_>> {
        self.transitions_from(state).filter(|by| by.action.is_send())
    }

    /// The actions of the transitions that leave `state`, each once, in order.
    pub fn actions_from(&self, state: StateId) -> Vec<&Action> {
        sorted(self.transitions_from(state))
    }

    /// The transition with this id.
    ///
    /// # Panics
    /// If the machine has no such transition.
    #[track_caller]
    pub fn transition(&self, id: TransitionId) -> Transition<'_> {
        let Some(&(source, ref action, target)) = self.transitions.get(id.index()) else {
            panic!("transition {} is not of the machine of `{}`", id.index(), self.role);
        };
        Transition { id, source, action, target }
    }

    /// The state that a transition leads to; without one, the initial state.
    pub(crate) fn after(&self, edge: Option<TransitionId>) -> StateId {
        edge.map_or(self.initial, |id| self.transition(id).target)
    }

    /// True if nothing leaves `state`: the role is finished there.
    pub fn is_terminal(&self, state: StateId) -> bool {
        self.transitions_from(state).next().is_none()
    }

    /// True if the role may be finished in `state`: nothing leaves it, or it waits there for a
    /// [demand](Self::on_demand).
    pub fn may_end(&self, state: StateId) -> bool {
        self.is_terminal(state) || (self.is_on_demand && state == self.initial)
    }

    /// The machine that begins again when it is finished: transitions to a terminal state lead to
    /// the initial state. States and transitions keep their ids.
    pub(crate) fn repeated(&self) -> Self {
        let mut builder = self.edit();
        builder.change(|_, _, target| {
            if self.is_terminal(*target) {
                *target = self.initial;
            }
        });
        builder.build(self.initial).played_like(self)
    }

    /// The machine as a graph: state `s` is node `s`, and transition `t` is edge `t`.
    ///
    /// ```
    /// let kernel = rumpsteak_fsm::text::parse("k: rec X . s!ready; s?value; X")?.remove(0);
    /// let graph = kernel.graph();
    /// assert_eq!(petgraph::algo::kosaraju_scc(&graph).len(), 1);
    /// assert!(graph.edge_weights().eq(kernel.transitions().map(|t| t.action).collect::<Vec<_>>().iter()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn graph(&self) -> DiGraph<(), &Action> {
        let number = |state: StateId| state.index() as u32;
        let edges = self.transitions().map(|by| (number(by.source), number(by.target), by.action));
        digraph(self.len(), edges)
    }

    /// The pairs of states that this machine and another one reach by the same actions, breadth
    /// first. If an action of the other one leads to several states, the first one counts.
    pub(crate) fn in_step(&self, other: &Self) -> impl Iterator<Item = (StateId, StateId)> {
        let mut met = IndexSet::from_iter([(self.initial, other.initial)]);
        (0..).map_while(move |at| {
            let &(own, due) = met.get_index(at)?;
            let mut targets: LiteMap<&Action, StateId> = LiteMap::new();
            for by in other.transitions_from(due) {
                targets.try_insert(by.action, by.target);
            }
            for by in self.transitions_from(own) {
                met.extend(targets.get(by.action).map(|&target| (by.target, target)));
            }
            Some((own, due))
        })
    }

    /// The reachable states, breadth first from the initial one.
    pub fn reachable(&self) -> impl Iterator<Item = StateId> {
        self.reachable_from(self.initial)
    }

    /// The states reachable from `state`, breadth first; `state` is the first.
    ///
    /// # Panics
    /// If the machine has no such state.
    pub fn reachable_from(&self, state: StateId) -> impl Iterator<Item = StateId> {
        let mut is_met = vec![false; self.len()];
        is_met[state.index()] = true;
        let mut open = VecDeque::from([state]);
        std::iter::from_fn(move || {
            let state = open.pop_front()?;
            for Transition { target, .. } in self.transitions_from(state) {
                if !std::mem::replace(&mut is_met[target.index()], true) {
                    open.push_back(target);
                }
            }
            Some(state)
        })
    }

    /// Checks that the machine stands for a local type: each state sends to one peer or receives
    /// from one peer, under pairwise distinct labels, and never exchanges a message with itself.
    /// Unreachable states are checked as well.
    ///
    /// # Errors
    /// The first [`Defect`] in order of states. The result is computed once.
    pub fn check_directed(&self) -> Result<(), Defect> {
        let defect = || self.states().find_map(|state| self.defect(state)).map_or(Ok(()), Err);
        self.directed.get_or_init(defect).clone()
    }

    /// Checks that a program can follow the machine: peer, direction and label decide the next
    /// state, and it never exchanges a message with itself. A state may have several peers, and
    /// both send and receive.
    ///
    /// # Errors
    /// The first [`Defect`] in order of states.
    pub fn check_deterministic(&self) -> Result<(), Defect> {
        if self.check_directed().is_ok() {
            return Ok(());
        }
        let defect = |state| self.self_message(state).or_else(|| self.shared_label(state));
        self.states().find_map(defect).map_or(Ok(()), Err)
    }

    /// The machine with numbers, which must be directed.
    pub(crate) fn interned(&self) -> &Arc<InternedMachine> {
        self.interned.get_or_init(|| {
            let states = self.states().map(|state| self.transitions_from(state));
            Arc::new(InternedMachine::new(self.initial, states))
        })
    }

    /// The defect of a state that a local type does not have.
    fn defect(&self, state: StateId) -> Option<Defect> {
        if let found @ Some(_) = self.self_message(state) {
            return found;
        }
        let mut actions = self.transitions_from(state).map(|by| by.action);
        // A fast path for most states, which have one or two transitions.
        match (actions.next(), actions.next(), actions.next()) {
            (_, None, _) => None,
            (Some(first), Some(second), None)
                if (&first.peer, first.direction) == (&second.peer, second.direction)
                    && first.message.label != second.message.label =>
            {
                None
            }
            _ => {
                let defect = self.mixed(state).or_else(|| self.shared_label(state));
                defect.or_else(|| self.undirected(state))
            }
        }
    }

    /// The defect of a state in which the machine exchanges a message with itself.
    fn self_message(&self, state: StateId) -> Option<Defect> {
        let found = self.transitions_from(state).find(|by| by.action.peer == self.role)?;
        Some(Defect::SelfMessage { state, transition: found.id, role: self.role.clone() })
    }

    /// The defect of a state that both sends and receives.
    pub(crate) fn mixed(&self, state: StateId) -> Option<Defect> {
        let first = |direction| {
            let mut all = self.transitions_from(state);
            all.find(|by| by.action.direction == direction).map(|by| by.id)
        };
        let (send, receive) = (first(Direction::Send)?, first(Direction::Receive)?);
        Some(Defect::Mixed { state, send, receive })
    }

    /// The defect of a state that chooses between peers.
    pub(crate) fn undirected(&self, state: StateId) -> Option<Defect> {
        let peers = || self.transitions_from(state).map(|by| &by.action.peer);
        let first = peers().next()?;
        // Most states have one peer, and need no set.
        peers().find(|peer| *peer != first)?;
        let peers: IndexSet<&Role> = peers().collect();
        Some(Defect::Undirected { state, peers: peers.into_iter().cloned().collect() })
    }

    /// The defect of a state with two transitions with one action and different targets.
    pub(crate) fn nondeterministic(&self, state: StateId) -> Option<Defect> {
        let mut seen = HashMap::new();
        self.transitions_from(state).nth(1)?;
        self.transitions_from(state).find_map(|by| {
            let first = *seen.entry(by.action).or_insert(by);
            let (action, transitions) = (by.action, [first.id, by.id]);
            let defect = || Defect::Nondeterministic { state, action: action.clone(), transitions };
            (first.target != by.target).then(defect)
        })
    }

    /// The defect of a state with two transitions with one peer, direction and label. Payloads do
    /// not count: a receiver looks at the label to know what the payload is.
    fn shared_label(&self, state: StateId) -> Option<Defect> {
        let mut seen: LiteMap<_, TransitionId> = LiteMap::new();
        self.transitions_from(state).find_map(|Transition { id, action, .. }| {
            let key = (&action.peer, action.direction, &action.message.label);
            let transitions = [seen.insert(key, id)?, id];
            Some(Defect::Nondeterministic { state, action: action.clone(), transitions })
        })
    }
}

/// The actions of transitions, each once, in order.
pub(crate) fn sorted<'a>(transitions: impl Iterator<Item = Transition<'a>>) -> Vec<&'a Action> {
    let mut actions: Vec<&Action> = transitions.map(|by| by.action).collect();
    actions.sort_unstable();
    actions.dedup();
    actions
}

/// Lists the transitions: `k: from 0, 0 -s!ready-> 1, …`.
impl fmt::Debug for Fsm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} states from {}", self.role, self.len(), self.initial)?;
        for transition in self.transitions() {
            let Transition { source, action, target, .. } = transition;
            write!(f, ", {source} -{action}-> {target}")?;
        }
        Ok(())
    }
}

/// Equal as written: the same role, initial state, states and transitions in the same order.
impl PartialEq for Fsm {
    fn eq(&self, other: &Self) -> bool {
        self.role == other.role
            && self.is_on_demand == other.is_on_demand
            && self.late == other.late
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
    states: usize,
    transitions: Vec<(StateId, Action, StateId)>,
}

impl FsmBuilder {
    /// The machine, of another role.
    #[must_use]
    pub fn played_by(self, role: &Role) -> Self {
        Self { role: role.clone(), ..self }
    }

    /// Adds a state. Its id is the number of states before it.
    ///
    /// # Panics
    /// Beyond 2^32 states.
    pub fn add_state(&mut self) -> StateId {
        self.states += 1;
        StateId::from_index(self.states - 1)
    }

    /// Adds a transition. Its id is the number of transitions before it.
    ///
    /// # Panics
    /// If one of the states was not added to this builder, and beyond 2^32 transitions.
    #[track_caller]
    pub fn add_transition(&mut self, from: StateId, action: Action, to: StateId) -> TransitionId {
        assert!(
            from.max(to).index() < self.states,
            "a state of a transition of `{}` was not added to its builder",
            self.role
        );
        self.transitions.push((from, action, to));
        TransitionId::from_index(self.transitions.len() - 1)
    }

    /// Changes the action and the target of each transition.
    ///
    /// # Panics
    /// If a target was not added to this builder.
    #[track_caller]
    pub fn change(&mut self, mut change: impl FnMut(TransitionId, &mut Action, &mut StateId)) {
        for (index, (_, action, target)) in self.transitions.iter_mut().enumerate() {
            change(TransitionId::from_index(index), action, target);
            assert!(target.index() < self.states, "a target in `{}` was not added", self.role);
        }
    }

    /// Finishes the machine.
    ///
    /// # Panics
    /// If `initial` was not added to this builder.
    #[track_caller]
    pub fn build(self, initial: StateId) -> Fsm {
        let Self { role, states, transitions } = self;
        assert!(
            initial.index() < states,
            "the initial state of `{role}` was not added to its builder"
        );

        let sources = transitions.iter().map(|(source, ..)| source.index() as u32);
        let outgoing = Groups::new(states, sources);
        Fsm {
            role,
            initial,
            transitions,
            outgoing,
            is_on_demand: false,
            late: Late::new(),
            directed: OnceLock::new(),
            interned: OnceLock::new(),
        }
    }
}
