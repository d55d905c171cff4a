//! Name resolution: the only place in which names of a module are looked up.
//!
//! A session only names items of its module: roles, labels, choices, other sessions. Items take
//! precedence over glob imports, and rustc refuses two items of one name, so rustc resolves these
//! names identically. Only the types of payloads come from outside, and rustc compares them.
//!
//! * A role struct plays the role with its name, or the role in `#[protocol(P::k)]` or
//!   `#[role("k")]`.
//! * A label stands for the message with the name of its variant in the message enum, or of
//!   `#[label("…")]` on the variant, and with its payload. See [`labels`].
//!
//! Names are compared as [`name`](rumpsteak_front::name) says.

pub(crate) mod labels;
pub(crate) mod session;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use litemap::LiteMap;
use proc_macro2::{Ident, Span};
use rumpsteak_front::module::{Item, ItemKind, Module};
use rumpsteak_front::role::{RoleItem, Room, Route};
use rumpsteak_front::session::SessionItem;
use rumpsteak_front::{MessageItem, name};
use rumpsteak_fsm::Role;
use syn::ext::IdentExt as _;

use self::labels::Label;
use crate::fault::{Cause, Fault, NameProblem};
use crate::protocols::{Loaded, Protocols, ScrFile};
use crate::words::{did_you_mean, list, meant};

/// The position of an item among the written and then the generated items of a module.
pub(crate) type ItemId = usize;

pub(crate) struct Scope<'a> {
    pub(crate) module: &'a Module,
    /// The written and then the generated items.
    items: Vec<&'a Item>,
    /// True if the generated items are included.
    is_whole: bool,
    pub(crate) protocols: &'a Protocols,
    names: BTreeMap<String, ItemId>,
    /// The position of the module's protocol.
    pub(crate) protocol: Option<usize>,
    /// The roles, in the order of the source.
    pub(crate) roles: Vec<ScopedRole<'a>>,
    pub(crate) faults: Vec<Fault>,
}

pub(crate) struct ScopedRole<'a> {
    pub(crate) item: &'a RoleItem,
    /// The role of the protocol, or the struct's own name.
    pub(crate) role: Role,
    /// The position of the role in the protocol.
    pub(crate) position: Option<usize>,
    /// The labels of its message type, by the names of their types.
    pub(crate) labels: Rc<BTreeMap<String, Label<'a>>>,
}

impl<'a> Scope<'a> {
    /// Resolves the names of the written items, and of the generated items if they are known.
    pub(crate) fn new(
        module: &'a Module,
        generated: Option<&'a [Item]>,
        protocols: &'a Protocols,
        protocol: Option<usize>,
    ) -> Self {
        let (names, roles, faults) = Default::default();
        let is_whole = generated.is_some();
        let items = module.items.iter().chain(generated.unwrap_or_default()).collect();
        let mut scope = Self { module, items, is_whole, protocols, names, protocol, roles, faults };
        for id in 0..scope.items.len() {
            if let Some((name, _)) = scope.items[id].named() {
                scope.names.entry(name.unraw().to_string()).or_insert(id);
            }
        }
        let mut labels: LiteMap<String, Rc<BTreeMap<String, Label<'a>>>> = LiteMap::new();
        for id in 0..scope.items.len() {
            let Item::Role(item) = scope.items[id] else { continue };
            match scope.played(item) {
                Ok((role, position)) => {
                    let name = scope.message_of(item);
                    let own = || Rc::new(scope.labels(&name));
                    let labels = Rc::clone(labels.entry(name.clone()).or_insert_with(own));
                    scope.roles.push(ScopedRole { item, role, position, labels });
                }
                Err(fault) => scope.faults.push(*fault),
            }
        }
        scope.check_roles();
        if is_whole {
            scope.check_labels();
        }
        scope
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = &'a Item> {
        self.items.iter().copied()
    }

    pub(crate) fn is_generated(&self, id: ItemId) -> bool {
        id >= self.module.items.len()
    }

    /// The token for mistakes that no item shows: the name of the protocol, or of the module.
    pub(crate) fn anchor(&self) -> Span {
        self.module.arguments.protocol.as_ref().unwrap_or(&self.module.name).span()
    }

    pub(crate) fn loaded(&self) -> Option<(&'a Loaded, &'a ScrFile)> {
        let loaded = &self.protocols.protocols[self.protocol?];
        Some((loaded, &self.protocols.files[loaded.file]))
    }

    /// The item with a name. Private, so that no other folder looks a name up.
    fn find(&self, name: &Ident) -> Option<ItemId> {
        self.names.get(&name.unraw().to_string()).copied()
    }

    fn find_item(&self, name: &Ident) -> Option<&'a Item> {
        Some(self.items[self.find(name)?])
    }

    /// The items that a session goes on as, with the tokens that name them.
    pub(crate) fn parts(&self, session: ItemId) -> impl Iterator<Item = (ItemId, &'a Ident)> {
        let parts = self.session(session).into_iter().flat_map(SessionItem::parts);
        parts.filter_map(|part| Some((self.find(part)?, part)))
    }

    /// The fault of a session of something other than a role. `None` for a role with a mistake.
    pub(crate) fn roleless(&self, name: &Ident) -> Option<Fault> {
        let problem = match self.find_item(name) {
            Some(Item::Broken { .. } | Item::Role(_)) => return None,
            Some(_) => NameProblem::NoRole,
            None => NameProblem::Unresolved,
        };
        Some(self.role_fault(name, problem))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    pub(crate) fn role(&self, name: &Ident) -> Option<&ScopedRole<'a>> {
        self.roles.iter().find(|role| role.item.name == *name)
    }

    /// The capacity that a route declares, or else the module for it, with its place.
    pub(crate) fn capacity(&self, route: &Route) -> Option<(usize, Span)> {
        let room = route.room.or(self.module.arguments.room)?;
        let Room::Capacity(most, span) = room else { return None };
        Some((most, span))
    }

    pub(crate) fn session(&self, id: ItemId) -> Option<&'a SessionItem> {
        self.items[id].session()
    }

    pub(crate) fn roots(&self) -> impl Iterator<Item = (ItemId, &'a SessionItem, &'a Ident)> {
        (0..self.items.len()).filter_map(|id| {
            let session = self.session(id)?;
            Some((id, session, session.role.as_ref()?))
        })
    }

    pub(crate) fn name_of(&self, id: ItemId) -> String {
        self.items[id].named().map_or_else(String::new, |(name, _)| name.to_string())
    }

    /// True if the module writes a message type, possibly with a mistake.
    pub(crate) fn has_message(&self) -> bool {
        self.message_items().next().is_some() || self.has_broken(ItemKind::Message)
    }

    fn has_broken(&self, kind: ItemKind) -> bool {
        self.items().any(|item| matches!(item, Item::Broken { kind: own, .. } if *own == kind))
    }

    /// The name of the message type of a role: the one that it names, or the only one.
    pub(crate) fn message_of(&self, role: &RoleItem) -> String {
        match &role.message {
            Some(message) => message.unraw().to_string(),
            None => self.messages().next().unwrap_or_else(|| "Label".to_owned()),
        }
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = String> {
        self.message_items().map(|message| message.name.unraw().to_string())
    }

    pub(crate) fn message_items(&self) -> impl Iterator<Item = &'a MessageItem> {
        self.items().filter_map(Item::message)
    }

    /// True if a set is to be generated: the module has none, and a set can make all routes.
    pub(crate) fn lacks_set(&self) -> bool {
        let last = |path: &syn::Path| path.segments.last().map(|it| it.ident.to_string());
        let routes = self.module.arguments.routes.as_ref().and_then(last);
        let is_known = |ty: &syn::Type| match ty {
            syn::Type::Path(of) => last(&of.path).is_some_and(|name| {
                ["Channel", "Net", "Receiver", "Sender"].contains(&&*name) || Some(name) == routes
            }),
            _ => false,
        };
        let is_no_reason = |item: &Item| match item {
            Item::Role(role) => role.routes.iter().all(|route| is_known(&route.field.ty)),
            item => !matches!(item, Item::Set(_)),
        };
        self.items().all(is_no_reason) && !self.has_broken(ItemKind::Set)
    }

    /// The labels of a message type, by the names of their types.
    pub(crate) fn labels(&self, message: &str) -> BTreeMap<String, Label<'a>> {
        let is_open = self.module.items.iter().any(|item| {
            item.named().is_none_or(|(name, _)| labels::PRIMITIVES.contains(&&*name.to_string()))
        });
        let own = self.loaded().map(|(protocol, file)| (protocol, file, is_open));
        let message = self.message_items().find(|item| item.name == message);
        let labels = message.map(|message| labels::of(message, &|name| self.find_item(name), own));
        labels.unwrap_or_default()
    }

    /// The role that a struct plays, and its position in the protocol.
    fn played(&self, item: &RoleItem) -> Result<(Role, Option<usize>), Box<Fault>> {
        let named = item.link.as_ref().and_then(|link| link.protocol.as_ref());
        let own = &self.module.arguments.protocol;
        if let Some(found) = named
            && own.as_ref().is_none_or(|own| !name::same(&own.to_string(), &found.to_string()))
        {
            let module = own.as_ref().map(ToString::to_string);
            let cause = Cause::OtherProtocol { found: found.to_string(), module };
            return Err(Box::new(cause.at(found.span())));
        }
        let (wanted, span) = match &item.link {
            Some(link) => (link.role.clone(), link.span),
            None => (item.name.unraw().to_string(), item.name.span()),
        };
        let Some((loaded, _)) = self.loaded() else { return Ok((wanted.as_str().into(), None)) };
        match loaded.roles(&wanted)[..] {
            [position] => Ok((loaded.role_at(position).clone(), Some(position))),
            _ => Err(Box::new(Cause::UnknownRole { wanted }.at(span))),
        }
    }

    /// Finds structs that play the same role, and missing routes, messages and roles of sets.
    fn check_roles(&mut self) {
        let mut faults = Vec::new();
        for (index, role) in self.roles.iter().enumerate() {
            let item = role.item;
            let earlier = self.roles[..index].iter().find(|earlier| earlier.role == role.role);
            if let Some(earlier) = earlier.filter(|_| role.position.is_some()) {
                let structs = Box::new([earlier.item, item].map(|item| item.name.to_string()));
                let span = item.link.as_ref().map_or(item.name.span(), |link| link.span);
                faults.push(Cause::TwoStructs { role: role.role.to_string(), structs }.at(span));
            }
            // A peer may be generated.
            let routes = item.routes.iter().filter(|_| self.is_whole);
            for route in routes.filter(|route| self.find(&route.peer).is_none()) {
                faults.push(self.role_fault(&route.peer, NameProblem::Unresolved));
            }
            let is_missing = |message: &Ident| match self.find_item(message) {
                Some(found) => !matches!(found, Item::Message(_) | Item::Broken { .. }),
                None => self.is_whole,
            };
            if let Some(message) = item.message.as_ref().filter(|message| is_missing(message)) {
                faults.push(Cause::NoMessage { name: message.to_string() }.at(message.span()));
            }
        }
        for item in self.items() {
            let Item::Set(set) = item else { continue };
            let fields = set.fields.iter().map(|field| &field.role);
            for name in fields.filter(|name| self.role(name).is_none()) {
                match self.find_item(name) {
                    Some(Item::Broken { .. } | Item::Role(_)) => {}
                    Some(_) => faults.push(self.name_fault(name, NameProblem::NoRole, Vec::new())),
                    None if self.items.len() == self.module.items.len() => {}
                    None => faults.push(self.role_fault(name, NameProblem::Unresolved)),
                }
            }
        }
        self.faults.append(&mut faults);
    }

    /// Finds labels that no item declares, each at its first use.
    fn check_labels(&mut self) {
        let used = self.items().filter_map(Item::session).flat_map(|session| {
            let actions = session.actions().map(|action| &action.label);
            actions.chain(session.variants().iter().map(|variant| variant.head.label()))
        });
        let written = self.module.items.iter().filter_map(Item::message);
        let written = written.flat_map(|message| &message.variants);
        let written = written.filter_map(|variant| variant.ident.as_ref());
        let mut seen = BTreeSet::new();
        let is_missing = |label: &&Ident| {
            let name = label.to_string();
            let mut roles = self.roles.iter().filter_map(|role| role.labels.get(&name));
            roles.any(|label| label.is_missing) && seen.insert(name)
        };
        let missing: Vec<&Ident> = written.chain(used).filter(is_missing).collect();
        // The typo may be in a declared label that nothing uses.
        let unused = self.items().filter_map(Item::label).map(|label| label.name.to_string());
        let is_used = |name: &String| self.roles.iter().any(|role| role.labels.contains_key(name));
        let unused: Vec<String> = unused.filter(|name| !is_used(name)).collect();
        let meant =
            |name: &Ident| did_you_mean(&name.to_string(), unused.iter().map(String::as_str));
        let (typos, undeclared): (Vec<_>, Vec<_>) =
            missing.into_iter().map(|name| (name, meant(name))).partition(|(_, it)| it.is_some());
        // One fault stands for all labels that nothing declares.
        let first = undeclared.first().map(|&(name, _)| {
            let also = match &undeclared[1..] {
                [] => String::new(),
                others => format!(", and so {}", list(others.iter().map(|(name, _)| name))),
            };
            let text = "declare it, with what it carries";
            (name, Some(format!("{text}: `struct {name};` or `struct {name}(…);`{also}")))
        });
        let faults = typos.into_iter().chain(first).map(|(label, hint)| {
            let (name, problem) = (label.to_string(), NameProblem::Unresolved);
            Cause::Name { name, problem, hint }.at(label.span())
        });
        let faults: Vec<Fault> = faults.collect();
        self.faults.extend(faults);
    }

    /// The fault of a role's name. A hint suggests a role.
    fn role_fault(&self, name: &Ident, problem: NameProblem) -> Fault {
        let roles = self.roles.iter().map(|role| role.item.name.to_string()).collect();
        self.name_fault(name, problem, roles)
    }

    /// The fault of a name. A hint suggests one of the `known` names.
    fn name_fault(&self, name: &Ident, problem: NameProblem, known: Vec<String>) -> Fault {
        let text = name.to_string();
        let hint = (!known.is_empty()).then(|| meant(&text, &known, "known are"));
        Cause::Name { name: text, problem, hint }.at(name.span())
    }
}

/// The position of the protocol of a module, if it is for one.
pub(crate) fn own(module: &Module, protocols: &Protocols) -> Option<Result<usize, Box<Fault>>> {
    let name = module.arguments.protocol.as_ref()?;
    Some(protocol(protocols, &name.to_string()).map_err(|cause| Box::new(cause.at(name.span()))))
}

/// Finds the protocol that a name refers to: the protocol with exactly this name, or else with the
/// same name in the sense of [`name::same`]. Returns its position.
pub(crate) fn protocol(protocols: &Protocols, wanted: &str) -> Result<usize, Cause> {
    let mut found = name::find(wanted, protocols.declared().collect(), |(_, name)| name);
    // A protocol that only others call may have the name of another file's protocol.
    let is_playable = |(file, name): &(usize, &str)| {
        let mut own = protocols.files[*file].module.modules.root().protocols.iter();
        own.any(|it| it.name.as_str() == *name && !it.auxiliary && it.parameters.is_empty())
    };
    let wanted = wanted.to_owned();
    if found.len() > 1 {
        found.retain(is_playable);
        if found.is_empty() {
            return Err(Cause::UnplayableProtocol { wanted });
        }
    }
    Err(match found[..] {
        [] => match (0..protocols.files.len()).find(|&at| protocols.may_declare(at, &wanted)) {
            Some(file) => Cause::BrokenFile { file },
            None => Cause::UnknownProtocol { wanted },
        },
        [(file, name)] => {
            let is_it = |loaded: &Loaded| loaded.file == file && loaded.name() == name;
            match protocols.protocols.iter().position(is_it) {
                Some(position) => return Ok(position),
                None if protocols.files[file].module.diagnostics.is_empty() => {
                    Cause::UnplayableProtocol { wanted }
                }
                None => Cause::BrokenFile { file },
            }
        }
        [(first, _), (second, _), ..] => {
            Cause::ProtocolDeclaredTwice { wanted, files: [first, second] }
        }
    })
}

/// A token of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) item: ItemId,
    pub(crate) span: Span,
}
