//! The grammar of the modules that protocols live in: `#[protocol(…)] mod name { … }`.
//!
//! Two programs read these modules: the build script finds them in the package's files, and the
//! macros get their tokens from rustc. Both use this crate, so that they accept the same language.
//! [`cut`] finds the modules in a file and cuts a module into items; [`module`] parses them.
//!
//! The crate is pure: it reads no file and no environment variable.
//!
//! ```
//! use rumpsteak_front::module::Item;
//! use rumpsteak_front::{Module, cut};
//!
//! let file = "#[protocol(P)] mod p { #[session(K)] type Kernel = Send<S, Ready, End>; }";
//! let [(kind, arguments, item)] = &cut::modules(file.parse()?)[..] else { unreachable!() };
//! let module = Module::parse(*kind, arguments.clone(), item.clone())?;
//! assert!(module.errors.is_empty());
//! let [Item::Session(kernel)] = &module.items[..] else { unreachable!() };
//! assert_eq!(kernel.written(), "Send<S, Ready, End");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(missing_debug_implementations, reason = "syn's types have none without `extra-traits`")]

pub mod arguments;
mod attribute;
pub mod cut;
pub mod hash;
pub mod message;
pub mod module;
pub mod name;
pub mod role;
pub mod session;
pub mod set;

pub use arguments::Arguments;
pub use message::{LabelItem, MessageItem};
pub use module::{Module, ModuleKind};
pub use role::RoleItem;
pub use session::SessionItem;
pub use set::SetItem;
