//! The items of a file, without their contents.
//!
//! Sessions need to know which modules, imports, types and macro calls a file has, and nothing of
//! what is inside its functions. So files are cut into items on their token trees, rather than
//! parsed:
//!
//! * an item ends at the first `;`, or at the first `{…}` outside angle brackets if it is one of
//!   those that do;
//! * a group is one token tree, and so part of the item.
//!
//! This accepts every program that rustc accepts, also with syntax younger than this crate; a
//! half-typed function costs only itself; and nothing here recurses, so that no nesting overflows
//! the stack. What it accepts beyond Rust, rustc refuses. Only the items that concern sessions are
//! parsed, by `rumpsteak-contract`.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use rumpsteak_contract::Angles;
use syn::LitStr;

use crate::source::conditions::{Cfg, CfgValue};

pub(crate) type Tokens<'t> = &'t [TokenTree];

/// An item with its outer attributes taken off.
#[derive(Clone, Debug)]
pub(crate) struct RawItem<'t> {
    /// The attributes that hold in this build, those in `cfg_attr` among them, but no `cfg` and no
    /// `doc`.
    pub(crate) attributes: Vec<Attribute>,
    /// Whether the item is part of this build.
    pub(crate) condition: CfgValue,
    /// From where the item may be named.
    pub(crate) visibility: Visibility,
    pub(crate) kind: RawKind<'t>,
    /// The tokens of the item, from the visibility on.
    pub(crate) tokens: Tokens<'t>,
}

#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    /// The last segment of its path.
    pub(crate) name: String,
    /// Whether the path is this name alone.
    is_plain: bool,
    /// The content of the brackets.
    pub(crate) content: Vec<TokenTree>,
    /// How many tokens the path has.
    path: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Visibility {
    /// Seen in the module and below it.
    Private,
    /// Seen further out. How far does not matter: rustc checks it.
    Public,
}

#[derive(Clone, Debug)]
pub(crate) enum RawKind<'t> {
    Enum(&'t Ident),
    /// `extern crate NAME as ALIAS;`
    ExternCrate {
        name: &'t Ident,
        alias: &'t Ident,
    },
    /// `include!("…");`
    Include(String),
    /// `mod NAME;` or `mod NAME { … }`.
    Module(&'t Ident, Option<&'t Group>),
    /// `protocol!(…);`: the arguments.
    Protocol(TokenStream),
    /// Anything that declares no name that a session can use.
    Other,
    Struct(&'t Ident),
    /// A `type`, `union` or `trait`: a name among the types.
    Type(&'t Ident),
    /// `use …;`, without the `use` and the `;`.
    Use(Tokens<'t>),
}

/// A file or an inline module, cut into items.
#[derive(Clone, Debug)]
pub(crate) struct RawItems<'t> {
    pub(crate) items: Vec<RawItem<'t>>,
    /// The conjunction of the inner `#![cfg(…)]`s.
    pub(crate) condition: CfgValue,
}

/// Cuts tokens into items. Linear in the number of tokens.
pub(crate) fn scan<'t>(tokens: Tokens<'t>, cfg: &Cfg) -> RawItems<'t> {
    let mut cursor = Cursor { tokens, next: 0 };
    let mut items = Vec::new();
    let mut condition = CfgValue::True;
    while cursor.next < tokens.len() {
        if cursor.eat_punct(';') || cursor.inner_attribute(&mut condition, cfg) {
            continue;
        }
        items.extend(cursor.item(cfg));
    }
    RawItems { items, condition }
}

impl Attribute {
    pub(crate) fn new(content: Vec<TokenTree>) -> Self {
        let (mut name, mut segments, mut path) = (None, 0, 0);
        for tree in &content {
            match tree {
                TokenTree::Ident(ident) => (name, segments) = (Some(ident), segments + 1),
                tree if is_punct(tree, ':') => {}
                _ => break,
            }
            path += 1;
        }
        Self {
            name: name.map(Ident::to_string).unwrap_or_default(),
            is_plain: segments == 1,
            path,
            content,
        }
    }

    /// Whether the last segment of the path is the given name: `session` in
    /// `#[rumpsteak_runtime::session]`.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Whether its predicate holds, if this is a `#[cfg(…)]`.
    pub(crate) fn condition(&self, cfg: &Cfg) -> Option<CfgValue> {
        let is_cfg = self.is_plain && self.is("cfg");
        let value = || self.arguments().map(|predicate| cfg.evaluate(predicate));
        is_cfg.then(|| value().unwrap_or(CfgValue::Unknown))
    }

    /// The tokens in parentheses, if there are any.
    pub(crate) fn arguments(&self) -> Option<TokenStream> {
        match &self.content[self.path..] {
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => {
                Some(group.stream())
            }
            _ => None,
        }
    }

    /// The string in `#[path = "…"]`.
    pub(crate) fn string(&self) -> Option<String> {
        match &self.content[self.path..] {
            [equals, value] if is_punct(equals, '=') => string_value(value),
            _ => None,
        }
    }

    /// Whether this is a `#[derive(…)]` with a path that ends with the name.
    pub(crate) fn derives(&self, name: &str) -> bool {
        let ends = |path: &Vec<TokenTree>| matches!(&path[..], [.., TokenTree::Ident(last)] if last == name);
        self.derived().iter().any(ends)
    }

    /// The macros that this calls without a path: itself, or derives.
    pub(crate) fn bare(&self) -> Vec<String> {
        let derived = self.derived().into_iter();
        let bare = derived.filter_map(|path| match &path[..] {
            [TokenTree::Ident(name)] => Some(name.to_string()),
            _ => None,
        });
        bare.chain(self.is_plain.then(|| self.name.clone())).collect()
    }

    /// The paths in a `#[derive(…)]`.
    fn derived(&self) -> Vec<Vec<TokenTree>> {
        let arguments = self.arguments().filter(|_| self.is("derive")).unwrap_or_default();
        let arguments: Vec<TokenTree> = arguments.into_iter().collect();
        arguments.split(|tree| is_punct(tree, ',')).map(<[_]>::to_vec).collect()
    }
}

fn string_value(tree: &TokenTree) -> Option<String> {
    let literal = syn::parse2::<LitStr>(tree.clone().into());
    literal.ok().map(|literal| literal.value())
}

pub(crate) fn is_punct(tree: &TokenTree, punct: char) -> bool {
    matches!(tree, TokenTree::Punct(other) if other.as_char() == punct)
}

/// What commas part behind the `<` that tokens begin with, up to its `>`.
pub(crate) fn in_angles(tokens: Tokens<'_>) -> impl Iterator<Item = Tokens<'_>> {
    let mut angles = Angles::default();
    let is_outside = |tree: &TokenTree| {
        angles.step(tree);
        angles.depth == 0
    };
    let end = tokens.iter().position(is_outside).unwrap_or(tokens.len());
    let mut angles = Angles::default();
    // Without a `<` the end is the start.
    let parts = tokens.get(1..end).unwrap_or_default().split(move |tree| {
        angles.step(tree);
        angles.depth == 0 && is_punct(tree, ',')
    });
    parts.filter(|part| !part.is_empty())
}

struct Cursor<'t> {
    tokens: Tokens<'t>,
    next: usize,
}

impl<'t> Cursor<'t> {
    fn at(&self, ahead: usize) -> Option<&'t TokenTree> {
        self.tokens.get(self.next + ahead)
    }

    fn punct(&self, ahead: usize, punct: char) -> bool {
        self.at(ahead).is_some_and(|tree| is_punct(tree, punct))
    }

    fn ident(&self, ahead: usize) -> Option<&'t Ident> {
        match self.at(ahead) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        }
    }

    /// Whether the identifier there is one of these words.
    fn word(&self, ahead: usize, words: &[&str]) -> bool {
        self.ident(ahead).is_some_and(|ident| words.iter().any(|word| ident == word))
    }

    /// The group there, if it has these brackets.
    fn group(&self, ahead: usize, delimiter: Delimiter) -> Option<&'t Group> {
        match self.at(ahead) {
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
    fn inner_attribute(&mut self, condition: &mut CfgValue, cfg: &Cfg) -> bool {
        let Some(group) = self.group(2, Delimiter::Bracket) else { return false };
        if !(self.punct(0, '#') && self.punct(1, '!')) {
            return false;
        }
        let attribute = Attribute::new(group.stream().into_iter().collect());
        if let Some(value) = attribute.condition(cfg) {
            *condition = (*condition).min(value);
        }
        self.next += 3;
        true
    }

    /// Reads one item. Steps over at least one token.
    fn item(&mut self, cfg: &Cfg) -> Option<RawItem<'t>> {
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
        Some(RawItem { attributes, condition, visibility, kind, tokens })
    }

    fn attributes(&mut self, cfg: &Cfg) -> (Vec<Attribute>, CfgValue) {
        let mut attributes = Vec::new();
        let mut condition = CfgValue::True;
        while self.punct(0, '#')
            && let Some(group) = self.group(1, Delimiter::Bracket)
        {
            self.next += 2;
            // `cfg_attr` may hold further ones; each round takes one layer off.
            let mut pending = vec![Attribute::new(group.stream().into_iter().collect())];
            while let Some(attribute) = pending.pop() {
                if let Some(value) = attribute.condition(cfg) {
                    condition = condition.min(value);
                } else if attribute.is_plain && attribute.is("cfg_attr") {
                    let arguments = attribute.arguments().unwrap_or_default();
                    let arguments: Vec<TokenTree> = arguments.into_iter().collect();
                    let mut pieces = arguments.split(|tree| is_punct(tree, ','));
                    let predicate = pieces.next().unwrap_or_default();
                    if cfg.evaluate(predicate.iter().cloned().collect()) != CfgValue::False {
                        let pieces = pieces.rev().filter(|piece| !piece.is_empty());
                        pending.extend(pieces.map(|piece| Attribute::new(piece.to_vec())));
                    }
                } else if !attribute.is("doc") {
                    attributes.push(attribute);
                }
            }
        }
        (attributes, condition)
    }

    fn visibility(&mut self) -> Visibility {
        if !self.word(0, &["pub"]) {
            return Visibility::Private;
        }
        self.next += 1;
        let Some(group) = self.group(0, Delimiter::Parenthesis) else {
            return Visibility::Public;
        };
        self.next += 1;
        match group.stream().into_iter().next() {
            Some(TokenTree::Ident(ident)) if ident == "self" => Visibility::Private,
            _ => Visibility::Public,
        }
    }

    /// What begins here, and how it ends.
    fn kind(&self) -> (RawKind<'t>, End) {
        // `const` begins a constant unless a function, an implementation or a block follows.
        let mut ahead = 0;
        while self.word(ahead, &QUALIFIERS) {
            let is_extern = self.word(ahead, &["extern"]);
            ahead += 1;
            if is_extern && matches!(self.at(ahead), Some(TokenTree::Literal(_))) {
                ahead += 1;
            }
        }
        let Some(keyword) = self.ident(ahead) else { return (RawKind::Other, End::Either) };
        let name = self.ident(ahead + 1);
        let named = |make: fn(&'t Ident) -> RawKind<'t>| name.map_or(RawKind::Other, make);
        match &*keyword.to_string() {
            "enum" => (named(RawKind::Enum), End::Either),
            "struct" => (named(RawKind::Struct), End::Either),
            "trait" | "union" if name.is_some() => (named(RawKind::Type), End::Either),
            "type" => (named(RawKind::Type), End::Semicolon),
            "mod" => {
                let body = self.group(ahead + 2, Delimiter::Brace);
                let module = name.map(|name| RawKind::Module(name, body));
                (module.unwrap_or(RawKind::Other), End::Either)
            }
            "use" => {
                let rest = &self.tokens[self.next + ahead + 1..];
                let end = rest.iter().position(|tree| is_punct(tree, ';'));
                let tree = &rest[..end.unwrap_or(rest.len())];
                (RawKind::Use(tree), End::Semicolon)
            }
            "crate" if ahead > 0 => {
                let is_renamed = self.word(ahead + 2, &["as"]);
                let alias = if is_renamed { self.ident(ahead + 3) } else { name };
                let kind = match (name, alias) {
                    (Some(name), Some(alias)) => RawKind::ExternCrate { name, alias },
                    _ => RawKind::Other,
                };
                (kind, End::Semicolon)
            }
            "static" => (RawKind::Other, End::Semicolon),
            // A constant's name, `const NAME`, stops the search for qualifiers.
            _ if ahead > 0
                && self.word(ahead - 1, &["const"])
                && !self.word(ahead, &["fn", "impl", "trait"]) =>
            {
                (RawKind::Other, End::Semicolon)
            }
            _ => (self.macro_call(ahead), End::Either),
        }
    }

    /// `include!("…")` and `protocol!(…)`, by any path that ends so.
    fn macro_call(&self, mut ahead: usize) -> RawKind<'t> {
        while self.ident(ahead).is_some()
            && self.punct(ahead + 1, ':')
            && self.punct(ahead + 2, ':')
        {
            ahead += 3;
        }
        if self.punct(ahead + 1, '!')
            && let Some(TokenTree::Group(group)) = self.at(ahead + 2)
        {
            if self.word(ahead, &["include"])
                && let Some(first) = group.stream().into_iter().next()
                && let Some(file) = string_value(&first)
            {
                return RawKind::Include(file);
            }
            if self.word(ahead, &["protocol"]) {
                return RawKind::Protocol(group.stream());
            }
        }
        RawKind::Other
    }

    fn skip_to(&mut self, end: End) {
        let mut angles = Angles::default();
        while let Some(tree) = self.at(0) {
            self.next += 1;
            angles.step(tree);
            let is_end = match tree {
                TokenTree::Group(group) => {
                    group.delimiter() == Delimiter::Brace && angles.depth == 0 && end == End::Either
                }
                tree => is_punct(tree, ';'),
            };
            if is_end {
                return;
            }
        }
    }
}

/// What may stand before the keyword of an item.
const QUALIFIERS: [&str; 7] = ["async", "const", "default", "extern", "gen", "safe", "unsafe"];

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

    fn tokens(source: &str) -> Vec<TokenTree> {
        let tokens: TokenStream =
            source.parse().unwrap_or_else(|error| panic!("{source}: {error}"));
        tokens.into_iter().collect()
    }

    /// The items of a source that declare or mention something, one word each.
    fn kinds(source: &str) -> Vec<String> {
        let tokens = tokens(source);
        let show = |item: &RawItem<'_>| {
            let kind = match &item.kind {
                RawKind::Enum(name) => format!("enum {name}"),
                RawKind::ExternCrate { name, alias } => format!("crate {name} as {alias}"),
                RawKind::Include(file) => format!("include {file:?}"),
                RawKind::Module(name, body) => {
                    format!("mod {name}{}", if body.is_some() { " {}" } else { ";" })
                }
                RawKind::Protocol(arguments) => format!("protocol {}", arguments),
                RawKind::Other => "other".to_owned(),
                RawKind::Struct(name) => format!("struct {name}"),
                RawKind::Type(name) => format!("type {name}"),
                RawKind::Use(tree) => format!(
                    "use {}",
                    tree.iter().cloned().collect::<TokenStream>().to_string().replace(' ', "")
                ),
            };
            match item.visibility {
                Visibility::Private => kind,
                Visibility::Public => format!("pub {kind}"),
            }
        };
        scan(&tokens, &Cfg::default()).items.iter().map(show).collect()
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
        assert_eq!(kinds("include!(concat!(env!(\"OUT_DIR\"), \"/a.rs\"));"), ["other"]);
    }

    #[test]
    fn half_typed_items_cost_only_themselves() {
        assert_eq!(kinds("fn f() { let x = } struct A;"), ["other", "struct A"]);
        assert_eq!(kinds("mod; use; type; pub"), ["other", "use ", "other", "pub other"]);
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
        let tokens = tokens(source);
        let items = scan(&tokens, &cfg).items;
        let names: Vec<_> = items[0].attributes.iter().map(|a| &*a.name).collect();
        assert_eq!(names, ["session", "path"]);
        let arguments = items[0].attributes[0].arguments().unwrap_or_default();
        assert_eq!(arguments.to_string(), "K");
        assert_eq!(items[0].attributes[1].string().as_deref(), Some("x.rs"));
        assert_eq!(items[0].condition, CfgValue::False);
        assert_eq!(items[1].condition, CfgValue::Unknown);
        assert!(items[2].attributes[0].is("session"));
        assert!(items[2].attributes[1].derives("Role"));
        assert!(!items[2].attributes[1].derives("Roles"));
    }

    #[test]
    fn an_inner_cfg_holds_for_the_whole_module() {
        let cfg = Cfg::from_features([]);
        let tokens = tokens("#![no_std] #![cfg(feature = \"off\")] struct A;");
        assert_eq!(scan(&tokens, &cfg).condition, CfgValue::False);
    }

    #[test]
    fn strings() {
        let value = |text| string_value(&tokens(text)[0]);
        assert_eq!(value("\"a/b.rs\"").as_deref(), Some("a/b.rs"));
        assert_eq!(value("r#\"a\\b.rs\"#").as_deref(), Some("a\\b.rs"));
        assert_eq!(value("\"a\\\\\\u{62}\"").as_deref(), Some("a\\b"));
        assert_eq!(value("3"), None);
    }
}
