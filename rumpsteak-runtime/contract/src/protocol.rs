//! What `protocol!(…)` says.
//!
//! ```text
//! protocol!(DoubleBuffering);            mod double_buffering { … }
//! protocol!(pub DoubleBuffering);        pub mod double_buffering { … }
//! ```

use crate::error::Result;
use crate::name;
use crate::parser::Parser;
use crate::token::{Flat, Ident, Key, Span, Token};

/// The arguments of a `protocol!(…)`.
#[derive(Clone, Debug)]
pub struct ProtocolItem {
    /// Whether the module has a visibility, so that it is seen outside of the one that it is in.
    pub is_public: bool,
    /// The protocol.
    pub name: Ident,
    /// The index of the token that is the name.
    pub name_token: usize,
    /// The canonical tokens.
    key: Key,
}

impl ProtocolItem {
    /// Parses the arguments.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(arguments: &[Token<'_>]) -> Result<Self> {
        let flat = Flat::new(arguments, &[]);
        let mut parser = Parser::new(&flat.tokens);
        let is_public = parser.visibility();
        let name_token = parser.index();
        let name = parser.ident(EXPECTED)?;
        if !parser.at_end() {
            return Err(parser.error(EXPECTED));
        }
        Ok(Self {
            is_public,
            name,
            name_token,
            key: Key::of(&flat.tokens),
        })
    }

    /// The name of the module that the macro makes: that of the protocol in snake case.
    #[must_use]
    pub fn module(&self) -> String {
        name::snake(&self.name.to_string())
    }

    /// The hash of the canonical tokens: the key to the verdict.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.key.hash()
    }

    /// The place of a token, to report at; that of the name where there is no such token.
    #[must_use]
    pub fn span_of(&self, token: usize) -> Span {
        self.key.span_of(token, &self.name)
    }
}

const EXPECTED: &str = "expected the name of a protocol: `protocol!(DoubleBuffering);`";
