//! Types into machines, without recursion: the text may nest as deep as it likes.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use crate::machine::{Action, Direction, StateId};
use crate::text::lexer::{Kind, Lexer, Token};
use crate::text::{Named, NamedBuilder, Result, SpannedMessage};

const BINARY_ROLE: &str = "self";
const BINARY_PEER: &str = "peer";

/// `A: type B: type …`
pub(in crate::text) fn parse_local(source: &str) -> Result<Vec<Named>> {
    let mut lexer = Lexer::new(source);
    let mut machines = vec![];
    let mut known = HashSet::new();
    while !at_end(&mut lexer)? {
        let (role, span) = lexer.name("a participant, as in `A: B!a; end`")?;
        lexer.expect(':', "after the participant, as in `A: B!a; end`")?;
        if !known.insert(role) {
            let message =
                format!("the participant `{role}` is defined twice; leave one of the two");
            return Err(SpannedMessage::new(span, message));
        }
        machines.push(parse(&mut lexer, role, true)?);
    }
    Ok(machines)
}

pub(in crate::text) fn parse_binary(source: &str) -> Result<Vec<Named>> {
    let mut lexer = Lexer::new(source);
    let machine = parse(&mut lexer, BINARY_ROLE, false)?;
    if !at_end(&mut lexer)? {
        let message = "expected the end of the type; a file holds one";
        return Err(SpannedMessage::new(lexer.next()?.span, message));
    }
    Ok(vec![machine])
}

fn at_end(lexer: &mut Lexer<'_>) -> Result<bool> {
    lexer.skip_roles()?;
    Ok(lexer.peek()?.kind == Kind::End)
}

/// Reads one type; actions name their peers if `peers`.
fn parse(lexer: &mut Lexer<'_>, role: &str, peers: bool) -> Result<Named> {
    let machine = NamedBuilder::new(role);
    let (open, binders, transitions) = (vec![], HashMap::new(), vec![]);
    let mut reading = Reading { lexer, peers, machine, end: None, open, binders, transitions };
    loop {
        if let Some(state) = reading.begin()?
            && let Some(initial) = reading.finish(state)?
        {
            let Reading { mut machine, transitions, .. } = reading;
            for (source, action, target, span) in transitions {
                machine.add_transition(source, action, target, span);
            }
            return Ok(machine.build(initial));
        }
    }
}

/// A part of a type that is not read to its end.
enum Open<'a> {
    /// `a; …`: the continuation of the transition with this number is to come.
    Action(usize),
    /// `{a, …`: another branch may come.
    Choice { state: StateId, closing: char },
    /// `rec X . …`: the body is to come. The state is known once it begins.
    Rec { variable: &'a str, span: Range<usize>, state: Option<StateId> },
}

struct Reading<'a, 'b> {
    lexer: &'b mut Lexer<'a>,
    peers: bool,
    machine: NamedBuilder,
    /// The state of each `end`, once there is one.
    end: Option<StateId>,
    open: Vec<Open<'a>>,
    /// For each variable the positions of its binders in `open`, innermost last.
    binders: HashMap<&'a str, Vec<usize>>,
    /// In the order of the text; the target is the source until the continuation is read.
    transitions: Vec<(StateId, Action, StateId, Range<usize>)>,
}

impl<'a> Reading<'a, '_> {
    /// Reads the beginning of a type; returns its state if that is the whole type.
    fn begin(&mut self) -> Result<Option<StateId>> {
        self.lexer.skip_roles()?;
        let Token { kind, span } = self.lexer.next()?;
        let is_branch = matches!(self.open.last(), Some(Open::Choice { .. }));
        let action = match kind {
            Kind::Name(peer) if self.peers => (peer, self.lexer.peek()?.kind.direction()),
            _ if !self.peers => (BINARY_PEER, kind.direction()),
            _ => ("", None),
        };
        if let (peer, Some(direction)) = action {
            if self.peers {
                self.lexer.next()?;
            }
            self.action(peer, direction, span.start)?;
            return Ok(None);
        }
        match kind {
            Kind::Mark('+' | '&') => {
                let bracket = self.lexer.next()?;
                self.choice(bracket)?;
            }
            Kind::Mark('{' | '[') => self.choice(Token { kind, span })?,
            Kind::Name(_) if is_branch => {
                let message = "a branch begins with an action or a choice; \
                               put `rec`, `end` or a variable after an action";
                return Err(SpannedMessage::new(span, message));
            }
            Kind::Name(word) => return self.word(word, span),
            _ => {
                let example = if self.peers { "B!a; end" } else { "!a; end" };
                let message = format!(
                    "expected a type: an action as in `{example}`, a choice, `rec`, `end` or a variable"
                );
                return Err(SpannedMessage::new(span, message));
            }
        }
        Ok(None)
    }

    /// The state of an action or a choice that begins here: of the choice that it is a branch of,
    /// or a new one, which is also the state of the binders just before it.
    fn state(&mut self) -> StateId {
        if let Some(&Open::Choice { state, .. }) = self.open.last() {
            return state;
        }
        let new = self.machine.add_state();
        for open in self.open.iter_mut().rev() {
            let Open::Rec { state, .. } = open else { break };
            *state = Some(new);
        }
        new
    }

    /// `label<sorts>;` after the peer and the direction.
    fn action(&mut self, peer: &str, direction: Direction, start: usize) -> Result<()> {
        let (message, span) = self.lexer.message("the label of a message, as in `B!a; end`")?;
        let context = match self.lexer.peek()?.kind {
            Kind::Mark('(') => {
                "after the message, whose payload stands in `<…>`, as in `B!a<T>; end`"
            }
            _ => "after the message, as in `B!a; end`",
        };
        self.lexer.expect(';', context)?;
        let action = Action { peer: peer.into(), direction, message };
        let state = self.state();
        self.open.push(Open::Action(self.transitions.len()));
        self.transitions.push((state, action, state, start..span.end));
        Ok(())
    }

    /// A choice after its sign.
    fn choice(&mut self, bracket: Token<'a>) -> Result<()> {
        let closing = match bracket.kind {
            Kind::Mark('{') => '}',
            Kind::Mark('[') => ']',
            _ => {
                let message = "expected `{` or `[` after the sign of a choice";
                return Err(SpannedMessage::new(bracket.span, message));
            }
        };
        let state = self.state();
        self.open.push(Open::Choice { state, closing });
        Ok(())
    }

    /// `end`, a variable or `rec X .`; returns the state if that is a whole type. A variable may be
    /// called `end` or `rec`.
    fn word(&mut self, word: &'a str, span: Range<usize>) -> Result<Option<StateId>> {
        if word == "end" {
            Ok(Some(*self.end.get_or_insert_with(|| self.machine.add_state())))
        } else if let Some(&binder) = self.binders.get(word).and_then(|b| b.last()) {
            match &self.open[binder] {
                Open::Rec { state: Some(state), .. } => Ok(Some(*state)),
                _ => Err(self.unguarded()),
            }
        } else if word == "rec" {
            let (variable, _) = self.lexer.name("a variable, as in `rec X . B!a; X`")?;
            self.lexer.expect('.', "after the variable, as in `rec X . B!a; X`")?;
            self.binders.entry(variable).or_default().push(self.open.len());
            self.open.push(Open::Rec { variable, span, state: None });
            Ok(None)
        } else if word == "continue"
            && let Ok((variable, _)) = self.lexer.name("a variable")
            && self.binders.get(variable).is_some_and(|known| !known.is_empty())
        {
            let message = format!("`continue` is no word of a local type; write `{variable}`");
            Err(SpannedMessage::new(span, message))
        } else {
            let messages = if self.peers {
                format!("`{word}!label` or `{word}?label`")
            } else {
                format!("`!{word}` or `?{word}`")
            };
            let message = format!(
                "no `rec {word} .` is around this variable; bind it, or write {messages} for a message"
            );
            Err(SpannedMessage::new(span, message))
        }
    }

    /// The error at the first of the binders without an action before their variable.
    fn unguarded(&self) -> SpannedMessage {
        let binders = self.open.iter().rev().map_while(|open| match open {
            Open::Rec { span, .. } => Some(span.clone()),
            _ => None,
        });
        let message = "this recursion does nothing; put an action before its variable";
        SpannedMessage::new(binders.last().unwrap_or_default(), message)
    }

    /// Hands the state of a whole type to the parts that are open around it. Returns the initial
    /// state if the text of the type is over.
    fn finish(&mut self, mut done: StateId) -> Result<Option<StateId>> {
        while let Some(open) = self.open.pop() {
            match open {
                Open::Action(number) => {
                    let (source, _, target, _) = &mut self.transitions[number];
                    (*target, done) = (done, *source);
                }
                Open::Rec { variable, .. } => {
                    if let Some(positions) = self.binders.get_mut(variable) {
                        positions.pop();
                    }
                }
                Open::Choice { state, closing } => {
                    if self.lexer.follows(',')? {
                        self.open.push(open);
                        return Ok(None);
                    }
                    self.lexer.expect(closing, "or `,` after the branch of a choice")?;
                    done = state;
                }
            }
        }
        Ok(Some(done))
    }
}
