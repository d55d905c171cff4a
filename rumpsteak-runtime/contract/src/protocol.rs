//! What `protocol!(…)` says.
//!
//! ```text
//! protocol!(DoubleBuffering);            mod double_buffering { … }
//! protocol!(pub DoubleBuffering);        pub mod double_buffering { … }
//! protocol!(P, crate = "rt");            the runtime is the crate `rt`
//! ```

use proc_macro2::{Ident, TokenStream};
use syn::Result;

use crate::canonical::{Canonical, Key};
use crate::name;
use crate::reader::Reader;

/// The arguments of a `protocol!(…)`.
#[derive(Clone, Debug)]
pub struct ProtocolItem {
    /// The protocol.
    pub name: Ident,
    /// The index of the token that is the name.
    pub name_token: usize,
    /// The attributes of the module.
    pub attributes: TokenStream,
    /// The visibility of the module.
    pub visibility: TokenStream,
    /// The path of the runtime's crate: that of `crate = "…"`, or `::rumpsteak_runtime`.
    pub krate: TokenStream,
    /// The key to the verdict on the call.
    pub key: Key,
}

impl ProtocolItem {
    /// Parses the arguments.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(arguments: TokenStream) -> Result<Self> {
        let canonical = Canonical::new(arguments, &[]);
        Reader::new(&canonical).whole(|reader| {
            let visibility = reader.visibility();
            let name_token = reader.index();
            let name = reader.ident(EXPECTED)?;
            reader.eat_punct(',');
            let krate = reader.runtime_or_default()?;
            reader.end(EXPECTED)?;
            Ok(Self {
                key: canonical.key(&name),
                name,
                name_token,
                attributes: canonical.attributes_before(0),
                visibility,
                krate,
            })
        })
    }

    /// Whether the module has a visibility, so that it is seen outside of the one that it is in.
    #[must_use]
    pub fn is_public(&self) -> bool {
        !self.visibility.is_empty()
    }

    /// The path of the runtime's crate as a text, the same from a file and from rustc.
    #[must_use]
    pub fn runtime(&self) -> String {
        self.krate.to_string().replace(' ', "")
    }

    /// The name of the module that the macro makes: that of the protocol in snake case.
    #[must_use]
    pub fn module(&self) -> String {
        name::snake(&self.name.to_string())
    }
}

const EXPECTED: &str = "expected the name of a protocol: `protocol!(DoubleBuffering);`";
