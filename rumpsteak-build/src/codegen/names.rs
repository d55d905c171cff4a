//! The names of a protocol's parts in generated code.
//!
//! ```text
//! role k            struct K, field k
//! value(i32)        struct Value(i32), variant Value
//! SYN, a', self     Syn, A, SelfRole with #[role("self")]
//! ```
//!
//! A name gets a suffix if it would hide a name of the runtime, of the prelude or of a role. If
//! case and `_` are not the only differences from the Scribble name, the code has `#[label("…")]`.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;
use rumpsteak_front::module::{Item, ItemKind};
use rumpsteak_front::name;
use rumpsteak_fsm::{Message, Role};
use rumpsteak_scribble::Span;

use super::payloads::{Payload, declared, is_ident, payload, reserved, without_type};
use crate::protocols::{Loaded, ScrFile};
use crate::scope::{Scope, labels};

/// The names of a protocol, and other properties of its code.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The type of the routes, unless they are channels.
    pub(super) routes: Option<String>,
    /// The derives of messages besides `Message`.
    pub(super) derives: Vec<String>,
    pub(super) message: String,
    pub(super) has_message: bool,
    /// The roles, in the order of the protocol.
    pub(super) roles: Vec<RoleName>,
    /// The messages, in the order of the protocol's text.
    pub(super) labels: Vec<LabelName>,
    /// The position of each message among the labels.
    positions: BTreeMap<Message, usize>,
    /// The position of the first label with a [normal](name::normalise) name.
    firsts: BTreeMap<String, usize>,
    /// The names that nothing more may have.
    pub(super) taken: BTreeSet<String>,
    /// The last used number for a name.
    numbers: BTreeMap<String, usize>,
}

#[derive(Debug)]
pub(super) struct RoleName {
    /// The name in the protocol.
    pub(super) scribble: String,
    pub(super) ty: String,
    /// The field for the role in the set and in its peers.
    pub(super) field: String,
    /// True for a family, which many members play.
    pub(super) is_family: bool,
    /// True if the set has the role, and it has a session.
    pub(super) has_process: bool,
    pub(super) is_written: bool,
    /// True if the module writes a session of the role.
    pub(super) has_session: bool,
}

#[derive(Debug)]
pub(super) struct LabelName {
    pub(super) message: Message,
    /// The struct, and the variant of the message type.
    pub(super) ty: String,
    /// Its part in the names of choices and loops: `ty` without a suffix.
    pub(super) part: String,
    /// True if the variant needs a `#[label]`.
    pub(super) explicit: bool,
    pub(super) payload: Vec<String>,
    /// The path of the type, if a `sig` declares it.
    pub(super) declared: Option<String>,
    /// True if all types of the payload have `Debug`.
    pub(super) is_debug: bool,
    pub(super) is_written: bool,
    /// True if the module writes a message type without a variant for this message.
    pub(super) is_missing: bool,
}

impl Names {
    /// Names all parts of a protocol. Parts that the module writes keep their names.
    pub(super) fn new(scope: &Scope<'_>, loaded: &Loaded, file: &ScrFile) -> Result<Self, String> {
        let arguments = &scope.module.arguments;
        let path = |tokens: TokenStream| tokens.to_string().replace(' ', "");
        let mut names = Self {
            routes: arguments.routes.as_ref().map(|routes| path(routes.to_token_stream())),
            derives: arguments.derives.iter().map(|of| path(of.to_token_stream())).collect(),
            taken: reserved(),
            ..Self::default()
        };
        names.taken.extend(scope.names().map(str::to_owned));
        let written: Vec<String> = scope.messages().collect();
        names.has_message = !written.is_empty();
        let asked = scope.roles.first().map(|role| scope.message_of(role.item));
        let message = written.into_iter().next().or(asked);
        names.message = message.unwrap_or_else(|| "Label".to_owned());
        // The item with that name is meant to be the message type, and has a mistake.
        names.has_message |= scope.names().any(|name| name == names.message);
        let players = scope.items().filter_map(Item::player);
        let roots: BTreeSet<String> = players.map(ToString::to_string).collect();
        // Roles give way to the types of payloads, which are therefore read first.
        let messages = messages(loaded);
        let declared_here = names.payloads(scope, &messages, file)?;
        for (position, role) in loaded.protocol.roles().iter().enumerate() {
            let player = scope.roles.iter().find(|role| role.position == Some(position));
            let written = player.map(|role| role.item.name.to_string());
            let ty = name::camel(role.as_str());
            let is_session = |(name, kind): (&Ident, _)| *name == ty && kind == ItemKind::Session;
            if written.is_none() && scope.items().filter_map(Item::named).any(is_session) {
                return Err(format!(
                    "`{ty}` is a session in the module, and the struct for the role `{role}`\n\n\
                     help: give the session another name"
                ));
            }
            names.add_role(role, written);
            names.roles[position].is_family = loaded.protocol.members(role).is_some();
            names.roles[position].has_process = loaded.has_process(position);
        }
        names.roles.iter_mut().for_each(|role| role.has_session = roots.contains(&role.ty));
        let mut carried = BTreeMap::new();
        scope.messages().for_each(|message| carried.extend(scope.labels(&message)));
        for ((message, span), types) in messages.into_iter().zip(declared_here) {
            if !names.has_message
                && let Some(earlier) = names.alike(&message)
                && (earlier.is_written || earlier.message.label != message.label)
            {
                return Err(placed(file, repeated(earlier, &message, file), span));
            }
            let declared = file
                .signature(&message)
                .map(|of| declared(of, file).map_err(|reason| placed(file, reason, of.name.span)));
            let written = match names.has_message {
                true => variant_of(scope, &carried, &message),
                false => written_label(scope, &message),
            };
            names.add_label(message, written, &types, declared.transpose()?);
        }
        // Variants for one label all have exactly its name.
        let mut users: BTreeMap<String, usize> = BTreeMap::new();
        let labels = names.labels.iter().map(|of| of.message.label.to_string());
        labels.for_each(|label| *users.entry(label).or_default() += 1);
        names.labels.iter_mut().for_each(|of| of.explicit |= users[of.message.label.as_str()] > 1);
        if names.labels.is_empty() {
            let name = loaded.name();
            return Err(format!("`{name}` has no messages\n\nhelp: there is nothing to generate"));
        }
        Ok(names)
    }

    /// The types of the payloads of messages whose structs are generated.
    fn payloads(
        &mut self,
        scope: &Scope<'_>,
        messages: &[(Message, Span)],
        file: &ScrFile,
    ) -> Result<Vec<Vec<Payload>>, String> {
        let is_written =
            |message: &Message| self.has_message || written_label(scope, message).is_some();
        let place = |sort: &str, span: Span| {
            file.module.modules.sort(sort).map_or(span, |found| found.name.span)
        };
        let lacking = messages.iter().filter(|(message, _)| !is_written(message));
        let sorts = lacking.flat_map(|(message, span)| {
            message.payload.iter().map(|sort| (sort.as_str(), place(sort.as_str(), *span)))
        });
        if let Some((reason, span)) = without_type(sorts, file, scope) {
            return Err(placed(file, reason, span));
        }
        let mut payloads = Vec::new();
        for (message, span) in messages {
            if is_written(message) {
                payloads.push(Vec::new());
                continue;
            }
            let types = message.payload.iter().map(|sort| {
                let reason = |reason| placed(file, reason, place(sort.as_str(), *span));
                payload(sort.as_str(), file, scope).map_err(reason)
            });
            let types = types.collect::<Result<Vec<Payload>, _>>()?;
            self.taken.extend(types.iter().flat_map(|payload| payload.names.clone()));
            payloads.push(types);
        }
        Ok(payloads)
    }

    pub(super) fn add_role(&mut self, role: &Role, written: Option<String>) {
        let scribble = role.as_str().to_owned();
        let is_written = written.is_some();
        let ty = written.unwrap_or_else(|| self.fresh(&name::camel(&scribble), "Role"));
        let field = self.fresh(&name::snake(&scribble), "_role");
        let [is_family, has_process, has_session] = [false, true, false];
        let name =
            RoleName { scribble, ty, field, is_family, has_process, is_written, has_session };
        self.roles.push(name);
    }

    /// Names a message. `written` is its type in the module, and true if that has `Debug`.
    pub(super) fn add_label(
        &mut self,
        message: Message,
        written: Option<(String, bool)>,
        payload: &[Payload],
        declared: Option<String>,
    ) {
        let (is_written, mut part) = (written.is_some(), None);
        let (ty, is_debug) = written.unwrap_or_else(|| {
            let is_debug = declared.is_none() && payload.iter().all(|payload| payload.is_debug);
            let mut proposed = name::camel(message.label.as_str());
            // A further payload of a label is a part of the name: `OkU32`.
            if self.alike(&message).is_some() {
                let sorts = message.payload.iter().map(|sort| name::camel(sort.as_str()));
                let sorts: String = sorts.collect();
                proposed += if sorts.is_empty() { "Empty" } else { &sorts };
            }
            if self.roles.iter().any(|role| format!("{}Session", role.ty) == proposed) {
                proposed += "Message";
            }
            (self.fresh(part.insert(proposed), "Message"), is_debug)
        });
        self.positions.insert(message.clone(), self.labels.len());
        self.firsts.entry(name::normalise(message.label.as_str())).or_insert(self.labels.len());
        self.labels.push(LabelName {
            explicit: !name::same(message.label.as_str(), &ty),
            part: part.unwrap_or_else(|| ty.clone()),
            ty,
            payload: payload.iter().map(|payload| payload.text.clone()).collect(),
            is_debug,
            declared,
            is_written,
            is_missing: self.has_message && !is_written,
            message,
        });
    }

    /// An unused name: the proposed name, with the suffix or a number if necessary.
    pub(super) fn fresh(&mut self, proposed: &str, suffix: &str) -> String {
        if is_ident(proposed) && self.taken.insert(proposed.to_owned()) {
            return proposed.to_owned();
        }
        let suffixed = format!("{proposed}{suffix}");
        let suffixed = if is_ident(&suffixed) { suffixed } else { suffix.to_owned() };
        let number = self.numbers.entry(suffixed.clone()).or_insert(1);
        let mut name = suffixed.clone();
        while !self.taken.insert(name.clone()) {
            *number += 1;
            name = format!("{suffixed}{number}");
        }
        name
    }

    /// The first label that has the name of a message, up to case and `_`.
    fn alike(&self, message: &Message) -> Option<&LabelName> {
        self.labels.get(*self.firsts.get(&name::normalise(message.label.as_str()))?)
    }

    /// The position of a message among the labels.
    pub(super) fn label(&self, message: &Message) -> Option<usize> {
        self.positions.get(message).copied()
    }

    pub(super) fn role(&self, role: &str) -> Option<usize> {
        self.roles.iter().position(|name| name.scribble == role)
    }
}

/// The struct or enum that a module writes for a message, and true if it has `Debug`.
fn written_label(scope: &Scope<'_>, message: &Message) -> Option<(String, bool)> {
    let mut labels = scope.items().filter_map(Item::label);
    let label = labels.find(|of| name::same(&of.name.to_string(), message.label.as_str()))?;
    let derives = label.attributes.iter().filter(|of| of.path().is_ident("derive"));
    let mut derives = derives.map(|of| of.to_token_stream().to_string());
    Some((label.name.to_string(), derives.any(|derives| derives.contains("Debug"))))
}

/// The type in the variant that carries a message, or else has its name.
fn variant_of(
    scope: &Scope<'_>,
    labels: &BTreeMap<String, labels::Label<'_>>,
    message: &Message,
) -> Option<(String, bool)> {
    let carries = |label: &labels::Label<'_>| label.message.as_ref().is_ok_and(|of| of == message);
    let ty = labels.values().find(|label| carries(label)).map(|label| label.ty).or_else(|| {
        // A variant with a mistake is used, so that it is reported.
        let is_wrong =
            |ty: &Ident| labels.get(&ty.to_string()).is_none_or(|label| label.message.is_err());
        let variants = scope.message_items().flat_map(|item| &item.variants);
        let named = variants.filter(|of| name::same(&of.label, message.label.as_str()));
        named.filter_map(|of| of.ident.as_ref()).find(|ty| is_wrong(ty))
    });
    Some((ty?.to_string(), true))
}

/// Adds the place of a declaration or a message to the first line of a reason.
fn placed(file: &ScrFile, reason: String, span: Span) -> String {
    let (name, line) = file.line(span);
    reason.replacen("\n\n", &format!(" ({name}:{line})\n\n"), 1)
}

/// The messages of a protocol with their first places, in the order of the text.
fn messages(protocol: &Loaded) -> Vec<(Message, Span)> {
    let mut places: Vec<(&Message, (bool, Span))> = Vec::new();
    for projection in &protocol.projections {
        for by in projection.fsm.transitions() {
            let (action, place) = (by.action, projection.origins(by.id).iter().min());
            // A message that is dropped is received at the heading of its block.
            places.extend(place.map(|&span| (&action.message, (!action.is_send(), span))));
        }
    }
    places.sort_unstable();
    places.dedup_by_key(|(message, _)| *message);
    let messages = places.into_iter().map(|(message, (_, span))| (message.clone(), span));
    let mut messages: Vec<(Message, Span)> = messages.collect();
    messages.sort_by_key(|(_, span)| *span);
    messages
}

fn repeated(earlier: &LabelName, later: &Message, file: &ScrFile) -> String {
    let LabelName { message: earlier, ty, .. } = earlier;
    let file = file.shown();
    if earlier.label == later.label {
        return format!(
            "the label `{}` carries two payloads: `{earlier}` and `{later}`, and the module has one `{ty}`\n\n\
             help: leave `{ty}` out: a type for each payload is generated then",
            later.label
        );
    }
    format!(
        "the labels `{}` and `{}` differ in case and `_` only\n\n\
         help: rename one of the two in {file}: in Rust each label is a type of its own",
        earlier.label, later.label
    )
}
