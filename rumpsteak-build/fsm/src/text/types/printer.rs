//! Machines into types: a depth-first walk that finds a tree with ways back up, or says that there is none.

use std::fmt::Write;

use super::parser::{BINARY_PEER, BINARY_ROLE};
use crate::{
    machine::{Action, Fsm, StateId},
    text::{
        error::Unsayable,
        form::Form,
        lexer::{is_name, sorts},
    },
};

/// One line for each machine.
pub(in crate::text) fn print_local(machines: &[Fsm]) -> Result<String, Unsayable> {
    let mut text = String::new();
    for (index, fsm) in machines.iter().enumerate() {
        let role = fsm.role();
        if !is_name(role.as_str()) {
            return Err(unquoted(Form::Local, fsm, "role", role.as_str()));
        }
        if machines[..index].iter().any(|other| other.role() == role) {
            let message = "there are two of this name, and a text of local types has one; rename or remove one";
            return Err(Unsayable::new(Form::Local, role, message));
        }
        text.push_str(role.as_str());
        text.push_str(": ");
        print_type(Form::Local, fsm, &mut text)?;
        text.push('\n');
    }
    Ok(text)
}

/// The only machine, if it speaks of nobody by name.
pub(in crate::text) fn print_binary(machines: &[Fsm]) -> Result<String, Unsayable> {
    let [fsm] = machines else {
        return Err(Unsayable {
            form: Form::Binary,
            role: None,
            message: format!(
                "a binary type is one machine and these are {}; use local types",
                machines.len()
            ),
        });
    };
    let names = fsm
        .transitions()
        .map(|transition| transition.action.peer.as_str())
        .chain([BINARY_PEER]);
    if fsm.role().as_str() != BINARY_ROLE || names.into_iter().any(|peer| peer != BINARY_PEER) {
        let message = format!(
            "a binary type has no names, so that its role is `{BINARY_ROLE}` and its only peer `{BINARY_PEER}`; use local types"
        );
        return Err(Unsayable::new(Form::Binary, fsm.role(), message));
    }
    let mut text = String::new();
    print_type(Form::Binary, fsm, &mut text)?;
    text.push('\n');
    Ok(text)
}

fn unquoted(form: Form, fsm: &Fsm, kind: &str, name: &str) -> Unsayable {
    let message = format!("the {kind} `{name}` is not made of letters, digits and `_`; use DOT");
    Unsayable::new(form, fsm.role(), message)
}

fn print_type(form: Form, fsm: &Fsm, text: &mut String) -> Result<(), Unsayable> {
    let mut variables = Variables::of(form, fsm)?;

    /// What is still to be written, last first.
    enum Piece<'a> {
        Text(&'static str),
        Action(&'a Action),
        State(StateId),
    }
    let mut pieces = vec![Piece::State(fsm.initial())];
    while let Some(piece) = pieces.pop() {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Action(action) => print_action(form, fsm, action, text)?,
            Piece::State(state) => {
                if fsm.is_terminal(state) {
                    text.push_str("end");
                    continue;
                }
                if variables.is_written[state.index()] {
                    variables.name(state, text);
                    continue;
                }
                variables.is_written[state.index()] = true;
                if variables.number[state.index()].is_some() {
                    text.push_str("rec ");
                    variables.name(state, text);
                    text.push_str(" . ");
                }
                let several = fsm.transitions_from(state).nth(1).is_some();
                let start = pieces.len();
                for (index, transition) in fsm.transitions_from(state).enumerate() {
                    let before = match (several, index) {
                        (false, _) => "",
                        (true, 0) => "{",
                        (true, _) => ", ",
                    };
                    pieces.extend([
                        Piece::Text(before),
                        Piece::Action(transition.action),
                        Piece::Text("; "),
                        Piece::State(transition.target),
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
) -> Result<(), Unsayable> {
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
        return Err(Unsayable::new(form, fsm.role(), message));
    }
    text.push_str(&payload(form, fsm, action)?);
    Ok(())
}

/// `<i32, u8>`; empty for no payload.
pub(in crate::text) fn payload(
    form: Form,
    fsm: &Fsm,
    action: &Action,
) -> Result<String, Unsayable> {
    let sort_names = action.message.payload.iter().map(|sort| sort.as_str());
    for sort in sort_names.clone() {
        let alone = format!("<{sort}>");
        if sorts(&alone) != Ok((vec![sort], alone.len())) {
            let message = format!("the sort `{sort}` cannot stand between `<` and `>`; use DOT");
            return Err(Unsayable::new(form, fsm.role(), message));
        }
    }
    let names: Vec<&str> = sort_names.collect();
    Ok(match names.is_empty() {
        true => String::new(),
        false => format!("<{}>", names.join(", ")),
    })
}

/// Which states are led back to, and what they are called.
struct Variables {
    /// By state: its variable's number, if something below it leads back.
    number: Vec<Option<usize>>,
    is_written: Vec<bool>,
}

impl Variables {
    /// Finds the ways back, or a state that a type cannot say.
    fn of(form: Form, fsm: &Fsm) -> Result<Self, Unsayable> {
        #[derive(Clone, Copy, PartialEq)]
        enum Visit {
            Not,
            /// Its type is being read: a transition to it is a variable.
            Open,
            Done,
        }
        let refuse = |state: StateId, why: &str| {
            let message = format!("{why}: state {state}; use DOT or CFSM text");
            Unsayable::new(form, fsm.role(), message)
        };

        let mut visits = vec![Visit::Not; fsm.len()];
        let mut leads_back = vec![false; fsm.len()];
        let mut open = vec![(fsm.initial(), fsm.transitions_from(fsm.initial()))];
        visits[fsm.initial().index()] = Visit::Open;
        while let Some((state, rest)) = open.last_mut() {
            let Some(transition) = rest.next() else {
                visits[state.index()] = Visit::Done;
                open.pop();
                continue;
            };
            let target = transition.target;
            match visits[target.index()] {
                Visit::Open => leads_back[target.index()] = true,
                Visit::Done if !fsm.is_terminal(target) => {
                    return Err(refuse(target, "a type has no two ways to one state"));
                }
                Visit::Done => {}
                Visit::Not => {
                    visits[target.index()] = Visit::Open;
                    open.push((target, fsm.transitions_from(target)));
                }
            }
        }
        let unreached = fsm
            .states()
            .find(|state| visits[state.index()] == Visit::Not);
        if let Some(state) = unreached {
            return Err(refuse(state, "a type has no state that nothing reaches"));
        }

        let mut next = 0..;
        let number = leads_back
            .iter()
            .map(|&back| back.then(|| next.next()).flatten())
            .collect();
        Ok(Self {
            number,
            is_written: vec![false; fsm.len()],
        })
    }

    /// `x`, `x1`, `x2`, …
    fn name(&self, state: StateId, text: &mut String) {
        text.push('x');
        if let Some(number @ 1..) = self.number[state.index()] {
            // Writing to a string does not fail.
            let _ = write!(text, "{number}");
        }
    }
}
