//! Resolution of the names in a session: roles, labels, choices, and other sessions.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;
use rumpsteak_front::module::{Item, ItemKind};
use rumpsteak_front::session::{Action, Chain, Direction, Form, SessionItem, Tail, Variant};

use super::{ItemId, Scope, ScopedRole};
use crate::fault::{Cause, Fault, NameProblem};

/// The items that a session reaches, and the mistakes in their names.
#[derive(Debug)]
pub(crate) struct Reached {
    pub(crate) items: BTreeSet<ItemId>,
    pub(crate) faults: Vec<Fault>,
    /// True if an item with a mistake gives a name its meaning.
    pub(crate) is_broken: bool,
}

impl Scope<'_> {
    /// Resolves all names of the session `root` of a role.
    pub(crate) fn reach(&self, root: ItemId, role: &ScopedRole<'_>) -> Reached {
        let reached = Reached { items: BTreeSet::new(), faults: Vec::new(), is_broken: false };
        let mut names = Names { scope: self, role, reached, pending: vec![root] };
        while let Some(id) = names.pending.pop() {
            if names.reached.items.insert(id)
                && let Some(session) = self.session(id)
            {
                names.item(id, session);
            }
        }
        let mut reached = names.reached;
        if reached.faults.is_empty() && !reached.is_broken {
            reached.faults = cycles(self, &reached.items);
        }
        reached
    }
}

struct Names<'a> {
    scope: &'a Scope<'a>,
    role: &'a ScopedRole<'a>,
    reached: Reached,
    pending: Vec<ItemId>,
}

impl Names<'_> {
    fn item(&mut self, id: ItemId, session: &SessionItem) {
        for variant in session.variants() {
            self.label(variant.head.label());
            if let Some(action) = variant.head.action() {
                self.peer(&action.peer);
            }
        }
        session.chains().for_each(|chain| self.chain(id, chain));
    }

    /// Looks up all names of a chain, even after a mistake.
    fn chain(&mut self, id: ItemId, chain: &Chain) {
        for action in &chain.actions {
            if !self.is_swapped(action) {
                self.peer(&action.peer);
                self.label(&action.label);
            }
        }
        match &chain.tail {
            Tail::Choice { direction, peer, choice, .. } => {
                if let Some(found) = self.choice(id, choice, *direction, peer.is_some()) {
                    let gathers = self.scope.session(found).is_some_and(|it| it.rest().is_some());
                    if gathers != chain.tail.gathers() {
                        self.problem(choice, NameProblem::Gather(gathers));
                    }
                }
                if let Some(peer) = peer {
                    self.peer(peer);
                }
            }
            Tail::End(_) | Tail::Itself(_) => {}
            Tail::Named(name) => _ = self.session(id, name, false),
        }
    }

    /// True, with a fault, if an action has its label in the place of the role.
    fn is_swapped(&mut self, Action { constructor, peer, label, .. }: &Action) -> bool {
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
        self.reached.faults.push(cause.at(at.span()));
    }

    fn problem(&mut self, name: &Ident, problem: NameProblem) {
        self.fault(name, Cause::Name { name: name.to_string(), problem, hint: None });
    }

    /// True if the item has a mistake, which the macro reports.
    fn is_broken(&mut self, found: ItemId) -> bool {
        let is_broken = matches!(self.scope.item(found), Item::Broken(_));
        // Not `|=`: rustc up to 1.97 miscompiles that in an optimised build, if this function is
        // inlined: the flag is then always set.
        if is_broken {
            self.reached.is_broken = true;
        }
        is_broken
    }

    /// The session or the choice of a name in the item `id`.
    fn session(&mut self, id: ItemId, name: &Ident, choice: bool) -> Option<ItemId> {
        let scope = self.scope;
        let found = if name == "Self" { Some(id) } else { scope.find(name) };
        let Some(found) = found else {
            let of_kind = |id: &ItemId| {
                scope.session(*id).is_some_and(|session| session.chain().is_none() == choice)
            };
            let known = (0..scope.len()).filter(|id| !scope.is_generated(*id));
            let is_alias = |id: ItemId| {
                scope.session(id).is_some_and(|session| matches!(session.form, Form::Alias(_)))
            };
            let known = known.filter(|known| *known != id || !is_alias(id));
            let known = known.filter(of_kind).map(|id| scope.name_of(id));
            let known = known.collect();
            self.reached.faults.push(scope.name_fault(name, NameProblem::Unresolved, known));
            return None;
        };
        if self.is_broken(found) {
            return None;
        }
        let problem = match scope.item(found) {
            Item::Session(session) if session.chain().is_none() == choice => {
                self.pending.push(found);
                return Some(found);
            }
            Item::Session(_) if choice => NameProblem::Session,
            Item::Session(_) => NameProblem::Choice,
            Item::Label(_) if choice && self.role.labels.contains_key(&name.to_string()) => {
                NameProblem::Label
            }
            _ => NameProblem::NoSession,
        };
        self.problem(name, problem);
        None
    }

    /// Looks up a choice in the item `id`, and compares its options with their use.
    fn choice(
        &mut self,
        id: ItemId,
        name: &Ident,
        direction: Option<Direction>,
        has_peer: bool,
    ) -> Option<ItemId> {
        let found = self.session(id, name, true)?;
        let session = self.scope.session(found)?;
        let begins = |direction| {
            let mut actions = session.variants().iter().filter_map(|it| it.head.action());
            actions.any(|action| action.direction == direction)
        };
        let fits = match (begins(Direction::Send), begins(Direction::Receive)) {
            (true, true) => "Race",
            (true, false) => "Select",
            _ if session.rest().is_some() => "Gather",
            _ => "Branch",
        };
        let misfit = |variant: &Variant| match variant.head.action() {
            Some(_) if has_peer => Some(NameProblem::ChoiceAmongPeers(fits)),
            Some(action) => direction
                .filter(|direction| action.direction != *direction)
                .map(NameProblem::OtherDirection),
            None if !has_peer => Some(NameProblem::ChoiceOfOnePeer),
            None => None,
        };
        match session.variants().iter().find_map(misfit) {
            Some(problem) => self.problem(name, problem),
            None => return Some(found),
        }
        None
    }

    fn peer(&mut self, name: &Ident) {
        let scope = self.scope;
        let Some(peer) = scope.role(name) else {
            match scope.find(name) {
                Some(found) if self.is_broken(found) => {}
                // The struct has a mistake of its own.
                Some(found) if matches!(scope.item(found), Item::Role(_)) => {
                    self.reached.is_broken = true;
                }
                Some(_) => self.problem(name, NameProblem::NoRole),
                None => self.reached.faults.push(scope.unresolved(name)),
            }
            return;
        };
        let own = self.role.item;
        if peer.item.name == own.name {
            return self.problem(name, NameProblem::OwnRole);
        }
        if own.routes.iter().all(|route| route.peer != peer.item.name) {
            let message = scope.message_of(own);
            let (role, peer) = (own.name.to_string(), peer.item.name.to_string());
            self.fault(&own.name, Cause::NoRoute { role, peer, message });
        }
    }

    fn label(&mut self, name: &Ident) {
        let text = name.to_string();
        if let Some(label) = self.role.labels.get(&text) {
            self.reached.is_broken |= label.is_missing;
            return self.reached.faults.extend(label.fault(name.span()));
        }
        let scope = self.scope;
        match scope.find(name).map(|found| (found, scope.item(found))) {
            Some((_, Item::Session(session))) if session.chain().is_none() => {
                self.problem(name, NameProblem::Choice);
            }
            Some((found, Item::Broken(_))) => _ = self.is_broken(found),
            _ if self.is_message_broken() => self.reached.is_broken = true,
            _ => {
                let labels = self.role.labels.keys().cloned().collect();
                let role = self.role.role.to_string();
                self.fault(name, Cause::NoLabel { name: text, role, labels });
            }
        }
    }

    /// True if the message type of the role is missing or has a mistake, which is reported there.
    fn is_message_broken(&self) -> bool {
        let name = self.scope.message_of(self.role.item);
        self.scope.has_broken(ItemKind::Message)
            || !self.scope.messages().any(|message| message == name)
    }
}

/// The faults of cycles of items without an action, or of `type` aliases alone.
fn cycles(scope: &Scope<'_>, items: &BTreeSet<ItemId>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let idle = |_: ItemId, chain: &Chain| chain.actions.is_empty();
    for (item, next) in find_cycles(scope, items, idle) {
        faults.push(Cause::Idle { name: scope.name_of(item) }.at(next.span()));
    }
    let is_alias = |item: ItemId, _: &Chain| {
        scope.session(item).is_some_and(|session| matches!(session.form, Form::Alias(_)))
    };
    for (item, next) in find_cycles(scope, items, is_alias) {
        faults.push(Cause::RecursiveAlias { name: scope.name_of(item) }.at(next.span()));
    }
    faults
}

/// One item of each cycle of items that satisfy the predicate, with the name of the next item.
fn find_cycles<'a>(
    scope: &Scope<'a>,
    items: &BTreeSet<ItemId>,
    follow: impl Fn(ItemId, &Chain) -> bool,
) -> Vec<(ItemId, &'a Ident)> {
    let mut rounds: BTreeMap<ItemId, ItemId> = BTreeMap::new();
    let mut found = Vec::new();
    for &start in items {
        let mut next = start;
        while !rounds.contains_key(&next) {
            rounds.insert(next, start);
            let Some(chain) = scope.session(next).and_then(|session| session.chain()) else {
                break;
            };
            let (item, name) = match &chain.tail {
                Tail::Itself(name) => (Some(next), name),
                Tail::Named(name) => (scope.find(name), name),
                _ => break,
            };
            let Some(item) = item.filter(|_| follow(next, chain)) else { break };
            if rounds.get(&item) == Some(&start) {
                found.push((next, name));
            }
            next = item;
        }
    }
    found
}
