//! A machine as session types to paste.
//!
//! A state that several transitions lead to is a `struct`, so that it has a name; a choice is an
//! `enum`; all other states are written where they are reached. Names differ from those of the
//! protocol in their case only, as the build script expects it.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write,
};

use rumpsteak_fsm::{Direction, Fsm, StateId, Transition};

/// Deeper types are hard to read, and get a name in between.
const DEEPEST: usize = 6;

/// The items, the root first. Those of the first of several proposals have no number in their
/// names.
pub(super) fn print(fsm: &Fsm, number: usize) -> String {
    let role = rust_name(fsm.role().as_str());
    let number = match number {
        1 => String::new(),
        number => number.to_string(),
    };
    let mut printer = Printer {
        fsm,
        base: format!("Optimised{role}{number}"),
        names: BTreeMap::new(),
        work: VecDeque::new(),
        entered: entered(fsm),
        choices: 0,
        loops: 0,
        rests: 0,
    };
    let initial = fsm.initial();
    let mut text = format!("#[session({role})]\n");
    let root = printer.base.clone();
    if printer.entered[initial.index()] > 0 && !printer.chooses(initial) {
        printer.names.insert(initial, root.clone());
        let body = printer.body(initial, &root, 0);
        let _ = writeln!(text, "struct {root}({body});");
    } else {
        let body = printer.reference(initial, "", 0);
        let _ = writeln!(text, "type {root} = {body};");
    }
    while let Some(state) = printer.work.pop_front() {
        let name = printer.names[&state].clone();
        if printer.chooses(state) {
            let _ = write!(text, "\n#[session]\nenum {name} {{\n");
            for transition in printer.leaving(state) {
                let label = rust_name(transition.action.message.label.as_str());
                let rest = printer.reference(transition.target, "", 1);
                let _ = writeln!(text, "    {label}({label}, {rest}),");
            }
            text += "}\n";
        } else {
            let body = printer.body(state, &name, 0);
            let _ = write!(text, "\n#[session]\nstruct {name}({body});\n");
        }
    }
    text
}

struct Printer<'a> {
    fsm: &'a Fsm,
    base: String,
    /// The states that are items.
    names: BTreeMap<StateId, String>,
    /// Those of them that are still to be written.
    work: VecDeque<StateId>,
    /// How many transitions lead to each state.
    entered: Vec<usize>,
    choices: usize,
    loops: usize,
    rests: usize,
}

impl<'a> Printer<'a> {
    fn leaving(&self, state: StateId) -> Vec<Transition<'a>> {
        self.fsm.transitions_from(state).collect()
    }

    fn chooses(&self, state: StateId) -> bool {
        self.fsm.transitions_from(state).nth(1).is_some()
    }

    /// How `state` is written where it is reached, inside of the item called `own`.
    fn reference(&mut self, state: StateId, own: &str, depth: usize) -> String {
        if self.chooses(state) {
            let name = self.name(state, true);
            let first = self.leaving(state)[0].action;
            let peer = rust_name(first.peer.as_str());
            return match first.direction {
                Direction::Send => format!("Select<{peer}, {name}>"),
                Direction::Receive => format!("Branch<{peer}, {name}>"),
            };
        }
        if self.fsm.is_terminal(state) {
            return "End".to_owned();
        }
        if self.names.contains_key(&state) || self.entered[state.index()] > 1 || depth >= DEEPEST {
            let name = self.name(state, false);
            return if name == own { "Self".to_owned() } else { name };
        }
        self.body(state, own, depth)
    }

    /// The one action of `state`, and what follows.
    fn body(&mut self, state: StateId, own: &str, depth: usize) -> String {
        let Some(transition) = self.fsm.transitions_from(state).next() else {
            return "End".to_owned();
        };
        let action = transition.action;
        let constructor = match action.direction {
            Direction::Send => "Send",
            Direction::Receive => "Receive",
        };
        let peer = rust_name(action.peer.as_str());
        let label = rust_name(action.message.label.as_str());
        let rest = self.reference(transition.target, own, depth + 1);
        format!("{constructor}<{peer}, {label}, {rest}>")
    }

    fn name(&mut self, state: StateId, choice: bool) -> String {
        if let Some(name) = self.names.get(&state) {
            return name.clone();
        }
        let (kind, number) = if choice {
            ("Choice", &mut self.choices)
        } else if returns(self.fsm, state) {
            ("Loop", &mut self.loops)
        } else {
            ("Rest", &mut self.rests)
        };
        *number += 1;
        let number = match *number {
            1 => String::new(),
            number => number.to_string(),
        };
        let name = format!("{}{kind}{number}", self.base);
        self.names.insert(state, name.clone());
        self.work.push_back(state);
        name
    }
}

/// Whether a run can come back to `state`.
fn returns(fsm: &Fsm, state: StateId) -> bool {
    let mut seen = vec![false; fsm.len()];
    let mut work = vec![state];
    while let Some(from) = work.pop() {
        for transition in fsm.transitions_from(from) {
            if transition.target == state {
                return true;
            }
            if !std::mem::replace(&mut seen[transition.target.index()], true) {
                work.push(transition.target);
            }
        }
    }
    false
}

fn entered(fsm: &Fsm) -> Vec<usize> {
    let mut entered = vec![0; fsm.len()];
    for transition in fsm.transitions() {
        entered[transition.target.index()] += 1;
    }
    entered
}

/// `first_name` as `FirstName`. What could not start a Rust name gets an `M` in front.
fn rust_name(name: &str) -> String {
    let mut text = String::new();
    let mut upper = true;
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            upper = true;
        } else if upper {
            text.extend(letter.to_uppercase());
            upper = false;
        } else {
            text.push(letter);
        }
    }
    match text.chars().next() {
        Some(first) if first.is_alphabetic() => text,
        _ => format!("M{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::rust_name;

    #[test]
    fn names_as_rust_writes_them() {
        assert_eq!(rust_name("ready"), "Ready");
        assert_eq!(rust_name("first_name"), "FirstName");
        assert_eq!(rust_name("startTls"), "StartTls");
        assert_eq!(rust_name("250"), "M250");
        assert_eq!(rust_name(""), "M");
    }
}
