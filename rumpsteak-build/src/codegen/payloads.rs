//! The types of payloads: what a `type <rust>` or a `sig <rust>` may say.
//!
//! The code of a protocol names them in a module of its own, so rustc would say what is wrong with
//! one in code that nobody wrote. What certainly does not compile there is refused here, therefore.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use rumpsteak_contract::canonical::{Piece, Pieces};
use rumpsteak_fsm::Message;
use rumpsteak_scribble::{Declaration, DeclarationKind, similar};

use crate::protocols::ScrFile;
use crate::source::cargo_targets::TargetKind;
use crate::source::crate_tree::{Crate, ItemId, ItemKind, Tree};
use crate::source::names::{PRIMITIVES, is_known, lost, module, types_at};
use crate::words::did_you_mean;

/// Where the types of payloads may be.
pub(crate) type Homes<'a> = Option<&'a Tree>;

/// Names that a type of the module may not hide: those that the code uses, and those of the
/// prelude, which the payloads and the macros use.
const RESERVED: &str = "\
    AsMut AsRef Box Branch Channel Clone Copy Debug Default DoubleEndedIterator Drop End Eq Err \
    ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator Future Hash Into IntoFuture \
    IntoIterator Iterator Label Message None Ok Option Ord PartialEq PartialOrd Race Receive \
    Result Role Roles Select Self Send Sized Some String Sync ToOwned ToString TryFrom TryInto Vec";

pub(super) fn reserved() -> BTreeSet<String> {
    RESERVED.split(' ').map(str::to_owned).collect()
}

/// A type of a payload.
pub(super) struct Payload {
    pub(super) text: String,
    /// The names that it uses without a path.
    pub(super) names: Vec<String>,
    pub(super) is_debug: bool,
}

/// The `sig` that declares a type for a message.
pub(super) fn signature<'a>(message: &Message, file: &'a ScrFile) -> Option<&'a Declaration> {
    let mut declarations = file.modules.iter().flat_map(|module| &module.declarations);
    declarations.find(|found| {
        found.kind == DeclarationKind::Signature
            && found.schema.as_str() == "rust"
            && found.name.as_str() == message.label.as_str()
    })
}

/// The path of the type that a `sig` declares.
pub(super) fn declared(
    declared: &Declaration,
    file: &ScrFile,
    homes: Homes<'_>,
) -> Result<String, String> {
    let (name, path) = (declared.name.as_str(), declared.external.as_str().trim());
    let is_segment = |segment: &str| ["crate", "super"].contains(&segment) || is_ident(segment);
    if !path.contains("::") || !path.split("::").all(is_segment) {
        return Err(format!(
            "`{path}` is no path of a type\n\nhelp: write the declaration of `{name}` in {} as in a `use`: `crate::{path}`",
            file.shown()
        ));
    }
    let names = names_of(path).unwrap_or_default();
    unfit(path, &names, name, file, homes).map_or_else(|| Ok(path.to_owned()), Err)
}

pub(super) fn payload(sort: &str, file: &ScrFile, homes: Homes<'_>) -> Result<Payload, String> {
    if sort.contains('@') {
        return Err(format!(
            "the payload `{sort}` is a session that changes hands, and only its type in Rust says in which state\n\n\
             help: write the roles of this protocol by hand"
        ));
    }
    let refused = |(example, from): (String, &str)| {
        let sorts = file.modules.iter().flat_map(|module| &module.declarations);
        let sorts = sorts.filter(|found| found.kind == DeclarationKind::Payload);
        let known: Vec<&str> = sorts.map(|found| found.name.as_str()).chain(PRIMITIVES).collect();
        let meant = did_you_mean(sort, known);
        let meant = meant.map_or(String::new(), |meant| format!("help: {meant}\n"));
        format!(
            "the sort `{sort}` stands for no Rust type\n\n{meant}\
             help: declare it in {}: `type <rust> \"{example}\" from \"{from}\" as {sort};`",
            file.shown()
        )
    };
    let text = match file.modules.sort(sort) {
        Some(declaration) if declaration.schema.as_str() == "rust" => {
            declaration.external.as_str().trim()
        }
        Some(_) => return Err(refused(example(sort, homes))),
        None if PRIMITIVES.contains(&sort) && sort != "str" => sort,
        None => return Err(refused(example(sort, homes))),
    };
    let Some(names) = names_of(text) else {
        return Err(format!(
            "`{text}` is no type\n\nhelp: write the declaration of `{sort}` in {} as in Rust: `std::vec::Vec<u8>`",
            file.shown()
        ));
    };
    if let Some(reason) = unfit(text, &names, sort, file, homes) {
        return Err(reason);
    }
    let is_debug = names.iter().all(|name| PRIMITIVES.contains(&&**name)) && !text.contains("::")
        || ["std::vec::Vec<u8>", "std::string::String"].contains(&text);
    Ok(Payload { text: text.to_owned(), names, is_debug })
}

/// Why a type certainly does not compile in the module of the code, and what to write. The names
/// are those [in the type](names_of), which the file calls `called`.
fn unfit(
    text: &str,
    names: &[String],
    called: &str,
    file: &ScrFile,
    homes: Homes<'_>,
) -> Option<String> {
    let undeclared = || undeclared(homes?, text, names, called, file);
    let rootless = || names.iter().find_map(|name| rootless(homes?, text, name));
    let unlinked = || names.iter().find_map(|name| unlinked(homes?, text, name));
    let rootless = || rootless().or_else(unlinked);
    undeclared().or_else(rootless).or_else(|| borrowed(text, homes))
}

/// That a path leads to nothing, or a name without a path stands for nothing.
fn undeclared(
    tree: &Tree,
    text: &str,
    names: &[String],
    called: &str,
    file: &ScrFile,
) -> Option<String> {
    // Only for what is not standard: they are those of all items.
    let homes = LazyCell::new(|| tree.homes());
    let lost_in = |path: &&str| tree.crates.iter().all(|of| lost(tree, of, path).is_some());
    // Bounds, lifetimes, values, macros, and the names of a function's parameters.
    let has_others = text.contains(['=', '!', '\'', '"'])
        || text.contains("dyn ")
        || text.replace("::", "").contains(':');
    let is_unknown = |name: &&str| {
        let is_standard = PRIMITIVES.contains(name) || reserved().contains(*name);
        // Names in capitals may be those of constants; of the primitive types some are yet to come.
        let is_type = name.contains(char::is_lowercase) && !["f16", "f128"].contains(name);
        let is_path = || text.contains(&format!("{name}::")) || homes.contains_key(*name);
        !has_others && is_type && is_ident(name) && !is_standard && !is_path()
    };
    let mut bare = names.iter().map(String::as_str);
    let path = paths(text).find(lost_in).or_else(|| bare.find(is_unknown))?;
    let name = path.rsplit("::").next().unwrap_or(path);
    let known: Vec<&str> = homes.keys().map(String::as_str).collect();
    let meant = similar(name, &known).map(|found| format!("did you mean `{}`?", homes[found]));
    let help = match example(name, Some(tree)) {
        (home, from) if homes.contains_key(name) || name == path && from != "crate" => {
            format!("write `{home}`")
        }
        (home, _) => meant.unwrap_or_else(|| {
            let at = if name == path { format!(" and write `{home}`") } else { String::new() };
            format!("declare it{at}, or write its path as in a `use`")
        }),
    };
    Some(format!(
        "`{path}`{}, which {} calls `{called}`, is not declared in the source of this package\n\nhelp: {help}",
        within(path, text),
        file.shown()
    ))
}

/// Where a path is, unless it is the whole text.
fn within(path: &str, text: &str) -> String {
    if path == text { String::new() } else { format!(" in `{text}`") }
}

/// What a type begins with that is declared in this package and has no path from its root, which it
/// needs in the module of the code; and what to write.
fn rootless(tree: &Tree, text: &str, name: &str) -> Option<String> {
    let Some(at) = text.find(&format!("{name}::")) else {
        if PRIMITIVES.contains(&name) || reserved().contains(name) {
            return None;
        }
        let home = tree.homes().remove(name)?;
        return Some(format!(
            "`{name}` is a type of this package without its path\n\nhelp: write `{home}`"
        ));
    };
    let is_other = |of: &Crate| of.target.kind == TargetKind::Lib && of.name == name;
    let is_module = |of: &Crate| module(tree, of.root, &[name.to_owned()]).is_some();
    let is_package = tree.dependencies.contains(name)
        || tree.crates.iter().any(is_other)
        || ["alloc", "core", "crate", "std"].contains(&name);
    if is_package || !tree.crates.iter().any(is_module) {
        return None;
    }
    let written = paths(&text[at..]).next()?;
    let (found, path) = match written.strip_prefix("self::") {
        Some(path) => ("`self` is the module of the generated code here".to_owned(), path),
        None => (format!("`{name}` is a module of this package"), written),
    };
    let home = tree.homes().remove(path).unwrap_or_else(|| format!("crate::{path}"));
    Some(format!("{found}\n\nhelp: write `{}`", text.replacen(written, &home, 1)))
}

/// That a path begins with a package that is no dependency, and is nothing else there either.
fn unlinked(tree: &Tree, text: &str, name: &str) -> Option<String> {
    let own = ["alloc", "core", "crate", "proc_macro", "self", "Self", "std", "super"];
    let is_path = |path: &str| path.strip_prefix(name).is_some_and(|rest| rest.starts_with("::"));
    let path = paths(text).find(|path| is_path(path))?;
    let is_standard =
        own.contains(&name) || PRIMITIVES.contains(&name) || reserved().contains(name);
    let squeezed = |name: &str| name.replace('_', "").to_lowercase();
    let wanted = squeezed(name);
    // The library of a package may have another name: mostly a part of the package's, or around it.
    let may_be = |of: &String| {
        let of = squeezed(of);
        of.contains(&wanted) || wanted.contains(&of)
    };
    let is_linked = || tree.dependencies.is_empty() || tree.dependencies.iter().any(may_be);
    // Also `extern crate` in a root gives a package a name.
    let is_known = |of: &Crate| of.name == name || is_known(tree, of.root, name);
    // What a macro makes of its arguments nobody sees.
    let is_unsure = text.contains('!') || name.starts_with("r#") || is_standard;
    if is_unsure || is_linked() || tree.crates.iter().any(is_known) {
        return None;
    }
    let last = path.rsplit("::").next().unwrap_or(path);
    let known = tree.dependencies.iter().map(String::as_str);
    let help = match (tree.homes().get(last), did_you_mean(name, known)) {
        (_, Some(meant)) => meant,
        (Some(home), None) => format!("write `{home}`"),
        (None, None) => format!(
            "add it to Cargo.toml under `[dependencies]`; the library of a package of another name by the name that the path has: \
             `{name} = {{ package = \"…\", … }}`"
        ),
    };
    Some(format!("`{name}`{} is no dependency of this package\n\nhelp: {help}", within(name, text)))
}

/// That a payload borrows: by a type of this package with a lifetime, or by itself.
fn borrowed(text: &str, homes: Homes<'_>) -> Option<String> {
    const WHY: &str = "and a payload owns its data, since the role that receives it may outlive the one that sends it";
    let borrows = |id: &ItemId, tree: &Tree| matches!(&*tree.item(*id).kind, ItemKind::Other(_, facts) if facts.borrows);
    let is_declared = |tree: &Tree| types_at(tree, text).iter().any(|id| borrows(id, tree));
    if text.replace("'static", "").contains('\'') || homes.is_some_and(is_declared) {
        return Some(format!(
            "`{text}` has a lifetime, {WHY}\n\n\
             help: give it fields that own what they hold: a `String` where there is a `&str`"
        ));
    }
    // A function may borrow what it takes, and nobody sees what a macro makes of its arguments.
    let may_borrow = ["fn", "Fn", "!"].iter().any(|of| text.contains(of));
    let help = match owned(text).filter(|_| !may_borrow)? {
        // Without the reference these have no size.
        _ if text.contains("dyn ") || text.contains("&[[") => {
            "write a type that owns it".to_owned()
        }
        owned => format!("write `{owned}`"),
    };
    Some(format!("`{text}` borrows, {WHY}\n\nhelp: {help}"))
}

/// A type without its references, if it has some without `'static`.
fn owned(text: &str) -> Option<String> {
    let mut owned = text.to_owned();
    let lent = |text: &str, at: &usize| !text[at + 1..].trim_start().starts_with('\'');
    let last = |text: &str| text.rmatch_indices('&').map(|(at, _)| at).find(|at| lent(text, at));
    // From the last on, so that what is behind one has none any more.
    while let Some(at) = last(&owned) {
        let lent = owned.split_off(at)[1..].trim_start().to_owned();
        let lent = lent.strip_prefix("mut ").unwrap_or(&lent);
        let slice = lent.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        owned += &match slice {
            Some((of, rest)) if !of.contains(';') => format!("std::vec::Vec<{of}>{rest}"),
            None if paths(lent).next() == Some("str") => {
                lent.replacen("str", "std::string::String", 1)
            }
            _ => lent.to_owned(),
        };
    }
    (owned != text).then_some(owned)
}

/// What a sort of this name most likely means, and where that is from.
fn example(sort: &str, homes: Homes<'_>) -> (String, &'static str) {
    if let Some(home) = homes.and_then(|tree| tree.homes().remove(sort)) {
        return (home, "crate");
    }
    let standard = match &*sort.to_lowercase() {
        "int" | "integer" => "i32",
        "long" => "i64",
        "bool" | "boolean" => "bool",
        "float" | "double" => "f64",
        "bytes" if homes.is_some_and(|tree| tree.dependencies.contains("bytes")) => {
            return ("bytes::Bytes".to_owned(), "bytes");
        }
        "bytes" => "std::vec::Vec<u8>",
        "str" | "string" => "std::string::String",
        _ => return (format!("crate::{sort}"), "crate"),
    };
    (standard.to_owned(), "std")
}

/// The names that a type uses and that no `::` leads to; `None` if the text is no type, as far as
/// that shows.
fn names_of(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let (mut colons, mut depth) = (0, 0_usize);
    let tokens: TokenStream = text.parse().ok()?;
    let is_empty = tokens.is_empty();
    for piece in Pieces::new(tokens) {
        match piece {
            Piece::Open(group) if group.delimiter() == Delimiter::Brace => return None,
            Piece::Open(_) => depth += 1,
            Piece::Close(_) => depth = depth.saturating_sub(1),
            Piece::Tree(TokenTree::Ident(ident)) if colons < 2 => names.push(ident.to_string()),
            Piece::Tree(TokenTree::Punct(punct)) => match punct.as_char() {
                ':' => {
                    colons += 1;
                    continue;
                }
                ';' if depth > 0 => {}
                punct if !"<>,&'+-*!=".contains(punct) => return None,
                _ => {}
            },
            Piece::Tree(_) => {}
        }
        colons = 0;
    }
    (!is_empty).then_some(names)
}

/// Whether a text is an identifier, and no keyword.
pub(super) fn is_ident(text: &str) -> bool {
    // `syn` knows the keywords of the editions before 2024. It accepts blanks around the
    // identifier.
    text != "gen" && syn::parse_str::<Ident>(text).is_ok_and(|ident| ident == text)
}

/// The paths and names in the text of a type.
pub(super) fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| !c.is_alphanumeric() && !"_:#".contains(c);
    text.split(is_end).map(|path| path.trim_end_matches("::"))
}

#[cfg(test)]
mod tests {
    use super::{is_ident, names_of};

    #[test]
    fn identifiers() {
        for (text, expected) in [
            ("Ready", true),
            ("r", true),
            ("type", false),
            ("Self", false),
            ("_", false),
            ("", false),
            ("a'", false),
            ("1a", false),
            ("a b", false),
        ] {
            assert_eq!(is_ident(text), expected, "{text:?}");
        }
    }

    #[test]
    fn names_in_types() {
        let names = |text| names_of(text).map(|names| names.join(" "));
        assert_eq!(names("std::vec::Vec<u8>").as_deref(), Some("std u8"));
        assert_eq!(names("(u64, [u8; 32])").as_deref(), Some("u64 u8"));
        assert_eq!(names("Order"), Some("Order".to_owned()));
        for text in ["", "u8; fn main() {}", "{", "u8)"] {
            assert_eq!(names(text), None, "{text:?}");
        }
    }
}
