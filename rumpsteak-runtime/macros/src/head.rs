//! The parts of an item that no verdict depends on, and that its expansion repeats.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// What an item begins with.
#[derive(Default)]
pub(crate) struct Head {
    /// The attributes, doc comments among them.
    pub(crate) attributes: TokenStream,
    /// The visibility; nothing where the item is private.
    pub(crate) visibility: TokenStream,
}

impl Head {
    pub(crate) fn of(item: TokenStream) -> Self {
        let mut head = Self::default();
        let mut trees = visible(item).into_iter().peekable();
        while let Some(hash) = trees.next_if(|tree| is_punct(tree, '#')) {
            head.attributes
                .extend([hash].into_iter().chain(trees.next()));
        }
        if let Some(word) =
            trees.next_if(|tree| matches!(tree, TokenTree::Ident(word) if word == "pub"))
        {
            head.visibility.extend([word]);
            head.visibility.extend(trees.next_if(is_restriction));
        }
        head
    }
}

/// The attributes of each variant of an enum.
pub(crate) fn of_variants(item: TokenStream) -> Vec<TokenStream> {
    let body = visible(item).into_iter().find_map(|tree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    });
    let trees = visible(body.unwrap_or_default());
    let variants = trees.split(|tree| is_punct(tree, ','));
    variants
        .map(|variant| Head::of(variant.iter().cloned().collect()).attributes)
        .collect()
}

/// The trees without the invisible groups that `macro_rules!` puts around its fragments.
fn visible(stream: TokenStream) -> Vec<TokenTree> {
    let mut trees = Vec::new();
    let mut open = vec![stream.into_iter()];
    while let Some(rest) = open.last_mut() {
        match rest.next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => {
                open.push(group.stream().into_iter());
            }
            Some(tree) => trees.push(tree),
            None => {
                open.pop();
            }
        }
    }
    trees
}

fn is_punct(tree: &TokenTree, punct: char) -> bool {
    matches!(tree, TokenTree::Punct(other) if other.as_char() == punct)
}

/// Whether a group after `pub` restricts it: `(crate)`, `(super)`, `(self)`, `(in …)`.
fn is_restriction(tree: &TokenTree) -> bool {
    let TokenTree::Group(group) = tree else {
        return false;
    };
    group.delimiter() == Delimiter::Parenthesis
        && matches!(visible(group.stream()).first(), Some(TokenTree::Ident(word))
            if ["crate", "self", "super", "in"].iter().any(|restriction| word == restriction))
}
