//! The parser.

pub(crate) mod ast;
mod body;
mod cursor;
mod lexer;
pub(crate) mod parser;
