//! A module of a protocol: what `#[protocol(Name)]` and `#[closed_system]` stand on.
//!
//! ```text
//! #[protocol(DoubleBuffering)]
//! mod double_buffering {
//!     use super::Frame;
//!
//!     #[session(K)]
//!     type Kernel = Send<S, Ready, Loop>;
//!     struct Loop(Receive<S, Value, Send<S, Ready, Receive<T, Ready, Send<T, Value, Self>>>>);
//! }
//! ```
//!
//! The module is cut into items by their brackets and semicolons, so that an item with a mistake
//! costs one error and no other item. An item is one of ours if an attribute or a derive says so,
//! or if a session names it:
//!
//! * a struct with `#[derive(Role)]`, a struct with `#[derive(Roles)]`, an enum or a struct with
//!   `#[derive(Message)]`;
//! * an item with `#[session]` or `#[session(K)]`, and every `type`, `struct` and `enum` that such
//!   an item goes on as; so the parts of a session need no attribute. So is a `type` or a struct
//!   that begins with a word of sessions and `<`;
//! * all other structs and enums may be labels;
//! * everything else stays as it is.

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Error, Result, Visibility};

use crate::arguments::Arguments;
use crate::label::LabelItem;
use crate::message::MessageItem;
use crate::role::RoleItem;
use crate::session::SessionItem;
use crate::set::SetItem;

/// The attribute of a module.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ModuleKind {
    /// `#[closed_system]`.
    ClosedSystem,
    /// `#[protocol(…)]`.
    Protocol,
}

/// A module of a protocol.
pub struct Module {
    /// The attribute.
    pub kind: ModuleKind,
    /// The arguments of the attribute.
    pub arguments: Arguments,
    /// The other attributes of the module.
    pub attributes: Vec<Attribute>,
    /// The visibility of the module.
    pub visibility: Visibility,
    /// The name of the module.
    pub name: Ident,
    /// The items, in the order of the source.
    pub items: Vec<Item>,
    /// The mistakes in items, in the order of the source.
    pub errors: Vec<Error>,
    /// The hash of all tokens of the attribute and of the module, without documentation.
    pub hash: u64,
}

impl Module {
    /// Parses the arguments of the attribute, without the parentheses, and the module that it
    /// stands on.
    ///
    /// Mistakes inside items are in [`Module::errors`].
    ///
    /// # Errors
    ///
    /// If the arguments are wrong, or if the item is no module with braces.
    pub fn parse(_kind: ModuleKind, arguments: TokenStream, _item: TokenStream) -> Result<Self> {
        Err(Error::new_spanned(arguments, "not yet"))
    }
}

/// An item of a module.
pub enum Item {
    /// An item with a mistake, which is among [`Module::errors`].
    Broken(BrokenItem),
    /// A struct or an enum that may be a label.
    Label(LabelItem),
    /// A message type.
    Message(MessageItem),
    /// Any other item, as it stands.
    Other(TokenStream),
    /// A role.
    Role(RoleItem),
    /// A session, or a part of one.
    Session(SessionItem),
    /// A set of roles.
    Set(SetItem),
    /// A `use` declaration, as it stands.
    Use(TokenStream),
}

/// An item of ours with a mistake: what takes its place, so that rustc has nothing to follow up.
pub struct BrokenItem {
    /// The name, if there is one.
    pub name: Option<Ident>,
    /// What it was to be.
    pub kind: ItemKind,
}

/// What an item is to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ItemKind {
    /// A struct or an enum that may be a label.
    Label,
    /// A message type.
    Message,
    /// Anything else.
    Other,
    /// A role.
    Role,
    /// A session, or a part of one.
    Session,
    /// A set of roles.
    Set,
}
