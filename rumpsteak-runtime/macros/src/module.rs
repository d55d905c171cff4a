//! A module and its items.
//!
//! ```text
//! #[protocol(Ping)] mod ping { use super::Frame; struct Ping(Frame); … }
//!
//!     mod ping {
//!         use super::Frame;
//!         pub struct Ping(pub Frame);
//!         pub struct C { pub s: Channel<Label> }        generated, as other items that it lacks
//!         impl Role for C { … }
//!         compile_error!("…");                          what is wrong, if anything is
//!         const _: &[u8] = include_bytes!("ping.scr");  rustc expands again when it changes
//!     }
//!     compile_error!("…");
//! ```
//!
//! If names are missing for an error, the error is raised twice, and rustc prints it once. In the
//! module, rustc keeps quiet about names that the module lacks; beside it, about names that are
//! imported from there by `*`.
//!
//! In place of an item with an error there is a stand-in, so that one mistake is one error.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use rumpsteak_build::expansion::{Judged, RoleFacts, RootFacts, judge, runtime_crate};
use rumpsteak_front::module::{BrokenItem, Item, ItemKind};
use rumpsteak_front::{LabelItem, Module, ModuleKind};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Error, Result, Token, Visibility};

use crate::{message, payload, role, session, set};

pub(crate) fn expand(kind: ModuleKind, arguments: TokenStream, item: TokenStream) -> TokenStream {
    match Module::parse(kind, arguments, item.clone()) {
        Ok(module) => judged(&judge(module)),
        Err(error) => unreadable(&error.into_compile_error(), item),
    }
}

/// An empty module in place of one that cannot be read.
fn unreadable(error: &TokenStream, item: TokenStream) -> TokenStream {
    let head = |input: ParseStream<'_>| -> Result<(Visibility, Ident)> {
        Attribute::parse_outer(input)?;
        let visibility = input.parse()?;
        input.parse::<Token![mod]>()?;
        let name = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok((visibility, name))
    };
    let module =
        head.parse2(item).map(|(visibility, name)| quote!(#visibility mod #name { #error }));
    let module = module.unwrap_or_default();
    quote!(#module #error)
}

fn judged(judged: &Judged) -> TokenStream {
    let Judged { module, problems, verdict, files, .. } = judged;
    let Module { attributes, visibility, name, errors, .. } = module;
    let krate = match &module.arguments.krate {
        Some(path) => path.to_token_stream(),
        None => format!("::{}", runtime_crate()).parse().unwrap_or_default(),
    };
    let scope = Scope::new(judged, &krate);
    let code = items(judged).map(|item| scope.item(item));
    let problems = problems.iter().map(|problem| Error::new(problem.span, &problem.text));
    let errors = errors.iter().cloned().chain(problems);
    let errors: TokenStream = errors.map(Error::into_compile_error).collect();
    let is_whole = module.errors.is_empty() && judged.left_out.is_empty();
    let beside = (!is_whole || judged.generated.is_empty()).then_some(&errors);
    let payloads = verdict.payloads.iter().filter_map(|check| {
        let label = items(judged).filter_map(label).find(|label| label.name == check.label)?;
        payload::check(check, label, &krate)
    });
    let files = files.iter().map(|file| file.to_string_lossy().into_owned());
    quote! {
        #(#attributes)*
        #[allow(dead_code, private_interfaces, unreachable_pub, reason = "a program may play some of the roles only, with payloads of its own")]
        #[allow(missing_debug_implementations, reason = "the derives are for messages")]
        #visibility mod #name {
            #[allow(unused_imports, reason = "a route may be any type")]
            use #krate::private::scope::*;

            #(#code)*
            #(#payloads)*
            #errors
            #(const _: &[u8] = ::core::include_bytes!(#files);)*
        }
        #beside
    }
}

/// What the code of an item depends on, beside the item.
pub(crate) struct Scope<'a> {
    judged: &'a Judged,
    /// The path of the runtime's crate.
    pub(crate) krate: &'a TokenStream,
    /// The items that have a name.
    kinds: BTreeMap<String, ItemKind>,
    /// A number for all sessions of the module.
    sessions: u64,
}

impl<'a> Scope<'a> {
    fn new(judged: &'a Judged, krate: &'a TokenStream) -> Self {
        let kinds = items(judged).filter_map(named);
        let kinds = kinds.map(|(name, kind)| (name.to_string(), kind));
        let sessions = items(judged).filter_map(|item| match item {
            Item::Session(session) => Some(session),
            _ => None,
        });
        Self {
            judged,
            krate,
            kinds: kinds.collect(),
            sessions: session::number(&judged.module.name, sessions),
        }
    }

    /// The facts about a role.
    pub(crate) fn role(&self, name: &Ident) -> Option<&RoleFacts> {
        self.judged.verdict.roles.get(&name.to_string())
    }

    /// The facts about the session of a role.
    pub(crate) fn root(&self, name: &Ident) -> Option<&RootFacts> {
        self.judged.verdict.roots.get(&name.to_string())
    }

    /// True if nothing is wrong with the module.
    pub(crate) fn is_whole(&self) -> bool {
        self.judged.problems.is_empty() && self.judged.module.errors.is_empty()
    }

    /// True if a role has this name, also if it has an error.
    pub(crate) fn is_role(&self, name: &Ident) -> bool {
        self.kinds.get(&name.to_string()) == Some(&ItemKind::Role)
    }

    /// A number for a session item and all that it may go on as.
    pub(crate) fn number(&self, name: &Ident) -> u64 {
        rumpsteak_front::hash::number(&[&self.sessions.to_string(), &name.to_string()])
    }

    /// A name for a generic parameter that no item of the module has: the proposed one, if
    /// possible.
    pub(crate) fn parameter(&self, proposed: &str) -> Ident {
        let mut name = proposed.to_owned();
        while self.kinds.contains_key(&name) {
            name.push('_');
        }
        format_ident!("{name}")
    }

    /// The message type of a role that names none: the only one of the module.
    pub(crate) fn message(&self) -> Option<&Ident> {
        let mut named = items(self.judged).filter_map(named);
        named.find_map(|(name, kind)| (kind == ItemKind::Message).then_some(name))
    }

    fn item(&self, item: &Item) -> TokenStream {
        match item {
            Item::Broken(broken) => self.broken(broken),
            Item::Label(label) => label.tokens.clone(),
            Item::Message(message) => message::expand(message, self.krate),
            Item::Other(tokens) | Item::Use(tokens) => tokens.clone(),
            Item::Role(role) => role::expand(role, self),
            Item::Session(session) if self.judged.left_out.contains(&session.name.to_string()) => {
                session::nothing(&session.name)
            }
            Item::Session(session) => session::expand(session, self),
            Item::Set(set) => set::expand(set, self),
        }
    }

    /// What stands in for an item that could not be read.
    fn broken(&self, BrokenItem { name, kind }: &BrokenItem) -> TokenStream {
        let (krate, Some(name)) = (self.krate, name) else { return TokenStream::new() };
        match kind {
            ItemKind::Message => {
                quote!(pub enum #name {} #krate::private::stub!(message #name);)
            }
            ItemKind::Role => {
                let stub = role::stub(name, None, self);
                quote!(pub struct #name; #stub)
            }
            ItemKind::Session | ItemKind::Set => session::nothing(name),
            ItemKind::Label | ItemKind::Other => TokenStream::new(),
        }
    }
}

/// All items, those that the module does not write at last.
fn items(judged: &Judged) -> impl Iterator<Item = &Item> {
    judged.module.items.iter().chain(&judged.generated)
}

/// The struct of a label, which may be the message type itself.
fn label(item: &Item) -> Option<&LabelItem> {
    match item {
        Item::Label(label) => Some(label),
        Item::Message(message) => message.label.as_ref(),
        _ => None,
    }
}

/// The name of an item, and what it is.
fn named(item: &Item) -> Option<(&Ident, ItemKind)> {
    Some(match item {
        Item::Broken(broken) => (broken.name.as_ref()?, broken.kind),
        Item::Label(label) => (&label.name, ItemKind::Label),
        Item::Message(message) => (&message.name, ItemKind::Message),
        Item::Other(_) | Item::Use(_) => return None,
        Item::Role(role) => (&role.name, ItemKind::Role),
        Item::Session(session) => (&session.name, ItemKind::Session),
        Item::Set(set) => (&set.name, ItemKind::Set),
    })
}
