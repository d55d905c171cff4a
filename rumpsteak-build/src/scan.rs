//! The items of a token stream, without their contents.
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

use proc_macro2::{Delimiter, Group, Ident, Literal, TokenStream, TokenTree};

use crate::cfg::{Cfg, Truth, split_commas};

/// An item with its outer attributes taken off.
#[derive(Clone, Debug)]
pub(crate) struct RawItem {
    /// The attributes that hold in this build, those in `cfg_attr` among them, without the `cfg`s.
    pub(crate) attributes: Vec<Attribute>,
    /// Whether the item is part of this build.
    pub(crate) condition: Truth,
    /// Who may name the item.
    pub(crate) visibility: Visibility,
    /// What the item is.
    pub(crate) kind: RawKind,
    /// The tokens of the item, from the visibility on.
    pub(crate) tokens: Vec<TokenTree>,
}

/// An attribute: its path's segments, and what follows them.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) path: Vec<Ident>,
    pub(crate) rest: Vec<TokenTree>,
    /// The content of the brackets.
    pub(crate) content: TokenStream,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Visibility {
    /// Seen in the module and below it.
    Private,
    /// Seen further out. How far does not matter: rustc checks it.
    Public,
}

#[derive(Clone, Debug)]
pub(crate) enum RawKind {
    Enum(Ident),
    /// `extern crate NAME as ALIAS;`
    ExternCrate {
        name: Ident,
        alias: Ident,
    },
    /// `include!("…");`
    Include(Literal),
    /// `mod NAME;` or `mod NAME { … }`.
    Module(Ident, Option<TokenStream>),
    /// `protocol!(…);`: the arguments.
    Protocol(TokenStream),
    /// Anything that declares no name that a session can use.
    Other,
    Struct(Ident),
    /// A `type`, `union` or `trait`: a name among the types.
    Type(Ident),
    /// `use …;`, without the `use` and the `;`.
    Use(Vec<TokenTree>),
}

/// A file or an inline module, cut into items.
#[derive(Clone, Debug)]
pub(crate) struct RawItems {
    pub(crate) items: Vec<RawItem>,
    /// The conjunction of the inner `#![cfg(…)]`s.
    pub(crate) condition: Truth,
}

/// Cuts a token stream into items. Linear in the number of tokens outside groups.
pub(crate) fn scan(stream: TokenStream, cfg: &Cfg) -> RawItems {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut cursor = Cursor {
        trees: &trees,
        next: 0,
    };
    let mut items = Vec::new();
    let mut condition = Truth::True;
    while cursor.next < trees.len() {
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

impl Attribute {
    /// Whether the last segment of the path is the given name: `session` in `#[rumpsteak_runtime::session]`.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.path.last().is_some_and(|last| last == name)
    }

    /// The tokens in parentheses, if there are any.
    pub(crate) fn arguments(&self) -> Option<TokenStream> {
        match &self.rest[..] {
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => {
                Some(group.stream())
            }
            _ => None,
        }
    }

    /// The string in `#[path = "…"]`.
    pub(crate) fn string(&self) -> Option<String> {
        match &self.rest[..] {
            [TokenTree::Punct(punct), TokenTree::Literal(literal)] if punct.as_char() == '=' => {
                string_value(literal)
            }
            _ => None,
        }
    }

    /// The last segments of the paths in `#[derive(…)]`.
    pub(crate) fn derives(&self, name: &str) -> bool {
        self.is("derive")
            && self.arguments().is_some_and(|arguments| {
                split_commas(arguments).into_iter().any(|path| {
                    let last = path.into_iter().last();
                    matches!(last, Some(TokenTree::Ident(ident)) if ident == name)
                })
            })
    }

    fn parse(content: TokenStream) -> Self {
        let mut path = Vec::new();
        let mut rest = Vec::new();
        for tree in content.clone() {
            match tree {
                TokenTree::Ident(ident) if rest.is_empty() => path.push(ident),
                TokenTree::Punct(punct) if rest.is_empty() && punct.as_char() == ':' => {}
                other => rest.push(other),
            }
        }
        Self {
            path,
            rest,
            content,
        }
    }
}

/// The value of a string literal, plain or raw. Escapes other than those of `\` and `"` have no place in file names.
pub(crate) fn string_value(literal: &Literal) -> Option<String> {
    let text = literal.to_string();
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

struct Cursor<'a> {
    trees: &'a [TokenTree],
    next: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self, ahead: usize) -> Option<&'a TokenTree> {
        self.trees.get(self.next + ahead)
    }

    fn punct(&self, ahead: usize, punct: char) -> bool {
        matches!(self.peek(ahead), Some(TokenTree::Punct(other)) if other.as_char() == punct)
    }

    fn ident(&self, ahead: usize) -> Option<&'a Ident> {
        match self.peek(ahead) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        }
    }

    fn group(&self, ahead: usize, delimiter: Delimiter) -> Option<&'a Group> {
        match self.peek(ahead) {
            Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
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
        let attribute = Attribute::parse(group.stream());
        if attribute.is("cfg")
            && let Some(arguments) = attribute.arguments()
        {
            *condition = condition.and(cfg.evaluate(arguments));
        }
        self.next += 3;
        true
    }

    /// Reads one item. Steps over at least one token.
    fn item(&mut self, cfg: &Cfg) -> Option<RawItem> {
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
        let tokens = self.trees[first..self.next].to_vec();
        Some(RawItem {
            attributes,
            condition,
            visibility,
            kind,
            tokens,
        })
    }

    fn attributes(&mut self, cfg: &Cfg) -> (Vec<Attribute>, Truth) {
        let mut attributes = Vec::new();
        let mut condition = Truth::True;
        while self.punct(0, '#')
            && let Some(group) = self.group(1, Delimiter::Bracket)
        {
            self.next += 2;
            // `cfg_attr` may hold further ones; each round takes one layer off.
            let mut pending = vec![Attribute::parse(group.stream())];
            while let Some(attribute) = pending.pop() {
                if attribute.path.len() == 1 && attribute.is("cfg") {
                    let value = attribute
                        .arguments()
                        .map(|predicate| cfg.evaluate(predicate));
                    condition = condition.and(value.unwrap_or(Truth::Unknown));
                } else if attribute.path.len() == 1 && attribute.is("cfg_attr") {
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
        if self.ident(0).is_none_or(|ident| ident != "pub") {
            return Visibility::Private;
        }
        self.next += 1;
        match self.group(0, Delimiter::Parenthesis) {
            Some(group) => {
                self.next += 1;
                let first = group.stream().into_iter().next();
                match first {
                    Some(TokenTree::Ident(ident)) if ident == "self" => Visibility::Private,
                    _ => Visibility::Public,
                }
            }
            None => Visibility::Public,
        }
    }

    /// What begins here, and how it ends.
    fn kind(&mut self) -> (RawKind, End) {
        // `const` begins a constant unless a function, an implementation or a block follows.
        let mut ahead = 0;
        while let Some(ident) = self.ident(ahead) {
            let qualifier = [
                "async", "const", "default", "extern", "gen", "safe", "unsafe",
            ];
            if !qualifier.iter().any(|word| ident == word) {
                break;
            }
            ahead += 1;
            if ident == "extern" && matches!(self.peek(ahead), Some(TokenTree::Literal(_))) {
                ahead += 1;
            }
        }
        let named = |make: fn(Ident) -> RawKind, end| match self.ident(ahead + 1) {
            Some(name) => (make(name.clone()), end),
            None => (RawKind::Other, end),
        };
        let Some(keyword) = self.ident(ahead).map(ToString::to_string) else {
            return (RawKind::Other, End::Either);
        };
        match &*keyword {
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
                (Some(name), body) => (
                    RawKind::Module(name.clone(), body.map(Group::stream)),
                    End::Either,
                ),
                (None, _) => (RawKind::Other, End::Either),
            },
            "use" => {
                let rest = &self.trees[self.next + ahead + 1..];
                let is_end =
                    |tree: &TokenTree| matches!(tree, TokenTree::Punct(p) if p.as_char() == ';');
                let length = rest.iter().position(is_end).unwrap_or(rest.len());
                (RawKind::Use(rest[..length].to_vec()), End::Semicolon)
            }
            "crate" if ahead > 0 => {
                let name = self.ident(ahead + 1);
                let is_renamed = self.ident(ahead + 2).is_some_and(|word| word == "as");
                let alias = if is_renamed {
                    self.ident(ahead + 3)
                } else {
                    name
                };
                let kind = match (name, alias) {
                    (Some(name), Some(alias)) => RawKind::ExternCrate {
                        name: name.clone(),
                        alias: alias.clone(),
                    },
                    _ => RawKind::Other,
                };
                (kind, End::Semicolon)
            }
            "static" => (RawKind::Other, End::Semicolon),
            // A constant's name, `const NAME`, stops the search for qualifiers.
            _ if ahead > 0
                && self.ident(ahead - 1).is_some_and(|word| word == "const")
                && !matches!(&*keyword, "fn" | "impl" | "trait") =>
            {
                (RawKind::Other, End::Semicolon)
            }
            _ => (self.macro_call(ahead), End::Either),
        }
    }

    /// `include!("…")` and `protocol!(…)`, by any path that ends so.
    fn macro_call(&self, mut ahead: usize) -> RawKind {
        while let Some(ident) = self.ident(ahead) {
            if self.punct(ahead + 1, ':') && self.punct(ahead + 2, ':') {
                ahead += 3;
                continue;
            }
            if ident == "include"
                && self.punct(ahead + 1, '!')
                && let Some(TokenTree::Group(group)) = self.peek(ahead + 2)
                && let mut arguments = group.stream().into_iter()
                && let Some(TokenTree::Literal(literal)) = arguments.next()
            {
                return RawKind::Include(literal);
            }
            if ident == "protocol"
                && self.punct(ahead + 1, '!')
                && let Some(TokenTree::Group(group)) = self.peek(ahead + 2)
            {
                return RawKind::Protocol(group.stream());
            }
            break;
        }
        RawKind::Other
    }

    fn skip_to(&mut self, end: End) {
        let mut angles = 0_usize;
        let mut after_minus = false;
        while let Some(tree) = self.peek(0) {
            self.next += 1;
            match tree {
                TokenTree::Punct(punct) => {
                    match punct.as_char() {
                        ';' => return,
                        '<' => angles += 1,
                        '>' if !after_minus => angles = angles.saturating_sub(1),
                        _ => {}
                    }
                    after_minus = punct.as_char() == '-';
                }
                TokenTree::Group(group)
                    if group.delimiter() == Delimiter::Brace
                        && angles == 0
                        && end == End::Either =>
                {
                    return;
                }
                _ => after_minus = false,
            }
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
    use super::*;

    /// The items of a source that declare or mention something, one word each.
    fn kinds(source: &str) -> Vec<String> {
        let Ok(tokens) = source.parse() else {
            panic!("{source}")
        };
        let show = |item: RawItem| {
            let kind = match item.kind {
                RawKind::Enum(name) => format!("enum {name}"),
                RawKind::ExternCrate { name, alias } => format!("crate {name} as {alias}"),
                RawKind::Include(file) => format!("include {file}"),
                RawKind::Module(name, body) => {
                    format!("mod {name}{}", if body.is_some() { " {}" } else { ";" })
                }
                RawKind::Protocol(arguments) => format!("protocol {arguments}"),
                RawKind::Other => "other".to_owned(),
                RawKind::Struct(name) => format!("struct {name}"),
                RawKind::Type(name) => format!("type {name}"),
                RawKind::Use(tree) => {
                    format!(
                        "use {}",
                        TokenStream::from_iter(tree).to_string().replace(' ', "")
                    )
                }
            };
            match item.visibility {
                Visibility::Private => kind,
                Visibility::Public => format!("pub {kind}"),
            }
        };
        scan(tokens, &Cfg::default())
            .items
            .into_iter()
            .map(show)
            .collect()
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
        let Ok(tokens) = source.parse() else { panic!() };
        let items = scan(tokens, &cfg).items;
        let names: Vec<_> = items[0]
            .attributes
            .iter()
            .map(|a| a.path[0].to_string())
            .collect();
        assert_eq!(names, ["doc", "session", "path"]);
        assert_eq!(items[0].attributes[1].arguments().unwrap().to_string(), "K");
        assert_eq!(items[0].attributes[2].string().as_deref(), Some("x.rs"));
        assert_eq!(items[0].condition, Truth::False);
        assert_eq!(items[1].condition, Truth::Unknown);
        assert!(items[2].attributes[0].is("session"));
        assert!(items[2].attributes[1].derives("Role"));
        assert!(!items[2].attributes[1].derives("Roles"));
    }

    #[test]
    fn an_inner_cfg_holds_for_the_whole_module() {
        let cfg = Cfg::from_features([]);
        let Ok(tokens) = "#![no_std] #![cfg(feature = \"off\")] struct A;".parse() else {
            panic!()
        };
        assert_eq!(scan(tokens, &cfg).condition, Truth::False);
    }

    #[test]
    fn strings() {
        let value = |text: &str| text.parse().ok().and_then(|literal| string_value(&literal));
        assert_eq!(value("\"a/b.rs\"").as_deref(), Some("a/b.rs"));
        assert_eq!(value("r#\"a\\b.rs\"#").as_deref(), Some("a\\b.rs"));
        assert_eq!(value("\"a\\\\b.rs\"").as_deref(), Some("a\\b.rs"));
        assert_eq!(value("\"a\\u{62}\""), None);
        assert_eq!(value("3"), None);
    }
}
