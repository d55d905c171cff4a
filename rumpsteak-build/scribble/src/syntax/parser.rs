//! The parser of declarations: recursive descent, except that nested blocks are on a stack of our
//! own, so that no nesting overflows the thread's.
//!
//! Words are keywords by position only: `choice at A {` opens a choice, `choice() from A to B;`
//! sends a message. The next token tells them apart.
//!
//! # Recovery
//! After an error inside a statement, reading goes on behind the next `;` or at a brace; after an
//! error between declarations, at the next word that starts one. Each token is reported at most
//! once, so one mistake has one error. Everything that was understood before the error is kept.
//!
//! Known constructs that this crate does not support (`wrap`, refinements, …) are parsed as far as
//! possible and reported by name.

use super::ast::{Declaration, DeclarationKind, Import, Module, Parameter, ProtocolDecl, RoleDecl};
use super::body::body;
use super::cursor::{Cursor, Result};
use super::lexer::{self, TokenKind};
use crate::diagnostics::{Construct, Diagnostic, SourceId, Span, diagnostic, syntax_errors};
use crate::index::index;

/// A module and its errors.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The part of the text that was understood; without errors, the whole text.
    pub module: Module,
    /// Every error, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Longer texts are not read: a token takes several hundred bytes of memory, and positions have 32
/// bits.
const MOST_MEBIBYTES: usize = 64;

/// Parses one source text of up to 64 MiB.
///
/// Finds all errors in one pass. Costs O(text), and nesting uses no stack.
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

/// [`parse`], for one of several texts.
pub(crate) fn parse_source(text: &str, source: SourceId) -> Parsed {
    let mut module = Module { span: Span::new(source, 0, 0), ..Module::default() };
    let mut diagnostics = Vec::new();
    if text.len() > MOST_MEBIBYTES << 20 {
        diagnostics.push(syntax_errors::text_too_long(module.span, MOST_MEBIBYTES));
        return Parsed { module, diagnostics };
    }
    module.complete = true;
    module.span = Span::new(source, 0, index(text.len()));
    let tokens = lexer::lex(text, source, &mut diagnostics);
    let mut cursor = Cursor::new(text, source, &tokens, &diagnostics);
    while cursor.kind() != TokenKind::End {
        let start = cursor.at();
        if declaration(&mut cursor, &mut module).is_err() {
            module.complete = false;
            skip_to_declaration(&mut cursor, start);
        }
    }
    diagnostics.extend(cursor.diagnostics);
    diagnostic::sort(&mut diagnostics);
    Parsed { module, diagnostics }
}

fn declaration(cursor: &mut Cursor<'_>, module: &mut Module) -> Result<()> {
    match cursor.word() {
        "module" => header(cursor, module)?,
        "import" => module.imports.push(import(cursor)?),
        "type" | "data" => {
            module.declarations.push(external(cursor, DeclarationKind::Payload)?);
        }
        "sig" => module.declarations.push(external(cursor, DeclarationKind::Signature)?),
        "const" => {
            let start = cursor.at();
            while !cursor.take(b';') && cursor.kind() != TokenKind::End {
                cursor.advance();
            }
            cursor.unsupported_once(Construct::FAMILY, start);
        }
        "global" | "protocol" | "aux" | "explicit" | "local" | "nested" | "timed" => {
            match protocol(cursor)? {
                Some(protocol) => module.protocols.push(protocol),
                None => module.complete = false,
            }
        }
        _ => return Err(cursor.unexpected("a declaration such as `global protocol`")),
    }
    Ok(())
}

/// `module shop.Orders;`
fn header(cursor: &mut Cursor<'_>, module: &mut Module) -> Result<()> {
    cursor.advance();
    let name = cursor.qualified("the name of the module")?;
    cursor.expect(b';')?;
    let is_first =
        module.imports.is_empty() && module.declarations.is_empty() && module.protocols.is_empty();
    if is_first && module.header.is_none() {
        module.header = Some(name);
    } else {
        let first = module.header.as_ref().map(|header| header.span);
        cursor.diagnostics.push(syntax_errors::late_module(name.span, first));
    }
    Ok(())
}

/// `import shop.Base as B;`
fn import(cursor: &mut Cursor<'_>) -> Result<Import> {
    let start = cursor.at();
    cursor.advance();
    let module = cursor.qualified("the name of a module")?;
    let alias = cursor.after_word("as", |cursor| cursor.name("a name for the module"))?;
    cursor.expect(b';')?;
    Ok(Import { module, alias, span: cursor.span_from(start) })
}

/// `type <rust> "std::string::String" from "std" as Str;`
fn external(cursor: &mut Cursor<'_>, kind: DeclarationKind) -> Result<Declaration> {
    let start = cursor.at();
    cursor.advance();
    cursor.expect(b'<')?;
    let schema = cursor.qualified("a schema such as `rust`")?;
    cursor.expect(b'>')?;
    let external = cursor.string()?;
    let from = cursor.after_word("from", Cursor::string)?;
    cursor.expect_word("as")?;
    let mut name = cursor.name("a name to use in protocols")?;
    // The type of a session that changes hands: `as Portal@portal`.
    if kind == DeclarationKind::Payload && cursor.take(b'@') {
        let role = cursor.role("the role of a session")?;
        name.text = format!("{name}@{role}").into();
    }
    cursor.expect(b';')?;
    Ok(Declaration { kind, schema, external, from, name, span: cursor.span_from(start) })
}

/// A protocol; `None` for a kind that is not supported.
fn protocol(cursor: &mut Cursor<'_>) -> Result<Option<ProtocolDecl>> {
    let start = cursor.at();
    let (mut auxiliary, mut explicit) = (false, false);
    cursor.is_dialect = false;
    let mut refused = None;
    let mut headed = false;
    // Ends with `protocol`, or after `global` without it: `global P(…)`.
    loop {
        match cursor.word() {
            "aux" => auxiliary = true,
            "explicit" => explicit = true,
            "local" => refused = Some((Construct::LOCAL_PROTOCOL, cursor.at())),
            "timed" => cursor.unsupported_once(Construct::TIME, cursor.at()),
            "nested" => refused = Some((Construct::NESTED_PROTOCOL, cursor.at())),
            "global" => headed = true,
            "protocol" => {
                cursor.advance();
                break;
            }
            _ if headed && cursor.kind_at(1) != TokenKind::Identifier => break,
            _ if headed => return Err(cursor.unexpected("`protocol`")),
            _ => return Err(cursor.unexpected("`global protocol`")),
        }
        cursor.advance();
    }
    let name = cursor.name("the name of the protocol")?;
    if cursor.is_word("at") {
        refused.get_or_insert((Construct::LOCAL_PROTOCOL, cursor.at()));
    }
    if let Some((construct, at)) = refused {
        cursor.diagnostics.push(syntax_errors::unsupported(construct, cursor.span_of(at)));
        // Their headings and bodies have another grammar.
        cursor.skip_to_block()?;
        cursor.skip_balanced();
        return Ok(None);
    }
    let parameters = if cursor.take(b'<') { cursor.list(b'>', parameter)? } else { Vec::new() };
    cursor.expect(b'(')?;
    let roles = cursor.list(b')', role)?;
    cursor.annotations()?;
    cursor.expect_block()?;
    let body = body(cursor);
    if cursor.is_dialect {
        return Ok(None);
    }
    let span = cursor.span_from(start);
    Ok(Some(ProtocolDecl { name, auxiliary, explicit, parameters, roles, body, span }))
}

/// `sig M`
fn parameter(cursor: &mut Cursor<'_>) -> Result<Parameter> {
    let kind = match cursor.word() {
        "sig" => DeclarationKind::Signature,
        "type" | "data" => DeclarationKind::Payload,
        _ => return Err(cursor.unexpected("`sig` or `type`")),
    };
    cursor.advance();
    let name = cursor.name("the name of the parameter")?;
    cursor.after_word("as", |cursor| cursor.name("a name"))?;
    Ok(Parameter { kind, name })
}

/// `role A as B`
fn role(cursor: &mut Cursor<'_>) -> Result<RoleDecl> {
    if cursor.is_word("reliable") {
        cursor.unsupported_once(Construct::RELIABLE, cursor.at());
        cursor.advance();
    }
    cursor.expect_word("role")?;
    let name = cursor.name("the name of a role")?;
    let is_plain = cursor.is(b'[') && (cursor.is_at(2, b']') || cursor.is_at(2, b')'));
    let members = if is_plain && cursor.take(b'[') {
        let size = cursor.name("the number of members or `N`")?;
        cursor.expect(b']')?;
        Some(size)
    } else {
        cursor.index();
        None
    };
    let alias = cursor.after_word("as", |cursor| cursor.name("a name for the role"))?;
    Ok(RoleDecl { name, alias, members })
}

/// Skips to the next word that starts a declaration, at least one token behind `start`.
fn skip_to_declaration(cursor: &mut Cursor<'_>, start: usize) {
    if cursor.at() == start {
        cursor.advance();
    }
    loop {
        match (cursor.kind(), cursor.word()) {
            (TokenKind::End, _) => return,
            // A block that is skipped is skipped as a whole, with everything that looks like a
            // declaration in it.
            (TokenKind::Punct(b'{'), _) => cursor.skip_balanced(),
            (_, "type" | "data" | "sig") if cursor.is_at(1, b'<') => return,
            (
                _,
                "module" | "import" | "aux" | "explicit" | "nested" | "local" | "global"
                | "protocol" | "timed" | "const",
            ) if cursor.kind_at(1) == TokenKind::Identifier => return,
            _ => cursor.advance(),
        }
    }
}
