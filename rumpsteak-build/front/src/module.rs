//! A module under `#[protocol(Name)]` or `#[closed_system]`, with its items.
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
use crate::attribute::{attributes, derived, ensure, expect, expect_end, ident};
pub use crate::cut::ModuleKind;
use crate::cut::{
    self, Cut, check_depth, delimiter, end_of, inner_attributes, is_item, is_punct, trees,
};
use crate::hash::{Hasher, Piece, Pieces};
use crate::message::{LabelItem, MessageItem};
use crate::role::RoleItem;
use crate::session::{Chain, Constructor, SessionItem, Tail};
use crate::set::SetItem;

/// A module of a protocol.
pub struct Module {
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
    /// An item of ours with a mistake, which is among [`Module::errors`]. Another item takes its
    /// place, so that rustc has nothing to follow up.
    Broken {
        /// The name, if there is one.
        name: Option<Ident>,
        /// The kind that the item was to have.
        kind: ItemKind,
        /// The role in `#[session(K)]`; the first one, if there are several.
        role: Option<Ident>,
    },
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

impl Item {
    /// The name and the kind, unless the item stays as it is.
    pub fn named(&self) -> Option<(&Ident, ItemKind)> {
        Some(match self {
            Self::Broken { name, kind, .. } => (name.as_ref()?, *kind),
            Self::Label(item) => (&item.name, ItemKind::Label),
            Self::Message(item) => (&item.name, ItemKind::Message),
            Self::Other(_) | Self::Use(_) => return None,
            Self::Role(item) => (&item.name, ItemKind::Role),
            Self::Session(item) => (&item.name, ItemKind::Session),
            Self::Set(item) => (&item.name, ItemKind::Set),
        })
    }

    /// The struct or enum that may be a label, which may also be the message type.
    pub fn label(&self) -> Option<&LabelItem> {
        match self {
            Self::Label(label) => Some(label),
            Self::Message(message) => message.label.as_ref(),
            _ => None,
        }
    }

    /// The message type, if the item is one.
    pub fn message(&self) -> Option<&MessageItem> {
        let Self::Message(message) = self else { return None };
        Some(message)
    }

    /// The role, if the item is one.
    pub fn role(&self) -> Option<&RoleItem> {
        let Self::Role(role) = self else { return None };
        Some(role)
    }

    /// The session, if the item is one.
    pub fn session(&self) -> Option<&SessionItem> {
        let Self::Session(session) = self else { return None };
        Some(session)
    }

    /// The role in `#[session(K)]`, even if the session has a mistake.
    pub fn player(&self) -> Option<&Ident> {
        match self {
            Self::Broken { role, .. } => role.as_ref(),
            item => item.session()?.role.as_ref(),
        }
    }
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
    /// An error is about the arguments or the head of the module. Mistakes inside items are in
    /// [`Module::errors`].
    pub fn parse(kind: ModuleKind, arguments: TokenStream, item: TokenStream) -> Result<Self> {
        let mut header = trees(item);
        let mut hasher = Hasher::default();
        hasher.bytes(&[kind as u8]);
        hasher.tokens(arguments.clone());
        hasher.text("");
        let body = match header.pop_if(|last| delimiter(Some(last)) == Some(Delimiter::Brace)) {
            Some(TokenTree::Group(body)) => Some(body),
            _ => None,
        };
        let end = body.as_ref().map_or_else(|| end_of(&header), Group::span_open);
        let header: TokenStream = header.into_iter().collect();
        check_depth(&Pieces::new(header.clone()).collect::<Vec<_>>(), false)?;
        let (mut attributes, visibility, name) = cut::parse(header, end, |input| {
            let attributes = input.call(Attribute::parse_outer)?;
            let visibility = input.parse::<Visibility>()?;
            expect::<Token![mod]>(input, EXPECTED)?;
            let name = ident(input, EXPECTED)?;
            expect_end(input, EXPECTED)?;
            Ok((attributes, visibility, name))
        })?;
        let body = body.ok_or_else(|| Error::new(end, EXPECTED))?.stream();
        // rustc takes away some attributes of the module, so none of them counts.
        hasher.tokens(quote!(#visibility mod #name { #body }));
        let arguments = Arguments::parse(kind, arguments, name.span())?;

        let content = trees(body);
        let (inner, content) = content.split_at(inner_attributes(&content));
        let inner: TokenStream = inner.iter().cloned().collect();
        check_depth(&Pieces::new(inner.clone()).collect::<Vec<_>>(), false)?;
        let inner = cut::parse(inner, name.span(), Attribute::parse_inner)?.into_iter();
        attributes.extend(inner.map(|inner| Attribute { style: AttrStyle::Outer, ..inner }));
        let (items, errors) = items(content.iter().cloned().collect());
        Ok(Self { arguments, attributes, visibility, name, items, errors, hash: hasher.finish() })
    }
}

/// Parses the content of a module: the items, and the mistakes in them in the order of the source.
pub fn items(content: TokenStream) -> (Vec<Item>, Vec<Error>) {
    let content = trees(content);
    let cuts = cut::items(&content);
    let mut kinds: Vec<_> = cuts.iter().map(kind).collect();
    let has_message = kinds.contains(&ItemKind::Message);
    let roles = cuts.iter().zip(&kinds).filter(|(_, kind)| **kind == ItemKind::Role);
    let named: Vec<Ident> = roles.flat_map(|(cut, _)| arguments_of(cut, "message")).collect();
    for (cut, kind) in cuts.iter().zip(&mut kinds) {
        let Some(name) = cut.name().filter(|_| *kind == ItemKind::Label) else { continue };
        let is_default =
            || !has_message && name == "Label" && MessageItem::parse(cut.tokens()).is_ok();
        if cut.keyword() == "enum" && (named.contains(&name) || is_default()) {
            *kind = ItemKind::Message;
        }
    }
    let sessions = sessions(&cuts, &kinds);
    let (mut items, mut errors, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for ((cut, kind), session) in cuts.iter().zip(kinds).zip(sessions) {
        let kind = if session.is_some() { ItemKind::Session } else { kind };
        if kind == ItemKind::Other
            && let Some(place) = hidden_session(cut)
        {
            errors.push(Error::new(place, HIDDEN_SESSION));
            items.push(Item::Other(stub(cut)));
            continue;
        }
        let item = session.map_or_else(|| item(cut, kind), |session| session.map(Item::Session));
        let name = cut.name().filter(|_| kind != ItemKind::Other);
        items.push(match (item, name) {
            (Ok(_), Some(name)) if !seen.insert(name.to_string()) => {
                errors.push(Error::new(name.span(), format!("a second `{name}` in this module")));
                Item::Broken { name: None, kind: ItemKind::Other, role: None }
            }
            (Ok(item), _) => item,
            (Err(error), _) => {
                errors.push(error);
                let role = arguments_of(cut, "session").into_iter().next();
                Item::Broken { name: cut.name(), kind, role }
            }
        });
    }
    (items, errors)
}

/// Parses the sessions among the items of a module: the items of that kind, and all that they go on
/// as. Returns each at the position of its item.
fn sessions(cuts: &[Cut<'_>], kinds: &[ItemKind]) -> Vec<Option<Result<SessionItem>>> {
    // The items that are sessions only if another session goes on as them.
    let mut candidates = HashMap::<String, Vec<usize>>::new();
    let (mut parsed, mut found) = (Vec::new(), Vec::new());
    for (index, (cut, kind)) in cuts.iter().zip(kinds).enumerate() {
        let is_session = *kind == ItemKind::Session;
        parsed.push(is_session.then(|| SessionItem::parse(cut.tokens())));
        if is_session {
            found.push(index);
        } else if (*kind == ItemKind::Label || cut.keyword() == "type")
            && let Some(name) = cut.name()
        {
            candidates.entry(name.to_string()).or_default().push(index);
        }
    }
    while let Some(index) = found.pop() {
        let part = |chain: &Chain| match &chain.tail {
            Tail::Choice { choice, .. } => Some((choice.to_string(), true)),
            Tail::Named(part) => Some((part.to_string(), false)),
            Tail::End(_) | Tail::Itself(_) => None,
        };
        // The names of sessions, each with true if it is in the place of a choice.
        let parts: Vec<(String, bool)> = match &parsed[index] {
            Some(Ok(session)) => session.chains().filter_map(part).collect(),
            _ => choices_in(&cuts[index], cuts, &candidates),
        };
        for (part, is_choice) in parts {
            for index in candidates.remove(&part).unwrap_or_default() {
                let session = SessionItem::parse(cuts[index].tokens());
                // Parts are called as items are, and not as `u8` is.
                let is_item = |part: &Ident| part.to_string().starts_with(char::is_uppercase);
                let names_items = |session: &SessionItem| session.parts().all(is_item);
                // If not, the mistake is that a label is named in the place of a session.
                let is_label = is_choice || !session.as_ref().is_ok_and(names_items);
                let mut trees = Pieces::new(cuts[index].tokens()).filter_map(Piece::tree);
                let has_angle = trees.any(|tree| is_punct(Some(&tree), '<'));
                if has_angle || !is_label || cuts[index].keyword() != "struct" {
                    parsed[index] = Some(session);
                    found.push(index);
                }
            }
        }
    }
    parsed
}

/// Returns the choices that a session with a mistake names, as far as they can be told from labels.
fn choices_in(
    broken: &Cut<'_>,
    cuts: &[Cut<'_>],
    candidates: &HashMap<String, Vec<usize>>,
) -> Vec<(String, bool)> {
    let is_choice = |&index: &usize| {
        cuts[index].keyword() == "enum" && SessionItem::parse(cuts[index].tokens()).is_ok()
    };
    let trees = Pieces::new(broken.tokens()).filter_map(Piece::tree);
    let names = trees.filter_map(|tree| Some(cut::word(&tree)?.to_string()));
    let names = names.collect::<HashSet<_>>().into_iter();
    let are_choices =
        |name: &String| candidates.get(name).is_some_and(|indices| indices.iter().all(is_choice));
    names.filter(are_choices).map(|name| (name, true)).collect()
}

/// Returns the names in the attributes with this word.
fn arguments_of(cut: &Cut<'_>, word: &str) -> Vec<Ident> {
    let ours = cut.attributes().into_iter().filter(|(_, own, _)| own == word);
    let names = ours.flat_map(|(.., arguments)| match arguments.first() {
        Some(TokenTree::Group(group)) => trees(group.stream()),
        _ => Vec::new(),
    });
    names.filter_map(|tree| cut::word(&tree)).collect()
}

/// Returns the place of a `#[session]` inside an item, unless there is a module of a protocol in
/// it.
fn hidden_session(cut: &Cut<'_>) -> Option<Span> {
    let words = words(cut);
    let is_module = |word: &Ident| word == "closed_system" || word == "protocol";
    let session = words.iter().find(|word| *word == "session").map(Ident::span);
    session.filter(|_| !words.iter().any(is_module))
}

/// Returns what takes the place of an item that hides a session: for a macro, one that makes
/// nothing.
fn stub(cut: &Cut<'_>) -> TokenStream {
    match cut.tree(2) {
        Some(TokenTree::Ident(name)) if cut.keyword() == "macro_rules" => {
            quote!(macro_rules! #name { ($($tokens:tt)*) => {} })
        }
        _ => TokenStream::new(),
    }
}

/// Parses an item that is not a session.
fn item(cut: &Cut<'_>, kind: ItemKind) -> Result<Item> {
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
            let place = cut.tree(0).map_or_else(|| cut.end(), TokenTree::span);
            ensure(is_item, place, EXPECTED_AN_ITEM)?;
            ensure(cut.is_complete, cut.end(), "expected `;` or `{…}` after this")?;
            if keyword != "use" {
                return Ok(Item::Other(tokens));
            }
            let is_open = matches!(cut.trees, [.., last, _] if is_punct(Some(last), ':'));
            ensure(!is_open, cut.end(), "expected a name after `::`")?;
            Ok(Item::Use(tokens))
        }
    }
}

/// Returns what an item is to be, by its attributes and its first tokens.
fn kind(cut: &Cut<'_>) -> ItemKind {
    let keyword = cut.keyword();
    let is_struct = keyword == "struct";
    for (_, word, arguments) in cut.attributes() {
        match word.as_str() {
            "session" => return ItemKind::Session,
            "message" | "protocol" | "role" | "route" if is_struct => return ItemKind::Role,
            "derive" => match derived(&arguments).as_deref() {
                Some("Message") => return ItemKind::Message,
                Some("Role") => return ItemKind::Role,
                Some("Roles") => return ItemKind::Set,
                _ => {}
            },
            _ => {}
        }
    }
    match keyword.as_str() {
        "struct" if words(cut).iter().any(|word| word == "route") => ItemKind::Role,
        "enum" | "struct" | "type" if has_word_of_sessions(cut) => ItemKind::Session,
        "enum" | "struct" => ItemKind::Label,
        _ => ItemKind::Other,
    }
}

/// Returns the last words of the attributes on and in an item.
fn words(cut: &Cut<'_>) -> Vec<Ident> {
    let pieces: Vec<Piece> = Pieces::new(cut.tokens()).collect();
    attributes(&pieces).into_iter().filter_map(|(.., mut path)| path.pop()).collect()
}

/// Returns true if the body of a type or a struct begins with a word of sessions and `<`, or if
/// these are anywhere in the body of an enum.
fn has_word_of_sessions(cut: &Cut<'_>) -> bool {
    let body: TokenStream = (2..).map_while(|offset| cut.tree(offset)).cloned().collect();
    let body = Pieces::new(body).filter_map(Piece::tree);
    let body: Vec<TokenTree> = body.skip_while(|tree| is_punct(Some(tree), '=')).collect();
    let is_constructor = |tree| cut::word(tree).is_some_and(|it| Constructor::of(&it).is_some());
    let most = if cut.keyword() == "enum" { usize::MAX } else { 1 };
    let mut pairs = body.windows(2).take(most);
    pairs.any(|pair| is_constructor(&pair[0]) && is_punct(pair.last(), '<'))
}

const EXPECTED: &str =
    "this attribute is for a module in this file: `mod name { … }`, or `mod name {}`";
const HIDDEN_SESSION: &str = "`#[session]` stands on an item of the module itself: a session that a macro, a function or a \
                              module in it has is not verified";
const EXPECTED_AN_ITEM: &str = "expected an item, such as `type`, `struct`, `enum`, `use` or `fn`";
