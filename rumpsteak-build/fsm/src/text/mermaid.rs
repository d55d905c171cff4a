//! Mermaid state diagrams.

use std::fmt::Write;

use crate::machine::{Fsm, Transition};

/// One diagram; several machines are states of it, each with a diagram inside.
///
/// ```text
/// stateDiagram-v2
///     [*] --> s0
///     s0 --> s1: s!ready
///     s1 --> [*]
/// ```
pub(super) fn print(machines: &[Fsm]) -> String {
    let mut text = String::from("stateDiagram-v2\n");
    match machines {
        [fsm] => body(fsm, "s", "    ", &mut text),
        _ => {
            for (number, fsm) in machines.iter().enumerate() {
                let role = escape(fsm.role().as_str());
                // Writing to a string does not fail.
                let _ = writeln!(text, "    state \"{role}\" as m{number} {{");
                body(fsm, &format!("m{number}s"), "        ", &mut text);
                text.push_str("    }\n");
            }
        }
    }
    text
}

fn body(fsm: &Fsm, prefix: &str, indent: &str, text: &mut String) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{indent}[*] --> {prefix}{}", fsm.initial());
    for state in fsm.states() {
        let _ = writeln!(text, "{indent}state \"{state}\" as {prefix}{state}");
    }
    for Transition { source, action, target, .. } in fsm.transitions() {
        let action = escape(&action.to_string());
        let _ = writeln!(text, "{indent}{prefix}{source} --> {prefix}{target}: {action}");
    }
    for state in fsm.states().filter(|&state| fsm.may_end(state)) {
        let _ = writeln!(text, "{indent}{prefix}{state} --> [*]");
    }
}

/// Escapes characters that may have a meaning in Mermaid.
fn escape(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "!?(),_ ".contains(c);
    let escape = |c| if is_plain(c) { c.to_string() } else { format!("#{};", u32::from(c)) };
    text.chars().map(escape).collect()
}
