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
                let module = module(&item, &file, instead);
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
    let Types { known: mut code, sessions, .. } = Types::of(&generated, &module)?;
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
        let mut others = &(&code - &here.imported) - &here.used;
        others.remove("Label");
        others.retain(|other| !text.contains(&format!("{path}{other}")));
        let place = line_of(&text, &gone).map_or(String::new(), |line| {
            format!(" ({}:{line})", item.name.span().unwrap().file())
        });
        format!(
            "`{module}` has no `{}`{place}: the protocol has no such name, or no more [V0101]\n\n{}",
            list(&gone),
            advice(gone, others, &sessions, |name, alike| successors(
                &text, name, &generated, alike
            ))
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

/// What most likely took the place of a name of a text, of these of the code. For a choice those
/// are the ones with most of the options that are named of it; of several only the one that the
/// role comes to first, if the others lack one of those.
fn successors(text: &str, name: &str, code: &str, others: &[&String]) -> Vec<String> {
    let path = format!("{name}::");
    let options = text.split(&path).skip(1);
    let options = options.filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next());
    let options: BTreeSet<_> = options.collect();
    let declared = |other: &str| code.split_once(&format!("enum {other} {{\n"));
    let shared = |other: &str| -> BTreeSet<&str> {
        let rest = declared(other).map_or("", |(_, rest)| rest);
        let own = rest.split("\n}").next().unwrap_or_default();
        let is_own = |option: &&&str| own.contains(&format!("\n    {option}("));
        options.iter().filter(is_own).copied().collect()
    };
    let most = others.iter().map(|other| shared(other).len()).max().filter(|most| *most > 0);
    let Some(most) = most else { return near(name, others).into_iter().collect() };
    let mut alike: Vec<_> = others.iter().filter(|other| shared(other).len() == most).collect();
    alike.sort_by_key(|other| declared(other).map(|(before, _)| before.len()));
    let of_rest: BTreeSet<_> = alike.iter().skip(1).flat_map(|other| shared(other)).collect();
    if alike.first().is_some_and(|first| !shared(first).is_subset(&of_rest)) {
        alike.truncate(1);
    }
    alike.into_iter().map(|other| other.to_string()).collect()
}

/// What to write instead of names that the code lacks, of those that it has and nothing names: the
/// `successors` of a name among those of its kind. For a choice they are those of the same role.
fn advice(
    mut gone: BTreeSet<String>,
    mut others: BTreeSet<String>,
    sessions: &BTreeSet<String>,
    successors: impl Fn(&str, &[&String]) -> Vec<String>,
) -> String {
    let kind = |name: &str| kind(name, sessions);
    let role = |name: &str| match kind(name) {
        None | Some("Session") => None,
        Some(_) => role(name, sessions),
    };
    let may_be = |name: &str, other: &str| {
        kind(other) == kind(name) && (role(name).is_none() || role(other) == role(name))
    };
    let (mut advice, is_only) = (Vec::new(), gone.len() == 1);
    let by = |name: &str| if is_only { String::new() } else { format!(" by `{name}`") };
    let (lacking, there) = (gone.clone(), others.clone());
    let proposed = |name: &str| {
        let alike: Vec<_> = there.iter().filter(|other| may_be(name, other)).collect();
        successors(name, &alike)
    };
    // What two names would stand for is proposed for neither.
    let only = |name: &str| {
        // More are no proposal, but the list that is there without one.
        let own = Some(proposed(name)).filter(|own| (1..=3).contains(&own.len()))?;
        let rivals = lacking.iter().filter(|rival| proposed(rival) == own);
        (rivals.count() == 1).then_some(own)
    };
    for name in &lacking {
        let renamed = ["Message", "Role"].map(|suffix| format!("{name}{suffix}"));
        let renamed = renamed.into_iter().find(|renamed| others.contains(renamed));
        let is_renamed = renamed.is_some();
        let Some(own) = renamed.map(|name| vec![name]).or_else(|| only(name)) else { continue };
        let any = own.join("` or `");
        advice.push(match is_renamed {
            true => {
                format!("help: write `{any}`: a type `{name}` would hide one that the code uses")
            }
            false => format!("help: did you mean `{any}`{}?", by(name)),
        });
        others.retain(|other| !own.contains(other));
        gone.remove(name);
    }
    // Of names of the protocol, only those: the others are made of them.
    let first = gone.iter().map(|name| kind(name)).min();
    others.retain(|other| {
        let mut gone = gone.iter().filter(|name| Some(kind(name)) == first);
        gone.any(|name| may_be(name, other))
    });
    match (gone.first(), others.first()) {
        (None, _) => {}
        (Some(name), Some(other))
            if (gone.len(), others.len()) == (1, 1) && role(name).is_none() =>
        {
            advice.push(format!("help: did you mean `{other}`{}?", by(name)));
        }
        (_, Some(_)) => {
            advice.push(format!("note: it has, and nothing here names: `{}`", list(&others)))
        }
        (_, None) => advice.push(format!("help: take out what names `{}`", list(&gone))),
    }
    advice.join("\n")
}

fn list(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join("`, `")
}

/// The name that has more than two thirds of its letters in common with this one, counted from both
/// ends.
fn near(name: &str, others: &[&String]) -> Option<String> {
    let common = |other: &str| {
        let same = |(left, right): &(char, char)| left == right;
        let most = name.len().min(other.len());
        let before = name.chars().zip(other.chars()).take_while(same).count();
        let behind = name.chars().rev().zip(other.chars().rev()).take_while(same).count();
        (before + behind).min(most)
    };
    let others = others.iter().map(|other| other.as_str());
    let others = others.filter(|other| 3 * common(other) > 2 * name.len().max(other.len()));
    others.max_by_key(|other| common(other)).map(str::to_owned)
}

/// What a name is that of, or most likely was: a role or label of the protocol, or else what is
/// made of those, by the ends of their names. `sessions` are those of the code.
fn kind(name: &str, sessions: &BTreeSet<String>) -> Option<&'static str> {
    let end = ["Session", "Rest", "Loop"].into_iter().find(|end| name.ends_with(end));
    (sessions.contains(name) || is_generated(name)).then(|| end.unwrap_or("Or"))
}

/// The role of the code that a name of generated code begins with.
fn role<'a>(name: &str, sessions: &'a BTreeSet<String>) -> Option<&'a str> {
    let roles = sessions.iter().filter_map(|session| session.strip_suffix("Session"));
    let begins = |role: &&str| {
        let rest = name.strip_prefix(role);
        rest.is_some_and(|rest| rest.starts_with(char::is_uppercase))
    };
    roles.filter(begins).max_by_key(|role| role.len())
}

/// Whether a name is most likely one of generated code: `KSession`, `KGoOrStop`.
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
    /// Of those, what `#[session]` stands on.
    sessions: BTreeSet<String>,
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
        // Behind `#[session]`.
        let mut is_session = false;
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
                Some(TokenTree::Group(group)) if last == "#" => {
                    is_conditional = true;
                    is_session |= group.to_string().starts_with("[session");
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
                    if std::mem::take(&mut is_session) {
                        types.sessions.insert(word.clone());
                    }
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

fn module(item: &ProtocolItem, file: &str, instead: Option<TokenStream>) -> TokenStream {
    let ProtocolItem { name, attributes, visibility, krate, runtime, .. } = item;
    // The code has the usual name, unless the item says another one.
    let is_renamed = krate.to_string().replace(' ', "") != *runtime;
    let usual = is_renamed.then(|| quote!(use #krate as rumpsteak_runtime;));
    let visibility = instead.as_ref().unwrap_or(visibility);
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
        let types = Types::of(text, &Ident::new("p", Span::call_site())).unwrap();
        assert_eq!(types.typed, ["KGoOrStop", "KSession"].map(str::to_owned).into());
        assert!(types.used.contains("NewSession"));
    }
}
