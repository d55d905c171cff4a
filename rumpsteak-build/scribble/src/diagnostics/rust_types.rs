//! Rust types in a protocol, and the declarations that name them.

use super::{Code, Diagnostic, Name};

/// A Rust type in the place of a sort. `declared` are the sorts of the module, each with its Rust
/// type.
pub(crate) fn nameless(ty: &Name, declared: &[(&Name, &str)]) -> Diagnostic {
    if let Some(borrowed) = ty.as_str().strip_prefix('&') {
        let message = format!("`{ty}` borrows, and a payload owns its data");
        let help = match borrowed.rsplit([' ', '&']).next().unwrap_or_default() {
            "str" => "write `String`".to_owned(),
            owned if !owned.is_empty() && owned.chars().all(is_word) => format!("write `{owned}`"),
            _ => "write a type that owns its data: `Vec<u8>` for `&[u8]`".to_owned(),
        };
        return Diagnostic::new(Code::RustType, message, ty.span, "a reference").help(help);
    }
    let find = |name: &str| declared.iter().find(|(known, _)| known.as_str() == name);
    let (name, external) = declaration(ty.as_str(), |name| find(name).map(|(_, ty)| *ty));
    if let Some((name, _)) = declared.iter().find(|(_, known)| *known == external) {
        let message = format!("`{ty}` is a Rust type, and is called `{name}` in this module");
        return Diagnostic::new(Code::RustType, message, ty.span, format!("write `{name}` here"));
    }
    let message = format!("`{ty}` is a Rust type, and has no name in protocols");
    if let Some((known, external)) = find(&name) {
        let label = format!("write `{name}` here, or declare it under another name");
        return Diagnostic::new(Code::RustType, message, ty.span, label)
            .with(known.span, format!("`{name}` is declared as `{external}`"));
    }
    let label = format!("declare it, and write `{name}` here");
    let help = format!("above: type <rust> \"{external}\" as {name};");
    Diagnostic::new(Code::RustType, message, ty.span, label).help(help)
}

errors! {
    /// The type `()` in the place of a sort. `without` is the message without it.
    unit(ty: &Name, without: &str) = RustType at ty.span,
        "`()` carries no data, and has no name in protocols", "no payload"
        help "write `{without}`";
}

/// The types that need no path.
const PRELUDE: [&str; 5] = ["Box", "Option", "Result", "String", "Vec"];

/// A name for a type, and the text of the type in a declaration: declared names are replaced by
/// their types, and other names are looked up in the root of the package.
fn declaration<'a>(ty: &str, of: impl Fn(&str) -> Option<&'a str>) -> (String, String) {
    let (mut name, mut external) = (String::new(), String::new());
    for piece in ty.split_inclusive(|c| !is_word(c)) {
        let (word, behind) = piece.split_at(piece.trim_end_matches(|c| !is_word(c)).len());
        let is_first = !external.ends_with(':');
        let found = of(word).filter(|_| is_first);
        let is_own = is_first && word.starts_with(char::is_uppercase);
        if is_own && found.is_none() && !PRELUDE.contains(&word) {
            external += "crate::";
        }
        external += found.unwrap_or(word);
        external += behind;
        if let Some(first) = word.chars().next().filter(|_| behind != ":") {
            name.extend(first.to_uppercase());
            name += &word[first.len_utf8()..];
        }
    }
    // A declaration quotes the type.
    if external.contains('"') {
        external = format!("crate::{name}");
    }
    // `(())` has no words, and `[3; 4]` begins with a digit.
    if !name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        name.insert_str(0, "Type");
    }
    (name, external)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_complete() {
        let declared = |name: &str| (name == "Task").then_some("api::Task");
        for (ty, name, external) in [
            ("Vec<u8>", "VecU8", "Vec<u8>"),
            ("Option<Task>", "OptionTask", "Option<api::Task>"),
            ("bytes::Bytes", "Bytes", "bytes::Bytes"),
            ("Vec<api::Task>", "VecTask", "Vec<api::Task>"),
            ("[u8; 32]", "U832", "[u8; 32]"),
            ("((), ())", "Type", "((), ())"),
            ("_Task<u8>", "_TaskU8", "_Task<u8>"),
            ("Vec<Coupon>", "VecCoupon", "Vec<crate::Coupon>"),
        ] {
            assert_eq!(declaration(ty, declared), (name.to_owned(), external.to_owned()));
        }
    }
}
