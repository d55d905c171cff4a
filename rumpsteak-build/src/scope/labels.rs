//! Labels, and the messages of a protocol that they stand for.
//!
//! Payloads are compared as the text of their types, without the modules before a name:
//! `value(i32)` is `struct Value(i32)`. If the texts differ and one of them may be an alias or an
//! import, rustc compares the types. A payload `Portal@portal` is a session that changes hands,
//! whose protocol and role rustc compares.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens as _;
use rumpsteak_front::module::Item;
use rumpsteak_front::{MessageItem, name};
use rumpsteak_fsm::{Message, Sort};
use syn::Type;
use syn::spanned::Spanned as _;

use crate::fault::{Cause, Fault};
use crate::protocols::{Loaded, ScrFile};
use crate::verdict::{Expected, PayloadCheck};

/// The types that a sort may name without a declaration.
pub(crate) const PRIMITIVES: [&str; 18] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str", "u8", "u16",
    "u32", "u64", "u128", "usize", "String",
];

pub(crate) struct Label<'a> {
    pub(crate) ty: &'a Ident,
    /// The types of its fields, if it is a struct of the module.
    fields: Option<&'a [Type]>,
    /// True if the type is not an item of the module, not declared by a `sig`, and not the payload.
    pub(crate) is_missing: bool,
    pub(crate) message: Result<Message, Cause>,
    pub(crate) checks: Vec<PayloadCheck>,
}

/// A protocol with its file. True if the module has items that rumpsteak does not read, which may
/// give the name of a primitive type another meaning.
pub(super) type Own<'a> = (&'a Loaded, &'a ScrFile, bool);

/// The labels of a message type, by the names of their types. `find` looks up items of the module.
pub(super) fn of<'a>(
    message: &'a MessageItem,
    find: &dyn Fn(&Ident) -> Option<&'a Item>,
    protocol: Option<Own<'_>>,
) -> BTreeMap<String, Label<'a>> {
    let (mut found, mut seen) = (BTreeMap::new(), BTreeMap::new());
    let variants = &message.variants;
    for (position, variant) in variants.iter().enumerate() {
        // rustc or the macro reports a type that is not a name.
        let Some(ty) = &variant.ident else { continue };
        let item = message.label.as_ref().or_else(|| find(ty)?.label());
        let fields = item.and_then(|item| item.fields.as_deref());
        let mut is_missing = message.label.is_none() && find(ty).is_none();
        let (mut message, checks) = match protocol {
            Some(own) => against((&variant.label, ty, fields), item.is_some(), own),
            None => {
                let payload = fields.unwrap_or_default().iter();
                let payload = payload.map(|ty| text(ty.to_token_stream()).as_str().into());
                let label = variant.label.as_str().into();
                (Ok(Message { label, payload: payload.collect() }), Vec::new())
            }
        };
        if let (Ok(message), Some((_, file, ..))) = (&message, protocol) {
            is_missing &= file.signature(message).is_none() && !is_payload(ty, message, file);
        }
        // At run time the variants are different messages.
        if let Ok(own) = &message
            && let Some(other) = seen.insert(own.clone(), position)
            && let Some(other) = &variants[other].ident
        {
            let types = Box::new([other, ty].map(Ident::to_string));
            message = Err(Cause::TwoLabels { types, message: own.clone() });
        }
        found.insert(ty.to_string(), Label { ty, fields, is_missing, message, checks });
    }
    found
}

type Written<'a> = (&'a str, &'a Ident, Option<&'a [Type]>);

/// The message of the protocol that a label stands for, and the types that rustc has to compare.
fn against(
    own @ (label, ty, fields): Written<'_>,
    is_here: bool,
    (protocol, file, is_open): Own<'_>,
) -> (Result<Message, Cause>, Vec<PayloadCheck>) {
    let Some(alike) = protocol.messages.get(&name::normalise(label)) else {
        let (name, label) = (ty.to_string(), label.to_owned());
        return (Err(Cause::UnknownLabel { name, label }), Vec::new());
    };
    let named = name::find(label, alike.iter().collect(), |message| message.label.as_str());
    let compared = named.iter().filter_map(|message| {
        Some((carries(own, (is_here, is_open), message, file)?, (*message).clone()))
    });
    let is_exact = |message: &Message| {
        let types = fields.unwrap_or_default().iter().map(|ty| text(ty.to_token_stream()));
        types.map(Some).eq(message.payload.iter().map(|sort| rust_type(sort, file).map(|it| it.0)))
    };
    match compared.min_by_key(|(checks, message)| (checks.len(), !is_exact(message))) {
        Some((checks, message)) => (Ok(message), checks),
        None => {
            let types = |of: &[Type]| of.iter().map(|ty| text(ty.to_token_stream())).collect();
            let carried = fields.map(types);
            let (name, messages) = (ty.to_string(), named.into_iter().cloned().collect());
            (Err(Cause::OtherPayload { name, carried, messages }), Vec::new())
        }
    }
}

/// The types that rustc has to compare. `None` if a label certainly has another payload.
fn carries(
    (_, ty, fields): Written<'_>,
    (is_here, is_open): (bool, bool),
    message: &Message,
    file: &ScrFile,
) -> Option<Vec<PayloadCheck>> {
    let itself = ty.to_string();
    let Some(fields) = fields else {
        // A type from outside may carry anything.
        let is_unknown = !is_here && !PRIMITIVES.contains(&&*itself);
        return (is_unknown || is_payload(ty, message, file)).then(Vec::new);
    };
    if is_payload(ty, message, file) {
        return Some(Vec::new());
    }
    if fields.len() != message.payload.len() {
        return None;
    }
    let mut checks = Vec::new();
    for (field, (ty, sort)) in fields.iter().zip(&message.payload).enumerate() {
        if let Some((protocol, role)) = sort.as_str().split_once('@') {
            // A protocol of another module has a qualified name.
            let protocol = protocol.rsplit('.').next().unwrap_or_default().to_owned();
            let expected = Expected::Session { protocol, role: role.to_owned() };
            checks.push(PayloadCheck { label: itself.clone(), field, expected });
            continue;
        }
        let Some((declared, tokens)) = rust_type(sort, file) else { continue };
        let own = text(ty.to_token_stream());
        let is_plain = |text: &str| PRIMITIVES.contains(&text);
        // The module may give a name another meaning, but not an absolute path.
        let is_elsewhere = tokens.as_ref().is_some_and(|tokens| {
            let first = tokens.clone().into_iter().next().map(|tree| tree.to_string());
            let is_root = first.is_some_and(|it| ["alloc", "core", "crate", "std"].contains(&&*it));
            is_root && tokens.to_string() != ty.to_token_stream().to_string()
        });
        let may_differ = is_open && (is_plain(&own) || is_elsewhere);
        let expected = match tokens {
            _ if own == declared && !may_differ => continue,
            Some(tokens) if !is_plain(&own) || !is_plain(&declared) => tokens.to_string(),
            _ if own != declared && (is_plain(&own) || !is_name(ty)) => return None,
            None if is_plain(&declared) => standard(&declared),
            None => return None,
            Some(_) => standard(&own),
        };
        let expected = Expected::Type(expected);
        checks.push(PayloadCheck { label: itself.clone(), field, expected });
    }
    Some(checks)
}

/// True if a type is a name without arguments, which may be an alias.
fn is_name(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.qself.is_none()
        && path.path.segments.iter().all(|segment| segment.arguments.is_none()))
}

/// The absolute path of one of [`PRIMITIVES`].
fn standard(name: &str) -> String {
    match name {
        "String" => "::std::string::String".to_owned(),
        name => format!("::core::primitive::{name}"),
    }
}

/// True if a type is the only payload of the message: `order(Order)`.
fn is_payload(ty: &Ident, message: &Message, file: &ScrFile) -> bool {
    let [sort] = &message.payload[..] else { return false };
    rust_type(sort, file).is_some_and(|(declared, _)| *ty == declared)
}

/// The text and the declaration of a sort's Rust type. `None` if it is of another language.
fn rust_type(sort: &Sort, file: &ScrFile) -> Option<(String, Option<TokenStream>)> {
    let Some(declared) = file.module.modules.sort(sort.as_str()) else {
        return Some((sort.to_string(), None));
    };
    let external = declared.external.as_str().parse().ok();
    let tokens: TokenStream = external.filter(|_| declared.schema.as_str() == "rust")?;
    Some((text(tokens.clone()), Some(tokens)))
}

/// The text of a type without blanks and modules: `std::vec::Vec < u8 >` is `Vec<u8>`.
pub(crate) fn text(tokens: TokenStream) -> String {
    let spaced = tokens.to_string();
    let mut text = String::new();
    for word in spaced.split_whitespace() {
        // Words stay apart, as in `dyn Fn` and `&'a mut T`.
        if text.ends_with(is_of_name) && word.starts_with(is_of_name) {
            text.push(' ');
        }
        text.push_str(word);
    }
    let mut parts: Vec<&str> = text.split("::").collect();
    let last = parts.pop().unwrap_or_default();
    parts.iter().map(|part| part.trim_end_matches(is_of_name)).chain([last]).collect()
}

pub(crate) fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

impl Label<'_> {
    /// The mistake in the label, which is used at a place.
    pub(crate) fn fault(&self, used: Span) -> Option<Fault> {
        let cause = self.message.as_ref().err()?;
        let span = match cause {
            Cause::OtherPayload { .. } => {
                let first = self.fields.and_then(|fields| fields.first());
                first.map_or_else(|| self.ty.span(), Type::span)
            }
            _ => used,
        };
        Some(cause.clone().at(span))
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn types_as_text() {
        for (source, expected) in [
            ("std :: vec::Vec< u8 >", "Vec<u8>"),
            ("::std::collections::HashMap<a::B, (c::D, [u8; 4])>", "HashMap<B,(D,[u8;4])>"),
            ("Box<dyn Fn(i32) -> i32>", "Box<dyn Fn(i32)->i32>"),
            ("Box<dyn std::fmt::Debug>", "Box<dyn Debug>"),
            ("&'static str", "&'static str"),
            ("()", "()"),
        ] {
            assert_eq!(text(source.parse().unwrap()), expected);
        }
    }
}
