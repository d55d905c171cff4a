//! Local and binary types.

mod parser;
mod printer;

pub(super) use self::{
    parser::{parse_binary, parse_local},
    printer::{payload, print_binary, print_local},
};

/// What the only machine of a binary type is called.
const BINARY_ROLE: &str = "self";
/// What the peer of a binary type is called.
const BINARY_PEER: &str = "peer";
