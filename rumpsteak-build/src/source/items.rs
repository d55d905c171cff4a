//! The items of a list of tokens, without their contents.
//!
//! The walk needs to know which modules, imports, types and macro calls a file has, and nothing of what is inside its
//! functions. So files are cut into items rather than parsed:
//!
//! * an item ends at the first `;`, or at the first `{…}` outside angle brackets if it is one of those that do;
//! * whatever is inside a group belongs to the item as one token.
//!
//! This accepts every program that rustc accepts, also one that uses syntax younger than this crate; a function that
//! is half typed costs only itself; nothing here recurses, so no source however nested overflows the stack; and it
//! takes a tenth of the time of a full parse. What it accepts beyond Rust, rustc refuses.

use rumpsteak_contract::token::{Delimiter, Span, Token, TokenKind, content, tree_len};

use crate::source::cfg::{Cfg, Truth, split_commas};

/// Tokens of a file.
pub(crate) type Tokens<'s, 'a> = &'s [Token<'a>];

/// An item with its outer attributes taken off.
#[derive(Clone, Debug)]
pub(crate) struct RawItem<'s, 'a> {
    /// The attributes that hold in this build, those in `cfg_attr` among them, without the `cfg`s.
    pub(crate) attributes: Vec<Attribute<'s, 'a>>,
    /// Whether the item is part of this build.
    pub(crate) condition: Truth,
    /// Who may name the item.
    pub(crate) visibility: Visibility,
    /// What the item is.
    pub(crate) kind: RawKind<'s, 'a>,
    /// The tokens of the item, from the visibility on.
    pub(crate) tokens: Tokens<'s, 'a>,
}

/// An attribute: the last segment of its path, and what follows the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute<'s, 'a> {
    pub(crate) name: &'a str,
    /// Whether the path is this name alone.
    pub(crate) is_plain: bool,
    pub(crate) rest: Tokens<'s, 'a>,
    /// The content of the brackets.
    pub(crate) content: Tokens<'s, 'a>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Visibility {
    /// Seen in the module and below it.
    Private,
    /// Seen further out. How far does not matter: rustc checks it.
    Public,
}

/// A name with its place.
pub(crate) type Name<'a> = (&'a str, Span);

#[derive(Clone, Copy, Debug)]
pub(crate) enum RawKind<'s, 'a> {
    Enum(Name<'a>),
    /// `extern crate NAME as ALIAS;`
    ExternCrate {
        name: &'a str,
        alias: &'a str,
    },
    /// `include!("…");`
    Include(&'a str),
    /// `mod NAME;` or `mod NAME { … }`.
    Module(&'a str, Option<Tokens<'s, 'a>>),
    /// `protocol!(…);`: the arguments.
    Protocol(Tokens<'s, 'a>),
    /// Anything that declares no name that a session can use.
    Other,
    Struct(Name<'a>),
    /// A `type`, `union` or `trait`: a name among the types.
    Type(Name<'a>),
    /// `use …;`, without the `use` and the `;`.
    Use(Tokens<'s, 'a>),
}

/// A file or an inline module, cut into items.
#[derive(Clone, Debug)]
pub(crate) struct RawItems<'s, 'a> {
    pub(crate) items: Vec<RawItem<'s, 'a>>,
    /// The conjunction of the inner `#![cfg(…)]`s.
    pub(crate) condition: Truth,
}

/// Cuts tokens into items. Linear in the number of tokens.
pub(crate) fn scan<'s, 'a>(tokens: Tokens<'s, 'a>, cfg: &Cfg) -> RawItems<'s, 'a> {
    let mut cursor = Cursor { tokens, next: 0 };
    let mut items = Vec::new();
    let mut condition = Truth::True;
    while cursor.next < tokens.len() {
        if cursor.eat_punct(';') {
            continue;
        }
        if cursor.inner_attribute(&mut condition, cfg) {
            continue;
        }
        if let Some(item) = cursor.item(cfg) {
            items.push(item);
        }
    }
    RawItems { items, condition }
}

impl<'s, 'a> Attribute<'s, 'a> {
    /// Whether the last segment of the path is the given name: `session` in `#[rumpsteak_runtime::session]`.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// The tokens in parentheses, if there are any.
    pub(crate) fn arguments(&self) -> Option<Tokens<'s, 'a>> {
        match self.rest {
            [first, ..]
                if first.opens(Delimiter::Parenthesis)
                    && tree_len(self.rest) == self.rest.len() =>
            {
                Some(content(self.rest))
            }
            _ => None,
        }
    }

    /// The string in `#[path = "…"]`.
    pub(crate) fn string(&self) -> Option<String> {
        match self.rest {
            [equals, value] if equals.is_punct('=') => match value.kind {
                TokenKind::Literal(literal) => string_value(literal),
                _ => None,
            },
            _ => None,
        }
    }

    /// The last segments of the paths in `#[derive(…)]`.
    pub(crate) fn derives(&self, name: &str) -> bool {
        self.is("derive")
            && self.arguments().is_some_and(|arguments| {
                let ends = |path: &Tokens<'_, '_>| {
                    path.last()
                        .is_some_and(|last| last.as_ident() == Some(name))
                };
                split_commas(arguments).iter().any(ends)
            })
    }

    fn parse(content: Tokens<'s, 'a>) -> Self {
        let (mut name, mut segments, mut next) = ("", 0, 0);
        while next < content.len() {
            match content[next].kind {
                TokenKind::Ident(ident) => (name, segments) = (ident, segments + 1),
                TokenKind::Punct(':', _) => {}
                _ => break,
            }
            next += 1;
        }
        Self {
            name,
            is_plain: segments == 1,
            rest: &content[next..],
            content,
        }
    }
}

/// The value of a string literal, plain or raw. Escapes other than those of `\` and `"` have no place in file names.
pub(crate) fn string_value(text: &str) -> Option<String> {
    if let Some(raw) = text.strip_prefix('r') {
        let raw = raw.trim_matches('#');
        return Some(raw.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    let mut value = String::new();
    let mut characters = text.strip_prefix('"')?.strip_suffix('"')?.chars();
    while let Some(character) = characters.next() {
        value.push(match character {
            '\\' => characters
                .next()
                .filter(|next| matches!(next, '\\' | '"'))?,
            other => other,
        });
    }
    Some(value)
}

struct Cursor<'s, 'a> {
    tokens: Tokens<'s, 'a>,
    next: usize,
}

impl<'s, 'a> Cursor<'s, 'a> {
    fn rest(&self, ahead: usize) -> Tokens<'s, 'a> {
        self.tokens.get(self.next + ahead..).unwrap_or_default()
    }

    fn punct(&self, ahead: usize, punct: char) -> bool {
        let at = self.next + ahead;
        at < self.tokens.len() && self.tokens[at].is_punct(punct)
    }

    fn ident(&self, ahead: usize) -> Option<&'a str> {
        let at = self.next + ahead;
        if at < self.tokens.len() {
            self.tokens[at].as_ident()
        } else {
            None
        }
    }

    fn name(&self, ahead: usize) -> Option<Name<'a>> {
        let ident = self.ident(ahead)?;
        Some((ident, self.tokens[self.next + ahead].span))
    }

    /// The group that begins there, if one with these brackets does.
    fn group(&self, ahead: usize, delimiter: Delimiter) -> Option<Tokens<'s, 'a>> {
        let rest = self.rest(ahead);
        match rest.first() {
            Some(first) if first.opens(delimiter) => Some(&rest[..tree_len(rest)]),
            _ => None,
        }
    }

    /// The content of the group that begins there, whatever its brackets.
    fn arguments(&self, ahead: usize) -> Option<Tokens<'s, 'a>> {
        let rest = self.rest(ahead);
        match rest.first()?.kind {
            TokenKind::Open(_) => Some(content(&rest[..tree_len(rest)])),
            _ => None,
        }
    }

    fn eat_punct(&mut self, punct: char) -> bool {
        let found = self.punct(0, punct);
        self.next += usize::from(found);
        found
    }

    /// Steps over `#![…]`, taking account of a `cfg` in it.
    fn inner_attribute(&mut self, condition: &mut Truth, cfg: &Cfg) -> bool {
        if !(self.punct(0, '#') && self.punct(1, '!')) {
            return false;
        }
        let Some(group) = self.group(2, Delimiter::Bracket) else {
            return false;
        };
        let attribute = Attribute::parse(content(group));
        if attribute.is("cfg")
            && let Some(arguments) = attribute.arguments()
        {
            *condition = condition.and(cfg.evaluate(arguments));
        }
        self.next += 2 + group.len();
        true
    }

    /// Reads one item. Steps over at least one token.
    fn item(&mut self, cfg: &Cfg) -> Option<RawItem<'s, 'a>> {
        let start = self.next;
        let (attributes, condition) = self.attributes(cfg);
        let first = self.next;
        let visibility = self.visibility();
        let (kind, end) = self.kind();
        self.skip_to(end);
        if self.next == start {
            self.next += 1;
            return None;
        }
        let tokens = &self.tokens[first..self.next];
        Some(RawItem {
            attributes,
            condition,
            visibility,
            kind,
            tokens,
        })
    }

    fn attributes(&mut self, cfg: &Cfg) -> (Vec<Attribute<'s, 'a>>, Truth) {
        let mut attributes = Vec::new();
        let mut condition = Truth::True;
        while self.punct(0, '#')
            && let Some(group) = self.group(1, Delimiter::Bracket)
        {
            self.next += 1 + group.len();
            // `cfg_attr` may hold further ones; each round takes one layer off.
            let mut pending = vec![Attribute::parse(content(group))];
            while let Some(attribute) = pending.pop() {
                if attribute.is_plain && attribute.is("cfg") {
                    let value = attribute
                        .arguments()
                        .map(|predicate| cfg.evaluate(predicate));
                    condition = condition.and(value.unwrap_or(Truth::Unknown));
                } else if attribute.is_plain && attribute.is("cfg_attr") {
                    let mut pieces =
                        split_commas(attribute.arguments().unwrap_or_default()).into_iter();
                    let holds = pieces
                        .next()
                        .map_or(Truth::Unknown, |first| cfg.evaluate(first));
                    if holds != Truth::False {
                        pending.extend(pieces.rev().map(Attribute::parse));
                    }
                } else {
                    attributes.push(attribute);
                }
            }
        }
        (attributes, condition)
    }

    fn visibility(&mut self) -> Visibility {
        if self.ident(0) != Some("pub") {
            return Visibility::Private;
        }
        self.next += 1;
        match self.group(0, Delimiter::Parenthesis) {
            Some(group) => {
                self.next += group.len();
                match content(group).first().and_then(Token::as_ident) {
                    Some("self") => Visibility::Private,
                    _ => Visibility::Public,
                }
            }
            None => Visibility::Public,
        }
    }

    /// What begins here, and how it ends.
    fn kind(&mut self) -> (RawKind<'s, 'a>, End) {
        // `const` begins a constant unless a function, an implementation or a block follows.
        let mut ahead = 0;
        while let Some(ident) = self.ident(ahead) {
            let is_qualifier = matches!(
                ident,
                "async" | "const" | "default" | "extern" | "gen" | "safe" | "unsafe"
            );
            if !is_qualifier {
                break;
            }
            ahead += 1;
            let next = self.rest(ahead).first().map(|token| token.kind);
            if ident == "extern" && matches!(next, Some(TokenKind::Literal(_))) {
                ahead += 1;
            }
        }
        let named = |make: fn(Name<'a>) -> RawKind<'s, 'a>, end| match self.name(ahead + 1) {
            Some(name) => (make(name), end),
            None => (RawKind::Other, end),
        };
        let Some(keyword) = self.ident(ahead) else {
            return (RawKind::Other, End::Either);
        };
        match keyword {
            "enum" => named(RawKind::Enum, End::Either),
            "struct" => named(RawKind::Struct, End::Either),
            "trait" | "union" if self.ident(ahead + 1).is_some() => {
                named(RawKind::Type, End::Either)
            }
            "type" => named(RawKind::Type, End::Semicolon),
            "mod" => match (
                self.ident(ahead + 1),
                self.group(ahead + 2, Delimiter::Brace),
            ) {
                (Some(name), body) => (RawKind::Module(name, body.map(content)), End::Either),
                (None, _) => (RawKind::Other, End::Either),
            },
            "use" => {
                let rest = self.rest(ahead + 1);
                let mut length = 0;
                while length < rest.len() && !rest[length].is_punct(';') {
                    length += tree_len(&rest[length..]);
                }
                (RawKind::Use(&rest[..length]), End::Semicolon)
            }
            "crate" if ahead > 0 => {
                let name = self.ident(ahead + 1);
                let is_renamed = self.ident(ahead + 2) == Some("as");
                let alias = if is_renamed {
                    self.ident(ahead + 3)
                } else {
                    name
                };
                let kind = match (name, alias) {
                    (Some(name), Some(alias)) => RawKind::ExternCrate { name, alias },
                    _ => RawKind::Other,
                };
                (kind, End::Semicolon)
            }
            "static" => (RawKind::Other, End::Semicolon),
            // A constant's name, `const NAME`, stops the search for qualifiers.
            _ if ahead > 0
                && self.ident(ahead - 1) == Some("const")
                && !matches!(keyword, "fn" | "impl" | "trait") =>
            {
                (RawKind::Other, End::Semicolon)
            }
            _ => (self.macro_call(ahead), End::Either),
        }
    }

    /// `include!("…")` and `protocol!(…)`, by any path that ends so.
    fn macro_call(&self, mut ahead: usize) -> RawKind<'s, 'a> {
        while let Some(ident) = self.ident(ahead) {
            if self.punct(ahead + 1, ':') && self.punct(ahead + 2, ':') {
                ahead += 3;
                continue;
            }
            if self.punct(ahead + 1, '!')
                && let Some(arguments) = self.arguments(ahead + 2)
            {
                let first = arguments.first().map(|token| token.kind);
                if let ("include", Some(TokenKind::Literal(literal))) = (ident, first) {
                    return RawKind::Include(literal);
                }
                if ident == "protocol" {
                    return RawKind::Protocol(arguments);
                }
            }
            break;
        }
        RawKind::Other
    }

    fn skip_to(&mut self, end: End) {
        let mut angles = 0_usize;
        let mut after_minus = false;
        while self.next < self.tokens.len() {
            let kind = self.tokens[self.next].kind;
            if let TokenKind::Open(delimiter) = kind {
                self.next += tree_len(self.rest(0));
                if delimiter == Delimiter::Brace && angles == 0 && end == End::Either {
                    return;
                }
                after_minus = false;
                continue;
            }
            self.next += 1;
            match kind {
                TokenKind::Punct(';', _) => return,
                TokenKind::Punct('<', _) => angles += 1,
                TokenKind::Punct('>', _) if !after_minus => angles = angles.saturating_sub(1),
                _ => {}
            }
            after_minus = matches!(kind, TokenKind::Punct('-', _));
        }
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum End {
    /// A brace or a semicolon, whichever comes first.
    Either,
    /// A semicolon only: `const C: T = T { … };`.
    Semicolon,
}

#[cfg(test)]
mod tests {
    use rumpsteak_contract::lex::lex;

    use super::*;

    /// The items of a source that declare or mention something, one word each.
    fn kinds(source: &str) -> Vec<String> {
        let Some(tokens) = lex(source) else {
            panic!("{source}")
        };
        let show = |item: &RawItem<'_, '_>| {
            let kind = match item.kind {
                RawKind::Enum((name, _)) => format!("enum {name}"),
                RawKind::ExternCrate { name, alias } => format!("crate {name} as {alias}"),
                RawKind::Include(file) => format!("include {file}"),
                RawKind::Module(name, body) => {
                    format!("mod {name}{}", if body.is_some() { " {}" } else { ";" })
                }
                RawKind::Protocol(arguments) => format!("protocol {}", words(arguments)),
                RawKind::Other => "other".to_owned(),
                RawKind::Struct((name, _)) => format!("struct {name}"),
                RawKind::Type((name, _)) => format!("type {name}"),
                RawKind::Use(tree) => format!("use {}", words(tree).replace(' ', "")),
            };
            match item.visibility {
                Visibility::Private => kind,
                Visibility::Public => format!("pub {kind}"),
            }
        };
        scan(&tokens, &Cfg::default())
            .items
            .iter()
            .map(show)
            .collect()
    }

    fn words(tokens: Tokens<'_, '_>) -> String {
        let word = |token: &Token<'_>| match token.kind {
            TokenKind::Close(delimiter) => delimiter.close().to_owned(),
            TokenKind::Ident(text) | TokenKind::Literal(text) => text.to_owned(),
            TokenKind::Open(delimiter) => delimiter.open().to_owned(),
            TokenKind::Punct(punct, _) => punct.to_string(),
        };
        tokens.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_kind_of_item_ends_where_rust_ends_it() {
        let source = r#"
            #![allow(dead_code)]
            extern crate self as me;
            use a::{b, c as d};
            pub mod m;
            mod n { struct Hidden; }
            const C: T = T { x: 1 };
            const fn f() -> [u8; { 3 }] { [0; 3] }
            pub(crate) const unsafe extern "C" fn g<const N: usize>() where W<{ 3 }>: X, { }
            static S: fn() -> T = || { T { } };
            impl W<{ 3 }> { fn h() { } }
            unsafe impl<T: Fn() -> u8> X for W<T> { }
            extern "C" { fn ext(); }
            unsafe extern "C" { fn ext2(); }
            macro_rules! mac { () => { struct Made; } }
            mac! { struct Call; }
            mac!(struct Call);
            trait Tr { type A; }
            type A = B<{ 3 }>;
            pub struct Unit;
            struct Tuple(u8, W<{ 3 }>) where u8: Copy;
            struct Named<F: Fn() -> u8 = fn() -> u8> { f: F }
            enum E { A { b: u8 } }
            union U { a: u8 }
            ::std::include!("x.rs");
            async fn last() { }
            const _: () = { struct Inner; };
            struct End;
        "#;
        let expected = [
            "crate self as me",
            "use a::{b,casd}",
            "pub mod m;",
            "mod n {}",
            "other",
            "other",
            "pub other",
            "other",
            "other",
            "other",
            "other",
            "other",
            "other",
            "other",
            "other",
            "type Tr",
            "type A",
            "pub struct Unit",
            "struct Tuple",
            "struct Named",
            "enum E",
            "type U",
            "other",
            "other",
            "other",
            "struct End",
        ];
        assert_eq!(kinds(source), expected);
    }

    #[test]
    fn include_is_recognised_at_any_path() {
        assert_eq!(
            kinds("include!(\"a.rs\"); std::include! { \"b.rs\" }"),
            ["include \"a.rs\"", "include \"b.rs\""]
        );
        assert_eq!(
            kinds("protocol!(pub A); rumpsteak_runtime::protocol! { A } protocol::m!(A);"),
            ["protocol pub A", "protocol A", "other"]
        );
        assert_eq!(
            kinds("include!(concat!(env!(\"OUT_DIR\"), \"/a.rs\"));"),
            ["other"]
        );
    }

    #[test]
    fn half_typed_items_cost_only_themselves() {
        assert_eq!(kinds("fn f() { let x = } struct A;"), ["other", "struct A"]);
        assert_eq!(
            kinds("mod; use; type; pub"),
            ["other", "use ", "other", "pub other"]
        );
    }

    #[test]
    fn attributes_and_conditions() {
        let cfg = Cfg::from_features(["on".to_owned()]);
        let source = "
            /// Doc.
            #[cfg_attr(feature = \"on\", cfg_attr(feature = \"on\", session(K), path = \"x.rs\"))]
            #[cfg_attr(feature = \"off\", other)]
            #[cfg(feature = \"off\")] #[cfg(test)]
            struct A;
            #[cfg(test)] struct B;
            #[rumpsteak::session] #[derive(Debug, rumpsteak::Role)] struct C;";
        let tokens = lex(source).unwrap_or_default();
        let items = scan(&tokens, &cfg).items;
        let names: Vec<_> = items[0].attributes.iter().map(|a| a.name).collect();
        assert_eq!(names, ["session", "path"]);
        assert_eq!(
            words(items[0].attributes[0].arguments().unwrap_or_default()),
            "K"
        );
        assert_eq!(items[0].attributes[1].string().as_deref(), Some("x.rs"));
        assert_eq!(items[0].condition, Truth::False);
        assert_eq!(items[1].condition, Truth::Unknown);
        assert!(items[2].attributes[0].is("session"));
        assert!(items[2].attributes[1].derives("Role"));
        assert!(!items[2].attributes[1].derives("Roles"));
    }

    #[test]
    fn an_inner_cfg_holds_for_the_whole_module() {
        let cfg = Cfg::from_features([]);
        let tokens = lex("#![no_std] #![cfg(feature = \"off\")] struct A;").unwrap_or_default();
        assert_eq!(scan(&tokens, &cfg).condition, Truth::False);
    }

    #[test]
    fn strings() {
        let value = string_value;
        assert_eq!(value("\"a/b.rs\"").as_deref(), Some("a/b.rs"));
        assert_eq!(value("r#\"a\\b.rs\"#").as_deref(), Some("a\\b.rs"));
        assert_eq!(value("\"a\\\\b.rs\"").as_deref(), Some("a\\b.rs"));
        assert_eq!(value("\"a\\u{62}\""), None);
        assert_eq!(value("3"), None);
    }
}
