//! Cuts tokens into items, before syn parses them.
//!
//! An item ends at a `;` or at a `{…}`. It also ends where the next item clearly begins, so that a
//! half-typed item leaves the next one whole. `check_depth` refuses an item that is nested too
//! deep for syn, which parses with recursion; nothing in this module recurses.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, Result, braced};

use crate::hash::{Piece, Pieces};

/// The attribute of a module.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ModuleKind {
    /// `#[closed_system]`.
    ClosedSystem,
    /// `#[protocol(…)]`.
    Protocol,
}

/// Finds the modules of protocols in the tokens of a whole file: each `mod name { … }` with
/// `#[protocol(…)]` or `#[closed_system(…)]`, at any depth of braces.
///
/// Returns the arguments of the attribute, and the module with its other attributes.
pub fn modules(file: TokenStream) -> Vec<(ModuleKind, TokenStream, TokenStream)> {
    let mut modules = Vec::new();
    let mut levels = vec![Level::new(file)];
    while let Some(level) = levels.last_mut() {
        let Some(tree) = level.trees.next() else {
            levels.pop();
            continue;
        };
        let group = match &tree {
            TokenTree::Group(group) => Some(group.clone()),
            _ => None,
        };
        let is_brace = delimiter(&tree) == Some(Delimiter::Brace);
        let is_end = is_brace || is_punct(Some(&tree), ';');
        level.item.push(tree);
        if level.item.is_inner_attribute() {
            level.item = Cut::default();
        }
        if is_end {
            let item = std::mem::take(&mut level.item);
            modules.extend(item.module());
        }
        // Other brackets may have braces in them, as calls with closures do.
        levels.extend(group.map(|group| Level::new(group.stream())));
    }
    modules
}

/// A group that is searched for modules: the trees that are left, and the item that they belong to.
struct Level {
    trees: std::vec::IntoIter<TokenTree>,
    item: Cut,
}

impl Level {
    fn new(stream: TokenStream) -> Self {
        Self { trees: trees(stream).into_iter(), item: Cut::default() }
    }
}

/// The trees of an item, not parsed yet.
#[derive(Clone, Default)]
pub(crate) struct Cut {
    pub(crate) trees: Vec<TokenTree>,
    /// The number of trees that are attributes.
    pub(crate) attributes: usize,
    /// The position of the first tree after attributes, visibility and words such as `unsafe`.
    pub(crate) start: Option<usize>,
}

impl Cut {
    /// True for `#![…]`, which belongs to the file or the module around it.
    fn is_inner_attribute(&self) -> bool {
        let [hash, bang, last] = &self.trees[..] else { return false };
        is_punct(Some(hash), '#')
            && is_punct(Some(bang), '!')
            && delimiter(last) == Some(Delimiter::Bracket)
    }

    /// Adds a tree.
    fn push(&mut self, tree: TokenTree) {
        let (position, last) = (self.trees.len(), self.trees.last());
        if self.start.is_none() {
            let group = delimiter(&tree);
            let is_bracket = group == Some(Delimiter::Bracket);
            if is_punct(Some(&tree), '#')
                || is_bracket && (is_punct(last, '#') || is_punct(last, '!'))
                || is_punct(Some(&tree), '!') && is_punct(last, '#')
            {
                self.attributes = position + 1;
            } else if !is_word(Some(&tree), &["pub", "unsafe", "async", "auto", "default"])
                && (group != Some(Delimiter::Parenthesis) || !is_word(last, &["pub"]))
            {
                self.start = Some(position);
            }
        }
        self.trees.push(tree);
    }

    /// Returns the tree at a position after the start.
    pub(crate) fn tree(&self, offset: usize) -> Option<&TokenTree> {
        self.trees.get(self.start? + offset)
    }

    /// Returns the first word, such as `struct`; empty if there is none.
    pub(crate) fn keyword(&self) -> String {
        match self.tree(0) {
            Some(TokenTree::Ident(word)) => word.to_string(),
            _ => String::new(),
        }
    }

    /// Returns the name after the first word, if there is one.
    pub(crate) fn name(&self) -> Option<Ident> {
        match self.tree(1) {
            Some(TokenTree::Ident(name)) => Some(name.clone()),
            _ => None,
        }
    }

    /// Returns all tokens.
    pub(crate) fn tokens(&self) -> TokenStream {
        self.trees.iter().cloned().collect()
    }

    /// Returns true if the item ends with `;`, or with `{…}` if that may end it.
    pub(crate) fn is_complete(&self) -> bool {
        let last = self.trees.last();
        let is_brace = last.and_then(delimiter) == Some(Delimiter::Brace);
        is_punct(last, ';') || is_brace && !self.needs_semicolon()
    }

    /// Returns true if a `{…}` does not end the item.
    fn needs_semicolon(&self) -> bool {
        let is_constant = !is_word(self.tree(1), &["async", "extern", "fn", "unsafe"]);
        match self.keyword().as_str() {
            "const" => is_constant,
            keyword => matches!(keyword, "static" | "type" | "use"),
        }
    }

    /// Returns true if a tree begins another item, although this one has no end yet.
    fn is_cut_off_by(&self, tree: &TokenTree, next: Option<&TokenTree>) -> bool {
        const BEGINNINGS: [&str; 6] = ["enum", "mod", "pub", "struct", "trait", "type"];
        const OTHERS: [&str; 7] = ["async", "const", "extern", "fn", "impl", "static", "unsafe"];
        let is_attribute = is_punct(Some(tree), '#')
            && (next.and_then(delimiter) == Some(Delimiter::Bracket) || is_punct(next, '!'));
        let Some(start) = self.start else {
            return is_attribute && self.trees.len() > self.attributes;
        };
        // Half a word, and no macro call.
        let is_stray = self.trees.len() == start + 1 && !is_item(&self.keyword());
        is_word(Some(tree), &BEGINNINGS)
            || is_word(Some(tree), &["use"]) && !is_punct(next, '<')
            || is_stray && is_word(Some(tree), &OTHERS)
            || is_attribute
    }

    /// Takes the attribute of a protocol off a module. `None` if the item has none, or is no
    /// `mod name { … }`.
    fn module(mut self) -> Option<(ModuleKind, TokenStream, TokenStream)> {
        self.name()?;
        let body = self.tree(2).and_then(delimiter);
        if self.keyword() != "mod" || body != Some(Delimiter::Brace) {
            return None;
        }
        for position in 1..self.attributes {
            let TokenTree::Group(attribute) = &self.trees[position] else { continue };
            let (path, rest) = attribute_path(attribute);
            let kind = match path.last()?.to_string().as_str() {
                "closed_system" => ModuleKind::ClosedSystem,
                "protocol" => ModuleKind::Protocol,
                _ => continue,
            };
            let arguments = match &rest[..] {
                [TokenTree::Group(arguments)] => arguments.stream(),
                rest => rest.iter().cloned().collect(),
            };
            self.trees.drain(position - 1..=position);
            return Some((kind, arguments, self.tokens()));
        }
        None
    }
}

/// Cuts the content of a module into items.
pub(crate) fn items(trees: Vec<TokenTree>) -> Vec<Cut> {
    let (mut items, mut item) = (Vec::new(), Cut::default());
    let mut trees = trees.into_iter().peekable();
    while let Some(tree) = trees.next() {
        if item.is_cut_off_by(&tree, trees.peek()) {
            items.push(std::mem::take(&mut item));
        }
        item.push(tree);
        // After the braces of a constant in a type, the type goes on.
        let goes_on = is_punct(trees.peek(), '>') || is_punct(trees.peek(), ',');
        if item.is_complete() && (is_punct(item.trees.last(), ';') || !goes_on) {
            items.push(std::mem::take(&mut item));
        }
    }
    items.push(item);
    // A `;` after a struct in braces is no item.
    items.retain(|item| item.trees.len() > 1 || !item.trees.is_empty() && !item.is_complete());
    items
}

/// Returns true for a word that begins an item. A macro call begins with another one.
pub(crate) fn is_item(word: &str) -> bool {
    matches!(
        word,
        "const"
            | "enum"
            | "extern"
            | "fn"
            | "impl"
            | "mod"
            | "static"
            | "struct"
            | "trait"
            | "type"
            | "union"
            | "use"
    )
}

/// Returns the trees of a stream, where each invisible group is replaced by its content.
pub(crate) fn trees(stream: TokenStream) -> Vec<TokenTree> {
    let (mut trees, mut levels) = (Vec::new(), vec![stream.into_iter()]);
    while let Some(level) = levels.last_mut() {
        match level.next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => {
                levels.push(group.stream().into_iter());
            }
            Some(tree) => trees.push(tree),
            None => drop(levels.pop()),
        }
    }
    trees
}

/// Returns the path with which the content of an attribute begins, and the trees after the path.
pub(crate) fn attribute_path(attribute: &Group) -> (Vec<Ident>, Vec<TokenTree>) {
    let mut path = Vec::new();
    let mut trees = trees(attribute.stream()).into_iter().peekable();
    while let Some(tree) = trees.next_if(|tree| match tree {
        TokenTree::Ident(_) => true,
        tree => is_punct(Some(tree), ':'),
    }) {
        if let TokenTree::Ident(ident) = tree {
            path.push(ident);
        }
    }
    (path, trees.collect())
}

pub(crate) fn is_punct(tree: Option<&TokenTree>, character: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

fn is_word(tree: Option<&TokenTree>, words: &[&str]) -> bool {
    matches!(tree, Some(TokenTree::Ident(ident)) if words.iter().any(|word| ident == word))
}

pub(crate) fn delimiter(tree: &TokenTree) -> Option<Delimiter> {
    match tree {
        TokenTree::Group(group) => Some(group.delimiter()),
        _ => None,
    }
}

/// Returns the place of the last token.
pub(crate) fn end_of(trees: &[TokenTree]) -> Span {
    match trees.last() {
        Some(TokenTree::Group(group)) => group.span_close(),
        Some(tree) => tree.span(),
        None => Span::call_site(),
    }
}

/// Parses all tokens. At their end, an error points at `end`.
pub(crate) fn parse<T>(
    tokens: TokenStream,
    end: Span,
    grammar: impl FnOnce(ParseStream<'_>) -> Result<T>,
) -> Result<T> {
    let mut group = Group::new(Delimiter::Brace, tokens);
    group.set_span(end);
    let whole = |input: ParseStream<'_>| {
        let content;
        braced!(content in input);
        grammar(&content)
    };
    whole.parse2(TokenTree::Group(group).into())
}

/// The most tokens on the way to a token: on each level of brackets, those after the last comma.
///
/// syn recurses at most once for each of them. Without optimisation that takes up to 32 KB of
/// stack, and a thread may have no more than 2 MB.
const MOST_STEPS: usize = 48;

/// Refuses tokens that are nested too deep.
///
/// A session is parsed without recursion, so its angle brackets are no levels.
pub(crate) fn check_depth(tokens: TokenStream, is_session: bool) -> Result<()> {
    // The steps on each level, and true if its bracket is `<`.
    let (mut levels, mut attributes) = (vec![(0_usize, false)], 0_usize);
    let (mut steps, mut after_arrow, mut after_number) = (0, false, false);
    for piece in Pieces::new(tokens) {
        let has_angles = !is_session || attributes > 0;
        let (span, mark) = match &piece {
            Piece::Close(_) => (None, ' '),
            Piece::Open(group) => (Some(group.span_open()), ' '),
            Piece::Tree(TokenTree::Punct(punct)) => (Some(punct.span()), punct.as_char()),
            Piece::Tree(tree) => (Some(tree.span()), ' '),
        };
        let is_arrow = std::mem::replace(&mut after_arrow, matches!(mark, '-' | '='));
        // As in `1 << 3`.
        let is_shift = after_number && mark == '<';
        after_number = is_shift || matches!(&piece, Piece::Tree(TokenTree::Literal(_)));
        if let Piece::Close(delimiter) = piece {
            attributes -= usize::from(delimiter == Delimiter::Bracket);
        }
        // A closing bracket closes the angle brackets inside it, too.
        let closes = span.is_none() || mark == '>' && has_angles && !is_arrow;
        if closes {
            while let Some((own, is_angle)) =
                levels.pop_if(|(_, is_angle)| span.is_none() || *is_angle)
            {
                steps -= own;
                if is_angle == span.is_some() {
                    break;
                }
            }
            continue;
        }
        let Some((own, _)) = levels.last_mut() else { continue };
        match mark {
            ',' | ';' | '#' => steps -= std::mem::take(own),
            ':' => {}
            '<' | '>' if !has_angles => {}
            _ => {
                *own += 1;
                steps += 1;
            }
        }
        if steps > MOST_STEPS {
            let text = "this is nested too deep: give a part of it a name of its own";
            return Err(Error::new(span.unwrap_or_else(Span::call_site), text));
        }
        if let Piece::Open(group) = &piece {
            attributes += usize::from(group.delimiter() == Delimiter::Bracket);
            levels.push((0, false));
        } else if mark == '<' && has_angles && !is_shift {
            levels.push((0, true));
        }
    }
    Ok(())
}
