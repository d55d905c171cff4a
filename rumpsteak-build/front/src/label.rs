//! Structs and enums that may be labels: each carries the types of its fields.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;
use syn::{Attribute, Data, DeriveInput, Result, Type};

use crate::attribute::derive_input;

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
