//! What the parts of a protocol are called in generated code.
//!
//! ```text
//! role k            struct K, field k
//! value(i32)        struct Value(i32), variant Value
//! SYN, a', self     Syn, A, SelfRole with #[role("self")]
//! ```
//!
//! A name takes a suffix where it would hide one that the code needs: that of the runtime, of the
//! prelude, or of a role. Where case and `_` alone no longer lead back to the Scribble name,
//! `#[label("…")]` does.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeFrom;

use rumpsteak_contract::protocol::RUNTIME;
use rumpsteak_contract::{ProtocolItem, name};
use rumpsteak_fsm::{Action, Fsm, Message, Role, Sort};
use rumpsteak_scribble::Span;

use super::payloads::{Payload, declared, is_ident, payload, reserved, signature};
use crate::protocols::{Loaded, ScrFile};

/// What a `protocol!(…)` chooses.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    /// The path of the runtime.
    pub(super) krate: String,
    /// The path of the routes' type, unless they are channels.
    pub(super) routes: Option<String>,
    /// What messages derive beside `Message`.
    pub(super) derives: Vec<String>,
    /// What tells its file from others.
    pub(super) suffix: String,
}

impl Choices {
    pub(super) fn of(item: &ProtocolItem) -> Self {
        let (routes, derives) = (item.routes.clone(), item.derives.clone());
        Self { krate: item.runtime.clone(), routes, derives, suffix: item.suffix() }
    }
}

impl Default for Choices {
    fn default() -> Self {
        let suffix = String::new();
        Self { krate: RUNTIME.to_owned(), routes: None, derives: Vec::new(), suffix }
    }
}

/// The names of a protocol, and of what its code uses.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) choices: Choices,
    /// In the order of the protocol's roles.
    pub(super) roles: Vec<RoleName>,
    /// In the order in which a reader of the protocol meets them.
    pub(super) labels: Vec<LabelName>,
    /// The position of each message among the labels.
    positions: BTreeMap<Message, usize>,
    /// What no further type may be called.
    taken: BTreeSet<String>,
    /// The numbers that are left for a name.
    numbers: BTreeMap<String, RangeFrom<usize>>,
}

/// A role.
#[derive(Debug)]
pub(super) struct RoleName {
    /// In the protocol.
    pub(super) scribble: String,
    /// The struct.
    pub(super) ty: String,
    /// The field of the set of roles, and of the routes that lead to it.
    pub(super) field: String,
    /// Whether the name in the protocol can be written as a path.
    pub(super) is_ident: bool,
}

/// A message.
#[derive(Debug)]
pub(super) struct LabelName {
    pub(super) message: Message,
    /// The struct, and the variant of the message type.
    pub(super) ty: String,
    /// What sessions call the struct.
    pub(super) path: String,
    /// Whether the variant must say the label.
    pub(super) explicit: bool,
    /// The types of the payload.
    pub(super) payload: Vec<String>,
    /// The path of the type, if a `sig` says that there is one.
    pub(super) declared: Option<String>,
    /// Whether each of them has `Debug`.
    pub(super) is_debug: bool,
}

impl Names {
    /// What names the runtime in an attribute, unless it has the usual name.
    fn crate_argument(&self) -> Option<String> {
        let krate = &self.choices.krate;
        (krate != RUNTIME).then(|| format!("crate = {krate:?}"))
    }

    /// The attribute of a derive's input that names the runtime.
    pub(super) fn derive_attribute(&self) -> String {
        let argument = self.crate_argument();
        argument.map_or(String::new(), |argument| format!("#[rumpsteak({argument})]\n"))
    }

    /// `#[session(K)]`, with the role if there is one.
    pub(super) fn session_attribute(&self, role: Option<&str>) -> String {
        let arguments = role.map(str::to_owned).into_iter();
        let arguments: Vec<String> = arguments.chain(self.crate_argument()).collect();
        match &arguments[..] {
            [] => "#[session]\n".to_owned(),
            _ => format!("#[session({})]\n", arguments.join(", ")),
        }
    }

    /// Names all parts of a protocol.
    ///
    /// # Errors
    ///
    /// What has no name in Rust, and what to do about it.
    pub(super) fn new(
        protocol: &Loaded,
        file: &ScrFile,
        choices: &Choices,
    ) -> Result<Self, String> {
        let messages = messages(protocol);
        let mut payloads = Vec::new();
        let mut taken = reserved();
        // With the place of the declaration or the message behind the first line.
        let placed = |reason: String, span: Span| {
            let text = file.text(span.source());
            let (line, _) = text.position(span.start());
            reason.replacen("\n\n", &format!(" ({}:{line})\n\n", text.name), 1)
        };
        for (message, span) in &messages {
            let types = message.payload.iter().map(|sort| {
                let declared = file.modules.sort(sort.as_str()).map(|found| found.name.span);
                let reason = |reason| placed(reason, declared.unwrap_or(*span));
                payload(sort.as_str(), file).map_err(reason)
            });
            let types = types.collect::<Result<Vec<Payload>, _>>()?;
            taken.extend(types.iter().flat_map(|payload| payload.names.clone()));
            payloads.push(types);
        }
        let mut names = Self { choices: choices.clone(), taken, ..Self::default() };
        let mut fields = BTreeSet::new();
        for role in protocol.protocol.roles() {
            names.add_role(role, &mut fields);
        }
        let mut normal = BTreeMap::new();
        for (position, ((message, span), payload)) in messages.into_iter().zip(payloads).enumerate()
        {
            let label = message.label.as_str();
            if let Some(earlier) = normal.insert(name::normalise(label), position) {
                let reason = repeated(&names.labels[earlier].message, &message, file);
                return Err(placed(reason, span));
            }
            let declared = signature(&message, file).map(|of| {
                let path = declared(of, file);
                path.map_err(|reason| placed(reason, of.name.span))
            });
            names.add_label(message, &payload, declared.transpose()?);
        }
        if names.labels.is_empty() {
            return Err(format!(
                "`{}` has no messages\n\nhelp: there is nothing to generate; take `protocol!` out",
                protocol.name()
            ));
        }
        Ok(names)
    }

    /// Names what a machine speaks of, its own role first, for a person who has the types of
    /// payloads in scope: a label that is called as one of them is that of the module `generated`.
    pub(super) fn of_machine(fsm: &Fsm, generated: &str) -> Self {
        let mut names = Self { taken: reserved(), ..Self::default() };
        let mut fields = BTreeSet::new();
        names.add_role(fsm.role(), &mut fields);
        for transition in fsm.transitions() {
            let Action { peer, message, .. } = transition.action;
            if names.role(peer.as_str()).is_none() {
                names.add_role(peer, &mut fields);
            }
            if !names.positions.contains_key(message) {
                names.add_label(message.clone(), &[], None);
            }
        }
        let payloads = fsm.transitions().flat_map(|by| &by.action.message.payload);
        let payloads: BTreeSet<&str> = payloads.map(Sort::as_str).collect();
        for label in names.labels.iter_mut().filter(|label| payloads.contains(&*label.ty)) {
            label.path = format!("{generated}::{}", label.ty);
        }
        names
    }

    fn add_role(&mut self, role: &Role, fields: &mut BTreeSet<String>) {
        let scribble = role.as_str().to_owned();
        let ty = self.fresh(&name::camel(&scribble), "Role");
        let field = field(&scribble, fields);
        let is_ident = is_ident(&scribble);
        self.roles.push(RoleName { scribble, ty, field, is_ident });
    }

    fn add_label(&mut self, message: Message, payload: &[Payload], declared: Option<String>) {
        let label = message.label.as_str();
        let ty = self.fresh(&name::camel(label), "Message");
        self.positions.insert(message.clone(), self.labels.len());
        self.labels.push(LabelName {
            explicit: !name::same(label, &ty),
            path: ty.clone(),
            ty,
            payload: payload.iter().map(|payload| payload.text.clone()).collect(),
            is_debug: declared.is_none() && payload.iter().all(|payload| payload.is_debug),
            declared,
            message,
        });
    }

    /// A name for a type: the proposed one, or that with the suffix, or that with a number.
    pub(super) fn fresh(&mut self, proposed: &str, suffix: &str) -> String {
        let plain = (is_ident(proposed)).then(|| proposed.to_owned());
        let suffixed = format!("{proposed}{suffix}");
        let suffixed = if is_ident(&suffixed) { suffixed } else { suffix.to_owned() };
        let numbers = self.numbers.entry(suffixed.clone()).or_insert(2..);
        let numbered = numbers.map(|number| format!("{suffixed}{number}"));
        let candidates = plain.into_iter().chain([suffixed.clone()]).chain(numbered);
        // There are more numbers than names.
        let free = { candidates }.find(|name| !self.taken.contains(name));
        let free = free.unwrap_or_default();
        self.taken.insert(free.clone());
        free
    }

    /// The name of a further type: the proposed one, or that with a number.
    pub(super) fn numbered(&mut self, proposed: &str) -> String {
        self.fresh(proposed, "")
    }

    /// The position of a message among the labels.
    pub(super) fn label(&self, message: &Message) -> Option<usize> {
        self.positions.get(message).copied()
    }

    /// The position of a role.
    pub(super) fn role(&self, role: &str) -> Option<usize> {
        self.roles.iter().position(|name| name.scribble == role)
    }
}

/// The messages of a protocol with the first place of each, in the order of its text.
fn messages(protocol: &Loaded) -> Vec<(Message, Span)> {
    let mut first: BTreeMap<&Message, Span> = BTreeMap::new();
    for projection in &protocol.projections {
        for transition in projection.fsm.transitions() {
            let message = &transition.action.message;
            let Some(&span) = projection.origins(transition.id).iter().min() else { continue };
            let known = first.entry(message).or_insert(span);
            *known = span.min(*known);
        }
    }
    let messages = first.into_iter().map(|(message, span)| (message.clone(), span));
    let mut messages: Vec<(Message, Span)> = messages.collect();
    messages.sort_by_key(|(_, span)| *span);
    messages
}

/// The name of a field for a role.
fn field(scribble: &str, taken: &mut BTreeSet<String>) -> String {
    let snake = name::snake(scribble);
    let candidates = [snake.clone(), format!("{snake}_role"), format!("r#{snake}")];
    let mut plain = candidates.iter().take(2).filter(|name| is_ident(name));
    let proposed = plain.next().cloned().unwrap_or_else(|| "role".to_owned());
    let numbered = (2..).map(|number| format!("{proposed}_{number}"));
    let mut names = [proposed.clone()].into_iter().chain(numbered);
    // There are more numbers than names.
    let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

fn repeated(earlier: &Message, later: &Message, file: &ScrFile) -> String {
    let text = if earlier.label == later.label {
        format!("the label `{}` carries two payloads: `{earlier}` and `{later}`", later.label)
    } else {
        format!("the labels `{}` and `{}` differ in case and `_` only", earlier.label, later.label)
    };
    format!(
        "{text}\n\nhelp: rename one of the two in {}: in Rust each label is a type of its own",
        file.shown()
    )
}
