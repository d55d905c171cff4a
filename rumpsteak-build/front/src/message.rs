//! Message types, and the labels that they carry.
//!
//! ```text
//! #[derive(Message)]
//! enum Label { Ready(Ready), #[label("value")] Item(Value) }
//! ```

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::{
    Attribute, Data, DeriveInput, Error, Fields, LitStr, Result, Type, Variant, parse_quote,
};

use crate::attribute::{
    argument, check_generics, derive_input, ensure, expect, first, refuse, take, take_derive,
};
use crate::name::same;
use crate::set::bare;

/// A `#[derive(Message)]` enum, or a struct that is its own only label.
#[derive(Clone)]
pub struct MessageItem {
    /// The name of the enum or struct.
    pub name: Ident,
    /// The labels, in order. A struct has one, which carries the struct itself.
    pub variants: Vec<MessageVariant>,
    /// The whole item as it is to be emitted: without the attributes of messages, and with `pub`
    /// for inherited visibilities.
    pub tokens: TokenStream,
    /// The struct as a label; `None` for an enum.
    pub label: Option<LabelItem>,
}

/// A label of a message type.
#[derive(Clone)]
pub struct MessageVariant {
    /// The name of the variant, or of the struct.
    pub name: Ident,
    /// The name of the label: the one in `#[label("…")]`, or the name of the variant or struct.
    pub label: String,
    /// The type that the variant carries.
    pub ty: Type,
    /// The type, if it is a bare identifier.
    pub ident: Option<Ident>,
}

impl MessageItem {
    /// Parses a message type with its attributes. An error is at the first token that does not fit.
    pub fn parse(item: TokenStream) -> Result<Self> {
        let mut input = derive_input(item, &["label"])?;
        check_generics(
            &input,
            "a message type has no parameters: the build script compares its labels with those of the protocol",
        )?;
        take_derive(&mut input.attrs, "Message");
        let (name, is_struct) = (input.ident.clone(), matches!(input.data, Data::Struct(_)));
        let label = label(&mut input.attrs, !is_struct)?;
        let variants = match &mut input.data {
            Data::Enum(data) => {
                data.variants.iter_mut().map(MessageVariant::parse).collect::<Result<Vec<_>>>()?
            }
            Data::Struct(_) => vec![MessageVariant::new(name.clone(), label, parse_quote!(#name))],
            Data::Union(data) => return refuse(data.union_token.span, EXPECTED),
        };
        ensure(!variants.is_empty(), name.span(), "expected at least one label: `Ready(Ready)`")?;
        for index in 0..variants.len() {
            check_label(&variants, index)?;
        }
        let label = LabelItem::new(input);
        let (tokens, label) = (label.tokens.clone(), is_struct.then_some(label));
        Ok(Self { name, variants, tokens, label })
    }
}

impl MessageVariant {
    fn new(name: Ident, label: Option<String>, ty: Type) -> Self {
        let label = label.unwrap_or_else(|| name.unraw().to_string());
        Self { name, label, ident: bare(&ty), ty }
    }

    fn parse(variant: &mut Variant) -> Result<Self> {
        let (label, name) = (label(&mut variant.attrs, false)?, variant.ident.clone());
        let mut fields = variant.fields.iter();
        match (&variant.fields, fields.next(), fields.next()) {
            (Fields::Unnamed(_), _, Some(second)) => refuse(first(&second.ty), SEVERAL),
            (Fields::Unnamed(_), Some(field), None) => Ok(Self::new(name, label, field.ty.clone())),
            _ => {
                let text =
                    format!("a label carries one type: `{name}({name})`, with a `struct {name}`");
                refuse(name.span(), text)
            }
        }
    }
}

/// Takes `#[label("…")]` out of the list, and returns the name in it.
fn label(attributes: &mut Vec<Attribute>, is_on_enum: bool) -> Result<Option<String>> {
    const MESSAGE: &str = "expected the label's name in quotes: `#[label(\"value\")]`";
    let mut label = None;
    for attribute in &take(attributes, &["label"]) {
        if is_on_enum {
            return Err(Error::new_spanned(attribute, "`#[label(…)]` stands on a variant"));
        }
        argument(attribute, &mut label, |input| expect::<LitStr>(input, MESSAGE))?;
    }
    Ok(label.map(|label| label.value()))
}

/// Refuses a label if an earlier one has its type, or its name with other case or `_`. Variants
/// with exactly one name are for several payloads, which the verifier compares.
fn check_label(all: &[MessageVariant], index: usize) -> Result<()> {
    let text = |variant: &MessageVariant| variant.ty.to_token_stream().to_string();
    let MessageVariant { name, label, ty, .. } = &all[index];
    let own = text(&all[index]);
    let mut earlier = all[..index].iter();
    let is_same = |it: &MessageVariant| same(&it.label, label) && it.label != *label;
    let Some(earlier) = earlier.find(|it| is_same(it) || text(it) == own) else {
        return Ok(());
    };
    ensure(!is_same(earlier), name.span(), format!("the label `{label}` exists already"))?;
    // A label with the name of its type has a struct, so the other labels probably have one, too.
    let is_copied = all.iter().any(|other| other.name == own);
    let others = all.iter().filter(|other| text(other) == own && other.name != own);
    let help = others.map(|MessageVariant { name, .. }| match is_copied {
        true => format!("\n      {name}({name}), and declare `struct {name}` if it is not there"),
        false => format!("\n      {name}({name}), with `struct {name}({own});`"),
    });
    let (label, help) = (&earlier.label, help.collect::<String>());
    let text = format!(
        "`{own}` already stands for the label `{label}`\n\nhelp: give each label a type of its own:{help}"
    );
    Err(Error::new_spanned(ty, text))
}

/// A struct or an enum that may be a label.
#[derive(Clone)]
pub struct LabelItem {
    /// The name.
    pub name: Ident,
    /// The attributes, as written.
    pub attributes: Vec<Attribute>,
    /// The types of the fields of a struct without parameters; `None` for another item, which
    /// carries itself.
    pub fields: Option<Vec<Type>>,
    /// The whole item with its attributes, where inherited visibilities, of the item and of the
    /// fields of a struct, are `pub`.
    pub tokens: TokenStream,
}

impl LabelItem {
    /// Parses a struct or an enum with its attributes. Attributes that may change it are errors.
    pub fn parse(item: TokenStream) -> Result<Self> {
        Ok(Self::new(derive_input(item, &[])?))
    }

    pub(crate) fn new(input: DeriveInput) -> Self {
        let fields = match &input.data {
            Data::Struct(data) if input.generics.params.is_empty() => {
                Some(data.fields.iter().map(|field| field.ty.clone()).collect())
            }
            _ => None,
        };
        let tokens = input.to_token_stream();
        Self { name: input.ident, attributes: input.attrs, fields, tokens }
    }
}

const EXPECTED: &str =
    "expected an enum with one variant for each label, or a struct that is the only label";
const SEVERAL: &str = "a label carries one type: put several values into a struct; \
                       if this is an option of a choice, the enum is a `#[session]`, not a message";
