//! Structs and enums that may be labels: each carries what its fields have.

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Type};

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
