//! Local and binary types.

mod parser;
mod printer;

pub(super) use self::parser::{parse_binary, parse_local};
pub(super) use self::printer::{payload, print_local, unquoted};
