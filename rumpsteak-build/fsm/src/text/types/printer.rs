//! Machines into types: the machine is unfolded into a tree with ways back up.

use std::fmt::Write;

use super::parser::{BINARY_PEER, BINARY_ROLE};
use crate::machine::{Action, Fsm, StateId};
use crate::text::form::{Form, PrintError};
use crate::text::lexer::{is_name, sorts};

pub(in crate::text) fn print_local(machines: &[Fsm]) -> Result<String, PrintError> {
    let mut text = String::new();
    for (index, fsm) in machines.iter().enumerate() {
        let role = fsm.role();
        if !is_name(role.as_str()) {
            return Err(unquoted(Form::Local, fsm, "role", role.as_str()));
        }
        if machines[..index].iter().any(|other| other.role() == role) {
            let message = "there are two of this name, and a text of local types has one; rename or remove one";
            return Err(PrintError::new(Form::Local, role, message));
        }
        text.push_str(role.as_str());
        text.push_str(": ");
        print_type(Form::Local, fsm, &mut text)?;
        text.push('\n');
    }
    Ok(text)
}

/// Prints the only machine, if it uses no names.
pub(in crate::text) fn print_binary(machines: &[Fsm]) -> Result<String, PrintError> {
    let [fsm] = machines else {
        return Err(PrintError {
            form: Form::Binary,
            role: None,
            message: format!(
                "a binary type is one machine and these are {}; use local types",
                machines.len()
            ),
        });
    };
    let names =
        fsm.transitions().map(|transition| transition.action.peer.as_str()).chain([BINARY_PEER]);
    if fsm.role().as_str() != BINARY_ROLE || names.into_iter().any(|peer| peer != BINARY_PEER) {
        let message = format!(
            "a binary type has no names, so that its role is `{BINARY_ROLE}` and its only peer `{BINARY_PEER}`; use local types"
        );
        return Err(PrintError::new(Form::Binary, fsm.role(), message));
    }
    let mut text = String::new();
    print_type(Form::Binary, fsm, &mut text)?;
    text.push('\n');
    Ok(text)
}

fn unquoted(form: Form, fsm: &Fsm, kind: &str, name: &str) -> PrintError {
    let message = format!("the {kind} `{name}` is not made of letters, digits and `_`; use DOT");
    PrintError::new(form, fsm.role(), message)
}

fn print_type(form: Form, fsm: &Fsm, text: &mut String) -> Result<(), PrintError> {
    let places = unfold(form, fsm)?;
    let mut is_bound = vec![false; fsm.len()];
    for place in places.iter().filter(|place| place.is_bound) {
        is_bound[place.state.index()] = true;
    }
    // `x`, `x1`, `x2`, … in the order of the states.
    let mut names = vec![String::new(); fsm.len()];
    let bound = (0..fsm.len()).filter(|&state| is_bound[state]);
    for (number, state) in bound.enumerate() {
        names[state] = match number {
            0 => "x".to_owned(),
            _ => format!("x{number}"),
        };
    }

    /// The pieces that are still to be written, last first.
    enum Piece<'a> {
        Text(&'static str),
        Action(&'a Action),
        Next(Next),
    }
    let first = if places.is_empty() { Next::End } else { Next::Place(0) };
    let mut pieces = vec![Piece::Next(first)];
    while let Some(piece) = pieces.pop() {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Action(action) => print_action(form, fsm, action, text)?,
            Piece::Next(Next::End) => text.push_str("end"),
            Piece::Next(Next::Back(state)) => text.push_str(&names[state.index()]),
            Piece::Next(Next::Place(place)) => {
                let place = &places[place];
                if place.is_bound {
                    // Writing to a string does not fail.
                    let _ = write!(text, "rec {} . ", names[place.state.index()]);
                }
                let several = place.next.len() > 1;
                let start = pieces.len();
                let transitions = fsm.transitions_from(place.state).zip(&place.next);
                for (index, (transition, &next)) in transitions.enumerate() {
                    let before = match (several, index) {
                        (false, _) => "",
                        (true, 0) => "{",
                        (true, _) => ", ",
                    };
                    pieces.extend([
                        Piece::Text(before),
                        Piece::Action(transition.action),
                        Piece::Text("; "),
                        Piece::Next(next),
                    ]);
                }
                pieces.push(Piece::Text(if several { "}" } else { "" }));
                pieces[start..].reverse();
            }
        }
    }
    Ok(())
}

fn print_action(
    form: Form,
    fsm: &Fsm,
    action: &Action,
    text: &mut String,
) -> Result<(), PrintError> {
    let label = action.message.label.as_str();
    if !is_name(label) {
        return Err(unquoted(form, fsm, "label", label));
    }
    if form == Form::Local {
        let peer = action.peer.as_str();
        if !is_name(peer) {
            return Err(unquoted(form, fsm, "role", peer));
        }
        text.push_str(peer);
    }
    // Writing to a string does not fail.
    let _ = write!(text, "{}{label}", action.direction);
    if action.message.payload.is_empty() {
        return Ok(());
    }
    if form == Form::Binary {
        let message = format!(
            "a binary type has no sorts and `{}` carries some; use local types",
            action.message
        );
        return Err(PrintError::new(form, fsm.role(), message));
    }
    text.push_str(&payload(form, fsm, action)?);
    Ok(())
}

/// `<i32, u8>`; empty for no payload.
pub(in crate::text) fn payload(
    form: Form,
    fsm: &Fsm,
    action: &Action,
) -> Result<String, PrintError> {
    let sort_names = action.message.payload.iter().map(|sort| sort.as_str());
    for sort in sort_names.clone() {
        let alone = format!("<{sort}>");
        if sorts(&alone) != Ok((vec![sort], alone.len())) {
            let message = format!("the sort `{sort}` cannot stand between `<` and `>`; use DOT");
            return Err(PrintError::new(form, fsm.role(), message));
        }
    }
    let names: Vec<&str> = sort_names.collect();
    Ok(if names.is_empty() { String::new() } else { format!("<{}>", names.join(", ")) })
}

/// A place of a type: a state of the machine, reached in one way.
struct Place {
    state: StateId,
    /// True if a place below leads back to it.
    is_bound: bool,
    next: Vec<Next>,
}

#[derive(Clone, Copy)]
enum Next {
    End,
    /// To the place of this state above it.
    Back(StateId),
    Place(usize),
}

/// How many more places than states a type may have.
const MOST_COPIES: usize = 10_000;

/// The machine as a tree with ways back up. A state that several ways lead to is written once for
/// each:
///
/// ```text
///   0 ──b!a──▶ 1 ──b!c──▶ 0          rec x . {b!a; {b!c; x, b!stop; b?ok; end},
///   │          │                              b!stop; b?ok; end}
///   b!stop     b!stop
///   ▼          ▼
///   2 ◀────────┘ ──b?ok──▶ 3
/// ```
fn unfold(form: Form, fsm: &Fsm) -> Result<Vec<Place>, PrintError> {
    let refuse = |why: String| PrintError::new(form, fsm.role(), why + "; use DOT or CFSM text");
    let mut is_reached = vec![false; fsm.len()];
    fsm.reachable().for_each(|state| is_reached[state.index()] = true);
    if let Some(state) = fsm.states().find(|state| !is_reached[state.index()]) {
        let why = "a type has no state that nothing reaches: state";
        return Err(refuse(format!("{why} {state}")));
    }

    let mut places: Vec<Place> = vec![];
    // By state: its place on the way down to where the walk is.
    let mut above: Vec<Option<usize>> = vec![None; fsm.len()];
    let mut open = vec![];
    let enter = |state: StateId, places: &mut Vec<Place>, above: &mut [Option<usize>]| {
        above[state.index()] = Some(places.len());
        places.push(Place { state, is_bound: false, next: vec![] });
        (places.len() - 1, fsm.transitions_from(state))
    };
    if !fsm.is_terminal(fsm.initial()) {
        open.push(enter(fsm.initial(), &mut places, &mut above));
    }
    while let Some((place, transitions)) = open.last_mut() {
        let place = *place;
        let Some(transition) = transitions.next() else {
            above[places[place].state.index()] = None;
            open.pop();
            continue;
        };
        let target = transition.target;
        let next = if fsm.is_terminal(target) {
            Next::End
        } else if let Some(bound) = above[target.index()] {
            places[bound].is_bound = true;
            Next::Back(target)
        } else if places.len() >= fsm.len() + MOST_COPIES {
            return Err(refuse(format!(
                "a type writes a state once for each way to it, which would be more than {} states here",
                fsm.len() + MOST_COPIES
            )));
        } else {
            open.push(enter(target, &mut places, &mut above));
            Next::Place(places.len() - 1)
        };
        places[place].next.push(next);
    }
    Ok(places)
}
