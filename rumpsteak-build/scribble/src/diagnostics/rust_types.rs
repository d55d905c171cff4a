//! Rust types in a protocol, and the declarations that give them names.

use super::code::Code;
use super::diagnostic::Diagnostic;
use super::span::Name;

/// Types that are known without a path, and where the others are that everybody means.
const PRELUDE: [&str; 24] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize", "str", "String", "Vec", "Option", "Box", "Result", "dyn", "mut",
];
const STANDARD: [(&str, &str); 10] = [
    ("Arc", "sync"),
    ("BTreeMap", "collections"),
    ("BTreeSet", "collections"),
    ("Cow", "borrow"),
    ("Duration", "time"),
    ("HashMap", "collections"),
    ("HashSet", "collections"),
    ("PathBuf", "path"),
    ("Rc", "rc"),
    ("VecDeque", "collections"),
];

/// A Rust type in the place of a sort. `declared` are the sorts of the module, each with the type
/// that it stands for.
pub(crate) fn nameless(ty: &Name, declared: &[(&str, &str)]) -> Diagnostic {
    if let Some(lent) = ty.as_str().strip_prefix('&') {
        let message = format!("`{ty}` borrows, and a payload owns its data");
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let help = match lent.rsplit([' ', '&']).next().unwrap_or_default() {
            "str" => "write `String`".to_owned(),
            lent if !lent.is_empty() && lent.chars().all(is_word) => format!("write `{lent}`"),
            _ => "write a type that owns what it holds: `Vec<u8>` for `&[u8]`".to_owned(),
        };
        return Diagnostic::new(Code::RustType, message, ty.span, "a reference").help(help);
    }
    let of = |name: &str| declared.iter().find(|(known, _)| *known == name).map(|(_, ty)| *ty);
    let Declared { name, external, from } = declaration(ty.as_str(), of);
    if let Some((name, _)) = declared.iter().find(|(_, known)| *known == external) {
        let message = format!("`{ty}` is a Rust type, and is called `{name}` in this module");
        let label = format!("write `{name}` here");
        return Diagnostic::new(Code::RustType, message, ty.span, label);
    }
    let message = format!("`{ty}` is a Rust type, and has no name in protocols");
    let label = format!("declare it, and write `{name}` here");
    let help = format!("above: type <rust> \"{external}\" from \"{from}\" as {name};");
    Diagnostic::new(Code::RustType, message, ty.span, label).help(help)
}

/// The parts of the declaration of a type.
struct Declared {
    name: String,
    external: String,
    from: String,
}

/// The declaration for a type, with the paths that are missing in it.
fn declaration<'a>(ty: &str, declared: impl Fn(&str) -> Option<&'a str>) -> Declared {
    let (mut name, mut external, mut from) = (String::new(), String::new(), String::new());
    let mut rest = ty;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if !is_word(first) {
            external.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        rest = behind;
        let (is_begun, goes_on) = (external.ends_with("::"), behind.starts_with("::"));
        let path = match (is_begun, goes_on) {
            (true, _) => None,
            (false, true) => {
                from = word.to_owned();
                None
            }
            (false, false) => path(word, &declared),
        };
        if let Some(root) = path.as_deref().and_then(|path| path.split("::").next()) {
            from = root.to_owned();
        }
        external.push_str(path.as_deref().unwrap_or(word));
        if !goes_on {
            name.extend(first.to_uppercase());
            name.push_str(&word[first.len_utf8()..]);
        }
    }
    if from.is_empty() {
        from.push_str("std");
    }
    Declared { name, external, from }
}

/// The path of a type that is named without one, unless it needs none.
fn path<'a>(word: &str, declared: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    if PRELUDE.contains(&word) || word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(external) = declared(word) {
        return Some(external.to_owned());
    }
    let mut standard = STANDARD.iter().filter(|(known, _)| *known == word);
    Some(match standard.next() {
        Some((_, module)) => format!("std::{module}::{word}"),
        None => format!("crate::{word}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_complete() {
        let declared = |name: &str| (name == "Task").then_some("api::Task");
        for (ty, name, external, from) in [
            ("Vec<u8>", "VecU8", "Vec<u8>", "std"),
            ("Option<Job>", "OptionJob", "Option<crate::Job>", "crate"),
            ("Option<Task>", "OptionTask", "Option<api::Task>", "api"),
            ("bytes::Bytes", "Bytes", "bytes::Bytes", "bytes"),
            ("[u8; 32]", "U832", "[u8; 32]", "std"),
            (
                "HashMap<String, Vec<Job>>",
                "HashMapStringVecJob",
                "std::collections::HashMap<String, Vec<crate::Job>>",
                "crate",
            ),
        ] {
            let found = declaration(ty, declared);
            assert_eq!((&*found.name, &*found.external, &*found.from), (name, external, from));
        }
    }
}
