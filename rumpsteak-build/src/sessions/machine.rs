//! The chains of a session as states and transitions.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use rumpsteak_contract::canonical::Hasher;
use rumpsteak_contract::session;
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_fsm::{Action, Direction, Fsm, FsmBuilder, Message, StateId};

use crate::fault::Place;
use crate::sessions::resolved::{Peer, ResolvedChain, ResolvedSession, ResolvedTail};
use crate::source::crate_tree::ItemId;

#[derive(Debug)]
pub(crate) struct SessionMachine {
    pub(crate) fsm: Fsm,
    /// Where each transition is written: the constructor of an action, the variant of an option.
    pub(crate) origins: Vec<Place>,
    /// Where what comes behind each transition is written: the token of the next action, or of what
    /// the session goes on as.
    pub(crate) behind: Vec<Place>,
    /// Where each state is written: the token that the next action would stand at.
    pub(crate) states: Vec<Place>,
    /// The states in which a part with a name begins, choices aside.
    pub(crate) parts: Vec<StateId>,
}

impl ResolvedSession {
    /// The machine of `root`, to be played by `role`.
    pub(crate) fn machine(&self, root: ItemId, role: &rumpsteak_fsm::Role) -> SessionMachine {
        let mut machine = Builder {
            session: self,
            fsm: Fsm::builder(role.clone()),
            origins: Vec::new(),
            behind: Vec::new(),
            states: Vec::new(),
            chains: BTreeMap::new(),
            choices: BTreeMap::new(),
            end: None,
            pending: Vec::new(),
        };
        let initial = machine.enter(root, Place::new(root, 0));
        while let Some(pending) = machine.pending.pop() {
            match pending {
                Pending::Chain(item, state) => {
                    if let Some((item, chain)) = self.first(item) {
                        machine.chain(item, chain, state);
                    }
                }
                Pending::Choice(choice, end, state) => machine.choice(choice, &end, state),
            }
        }
        let Builder { fsm, origins, behind, states, chains, .. } = machine;
        let parts = chains.into_values().collect();
        SessionMachine { fsm: fsm.build(initial), origins, behind, states, parts }
    }
}

/// A number for machines, whatever their order: the same in every build.
pub(crate) fn number<'a>(machines: impl Iterator<Item = &'a Fsm>) -> u64 {
    // DOT can say every machine.
    let print = |fsm| text::print(Form::Dot, slice::from_ref(fsm)).unwrap_or_default();
    let texts: BTreeSet<String> = machines.map(print).collect();
    let mut hasher = Hasher::new();
    texts.iter().for_each(|text| hasher.text(text));
    // 0 stands for none.
    hasher.finish().max(1)
}

struct Builder<'a> {
    session: &'a ResolvedSession,
    fsm: FsmBuilder,
    origins: Vec<Place>,
    behind: Vec<Place>,
    states: Vec<Place>,
    chains: BTreeMap<ItemId, StateId>,
    /// The states of choices: one for each enum, direction and peer.
    choices: BTreeMap<(ItemId, Option<session::Direction>, Option<String>), StateId>,
    end: Option<StateId>,
    pending: Vec<Pending>,
}

enum Pending {
    Chain(ItemId, StateId),
    /// With whom it is made, unless its options say so.
    Choice(ItemId, Option<(session::Direction, Peer)>, StateId),
}

impl Builder<'_> {
    fn state(&mut self, place: Place) -> StateId {
        self.states.push(place);
        self.fsm.add_state()
    }

    /// The state at which an item begins.
    fn enter(&mut self, item: ItemId, from: Place) -> StateId {
        let Some((item, chain)) = self.session.first(item) else { return self.end(from) };
        let Some(action) = chain.actions.first() else { return self.tail(item, &chain.tail) };
        if let Some(&state) = self.chains.get(&item) {
            return state;
        }
        let state = self.state(Place::new(item, action.token));
        self.chains.insert(item, state);
        self.pending.push(Pending::Chain(item, state));
        state
    }

    fn end(&mut self, from: Place) -> StateId {
        match self.end {
            Some(state) => state,
            None => {
                let state = self.state(from);
                self.end = Some(state);
                state
            }
        }
    }

    /// The state at which a chain is done with its actions.
    fn tail(&mut self, item: ItemId, tail: &ResolvedTail) -> StateId {
        match tail {
            ResolvedTail::Choice { direction, token, peer, choice } => {
                let name = peer.as_ref().map(|peer| peer.role.to_string());
                let key = (*choice, *direction, name);
                if let Some(&state) = self.choices.get(&key) {
                    return state;
                }
                let state = self.state(Place::new(item, *token));
                self.choices.insert(key, state);
                let end = direction.zip(peer.clone());
                self.pending.push(Pending::Choice(*choice, end, state));
                state
            }
            ResolvedTail::End { token } => self.end(Place::new(item, *token)),
            ResolvedTail::Named { item: next, token } => {
                self.enter(*next, Place::new(item, *token))
            }
        }
    }

    fn transition(
        &mut self,
        from: StateId,
        (direction, peer, message): (session::Direction, &Peer, &Message),
        to: StateId,
        (origin, behind): (Place, Place),
    ) {
        let direction = match direction {
            session::Direction::Receive => Direction::Receive,
            session::Direction::Send => Direction::Send,
        };
        let action = Action { peer: peer.role.clone(), direction, message: message.clone() };
        self.fsm.add_transition(from, action, to);
        self.origins.push(origin);
        self.behind.push(behind);
    }

    /// The state in which the action of a chain at a position is done, or its tail, and where that
    /// is written.
    fn behind(&mut self, item: ItemId, chain: &ResolvedChain, position: usize) -> (StateId, Place) {
        if let Some(action) = chain.actions.get(position) {
            let place = Place::new(item, action.token);
            return (self.state(place), place);
        }
        let (ResolvedTail::Choice { token, .. }
        | ResolvedTail::End { token }
        | ResolvedTail::Named { token, .. }) = chain.tail;
        (self.tail(item, &chain.tail), Place::new(item, token))
    }

    /// Adds the actions of a chain, the first of which happens in `state`.
    fn chain(&mut self, item: ItemId, chain: &ResolvedChain, mut state: StateId) {
        for (index, action) in chain.actions.iter().enumerate() {
            let (next, behind) = self.behind(item, chain, index + 1);
            let what = (action.direction, &action.peer, &action.label.message);
            let origin = Place::new(item, action.token);
            self.transition(state, what, next, (origin, behind));
            state = next;
        }
    }

    /// Adds the options of a choice, which is made in `state`.
    fn choice(&mut self, choice: ItemId, end: &Option<(session::Direction, Peer)>, state: StateId) {
        let session = self.session;
        for chain in session.items.get(&choice).into_iter().flatten() {
            let Some(option) = &chain.option else { continue };
            let Some((direction, peer)) = option.end.as_ref().or(end.as_ref()) else { continue };
            let (next, behind) = self.behind(choice, chain, 0);
            let origin = Place::new(choice, option.token);
            let what = (*direction, peer, &option.label.message);
            self.transition(state, what, next, (origin, behind));
            self.chain(choice, chain, next);
        }
    }
}
