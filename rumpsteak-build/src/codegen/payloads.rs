//! The types of payloads, from `type <rust>` and `sig <rust>`. rustc checks that they exist.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use rumpsteak_front::module::Item;
use rumpsteak_scribble::{Declaration, DeclarationKind, Span};
use syn::Type;

use crate::protocols::ScrFile;
use crate::scope::Scope;
use crate::scope::labels::PRIMITIVES;
use crate::short_map::entry;
use crate::words::{did_you_mean, list};

/// Names that no type of the module may hide, because generated code, payloads or macros use them.
const RESERVED: &str = "\
    AsMut AsRef Box Branch Channel Clone Copy Debug Default DoubleEndedIterator Drop End Eq Err \
    ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator Future Gather Hash Into IntoFuture \
    IntoIterator Iterator Label Members Message None Ok Option Ord PartialEq PartialOrd Race Receive \
    Result Role Roles Select Self Send Sized Some String Sync ToOwned ToString TryFrom TryInto Vec";

pub(super) fn reserved() -> BTreeSet<String> {
    RESERVED.split(' ').map(str::to_owned).collect()
}

pub(super) struct Payload {
    pub(super) text: String,
    /// The names without a path in the type.
    pub(super) names: Vec<String>,
    pub(super) is_debug: bool,
}

pub(super) fn declared(declared: &Declaration, file: &ScrFile) -> Result<String, String> {
    let (name, path) = (declared.name.as_str(), declared.external.as_str().trim());
    let is_segment = |segment: &str| ["crate", "super"].contains(&segment) || is_ident(segment);
    if !path.contains("::") || !path.split("::").all(is_segment) {
        return Err(format!(
            "`{path}` is not the path of a type\n\nhelp: write the declaration of `{name}` in {} as in a `use`: `crate::{path}`",
            file.shown()
        ));
    }
    Ok(path.to_owned())
}

pub(super) fn payload(sort: &str, file: &ScrFile, scope: &Scope<'_>) -> Result<Payload, String> {
    let declared = rust_text(sort, file, scope);
    if declared.is_none() && sort.contains('@') {
        return Err(format!(
            "the payload `{sort}` is a session that changes hands, and only its type in Rust says in which state\n\n\
             help: write the label in the module: `struct Name(Detached<…>);`\n\
             help: or declare the type in {}: `type <rust> \"rumpsteak_net::Invitation<crate::…>\" from \"rumpsteak-net\" as {};`",
            file.shown(),
            sort.rsplit('.').next().unwrap_or(sort)
        ));
    }
    let text = declared.unwrap_or(sort);
    let Some(names) = names_of(text) else {
        return Err(format!(
            "`{text:?}` is not a type of Rust\n\nhelp: write one in the declaration of `{sort}` in {}, as in \
             `type <rust> \"std::vec::Vec<u8>\" from \"std\" as {sort};`",
            file.shown()
        ));
    };
    // A function may borrow its arguments, and the arguments of a macro may be anything.
    let may_borrow = ["fn", "Fn", "!"].iter().any(|of| text.contains(of));
    if !may_borrow && text.replace("&'static", "").replace("<'static", "").contains(['&', '\'']) {
        return Err(format!(
            "`{text}` borrows, and a payload owns its data, since the role that receives it may outlive the one that sends it\n\n\
             help: write a type that owns it: `String` for `&str`, `Vec<T>` for `&[T]`"
        ));
    }
    let ty = syn::parse_str(text);
    if text == "str" || matches!(ty, Ok(Type::Slice(_) | Type::TraitObject(_))) {
        return Err(format!(
            "`{text}` has no size of its own, and a payload is moved\n\n\
             help: write a type that owns it: `String` for `str`, `Vec<T>` for `[T]`, `Box<dyn T>` for `dyn T`"
        ));
    }
    let is_debug = names.iter().all(|name| PRIMITIVES.contains(&&**name)) && !text.contains("::")
        || ["std::vec::Vec<u8>", "std::string::String"].contains(&text);
    Ok(Payload { text: text.to_owned(), names, is_debug })
}

/// The Rust type of a sort: from its declaration for Rust, or the sort itself if it is a type in
/// the module. Declarations for other languages are ignored.
fn rust_text<'a>(sort: &'a str, file: &'a ScrFile, scope: &Scope<'_>) -> Option<&'a str> {
    // A protocol of another module has a qualified name.
    let declared = if sort.contains('@') { sort.rsplit('.').next()? } else { sort };
    let imports = |item: &Item| matches!(item, Item::Use(tokens) if flat(tokens.clone()).iter().any(|tree| tree.to_string() == sort));
    match file.module.modules.sort(declared) {
        Some(found) if found.schema.as_str() == "rust" => Some(found.external.as_str().trim()),
        _ if PRIMITIVES.contains(&sort) && sort != "str" => Some(sort),
        _ if scope.names().any(|known| known == sort) => Some(sort),
        _ => scope.items().any(imports).then_some(sort),
    }
}

/// The refusal of sorts that stand for no Rust type: a text that names all, and the first place.
pub(super) fn without_type<'m>(
    sorts: impl Iterator<Item = (&'m str, Span)>,
    file: &ScrFile,
    scope: &Scope<'_>,
) -> Option<(String, Span)> {
    let mut missing: Vec<(&str, Option<Span>)> = Vec::new();
    let lacks_type = |sort: &str| !sort.contains('@') && rust_text(sort, file, scope).is_none();
    for (sort, span) in sorts.filter(|(sort, _)| lacks_type(sort)) {
        entry(&mut missing, sort).get_or_insert(span);
    }
    let place = missing.first()?.1?;
    let missing: Vec<&str> = missing.iter().map(|(sort, _)| *sort).collect();
    let declarations = file.module.modules.iter().flat_map(|module| &module.declarations);
    let declared = declarations.filter(|found| found.kind == DeclarationKind::Payload);
    let known: Vec<&str> = declared.map(|found| found.name.as_str()).chain(PRIMITIVES).collect();
    let meant = missing.iter().filter_map(|sort| {
        let meant = did_you_mean(sort, known.iter().copied().filter(|known| known != sort))?;
        Some(format!("help: for `{sort}`, {meant}\n"))
    });
    let meant: String = meant.collect();
    let line = |sort: &&str| {
        let name = sort.rsplit('.').next().unwrap_or_default();
        format!("\n  type <rust> \"{}\" as {name};", example(sort, name))
    };
    let (names, lines) = (list(&missing), missing.iter().map(line).collect::<String>());
    let shown = file.shown();
    let text = format!(
        "no Rust type is declared for {names}\n\n{meant}help: declare it in {shown}:{lines}"
    );
    Some((text, place))
}

/// The likely Rust type for a sort, by its name.
fn example(sort: &str, name: &str) -> String {
    match &*sort.to_lowercase() {
        "int" | "integer" => "i32".into(),
        "long" => "i64".into(),
        "bool" | "boolean" => "bool".into(),
        "float" | "double" => "f64".into(),
        "bytes" => "std::vec::Vec<u8>".into(),
        "str" | "string" => "std::string::String".into(),
        _ => format!("crate::{name}"),
    }
}

/// The names in a type that do not follow a `::`. `None` if the text is not a type.
fn names_of(text: &str) -> Option<Vec<String>> {
    // The limit on the length keeps `syn` from overflowing the stack.
    const MOST: usize = 1_000;
    let tokens: TokenStream = text.parse().ok().filter(|_| text.len() <= MOST)?;
    syn::parse2::<Type>(tokens.clone()).ok()?;
    let trees: Vec<TokenTree> = flat(tokens);
    let behind_colons = |index: usize| {
        index > 0 && matches!(&trees[index - 1], TokenTree::Punct(punct) if punct.as_char() == ':')
    };
    let names = trees.iter().enumerate().filter_map(|(index, tree)| match tree {
        TokenTree::Ident(name) if !behind_colons(index) => Some(name.to_string()),
        _ => None,
    });
    Some(names.collect())
}

pub(super) fn flat(tokens: TokenStream) -> Vec<TokenTree> {
    let trees = tokens.into_iter().flat_map(|tree| match tree {
        TokenTree::Group(group) => flat(group.stream()),
        tree => vec![tree],
    });
    trees.collect()
}

/// True for an identifier that is not a keyword.
pub(super) fn is_ident(text: &str) -> bool {
    // `syn` does not know the keyword of edition 2024, and accepts blanks around the identifier.
    text != "gen" && syn::parse_str::<Ident>(text).is_ok_and(|ident| ident == text)
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
