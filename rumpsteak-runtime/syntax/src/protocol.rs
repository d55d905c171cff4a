//! What `protocol!(…)` says.
//!
//! ```text
//! protocol!(DoubleBuffering);            mod double_buffering { … }
//! protocol!(pub DoubleBuffering);        pub mod double_buffering { … }
//! ```

use proc_macro2::{Ident, Span, TokenStream};

use crate::error::Result;
use crate::name;
use crate::parser::Parser;
use crate::token::{self, Flat, Token};

/// The arguments of a `protocol!(…)`.
#[derive(Clone, Debug)]
pub struct ProtocolItem {
    /// The attributes of the module, doc comments among them.
    pub attributes: TokenStream,
    /// The visibility of the module; nothing where it is private.
    pub visibility: TokenStream,
    /// The protocol.
    pub name: Ident,
    /// The index of the token that is the name.
    pub name_token: usize,
    /// The canonical tokens.
    pub tokens: Vec<Token>,
}

impl ProtocolItem {
    /// Parses the arguments.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(arguments: TokenStream) -> Result<Self> {
        let flat = Flat::new(arguments, &[]);
        let attributes = flat
            .dropped
            .iter()
            .flat_map(|attribute| attribute.tokens.clone())
            .collect();
        let mut parser = Parser::new(&flat.tokens);
        let visibility = parser.visibility();
        let name_token = parser.index();
        let name = parser.ident(EXPECTED)?;
        if !parser.at_end() {
            return Err(parser.error(EXPECTED));
        }
        Ok(Self {
            attributes,
            visibility,
            name,
            name_token,
            tokens: flat.tokens,
        })
    }

    /// The name of the module that the macro makes: that of the protocol in snake case.
    #[must_use]
    pub fn module(&self) -> String {
        name::snake(&self.name.to_string())
    }

    /// Whether the module is seen outside of the one that it is in.
    #[must_use]
    pub fn is_public(&self) -> bool {
        !self.visibility.is_empty()
    }

    /// The hash of the canonical tokens: the key to the verdict.
    #[must_use]
    pub fn hash(&self) -> u64 {
        token::hash(&self.tokens)
    }

    /// The place of a token, to report at; that of the name where there is no such token.
    #[must_use]
    pub fn span_of(&self, token: usize) -> Span {
        token::span_of(&self.tokens, token, &self.name)
    }
}

const EXPECTED: &str = "expected the name of a protocol: `protocol!(DoubleBuffering);`";
