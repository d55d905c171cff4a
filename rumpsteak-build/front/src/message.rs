//! Message types.
//!
//! ```text
//! #[derive(Message)]
//! enum Label { Ready(Ready), #[label("value")] Item(Value) }
//! ```

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Error, Result, Type, Visibility};

use crate::label::LabelItem;

/// A `#[derive(Message)]` enum, or a struct that is its own only label.
#[derive(Clone)]
pub struct MessageItem {
    /// The name of the enum or struct.
    pub name: Ident,
    /// The attributes, without `Message` in a derive and without `#[label(…)]`.
    pub attributes: Vec<Attribute>,
    /// The visibility; `pub` if it is inherited.
    pub visibility: Visibility,
    /// True for a struct.
    pub is_struct: bool,
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
    /// The name of the label: that of `#[label("…")]`, or that of the variant or struct.
    pub label: String,
    /// The type that the variant carries.
    pub ty: Type,
    /// The type, if it is a bare identifier.
    pub ident: Option<Ident>,
}

impl MessageItem {
    /// Parses a message type with its attributes.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(item: TokenStream) -> Result<Self> {
        Err(Error::new_spanned(item, "not yet"))
    }
}
