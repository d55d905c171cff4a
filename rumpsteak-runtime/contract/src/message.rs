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

use crate::reader::{Path, Reader, default_crate};
use crate::role::once;
use crate::token::{self, Canonical};

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
    /// The path of the runtime's crate: that of `#[rumpsteak(crate = "…")]`, or `::rumpsteak_runtime`.
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
        let canonical = Canonical::new(item, &MESSAGE_ATTRIBUTES)?;
        canonical.parse(|reader| {
            let start = reader.span();
            let (label, krate) = attributes(reader)?;
            let krate = krate.unwrap_or_else(default_crate);
            reader.visibility()?;
            let is_struct = reader.eat_ident("struct");
            if !is_struct {
                if label.is_some() {
                    return Err(Error::new(start, "`#[label(…)]` stands on a variant"));
                }
                if !reader.eat_ident("enum") {
                    return Err(reader.error(EXPECTED));
                }
            }
            let token = reader.index();
            let name = reader.ident("expected a name")?;
            let parameters = reader.generics()?;
            let variants = if is_struct {
                reader.rest()?;
                let payload = Path {
                    leading_colon: false,
                    segments: vec![name.clone()],
                    token,
                };
                vec![MessageVariant {
                    name: name.clone(),
                    label: label.unwrap_or_else(|| name.unraw().to_string()),
                    ty: payload.to_token_stream(),
                    payload: Some(payload),
                }]
            } else {
                let messages = ["expected the labels", "expected `,` or `}` after the label"];
                reader.group(Delimiter::Brace, messages, |inner| inner.list(variant))?
            };
            Ok(Self {
                name,
                is_struct,
                parameters,
                variants,
                krate,
            })
        })
    }
}

impl MessageVariant {
    /// The type that the variant carries, as [`token::type_text`] writes it.
    #[must_use]
    pub fn payload_text(&self) -> String {
        token::type_text(self.ty.clone())
    }
}

/// The types of a struct's fields, as [`token::type_text`] writes them; `None` if the item is no struct.
#[must_use]
pub fn field_types(item: TokenStream) -> Option<Vec<String>> {
    let fields = Canonical::new(item, &[]).ok()?.parse(|reader| {
        reader.visibility()?;
        if !reader.eat_ident("struct") {
            return Err(reader.error("expected a struct"));
        }
        reader.ident("expected a name")?;
        reader.generics()?;
        let fields = reader.fields("expected the fields", |_| Ok(()))?;
        reader.rest()?;
        Ok(fields)
    });
    let types = fields.ok()?.into_iter();
    Some(types.map(|field| token::type_text(field.ty)).collect())
}

fn variant(reader: Reader<'_>) -> Result<MessageVariant> {
    const ONE_TYPE: &str = "a label carries one type: `Ready(Ready)`";
    let (label, _) = attributes(reader)?;
    let name = reader.ident("expected a label: `Ready(Ready)`")?;
    let messages = [
        ONE_TYPE,
        "a label carries one type: put several values into a struct",
    ];
    let (token, ty) = reader.group(Delimiter::Parenthesis, messages, |inner| {
        inner.visibility()?;
        let (token, ty) = (inner.index(), inner.ty()?);
        inner.eat_punct(',');
        Ok((token, ty))
    })?;
    let payload = Path::of(ty.clone()).map(|path| Path { token, ..path });
    let label = label.unwrap_or_else(|| name.unraw().to_string());
    Ok(MessageVariant {
        name,
        label,
        payload,
        ty,
    })
}

/// The name in `#[label("…")]` and the path in `#[rumpsteak(crate = "…")]`, if they are there.
fn attributes(reader: Reader<'_>) -> Result<(Option<String>, Option<TokenStream>)> {
    const MESSAGE: &str = "expected the label's name in quotes: `#[label(\"value\")]`";
    let (mut label, mut krate) = (None, None);
    while reader.at_punct('#') {
        reader.attribute(|attribute, arguments| {
            if attribute == "label" {
                once(&attribute, label.is_some())?;
                label = Some(arguments.string(MESSAGE)?.value());
            } else {
                once(&attribute, krate.is_some())?;
                krate = Some(arguments.crate_path()?);
            }
            Ok(())
        })?;
    }
    Ok((label, krate))
}

const EXPECTED: &str =
    "expected an enum with one variant for each label, or a struct that is the only label";
