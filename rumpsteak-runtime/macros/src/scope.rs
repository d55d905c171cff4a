use litemap::LiteMap;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident};
use rumpsteak_build::expansion::{Judged, ProtocolFacts, RoleFacts, RootFacts};
use rumpsteak_front::hash::number;
use rumpsteak_front::module::{Item, ItemKind};
use rumpsteak_front::role::{Room, Route};
use rumpsteak_front::session::{Action, Head};
use rumpsteak_front::{SessionItem, name};

/// The context in which the items of a module expand.
pub(crate) struct Scope<'a> {
    pub(crate) judged: &'a Judged,
    /// The path of the runtime's crate.
    pub(crate) krate: &'a TokenStream,
    pub(crate) kinds: LiteMap<String, ItemKind>,
    numbers: LiteMap<String, u64>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(judged: &'a Judged, krate: &'a TokenStream) -> Self {
        let mut kinds = LiteMap::new();
        let named = items(judged).filter_map(Item::named);
        named.for_each(|(name, kind)| _ = kinds.insert(name.to_string(), kind));
        Self { judged, krate, kinds, numbers: numbers(judged) }
    }

    pub(crate) fn protocol(&self) -> &ProtocolFacts {
        &self.judged.findings.verdict.protocol
    }

    pub(crate) fn role(&self, name: &Ident) -> Option<&RoleFacts> {
        self.judged.findings.verdict.roles.get(&name.to_string())
    }

    pub(crate) fn is_family(&self, name: &Ident) -> bool {
        self.role(name).is_some_and(|facts| facts.members.is_some())
    }

    /// The rings that connect the members of a family.
    pub(crate) fn rings(&self, family: &Ident) -> Vec<Ident> {
        let Some(RoleFacts { role, .. }) = self.role(family) else { return Vec::new() };
        let roles = self.judged.findings.verdict.roles.iter();
        let rings = roles.filter(|(_, facts)| facts.connects.as_ref() == Some(role));
        rings.map(|(name, _)| Ident::new(name, family.span())).collect()
    }

    pub(crate) fn root(&self, name: &Ident) -> Option<&RootFacts> {
        self.judged.findings.verdict.roots.get(&name.to_string())
    }

    /// Returns true if the module has no mistake.
    pub(crate) fn is_whole(&self) -> bool {
        self.judged.findings.told.is_empty() && self.judged.module.errors.is_empty()
    }

    /// Returns true if a role has this name, even one with a mistake.
    pub(crate) fn is_role(&self, name: &Ident) -> bool {
        self.kinds.get(&name.to_string()) == Some(&ItemKind::Role)
    }

    /// The room that a route, or else the module for it, declares.
    pub(crate) fn room(&self, route: &Route) -> Option<Room> {
        route.room.or(self.judged.module.arguments.room)
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        items(self.judged)
    }

    /// The sessions in the order of expansion.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &SessionItem> {
        self.items().filter_map(Item::session)
    }

    /// Returns true if a role runs the session, or another item goes on as it.
    pub(crate) fn is_used(&self, item: &SessionItem) -> bool {
        let mut others = self.sessions().filter(|other| other.name != item.name);
        item.role.is_some() || others.any(|other| other.parts().any(|part| *part == item.name))
    }

    /// The place of an item for rustc's notes: the module, if the item is generated. At the place
    /// of a macro, rustc would add a line about the macro.
    pub(crate) fn place(&self, name: &Ident) -> Span {
        let Judged { module, generated, .. } = self.judged;
        let mut generated = generated.iter().filter_map(Item::named);
        if generated.any(|(own, _)| own == name) { module.name.span() } else { name.span() }
    }

    /// True for a label that goes to one member of a family, or comes from one.
    pub(crate) fn asks(&self, label: &str) -> bool {
        self.protocol().asked.iter().any(|asked| name::same(asked, label))
    }

    /// The same for the type of a label.
    pub(crate) fn is_for_one(&self, ty: &Ident) -> bool {
        let mut variants = self.items().filter_map(Item::message).flat_map(|item| &item.variants);
        variants.any(|of| self.asks(&of.label) && *ty == of.ty.to_token_stream().to_string())
    }

    /// The number of a session item, which depends on all items connected with it.
    pub(crate) fn number(&self, name: &Ident) -> u64 {
        self.numbers.get(&name.to_string()).copied().unwrap_or_default()
    }

    /// A name for a generic parameter: the proposed one, changed if an item of the module has it.
    pub(crate) fn parameter(&self, proposed: &str) -> Ident {
        let mut name = proposed.to_owned();
        while self.kinds.contains_key(&name) {
            name.push('_');
        }
        format_ident!("{name}")
    }

    /// The only message type of the module, for a role that names none.
    pub(crate) fn message(&self) -> Option<&Ident> {
        let mut named = self.items().filter_map(Item::named);
        named.find_map(|(name, kind)| (kind == ItemKind::Message).then_some(name))
    }
}

/// All items: the written ones, then the generated ones.
pub(crate) fn items(judged: &Judged) -> impl Iterator<Item = &Item> {
    judged.module.items.iter().chain(&judged.generated)
}

/// A number for each session item: a hash of it and of all items connected with it. Two programs
/// compare these numbers.
fn numbers(judged: &Judged) -> LiteMap<String, u64> {
    let mut sessions: LiteMap<String, &SessionItem> = LiteMap::new();
    let own = items(judged).filter_map(Item::session);
    own.for_each(|session| _ = sessions.insert(session.name.to_string(), session));
    let mut connected: LiteMap<String, Vec<String>> = LiteMap::new();
    for (name, session) in &sessions {
        for part in session.parts().map(Ident::to_string) {
            connected.entry(part.clone()).or_default().push(name.clone());
            connected.entry(name.clone()).or_default().push(part);
        }
    }
    let mut found = LiteMap::new();
    for start in sessions.keys() {
        let (mut names, mut pending) = (Vec::new(), vec![start.clone()]);
        while let Some(name) = pending.pop() {
            if !found.contains_key(&name) && sessions.contains_key(&name) {
                found.insert(name.clone(), 0);
                pending.extend(connected.remove(&name).unwrap_or_default());
                names.push(name);
            }
        }
        names.sort();
        let mut parts: Vec<String> = Vec::new();
        names.iter().for_each(|name| parts.extend(texts(sessions[name])));
        let all = number(&parts.iter().map(String::as_str).collect::<Vec<_>>()).to_string();
        for name in names {
            let own = number(&[&all, &name]);
            found.insert(name, own);
        }
    }
    found
}

/// The parts of a session item that its number depends on.
fn texts(item: &SessionItem) -> Vec<String> {
    let mut texts = vec![item.name.to_string(), item.written()];
    for variant in item.variants() {
        texts.push(match &variant.head {
            Head::Label(label) => label.to_string(),
            Head::Action(Action { constructor, peer, label, .. }) => {
                format!("{constructor} {peer} {label}")
            }
        });
        texts.push(variant.then.to_string());
    }
    texts.extend(item.rest().map(|rest| rest.then.to_string()));
    texts
}
