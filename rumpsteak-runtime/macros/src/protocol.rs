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

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use rumpsteak_contract::ProtocolItem;
use rumpsteak_contract::canonical::{Piece, Pieces};
use rumpsteak_contract::verdict::Kind;
use syn::Error;

use crate::verdict::{self, Missing, Verdict};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let item = match ProtocolItem::parse(input.clone()) {
        Ok(item) => item,
        Err(error) => {
            let error = Error::into_compile_error(error);
            let module = ProtocolItem::meant(&input);
            let module = module.map(|module| Ident::new(&module, Span::call_site()));
            return module.map_or(error.clone(), |module| quote!(mod #module { #error }));
        }
    };
    let name = &item.name;
    let found = match verdict::find(Kind::Protocol, name, &item.key, &item.krate) {
        Ok(found) => found,
        Err(Missing::Silent) => Verdict { passed: true, ..Verdict::default() },
        Err(missing) => return empty(&item, &missing.once_more(name)),
    };
    let (problems, passed) = (found.problems, found.passed);
    match verdict::generated(&item) {
        // Of names that are not there, rustc says nothing where an error is in the module; nor of
        // what is done with those that are, if there is nothing else in it.
        Ok(Some(_)) if found.left_out.is_some() => empty(&item, &problems),
        Ok(Some(file)) => {
            let module = module(&item, &file);
            quote!(#module #problems)
        }
        Ok(None) if passed => empty(&item, &verdict::unverified(name, verdict::UNSEEN)),
        Ok(None) => empty(&item, &problems),
        Err(reason) => empty(&item, &verdict::unverified(name, &reason)),
    }
}

/// The module without any code. With the error in it, rustc says nothing of what is imported from
/// it by name: so all that `*` may mean is imported by name, too.
fn empty(item: &ProtocolItem, problems: &TokenStream) -> TokenStream {
    let (module, visibility) = (module_name(item), &item.visibility);
    let file = item.name.span().unwrap().local_file();
    let text = file.and_then(|file| std::fs::read_to_string(file).ok());
    let names = text.and_then(|text| text.parse().ok()).map(types).unwrap_or_default();
    let names = names.iter().map(|name| Ident::new(name, Span::call_site()));
    quote! {
        #visibility mod #module { #problems }

        #[allow(unused_imports, reason = "no item is there")]
        use self::#module::{#(#names),*};
    }
}

/// The names in a file with a `*` that may be those of types which it has from there: what begins
/// with a capital letter, is no end of a path, and is neither declared nor imported.
fn types(file: TokenStream) -> BTreeSet<String> {
    const DECLARING: [&str; 8] =
        ["as", "const", "enum", "static", "struct", "trait", "type", "union"];
    let (mut used, mut known) = (BTreeSet::new(), BTreeSet::from(["Self".to_owned()]));
    let (mut last, mut is_import, mut has_glob) = (String::new(), false, false);
    // How deep in an attribute, which has names of macros.
    let mut attribute = 0_usize;
    for piece in Pieces::new(file) {
        let text = match &piece {
            Piece::Tree(tree) if attribute == 0 => tree.to_string(),
            Piece::Open(_) if attribute > 0 || last == "#" => {
                attribute += 1;
                continue;
            }
            Piece::Close(_) if attribute > 0 => {
                attribute -= 1;
                String::new()
            }
            _ if attribute > 0 => continue,
            _ => String::new(),
        };
        is_import = text == "use" || is_import && text != ";";
        has_glob |= is_import && text == "*";
        if text.starts_with(char::is_uppercase) {
            let is_known = is_import || DECLARING.contains(&&*last);
            let names = if is_known { &mut known } else { &mut used };
            if is_known || ![":", ".", "'"].contains(&&*last) {
                names.insert(text.clone());
            }
        }
        last = if text == ":" && last != ":" { ": ".to_owned() } else { text };
    }
    used.retain(|name| has_glob && !known.contains(name));
    used
}

fn module_name(item: &ProtocolItem) -> Ident {
    Ident::new(&item.module(), Span::call_site().located_at(item.name.span()))
}

fn module(item: &ProtocolItem, file: &str) -> TokenStream {
    let ProtocolItem { name, attributes, visibility, .. } = item;
    let module = module_name(item);
    let file = format!("/{file}");
    let summary = format!("The protocol `{name}`: its roles, its messages and its sessions.");
    quote! {
        #[doc = #summary]
        #attributes
        #[allow(dead_code, unreachable_pub, reason = "a program may play some of the roles only")]
        #visibility mod #module {
            ::core::include!(::core::concat!(::core::env!("OUT_DIR"), #file));
        }
    }
}
