//! Tokens to a [`Module`]: recursive descent, except that nested blocks are kept on a stack of our own, so
//! that no nesting overflows the thread's.
//!
//! Words are keywords by position only: `choice at A {` opens a choice, `choice() from A to B;` sends a
//! message. What tells them apart is one token further on.
//!
//! # Recovery
//! An error inside a statement skips to the `;` behind it, or to a brace; an error between declarations skips
//! to the next word that starts one. Each token is blamed at most once, so a mistake has one error. What was
//! understood before the error is kept.
//!
//! Constructs that the language has and this crate does not support (`par`, `connect`, refinements, …) are
//! parsed as far as their grammar is known and reported by name.

use std::sync::Arc;

use crate::{
    diagnostics::code::{self as codes, Code, Construct},
    diagnostics::diagnostic::{self, Diagnostic},
    diagnostics::similar as names,
    diagnostics::span::{SourceId, Span},
    syntax::ast::*,
    syntax::interner::Texts,
    syntax::lexer::{self, Token, TokenKind},
};

/// A module and what is wrong with its text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// What was understood. If there are no errors, all of it.
    pub module: Module,
    /// Every error, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// The words that a statement begins with, unless it is a message.
const STATEMENTS: [&str; 4] = ["choice", "continue", "do", "rec"];

/// Longer texts are not read. What is made of a text takes some hundred bytes a token, and positions in it 32 bits.
const MOST_MEBIBYTES: usize = 64;

/// Parses one source text of up to 64 MiB.
///
/// All errors of the text are found in one run. Costs O(text), and needs no stack for nesting.
///
/// ```
/// let parsed = rumpsteak_scribble::parse(
///     "global protocol Ping(role A, role B) { ping(Int) from A to B; pong() from B to A; }",
/// );
/// assert!(parsed.diagnostics.is_empty());
/// assert_eq!(parsed.module.protocols[0].name.as_str(), "Ping");
/// ```
pub fn parse(source: &str) -> Parsed {
    parse_source(source, SourceId::ROOT)
}

pub(crate) fn parse_source(text: &str, source: SourceId) -> Parsed {
    let mut diagnostics = Vec::new();
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    if text.len() > MOST_MEBIBYTES << 20 {
        let module = Module {
            header: None,
            imports: Vec::new(),
            declarations: Vec::new(),
            protocols: Vec::new(),
            complete: false,
            span: Span::new(source, 0, 0),
        };
        diagnostics.push(codes::text_too_long(module.span, MOST_MEBIBYTES));
        return Parsed {
            module,
            diagnostics,
        };
    }
    let tokens = lexer::lex(text, source, &mut diagnostics);
    let mut parser = Parser {
        text,
        source,
        tokens: &tokens,
        at: 0,
        names: Texts::default(),
        lexical: &diagnostics,
        blamed: None,
        diagnostics: Vec::new(),
    };
    let module = parser.module(Span::new(source, 0, length));
    let found = parser.diagnostics;
    diagnostics.extend(found);
    diagnostic::sort(&mut diagnostics);
    Parsed {
        module,
        diagnostics,
    }
}

/// The statement or declaration cannot be read further; the error is reported.
struct Failed;

type Result<T> = std::result::Result<T, Failed>;

struct Parser<'a> {
    text: &'a str,
    source: SourceId,
    tokens: &'a [Token],
    /// Every name so far: names that are equal share their text.
    names: Texts,
    /// Always inside `tokens`: the end token is never passed.
    at: usize,
    /// What the lexer has reported, in order.
    lexical: &'a [Diagnostic],
    /// The token that the last error was about.
    blamed: Option<usize>,
    diagnostics: Vec<Diagnostic>,
}

/// Tokens.
impl<'a> Parser<'a> {
    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn kind(&self) -> TokenKind {
        self.token().kind
    }

    fn kind_at(&self, ahead: usize) -> TokenKind {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)].kind
    }

    fn text_at(&self, ahead: usize) -> &'a str {
        let last = self.tokens.len() - 1;
        let token = self.tokens[(self.at + ahead).min(last)];
        &self.text[token.start as usize..token.end as usize]
    }

    fn span_of(&self, index: usize) -> Span {
        let token = self.tokens[index];
        Span::new(self.source, token.start, token.end)
    }

    fn span(&self) -> Span {
        self.span_of(self.at)
    }

    /// From the token at `start` to the last one taken.
    fn span_from(&self, start: usize) -> Span {
        self.span_of(start)
            .to(self.span_of(self.at.saturating_sub(1).max(start)))
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn is(&self, punct: u8) -> bool {
        matches!(self.kind(), TokenKind::Punct(found) if found == punct)
    }

    fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    fn is_word_at(&self, ahead: usize, word: &str) -> bool {
        let last = self.tokens.len() - 1;
        let at = self.at + ahead;
        let token = self.tokens[if at < last { at } else { last }];
        matches!(token.kind, TokenKind::Identifier)
            && (token.end - token.start) as usize == word.len()
            && self.text_at(ahead) == word
    }

    fn take(&mut self, punct: u8) -> bool {
        let found = self.is(punct);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, punct: u8) -> Result<()> {
        if self.take(punct) {
            return Ok(());
        }
        let expected = format!("`{}`", char::from(punct));
        Err(self.unexpected(&expected))
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{word}`")))
    }

    /// Reports the token in front, unless it has been already.
    fn unexpected(&mut self, expected: &str) -> Failed {
        if self.blamed != Some(self.at) && !self.follows_lexical_error() {
            self.blamed = Some(self.at);
            let found = match self.kind() {
                TokenKind::End => None,
                _ => Some(self.text_at(0)),
            };
            // A missing `;` or `)` belongs behind the token before.
            let before = self.at.checked_sub(1).map(|index| self.span_of(index));
            self.diagnostics
                .push(codes::unexpected(self.span(), found, expected, before));
        }
        Failed
    }

    /// Whether the lexer has reported something in front of this token: what is missing there may be just that.
    /// A quote without its end spoils its whole line.
    fn follows_lexical_error(&self) -> bool {
        let after = match self.at.checked_sub(1) {
            // A string without its end is a token, and may have swallowed what is missing.
            Some(before) => self.tokens[before].start as usize,
            None => 0,
        };
        let here = self.token().start as usize;
        let next = self
            .lexical
            .partition_point(|error| error.primary.start() < after);
        self.lexical.get(next).is_some_and(|error| {
            let start = error.primary.start();
            // Lines are short where people write them, and looking further for every error of a long one is not free.
            start < here
                || error.code == Code::OpenString
                    && start - here < 1_000
                    && !self.text.as_bytes()[here..start].contains(&b'\n')
        })
    }

    fn unsupported(&mut self, construct: Construct, start: usize) {
        let span = self.span_from(start);
        self.diagnostics.push(codes::unsupported(construct, span));
    }

    fn name(&mut self, what: &str) -> Result<Name> {
        if !matches!(self.kind(), TokenKind::Identifier) {
            return Err(self.unexpected(what));
        }
        let text = self.text_at(0);
        let known = self.names.position(text, || text.into());
        let name = Name {
            text: Arc::clone(self.names.get(known)),
            span: self.span(),
        };
        self.advance();
        Ok(name)
    }

    /// `a.b.C`, kept without the white space that may stand around its dots.
    fn qualified(&mut self, what: &str) -> Result<Name> {
        let mut name = self.name(what)?;
        if self.is(b'.') {
            let mut text = name.text.to_string();
            while self.take(b'.') {
                let part = self.name("a name")?;
                text.push('.');
                text.push_str(part.as_str());
                name.span = name.span.to(part.span);
            }
            name.text = text.into();
        }
        Ok(name)
    }

    fn string(&mut self) -> Result<Name> {
        if self.kind() != TokenKind::String {
            return Err(self.unexpected("a name in double quotes"));
        }
        let text = self.text_at(0).trim_start_matches('"');
        let text = text.strip_suffix('"').unwrap_or(text);
        let name = Name {
            text: text.into(),
            span: self.span(),
        };
        self.advance();
        Ok(name)
    }

    /// Any number of `@"text"`.
    fn annotations(&mut self) -> Result<Vec<Name>> {
        let mut annotations = Vec::new();
        while self.is(b'@') {
            self.advance();
            annotations.push(self.string()?);
        }
        Ok(annotations)
    }

    /// `element, element` up to `close`, which is taken.
    fn list<T>(
        &mut self,
        close: u8,
        mut element: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut elements = Vec::new();
        if self.take(close) {
            return Ok(elements);
        }
        loop {
            elements.push(element(self)?);
            if self.take(b',') {
                continue;
            }
            if self.take(close) {
                return Ok(elements);
            }
            return Err(self.unexpected(&format!("`,` or `{}`", char::from(close))));
        }
    }

    /// Skips from an opening bracket to behind the one that closes it.
    fn skip_balanced(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.kind() {
                TokenKind::End => return,
                TokenKind::Punct(b'{' | b'(' | b'[') => depth += 1,
                TokenKind::Punct(b'}' | b')' | b']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return;
            }
        }
    }
}

/// Declarations.
impl Parser<'_> {
    fn module(&mut self, span: Span) -> Module {
        let mut module = Module {
            header: None,
            imports: Vec::new(),
            declarations: Vec::new(),
            protocols: Vec::new(),
            complete: true,
            span,
        };
        while self.kind() != TokenKind::End {
            let start = self.at;
            if self.declaration(&mut module).is_err() {
                module.complete = false;
                self.skip_to_declaration(start);
            }
        }
        module
    }

    fn declaration(&mut self, module: &mut Module) -> Result<()> {
        let start = self.at;
        let word = match self.kind() {
            TokenKind::Identifier => self.text_at(0),
            _ => "",
        };
        match word {
            "module" => {
                self.advance();
                let name = self.qualified("the name of the module")?;
                self.expect(b';')?;
                let first = module.imports.is_empty()
                    && module.declarations.is_empty()
                    && module.protocols.is_empty();
                match &module.header {
                    None if first => module.header = Some(name),
                    header => {
                        let header = header.as_ref().map(|header| header.span);
                        self.diagnostics.push(codes::late_module(name.span, header));
                    }
                }
            }
            "import" => {
                self.advance();
                let name = self.qualified("the name of a module")?;
                let alias = if self.take_word("as") {
                    Some(self.name("a name for the module")?)
                } else {
                    None
                };
                self.expect(b';')?;
                module.imports.push(Import {
                    module: name,
                    alias,
                    span: self.span_from(start),
                });
            }
            "type" | "data" => {
                let declaration = self.external(DeclarationKind::Payload)?;
                module.declarations.push(declaration);
            }
            "sig" => {
                let declaration = self.external(DeclarationKind::Signature)?;
                module.declarations.push(declaration);
            }
            "global" | "protocol" | "aux" | "explicit" | "local" | "nested" => {
                match self.protocol()? {
                    Some(protocol) => module.protocols.push(protocol),
                    None => module.complete = false,
                }
            }
            _ => return Err(self.unexpected("a declaration such as `global protocol`")),
        }
        Ok(())
    }

    /// `type <rust> "std::string::String" from "std" as Str;`
    fn external(&mut self, kind: DeclarationKind) -> Result<Declaration> {
        let start = self.at;
        self.advance();
        self.expect(b'<')?;
        let schema = self.qualified("a schema such as `rust`")?;
        self.expect(b'>')?;
        let external = self.string()?;
        let from = if self.take_word("from") {
            Some(self.string()?)
        } else {
            None
        };
        self.expect_word("as")?;
        let name = self.name("a name to use in protocols")?;
        self.expect(b';')?;
        Ok(Declaration {
            kind,
            schema,
            external,
            from,
            name,
            span: self.span_from(start),
        })
    }

    /// A protocol, or nothing if it is of a kind that is refused.
    fn protocol(&mut self) -> Result<Option<ProtocolDecl>> {
        let start = self.at;
        let mut auxiliary = false;
        let mut refused = None;
        let mut headed = false;
        // Up to and with `protocol`; `global P(…)` does without.
        loop {
            let word = match self.kind() {
                TokenKind::Identifier => self.text_at(0),
                _ => "",
            };
            // `global (…)` cannot be, so a modifier is always followed by a word.
            match word {
                "aux" => auxiliary = true,
                "explicit" => refused = Some((Construct::Explicit, self.at)),
                "local" => refused = Some((Construct::LocalProtocol, self.at)),
                "nested" => refused = Some((Construct::NestedProtocol, self.at)),
                "global" => headed = true,
                "protocol" => {
                    self.advance();
                    break;
                }
                _ if headed => break,
                _ => return Err(self.unexpected("`global protocol`")),
            }
            self.advance();
        }
        if let Some((construct, at)) = refused {
            let span = self.span_of(at);
            self.diagnostics.push(codes::unsupported(construct, span));
        }
        let name = self.name("the name of the protocol")?;
        if refused.is_some_and(|(construct, _)| construct != Construct::Explicit) {
            // Their headings and bodies have a grammar of their own.
            self.skip_to_brace()?;
            self.skip_balanced();
            return Ok(None);
        }
        let parameters = if self.take(b'<') {
            self.list(b'>', Self::parameter)?
        } else {
            Vec::new()
        };
        self.expect(b'(')?;
        let roles = self.list(b')', Self::role)?;
        let annotations = self.annotations()?;
        if !self.is(b'{') {
            return Err(self.unexpected("`{`"));
        }
        let body = self.body();
        Ok(Some(ProtocolDecl {
            name,
            auxiliary,
            parameters,
            roles,
            annotations,
            body,
            span: self.span_from(start),
        }))
    }

    /// Skips a heading that is not read.
    fn skip_to_brace(&mut self) -> Result<()> {
        while !self.is(b'{') {
            if matches!(self.kind(), TokenKind::End | TokenKind::Punct(b'}')) {
                return Err(self.unexpected("`{`"));
            }
            self.advance();
        }
        Ok(())
    }

    fn parameter(&mut self) -> Result<Parameter> {
        let kind = if self.take_word("sig") {
            ParameterKind::Signature
        } else if self.take_word("type") || self.take_word("data") {
            ParameterKind::Sort
        } else {
            return Err(self.unexpected("`sig` or `type`"));
        };
        let name = self.name("the name of the parameter")?;
        if self.take_word("as") {
            self.name("a name")?;
        }
        Ok(Parameter { kind, name })
    }

    fn role(&mut self) -> Result<RoleDecl> {
        self.expect_word("role")?;
        let name = self.name("the name of a role")?;
        let alias = if self.take_word("as") {
            Some(self.name("a name for the role")?)
        } else {
            None
        };
        Ok(RoleDecl { name, alias })
    }

    /// Skips to the next word that starts a declaration, at least one token.
    fn skip_to_declaration(&mut self, start: usize) {
        if self.at == start {
            self.advance();
        }
        loop {
            match self.kind() {
                TokenKind::End => return,
                // Braces are balanced over what is skipped: what looks like a declaration inside of them is
                // the body of something that was not understood.
                TokenKind::Punct(b'{') => self.skip_balanced(),
                TokenKind::Identifier => {
                    let follows = self.kind_at(1);
                    let starts = match self.text_at(0) {
                        "module" | "import" | "aux" | "explicit" | "nested" | "local"
                        | "global" | "protocol" => follows == TokenKind::Identifier,
                        "type" | "data" | "sig" => follows == TokenKind::Punct(b'<'),
                        _ => false,
                    };
                    if starts {
                        return;
                    }
                    self.advance();
                }
                _ => self.advance(),
            }
        }
    }
}

/// What an open brace belongs to.
enum Opened {
    /// The protocol.
    Root,
    /// The interaction, a recursion.
    Rec(InteractionId),
    /// The interaction, a choice, with its branches so far.
    Choice(InteractionId, Vec<BlockId>),
    /// A construct that is refused: the word between its blocks, and the words of its tail.
    Refused(&'static str),
}

/// A block that is being read.
struct Open {
    what: Opened,
    block: BlockId,
    brace: usize,
    items: Vec<InteractionId>,
}

/// Interactions.
impl Parser<'_> {
    /// A block and everything in it, from its brace.
    fn body(&mut self) -> Body {
        let mut body = Body {
            interactions: Vec::new(),
            blocks: Vec::new(),
        };
        let mut stack = Vec::new();
        self.open(&mut body, &mut stack, Opened::Root);
        while let Some(top) = stack.last() {
            match self.kind() {
                TokenKind::Punct(b'}') => {
                    self.advance();
                    if let Some(open) = stack.pop() {
                        self.close(&mut body, &mut stack, open);
                    }
                }
                TokenKind::End => {
                    if self.blamed != Some(self.at) {
                        self.blamed = Some(self.at);
                        let brace = self.span_of(top.brace);
                        self.diagnostics.push(codes::open_block(self.span(), brace));
                    }
                    self.close_all(&mut body, &mut stack);
                }
                _ if self.starts_declaration() => {
                    // A brace is missing; what follows must not be lost.
                    let brace = self.span_of(top.brace);
                    self.diagnostics.push(codes::open_block(self.span(), brace));
                    self.close_all(&mut body, &mut stack);
                }
                _ if matches!(top.what, Opened::Choice(..))
                    && self.is_word("or")
                    && self.kind_at(1) == TokenKind::Punct(b'{') =>
                {
                    self.unexpected("`}`");
                    if let Some(open) = stack.pop() {
                        self.close(&mut body, &mut stack, open);
                    }
                }
                _ => {
                    let start = self.at;
                    if self.statement(&mut body, &mut stack).is_err() {
                        self.skip_statement(start);
                        self.add(
                            &mut body,
                            &mut stack,
                            start,
                            InteractionKind::Invalid,
                            Vec::new(),
                        );
                    }
                }
            }
        }
        body
    }

    /// The text ends inside of blocks: what is missing in the innermost is not known.
    fn close_all(&mut self, body: &mut Body, stack: &mut Vec<Open>) {
        self.add(body, stack, self.at, InteractionKind::Invalid, Vec::new());
        while let Some(open) = stack.pop() {
            self.finish(body, open);
        }
    }

    /// Whether `global protocol P(` or the like is in front, which is no interaction.
    fn starts_declaration(&self) -> bool {
        match self.kind() {
            // The next word is looked at first: it is one for few interactions.
            TokenKind::Identifier if self.kind_at(1) == TokenKind::Identifier => {
                match self.text_at(0) {
                    "global" | "aux" | "explicit" => {
                        self.is_word_at(1, "protocol") || self.is_word_at(1, "global")
                    }
                    "protocol" => self.kind_at(2) == TokenKind::Punct(b'('),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Takes a `{`, which is in front.
    fn open(&mut self, body: &mut Body, stack: &mut Vec<Open>, what: Opened) {
        let block = BlockId(id(body.blocks.len()));
        body.blocks.push(Block {
            items: Vec::new(),
            span: self.span(),
        });
        stack.push(Open {
            what,
            block,
            brace: self.at,
            items: Vec::new(),
        });
        self.advance();
    }

    /// A `}` was taken: the block is complete, and perhaps the interaction that it belongs to.
    fn close(&mut self, body: &mut Body, stack: &mut Vec<Open>, mut open: Open) {
        let next = match &open.what {
            Opened::Choice(..) => Some("or"),
            Opened::Refused(word) => Some(*word),
            Opened::Root | Opened::Rec(_) => None,
        };
        let again = next
            .is_some_and(|next| self.is_word(next) && self.kind_at(1) == TokenKind::Punct(b'{'));
        if again && next == Some("with") {
            // The interrupts have a grammar of their own.
            self.advance();
            self.skip_balanced();
            self.finish(body, open);
        } else if again {
            self.advance();
            let what = match &mut open.what {
                Opened::Choice(id, branches) => {
                    branches.push(open.block);
                    Opened::Choice(*id, std::mem::take(branches))
                }
                Opened::Refused(word) => Opened::Refused(word),
                Opened::Root => Opened::Root,
                Opened::Rec(id) => Opened::Rec(*id),
            };
            self.fill(body, open.block, open.brace, open.items);
            self.open(body, stack, what);
        } else {
            self.finish(body, open);
        }
    }

    fn fill(&mut self, body: &mut Body, block: BlockId, brace: usize, items: Vec<InteractionId>) {
        let span = self.span_from(brace);
        let block = &mut body.blocks[block.0 as usize];
        block.items = items;
        block.span = span;
    }

    /// Nothing more follows the block: its interaction is complete.
    fn finish(&mut self, body: &mut Body, open: Open) {
        self.fill(body, open.block, open.brace, open.items);
        if let Opened::Choice(id, mut done) = open.what {
            done.push(open.block);
            if let InteractionKind::Choice { branches, .. } =
                &mut body.interactions[id.0 as usize].kind
            {
                *branches = done;
            }
        }
    }

    /// Adds an interaction to the innermost block. Its span ends where the parser is.
    fn add(
        &mut self,
        body: &mut Body,
        stack: &mut [Open],
        start: usize,
        kind: InteractionKind,
        annotations: Vec<Name>,
    ) -> InteractionId {
        let id = InteractionId(id(body.interactions.len()));
        body.interactions.push(Interaction {
            kind,
            annotations,
            span: self.span_from(start),
        });
        if let Some(open) = stack.last_mut() {
            open.items.push(id);
        }
        id
    }

    fn statement(&mut self, body: &mut Body, stack: &mut Vec<Open>) -> Result<()> {
        let start = self.at;
        if self.is(b'(') {
            return self.message(body, stack);
        }
        if self.kind() != TokenKind::Identifier {
            return Err(self.unexpected("an interaction or `}`"));
        }
        let next = self.kind_at(1);
        if matches!(next, TokenKind::Punct(b'(')) {
            // `label(`: no construct has a bracket behind its word.
            return self.message(body, stack);
        }
        let word = self.text_at(0);
        let brace = next == TokenKind::Punct(b'{');
        let name = next == TokenKind::Identifier;
        match word {
            "choice" if name && self.is_word_at(1, "at") => {
                self.advance();
                self.advance();
                let at = self.name("the role that chooses")?;
                if !self.is(b'{') {
                    return Err(self.unexpected("`{`"));
                }
                let kind = InteractionKind::Choice {
                    at,
                    branches: Vec::new(),
                };
                let id = self.add(body, stack, start, kind, Vec::new());
                self.open(body, stack, Opened::Choice(id, Vec::new()));
            }
            "choice" if brace || name && self.kind_at(2) == TokenKind::Punct(b'{') => {
                self.advance();
                let failed = self.unexpected("`at` and the role that chooses");
                while !self.is(b'{') {
                    self.advance();
                }
                self.skip_balanced();
                while self.is_word("or") && self.kind_at(1) == TokenKind::Punct(b'{') {
                    self.advance();
                    self.skip_balanced();
                }
                // All of it is read: nothing is left to skip.
                let Failed = failed;
                self.add(body, stack, start, InteractionKind::Invalid, Vec::new());
            }
            "rec" if brace => {
                self.advance();
                return Err(self.unexpected("the name of the recursion"));
            }
            "continue" if next == TokenKind::Punct(b';') => {
                self.advance();
                return Err(self.unexpected("the name of a recursion"));
            }
            "rec" if name && !self.is_word_at(1, "from") => {
                self.advance();
                let variable = self.name("the name of the recursion")?;
                if self.is(b'[') {
                    let parameters = self.at;
                    self.skip_balanced();
                    self.unsupported(Construct::RecursionParameters, parameters);
                }
                if !self.is(b'{') {
                    return Err(self.unexpected("`{`"));
                }
                let block = BlockId(id(body.blocks.len()));
                let kind = InteractionKind::Rec {
                    variable,
                    body: block,
                };
                let id = self.add(body, stack, start, kind, Vec::new());
                self.open(body, stack, Opened::Rec(id));
            }
            "continue" if name && !self.is_word_at(1, "from") => {
                self.advance();
                let variable = self.name("the name of a recursion")?;
                if self.is(b'[') {
                    let arguments = self.at;
                    self.skip_balanced();
                    self.unsupported(Construct::RecursionParameters, arguments);
                }
                self.expect(b';')?;
                let kind = InteractionKind::Continue { variable };
                self.add(body, stack, start, kind, Vec::new());
            }
            "do" if name && !self.is_word_at(1, "from") => return self.call(body, stack),
            "par" if brace => self.refused_block(body, stack, start, Construct::Par, "and"),
            "unordered" if brace => self.refused_block(body, stack, start, Construct::Par, "and"),
            "interruptible" if brace || name => {
                self.advance();
                if name {
                    self.advance();
                }
                if !self.is(b'{') {
                    return Err(self.unexpected("`{`"));
                }
                self.at -= 1;
                self.refused_block(body, stack, start, Construct::Interruptible, "with");
            }
            "connect" | "disconnect" | "wrap" if name && !self.is_word_at(1, "from") => {
                let construct = match word {
                    "wrap" => Construct::Wrap,
                    _ => Construct::Connection,
                };
                self.advance();
                self.name("the name of a role")?;
                if !self.take_word("and") {
                    self.expect_word("to")?;
                }
                self.name("the name of a role")?;
                self.expect(b';')?;
                self.refuse(body, stack, start, construct);
            }
            "nested" if name && self.is_word_at(1, "protocol") => {
                self.skip_to_brace()?;
                self.skip_balanced();
                self.refuse(body, stack, start, Construct::NestedProtocol);
            }
            _ if self.is_word_at(1, "calls") => {
                self.advance();
                self.advance();
                self.name("the name of a protocol")?;
                self.expect(b'(')?;
                self.list(b')', |parser| parser.name("the name of a role"))?;
                self.annotations()?;
                self.expect(b';')?;
                self.refuse(body, stack, start, Construct::NestedProtocol);
            }
            _ => return self.message(body, stack),
        }
        Ok(())
    }

    /// Reports the statement that ends here, and keeps its place.
    fn refuse(&mut self, body: &mut Body, stack: &mut [Open], start: usize, construct: Construct) {
        self.unsupported(construct, start);
        self.add(body, stack, start, InteractionKind::Invalid, Vec::new());
    }

    /// `par {`: reports the word and reads the blocks, whose errors are errors all the same.
    fn refused_block(
        &mut self,
        body: &mut Body,
        stack: &mut Vec<Open>,
        start: usize,
        construct: Construct,
        next: &'static str,
    ) {
        self.advance();
        self.refuse(body, stack, start, construct);
        self.open(body, stack, Opened::Refused(next));
    }

    /// `do P<…>(A, B);`
    fn call(&mut self, body: &mut Body, stack: &mut [Open]) -> Result<()> {
        let start = self.at;
        self.advance();
        let protocol = self.qualified("the name of a protocol")?;
        let arguments = if self.take(b'<') {
            self.list(b'>', Self::argument)?
        } else {
            Vec::new()
        };
        self.expect(b'(')?;
        let roles = self.list(b')', |parser| parser.name("the name of a role"))?;
        let before = self.annotations()?;
        self.expect(b';')?;
        let kind = InteractionKind::Do {
            protocol,
            arguments,
            roles,
        };
        let id = self.add(body, stack, start, kind, before);
        self.annotate(body, id)
    }

    fn argument(&mut self) -> Result<MessageExpr> {
        if self.is(b'(') || self.kind_at(1) == TokenKind::Punct(b'(') {
            self.literal()
        } else {
            let name = self.qualified("a message or a sort")?;
            Ok(MessageExpr::Named(name))
        }
    }

    /// Annotations behind the `;`.
    fn annotate(&mut self, body: &mut Body, id: InteractionId) -> Result<()> {
        let more = self.annotations()?;
        body.interactions[id.0 as usize].annotations.extend(more);
        Ok(())
    }

    /// `label(payload)`
    fn literal(&mut self) -> Result<MessageExpr> {
        let label = if self.is(b'(') {
            let at = self.token().start;
            Name {
                text: Arc::from(""),
                span: Span::new(self.source, at, at),
            }
        } else {
            self.name("a message")?
        };
        self.expect(b'(')?;
        let payload = self.list(b')', Self::payload)?;
        Ok(MessageExpr::Literal { label, payload })
    }

    fn payload(&mut self) -> Result<Payload> {
        let name = if self.kind_at(1) == TokenKind::Punct(b':') {
            let name = self.name("the name of a payload")?;
            self.advance();
            Some(name)
        } else {
            None
        };
        let sort = self.qualified("the sort of a payload")?;
        let delegated = if self.take(b'@') {
            Some(self.name("the name of a role")?)
        } else {
            None
        };
        if self.is(b'{') {
            let start = self.at;
            self.skip_balanced();
            self.unsupported(Construct::Refinement, start);
        }
        Ok(Payload {
            name,
            sort,
            delegated,
        })
    }

    /// `label(payload) from A to B, C;`
    fn message(&mut self, body: &mut Body, stack: &mut [Open]) -> Result<()> {
        let start = self.at;
        let message = if self.is(b'(') || self.kind_at(1) == TokenKind::Punct(b'(') {
            self.literal()?
        } else {
            MessageExpr::Named(self.qualified("a message")?)
        };
        let connects = self.at;
        if self.take_word("connect") {
            // `hi() connect A to B;`
            self.name("the name of a role")?;
            self.expect_word("to")?;
            self.name("the name of a role")?;
            self.expect(b';')?;
            self.diagnostics.push(codes::unsupported(
                Construct::Connection,
                self.span_of(connects),
            ));
            self.add(body, stack, start, InteractionKind::Invalid, Vec::new());
            return Ok(());
        }
        if !self.take_word("from") {
            let expected = match &message {
                MessageExpr::Literal { .. } => "`from`",
                MessageExpr::Named(_) => "`(` or `from`",
            };
            let reported = self.diagnostics.len();
            let failed = self.unexpected(expected);
            // Nothing is known of a word at the start of a statement, so it was taken for a message.
            if let (MessageExpr::Named(name), Some(error)) =
                (&message, self.diagnostics.get_mut(reported))
                && let Some(keyword) = names::similar(name.as_str(), &STATEMENTS)
            {
                error.help = Some(format!("did you mean `{keyword}` instead of `{name}`?"));
            }
            return Err(failed);
        }
        let from = self.name("the role that sends")?;
        self.expect_word("to")?;
        let mut to = vec![self.name("the role that receives")?];
        while self.take(b',') {
            to.push(self.name("the role that receives")?);
        }
        let before = self.annotations()?;
        self.expect(b';')?;
        let kind = InteractionKind::Message { message, from, to };
        let id = self.add(body, stack, start, kind, before);
        self.annotate(body, id)
    }

    /// Skips what is left of a statement that started at `start`.
    fn skip_statement(&mut self, start: usize) {
        loop {
            match self.kind() {
                TokenKind::Punct(b';') => return self.advance(),
                // The statement has no `;`; the next one is good.
                TokenKind::Punct(b'}') | TokenKind::End => return,
                TokenKind::Punct(b'{') => {
                    self.skip_balanced();
                    // The other branches, if it was meant to be a choice.
                    while self.is_word("or") && self.kind_at(1) == TokenKind::Punct(b'{') {
                        self.advance();
                        self.skip_balanced();
                    }
                    return;
                }
                TokenKind::Identifier if self.at > start && self.starts_statement() => return,
                _ => self.advance(),
            }
        }
    }

    /// Whether something that can only be the start of a statement or a declaration is in front: where a `;`
    /// is missing, the next statement must not be lost.
    fn starts_statement(&self) -> bool {
        let name = self.kind_at(1) == TokenKind::Identifier;
        match self.text_at(0) {
            "choice" => self.is_word_at(1, "at"),
            "rec" => name && self.kind_at(2) == TokenKind::Punct(b'{'),
            "continue" => name && self.kind_at(2) == TokenKind::Punct(b';'),
            "do" => name && self.kind_at(2) == TokenKind::Punct(b'('),
            _ => {
                // `label(` behind a name: `from A to B label() …`.
                self.kind_at(1) == TokenKind::Punct(b'(')
                    && self.tokens[self.at - 1].kind == TokenKind::Identifier
                    && !matches!(self.text_before(), "do" | "calls")
            }
        }
    }

    fn text_before(&self) -> &str {
        let token = self.tokens[self.at - 1];
        &self.text[token.start as usize..token.end as usize]
    }
}

/// Ids fit: every interaction takes more than one byte of a text shorter than 4 GiB.
fn id(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
