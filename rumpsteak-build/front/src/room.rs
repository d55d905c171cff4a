//! The room of queues, as routes and modules declare it: `capacity = 4` or `unbounded`.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{LitInt, Result, Token};

use crate::attribute::{expect, ident, refuse};

/// The room of a queue.
#[derive(Clone, Copy)]
pub enum Room {
    /// `capacity = 4`, with the place of the number: a send waits for room.
    Capacity(usize, Span),
    /// `unbounded`: a send never waits for room.
    Unbounded,
}

impl Room {
    /// Parses the declaration after the peer of a route, if there is one.
    pub(crate) fn after_peer(input: ParseStream<'_>) -> Result<Option<Self>> {
        if !(input.peek(Token![,]) && input.peek2(Ident::peek_any)) {
            return Ok(None);
        }
        input.parse::<Token![,]>()?;
        let word = ident(input, EXPECTED_ROOM)?;
        match word.to_string().as_str() {
            "capacity" => Self::capacity(input).map(Some),
            "unbounded" => Ok(Some(Self::Unbounded)),
            _ => refuse(word.span(), EXPECTED_ROOM),
        }
    }

    /// Parses `= 4`.
    pub(crate) fn capacity(input: ParseStream<'_>) -> Result<Self> {
        expect::<Token![=]>(input, EXPECTED_CAPACITY)?;
        let place = input.span();
        match input.parse::<LitInt>().and_then(|literal| literal.base10_parse::<u32>()) {
            Ok(most @ 1..) => Ok(Self::Capacity(most as usize, place)),
            _ => refuse(place, EXPECTED_CAPACITY),
        }
    }
}

const EXPECTED_CAPACITY: &str =
    "expected the number of messages that a queue has room for, at least 1: `capacity = 4`";
const EXPECTED_ROOM: &str =
    "expected nothing more in this attribute, or after a comma `capacity = 4` or `unbounded`";
