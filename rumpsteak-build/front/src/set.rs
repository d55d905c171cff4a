//! Sets of roles.
//!
//! ```text
//! #[derive(Roles)]
//! struct Roles { s: S, k: K, t: T }
//! ```

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Error, Result, Visibility};

/// A `#[derive(Roles)]` struct.
#[derive(Clone)]
pub struct SetItem {
    /// The name of the struct.
    pub name: Ident,
    /// The attributes, without `Roles` in a derive.
    pub attributes: Vec<Attribute>,
    /// The visibility of the struct; `pub` if it is inherited.
    pub visibility: Visibility,
    /// The fields.
    pub fields: Vec<SetField>,
    /// True for a tuple struct.
    pub is_tuple: bool,
}

/// A field of a set.
#[derive(Clone)]
pub struct SetField {
    /// The name of the field; `None` in a tuple struct.
    pub name: Option<Ident>,
    /// The role.
    pub role: Ident,
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// The visibility of the field; `pub` if it is inherited.
    pub visibility: Visibility,
}

impl SetItem {
    /// Parses a set with its attributes.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(item: TokenStream) -> Result<Self> {
        Err(Error::new_spanned(item, "not yet"))
    }
}
