//! The grammar of session aliases in Rust source, and the verdicts that the build script hands to
//! the macros.
//!
//! Two programs read the same source: the build script reads the package's files, and the macros
//! see the tokens that rustc gives them. Both use this crate, so that they accept the same language
//! and give every item the same key:
//!
//! * [`canonical`]: an item as a flat list of numbered tokens, and the hash of that list;
//! * [`session`]: `#[session]` aliases, structs and choices as chains of actions;
//! * [`role`], [`message`], [`set`]: the inputs of `#[derive(Role)]`, `#[derive(Message)]` and
//!   `#[derive(Roles)]`;
//! * [`protocol`]: the arguments of `protocol!(…)`;
//! * [`name`]: when a Scribble name and a Rust name are the same name;
//! * [`verdict`]: the file in `OUT_DIR` through which the build script answers the macros.
//!
//! The crate is pure: it reads no file and no environment variable.
//!
//! ```
//! use rumpsteak_contract::session::{Form, SessionItem, Tail};
//!
//! let item = SessionItem::parse("K".parse()?, "type Kernel = Send<S, Ready, KernelLoop>;".parse()?)?;
//! assert_eq!(item.name, "Kernel");
//! let Form::Alias(chain) = &item.form else { unreachable!() };
//! assert_eq!(chain.actions[0].label.to_string(), "Ready");
//! assert!(matches!(&chain.tail, Tail::Named(path) if path.to_string() == "KernelLoop"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod canonical;
pub mod message;
pub mod name;
mod path;
pub mod protocol;
mod reader;
pub mod role;
pub mod session;
pub mod set;
pub mod verdict;

pub use message::MessageItem;
pub use path::Path;
pub use protocol::ProtocolItem;
pub use reader::Angles;
pub use role::RoleItem;
pub use session::SessionItem;
pub use set::SetItem;
pub use verdict::Verdicts;
