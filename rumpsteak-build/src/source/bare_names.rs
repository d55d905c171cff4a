//! What a module names of the runtime without a path, so that it has to import it. A name that is
//! not imported costs rustc an error at each of its uses, and one at all that follows.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use rumpsteak_contract::canonical::{Piece, Pieces};

use crate::source::items::{Attribute, RawItem, RawKind, Tokens, in_angles, is_punct};

/// The crate of the runtime, in a path.
pub(crate) const RUNTIME: &str = "rumpsteak_runtime";

/// The macros of the runtime, as attributes or derives.
pub(crate) const MACROS: [&str; 4] = ["Message", "Role", "Roles", "session"];

/// The names of the runtime that an item uses without a path; [`RUNTIME`] itself, if it uses a path
/// that begins so. Adds to `run` the types with one lifetime as their only argument, `Oven<'_>`, of
/// a function that runs a process.
pub(crate) fn bare_names(item: &RawItem<'_>, run: &mut BTreeSet<String>) -> Vec<&'static str> {
    let called: Vec<String> = item.attributes.iter().flat_map(Attribute::bare).collect();
    let mut names: Vec<&str> =
        MACROS.into_iter().filter(|name| called.iter().any(|called| called == name)).collect();
    match &item.kind {
        RawKind::Struct(_) if item.attributes.iter().any(|attribute| attribute.derives("Role")) => {
            let tokens = item.tokens.iter().cloned().collect();
            names
                .extend(is_used(tokens, "Channel", |next| next.is_punct('<')).then_some("Channel"));
        }
        RawKind::Use(tree) if begins_with_runtime(tree) => names.push(RUNTIME),
        RawKind::Protocol(_) if begins_with_runtime(item.tokens) => names.push(RUNTIME),
        RawKind::Other => names.extend(of_function(item.tokens, run)),
        _ => {}
    }
    names
}

fn begins_with_runtime(tokens: Tokens<'_>) -> bool {
    let first = tokens.iter().find(|tree| !is_punct(tree, ':'));
    matches!(first, Some(TokenTree::Ident(first)) if first == RUNTIME)
}

/// What a function uses that runs a process, unless it may have imports of its own.
fn of_function(tokens: Tokens<'_>, run: &mut BTreeSet<String>) -> Vec<&'static str> {
    let body = match tokens.last() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => body.stream(),
        _ => return Vec::new(),
    };
    let runs = is_used(body.clone(), "try_run", |next| matches!(next, Piece::Open(_)));
    let mut names = Vec::new();
    if runs {
        names.push("try_run");
        let words = Pieces::new(body).map(|piece| match piece {
            Piece::Tree(tree) => tree.to_string(),
            Piece::Open(_) | Piece::Close(_) => String::new(),
        });
        let words: Vec<String> = words.collect();
        let lent = words.windows(5).filter(|of| of[1] == "<" && of[2] == "'" && of[4] == ">");
        run.extend(lent.map(|of| of[0].clone()));
        names.extend(returns_short_result(tokens).then_some("Result"));
    }
    names
}

/// Whether a function returns a `Result` of one type, which the standard library's is not.
fn returns_short_result(tokens: Tokens<'_>) -> bool {
    let is_result = |window: &[TokenTree]| {
        is_punct(&window[0], '>')
            && matches!(&window[1], TokenTree::Ident(name) if name == "Result")
            && is_punct(&window[2], '<')
    };
    let Some(start) = tokens.windows(3).position(is_result) else { return false };
    in_angles(&tokens[start + 2..]).count() < 2
}

/// Whether tokens have a name that no path leads to, with what may follow it, and no `use` nor
/// anything else of this name, which may be another one.
fn is_used(tokens: TokenStream, name: &str, follows: fn(&Piece) -> bool) -> bool {
    let mut pieces = Pieces::new(tokens).peekable();
    let (mut is_used, mut colons, mut is_field) = (false, 0, false);
    while let Some(piece) = pieces.next() {
        let word = match &piece {
            Piece::Tree(TokenTree::Ident(word)) => word.to_string(),
            _ => String::new(),
        };
        if colons < 2 && !is_field && word == name {
            is_used = true;
            if !pieces.peek().is_some_and(follows) {
                return false;
            }
        } else if word == "use" || word == "fn" {
            return false;
        }
        colons = if piece.is_punct(':') { colons + 1 } else { 0 };
        is_field = piece.is_punct('.');
    }
    is_used
}

/// Whether an item may bring names into its module that nobody sees: the call of a macro, an
/// `extern crate` with `#[macro_use]`, a function.
pub(crate) fn is_opaque(item: &RawItem<'_>) -> bool {
    let words = item.tokens.iter().map_while(|tree| match tree {
        TokenTree::Ident(word) => Some(Some(word.to_string())),
        tree => is_punct(tree, ':').then_some(None),
    });
    let words: Vec<Option<String>> = words.collect();
    let last = words.last().and_then(Option::as_deref).unwrap_or_default();
    match &item.kind {
        RawKind::ExternCrate { .. } => item.attributes.iter().any(|of| of.is("macro_use")),
        RawKind::Other if last == "try_run" => true,
        RawKind::Other => {
            item.tokens.get(words.len()).is_some_and(|tree| is_punct(tree, '!'))
                && !["include_protocols", "macro_rules", "task_local", "thread_local"]
                    .contains(&last)
        }
        _ => false,
    }
}
