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

use proc_macro2::{Ident, Span, TokenStream};
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
        Ok(Some(file)) => {
            // Of names that are not there, rustc says nothing where an error is in the module.
            let (inside, beside) = match found.left_out {
                Some(_) => (Some(problems), None),
                None => (None, Some(problems)),
            };
            let module = module(&item, &file, inside);
            quote!(#module #beside)
        }
        Ok(None) if passed => empty(&item, &verdict::unverified(name, verdict::UNSEEN)),
        Ok(None) => empty(&item, &problems),
        Err(reason) => empty(&item, &verdict::unverified(name, &reason)),
    }
}

/// The module without any code. With the error in it, rustc says nothing of what is not there.
fn empty(item: &ProtocolItem, problems: &TokenStream) -> TokenStream {
    let (module, visibility) = (module_name(item), &item.visibility);
    quote!(#visibility mod #module { #problems })
}

fn module_name(item: &ProtocolItem) -> Ident {
    Ident::new(&item.module(), Span::call_site().located_at(item.name.span()))
}

fn module(item: &ProtocolItem, file: &str, problems: Option<TokenStream>) -> TokenStream {
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

            #problems
        }
    }
}
