//! Machines into types: the machine is unfolded into a tree with ways back up.

use hashbrown::HashSet;

use crate::machine::{Action, Fsm, StateId};
use crate::text::PrintError;
use crate::text::lexer::{is_name, sorts};

pub(in crate::text) fn print_local(machines: &[Fsm]) -> Result<String, PrintError> {
    let mut text = String::new();
    for (index, fsm) in machines.iter().enumerate() {
        let role = fsm.role();
        if !is_name(role.as_str()) {
            return Err(unquoted(fsm, "role", role.as_str()));
        }
        if machines[..index].iter().any(|other| other.role() == role) {
            let message = "there are two of this name, and a text of local types has one; rename or remove one";
            return Err(PrintError::new(role, message));
        }
        text += &format!("{role}: ");
        print_type(fsm, &mut text)?;
        text.push('\n');
    }
    Ok(text)
}

/// The error about a name that a form without quotes cannot express.
pub(in crate::text) fn unquoted(fsm: &Fsm, kind: &str, name: &str) -> PrintError {
    let message = format!("the {kind} `{name}` is not made of letters, digits and `_`; use DOT");
    PrintError::new(fsm.role(), message)
}

fn print_type(fsm: &Fsm, text: &mut String) -> Result<(), PrintError> {
    let pieces = unfold(fsm)?;
    let bound = |piece: &Piece<'_>| match *piece {
        Piece::Bind(state) => Some(state),
        _ => None,
    };
    let mut bound: Vec<StateId> = pieces.iter().filter_map(bound).collect();
    bound.sort_unstable();
    bound.dedup();
    // `x`, `x1`, `x2`, … in the order of the states.
    let name = |state: StateId| match bound.binary_search(&state) {
        Ok(number @ 1..) => format!("x{number}"),
        _ => "x".to_owned(),
    };
    for piece in pieces {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Action(action) => print_action(fsm, action, text)?,
            Piece::Bind(state) => text.push_str(&format!("rec {} . ", name(state))),
            Piece::Back(state) => text.push_str(&name(state)),
        }
    }
    Ok(())
}

fn print_action(fsm: &Fsm, action: &Action, text: &mut String) -> Result<(), PrintError> {
    let (peer, label) = (action.peer.as_str(), action.message.label.as_str());
    for (kind, name) in [("label", label), ("role", peer)] {
        if !is_name(name) {
            return Err(unquoted(fsm, kind, name));
        }
    }
    let payload = payload(fsm, action)?;
    text.push_str(&format!("{peer}{}{label}{payload}", action.direction));
    Ok(())
}

/// `<i32, u8>`; empty for no payload.
pub(in crate::text) fn payload(fsm: &Fsm, action: &Action) -> Result<String, PrintError> {
    let sort_names: Vec<&str> = action.message.payload.iter().map(|sort| sort.as_str()).collect();
    for &sort in &sort_names {
        let alone = format!("<{sort}>");
        if sorts(&alone) != Ok((vec![sort], alone.len())) {
            let message = format!("the sort `{sort}` cannot stand between `<` and `>`; use DOT");
            return Err(PrintError::new(fsm.role(), message));
        }
    }
    Ok(if sort_names.is_empty() { String::new() } else { format!("<{}>", sort_names.join(", ")) })
}

/// A piece of the text of a type.
enum Piece<'a> {
    Text(&'static str),
    Action(&'a Action),
    /// The beginning of the place of this state, to which a place below leads back.
    Bind(StateId),
    /// The way back to the place of this state.
    Back(StateId),
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
fn unfold(fsm: &Fsm) -> Result<Vec<Piece<'_>>, PrintError> {
    let refuse = |why: String| PrintError::new(fsm.role(), why + "; use DOT or CFSM text");
    let reached: HashSet<StateId> = fsm.reachable().collect();
    if let Some(state) = fsm.states().find(|state| !reached.contains(state)) {
        let why = "a type has no state that nothing reaches: state";
        return Err(refuse(format!("{why} {state}")));
    }

    let mut pieces = vec![];
    let mut places = 0;
    // By state: the first piece of its place on the way down to where the walk is.
    let mut above: Vec<Option<usize>> = vec![None; fsm.len()];
    let (mut entered, mut open) = (Some(fsm.initial()), vec![]);
    loop {
        if let Some(state) = entered.take() {
            if fsm.is_terminal(state) {
                pieces.push(Piece::Text("end"));
            } else if let Some(first) = above[state.index()] {
                pieces[first] = Piece::Bind(state);
                pieces.push(Piece::Back(state));
            } else if places >= fsm.len() + MOST_COPIES {
                return Err(refuse(format!(
                    "a type writes a state once for each way to it, which would be more than {places} states here"
                )));
            } else {
                places += 1;
                above[state.index()] = Some(pieces.len());
                let several = fsm.transitions_from(state).nth(1).is_some();
                pieces.extend([Piece::Text(""), Piece::Text(if several { "{" } else { "" })]);
                open.push((state, several, fsm.transitions_from(state).enumerate()));
            }
        }
        let Some((state, several, transitions)) = open.last_mut() else { return Ok(pieces) };
        if let Some((number, transition)) = transitions.next() {
            let before = if number == 0 { "" } else { ", " };
            let action = Piece::Action(transition.action);
            pieces.extend([Piece::Text(before), action, Piece::Text("; ")]);
            entered = Some(transition.target);
        } else {
            pieces.push(Piece::Text(if *several { "}" } else { "" }));
            above[state.index()] = None;
            open.pop();
        }
    }
}
