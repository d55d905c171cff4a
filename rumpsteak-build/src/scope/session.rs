//! A session as a machine, and the resolution of its names: roles, labels, choices and sessions.

use std::collections::BTreeSet;

use litemap::LiteMap;
use proc_macro2::{Ident, Span};
use rumpsteak_front::module::{Item, ItemKind};
use rumpsteak_front::session::{
    self, Action as Written, Chain, Form as SessionForm, SessionItem, Tail, Variant,
};
use rumpsteak_fsm::{Action, Direction, Fsm, FsmBuilder, Message, Role, StateId};

use super::{ItemId, Place, Scope, ScopedRole};
use crate::fault::{Cause, Fault, NameProblem};
use crate::short_map::entry;

/// The machine of a session, with the places of its parts in the source.
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
    /// Resolves all names of the session `root` of a role, even after a mistake. Returns the items
    /// that the session reaches, including itself, the mistakes in its names, and the machine if
    /// neither these nor items with mistakes stand in the way.
    pub(crate) fn resolve(
        &self,
        root: ItemId,
        role: &ScopedRole<'_>,
    ) -> (BTreeSet<ItemId>, Vec<Fault>, Option<SessionMachine>) {
        let mut builder = Builder {
            scope: self,
            role,
            items: BTreeSet::new(),
            faults: Vec::new(),
            is_broken: false,
            fsm: Fsm::builder(role.role.clone()),
            origins: Vec::new(),
            behind: Vec::new(),
            states: Vec::new(),
            begun: LiteMap::new(),
            end: None,
            pending: Vec::new(),
        };
        let span = self.session(root).map_or_else(Span::call_site, |session| session.name.span());
        let initial = builder.enter(root, Place { item: root, span });
        while let Some(((item, direction, peer), state)) = builder.pending.pop() {
            builder.item(item, direction.zip(peer).as_ref(), state);
        }
        if builder.faults.is_empty() && !builder.is_broken {
            builder.faults = cycle_faults(self, &builder.items);
        }
        let Builder { items, faults, is_broken, fsm, origins, behind, states, begun, .. } = builder;
        let is_chain = |id: ItemId| self.session(id).is_some_and(|it| it.chain().is_some());
        let parts = begun.into_iter().filter(|((id, ..), _)| is_chain(*id));
        let parts = parts.map(|(_, state)| state).collect();
        let machine = SessionMachine { fsm: fsm.build(initial), origins, behind, states, parts };
        let is_right = faults.is_empty() && !is_broken;
        (items, faults, is_right.then_some(machine))
    }
}

struct Builder<'a> {
    scope: &'a Scope<'a>,
    role: &'a ScopedRole<'a>,
    items: BTreeSet<ItemId>,
    faults: Vec<Fault>,
    is_broken: bool,
    fsm: FsmBuilder,
    origins: Vec<Place>,
    behind: Vec<Place>,
    states: Vec<Place>,
    begun: LiteMap<Begun, StateId>,
    end: Option<StateId>,
    pending: Vec<(Begun, StateId)>,
}

/// An item that begins in a state, with the direction and the peer of a choice, unless its options
/// have them.
type Begun = (ItemId, Option<session::Direction>, Option<Role>);

impl Builder<'_> {
    fn state(&mut self, place: Place) -> StateId {
        self.states.push(place);
        self.fsm.add_state()
    }

    /// The role of a name, which has to be a peer of this one.
    fn peer(&mut self, name: &Ident) -> Role {
        let (scope, own) = (self.scope, self.role.item);
        let Some(peer) = scope.role(name) else {
            match scope.find(name) {
                Some(found) if self.is_broken(found) => {}
                // The struct has a mistake of its own.
                Some(found) if matches!(scope.items[found], Item::Role(_)) => {
                    self.is_broken = true;
                }
                Some(_) => self.problem(name, NameProblem::NoRole),
                None => self.faults.push(scope.role_fault(name, NameProblem::Unresolved)),
            }
            return name.to_string().as_str().into();
        };
        if peer.item.name == own.name {
            self.problem(name, NameProblem::OwnRole);
        } else if own.routes.iter().all(|route| route.peer != peer.item.name) {
            let message = scope.message_of(own);
            let (role, peer) = (own.name.to_string(), peer.item.name.to_string());
            self.fault(&own.name, Cause::NoRoute { role, peer, message });
        }
        peer.role.clone()
    }

    /// The message of a label.
    fn message(&mut self, name: &Ident) -> Message {
        let (scope, text) = (self.scope, name.to_string());
        let unknown = Message { label: text.as_str().into(), payload: Vec::new() };
        if let Some(label) = self.role.labels.get(&text) {
            // Not `|=`: see `is_broken`.
            if label.is_missing {
                self.is_broken = true;
            }
            self.faults.extend(label.fault(name.span()));
            return label.message.clone().unwrap_or(unknown);
        }
        match scope.find(name).map(|found| (found, scope.items[found])) {
            Some((_, Item::Session(session))) if session.chain().is_none() => {
                self.problem(name, NameProblem::Choice);
            }
            Some((found, Item::Broken { .. })) => _ = self.is_broken(found),
            found => {
                let instead = match found {
                    Some((_, Item::Role(_))) => "is the role",
                    Some((_, Item::Session(_))) => "is a session",
                    _ => "means something else here",
                };
                let message = scope.message_of(self.role.item);
                // A message type that is missing or has a mistake is reported there.
                if scope.has_broken(ItemKind::Message) || scope.messages().all(|it| it != message) {
                    self.is_broken = true;
                } else {
                    let labels = self.role.labels.keys().cloned().collect();
                    self.fault(name, Cause::NoLabel { name: text, message, labels, instead });
                }
            }
        }
        unknown
    }

    /// The state at which an item begins, after following names.
    fn enter(&mut self, mut item: ItemId, from: Place) -> StateId {
        let mut followed = BTreeSet::new();
        loop {
            self.items.insert(item);
            let chain = self.scope.session(item).and_then(SessionItem::chain);
            let Some(chain) = chain else { return self.end(from) };
            if let Some(action) = chain.actions.first() {
                let place = Place { item, span: action.constructor.span() };
                return self.begin((item, None, None), place);
            }
            item = match &chain.tail {
                Tail::Named(next) if followed.insert(item) => match self.find(item, next, false) {
                    Some(next) => next,
                    None => return self.end(from),
                },
                // A cycle without an action is a fault.
                Tail::Named(_) | Tail::Itself(_) => return self.end(from),
                tail => return self.tail(item, tail),
            };
        }
    }

    /// The state at which an item begins.
    fn begin(&mut self, item: Begun, place: Place) -> StateId {
        if let Some(&state) = self.begun.get(&item) {
            return state;
        }
        let state = self.state(place);
        self.begun.insert(item.clone(), state);
        self.pending.push((item, state));
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
            Tail::Choice { direction, peer, .. } => {
                let found = self.find_choice(item, tail);
                let peer = peer.as_ref().map(|peer| self.peer(peer));
                let Some(choice) = found else { return self.end(place) };
                self.begin((choice, *direction, peer), place)
            }
            Tail::End(_) => self.end(place),
            Tail::Itself(_) => self.enter(item, place),
            Tail::Named(next) => match self.find(item, next, false) {
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
            let Written { direction, constructor, peer, label } = action;
            let is_swapped = self.is_swapped(action);
            let what = (!is_swapped).then(|| (*direction, self.peer(peer), self.message(label)));
            let (next, behind) = self.behind(item, chain, index + 1);
            let origin = Place { item, span: constructor.span() };
            if let Some(what) = what {
                self.transition(state, what, next, (origin, behind));
            }
            state = next;
        }
    }

    /// Adds the actions of a chain or the options of a choice in `state`.
    fn item(&mut self, item: ItemId, end: Option<&(session::Direction, Role)>, state: StateId) {
        let Some(session) = self.scope.session(item) else { return };
        if let Some(chain) = session.chain() {
            return self.chain(item, chain, state);
        }
        if let Some(rest) = session.rest() {
            return self.gather(item, (session.variants(), &rest.then), state);
        }
        for variant in session.variants() {
            let message = self.message(variant.head.label());
            let own = variant.head.action();
            let own = own.map(|action| (action.direction, self.peer(&action.peer)));
            let Some((direction, peer)) = own.or_else(|| end.cloned()) else { continue };
            let (next, behind) = self.behind(item, &variant.then, 0);
            let origin = Place { item, span: variant.name.span() };
            self.transition(state, (direction, peer, message), next, (origin, behind));
            self.chain(item, &variant.then, next);
        }
    }

    /// Adds the messages of a gather in the order of their peers, and what follows them.
    fn gather(&mut self, gather: ItemId, (due, then): (&[Variant], &Chain), mut state: StateId) {
        let place = |variant: &Variant| Place { item: gather, span: variant.name.span() };
        let mut peers: Vec<(Role, Vec<&Variant>)> = Vec::new();
        for variant in due {
            let Some(action) = variant.head.action() else { continue };
            entry(&mut peers, self.peer(&action.peer)).push(variant);
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

    /// True, with a fault, if an action has its label in the place of the role.
    fn is_swapped(&mut self, Written { constructor, peer, label, .. }: &Written) -> bool {
        let is_role = |name: &Ident| self.scope.role(name).is_some();
        let is_swapped = is_role(label) && !is_role(peer);
        if is_swapped {
            let hint = Some(format!("`{constructor}<{label}, {peer}, …>`"));
            let (name, problem) = (peer.to_string(), NameProblem::Swapped);
            self.fault(peer, Cause::Name { name, problem, hint });
        }
        is_swapped
    }

    fn fault(&mut self, at: &Ident, cause: Cause) {
        self.faults.push(cause.at(at.span()));
    }

    fn problem(&mut self, name: &Ident, problem: NameProblem) {
        self.fault(name, Cause::Name { name: name.to_string(), problem, hint: None });
    }

    /// True if the item has a mistake, which the macro reports.
    fn is_broken(&mut self, found: ItemId) -> bool {
        let is_broken = matches!(self.scope.items[found], Item::Broken { .. });
        // Not `|=`: rustc up to 1.97 miscompiles that in an optimised build, if this function is
        // inlined: the flag is then always set.
        if is_broken {
            self.is_broken = true;
        }
        is_broken
    }

    /// The session or the choice of a name in the item `id`.
    fn find(&mut self, id: ItemId, name: &Ident, choice: bool) -> Option<ItemId> {
        let scope = self.scope;
        let found = if name == "Self" { Some(id) } else { scope.find(name) };
        let Some(found) = found else {
            let of_kind = |id: &ItemId| {
                scope.session(*id).is_some_and(|session| session.chain().is_none() == choice)
            };
            let known = (0..scope.items.len()).filter(|id| !scope.is_generated(*id));
            let known = known.filter(|known| *known != id || !is_alias(scope, *known));
            let known = known.filter(of_kind).map(|id| scope.name_of(id)).collect();
            let mut fault = scope.name_fault(name, NameProblem::Unresolved, known);
            if let (true, Cause::Name { hint: hint @ None, .. }) = (choice, &mut fault.cause) {
                *hint = Some(format!(
                    "declare it, with an option for each message: `enum {name} {{ Label(Label, …), … }}`"
                ));
            }
            self.faults.push(fault);
            return None;
        };
        if self.is_broken(found) {
            return None;
        }
        let problem = match scope.items[found] {
            Item::Session(session) if session.chain().is_none() == choice => {
                self.items.insert(found);
                return Some(found);
            }
            _ if choice => NameProblem::NoChoice,
            Item::Session(_) => NameProblem::Choice,
            _ => NameProblem::NoSession,
        };
        self.problem(name, problem);
        None
    }

    /// Looks up the choice of a tail in the item `id`, and compares its options with their use.
    fn find_choice(&mut self, id: ItemId, tail: &Tail) -> Option<ItemId> {
        let Tail::Choice { direction, peer, choice: name, .. } = tail else { return None };
        let found = self.find(id, name, true)?;
        let session = self.scope.session(found)?;
        let begins = |direction| {
            let mut actions = session.variants().iter().filter_map(|it| it.head.action());
            actions.any(|action| action.direction == direction)
        };
        let fits = match (begins(session::Direction::Send), begins(session::Direction::Receive)) {
            (true, true) => "Race",
            (true, false) => "Select",
            _ if session.rest().is_some() => "Gather",
            _ => "Branch",
        };
        let misfit = |variant: &Variant| match variant.head.action() {
            Some(_) if peer.is_some() => Some(NameProblem::ChoiceAmongPeers(fits)),
            Some(action) => direction
                .filter(|direction| action.direction != *direction)
                .map(NameProblem::OtherDirection),
            None if peer.is_none() => Some(NameProblem::ChoiceOfOnePeer),
            None => None,
        };
        let gathers = session.rest().is_some();
        let is_other = gathers != tail.gathers();
        let problem = session.variants().iter().find_map(misfit);
        let problem = problem.or(is_other.then_some(NameProblem::Gather(gathers)));
        let Some(problem) = problem else { return Some(found) };
        self.problem(name, problem);
        None
    }
}

fn is_alias(scope: &Scope<'_>, item: ItemId) -> bool {
    scope.session(item).is_some_and(|item| matches!(item.form, SessionForm::Alias(_)))
}

/// The faults of cycles of items without an action, or of `type` aliases alone.
fn cycle_faults(scope: &Scope<'_>, items: &BTreeSet<ItemId>) -> Vec<Fault> {
    let chain = |item: ItemId| scope.session(item).and_then(SessionItem::chain);
    let find = |follows: &dyn Fn(ItemId) -> bool, cause: fn(String) -> Cause| {
        let next = |item| match &chain(item).filter(|_| follows(item))?.tail {
            Tail::Itself(_) => Some(item),
            Tail::Named(name) => scope.find(name),
            _ => None,
        };
        let found = cycles(items.iter().copied(), scope.items.len(), |id| id, next);
        let fault = |item| Some(cause(scope.name_of(item)).at(chain(item)?.tail.ident().span()));
        found.into_iter().filter_map(fault).collect::<Vec<Fault>>()
    };
    let is_idle = |item| chain(item).is_some_and(|chain| chain.actions.is_empty());
    let mut faults = find(&is_idle, |name| Cause::Idle { name });
    faults.extend(find(&|item| is_alias(scope, item), |name| Cause::RecursiveAlias { name }));
    faults
}

/// The last node of each cycle of a graph whose nodes have one successor at most, and numbers below
/// `len`.
pub(crate) fn cycles<N: Copy + PartialEq>(
    nodes: impl Iterator<Item = N>,
    len: usize,
    number: impl Fn(N) -> usize,
    next: impl Fn(N) -> Option<N>,
) -> Vec<N> {
    let (mut found, mut rounds) = (Vec::new(), vec![None; len]);
    for start in nodes {
        let mut node = start;
        while rounds[number(node)].is_none() {
            rounds[number(node)] = Some(start);
            let Some(target) = next(node) else { break };
            if rounds[number(target)] == Some(start) {
                found.push(node);
            }
            node = target;
        }
    }
    found
}
