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

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
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
    let types = source(item).and_then(|text| Types::of(&text));
    let names = types.unwrap_or_default().used;
    let names = names.iter().map(|name| Ident::new(name, Span::call_site()));
    quote! {
        #visibility mod #module { #problems }

        #problems
        #[allow(unused_imports, reason = "no code is there")]
        use self::#module::{#(#names),*};
    }
}

/// An error if the file certainly names sessions or choices of the code that it does not have: they
/// are gone from a module that it imports as a whole, or it imports nothing. rustc would say so
/// wherever one is used. Names that are imported one by one it says once.
///
/// Only names in a place where nothing but a type of generics or an enum fits are looked at: a
/// variant of the user's may be called `NewSession`.
fn misnamed(item: &ProtocolItem, file: &str) -> Option<TokenStream> {
    let module = module_name(item);
    let (text, path) = (source(item)?, format!("{module}::"));
    // Whether an item is there may depend on what this macro does not know.
    let globs = if text.contains("#[cfg") { usize::MAX } else { text.matches("::*").count() };
    let is_whole = globs == 1 && text.contains(&format!("use {path}*;"));
    if !is_whole && (globs > 0 || text.contains(&path)) {
        return None;
    }
    let generated = std::fs::read_to_string(verdict::folder("OUT_DIR").join(file)).ok()?;
    let here = Types::of(&text)?;
    let mut code = Types::of(&generated)?.known;
    // Nothing can be imported from what it imports itself.
    code.retain(|name| !["Channel", "Message", "Role"].contains(&&**name));
    let mut suspects: BTreeSet<String> =
        here.typed.into_iter().filter(|it| is_generated(it)).collect();
    suspects.retain(|name| code.contains(name) != is_whole);
    if suspects.is_empty() {
        return None;
    }
    let text = if is_whole {
        let mut others = &code - &here.used;
        others.retain(|name| is_generated(name) && !text.contains(&format!("{path}{name}")));
        format!(
            "`{module}` has no `{}`: the protocol has no such name, or no more [V0101]\n\n\
             help: it has these names, which nothing here uses: `{}`",
            list(&suspects),
            list(&others)
        )
    } else {
        let all = list(&(&here.used & &code)).replace('`', "");
        format!("nothing of `{module}` is imported\n\nhelp: add `use {path}{{{all}}};`")
    };
    Some(verdict::error(item.name.span(), text))
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
}

impl Types {
    fn of(text: &str) -> Option<Self> {
        const DECLARING: [&str; 8] =
            ["as", "const", "enum", "static", "struct", "trait", "type", "union"];
        let (mut types, mut before, mut last) = (Self::default(), String::new(), String::new());
        let mut is_import = false;
        let mut open = vec![text.parse::<TokenStream>().ok()?.into_iter()];
        // How deep the call of a macro is that all this is given to.
        let mut call = usize::MAX;
        while let Some(trees) = open.last_mut() {
            let word = match trees.next() {
                None => {
                    open.pop();
                    String::new()
                }
                // An attribute has names of macros.
                Some(TokenTree::Group(_)) if last == "#" => String::new(),
                Some(TokenTree::Group(group)) => {
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
            is_import = word == "use" || is_import && word != ";";
            if word.starts_with(char::is_uppercase) && word != "Self" {
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
        #[allow(dead_code, unreachable_pub, reason = "a program may play some of the roles only")]
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
        let types = Types::of(text).unwrap();
        assert_eq!(types.typed, ["KGoOrStop", "KSession"].map(str::to_owned).into());
        assert!(types.used.contains("NewSession"));
    }
}
