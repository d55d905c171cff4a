//! A session as a machine.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use proc_macro2::{Ident, Span};
use rumpsteak_front::hash::Hasher;
use rumpsteak_front::session::{self, Action as Written, Chain, Tail, Variant};
use rumpsteak_fsm::text::{self, Form};
use rumpsteak_fsm::{Action, Direction, Fsm, FsmBuilder, Message, Role, StateId};

use super::{ItemId, Place, Scope, ScopedRole};

/// The machine of a session, with the places of its parts in the source.
#[derive(Debug)]
pub(crate) struct SessionMachine {
    pub(crate) fsm: Fsm,
    /// The place of each transition: the constructor of an action, or the variant of an option.
    pub(crate) origins: Vec<Place>,
    /// The place after each transition: the next action, or the end of the chain.
    pub(crate) behind: Vec<Place>,
    /// The place of each state: the next action.
    pub(crate) states: Vec<Place>,
    /// The states in which named parts begin, except choices.
    pub(crate) parts: Vec<StateId>,
}

impl Scope<'_> {
    /// The machine of a session whose names are resolved: see [`Scope::reach`].
    pub(crate) fn machine(&self, root: ItemId, role: &ScopedRole<'_>) -> SessionMachine {
        let mut machine = Builder {
            scope: self,
            role,
            fsm: Fsm::builder(role.role.clone()),
            origins: Vec::new(),
            behind: Vec::new(),
            states: Vec::new(),
            chains: BTreeMap::new(),
            choices: BTreeMap::new(),
            end: None,
            pending: Vec::new(),
        };
        let span = self.session(root).map_or_else(Span::call_site, |session| session.name.span());
        let initial = machine.enter(root, Place { item: root, span });
        while let Some(pending) = machine.pending.pop() {
            match pending {
                Pending::Chain(item, state) => {
                    if let Some((item, chain)) = self.first(item) {
                        machine.chain(item, chain, state);
                    }
                }
                Pending::Choice(choice, end, state) => machine.choice(choice, end.as_ref(), state),
            }
        }
        let Builder { fsm, origins, behind, states, chains, .. } = machine;
        let parts = chains.into_values().collect();
        SessionMachine { fsm: fsm.build(initial), origins, behind, states, parts }
    }

    /// The chain of an item, after following names. This ends, because cycles are faults.
    fn first(&self, mut item: ItemId) -> Option<(ItemId, &Chain)> {
        loop {
            let chain = self.session(item)?.chain()?;
            match &chain.tail {
                Tail::Named(next) if chain.actions.is_empty() => item = self.find(next)?,
                _ => return Some((item, chain)),
            }
        }
    }
}

/// A number that identifies machines in any order: the same in every build.
pub(crate) fn number<'a>(machines: impl Iterator<Item = &'a Fsm>) -> u64 {
    // DOT can express every machine.
    let print = |fsm| text::print(Form::Dot, slice::from_ref(fsm)).unwrap_or_default();
    let texts: BTreeSet<String> = machines.map(print).collect();
    let mut hasher = Hasher::default();
    texts.iter().for_each(|text| hasher.text(text));
    // 0 stands for none.
    hasher.finish().max(1)
}

struct Builder<'a> {
    scope: &'a Scope<'a>,
    role: &'a ScopedRole<'a>,
    fsm: FsmBuilder,
    origins: Vec<Place>,
    behind: Vec<Place>,
    states: Vec<Place>,
    chains: BTreeMap<ItemId, StateId>,
    /// The states of choices: one for each enum, direction and peer.
    choices: BTreeMap<(ItemId, Option<session::Direction>, Option<Role>), StateId>,
    end: Option<StateId>,
    pending: Vec<Pending>,
}

enum Pending {
    Chain(ItemId, StateId),
    /// The direction and the peer, unless the options have them.
    Choice(ItemId, Option<(session::Direction, Role)>, StateId),
}

impl Builder<'_> {
    fn state(&mut self, place: Place) -> StateId {
        self.states.push(place);
        self.fsm.add_state()
    }

    fn peer(&self, name: &Ident) -> Role {
        let found = self.scope.role(name);
        found.map_or_else(|| name.to_string().as_str().into(), |found| found.role.clone())
    }

    fn message(&self, label: &Ident) -> Message {
        let found = self.role.labels.get(&label.to_string());
        match found.map(|label| &label.message) {
            Some(Ok(message)) => message.clone(),
            _ => Message { label: label.to_string().as_str().into(), payload: Vec::new() },
        }
    }

    /// The state at which an item begins.
    fn enter(&mut self, item: ItemId, from: Place) -> StateId {
        let scope = self.scope;
        let Some((item, chain)) = scope.first(item) else { return self.end(from) };
        let Some(action) = chain.actions.first() else { return self.tail(item, &chain.tail) };
        if let Some(&state) = self.chains.get(&item) {
            return state;
        }
        let state = self.state(Place { item, span: action.constructor.span() });
        self.chains.insert(item, state);
        self.pending.push(Pending::Chain(item, state));
        state
    }

    fn end(&mut self, from: Place) -> StateId {
        let state = self.end.unwrap_or_else(|| self.state(from));
        *self.end.insert(state)
    }

    /// The state at which a chain is done with its actions.
    fn tail(&mut self, item: ItemId, tail: &Tail) -> StateId {
        let place = Place { item, span: tail.ident().span() };
        match tail {
            Tail::Choice { direction, peer, choice, .. } => {
                let choice = if choice == "Self" { Some(item) } else { self.scope.find(choice) };
                // An unresolved name is a fault.
                let Some(choice) = choice else { return self.end(place) };
                let peer = peer.as_ref().map(|peer| self.peer(peer));
                let key = (choice, *direction, peer.clone());
                if let Some(&state) = self.choices.get(&key) {
                    return state;
                }
                let state = self.state(place);
                self.choices.insert(key, state);
                self.pending.push(Pending::Choice(choice, direction.zip(peer), state));
                state
            }
            Tail::End(_) => self.end(place),
            Tail::Itself(_) => self.enter(item, place),
            Tail::Named(next) => match self.scope.find(next) {
                Some(next) => self.enter(next, place),
                None => self.end(place),
            },
        }
    }

    fn transition(
        &mut self,
        from: StateId,
        (direction, peer, message): (session::Direction, Role, Message),
        to: StateId,
        (origin, behind): (Place, Place),
    ) {
        let direction = match direction {
            session::Direction::Receive => Direction::Receive,
            session::Direction::Send => Direction::Send,
        };
        self.fsm.add_transition(from, Action { peer, direction, message }, to);
        self.origins.push(origin);
        self.behind.push(behind);
    }

    /// The state after the actions of a chain before a position, and its place.
    fn behind(&mut self, item: ItemId, chain: &Chain, position: usize) -> (StateId, Place) {
        if let Some(action) = chain.actions.get(position) {
            let place = Place { item, span: action.constructor.span() };
            return (self.state(place), place);
        }
        (self.tail(item, &chain.tail), Place { item, span: chain.tail.ident().span() })
    }

    /// Adds the actions of a chain that begins in `state`.
    fn chain(&mut self, item: ItemId, chain: &Chain, mut state: StateId) {
        for (index, action) in chain.actions.iter().enumerate() {
            let (next, behind) = self.behind(item, chain, index + 1);
            let Written { direction, constructor, peer, label } = action;
            let what = (*direction, self.peer(peer), self.message(label));
            let origin = Place { item, span: constructor.span() };
            self.transition(state, what, next, (origin, behind));
            state = next;
        }
    }

    /// Adds the options of a choice in `state`.
    fn choice(&mut self, choice: ItemId, end: Option<&(session::Direction, Role)>, state: StateId) {
        let session = self.scope.session(choice);
        if let Some((session, rest)) = session.and_then(|it| Some((it, it.rest()?))) {
            return self.gather(choice, (session.variants(), &rest.then), state);
        }
        let variants = session.map_or(&[][..], |session| session.variants());
        for variant in variants {
            let own = variant.head.action();
            let own = own.map(|action| (action.direction, self.peer(&action.peer)));
            let Some((direction, peer)) = own.or_else(|| end.cloned()) else { continue };
            let (next, behind) = self.behind(choice, &variant.then, 0);
            let origin = Place { item: choice, span: variant.name.span() };
            let what = (direction, peer, self.message(variant.head.label()));
            self.transition(state, what, next, (origin, behind));
            self.chain(choice, &variant.then, next);
        }
    }

    /// Adds the messages of a gather in the order of their peers, and what follows them.
    fn gather(&mut self, gather: ItemId, (due, then): (&[Variant], &Chain), mut state: StateId) {
        let place = |variant: &Variant| Place { item: gather, span: variant.name.span() };
        let mut peers: Vec<(Role, Vec<&Variant>)> = Vec::new();
        for variant in due {
            let Some(action) = variant.head.action() else { continue };
            let peer = self.peer(&action.peer);
            match peers.iter_mut().find(|(known, _)| *known == peer) {
                Some((_, variants)) => variants.push(variant),
                None => peers.push((peer, vec![variant])),
            }
        }
        let end = self.behind(gather, then, 0);
        let nexts = peers.iter().skip(1).map(|(_, variants)| place(variants[0]));
        let nexts: Vec<_> = nexts.map(|place| (self.state(place), place)).collect();
        for ((peer, variants), (next, behind)) in
            peers.into_iter().zip(nexts.into_iter().chain([end]))
        {
            for variant in variants {
                let message = self.message(variant.head.label());
                let what = (session::Direction::Receive, peer.clone(), message);
                self.transition(state, what, next, (place(variant), behind));
            }
            state = next;
        }
        self.chain(gather, then, end.0);
    }
}
