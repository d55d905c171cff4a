//! Text to syntax trees, and back to text.

pub(crate) mod ast;
mod body;
mod cursor;
mod lexer;
pub(crate) mod parser;
mod print;
