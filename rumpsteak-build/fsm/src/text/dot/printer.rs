//! Machines as DOT.

use dot_writer::{Attributes, DotWriter};

use super::action::{self, DROPS, ON_DEMAND};
use crate::machine::{Action, Direction, Fsm, Sort};

/// The machine as a digraph that [`parse`](super::parse) reads back.
///
/// States are named by their ids, the initial one first; where it is state 0, reading back gives an
/// equal machine, otherwise one that is equal up to the order of states.
///
/// ```
/// use rumpsteak_fsm::{Action, Fsm, dot};
///
/// let mut kernel = Fsm::builder("k");
/// let (idle, asked) = (kernel.add_state(), kernel.add_state());
/// kernel.add_transition(idle, Action::send("s", "ready", &["i32"]), asked);
/// let text = dot::print(&kernel.build(idle));
/// assert_eq!(text, "digraph k {\n  0;\n  1;\n  0 -> 1 [label=\"s!ready(i32)\"];\n}\n");
/// ```
///
/// A machine that names an empty role is printed, but not accepted by `parse`.
pub fn print(fsm: &Fsm) -> String {
    let mut bytes = vec![];
    {
        let mut writer = DotWriter::from(&mut bytes);
        let mut digraph = writer.digraph();
        let initial = fsm.initial();
        let others = fsm.states().filter(|&state| state != initial);
        for state in [initial].into_iter().chain(others) {
            let mut node = digraph.node_named(state.to_string());
            if fsm.is_on_demand() && state == initial {
                node.set_label(ON_DEMAND);
            }
        }
        let late = fsm.late().iter();
        let late = late.flat_map(|(peer, of)| of.iter().map(move |message| (peer, message)));
        for (end, (peer, message)) in
            fsm.states().find(|&of| fsm.is_terminal(of)).into_iter().cycle().zip(late)
        {
            let direction = Direction::Receive;
            let action = Action { peer: peer.clone(), direction, message: message.clone() };
            let label = format!("{DROPS}{}", print_action(&action));
            digraph.node_named(end.to_string()).set_label(&escape(&label));
        }
        for transition in fsm.transitions() {
            let (source, target) = (transition.source.to_string(), transition.target.to_string());
            let label = escape(&print_action(transition.action));
            digraph.edge(source, target).attributes().set_label(&label);
        }
    }

    // dot-writer writes strings as UTF-8 and cannot name a graph.
    let text = String::from_utf8_lossy(&bytes);
    let body = text.strip_prefix("digraph").unwrap_or(&text);
    format!("digraph {}{body}", graph_name(fsm.role().as_str()))
}

/// Escapes text for the inside of a quoted DOT string; dot-writer escapes nothing.
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn graph_name(role: &str) -> String {
    let keywords = ["digraph", "edge", "graph", "node", "strict", "subgraph"];
    let keyword = keywords.iter().any(|keyword| role.eq_ignore_ascii_case(keyword));
    let mut chars = role.chars();
    let bare = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if bare && !keyword { role.to_owned() } else { format!("\"{}\"", escape(role)) }
}

/// An action in the grammar of `action::parse`.
fn print_action(Action { peer, direction, message }: &Action) -> String {
    let payload: Vec<String> = message.payload.iter().map(|s| sort(s.as_str())).collect();
    let mut text = format!("{}{direction}{}", name(peer.as_str()), name(message.label.as_str()));
    if !payload.is_empty() || message.label.as_str().is_empty() {
        text.push_str(&format!("({})", payload.join(", ")));
    }
    text
}

fn name(name: &str) -> String {
    ordinary(name, |c| c.is_whitespace() || matches!(c, '!' | '?' | '(' | ')' | ',' | '\\'))
}

/// The text with a backslash before each special character.
fn ordinary(text: &str, is_special: impl Fn(char) -> bool) -> String {
    if !text.contains(&is_special) {
        return text.to_owned();
    }
    text.chars().flat_map(|c| is_special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// The sort as it is if it reads back (`Vec<(u8, u8)>`), otherwise with each doubtful character
/// escaped.
fn sort(sort: &str) -> String {
    let alone: Vec<(usize, char)> = format!("p!l({sort})").char_indices().collect();
    let read = action::parse(&alone, 0..0);
    if read.is_ok_and(|read| read.message.payload == [Sort::from(sort)]) {
        return sort.to_owned();
    }
    ordinary(sort, |c| !(c.is_alphanumeric() || c == '_'))
}
