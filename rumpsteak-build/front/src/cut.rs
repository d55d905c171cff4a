//! Finds the modules of protocols in a file, and cuts a module into items, before syn parses them.
//!
//! An item ends at a `;` or at a `{…}`. It also ends where the next item clearly begins, so that a
//! half-typed item leaves the next one whole. `check_depth` refuses an item that is nested too
//! deep for syn, which parses with recursion; nothing in this module recurses.

use std::collections::VecDeque;

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

/// Finds the modules of protocols in the tokens of a whole file: each `mod name { … }` or
/// `mod name;` with `#[protocol(…)]` or `#[closed_system(…)]`, at any depth of brackets.
///
/// Returns the arguments of each such attribute, even in a `cfg_attr`, and the module with the
/// other attributes.
pub fn modules(file: TokenStream) -> Vec<(ModuleKind, TokenStream, TokenStream)> {
    let (mut modules, mut groups) = (Vec::new(), VecDeque::from([file]));
    while let Some(group) = groups.pop_front() {
        let trees = trees(group);
        modules.extend(items(&trees[inner_attributes(&trees)..]).iter().flat_map(Cut::modules));
        groups.extend(trees.iter().filter_map(|tree| match tree {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        }));
    }
    modules
}

/// Finds the modules of a file, outside all brackets, that are meant for a protocol, and that no
/// macro sees: the name; the protocol, or a name like it; and the path of a wrong attribute, or "".
pub fn lost(file: TokenStream) -> Vec<(Ident, String, String)> {
    const OTHERS: &str = "const enum fn impl macro_rules mod static struct trait type union";
    let trees = trees(file);
    let items = items(&trees[inner_attributes(&trees)..]);
    let imports = items.iter().filter(|item| !has(OTHERS, &item.keyword()));
    let imports: String = imports.map(|item| text(item.tokens())).collect();
    items.iter().filter_map(|item| item.lost(&imports)).collect()
}

/// Returns the number of trees in the `#![…]` at the start of a file or of a module.
pub(crate) fn inner_attributes(trees: &[TokenTree]) -> usize {
    let is_inner = |trees: &&[TokenTree]| {
        is_punct(trees.first(), '#')
            && is_punct(trees.get(1), '!')
            && delimiter(trees.get(2)) == Some(Delimiter::Bracket)
    };
    trees.chunks(3).take_while(is_inner).count() * 3
}

/// Cuts the content of a file or of a module into items.
pub(crate) fn items(mut trees: &[TokenTree]) -> Vec<Cut<'_>> {
    let mut items = Vec::new();
    while !trees.is_empty() {
        let item = Cut::first(trees);
        trees = &trees[item.trees.len()..];
        // A `;` may follow a struct in braces.
        if !matches!(item.trees, [only] if is_punct(Some(only), ';')) {
            items.push(item);
        }
    }
    items
}

/// The trees of an item, not parsed yet.
pub(crate) struct Cut<'a> {
    pub(crate) trees: &'a [TokenTree],
    /// The number of trees that are attributes.
    attributes: usize,
    /// The position of the first tree after attributes, visibility and words such as `unsafe`.
    start: usize,
    /// True if the item ends with `;`, or with `{…}` if that may end it.
    pub(crate) is_complete: bool,
}

impl<'a> Cut<'a> {
    /// Cuts the first item off a slice that is not empty.
    fn first(trees: &'a [TokenTree]) -> Self {
        let mut attributes = 0;
        while is_punct(trees.get(attributes), '#') {
            attributes += 1 + usize::from(is_punct(trees.get(attributes + 1), '!'));
            attributes += usize::from(delimiter(trees.get(attributes)) == Some(Delimiter::Bracket));
        }
        let mut start = attributes;
        while is_word(trees.get(start), "pub unsafe async auto default")
            || delimiter(trees.get(start)) == Some(Delimiter::Parenthesis)
                && start > attributes
                && is_word(trees.get(start - 1), "pub")
        {
            start += 1;
        }
        let mut item = Self { trees: &trees[..start], attributes, start, is_complete: false };
        while !item.is_complete && item.trees.len() < trees.len() {
            let (before, rest) = trees.split_at(item.trees.len());
            if item.is_cut_off_by(&rest[0], rest.get(1)) {
                break;
            }
            item.trees = &trees[..=before.len()];
            // After the braces of a constant in a type, the type goes on.
            let goes_on = is_punct(rest.get(1), '>') || is_punct(rest.get(1), ',');
            let is_brace = delimiter(rest.first()) == Some(Delimiter::Brace);
            item.is_complete =
                is_punct(rest.first(), ';') || is_brace && !goes_on && !item.needs_semicolon();
        }
        item
    }

    /// Returns true if a tree begins another item, although this one has no end yet.
    fn is_cut_off_by(&self, tree: &TokenTree, next: Option<&TokenTree>) -> bool {
        const BEGINNINGS: &str = "enum mod pub struct trait type";
        const OTHERS: &str = "async const extern fn impl static unsafe";
        let length = self.trees.len() - self.start;
        match tree {
            TokenTree::Punct(mark) => {
                let is_attribute = delimiter(next) == Some(Delimiter::Bracket);
                mark.as_char() == '#' && (is_attribute || is_punct(next, '!'))
            }
            TokenTree::Ident(word) if length > 0 => {
                // Half a word, and no macro call.
                let is_stray = || length == 1 && !is_item(&self.keyword());
                is_word(Some(tree), BEGINNINGS)
                    || word == "use" && !is_punct(next, '<')
                    || is_word(Some(tree), OTHERS) && is_stray()
            }
            _ => false,
        }
    }

    /// Returns true if a `{…}` does not end the item.
    fn needs_semicolon(&self) -> bool {
        match self.keyword().as_str() {
            "const" => !is_word(self.tree(1), "async extern fn unsafe"),
            keyword => has("static type use", keyword),
        }
    }

    /// Returns the tree at a position after the start.
    pub(crate) fn tree(&self, offset: usize) -> Option<&'a TokenTree> {
        self.trees.get(self.start + offset)
    }

    /// Returns the first word, such as `struct`, or an empty text.
    pub(crate) fn keyword(&self) -> String {
        self.tree(0).and_then(word).map_or(String::new(), |word| word.to_string())
    }

    /// Returns the name after the first word, if there is one.
    pub(crate) fn name(&self) -> Option<Ident> {
        self.tree(1).and_then(word)
    }

    pub(crate) fn tokens(&self) -> TokenStream {
        self.trees.iter().cloned().collect()
    }

    /// Returns the place of the last token.
    pub(crate) fn end(&self) -> Span {
        end_of(self.trees)
    }

    /// Returns the attributes, also those in a `cfg_attr`: the position of the brackets, the last
    /// word of the path, and the trees after the path.
    pub(crate) fn attributes(&self) -> Vec<(usize, String, Vec<TokenTree>)> {
        let trees = self.trees[..self.attributes].iter().cloned().enumerate();
        let (mut pending, mut found) = (trees.collect::<VecDeque<_>>(), Vec::new());
        while let Some((position, tree)) = pending.pop_front() {
            let TokenTree::Group(attribute) = tree else { continue };
            let (path, rest) = attribute_path(&attribute);
            let Some(word) = path.last().map(Ident::to_string) else { continue };
            if let ("cfg_attr", [TokenTree::Group(list)]) = (&*word, &rest[..]) {
                // The condition comes first.
                let list = self::trees(list.stream());
                for attribute in list.split(|tree| is_punct(Some(tree), ',')).skip(1) {
                    let tokens = attribute.iter().cloned().collect();
                    pending.push_back((position, Group::new(Delimiter::Bracket, tokens).into()));
                }
            }
            found.push((position, word, rest));
        }
        found
    }

    /// Takes each attribute of a protocol off a module.
    fn modules(&self) -> Vec<(ModuleKind, TokenStream, TokenStream)> {
        if self.name().is_none() || self.keyword() != "mod" || !self.is_complete {
            return Vec::new();
        }
        let modules = self.attributes().into_iter().filter_map(|(position, word, arguments)| {
            let kind = match word.as_str() {
                "closed_system" => ModuleKind::ClosedSystem,
                "protocol" => ModuleKind::Protocol,
                _ => return None,
            };
            let arguments = match &arguments[..] {
                [TokenTree::Group(arguments)] => arguments.stream(),
                rest => rest.iter().cloned().collect(),
            };
            let module = self.trees[..position - 1].iter().chain(&self.trees[position + 1..]);
            Some((kind, arguments, module.cloned().collect()))
        });
        modules.collect()
    }

    fn lost(&self, imports: &str) -> Option<(Ident, String, String)> {
        let name = self.name().filter(|_| self.keyword() == "mod")?;
        let TokenTree::Group(content) = self.trees.last()? else { return None };
        // Another import or a macro may make `#[protocol]` ours.
        let may_import = || {
            let own = ["use", "useself::"].map(|words| format!("{words}{name}::*;"));
            let others = imports.replace(&own[0], "").replace(&own[1], "");
            others.contains("protocol") || others.contains(['*', '!'])
        };
        let (mut protocol, mut wrong) = (name.to_string(), String::new());
        for tree in &self.trees[..self.attributes] {
            let TokenTree::Group(attribute) = tree else { continue };
            let (words, arguments) = attribute_path(attribute);
            let path = words.iter().map(Ident::to_string).collect::<Vec<_>>().join("::");
            if has("allow deny doc expect forbid warn", &path) {
                continue;
            }
            let is_wrong = match path.strip_prefix("rumpsteak::") {
                Some(word) => !has("closed_system protocol", word),
                None => path == "protocol" && !may_import(),
            };
            let [TokenTree::Group(arguments)] = &arguments[..] else { return None };
            protocol =
                word(&arguments.stream().into_iter().next().filter(|_| is_wrong)?)?.to_string();
            wrong = path;
        }
        let content = text(content.stream());
        let is_meant = !wrong.is_empty() || content.is_empty() || content.contains("#session");
        is_meant.then_some((name, protocol, wrong))
    }
}

/// Returns the tokens as text, without blanks and brackets.
fn text(tokens: TokenStream) -> String {
    Pieces::new(tokens).filter_map(Piece::tree).map(|tree| tree.to_string()).collect()
}

/// Returns true for a word that begins an item. A macro call begins with another one.
pub(crate) fn is_item(word: &str) -> bool {
    has("const enum extern fn impl mod static struct trait type union use", word)
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
    let mut path = trees(attribute.stream());
    let is_path = |tree: &&TokenTree| word(tree).is_some() || is_punct(Some(tree), ':');
    let rest = path.split_off(path.iter().take_while(is_path).count());
    (path.iter().filter_map(word).collect(), rest)
}

/// Returns the identifier or keyword that a tree is.
pub(crate) fn word(tree: &TokenTree) -> Option<Ident> {
    let TokenTree::Ident(ident) = tree else { return None };
    Some(ident.clone())
}

pub(crate) fn is_punct(tree: Option<&TokenTree>, character: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

fn is_word(tree: Option<&TokenTree>, words: &str) -> bool {
    matches!(tree, Some(TokenTree::Ident(ident)) if words.split(' ').any(|word| ident == word))
}

/// Returns true if a word is in a list of words with blanks between them.
pub(crate) fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

pub(crate) fn delimiter(tree: Option<&TokenTree>) -> Option<Delimiter> {
    let Some(TokenTree::Group(group)) = tree else { return None };
    Some(group.delimiter())
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

/// The most tokens on the way to a token: on each level of brackets, the tokens after the last
/// comma.
///
/// syn recurses at most once for each of them. Without optimisation that takes up to 32 KB of
/// stack, and a thread may have no more than 2 MB.
const MOST_STEPS: usize = 48;

/// Refuses tokens that are nested too deep.
///
/// A session is parsed without recursion, so its angle brackets do not count as levels.
pub(crate) fn check_depth(pieces: &[Piece], is_session: bool) -> Result<()> {
    // The steps on all levels. By level, the steps before its bracket, and true if that is `<`.
    let (mut steps, mut levels) = (0, vec![(0, false)]);
    let (mut attributes, mut before) = (0_usize, ' ');
    for piece in pieces {
        let (span, mark) = match piece {
            Piece::Close(delimiter) => {
                // It closes the angle brackets inside it, too.
                while levels.pop_if(|(_, is_angle)| *is_angle).is_some() {}
                (steps, _) = levels.pop().unwrap_or_default();
                attributes -= usize::from(*delimiter == Delimiter::Bracket);
                before = ' ';
                continue;
            }
            Piece::Open(group) => (group.span_open(), ' '),
            Piece::Tree(TokenTree::Punct(punct)) => (punct.span(), punct.as_char()),
            Piece::Tree(TokenTree::Literal(number)) => (number.span(), '0'),
            Piece::Tree(tree) => (tree.span(), ' '),
        };
        let has_angles = !is_session || attributes > 0;
        // As in `1 << 3`.
        let is_shift = mark == '<' && before == '0';
        let is_arrow = mark == '>' && matches!(before, '-' | '=');
        before = if is_shift { '0' } else { mark };
        let Some(&(outside, is_angle)) = levels.last() else { continue };
        match mark {
            ':' => {}
            ',' | ';' | '#' => steps = outside,
            '<' | '>' if !has_angles => {}
            '>' if !is_arrow && is_angle => (steps, _) = levels.pop().unwrap_or_default(),
            '>' if !is_arrow => {}
            _ => steps += 1,
        }
        if steps > MOST_STEPS {
            let text = "this is nested too deep: give a part of it a name of its own";
            return Err(Error::new(span, text));
        }
        if let Piece::Open(group) = piece {
            attributes += usize::from(group.delimiter() == Delimiter::Bracket);
            levels.push((steps, false));
        } else if mark == '<' && has_angles && !is_shift {
            levels.push((steps, true));
        }
    }
    Ok(())
}
