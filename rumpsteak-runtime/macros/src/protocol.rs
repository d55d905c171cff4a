//! `protocol!(…)`.
//!
//! ```text
//! protocol!(pub DoubleBuffering);
//!
//!     pub mod double_buffering {
//!         include!(concat!(env!("OUT_DIR"), "/rumpsteak/double_buffering.rs"));
//!     }
//! ```
//!
//! The file is included as a file, so that editors and rustc point into it. Its sessions are sealed
//! to their verdicts as all sessions are; besides, the verdicts name the file and its stamp, and a
//! file of another build is refused. While somebody types it is included as it is.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use rumpsteak_contract::ProtocolItem;
use rumpsteak_contract::verdict::Kind;
use syn::Error;

use crate::verdict::{self, Missing, Verdict};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let item = match ProtocolItem::parse(input.clone()) {
        Ok(item) => item,
        Err(error) => {
            let error = Error::into_compile_error(error);
            return match ProtocolItem::meant(&input) {
                Some(item) => empty(&item, None, &error),
                None => error,
            };
        }
    };
    let name = &item.name;
    let found = match verdict::find(Kind::Protocol, name, &item.key, &item.krate) {
        Ok(found) => found,
        Err(Missing::Silent) => Verdict { passed: true, ..Verdict::default() },
        Err(missing) => return empty(&item, None, &missing.of_protocol(name)),
    };
    let Verdict { problems, passed, instead, left_out, .. } = found;
    match verdict::generated(&item) {
        // The code is there for another crate.
        Ok(Some(_)) if left_out == Some(true) => empty(&item, None, &problems),
        Ok(Some(file)) => match misnamed(&item, &file) {
            // Which names a machine makes is not known while it is refused.
            Some(_) if !passed && instead.is_none() => empty(&item, None, &problems),
            Some(error) => empty(&item, None, &quote!(#problems #error)),
            None => {
                let module = module(&item, &file);
                quote!(#module #problems)
            }
        },
        Ok(None) if passed => empty(&item, None, &verdict::unverified(name, verdict::UNSEEN)),
        Ok(None) => empty(&item, instead, &problems),
        Err(reason) => empty(&item, None, &verdict::unverified(name, &reason)),
    }
}

/// The module without any code. With the error in it, rustc says nothing of what is imported from
/// it by name: so all that the file uses and may have from there is imported by name. Beside it the
/// error keeps rustc quiet about names that are nowhere, and is printed once. The name of the
/// module may be another one.
fn empty(item: &ProtocolItem, instead: Option<TokenStream>, problems: &TokenStream) -> TokenStream {
    let module = instead.and_then(|name| syn::parse2(name).ok());
    let (module, visibility) = (module.unwrap_or_else(|| module_name(item)), &item.visibility);
    let types = source(item).and_then(|text| Types::of(&text, &module));
    let names = types.unwrap_or_default().used;
    let names = names.iter().map(|name| Ident::new(name, Span::call_site()));
    quote! {
        #visibility mod #module { #problems }

        #problems
        #[allow(unused_imports, reason = "no code is there")]
        use self::#module::{#(#names),*};
    }
}

/// What is certainly wrong with the names that the file has of the code: it imports some that are
/// not there, or names sessions and imports nothing. Each would be an error wherever it is used.
/// Only names in a place where nothing but a type of generics or an enum fits are looked at: a
/// variant of the user's may be called `NewSession`.
fn misnamed(item: &ProtocolItem, file: &str) -> Option<TokenStream> {
    let module = module_name(item);
    let (text, path) = (source(item)?, format!("{module}::"));
    let generated = std::fs::read_to_string(verdict::folder("OUT_DIR").join(file)).ok()?;
    let here = Types::of(&text, &module)?;
    let mut code = Types::of(&generated, &module)?.known;
    // What it imports itself nobody can import from it.
    code.retain(|name| !["Channel", "Message", "Role"].contains(&&**name));
    let mut gone = &here.imported - &code;
    let mut missing = BTreeSet::new();
    // Whether an item is there may depend on what nobody knows here.
    let globs = if text.contains("#[cfg") { usize::MAX } else { text.matches("::*").count() };
    if globs == 1 && text.contains(&format!("use {path}*;")) {
        gone.extend((&here.typed - &code).into_iter().filter(|name| is_generated(name)));
    } else if globs == 0 && !text.contains(&path) {
        missing = &here.used & &code;
    }
    let text = if !gone.is_empty() {
        let place = line_of(&text, &gone).map_or(String::new(), |line| {
            format!(" ({}:{line})", item.name.span().unwrap().file())
        });
        let mut others = &(&code - &here.imported) - &here.used;
        others.retain(|other| {
            let is_alike = |gone: &String| is_generated(gone) == is_generated(other);
            other != "Label"
                && !text.contains(&format!("{path}{other}"))
                && gone.iter().any(is_alike)
        });
        let advice = match others.is_empty() {
            true => format!("help: take out what names `{}`", list(&gone)),
            false => {
                format!("help: it has these names, which nothing here uses: `{}`", list(&others))
            }
        };
        let gone = list(&gone);
        format!(
            "`{module}` has no `{gone}`{place}: the protocol has no such name, or no more [V0101]\n\n{advice}"
        )
    } else if missing.iter().any(|name| is_generated(name) && here.typed.contains(name)) {
        let all = list(&missing).replace('`', "");
        format!("nothing of `{module}` is imported\n\nhelp: add `use {path}{{{all}}};`")
    } else {
        return None;
    };
    Some(verdict::error(item.name.span(), text))
}

/// The first line in which one of the names stands.
fn line_of(text: &str, names: &BTreeSet<String>) -> Option<usize> {
    let words = |line: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| names.contains(word))
    };
    Some(text.lines().position(words)? + 1)
}

fn list(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join("`, `")
}

/// True if a name is most likely a name of generated code: `KSession`, `KGoOrStop`.
fn is_generated(name: &str) -> bool {
    let is_choice = |(at, _)| at > 0 && name[at + 2..].starts_with(char::is_uppercase);
    name.ends_with("Session") || name.match_indices("Or").any(is_choice)
}

/// The text of the file that the macro is called in, unless somebody types.
fn source(item: &ProtocolItem) -> Option<String> {
    // It unwraps rustc's own span, and panics only outside of a macro that is expanded: only
    // `expand` comes here.
    std::fs::read_to_string(item.name.span().unwrap().local_file()?).ok()
}

/// The names of a file that may be those of types, for they begin with a capital letter.
#[derive(Default)]
struct Types {
    /// Those at no end of a path that it neither declares nor imports.
    used: BTreeSet<String>,
    /// Of those, `: Name<` and `Name::`, in no call of a macro, which may declare what it is given.
    typed: BTreeSet<String>,
    /// Those that it does.
    known: BTreeSet<String>,
    /// Those that it imports from a module beside it, outside of any other, in every build.
    imported: BTreeSet<String>,
}

impl Types {
    fn of(text: &str, module: &Ident) -> Option<Self> {
        const DECLARING: [&str; 8] =
            ["as", "const", "enum", "static", "struct", "trait", "type", "union"];
        let (mut types, mut before, mut last) = (Self::default(), String::new(), String::new());
        // In a `use`; in one of the module; in an item with an attribute.
        let (mut is_import, mut is_own, mut is_conditional) = (false, false, false);
        let mut open = vec![text.parse::<TokenStream>().ok()?.into_iter()];
        // How deep the call of a macro is that all this is given to.
        let mut call = usize::MAX;
        while let Some(trees) = open.last_mut() {
            let word = match trees.next() {
                None => {
                    open.pop();
                    String::new()
                }
                // It has names of macros.
                Some(TokenTree::Group(_)) if last == "#" => {
                    is_conditional = true;
                    String::new()
                }
                Some(TokenTree::Group(group)) => {
                    is_conditional &= is_import || group.delimiter() != Delimiter::Brace;
                    if last == "!" {
                        call = call.min(open.len());
                    }
                    open.push(group.stream().into_iter());
                    String::new()
                }
                Some(tree) => tree.to_string(),
            };
            call = if call < open.len() { call } else { usize::MAX };
            if call == usize::MAX && before == ":" && word == "<" {
                types.typed.insert(last.clone());
            } else if call == usize::MAX && last == ":" && word == ":" {
                types.typed.insert(before.clone());
            }
            is_own &= is_import;
            is_own |= last == "use" && *module == word && open.len() == 1 && !is_conditional;
            is_import = word == "use" || is_import && word != ";";
            is_conditional &= word != ";";
            if word.starts_with(char::is_uppercase) && word != "Self" {
                if is_own && last != "as" {
                    types.imported.insert(word.clone());
                }
                if is_import || DECLARING.contains(&&*last) {
                    types.known.insert(word.clone());
                } else if !["::", ".", "'"].contains(&&*last) {
                    types.used.insert(word.clone());
                }
            }
            let is_path = word == ":" && last == ":";
            before = std::mem::replace(&mut last, if is_path { "::".to_owned() } else { word });
        }
        types.used = &types.used - &types.known;
        types.typed = &types.typed & &types.used;
        Some(types)
    }
}

fn module_name(item: &ProtocolItem) -> Ident {
    Ident::new(&item.module(), Span::call_site().located_at(item.name.span()))
}

fn module(item: &ProtocolItem, file: &str) -> TokenStream {
    let ProtocolItem { name, attributes, visibility, krate, runtime, .. } = item;
    // The code has the usual name, unless the item says another one.
    let is_renamed = krate.to_string().replace(' ', "") != *runtime;
    let usual = is_renamed.then(|| quote!(use #krate as rumpsteak_runtime;));
    let module = module_name(item);
    let file = format!("/{file}");
    let summary = format!("The protocol `{name}`: its roles, its messages and its sessions.");
    quote! {
        #[doc = #summary]
        #attributes
        #[allow(dead_code, private_interfaces, unreachable_pub, reason = "a program may play some of the roles only, with payloads of its own")]
        #[allow(missing_debug_implementations, reason = "the derives are for messages")]
        #visibility mod #module {
            #usual
            ::core::include!(::core::concat!(::core::env!("OUT_DIR"), #file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variants are named as users like, and macros declare what they are given.
    #[test]
    fn only_what_is_written_as_a_session_or_choice_counts_as_one() {
        let text = "enum Event { NewSession(u8), ReadOrWrite }
            make!(fn a(s: DbSession<'_>) { OneOrTwo::One });
            fn b(s: KSession<'_>) { match c { KGoOrStop::Go(_) => NewSession(1) } }";
        let types = Types::of(text, &Ident::new("p", Span::call_site())).unwrap();
        assert_eq!(types.typed, ["KGoOrStop", "KSession"].map(str::to_owned).into());
        assert!(types.used.contains("NewSession"));
    }
}
