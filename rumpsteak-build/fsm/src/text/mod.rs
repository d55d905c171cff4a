//! The text forms of machines.
//!
//! | form | says | does not say |
//! |---|---|---|
//! | [DOT](crate::dot) | everything | |
//! | [local types](Form::Local) | roles, labels, sorts | joins, unreached states |
//! | [CFSM text](Form::Cfsm) | roles by number, labels, sorts, any graph | roles that do nothing |
//! | [binary types](Form::Binary) | labels; read only | as local types, and names of roles, sorts |
//! | [Mermaid](Form::Mermaid), [SVG](Form::Svg) | everything, for readers only | |
//!
//! [`print()`] refuses what a form cannot say, with the form that can; [`parse`] guesses nothing.
//!
//! # Local types, one per participant
//!
//! ```text
//! A: rec X . {B!a<i32>; X, B!stop; end}   system ::= { NAME ":" type }
//! B: rec X . {A?a<i32>; X, A?stop; end}   type   ::= "rec" NAME "." type | NAME | "end" | action | choice
//!                                         action ::= NAME ("!"|"?") label ";" type
//! -- to the end of the line               label  ::= NAME [ "<" SORT { "," SORT } ">" ]
//! /* nested */                            choice ::= ["+"|"&"] ( "{" type { "," type } "}" | "[" … "]" )
//! ```
//!
//! A `NAME` is made of letters, digits and `_`; a `SORT` is any text whose brackets match. A branch
//! of a choice is an action or a choice. All `end`s are one state of the machine. Every other place
//! is a state of its own, so a state that several ways lead to is printed once for each way.
//!
//! # Binary types
//!
//! The same without participants, sorts and a name: `rec X . &[?a; !x; X, ?b; end]`. The machine is
//! called `self` and its only peer `peer`; the signs `&` and `+` and the kind of bracket say
//! nothing that the actions do not.
//!
//! # CFSM text
//!
//! ```text
//! --@role k              optional: the name of participant 0, otherwise `0`
//! .outputs
//! .state graph
//! q0 1 ! ready q1        source, number of the peer, direction, label with sorts, target
//! q1 1 ? value<i32> q0
//! .marking q0            the initial state
//! .end                   the next machine is participant 1
//! ```

mod cfsm;
pub mod dot;
mod error;
mod form;
mod lexer;
mod mermaid;
mod named;
mod svg;
mod types;

use self::error::{Result, SpannedMessage};
use self::named::NamedBuilder;
use crate::machine::Fsm;

pub use self::error::ParseError;
pub use self::form::{Form, PrintError};
#[doc(hidden)]
pub use self::lexer::after_comment;
pub use self::named::Named;

/// Reads the machines of a text in any form.
///
/// ```
/// let machines = rumpsteak_fsm::text::parse("A: rec X . {B!a<i32>; X, B!stop; end}").unwrap();
/// assert_eq!(format!("{:?}", machines[0]), "A: 2 states from 0, 0 -B!a(i32)-> 0, 0 -B!stop-> 1");
/// ```
///
/// # Errors
/// The first place that is not in the form that the text begins in. Time and memory are linear in
/// the text, and no depth of nesting is too deep.
pub fn parse(source: &str) -> Result<Vec<Fsm>, ParseError> {
    Ok(parse_named(source, Form::detect(source))?.into_iter().map(|named| named.fsm).collect())
}

/// Reads the machines of a text in this form, with the names of states and the places of
/// transitions.
///
/// # Errors
/// As [`parse`].
pub fn parse_named(source: &str, form: Form) -> Result<Vec<Named>, ParseError> {
    let machines = match form {
        Form::Binary => types::parse_binary(source),
        Form::Cfsm => cfsm::parse(source),
        Form::Dot => dot::file(source),
        Form::Local => types::parse_local(source),
        Form::Mermaid | Form::Svg => {
            let message = format!("{form} is printed and not read; keep the machines in DOT");
            Err(SpannedMessage::new(0..source.len(), message))
        }
    };
    machines.map_err(|problem| ParseError::new(source, problem))
}

/// Writes machines in a form. Reading the text back gives machines that are equal up to the order
/// of states and transitions; local types join all terminal states, and split a state that several
/// ways lead to.
///
/// # Errors
/// The part that the form cannot express, and a form that can.
pub fn print(form: Form, machines: &[Fsm]) -> Result<String, PrintError> {
    if !matches!(form, Form::Dot | Form::Mermaid | Form::Svg)
        && let Some(fsm) = machines.iter().find(|of| of.is_on_demand() || !of.late().is_empty())
    {
        let what = if fsm.is_on_demand() { "plays on demand" } else { "drops late messages" };
        let message = format!("it {what}, and the form cannot say that; use DOT");
        return Err(PrintError::new(fsm.role(), message));
    }
    match form {
        Form::Binary => Err(PrintError(format!("{form} is read and not printed; use local types"))),
        Form::Cfsm => cfsm::print(machines),
        Form::Dot => Ok(machines.iter().map(dot::print).collect()),
        Form::Local => types::print_local(machines),
        Form::Mermaid => Ok(mermaid::print(machines)),
        Form::Svg => Ok(svg::print(machines)),
    }
}
