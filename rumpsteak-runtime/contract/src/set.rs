//! What a set of roles says that is verified as a whole.
//!
//! ```text
//! #[derive(Roles)]
//! #[system(kmc)]                        no protocol: the sessions of these roles are checked together
//! struct Roles { s: S, k: K, t: T }
//! ```
//!
//! A set has a key to the verdict file as role structs have: of its attributes, `system` counts, all others are dropped.

use crate::error::{Error, Result};
use crate::parser::{Parser, Path};
use crate::token::{Delimiter, Flat, Ident, Key, Span, Token};

/// The attributes that are part of a set's key.
pub const SET_ATTRIBUTES: [&str; 1] = ["system"];

/// A `#[derive(Roles)]` struct with `#[system(kmc)]`.
#[derive(Clone, Debug)]
pub struct SetItem {
    /// The name of the struct.
    pub name: Ident,
    /// The index of the token that is the name.
    pub name_token: usize,
    /// The types of the fields, which are roles.
    pub roles: Vec<Path>,
    /// The canonical tokens.
    key: Key,
}

impl SetItem {
    /// Parses the input of `#[derive(Roles)]`: nothing if there is no `#[system(…)]`.
    ///
    /// # Errors
    ///
    /// At the first token that does not fit, with what is expected there.
    pub fn parse(item: &[Token<'_>]) -> Result<Option<Self>> {
        let flat = Flat::new(item, &SET_ATTRIBUTES);
        let mut parser = Parser::new(&flat.tokens);
        let mut is_system = false;
        while parser.at_punct('#') {
            let attribute = parser.attribute_start()?;
            if is_system {
                return Err(Error::new(
                    attribute.span(),
                    "`#[system(…)]` stands here twice",
                ));
            }
            let method = parser.ident(EXPECTED)?;
            if method != "kmc" {
                return Err(Error::new(method.span(), EXPECTED));
            }
            parser.attribute_end()?;
            is_system = true;
        }
        if !is_system {
            return Ok(None);
        }
        parser.visibility();
        if !parser.eat_ident("struct") {
            return Err(parser.error("a set of roles is a struct"));
        }
        let name_token = parser.index();
        let name = parser.ident("expected the name of the struct")?;
        let named = parser.at_open(Delimiter::Brace);
        if named {
            parser.bump();
        } else {
            parser.open(Delimiter::Parenthesis, "expected the roles of the set")?;
        }
        let mut roles = Vec::new();
        while !parser.at_close() && !parser.at_end() {
            parser.visibility();
            if named {
                parser.ident("expected a field")?;
                parser.punct(':', "expected `:`")?;
            }
            roles.push(parser.path("expected a role")?);
            if !parser.eat_punct(',') {
                break;
            }
        }
        parser.close(
            "expected `,` or the end of the set: the type of a field is the name of a role",
        )?;
        Ok(Some(Self {
            name,
            name_token,
            roles,
            key: Key::of(&flat.tokens),
        }))
    }

    /// The hash of the canonical tokens: the key to the verdict on the set.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.key.hash()
    }

    /// The place of a token of the item, to report at; the struct's name where there is no such token.
    #[must_use]
    pub fn span_of(&self, token: usize) -> Span {
        self.key.span_of(token, &self.name)
    }
}

const EXPECTED: &str = "expected how the set is verified: `#[system(kmc)]`";
