//! Label types, and the messages of a protocol that they stand for.

use std::rc::Rc;

use rumpsteak_contract::canonical::{type_text, type_text_with};
use rumpsteak_contract::message::{Delegated, FieldType, MessageVariant};
use rumpsteak_contract::role::RoleItem;
use rumpsteak_contract::{Path, name};
use rumpsteak_fsm::{Message, Sort};
use rumpsteak_scribble::similar;

use crate::protocols::{Loaded, ScrFile};
use crate::source::conditions::CfgValue;
use crate::source::crate_tree::{ItemId, ItemKind, ModuleId, Tree};
use crate::source::names::{self, PRIMITIVES};

#[derive(Debug)]
pub(crate) struct LabelPair {
    /// The name as written, which rustc sees as a constant.
    pub(crate) name: String,
    /// The same, [normalised](name::normalise).
    normal: String,
    /// The types that it carries, one alternative after the other; empty if they are not known.
    pub(crate) payloads: Vec<Vec<String>>,
    /// The label type, if it is an item of this package.
    pub(crate) item: Option<ItemId>,
    /// The label type as written, for one that is none.
    pub(crate) written: String,
}

/// The labels of a role's message type; empty if the type is not found, which its derive or rustc
/// says. Roles of one message type follow each other: `last` has the labels of the last one.
pub(crate) fn labels(
    tree: &Tree,
    module: ModuleId,
    role: &RoleItem,
    plays: &Plays<'_>,
    last: &mut Option<(ItemId, Rc<Vec<LabelPair>>)>,
) -> Rc<Vec<LabelPair>> {
    let path = role.message.as_ref();
    let Some(id) = path.and_then(|path| names::item(tree, module, path)) else {
        return Rc::default();
    };
    let ItemKind::Message(message, _) = &*tree.item(id).kind else {
        return Rc::default();
    };
    match last {
        Some((last, labels)) if *last == id => Rc::clone(labels),
        _ => {
            let variants = message.variants.iter();
            let module = tree.item(id).module;
            let labels = variants.map(|variant| label(tree, module, variant, plays));
            let labels = Rc::new(labels.collect());
            *last = Some((id, Rc::clone(&labels)));
            labels
        }
    }
}

/// What a role struct plays, as Scribble writes it: `Protocol@role`.
pub(crate) type Plays<'a> = dyn Fn(&RoleItem) -> Option<String> + 'a;

fn label(tree: &Tree, module: ModuleId, variant: &MessageVariant, plays: &Plays<'_>) -> LabelPair {
    let own = FieldType::new(variant.ty.clone());
    LabelPair {
        name: variant.label.clone(),
        normal: name::normalise(&variant.label),
        payloads: payloads(tree, module, &own, plays, MOST_ALIASES),
        item: variant.payload.as_ref().and_then(|path| names::item(tree, module, path)),
        written: text(tree, module, &own, plays),
    }
}

/// The types that a label of this type carries, as in [`LabelPair`].
fn payloads(
    tree: &Tree,
    module: ModuleId,
    own: &FieldType,
    plays: &Plays<'_>,
    left: usize,
) -> Vec<Vec<String>> {
    let written = text(tree, module, own, plays);
    let path = own.path();
    let item = path.as_ref().and_then(|path| names::item(tree, module, path));
    match item.map(|id| (&*tree.item(id).kind, tree.item(id))) {
        // A struct stands for its fields, or for itself: `order(Order)`.
        Some((ItemKind::Other(Some(fields)) | ItemKind::Message(_, Some(fields)), item)) => {
            let own = fields.iter().map(|field| text(tree, item.module, field, plays));
            let own: Vec<String> = own.collect();
            let is_session = fields.iter().any(|field| field.delegated.is_some());
            let meant = (!is_session).then(|| {
                let mut left = MOST_ALIASES;
                let fields = fields.iter();
                fields.map(|field| unaliased(tree, item.module, field, &mut left)).collect()
            });
            let meant = meant.filter(|meant| *meant != own);
            [own].into_iter().chain(meant).chain([vec![written]]).collect()
        }
        // An alias stands for what its type does, or for itself.
        Some((ItemKind::Alias(meant), item)) if left > 0 && item.condition == CfgValue::True => {
            let meant = payloads(tree, item.module, meant, plays, left - 1);
            meant.into_iter().chain([vec![written]]).collect()
        }
        Some(_) => vec![vec![written]],
        None if path.is_none() || PRIMITIVES.contains(&&*written) => {
            vec![if written == "()" { Vec::new() } else { vec![written] }]
        }
        None if own.text != written => vec![vec![written]],
        None => Vec::new(),
    }
}

/// The type of a field as it is compared: a session that changes hands as Scribble writes it, if it
/// is one, and all else as Rust does.
fn text(tree: &Tree, module: ModuleId, field: &FieldType, plays: &Plays<'_>) -> String {
    let role_of = |delegated: &Delegated| {
        let found = names::item(tree, module, &delegated.session)?;
        let session = tree.session(found)?;
        let role = match &delegated.role {
            Some(role) => names::item(tree, module, role)?,
            None => names::item(tree, tree.item(found).module, session.role.as_ref()?)?,
        };
        plays(tree.role(role)?)
    };
    field.delegated.as_ref().and_then(role_of).unwrap_or_else(|| field.text.clone())
}

/// How many aliases are followed for a label, and in its fields.
const MOST_ALIASES: usize = 64;

/// The type of a field, with what aliases in it stand for.
fn unaliased(tree: &Tree, module: ModuleId, field: &FieldType, left: &mut usize) -> String {
    type_text_with(field.ty.clone(), &mut |segments| {
        let path = Path { leading_colon: false, segments: segments.to_vec(), token: 0 };
        let id = names::item(tree, module, &path)?;
        let ItemKind::Alias(meant) = &*tree.item(id).kind else { return None };
        *left = left.checked_sub(1)?;
        Some(unaliased(tree, tree.item(id).module, meant, left))
    })
}

/// The message of a protocol that a label stands for.
pub(crate) enum LabelMatch<'a> {
    /// This one.
    Found(&'a Message),
    /// Messages of this name, with other payloads.
    OtherPayload(Vec<&'a Message>),
    /// None of this name.
    Unknown,
}

/// Looks for the message of `protocol` that `label` stands for.
pub(crate) fn match_label<'a>(
    label: &LabelPair,
    protocol: &'a Loaded,
    file: &ScrFile,
) -> LabelMatch<'a> {
    let exact = protocol.messages.get(&label.name);
    let named: Vec<&Message> = match (exact, protocol.labels.get(&label.normal)) {
        (Some(messages), _) => messages.iter().collect(),
        (None, Some(labels)) => labels.iter().flat_map(|l| &protocol.messages[l]).collect(),
        (None, None) => return LabelMatch::Unknown,
    };
    match named.iter().find(|message| payload_matches(label, message, file)) {
        Some(message) => LabelMatch::Found(message),
        None => LabelMatch::OtherPayload(named),
    }
}

/// The message that a label of no message stands for most likely, among those for which there is no
/// other label: one of nearly the same name, or the only one with its payload.
pub(crate) fn successor(
    label: &LabelPair,
    labels: &[LabelPair],
    (protocol, file): (&Loaded, &ScrFile),
) -> Option<String> {
    let is_free = |message: &&String| !labels.iter().any(|label| name::same(&label.name, message));
    let free: Vec<&str> = protocol.messages.keys().filter(is_free).map(String::as_str).collect();
    let carries = |name: &&&str| {
        protocol.messages[**name].iter().any(|message| payload_matches(label, message, file))
    };
    let carrying: Vec<&str> = free.iter().filter(carries).copied().collect();
    let only = || (carrying.len() == 1).then(|| carrying[0]);
    similar(&label.name, &free).or_else(only).map(str::to_owned)
}

/// Whether a label carries what a message does, as far as that is known.
pub(crate) fn payload_matches(label: &LabelPair, message: &Message, file: &ScrFile) -> bool {
    let sorts: Vec<Option<String>> =
        message.payload.iter().map(|sort| rust_type(sort, file)).collect();
    let matches = |payload: &Vec<String>| {
        payload.len() == sorts.len()
            && payload
                .iter()
                .zip(&sorts)
                .all(|(rust, sort)| sort.as_ref().is_none_or(|s| s == rust))
    };
    // A session that changes hands has to be seen.
    let is_unknown = label.payloads.is_empty() && !message.payload.iter().any(is_session);
    is_unknown || label.payloads.iter().any(matches)
}

/// Whether a sort is a session that changes hands: `Protocol@role`.
fn is_session(sort: &Sort) -> bool {
    sort.as_str().contains('@')
}

/// The Rust type of a sort, or a session as it is written; `None` if the sort is declared for
/// another language.
pub(crate) fn rust_type(sort: &Sort, file: &ScrFile) -> Option<String> {
    if is_session(sort) {
        // A protocol of another module goes by its own name.
        let simple = sort.as_str().rsplit('.').next();
        return simple.map(str::to_owned);
    }
    let text = match file.modules.sort(sort.as_str()) {
        Some(declaration) if declaration.schema.as_str() == "rust" => declaration.external.as_str(),
        Some(_) => return None,
        None => sort.as_str(),
    };
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Some(text.to_owned());
    }
    Some(text.parse().map_or_else(|_| text.to_owned(), type_text))
}
