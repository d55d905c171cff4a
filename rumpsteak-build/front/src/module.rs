//! A module of a protocol: what `#[protocol(Name)]` and `#[closed_system]` stand on.
//!
//! ```text
//! #[protocol(DoubleBuffering)]
//! mod double_buffering {
//!     use super::Frame;
//!
//!     #[session(K)]
//!     type Kernel = Send<S, Ready, Loop>;
//!     struct Loop(Receive<S, Value, Send<S, Ready, Receive<T, Ready, Send<T, Value, Self>>>>);
//! }
//! ```
//!
//! The module is cut into items by their brackets and semicolons, so that an item with a mistake
//! costs one error and no other item. An item is one of ours if an attribute or a derive says so,
//! or if a session names it:
//!
//! * a struct with `#[derive(Role)]`, a struct with `#[derive(Roles)]`, an enum or a struct with
//!   `#[derive(Message)]`, an enum that a role names in `#[message(…)]`, and an enum `Label` with
//!   one type in each variant;
//! * an item with `#[session]` or `#[session(K)]`, and every `type`, `struct` and `enum` that such
//!   an item goes on as; so the parts of a session need no attribute. So is a `type` or a struct
//!   that begins with a word of sessions and `<`;
//! * all other structs and enums may be labels;
//! * everything else stays as it is.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::{AttrStyle, Attribute, Error, Result, Token, Visibility};

use crate::arguments::Arguments;
use crate::attribute::{attributes, derived, expect, expect_end, ident};
pub use crate::cut::ModuleKind;
use crate::cut::{
    self, Cut, attribute_path, check_depth, delimiter, end_of, is_item, is_punct, trees,
};
use crate::hash::{Hasher, Piece, Pieces};
use crate::label::LabelItem;
use crate::message::MessageItem;
use crate::role::RoleItem;
use crate::session::{Chain, Constructor, SessionItem, Tail};
use crate::set::SetItem;

/// A module of a protocol.
pub struct Module {
    /// The attribute.
    pub kind: ModuleKind,
    /// The arguments of the attribute.
    pub arguments: Arguments,
    /// The other attributes of the module.
    pub attributes: Vec<Attribute>,
    /// The visibility of the module.
    pub visibility: Visibility,
    /// The name of the module.
    pub name: Ident,
    /// The items, in the order of the source.
    pub items: Vec<Item>,
    /// The mistakes in items, in the order of the source.
    pub errors: Vec<Error>,
    /// The hash of all tokens of the attribute and of the module, without documentation.
    pub hash: u64,
}

/// An item of a module.
pub enum Item {
    /// An item with a mistake, which is among [`Module::errors`].
    Broken(BrokenItem),
    /// A struct or an enum that may be a label.
    Label(LabelItem),
    /// A message type.
    Message(MessageItem),
    /// Any other item, as it stands.
    Other(TokenStream),
    /// A role.
    Role(RoleItem),
    /// A session, or a part of one.
    Session(SessionItem),
    /// A set of roles.
    Set(SetItem),
    /// A `use` declaration, as it stands.
    Use(TokenStream),
}

/// An item of ours with a mistake: what takes its place, so that rustc has nothing to follow up.
pub struct BrokenItem {
    /// The name, if there is one.
    pub name: Option<Ident>,
    /// The kind that the item was to have.
    pub kind: ItemKind,
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ItemKind {
    /// A struct or an enum that may be a label.
    Label,
    /// A message type.
    Message,
    /// Anything else.
    Other,
    /// A role.
    Role,
    /// A session, or a part of one.
    Session,
    /// A set of roles.
    Set,
}

impl Module {
    /// Parses the arguments of the attribute, without the parentheses, and the module that it
    /// stands on.
    ///
    /// Mistakes inside items are in [`Module::errors`].
    ///
    /// # Errors
    ///
    /// If the arguments are wrong, or if the item is no module with braces.
    pub fn parse(kind: ModuleKind, arguments: TokenStream, item: TokenStream) -> Result<Self> {
        let mut header = trees(item);
        let mut hasher = Hasher::new();
        hasher.bytes(&[kind as u8]);
        hasher.tokens(arguments.clone());
        hasher.text("");
        let body = match header.pop_if(|last| delimiter(last) == Some(Delimiter::Brace)) {
            Some(TokenTree::Group(body)) => Some(body),
            _ => None,
        };
        let end = body.as_ref().map_or_else(|| end_of(&header), Group::span_open);
        let header: TokenStream = header.into_iter().collect();
        check_depth(header.clone(), false)?;
        let (mut attributes, visibility, name) = cut::parse(header, end, |input| {
            let attributes = input.call(Attribute::parse_outer)?;
            let visibility = input.parse::<Visibility>()?;
            expect(input, Token![mod], EXPECTED)?;
            let name = ident(input, EXPECTED)?;
            if body.is_none() {
                return Err(Error::new(input.span(), EXPECTED));
            }
            expect_end(input, EXPECTED)?;
            Ok((attributes, visibility, name))
        })?;
        let body = body.map(|body| body.stream()).unwrap_or_default();
        // rustc takes away some attributes of the module, so none of them counts.
        hasher.tokens(quote!(#visibility mod #name { #body }));
        let arguments = Arguments::parse(kind, arguments, name.span())?;

        let mut content = trees(body);
        let inner = inner_attributes(&content);
        let inner: TokenStream = content.drain(..inner).collect();
        check_depth(inner.clone(), false)?;
        for attribute in cut::parse(inner, name.span(), Attribute::parse_inner)? {
            attributes.push(Attribute { style: AttrStyle::Outer, ..attribute });
        }
        let (items, errors) = parse_items(content);
        let hash = hasher.finish();
        Ok(Self { kind, arguments, attributes, visibility, name, items, errors, hash })
    }
}

/// Parses the content of a module: the items, and the mistakes in them in the order of the source.
pub fn items(content: TokenStream) -> (Vec<Item>, Vec<Error>) {
    parse_items(trees(content))
}

/// Returns the number of trees that are attributes of the module itself: `#![…]`.
fn inner_attributes(content: &[TokenTree]) -> usize {
    let is_inner = |trees: &&[TokenTree]| {
        is_punct(trees.first(), '#')
            && is_punct(trees.get(1), '!')
            && trees.get(2).and_then(delimiter) == Some(Delimiter::Bracket)
    };
    content.chunks(3).take_while(is_inner).count() * 3
}

fn parse_items(content: Vec<TokenTree>) -> (Vec<Item>, Vec<Error>) {
    let cuts = cut::items(content);
    let mut kinds: Vec<_> = cuts.iter().map(kind).collect();
    let has_message = kinds.contains(&ItemKind::Message);
    let roles = cuts.iter().zip(&kinds).filter(|(_, kind)| **kind == ItemKind::Role);
    let named: Vec<String> = roles.flat_map(|(cut, _)| message_of(cut)).collect();
    for (cut, kind) in cuts.iter().zip(&mut kinds) {
        let Some(name) = cut.name().filter(|_| *kind == ItemKind::Label) else { continue };
        let is_default =
            || !has_message && name == "Label" && MessageItem::parse(cut.tokens()).is_ok();
        if cut.keyword() == "enum" && (named.contains(&name.to_string()) || is_default()) {
            *kind = ItemKind::Message;
        }
    }
    let mut sessions = Sessions::new(&cuts, &kinds);
    sessions.follow();
    let (mut items, mut errors) = (Vec::new(), Vec::new());
    for ((cut, kind), session) in cuts.iter().zip(kinds).zip(sessions.parsed) {
        if let Some(place) = hidden_session(cut).filter(|_| kind == ItemKind::Other) {
            errors.push(Error::new(place, HIDDEN_SESSION));
            items.push(Item::Other(stub(cut)));
            continue;
        }
        let is_session = session.is_some();
        let item = match session {
            Some(session) => session.map(Item::Session),
            None => item(cut, kind),
        };
        items.push(item.unwrap_or_else(|error| {
            errors.push(error);
            let kind = if is_session { ItemKind::Session } else { kind };
            Item::Broken(BrokenItem { name: cut.name(), kind })
        }));
    }
    errors.extend(take_seconds(&mut items));
    (items, errors)
}

/// Takes out the second item of each name, which is a mistake.
fn take_seconds(items: &mut [Item]) -> Vec<Error> {
    let mut seen = HashSet::new();
    let mut errors = Vec::new();
    for item in items {
        let name = match item {
            Item::Label(item) => &item.name,
            Item::Message(item) => &item.name,
            Item::Role(item) => &item.name,
            Item::Session(item) => &item.name,
            Item::Set(item) => &item.name,
            Item::Broken(_) | Item::Other(_) | Item::Use(_) => continue,
        };
        if !seen.insert(name.to_string()) {
            errors.push(Error::new(name.span(), format!("a second `{name}` in this module")));
            *item = Item::Broken(BrokenItem { name: None, kind: ItemKind::Other });
        }
    }
    errors
}

/// The sessions among the items of a module.
struct Sessions<'a> {
    cuts: &'a [Cut],
    /// The items that are sessions only if another session goes on as them, by name.
    candidates: HashMap<String, Vec<usize>>,
    /// The sessions, each at the position of its item.
    parsed: Vec<Option<Result<SessionItem>>>,
}

impl<'a> Sessions<'a> {
    fn new(cuts: &'a [Cut], kinds: &[ItemKind]) -> Self {
        let mut candidates = HashMap::<_, Vec<_>>::new();
        let mut parsed = Vec::new();
        for (index, (cut, kind)) in cuts.iter().zip(kinds).enumerate() {
            let is_session = *kind == ItemKind::Session;
            parsed.push(is_session.then(|| SessionItem::parse(cut.tokens())));
            let is_candidate = *kind == ItemKind::Label || cut.keyword() == "type";
            if let Some(name) = cut.name().filter(|_| is_candidate && !is_session) {
                candidates.entry(name.to_string()).or_default().push(index);
            }
        }
        Self { cuts, candidates, parsed }
    }

    /// Parses the items that sessions go on as.
    fn follow(&mut self) {
        let mut found: Vec<usize> =
            (0..self.cuts.len()).filter(|&index| self.parsed[index].is_some()).collect();
        while let Some(index) = found.pop() {
            let parts: Vec<(String, bool)> = match &self.parsed[index] {
                Some(Ok(session)) => parts(session),
                _ => self.choices_in(index).into_iter().map(|choice| (choice, true)).collect(),
            };
            for (part, is_choice) in parts {
                for index in self.candidates.remove(&part).unwrap_or_default() {
                    let cut = &self.cuts[index];
                    let session = SessionItem::parse(cut.tokens());
                    // The mistake is where a label is named in the place of a session.
                    let is_label = is_choice || !session.as_ref().is_ok_and(names_items);
                    if is_plain_struct(cut) && is_label {
                        continue;
                    }
                    self.parsed[index] = Some(session);
                    found.push(index);
                }
            }
        }
    }

    /// Returns the choices that a session with a mistake names, as far as they can be told from
    /// labels.
    fn choices_in(&self, broken: usize) -> Vec<String> {
        let is_choice = |&index: &usize| {
            let cut = &self.cuts[index];
            cut.keyword() == "enum" && SessionItem::parse(cut.tokens()).is_ok()
        };
        let pieces = Pieces::new(self.cuts[broken].tokens());
        let names = pieces.filter_map(|piece| match piece {
            Piece::Tree(TokenTree::Ident(name)) => Some(name.to_string()),
            _ => None,
        });
        let names: HashSet<String> = names.collect();
        let is_choice = |name: &String| {
            self.candidates.get(name).is_some_and(|indices| indices.iter().all(is_choice))
        };
        names.into_iter().filter(is_choice).collect()
    }
}

/// Returns the names in `#[message(…)]` on a role.
fn message_of(cut: &Cut) -> Vec<String> {
    let attributes = cut.trees[..cut.attributes].iter().filter_map(|tree| match tree {
        TokenTree::Group(attribute) => Some(attribute_path(attribute)),
        _ => None,
    });
    let messages = attributes.filter(|(path, _)| path.last().is_some_and(|it| it == "message"));
    let names = messages.flat_map(|(_, arguments)| match arguments.first() {
        Some(TokenTree::Group(group)) => trees(group.stream()),
        _ => Vec::new(),
    });
    names.map(|tree| tree.to_string()).collect()
}

/// Returns the place of a `#[session]` inside an item, unless there is a module of a protocol in
/// it.
fn hidden_session(cut: &Cut) -> Option<Span> {
    let (mut found, mut after_hash) = (None, false);
    for piece in Pieces::new(cut.tokens()) {
        if let Piece::Open(group) = &piece
            && after_hash
        {
            match attribute_path(group).0.last() {
                Some(word) if word == "closed_system" || word == "protocol" => return None,
                Some(word) if word == "session" => _ = found.get_or_insert(word.span()),
                _ => {}
            }
        }
        after_hash =
            matches!(&piece, Piece::Tree(TokenTree::Punct(punct)) if punct.as_char() == '#');
    }
    found
}

/// Returns what takes the place of an item that hides a session: for a macro, one that makes
/// nothing.
fn stub(cut: &Cut) -> TokenStream {
    match cut.tree(2) {
        Some(TokenTree::Ident(name)) if cut.keyword() == "macro_rules" => {
            quote!(macro_rules! #name { ($($tokens:tt)*) => {} })
        }
        _ => TokenStream::new(),
    }
}

/// Parses an item that is no session.
fn item(cut: &Cut, kind: ItemKind) -> Result<Item> {
    let tokens = cut.tokens();
    match kind {
        ItemKind::Label => LabelItem::parse(tokens).map(Item::Label),
        ItemKind::Message => MessageItem::parse(tokens).map(Item::Message),
        ItemKind::Role => RoleItem::parse(tokens).map(Item::Role),
        ItemKind::Session => SessionItem::parse(tokens).map(Item::Session),
        ItemKind::Set => SetItem::parse(tokens).map(Item::Set),
        ItemKind::Other => {
            let (keyword, after) = (cut.keyword(), cut.tree(1));
            let is_call = is_punct(after, '!') || is_punct(after, ':') || keyword.is_empty();
            let is_item = is_item(&keyword) || !keyword.is_empty() && is_call;
            if !is_item {
                let place = cut.tree(0).map_or_else(|| end_of(&cut.trees), TokenTree::span);
                return Err(Error::new(place, EXPECTED_AN_ITEM));
            }
            let before_end = cut.trees.len().checked_sub(2).and_then(|it| cut.trees.get(it));
            if keyword == "use" && cut.is_complete() && is_punct(before_end, ':') {
                return Err(Error::new(end_of(&cut.trees), "expected a name after `::`"));
            }
            if !cut.is_complete() {
                return Err(Error::new(end_of(&cut.trees), "expected `;` or `{…}` after this"));
            }
            Ok(if keyword == "use" { Item::Use(tokens) } else { Item::Other(tokens) })
        }
    }
}

/// Returns what an item is to be, by its attributes and its first tokens.
fn kind(cut: &Cut) -> ItemKind {
    let keyword = cut.keyword();
    let is_struct = keyword == "struct";
    for tree in &cut.trees[..cut.attributes] {
        let TokenTree::Group(attribute) = tree else { continue };
        let (path, arguments) = attribute_path(attribute);
        match path.last().map(Ident::to_string).as_deref() {
            Some("session") => return ItemKind::Session,
            Some("message" | "protocol" | "role" | "route") if is_struct => return ItemKind::Role,
            Some("derive") => match derived(&arguments).as_deref() {
                Some("Message") => return ItemKind::Message,
                Some("Role") => return ItemKind::Role,
                Some("Roles") => return ItemKind::Set,
                _ => {}
            },
            _ => {}
        }
    }
    let is_route = |(.., path): &(_, _, Vec<Ident>)| path.last().is_some_and(|it| it == "route");
    match keyword.as_str() {
        "struct" if attributes(cut.tokens()).iter().any(is_route) => ItemKind::Role,
        "enum" | "struct" | "type" if has_word_of_sessions(cut) => ItemKind::Session,
        "enum" | "struct" => ItemKind::Label,
        _ => ItemKind::Other,
    }
}

/// Returns true if all parts of a session are called as items are, and not as `u8` is.
fn names_items(session: &SessionItem) -> bool {
    session.parts().all(|part| part.to_string().starts_with(char::is_uppercase))
}

/// The items that a session goes on as, each with true if it is the place of a choice.
fn parts(session: &SessionItem) -> Vec<(String, bool)> {
    let part = |chain: &Chain| match &chain.tail {
        Tail::Choice { choice, .. } => Some((choice.to_string(), true)),
        Tail::Named(part) => Some((part.to_string(), false)),
        Tail::End(_) | Tail::Itself(_) => None,
    };
    session.chains().filter_map(part).collect()
}

/// Returns true for a struct without any `<`, as labels have them.
fn is_plain_struct(cut: &Cut) -> bool {
    let mut pieces = Pieces::new(cut.tokens());
    cut.keyword() == "struct"
        && pieces.all(|piece| !matches!(piece, Piece::Tree(tree) if is_punct(Some(&tree), '<')))
}

/// Returns true if the body of a type or a struct begins with a word of sessions and `<`, or if
/// these are anywhere in the body of an enum.
fn has_word_of_sessions(cut: &Cut) -> bool {
    let body: Vec<TokenTree> = match cut.tree(2) {
        Some(TokenTree::Group(body)) if cut.keyword() == "struct" => trees(body.stream()),
        Some(TokenTree::Group(body)) => {
            let pieces = Pieces::new(body.stream()).filter_map(|piece| match piece {
                Piece::Tree(tree) => Some(tree),
                Piece::Close(_) | Piece::Open(_) => None,
            });
            pieces.collect()
        }
        _ => cut.trees[cut.trees.len().min(cut.start.unwrap_or(0) + 3)..].to_vec(),
    };
    let is_first = cut.keyword() != "enum";
    let word = |tree: &TokenTree| match tree {
        TokenTree::Ident(word) => Constructor::of(word).is_some(),
        _ => false,
    };
    let mut pairs = body.windows(2);
    let found = |pair: &[TokenTree]| word(&pair[0]) && is_punct(pair.get(1), '<');
    if is_first { pairs.next().is_some_and(found) } else { pairs.any(found) }
}

const EXPECTED: &str =
    "this attribute stands on a module that is written in place: `mod name { … }`";
const HIDDEN_SESSION: &str = "`#[session]` stands on an item of the module itself: a session that a macro, a function or a \
                              module in it has is not verified";
const EXPECTED_AN_ITEM: &str = "expected an item, such as `type`, `struct`, `enum`, `use` or `fn`";
