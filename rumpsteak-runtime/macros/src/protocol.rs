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
//! The file is included as a file, so that editors and rustc point into it. Its sessions are sealed to their verdicts as
//! all sessions are; besides, the verdicts name the file and its stamp, and a file of another build is refused.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use rumpsteak_contract::verdict::{Kind, Outcome};
use rumpsteak_contract::{Input, ProtocolItem};

use crate::head::Head;
use crate::verdict::{self, Lookup};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let item = match ProtocolItem::parse(&Input::new(input.clone()).tokens()) {
        Ok(item) => item,
        Err(error) => return verdict::error(error.span().rustc(), error),
    };
    let name = &item.name;
    let problems = match verdict::find(Kind::Protocol, name, item.hash()) {
        Lookup::Found(entry) => match entry.outcome {
            Outcome::Failed { problems, .. } => {
                verdict::errors(&problems, |token| item.span_of(token))
            }
            Outcome::FailedElsewhere(_) | Outcome::Passed(_) => TokenStream::new(),
        },
        Lookup::Unverified(reason) => return verdict::unverified(name, &reason),
        Lookup::Unseen => return verdict::unseen(name),
        Lookup::Typing => return TokenStream::new(),
    };
    match verdict::generated(&name.to_string()) {
        Ok(Some(file)) => {
            let module = module(&item, Head::of(input), &file);
            quote!(#module #problems)
        }
        Ok(None) if problems.is_empty() => verdict::unseen(name),
        Ok(None) => problems,
        Err(reason) => verdict::unverified(name, &reason),
    }
}

fn module(item: &ProtocolItem, head: Head, file: &str) -> TokenStream {
    let Head {
        attributes,
        visibility,
    } = head;
    let name = &item.name;
    let module = Ident::new(
        &item.module(),
        Span::call_site().located_at(name.span().rustc()),
    );
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
