//! What a message enum says.
//!
//! ```text
//! #[derive(Message)]
//! enum Label { Ready(Ready), #[label("value")] Item(Value) }
//! ```

use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::{Error, Result};

use crate::canonical::{self, Canonical};
use crate::path::Path;
use crate::reader::{Reader, default_runtime, path_of};

/// The attributes that `#[derive(Message)]` reads.
pub const MESSAGE_ATTRIBUTES: [&str; 2] = ["label", "rumpsteak"];

/// A `#[derive(Message)]` enum, or a struct that is its own only label.
#[derive(Clone, Debug)]
pub struct MessageItem {
    /// The name of the enum or struct.
    pub name: Ident,
    /// Whether it is a struct.
    pub is_struct: bool,
    /// The place of the first generic parameter, if there is one.
    pub parameters: Option<Span>,
    /// The labels, in order. Of a struct it is one, which carries the struct itself.
    pub variants: Vec<MessageVariant>,
    /// The path of the runtime's crate: that of `#[rumpsteak(crate = "…")]`, or
    /// `::rumpsteak_runtime`.
    pub krate: TokenStream,
}

/// One label of a message enum.
#[derive(Clone, Debug)]
pub struct MessageVariant {
    /// The name of the variant, or of the struct.
    pub name: Ident,
    /// The name of the label: that of `#[label("…")]`, or that of the variant or struct.
    pub label: String,
    /// The type that the variant carries, if it is a path without arguments.
    pub payload: Option<Path>,
    /// The type that the variant carries.
    pub ty: TokenStream,
}

impl MessageItem {
    /// Parses the input of `#[derive(Message)]`: the enum or struct with its attributes.
    ///
    /// The fields of a struct do not matter.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(item: TokenStream) -> Result<Self> {
        let canonical = Canonical::new(item, &MESSAGE_ATTRIBUTES);
        Reader::new(&canonical).whole(|reader| {
            let start = reader.span();
            let (label, krate) = attributes(reader)?;
            reader.visibility();
            let is_struct = reader.eat_ident("struct");
            if label.is_some() && !is_struct {
                return Err(Error::new(start, "`#[label(…)]` stands on a variant"));
            }
            if !is_struct && !reader.eat_ident("enum") {
                return Err(reader.error(EXPECTED));
            }
            let payload = reader.path("expected a name")?;
            let name = payload.last().clone();
            let parameters = reader.generics();
            let variants = if is_struct {
                reader.rest();
                vec![MessageVariant::new(
                    name.clone(),
                    label,
                    Some(payload.clone()),
                    payload.into_token_stream(),
                )]
            } else {
                let messages = ["expected the labels", "expected `,` or `}` after the label"];
                reader.group(Delimiter::Brace, messages, |inner| inner.list(variant))?
            };
            Ok(Self {
                name,
                is_struct,
                parameters,
                variants,
                krate: krate.unwrap_or_else(default_runtime),
            })
        })
    }
}

impl MessageVariant {
    fn new(name: Ident, label: Option<String>, payload: Option<Path>, ty: TokenStream) -> Self {
        Self { label: label.unwrap_or_else(|| name.unraw().to_string()), name, payload, ty }
    }
}

/// The type of a field.
#[derive(Clone, Debug)]
pub struct FieldType {
    /// The type as [`canonical::type_text`] writes it.
    pub text: String,
    /// The type as written.
    pub ty: TokenStream,
    /// What changes hands, if it is a session.
    pub delegated: Option<Delegated>,
    /// Whether it is that of a field with a name.
    pub is_named: bool,
}

/// A session that changes hands: `Detached<Rest<'static, K>>`, or `Detached<Root<'static>>`.
#[derive(Clone, Debug)]
pub struct Delegated {
    /// The state from which on it does.
    pub session: Path,
    /// The role, unless it is that of the session itself.
    pub role: Option<Path>,
}

impl FieldType {
    /// A type.
    pub fn new(ty: TokenStream) -> Self {
        let canonical = Canonical::new(ty.clone(), &[]);
        let delegated = Reader::new(&canonical).whole(delegated).ok();
        Self { text: canonical::type_text(ty.clone()), ty, delegated, is_named: false }
    }

    /// The type, if it is a path without arguments.
    pub fn path(&self) -> Option<Path> {
        path_of(self.ty.clone(), 0)
    }
}

/// A type with a session of the lifetime `'static` for its argument.
fn delegated(reader: &mut Reader<'_>) -> Result<Delegated> {
    reader.path("")?;
    reader.punct('<', "")?;
    let session = reader.path("")?;
    reader.punct('<', "")?;
    reader.punct('\'', "")?;
    if !reader.eat_ident("static") {
        return Err(reader.error(""));
    }
    let role = if reader.eat_punct(',') { Some(reader.path("")?) } else { None };
    reader.punct('>', "")?;
    reader.punct('>', "")?;
    Ok(Delegated { session, role })
}

/// The types of a struct's fields; `None` if the item is no struct.
pub fn field_types(item: TokenStream) -> Option<Vec<FieldType>> {
    let canonical = Canonical::new(item, &[]);
    let mut reader = Reader::new(&canonical);
    reader.visibility();
    if !reader.eat_ident("struct") {
        return None;
    }
    reader.ident("").ok()?;
    reader.generics();
    let fields = reader.fields("", |_| Ok(())).ok()?.into_iter();
    let types = fields.map(|field| {
        let is_named = field.name.is_some();
        FieldType { is_named, ..FieldType::new(field.ty) }
    });
    Some(types.collect())
}

/// What a `type` without parameters stands for. `None` for another item.
pub fn alias(item: TokenStream) -> Option<FieldType> {
    let canonical = Canonical::new(item, &[]);
    let mut reader = Reader::new(&canonical);
    reader.visibility();
    if !reader.eat_ident("type") {
        return None;
    }
    reader.ident("").ok()?;
    reader.punct('=', "").ok()?;
    Some(FieldType::new(reader.ty()))
}

fn variant(reader: &mut Reader<'_>) -> Result<MessageVariant> {
    const SEVERAL: &str = "a label carries one type: put several values into a struct; \
        if this is an option of a choice, the enum is a `#[session]`, and no message";
    let (label, _) = attributes(reader)?;
    let name = reader.ident("expected a label: `Ready(Ready)`")?;
    let one = format!("a label carries one type: `{name}({name})`, with a `struct {name}`");
    reader.group(Delimiter::Parenthesis, [&*one, SEVERAL], |inner| {
        inner.visibility();
        let (token, ty) = (inner.index(), inner.ty());
        inner.eat_punct(',');
        let payload = path_of(ty.clone(), token);
        Ok(MessageVariant::new(name, label, payload, ty))
    })
}

/// The name in `#[label("…")]` and the path in `#[rumpsteak(crate = "…")]`, if they are there.
fn attributes(reader: &mut Reader<'_>) -> Result<(Option<String>, Option<TokenStream>)> {
    const MESSAGE: &str = "expected the label's name in quotes: `#[label(\"value\")]`";
    let (mut label, mut krate) = (None, None);
    reader.attributes(|attribute, inner| {
        if attribute == "label" {
            inner.argument(attribute, &mut label, |inner| {
                inner.string(MESSAGE).map(|literal| literal.value())
            })
        } else {
            inner.runtime_argument(attribute, &mut krate)
        }
    })?;
    Ok((label, krate))
}

const EXPECTED: &str =
    "expected an enum with one variant for each label, or a struct that is the only label";
