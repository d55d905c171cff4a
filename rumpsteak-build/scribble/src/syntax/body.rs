//! The interactions of a protocol, from its `{` to its `}`.

use std::sync::Arc;

use super::ast::{
    BlockId, Body, Interaction, InteractionId, InteractionKind, Interrupt, Link, MessageExpr,
    Payload,
};
use super::cursor::{Cursor, Failed, Result};
use super::lexer::TokenKind;
use crate::diagnostics::{Construct, Name, Span, similar};
use crate::index::index;

/// The keywords at the beginning of statements, for suggestions.
const STATEMENTS: [&str; 7] =
    ["choice", "connect", "continue", "disconnect", "do", "interruptible", "rec"];

/// Parses a block from its `{`, which is the next token.
pub(super) fn body(cursor: &mut Cursor<'_>) -> Body {
    let mut parser = BodyParser {
        cursor,
        body: Body { interactions: Vec::new(), blocks: Vec::new() },
        stack: Vec::new(),
    };
    parser.open(Owner::One);
    parser.run();
    parser.body
}

/// The owner of an open brace.
enum Owner {
    /// The protocol, or a recursion.
    One,
    /// An interaction with several blocks, the word between them, and the blocks so far.
    Several(InteractionId, &'static str, Vec<BlockId>),
    Interruptible(InteractionId),
}

struct Open {
    owner: Owner,
    block: BlockId,
    brace: usize,
}

struct BodyParser<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    body: Body,
    /// The blocks that are open, innermost last.
    stack: Vec<Open>,
}

impl BodyParser<'_, '_> {
    fn run(&mut self) {
        while let Some(top) = self.stack.last() {
            let in_choice = matches!(top.owner, Owner::Several(_, "or", _));
            let brace = top.brace;
            if self.cursor.take(b'}') {
                self.close();
            } else if self.cursor.kind() == TokenKind::End || self.starts_declaration() {
                // A brace is missing; the declaration that follows can still be read.
                self.cursor.open_block(brace);
                // The rest of the innermost block is unknown.
                self.add(self.cursor.at(), InteractionKind::Invalid);
                while let Some(open) = self.stack.pop() {
                    self.complete(open);
                }
            } else if in_choice && self.starts_block("or") {
                self.cursor.unexpected("`}`");
                self.close();
            } else {
                let start = self.cursor.at();
                if self.statement().is_err() {
                    self.skip_statement(start);
                    self.add(start, InteractionKind::Invalid);
                }
            }
        }
    }

    /// True if `word {` comes next.
    fn starts_block(&self, word: &str) -> bool {
        self.cursor.is_at(1, b'{') && self.cursor.is_word(word)
    }

    /// True if `global protocol P(` or the like comes next, which is not an interaction.
    fn starts_declaration(&self) -> bool {
        // Few interactions have a word in second place.
        if self.cursor.kind_at(1) != TokenKind::Identifier {
            return false;
        }
        match self.cursor.word() {
            "global" | "aux" | "explicit" => {
                self.cursor.is_word_at(1, "protocol") || self.cursor.is_word_at(1, "global")
            }
            "protocol" => self.cursor.is_at(2, b'('),
            _ => false,
        }
    }

    fn open(&mut self, owner: Owner) {
        let brace = self.cursor.at();
        let block = self.next_block();
        self.body.blocks.push(Vec::new());
        self.stack.push(Open { owner, block, brace });
        self.cursor.advance();
    }

    fn next_block(&self) -> BlockId {
        BlockId(index(self.body.blocks.len()))
    }

    /// Ends the innermost block after its `}`, and its interaction unless another block follows.
    fn close(&mut self) {
        let Some(mut open) = self.stack.pop() else { return };
        match &mut open.owner {
            Owner::Several(_, word, blocks) if self.starts_block(word) => {
                self.cursor.advance();
                blocks.push(open.block);
                self.open(open.owner);
            }
            Owner::Interruptible(id) => self.interruptible(*id),
            _ => self.complete(open),
        }
    }

    fn kind(&mut self, id: InteractionId) -> &mut InteractionKind {
        &mut self.body.interactions[id.0 as usize].kind
    }

    /// Ends the interaction of a block that no other block of it follows.
    fn complete(&mut self, open: Open) {
        if let Owner::Several(id, _, mut done) = open.owner {
            done.push(open.block);
            if let InteractionKind::Choice { branches: blocks, .. }
            | InteractionKind::Par { parts: blocks } = self.kind(id)
            {
                *blocks = done;
            }
        }
    }

    /// The interrupts behind the block of an `interruptible`.
    fn interruptible(&mut self, id: InteractionId) {
        let start = self.cursor.at();
        match (self.interrupts(), self.kind(id)) {
            (Ok(found), InteractionKind::Interruptible { interrupts, .. }) => *interrupts = found,
            (_, kind) => {
                *kind = InteractionKind::Invalid;
                // If `with` is missing, the next statement is read as usual.
                while self.cursor.at() > start
                    && self.cursor.kind() != TokenKind::End
                    && !self.cursor.take(b'}')
                {
                    self.cursor.advance();
                }
            }
        }
    }

    /// `with { cancel() by A via B answered cancelled(); … }`
    fn interrupts(&mut self) -> Result<Vec<Interrupt>> {
        self.cursor.expect_word("with")?;
        self.cursor.expect(b'{')?;
        let mut interrupts = Vec::new();
        loop {
            if self.cursor.is(b'}') {
                return Err(self.cursor.unexpected("an interrupt, as in `stop() by a;`"));
            }
            let message = argument(self.cursor)?;
            self.cursor.expect_word("by")?;
            let by = self.cursor.role("the role that may interrupt")?;
            let passes = |cursor: &mut Cursor<'_>| cursor.role("the role that passes it on");
            let via = self.cursor.after_word("via", |cursor| cursor.several(passes))?;
            let answer = self.cursor.after_word("answered", argument)?;
            self.cursor.expect(b';')?;
            interrupts.push(Interrupt { message, by, via: via.unwrap_or_default(), answer });
            if self.cursor.take(b'}') {
                return Ok(interrupts);
            }
        }
    }

    /// The interaction before in the innermost block.
    fn last(&self) -> Option<&InteractionKind> {
        let last = self.body.block(self.stack.last()?.block).last()?;
        Some(&self.body.interaction(*last).kind)
    }

    /// Adds an interaction to the innermost block. Its span ends with the last token taken.
    fn add(&mut self, start: usize, kind: InteractionKind) -> InteractionId {
        let span = self.cursor.span_from(start);
        let block = self.stack.last().map_or(self.body.root(), |open| open.block);
        self.body.push(block, Interaction { kind, annotations: Vec::new(), span })
    }

    fn statement(&mut self) -> Result<()> {
        if self.cursor.is(b'[') {
            self.cursor.skip_brackets(Construct::CONDITION);
        }
        let start = self.cursor.at();
        if self.cursor.is(b'(') {
            return self.message(start);
        }
        if self.cursor.kind() != TokenKind::Identifier {
            return Err(self.cursor.unexpected(match self.last() {
                Some(InteractionKind::Choice { .. }) if self.cursor.is(b'{') => "`or`",
                Some(InteractionKind::Par { .. }) if self.cursor.is(b'{') => "`and`",
                _ => "an interaction or `}`",
            }));
        }
        if self.dialect(start)? {
            return Ok(());
        }
        // A word with a bracket is a label: no keyword has one.
        if self.cursor.is_at(1, b'(') {
            return self.message(start);
        }
        let brace = self.cursor.is_at(1, b'{');
        let name = self.cursor.kind_at(1) == TokenKind::Identifier;
        // `rec from A to B;` is a message.
        let operand = name && !self.cursor.is_word_at(1, "from");
        match self.cursor.word() {
            "choice" if self.cursor.is_word_at(1, "at") => self.choice(start)?,
            // `choice {`, `choice A {` or `choice from A {`: all of it is skipped.
            "choice" if brace || name && (2..4).any(|behind| self.cursor.is_at(behind, b'{')) => {
                self.cursor.advance();
                let failed = self.cursor.unexpected("`at` and the role that chooses");
                while !self.cursor.is(b'{') {
                    self.cursor.advance();
                }
                return Err(failed);
            }
            "loop" if brace => {
                return Err(self.cursor.unexpected("`rec NAME { … continue NAME; }`"));
            }
            "rec" if brace || operand => self.recursion(start)?,
            "continue" if operand || self.cursor.is_at(1, b';') => self.continuation(start)?,
            "do" if operand => self.call(start)?,
            "par" if brace => {
                self.cursor.advance();
                let id = self.add(start, InteractionKind::Par { parts: Vec::new() });
                self.open(Owner::Several(id, "and", Vec::new()));
            }
            "interruptible" if brace || name => {
                self.cursor.advance();
                if name {
                    self.cursor.advance();
                    self.cursor.take(b':');
                }
                self.cursor.expect_block()?;
                let (body, interrupts) = (self.next_block(), Vec::new());
                let id = self.add(start, InteractionKind::Interruptible { body, interrupts });
                self.open(Owner::Interruptible(id));
            }
            "connect" | "disconnect" if operand => self.connection(start, None)?,
            _ => self.message(start)?,
        }
        Ok(())
    }

    /// Reports a construct of another dialect, and skips it. False if none comes next.
    fn dialect(&mut self, start: usize) -> Result<bool> {
        let name = self.cursor.kind_at(1) == TokenKind::Identifier;
        let construct = match self.cursor.word() {
            "foreach" | "if" if self.cursor.heads_block() || name && self.cursor.is_at(2, b'{') => {
                Construct::FAMILY
            }
            // The errors in their blocks are reported too.
            word @ ("unordered" | "parallel") if self.cursor.is_at(1, b'{') => {
                self.cursor.advance();
                let is_parallel = word == "parallel";
                let construct =
                    if is_parallel { Construct::PARALLEL } else { Construct::UNORDERED };
                self.cursor.unsupported(construct, start);
                let id = self.add(start, InteractionKind::Invalid);
                self.open(Owner::Several(id, "and", Vec::new()));
                return Ok(true);
            }
            _ if self.cursor.is_word_at(1, "from") => return Ok(false),
            "wrap" if name => Construct::WRAP,
            "loop" | "repeat" if name => Construct::REPEAT,
            "goto" if name => Construct::GOTO,
            "run" | "spawn" if name => Construct::SPAWN,
            "nested" if self.cursor.is_word_at(1, "protocol") => Construct::NESTED_PROTOCOL,
            // A recursion may have such a name.
            _ if self.cursor.kind_at(2) != TokenKind::Identifier => return Ok(false),
            _ if self.cursor.is_word_at(1, "calls") => Construct::NESTED_PROTOCOL,
            _ if self.cursor.is_word_at(1, "introduces") => Construct::INTRODUCES,
            _ => return Ok(false),
        };
        if matches!(self.cursor.word(), "foreach" | "if" | "nested") {
            self.cursor.skip_to_block()?;
            self.skip_blocks();
            self.cursor.unsupported_once(construct, start);
        } else {
            self.skip_statement(start);
            self.cursor.unsupported(construct, start);
        }
        self.add(start, InteractionKind::Invalid);
        Ok(true)
    }

    /// `choice at A {`
    fn choice(&mut self, start: usize) -> Result<()> {
        self.cursor.advance();
        self.cursor.advance();
        let at = self.cursor.role("the role that chooses")?;
        self.cursor.expect_block()?;
        let id = self.add(start, InteractionKind::Choice { at, branches: Vec::new() });
        self.open(Owner::Several(id, "or", Vec::new()));
        Ok(())
    }

    /// `rec X {`
    fn recursion(&mut self, start: usize) -> Result<()> {
        self.cursor.advance();
        let variable = self.cursor.name("the name of the recursion")?;
        self.refuse_brackets();
        self.cursor.expect_block()?;
        let body = self.next_block();
        self.add(start, InteractionKind::Rec { variable, body });
        self.open(Owner::One);
        Ok(())
    }

    /// `continue X;`
    fn continuation(&mut self, start: usize) -> Result<()> {
        self.cursor.advance();
        let variable = self.cursor.name("the name of a recursion")?;
        self.refuse_brackets();
        self.cursor.expect(b';')?;
        self.add(start, InteractionKind::Continue { variable });
        Ok(())
    }

    /// `do P<…>(A, B);`
    fn call(&mut self, start: usize) -> Result<()> {
        self.cursor.advance();
        let protocol = self.cursor.qualified("the name of a protocol")?;
        let arguments =
            if self.cursor.take(b'<') { self.cursor.list(b'>', argument)? } else { Vec::new() };
        self.cursor.expect(b'(')?;
        let roles =
            self.cursor.list(b')', |cursor| Ok((role(cursor)?, cursor.after_word("as", role)?)))?;
        self.end(start, InteractionKind::Do { protocol, arguments, roles })
    }

    /// `label(payload) from A to B, C;`
    fn message(&mut self, start: usize) -> Result<()> {
        let message = argument(self.cursor)?;
        if !self.cursor.take_word("from") {
            if self.cursor.is_word("connect") {
                return self.connection(start, Some(message));
            }
            return Err(self.no_sender(&message));
        }
        let (mut each, mut link) = (Vec::new(), Link::Needs);
        let mut role = |cursor: &mut _, what| participant(cursor, what, &mut each, &mut link);
        let from = role(self.cursor, "the role that sends")?;
        self.cursor.expect_word("to")?;
        let to = self.cursor.several(|cursor| role(cursor, "the role that receives"))?;
        self.end(start, InteractionKind::Message { message, from, to, each, link })
    }

    /// `connect A to B;`, with or without a message before it, or `disconnect A and B;`.
    fn connection(&mut self, start: usize, message: Option<MessageExpr>) -> Result<()> {
        let label = self.cursor.name("`connect`")?;
        let (link, between) = match label.as_str() {
            "connect" => (Link::Opens, "to"),
            _ => (Link::Closes, "and"),
        };
        let from = role(self.cursor)?;
        self.cursor.expect_word(between)?;
        let to = vec![role(self.cursor)?];
        let message = message.unwrap_or(MessageExpr::Literal { label, payload: Vec::new() });
        self.end(start, InteractionKind::Message { message, from, to, each: Vec::new(), link })
    }

    /// Reports a missing `from` behind a word that was taken for a message. Suggests a keyword that
    /// may be meant.
    fn no_sender(&mut self, message: &MessageExpr) -> Failed {
        let is_arrow = [0, 1].into_iter().any(|ahead| self.cursor.text_at(ahead) == "-");
        let is_end = self.cursor.is(b';') || self.cursor.is(b'}');
        let (expected, name) = match message {
            MessageExpr::Literal { label, .. } => ("`from`", label),
            MessageExpr::Named(name) => ("`(` or `from`", name),
        };
        let meant = |keyword| format!("did you mean `{keyword}` instead of `{name}`?");
        let help = match (name.as_str(), self.last()) {
            _ if is_arrow => Some("write a message as `Label(payload) from A to B;`".to_owned()),
            _ if self.cursor.is_word("to") => Some("write `from A` before `to B`".to_owned()),
            _ if expected == "`from`" => is_end.then(|| {
                format!("write `do {name}(…);` for a protocol, or `{name}(…) from A to B;`")
            }),
            ("end", _) if is_end => {
                Some("take out `end;`: a branch ends behind what is last in it".to_owned())
            }
            ("or", Some(InteractionKind::Par { .. })) => Some(meant("and")),
            ("and", Some(InteractionKind::Choice { .. })) | ("else", _) => Some(meant("or")),
            ("and" | "or", _) => {
                Some(format!("write `{name} {{ … }}` right behind the `}}` before it"))
            }
            (name, _) => similar(name, &STATEMENTS).map(meant),
        };
        self.cursor.unexpected_with(expected, help)
    }

    /// Ends an interaction by `;`, with annotations before and behind it.
    fn end(&mut self, start: usize, kind: InteractionKind) -> Result<()> {
        let mut annotations = self.cursor.annotations()?;
        if self.cursor.is_word("within") {
            let clause = self.cursor.at();
            while !matches!(self.cursor.kind(), TokenKind::Punct(b';' | b'}') | TokenKind::End) {
                match self.cursor.is(b'[') {
                    true => self.cursor.skip_balanced(),
                    false => self.cursor.advance(),
                }
            }
            self.cursor.unsupported_once(Construct::TIME, clause);
        }
        self.cursor.expect(b';')?;
        let id = self.add(start, kind);
        annotations.append(&mut self.cursor.annotations()?);
        self.body.interactions[id.0 as usize].annotations = annotations;
        Ok(())
    }

    /// Reports the parameters of a recursion, if there are any.
    fn refuse_brackets(&mut self) {
        if self.cursor.is(b'[') {
            let start = self.cursor.at();
            self.cursor.skip_balanced();
            self.cursor.unsupported(Construct::RECURSION_PARAMETERS, start);
        }
    }

    fn skip_statement(&mut self, start: usize) {
        loop {
            match self.cursor.kind() {
                TokenKind::Punct(b';') => return self.cursor.advance(),
                // The statement has no `;`; the next one can be read.
                TokenKind::Punct(b'}') | TokenKind::End => return,
                TokenKind::Punct(b'{') => return self.skip_blocks(),
                TokenKind::Identifier if self.cursor.at() > start && self.starts_statement() => {
                    return;
                }
                _ => self.cursor.advance(),
            }
        }
    }

    /// Skips a block, and the blocks that belong to it.
    fn skip_blocks(&mut self) {
        self.cursor.skip_balanced();
        while ["and", "or", "with"].iter().any(|word| self.starts_block(word)) {
            self.cursor.advance();
            self.cursor.skip_balanced();
        }
    }

    /// True if the next token can only start a statement. If a `;` is missing, reading goes on
    /// there.
    fn starts_statement(&self) -> bool {
        let name = self.cursor.kind_at(1) == TokenKind::Identifier;
        match self.cursor.word() {
            "choice" => self.cursor.is_word_at(1, "at"),
            "rec" => name && self.cursor.is_at(2, b'{'),
            "continue" => name && self.cursor.is_at(2, b';'),
            "do" => name && self.cursor.is_at(2, b'('),
            // `label(` behind a name: `from A to B label() …`.
            _ => {
                let before = self.cursor.before();
                self.cursor.is_at(1, b'(')
                    && before.is_some_and(|(kind, text)| {
                        kind == TokenKind::Identifier
                            && !matches!(text, "do" | "calls" | "run" | "spawn")
                    })
            }
        }
    }
}

/// `A`, `each A`, or `some A`, which makes a message [ask](Link::Asks).
fn participant(
    cursor: &mut Cursor<'_>,
    what: &str,
    each: &mut Vec<Span>,
    link: &mut Link,
) -> Result<Name> {
    // A role may have the name `each` or `some`.
    let is_word = |word| {
        cursor.is_word(word)
            && cursor.kind_at(1) == TokenKind::Identifier
            && !cursor.is_word_at(1, "to")
    };
    let is_some = is_word("some");
    let is_of_family = is_some || is_word("each");
    if is_of_family {
        cursor.advance();
    }
    if is_some {
        *link = Link::Asks;
    }
    // `x() from A to B, y() from …`
    let is_message =
        cursor.is_at(1, b'(') && (cursor.is_at(2, b')') || cursor.is_word_at(4, "from"));
    if is_message && cursor.before().is_some_and(|(_, text)| text == ",") {
        let help = "write `;` behind a message, and `,` between its receivers";
        return Err(cursor.unexpected_with(what, Some(help.to_owned())));
    }
    let name = cursor.role(what)?;
    each.extend(is_of_family.then_some(name.span));
    Ok(name)
}

fn role(cursor: &mut Cursor<'_>) -> Result<Name> {
    cursor.role("the name of a role")
}

fn argument(cursor: &mut Cursor<'_>) -> Result<MessageExpr> {
    if cursor.is(b'(') || cursor.is_at(1, b'(') {
        return literal(cursor);
    }
    cursor.qualified("a message or a sort").map(MessageExpr::Named)
}

/// `label(payload)`
fn literal(cursor: &mut Cursor<'_>) -> Result<MessageExpr> {
    let label = if cursor.is(b'(') {
        Name { text: Arc::from(""), span: cursor.span_of(cursor.at()).beginning() }
    } else {
        cursor.name("a message")?
    };
    cursor.expect(b'(')?;
    Ok(MessageExpr::Literal { label, payload: cursor.list(b')', payload)? })
}

/// `Int`. A Rust type is taken as a whole and reported when names are resolved.
fn sort(cursor: &mut Cursor<'_>) -> Result<Name> {
    let start = cursor.at();
    if ![":", "(", "[", "&"].contains(&cursor.text_at(0)) {
        let name = cursor.qualified("the sort of a payload")?;
        let is_path = cursor.is(b':') && cursor.is_at(1, b':');
        if !cursor.is(b'<') && !is_path {
            return Ok(name);
        }
    }
    cursor.skip_type();
    Ok(cursor.text_from(start))
}

/// `x: Int`, `P@A`
fn payload(cursor: &mut Cursor<'_>) -> Result<Payload> {
    let is_named = !cursor.is(b':') && cursor.is_at(1, b':') && !cursor.is_at(2, b':');
    let name = is_named.then(|| cursor.name("the name of a payload")).transpose()?;
    if is_named {
        cursor.advance();
    }
    let sort = sort(cursor)?;
    if cursor.kind() == TokenKind::Identifier && [b',', b')'].iter().any(|&it| cursor.is_at(1, it))
    {
        let help = format!("write `{sort}: {0}` or `{0}: {sort}`: the type is last", cursor.word());
        return Err(cursor.unexpected_with("`,` or `)`", Some(help)));
    }
    let delegated = if cursor.take(b'@') { Some(role(cursor)?) } else { None };
    if cursor.is(b'{') {
        let start = cursor.at();
        cursor.skip_balanced();
        cursor.unsupported(Construct::REFINEMENT, start);
    }
    Ok(Payload { name, sort, delegated })
}
