//! Roles.
//!
//! ```text
//! #[derive(Role)]
//! #[protocol(DoubleBuffering::k)]       the protocol, and the role in it
//! #[message(Label)]                     the enum of messages
//! struct K { #[route(S)] s: Channel }   the roles that it talks to
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Error, Result, Type, Visibility};

/// A `#[derive(Role)]` struct.
#[derive(Clone)]
pub struct RoleItem {
    /// The name of the struct.
    pub name: Ident,
    /// The attributes, without those of roles and without `Role` in a derive.
    pub attributes: Vec<Attribute>,
    /// The visibility of the struct; `pub` if it is inherited.
    pub visibility: Visibility,
    /// The role that the struct plays, if an attribute says so. Otherwise it plays the role of its
    /// name.
    pub link: Option<Link>,
    /// The message type in `#[message(…)]`, if it is there.
    pub message: Option<Ident>,
    /// The fields, in order. A role without fields is a unit struct.
    pub routes: Vec<Route>,
    /// True for a tuple struct.
    pub is_tuple: bool,
}

/// The role of a protocol that a struct plays.
#[derive(Clone)]
pub struct Link {
    /// The protocol in `#[protocol(…)]`; `None` for `#[role("…")]` alone.
    pub protocol: Option<Ident>,
    /// The name of the role: that in `#[protocol(P::k)]` or `#[role("k")]`, or that of the struct.
    pub role: String,
    /// The place that names the role.
    pub span: Span,
}

/// A field with its `#[route(…)]`.
#[derive(Clone)]
pub struct Route {
    /// The role at the other end.
    pub peer: Ident,
    /// The name of the field; `None` in a tuple struct.
    pub field: Option<Ident>,
    /// The position of the field.
    pub index: usize,
    /// The type of the field.
    pub ty: Type,
    /// The attributes, without `#[route(…)]`.
    pub attributes: Vec<Attribute>,
    /// The visibility of the field; `pub` if it is inherited.
    pub visibility: Visibility,
}

impl RoleItem {
    /// Parses a role with its attributes.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(item: TokenStream) -> Result<Self> {
        Err(Error::new_spanned(item, "not yet"))
    }
}
