//! Expansion of a module.
//!
//! ```text
//! #[protocol(Ping)] mod ping { use super::Frame; struct Ping(Frame); … }
//!
//!     mod ping {
//!         use super::Frame;
//!         pub struct Ping(pub Frame);
//!         pub struct C { pub s: Channel<Label> }        generated, like other missing items
//!         impl Role for C { … }
//!         compile_error!("…");                          if there is a mistake
//!         const _: &[u8] = include_bytes!("ping.scr");  rustc expands again when it changes
//!     }
//!     compile_error!("…");
//! ```
//!
//! An error is raised twice, and rustc prints it once. The error in the module silences rustc about
//! missing names in the module; the one beside it, about names that are imported from there by `*`,
//! such as the choices of a session that the module now writes.
//!
//! An item with a mistake expands to a stub, so that one mistake is one error.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote};
use rumpsteak_build::expansion::{Findings, Judged, judge, runtime_crate};
use rumpsteak_front::module::{Item, ItemKind};
use rumpsteak_front::name::snake;
use rumpsteak_front::{Module, ModuleKind};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Error, Result, Token, Visibility};

use crate::scope::{Scope, items};
use crate::tokens::at;
use crate::{message, payload, role, session, set};

pub(crate) fn expand(kind: ModuleKind, arguments: TokenStream, item: TokenStream) -> TokenStream {
    match Module::parse(kind, arguments, item.clone()) {
        Ok(module) => judged(&judge(module)),
        Err(error) => unreadable(&error.into_compile_error(), item),
    }
}

/// An empty module for one that cannot be parsed.
fn unreadable(error: &TokenStream, item: TokenStream) -> TokenStream {
    let head = |input: ParseStream<'_>| -> Result<(Visibility, Ident)> {
        Attribute::parse_outer(input)?;
        let visibility = input.parse()?;
        input.parse::<Token![mod]>()?;
        let name = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok((visibility, name))
    };
    let (marker, used) = marker();
    let module = head
        .parse2(item)
        .map(|(visibility, name)| quote!(#visibility mod #name { #marker #error }))
        .unwrap_or_default();
    quote!(#module #error #used)
}

/// An item for a module whose names are left out, and its use beside the module. So rustc does not
/// say that an import of all names is unused. Without such an import, this is the prelude's `drop`.
fn marker() -> (TokenStream, TokenStream) {
    let allow = quote!(#[allow(unused_imports, reason = "a program may import no names")]);
    (quote!(#allow pub use ::core::mem::drop;), quote! { const _: fn(()) = drop; })
}

fn judged(judged: &Judged) -> TokenStream {
    let Judged { module, findings, generated, files } = judged;
    let Findings { verdict, told, .. } = findings;
    let Module { attributes, visibility, name, errors, .. } = module;
    let krate = match &module.arguments.krate {
        Some(path) => path.to_token_stream(),
        None => format!("::{}", runtime_crate()).parse().unwrap_or_default(),
    };
    let scope = Scope::new(judged, &krate);
    let code = module.items.iter().map(|of| item(of, &scope));
    let code = code.chain(module.items.iter().filter_map(|of| session::generated_name(of, &scope)));
    let code = code.chain(generated.iter().map(|of| generated_item(of, judged, &scope)));
    let problems = told.iter().map(|(span, told)| Error::new(*span, told.with_code()));
    let errors = errors.iter().cloned().chain(problems);
    let errors: TokenStream = errors.map(Error::into_compile_error).collect();
    let (marker, used) = (!errors.is_empty()).then(marker).unzip();
    let payloads = verdict.payloads.iter().filter_map(|check| {
        let mut labels = items(judged).filter_map(Item::label);
        payload::check(check, labels.find(|label| label.name == check.label)?, &krate)
    });
    let files = files.iter().map(|file| file.to_string_lossy().into_owned());
    quote! {
        #(#attributes)*
        #[allow(dead_code, private_interfaces, unreachable_pub, reason = "a program may play some of the roles only, with payloads of its own")]
        #[allow(missing_debug_implementations, missing_docs, reason = "the derives are for messages, and all items are made public")]
        #visibility mod #name {
            #[allow(unused_imports, reason = "a route may be any type")]
            use #krate::private::scope::*;

            #(#code)*
            #(#payloads)*
            #marker
            #errors
            #(const _: &[u8] = ::core::include_bytes!(#files);)*
        }
        #errors
        #used
    }
}

/// The expansion of a generated item. If lines of a protocol declare the types in it, a macro with
/// their name makes it, which rustc names in an error: `line_1_of_protocols_jobs_scr`.
fn generated_item(of: &Item, judged: &Judged, scope: &Scope<'_>) -> TokenStream {
    let tokens = item(of, scope);
    let text = match of {
        Item::Label(label) => label.name.to_string(),
        Item::Use(import) => import.to_string(),
        _ => return tokens,
    };
    let label = text.rsplit([' ', ':', ';']).find(|word| !word.is_empty()).unwrap_or_default();
    let lines = judged.findings.verdict.declared.get(label);
    let lines = lines.and_then(|lines| syn::parse_str::<Ident>(&snake(lines)).ok());
    let Some(mut lines) = lines else { return tokens };
    // At the place of the item, rustc would name only the derive that fails.
    lines.set_span(Span::call_site().located_at(judged.module.name.span()));
    let call = at(&quote!(#lines! {}), lines.span());
    quote!(macro_rules! #lines { () => { #tokens } } #call)
}

fn item(item: &Item, scope: &Scope<'_>) -> TokenStream {
    let mut messages = scope.items().filter_map(|item| item.role()?.message.as_ref());
    match item {
        Item::Broken { name, kind, .. } => broken(name.as_ref(), *kind, scope),
        Item::Label(label) if messages.any(|name| *name == label.name) => {
            // It lacks the derive, which is an error already.
            let (krate, tokens, name) = (scope.krate, &label.tokens, &label.name);
            quote!(#tokens #krate::private::stub!(message #name);)
        }
        Item::Label(label) => label.tokens.clone(),
        Item::Message(message) => message::expand(message, scope),
        Item::Other(tokens) | Item::Use(tokens) => tokens.clone(),
        Item::Role(role) => role::expand(role, scope),
        Item::Session(it) if scope.judged.findings.left_out.contains(&it.name.to_string()) => {
            session::nothing(&it.name)
        }
        Item::Session(session) => session::expand(session, scope),
        Item::Set(set) => set::expand(set, scope),
    }
}

/// The stub of an item that could not be parsed.
fn broken(name: Option<&Ident>, kind: ItemKind, scope: &Scope<'_>) -> TokenStream {
    let (krate, Some(name)) = (scope.krate, name) else { return TokenStream::new() };
    match kind {
        ItemKind::Message => quote!(pub enum #name {} #krate::private::stub!(message #name);),
        ItemKind::Role => {
            let stub = role::stub(name, None, scope);
            quote!(pub struct #name; #stub)
        }
        ItemKind::Session | ItemKind::Set => session::nothing(name),
        ItemKind::Label | ItemKind::Other => TokenStream::new(),
    }
}
