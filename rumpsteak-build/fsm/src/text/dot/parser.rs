//! The parser of DOT. Nothing nests, so nothing recurses.

use std::ops::Range;

use super::action::{self, DROPS, ON_DEMAND};
use super::lexer::{Kind, Lexer, Text, Token};
use crate::machine::StateId;
use crate::text::{Named, NamedBuilder, Result, SpannedMessage};

pub(in crate::text) fn file(source: &str) -> Result<Vec<Named>> {
    let mut lexer = Lexer::new(source);
    let next = lexer.token()?;
    let mut parser = Parser { lexer, next };
    let mut digraphs = vec![];
    while parser.next.kind != Kind::End {
        if !parser.eat(';')? {
            digraphs.push(parser.digraph()?);
        }
    }
    Ok(digraphs)
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    next: Token,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<Token> {
        Ok(std::mem::replace(&mut self.next, self.lexer.token()?))
    }

    fn at(&self, punctuation: char) -> bool {
        self.next.kind == Kind::Punctuation(punctuation)
    }

    fn eat(&mut self, punctuation: char) -> Result<bool> {
        let found = self.at(punctuation);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn at_keyword(&self, keyword: &str) -> bool {
        matches!(&self.next.kind, Kind::Bare(word) if word.eq_ignore_ascii_case(keyword))
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T> {
        self.refuse(format!("expected {expected}, found {}", self.next.kind))
    }

    fn refuse<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(SpannedMessage::new(self.next.span.clone(), message))
    }

    fn digraph(&mut self) -> Result<Named> {
        if self.at_keyword("strict") {
            self.advance()?;
        }
        if self.at_keyword("graph") {
            return self.refuse("a machine is a directed graph; write `digraph`");
        }
        if !self.at_keyword("digraph") {
            return self.unexpected("`digraph`");
        }
        let keyword = self.advance()?.span;
        if self.at('{') {
            let message =
                "this digraph has no name; name it after the role, as in `digraph k { … }`";
            return Err(SpannedMessage::new(keyword, message));
        }
        let role = self.name("the name of the role")?.text.to_string();
        if !self.eat('{')? {
            return self.unexpected("`{`");
        }

        let (mut builder, mut is_on_demand) = (NamedBuilder::new(&role), false);
        while !self.at('}') {
            is_on_demand |= self.statement(&mut builder)?;
        }
        let closing = self.advance()?.span;
        if builder.states.is_empty() {
            let message = "this machine has no state; write at least its initial one, as in `0;`";
            return Err(SpannedMessage::new(closing, message));
        }
        let named = builder.build(StateId::from_index(0));
        Ok(Named { fsm: named.fsm.on_demand(is_on_demand), ..named })
    }

    /// Adds a statement; returns true if it says that the machine plays on demand.
    fn statement(&mut self, builder: &mut NamedBuilder) -> Result<bool> {
        if self.eat(';')? || self.eat(',')? {
            return Ok(false);
        }
        if self.at('{') || self.at_keyword("subgraph") {
            return self.refuse("a machine has no subgraphs; write its nodes and edges directly");
        }
        let default = ["node", "edge", "graph"].iter().any(|keyword| self.at_keyword(keyword));
        let first = self.name("a node, an edge or `}`")?;
        if self.eat('=')? {
            self.value()?;
            return Ok(false);
        }
        if default {
            return self.attributes().map(|_| false);
        }

        self.port()?;
        let mut ends = vec![builder.state(&first.text.to_string())];
        while self.next.kind == Kind::Arrow {
            self.advance()?;
            if self.at('{') {
                return self.refuse("an edge ends in one node; write an edge for each");
            }
            let end = self.name("the node where the edge ends")?;
            self.port()?;
            ends.push(builder.state(&end.text.to_string()));
        }
        if self.next.kind == Kind::Line {
            return self.refuse("a transition has a direction; write `->`");
        }

        let end = self.next.span.start;
        let label = self.attributes()?;
        if let [state] = ends[..] {
            let Some(Name { text, span }) = label else { return Ok(false) };
            let shown = text.to_string();
            if shown.starts_with(DROPS)
                && let Ok(dropped) = action::parse(&text.0[DROPS.len()..], span)
            {
                builder.late.entry(dropped.peer).or_default().insert(dropped.message);
            }
            return Ok(state.index() == 0 && shown == ON_DEMAND);
        }
        let Some(Name { text, span }) = label else {
            let message = "this edge has no action; give it one, as in `[label=\"s!ready\"]`";
            return Err(SpannedMessage::new(first.span.start..end.max(first.span.end), message));
        };
        let action = action::parse(&text.0, span.clone())?;
        for edge in ends.windows(2) {
            builder.add_transition(edge[0], action.clone(), edge[1], span.clone());
        }
        Ok(false)
    }

    /// Skips `:port` or `:port:compass` after a node.
    fn port(&mut self) -> Result<()> {
        while self.eat(':')? {
            self.name("a port")?;
        }
        Ok(())
    }

    /// Any number of `[a=b, c; d]`; the last `label` among them.
    fn attributes(&mut self) -> Result<Option<Name>> {
        let mut label = None;
        while self.eat('[')? {
            while !self.eat(']')? {
                if self.eat(',')? || self.eat(';')? {
                    continue;
                }
                let key = self.name("an attribute or `]`")?;
                if self.eat('=')? {
                    let value = self.value()?;
                    if key.text.to_string() == "label" {
                        label = Some(value);
                    }
                }
            }
        }
        Ok(label)
    }

    /// The value of an attribute; markup counts as an empty text.
    fn value(&mut self) -> Result<Name> {
        if self.next.kind == Kind::Html {
            return Ok(Name { text: Text::default(), span: self.advance()?.span });
        }
        self.name("a value")
    }

    /// A bare name, or quoted ones joined by `+`.
    fn name(&mut self, expected: &str) -> Result<Name> {
        let start = self.next.span.start;
        let mut text = match &mut self.next.kind {
            Kind::Quoted(text) => std::mem::take(text),
            Kind::Bare(name) => Text(name.char_indices().map(|(at, c)| (start + at, c)).collect()),
            _ => return self.unexpected(expected),
        };
        let mut span = self.advance()?.span;
        while self.eat('+')? {
            let Kind::Quoted(more) = &mut self.next.kind else {
                return self.unexpected("a quoted name after `+`");
            };
            text.0.append(&mut more.0);
            span.end = self.advance()?.span.end;
        }
        Ok(Name { text, span })
    }
}

struct Name {
    text: Text,
    span: Range<usize>,
}
