//! The grammar of session aliases in Rust source, and the verdicts that the build script hands to the macros.
//!
//! Two programs read the same source: the build script walks the package's files, and the attribute macros see the
//! tokens that rustc gives them. Whatever both must agree on is in this crate, so that they accept exactly the same
//! language and give every item the same key:
//!
//! * [`lex`](mod@lex): a text as tokens;
//! * [`token`]: an item as a flat list of numbered tokens, and the hash of that list;
//! * [`session`]: `#[session]` aliases, structs and choices as chains of actions;
//! * [`role`]: the parts of a `#[derive(Role)]` struct and of a `#[derive(Message)]` enum that name things;
//! * [`protocol`]: what `protocol!(…)` says;
//! * [`set`]: a set of roles that is verified as a whole;
//! * [`name`]: when a Scribble name and a Rust name are the same name;
//! * [`verdict`]: the file in `OUT_DIR` through which the build script answers the macros.
//!
//! The crate is pure: it reads no file, no environment variable and no span position.
//!
//! ```
//! use rumpsteak_contract::lex::lex;
//! use rumpsteak_contract::session::{Form, SessionItem, Tail};
//!
//! let [role, item] = ["K", "type Kernel = Send<S, Ready, KernelLoop>;"].map(lex).map(Option::unwrap_or_default);
//! let item = SessionItem::parse(&role, &item)?;
//! assert_eq!(item.name, "Kernel");
//! let Form::Alias(chain) = &item.form else { unreachable!() };
//! assert_eq!(chain.actions[0].label.to_string(), "Ready");
//! assert!(matches!(&chain.tail, Tail::Named(path) if path.to_string() == "KernelLoop"));
//! # Ok::<(), rumpsteak_contract::Error>(())
//! ```

mod error;
pub mod lex;
#[cfg(feature = "quote")]
mod macros;
pub mod name;
mod parser;
pub mod protocol;
pub mod role;
pub mod session;
pub mod set;
pub mod token;
pub mod verdict;

pub use error::{Error, Result};
#[cfg(feature = "quote")]
pub use macros::Input;
pub use protocol::ProtocolItem;
pub use role::{MessageItem, RoleItem};
pub use session::{Path, SessionItem};
pub use set::SetItem;
pub use verdict::Verdicts;

/// The version of this crate: verdicts written by another version are refused.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
