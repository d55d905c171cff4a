//! What the items of a file are to sessions.
//!
//! A file is cut into [items](crate::source::items). Those that a session may name, and those that
//! lead to other files, become [`Part`]s, which hold no tokens of the file any more; all others are
//! left out.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use rumpsteak_contract::message::{self, FieldType, MESSAGE_ATTRIBUTES};
use rumpsteak_contract::role::ROLE_ATTRIBUTES;
use rumpsteak_contract::set::SET_ATTRIBUTES;
use rumpsteak_contract::{Angles, MessageItem, ProtocolItem, RoleItem, SessionItem, SetItem};
use syn::ext::IdentExt as _;

use crate::source::bare_names::{bare_names, is_opaque};
use crate::source::conditions::{Cfg, CfgValue};
use crate::source::items::{Attribute, RawItem, RawKind, Tokens, Visibility, is_punct, scan};

/// How deep the braces of one `use` may be nested.
const USE_DEPTH: usize = 64;

#[derive(Debug)]
pub(crate) enum ItemKind {
    /// A session, role or message that does not parse: its own macro says why.
    Broken,
    /// A `type` that is no session.
    Alias(FieldType),
    /// The labels of a message type; of a struct, which is its own only label, the types of the
    /// fields as well.
    Message(MessageItem, Option<Vec<FieldType>>),
    /// Any type; of a struct, the types of the fields.
    Other(Option<Vec<FieldType>>),
    Role(RoleItem),
    Session(SessionItem),
    /// A set of roles that is verified as a whole.
    Set(SetItem),
}

/// One leaf of a `use`.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub(crate) visibility: Visibility,
    pub(crate) leading_colon: bool,
    pub(crate) path: Vec<String>,
    /// The name in this module; `None` for a glob.
    pub(crate) name: Option<String>,
}

/// A file or an inline module.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// The conjunction of the inner `#![cfg(…)]`s.
    pub(crate) condition: CfgValue,
    pub(crate) parts: Vec<Part>,
    /// The [names](bare_names) of the runtime that every build uses without a path, each with the
    /// line where it does.
    pub(crate) bare_names: BTreeMap<&'static str, usize>,
    /// The types with one lifetime in functions that run processes.
    pub(crate) run: BTreeSet<String>,
    /// Whether it may have names that [nobody sees](is_opaque).
    pub(crate) is_opaque: bool,
}

/// An item that matters to sessions.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) condition: CfgValue,
    pub(crate) visibility: Visibility,
    pub(crate) kind: PartKind,
}

#[derive(Debug)]
pub(crate) enum PartKind {
    /// A type, with its line.
    Declared(String, usize, Rc<ItemKind>),
    Imports(Vec<Import>),
    Include(String),
    IncludesProtocols,
    Module {
        name: String,
        /// The value of `#[path]`.
        path: Option<String>,
        /// The position of an inline one in the source.
        body: Option<usize>,
    },
    Protocol(ProtocolItem),
    /// A `protocol!(…)` of something else, which makes this module, with an error in it.
    NoProtocol(String),
}

/// The first byte and line of a text that is no Rust.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct NoRust {
    pub(crate) byte: usize,
    pub(crate) line: usize,
}

/// Reads the text of a file: the file itself, then its inline modules.
///
/// # Errors
///
/// If the text has no tokens: brackets or quotes that do not match, an unknown escape in a literal,
/// a character that begins no token.
pub(crate) fn read(text: &str, cfg: &Cfg) -> Result<Vec<Body>, NoRust> {
    let tokens: TokenStream = without_prelude(text.to_owned()).parse().map_err(|error| {
        let error: proc_macro2::LexError = error;
        NoRust { byte: error.span().byte_range().start, line: error.span().start().line }
    })?;
    let mut bodies = vec![Body::default()];
    let mut pending = vec![(0, tokens)];
    while let Some((position, tokens)) = pending.pop() {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let items = scan(&tokens, cfg);
        let present = || items.items.iter().filter(|item| item.condition != CfgValue::False);
        let certain = present().filter(|item| item.condition == CfgValue::True);
        let mut run = BTreeSet::new();
        let names: Vec<_> = certain.flat_map(|item| bare_names(item, &mut run)).collect();
        // Of several lines, the first.
        let bare_names = names.into_iter().rev().collect();
        let is_opaque = present().any(is_opaque);
        let parts = present().filter_map(|item| {
            let kind = part(item, cfg, |body| {
                bodies.push(Body::default());
                pending.push((bodies.len() - 1, body));
                bodies.len() - 1
            });
            Some(Part { condition: item.condition, visibility: item.visibility, kind: kind? })
        });
        let parts = parts.collect();
        let condition = items.condition;
        bodies[position] = Body { condition, parts, bare_names, run, is_opaque };
    }
    Ok(bodies)
}

/// What an item is to sessions; `None` if it does not matter. `inline` takes the body of a module
/// and returns its position.
fn part(
    item: &RawItem<'_>,
    cfg: &Cfg,
    inline: impl FnOnce(TokenStream) -> usize,
) -> Option<PartKind> {
    let text = |name: &Ident| name.unraw().to_string();
    Some(match &item.kind {
        RawKind::Module(name, body) => {
            let path = item.attributes.iter().find(|a| a.is("path"));
            PartKind::Module {
                name: text(name),
                path: path.and_then(Attribute::string),
                body: body.map(|body| inline(body.stream())),
            }
        }
        RawKind::Use(tree) => PartKind::Imports(imports(tree, item.visibility)),
        RawKind::ExternCrate { name, alias } => {
            let is_self = *name == "self";
            let name = if is_self { "crate".to_owned() } else { text(name) };
            PartKind::Imports(vec![Import {
                visibility: item.visibility,
                leading_colon: false,
                path: vec![name],
                name: Some(text(alias)),
            }])
        }
        RawKind::Include(file) => PartKind::Include(file.clone()),
        // A call with other arguments is one of another macro.
        RawKind::Protocol(arguments) => match ProtocolItem::parse(arguments.clone()) {
            Ok(item) => PartKind::Protocol(item),
            Err(_) => PartKind::NoProtocol(ProtocolItem::meant(arguments)?.module()),
        },
        RawKind::Other => {
            let calls = |pair: &[TokenTree]| {
                matches!(&pair[0], TokenTree::Ident(ident) if ident == "include_protocols")
                    && is_punct(&pair[1], '!')
            };
            return item.tokens.windows(2).any(calls).then_some(PartKind::IncludesProtocols);
        }
        RawKind::Enum(name) | RawKind::Struct(name) | RawKind::Type(name) => {
            let line = name.span().start().line;
            PartKind::Declared(text(name), line, Rc::new(classify(item, cfg)))
        }
    })
}

fn classify(item: &RawItem<'_>, cfg: &Cfg) -> ItemKind {
    let tokens = || item.tokens.iter().cloned().collect::<TokenStream>();
    let fields = || ItemKind::Other(message::field_types(tokens()));
    if let Some(session) = item.attributes.iter().find(|attribute| attribute.is("session")) {
        let arguments = session.arguments().unwrap_or_default();
        return SessionItem::parse(arguments, tokens()).map_or(ItemKind::Broken, ItemKind::Session);
    }
    let derives = |name| item.attributes.iter().any(|attribute| attribute.derives(name));
    match &item.kind {
        RawKind::Struct(_) if derives("Role") => {
            RoleItem::parse(derive_input(item, &ROLE_ATTRIBUTES, cfg))
                .map_or(ItemKind::Broken, ItemKind::Role)
        }
        RawKind::Struct(_) if derives("Roles") => {
            match SetItem::parse(derive_input(item, &SET_ATTRIBUTES, cfg)) {
                Ok(set) if set.is_closed_system => ItemKind::Set(set),
                Ok(_) => fields(),
                Err(_) => ItemKind::Broken,
            }
        }
        RawKind::Enum(_) | RawKind::Struct(_) if derives("Message") => {
            match MessageItem::parse(derive_input(item, &MESSAGE_ATTRIBUTES, cfg)) {
                Ok(message) => ItemKind::Message(message, message::field_types(tokens())),
                Err(_) => ItemKind::Broken,
            }
        }
        RawKind::Struct(_) => fields(),
        RawKind::Type(_) => message::alias(tokens()).map_or(ItemKind::Other(None), ItemKind::Alias),
        _ => ItemKind::Other(None),
    }
}

/// What a derive sees of an item: the attributes that it declares, and the fields or variants that
/// are part of this build.
fn derive_input(item: &RawItem<'_>, declared: &[&str], cfg: &Cfg) -> TokenStream {
    let mut tokens = TokenStream::new();
    for attribute in &item.attributes {
        if declared.contains(&&*attribute.name) {
            let span = attribute.content.first().map_or_else(Span::call_site, TokenTree::span);
            let mut mark = Punct::new('#', Spacing::Alone);
            mark.set_span(span);
            let content = attribute.content.iter().cloned().collect();
            let mut group = Group::new(Delimiter::Bracket, content);
            group.set_span(span);
            tokens.extend([TokenTree::Punct(mark), TokenTree::Group(group)]);
        }
    }
    tokens.extend(item.tokens.iter().map(|tree| match tree {
        TokenTree::Group(group) => TokenTree::Group(without_excluded(group, cfg)),
        tree => tree.clone(),
    }));
    tokens
}

/// The group without the fields or variants that a `#[cfg]` is known to exclude; with a field goes
/// the comma behind it.
fn without_excluded(group: &Group, cfg: &Cfg) -> Group {
    let trees: Vec<TokenTree> = group.stream().into_iter().collect();
    let mut angles = Angles::default();
    let fields = trees.split_inclusive(|tree| {
        angles.step(tree);
        angles.depth == 0 && is_punct(tree, ',')
    });
    let mut is_changed = false;
    let present = fields.filter(|field| {
        let excluded = is_excluded(field, cfg);
        is_changed |= excluded;
        !excluded
    });
    let content: TokenStream = present.flatten().cloned().collect();
    if !is_changed {
        return group.clone();
    }
    let mut changed = Group::new(group.delimiter(), content);
    changed.set_span(group.span());
    changed
}

/// Whether a `#[cfg]` before a field or variant is known to exclude it.
fn is_excluded(field: &[TokenTree], cfg: &Cfg) -> bool {
    field.windows(2).any(|pair| {
        let TokenTree::Group(group) = &pair[1] else { return false };
        let attribute = || Attribute::new(group.stream().into_iter().collect());
        is_punct(&pair[0], '#')
            && group.delimiter() == Delimiter::Bracket
            && attribute().condition(cfg) == Some(CfgValue::False)
    })
}

/// The leaves of the tree of a `use`.
fn imports(tree: Tokens<'_>, visibility: Visibility) -> Vec<Import> {
    let mut imports = Vec::new();
    let leading_colon = tree.first().is_some_and(|first| is_punct(first, ':'));
    let mut pending = vec![(tree.to_vec(), Vec::<String>::new(), 0)];
    while let Some((tokens, mut path, depth)) = pending.pop() {
        let (mut name, mut is_glob, mut is_branch) = (None, false, false);
        let mut trees = tokens.iter();
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Ident(word) if word == "as" => {
                    name = Some(match trees.next() {
                        Some(TokenTree::Ident(alias)) => alias.unraw().to_string(),
                        _ => String::new(),
                    });
                }
                // `a::{self}` is `a` itself.
                TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                TokenTree::Ident(word) => path.push(word.unraw().to_string()),
                TokenTree::Group(group) => {
                    is_branch = true;
                    if depth < USE_DEPTH {
                        let content: Vec<TokenTree> = group.stream().into_iter().collect();
                        let branches = content.rsplit(|tree| is_punct(tree, ','));
                        let branches = branches.filter(|branch| !branch.is_empty());
                        pending.extend(
                            branches.map(|branch| (branch.to_vec(), path.clone(), depth + 1)),
                        );
                    }
                }
                tree => is_glob |= is_punct(tree, '*'),
            }
        }
        let name = if is_glob { None } else { name.or_else(|| path.last().cloned()) };
        if !is_branch && (is_glob || !path.is_empty() && name.as_deref() != Some("_")) {
            imports.push(Import { visibility, leading_colon, path, name });
        }
    }
    imports
}

/// Blanks out what rustc steps over and lexing does not, a byte order mark and a first line `#!…`,
/// so that all places stay.
fn without_prelude(mut text: String) -> String {
    if text.starts_with('\u{feff}') {
        text.replace_range(..'\u{feff}'.len_utf8(), "   ");
    }
    let is_attribute = |rest: &str| rest.trim_start().starts_with('[');
    if text.trim_start().strip_prefix("#!").is_some_and(|rest| !is_attribute(rest)) {
        let end = text.find('\n').unwrap_or(text.len());
        text.replace_range(..end, &" ".repeat(end));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Body>, NoRust> {
        super::read(text, &Cfg::default())
    }

    #[test]
    fn what_is_no_rust_is_known_by_its_first_byte() {
        for (text, byte, line) in [
            ("struct A;\nfn f() { ) }", 19, 2),
            ("é\n\"", 3, 2),
            ("type A = `;", 9, 1),
            ("\u{feff}#!/bin/rust\n'", 15, 2),
        ] {
            assert_eq!(read(text).err(), Some(NoRust { byte, line }), "{text}");
        }
    }

    #[test]
    fn hostile_files_are_read_or_refused() {
        assert_eq!(read("").unwrap()[0].parts.len(), 0);
        let nested = format!("struct S({}{});", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(read(&nested).unwrap()[0].parts.len(), 1);
        let inline = format!("{}{}", "mod m {".repeat(20_000), "}".repeat(20_000));
        assert_eq!(read(&inline).unwrap().len(), 20_001);
        assert!(read(&"(".repeat(100_000)).is_err());
        let types = format!("struct S({}u8{});", "Vec<".repeat(100_000), ">".repeat(100_000));
        assert_eq!(read(&types).unwrap()[0].parts.len(), 1);
    }

    #[test]
    fn a_half_typed_function_costs_only_itself() {
        let text =
            "fn f() { let x = Vec<; } #[session] type A = End; fn g( { } #[session] type B = End;";
        assert!(read(text).is_err());
        let bodies = read(&text.replace("g( {", "g() -> {")).unwrap();
        let sessions = bodies[0].parts.iter().filter(|part| {
            matches!(&part.kind, PartKind::Declared(_, _, kind) if matches!(**kind, ItemKind::Session(_)))
        });
        assert_eq!(sessions.count(), 2);
    }
}
