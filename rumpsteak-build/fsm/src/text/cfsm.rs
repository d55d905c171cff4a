//! CFSM text: machines as lists of transitions, with participants by number.

use std::ops::Range;

use super::lexer::{Kind, Lexer, is_name};
use super::types::{payload, unquoted};
use super::{Named, NamedBuilder, PrintError, Result, SpannedMessage};
use crate::machine::{Action, Fsm, IndexSet, Role, StateId, Transition};

/// A machine before all participants are known.
struct Machine<'a> {
    builder: NamedBuilder,
    initial: StateId,
    /// The number of each transition's peer, as it is written, and its place.
    peers: Vec<(&'a str, Range<usize>)>,
}

pub(super) fn parse(source: &str) -> Result<Vec<Named>> {
    let mut lexer = Lexer::new(source);
    let mut machines: Vec<Machine<'_>> = vec![];
    let mut roles: IndexSet<Role> = IndexSet::default();
    loop {
        let mut role = machines.len().to_string();
        let mut span = 0..0;
        while let Kind::Role(name) = lexer.peek()?.kind {
            span = lexer.next()?.span;
            role = name.to_owned();
        }
        if lexer.peek()?.kind == Kind::End {
            break;
        }
        if role.is_empty() {
            return Err(SpannedMessage::new(span, "expected a name, as in `--@role k`"));
        }
        if !roles.insert(role.as_str().into()) {
            let message = format!("two participants are called `{role}`; rename one");
            return Err(SpannedMessage::new(span, message));
        }
        machines.push(machine(&mut lexer, &role)?);
    }
    machines.into_iter().map(|machine| resolve(machine, &roles)).collect()
}

/// `.outputs .state graph transition+ .marking STATE .end`
fn machine<'a>(lexer: &mut Lexer<'a>, role: &str) -> Result<Machine<'a>> {
    keyword(lexer, &["outputs"])?;
    keyword(lexer, &["state", "graph"])?;
    let mut builder = NamedBuilder::new(role);
    let mut peers = vec![];
    loop {
        lexer.skip_roles()?;
        if lexer.peek()?.kind == Kind::Mark('.') {
            break;
        }
        let (source, span) = lexer.name("a transition, as in `q0 1 ! a q1`, or `.marking`")?;
        let source = builder.state(source);
        let (peer, peer_span) = lexer.name("the number of the peer, as in `q0 1 ! a q1`")?;
        let token = lexer.next()?;
        let Some(direction) = token.kind.direction() else {
            let message = "expected `!` or `?` after the peer, as in `q0 1 ! a q1`";
            return Err(SpannedMessage::new(token.span, message));
        };
        let (message, _) = lexer.message("the label of a message, as in `q0 1 ! a q1`")?;
        let (target, end) = lexer.name("the target state, as in `q0 1 ! a q1`")?;
        let target = builder.state(target);
        let action = Action { peer: peer.into(), direction, message };
        builder.add_transition(source, action, target, span.start..end.end);
        peers.push((peer, peer_span));
    }
    let dot = lexer.peek()?.span;
    if peers.is_empty() {
        let message =
            "expected a transition, as in `q0 1 ! a q1`; CFSM text has no role that does nothing";
        return Err(SpannedMessage::new(dot, message));
    }
    keyword(lexer, &["marking"])?;
    let (name, span) = lexer.name("the initial state")?;
    let Some(initial) = builder.known(name) else {
        let message = format!("no transition is at the initial state `{name}`; name another");
        return Err(SpannedMessage::new(span, message));
    };
    keyword(lexer, &["end"])?;
    Ok(Machine { builder, initial, peers })
}

fn keyword(lexer: &mut Lexer<'_>, words: &[&str]) -> Result<()> {
    lexer.skip_roles()?;
    let written = words.join(" ");
    let dot = lexer.next()?;
    let expected = |span| SpannedMessage::new(span, format!("expected `.{written}`"));
    if dot.kind != Kind::Mark('.') {
        return Err(expected(dot.span));
    }
    for word in words {
        let token = lexer.next()?;
        if token.kind != Kind::Name(word) {
            return Err(expected(dot.span.start..token.span.end));
        }
    }
    Ok(())
}

/// Replaces the numbers of peers by their roles.
fn resolve(machine: Machine<'_>, roles: &IndexSet<Role>) -> Result<Named> {
    let Machine { mut builder, initial, peers } = machine;
    let role = |(peer, span): (&str, Range<usize>)| {
        peer.parse::<usize>().ok().and_then(|number| roles.get_index(number)).ok_or_else(|| {
            let count = roles.len();
            let message = format!(
                "there is no participant `{peer}`; the {count} of this text are numbered from 0"
            );
            SpannedMessage::new(span, message)
        })
    };
    let peers = peers.into_iter().map(role).collect::<Result<Vec<_>, _>>()?;
    builder.fsm.change(|id, action, _| action.peer = peers[id.index()].clone());
    Ok(builder.build(initial))
}

pub(super) fn print(machines: &[Fsm]) -> Result<String, PrintError> {
    let mut roles: IndexSet<&Role> = IndexSet::default();
    for fsm in machines {
        let role = fsm.role();
        let name = role.as_str();
        if !roles.insert(role) {
            return Err(PrintError::new(role, "there are two of this name; rename one"));
        }
        if name.is_empty() || name.trim() != name || name.contains(['\n', '\r']) {
            let message = "its name does not fit a line; rename it, or use DOT";
            return Err(PrintError::new(role, message));
        }
    }

    let mut text = String::new();
    for (number, fsm) in machines.iter().enumerate() {
        let refuse = |message: String| Err(PrintError::new(fsm.role(), message));
        let mut is_said = vec![false; fsm.len()];
        if fsm.role().as_str() != number.to_string() {
            text.push_str(&format!("--@role {}\n", fsm.role()));
        }
        text.push_str(".outputs\n.state graph\n");
        for Transition { source, action, target, .. } in fsm.transitions() {
            let label = action.message.label.as_str();
            let Some(peer) = roles.get_index_of(&action.peer) else {
                return refuse(format!(
                    "its peer `{}` is not among the machines; print the whole system",
                    action.peer
                ));
            };
            if !is_name(label) {
                return Err(unquoted(fsm, "label", label));
            }
            let (direction, payload) = (action.direction, payload(fsm, action)?);
            text += &format!("q{source} {peer} {direction} {label}{payload} q{target}\n");
            (is_said[source.index()], is_said[target.index()]) = (true, true);
        }
        if fsm.transition_count() == 0 {
            return refuse(
                "it does nothing, which CFSM text cannot say; use DOT or local types".into(),
            );
        }
        if let Some(state) = fsm.states().find(|state| !is_said[state.index()]) {
            return refuse(format!(
                "no transition is at state {state}, which CFSM text cannot say; use DOT"
            ));
        }
        text.push_str(&format!(".marking q{}\n.end\n", fsm.initial()));
        if number + 1 < machines.len() {
            text.push('\n');
        }
    }
    Ok(text)
}
