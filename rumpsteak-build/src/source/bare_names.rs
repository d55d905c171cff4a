//! What a module names of the runtime without a path, so that it has to import it. A name that is
//! not imported costs rustc an error at each of its uses, and one at all that follows.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenTree};
use rumpsteak_contract::canonical::{Piece, Pieces};

use crate::source::items::{RawItem, RawKind, Tokens, in_angles, is_punct};

/// The crate of the runtime, in a path.
pub(crate) const RUNTIME: &str = "rumpsteak_runtime";

/// The macros of the runtime, as attributes or derives.
pub(crate) const MACROS: [&str; 4] = ["Message", "Role", "Roles", "session"];

/// The types of states that are named outside of sessions, by their paths in the runtime, and what
/// follows each.
const STATES: [(&str, &[&str]); 3] = [
    ("states::End", &["<'"]),
    ("states::Raced", &["::Heard(", "::Sent("]),
    ("states::Until", &["::Heard(", "::Wished("]),
];

/// The names of the runtime that an item uses without a path, by their paths there, each with the
/// line of its first use; [`RUNTIME`] itself, if it uses a path that begins so. Adds to `run` the
/// types with one lifetime as their only argument, `Oven<'_>`, of a function that runs a process.
pub(crate) fn bare_names(
    item: &RawItem<'_>,
    run: &mut BTreeSet<String>,
) -> Vec<(&'static str, usize)> {
    let line = |tokens: Tokens<'_>| tokens.first().map_or(0, |tree| tree.span().start().line);
    let called = item.attributes.iter().flat_map(|of| {
        let called = of.bare().into_iter();
        let called = called.filter_map(|called| MACROS.into_iter().find(|name| *name == called));
        called.map(|name| (name, line(&of.content)))
    });
    let mut names: Vec<(&str, usize)> = called.collect();
    match &item.kind {
        RawKind::Struct(_) if item.attributes.iter().any(|attribute| attribute.derives("Role")) => {
            names.extend(use_of(item.tokens, "Channel", &["<"]));
        }
        RawKind::Use(tree) if begins_with_runtime(tree) => names.push((RUNTIME, 0)),
        RawKind::Protocol(_) if begins_with_runtime(item.tokens) => names.push((RUNTIME, 0)),
        // What a macro makes of its tokens is not known.
        RawKind::Other if !item.tokens.get(1).is_some_and(|second| is_punct(second, '!')) => {
            names.extend(of_function(item.tokens, run));
            names.extend(STATES.iter().filter_map(|of| use_of(item.tokens, of.0, of.1)));
        }
        RawKind::Type(_) => names.extend(use_of(item.tokens, STATES[0].0, STATES[0].1)),
        _ => {}
    }
    names
}

fn begins_with_runtime(tokens: Tokens<'_>) -> bool {
    let first = tokens.iter().find(|tree| !is_punct(tree, ':'));
    matches!(first, Some(TokenTree::Ident(first)) if first == RUNTIME)
}

/// What a function uses that runs a process, unless it may have imports of its own.
fn of_function(tokens: Tokens<'_>, run: &mut BTreeSet<String>) -> Vec<(&'static str, usize)> {
    let body = match tokens.last() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => body.stream(),
        _ => return Vec::new(),
    };
    let mut names = Vec::from_iter(use_of(tokens, "try_run", &["("]));
    let is_function =
        tokens.iter().any(|tree| matches!(tree, TokenTree::Ident(word) if word == "fn"));
    if is_function && !names.is_empty() {
        let words: Vec<String> = Pieces::new(body).map(|piece| text(&piece)).collect();
        let lent = words.windows(5).filter(|of| of[1] == "<" && of[2] == "'" && of[4] == ">");
        run.extend(lent.map(|of| of[0].clone()));
        names.extend(short_result(tokens).map(|line| ("Result", line)));
    }
    names
}

/// The line where a function returns a `Result` of one type, which the standard library's is not.
fn short_result(tokens: Tokens<'_>) -> Option<usize> {
    let is_result = |window: &[TokenTree]| {
        is_punct(&window[0], '>')
            && matches!(&window[1], TokenTree::Ident(name) if name == "Result")
            && is_punct(&window[2], '<')
    };
    let start = tokens.windows(3).position(is_result)?;
    (in_angles(&tokens[start + 2..]).count() < 2).then(|| tokens[start].span().start().line)
}

fn text(piece: &Piece) -> String {
    match piece {
        Piece::Tree(tree) => tree.to_string(),
        Piece::Open(group) if group.delimiter() == Delimiter::Parenthesis => "(".to_owned(),
        Piece::Open(_) | Piece::Close(_) => " ".to_owned(),
    }
}

/// The first use of a name that no path leads to in an item, where one of these always follows it
/// and nothing there may give it another meaning: a declaration, a `use`, what a `cfg` excludes.
fn use_of(
    tokens: Tokens<'_>,
    path: &'static str,
    follows: &[&str],
) -> Option<(&'static str, usize)> {
    let (_, name) = path.rsplit_once(':').unwrap_or(("", path));
    let (mut first, mut colons, mut last) = (None, 0, String::new());
    let mut pieces = Pieces::new(tokens.iter().cloned().collect());
    while let Some(piece) = pieces.next() {
        let word = text(&piece);
        if colons < 2 && last != "." && word == name {
            let is_declared = ["enum", "fn", "mod", "struct", "type"].contains(&&*last);
            let next: String = pieces.clone().take(4).map(|piece| text(&piece)).collect();
            if is_declared || !follows.iter().any(|follow| next.starts_with(follow)) {
                return None;
            }
            let Piece::Tree(tree) = &piece else { return None };
            first = first.or(Some(tree.span().start().line));
        } else if ["cfg", "macro_rules", "use"].contains(&&*word) {
            return None;
        }
        colons = if word == ":" { colons + 1 } else { 0 };
        last = word;
    }
    first.map(|line| (path, line))
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
