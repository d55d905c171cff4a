//! DOT: machines as Graphviz draws them.
//!
//! ```text
//! digraph k {                                the digraph's name is the role
//!   0; 1; 2; 3;                              the first node is the initial state
//!   0 -> 1 [label="s!ready", ];              `!` sends, `?` receives
//!   1 -> 2 [label="s?value(i32)"];           sorts in parentheses; `s?value(x: i32)` is the same
//!   2 -> 3 [label="t?ready()"];
//!   3 -> 0 [label="t!value(i32)"];
//! }                                          further digraphs make a system
//! ```
//!
//! Read tolerantly: names bare or quoted, attributes of any kind (only an edge's `label` has a
//! meaning, and the label `on demand` of the first node: see [`Fsm::on_demand`]), trailing commas
//! and semicolons, ports, chains `0 -> 1 -> 2`, comments `//`, `/* */` and `#`. Refused at its
//! place: undirected graphs, subgraphs, an edge without a label, a digraph without a name or a
//! node.
//!
//! A backslash in an action makes the next character part of the name (`a\!b!x` sends `x` to the
//! role `a!b`), on top of DOT's own escapes. So every machine whose roles have names can be printed
//! with [`print()`] and read back.

mod action;
mod lexer;
mod parser;
mod printer;

use super::{Form, ParseError, parse_named};
use crate::machine::Fsm;

pub(super) use self::parser::file;
pub use self::printer::{escape, print};

/// Reads the machines of a DOT text, in order.
///
/// ```
/// let source = r#"digraph k { 0 -> 1 [label="s!ready(i32)", ]; }"#;
/// let machines = rumpsteak_fsm::dot::parse(source).unwrap();
/// assert_eq!(machines[0].role().as_str(), "k");
/// assert_eq!(machines[0].transitions().next().unwrap().action.to_string(), "s!ready(i32)");
/// ```
///
/// # Errors
/// The first place that is invalid DOT or an invalid machine. Time and memory are linear in the
/// text.
pub fn parse(source: &str) -> Result<Vec<Fsm>, ParseError> {
    Ok(parse_named(source, Form::Dot)?.into_iter().map(|digraph| digraph.fsm).collect())
}
