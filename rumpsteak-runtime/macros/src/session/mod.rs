//! Expansion of sessions.
//!
//! A session is written without its lifetime `'s` and its role `R`, which the expansion inserts.
//! The words `Send`, `Receive`, `Select`, `Branch`, `Race` and `End` become the states of the
//! runtime.
//!
//! ```text
//! #[session(K)] type Kernel = Send<S, Ready, KernelLoop>;
//!
//!     pub type Kernel<'s, R = K> = states::Send<'s, R, S, Ready, KernelLoop<'s, R>>;
//!     impl<'s> Plays<Kernel<'s, K>> for K {}                     the proof for try_run
//!
//! struct KernelLoop(Send<S, Ready, Self>);
//!
//!     pub struct KernelLoop<'s, R: Role>(Send<'s, R, S, Ready, KernelLoop<'s, R>>);
//!     impl Session for KernelLoop
//!     impl Structure for KernelLoop                              its number in fingerprints
//!     impl KernelLoop { into_session, send, send_or_return }
//!
//! enum Choice { Go(Go, Branch<A, Self>), Stop(Stop, End) }
//!
//!     pub enum Choice<'s, R: Role> { Go(Go, Branch<'s, R, A, Choice<'s, R>>), Stop(Stop, End<'s, R>) }
//!     impl Choice, Offers<Go>, Offers<Stop>, Structure for Choice
//! ```
//!
//! A long chain is cut into structs ([`parts`]).
//!
//! A refused session expands too, with a proof that is marked as failed: this avoids errors
//! elsewhere, and nothing runs, because the crate does not compile.

mod choice;
mod expansion;
mod parts;
mod structure;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rumpsteak_front::SessionItem;
use rumpsteak_front::module::Item;
use rumpsteak_front::session::{Form, Tail};

use self::expansion::Expansion;
use self::parts::Parts;
use crate::scope::Scope;

pub(crate) fn expand(item: &SessionItem, scope: &Scope<'_>) -> TokenStream {
    let expansion = Expansion::new(item, scope);
    let session = match &item.form {
        Form::Alias(chain) => expansion.alias(&expansion.parts(chain)),
        Form::Choice(variants, rest) => expansion.choice(variants, rest.as_ref()),
        Form::Struct(chain) => expansion.structure(&expansion.parts(chain)),
    };
    let role = item.role.as_ref().filter(|role| scope.is_role(role) && is_first(item, scope));
    let root = role.map(|role| expansion.root(role));
    quote!(#session #root)
}

/// The name that a generated session has, for the only session of a role, even one with a mistake:
/// so a process keeps its signature when its session is written by hand.
pub(crate) fn generated_name(item: &Item, scope: &Scope<'_>) -> Option<TokenStream> {
    let ((own, _), role) = (item.named()?, item.player()?);
    let (name, any) = (format_ident!("{role}Session", span = own.span()), scope.parameter("R"));
    let is_only = scope.items().filter(|other| other.player() == Some(role)).count() == 1;
    (scope.is_role(role) && is_only && !scope.kinds.contains_key(&name.to_string())).then(|| {
        quote! {
            pub type #name<'s, #any = #role> = #own<'s, #any>;
        }
    })
}

/// Returns false if an earlier session of the role is the same type under another name: a type has
/// one proof.
fn is_first(item: &SessionItem, scope: &Scope<'_>) -> bool {
    let mut sessions = scope.sessions().take_while(|earlier| earlier.name != item.name);
    let own = denoted(item, scope);
    !sessions.any(|earlier| earlier.role == item.role && denoted(earlier, scope) == own)
}

/// The type that an item stands for, as text with aliases expanded.
fn denoted(item: &SessionItem, scope: &Scope<'_>) -> String {
    let (mut text, mut item) = (String::new(), item);
    // The limit is for an alias of itself, which is an error.
    for _ in scope.sessions() {
        match &item.form {
            Form::Alias(chain) if Parts::is_short(chain) => {
                let Tail::Named(name) = &chain.tail else { return text + &chain.to_string() };
                let written = chain.to_string();
                text.push_str(written.strip_suffix(&name.to_string()).unwrap_or(&written));
                match scope.sessions().find(|session| session.name == *name) {
                    Some(next) => item = next,
                    None => return text + &name.to_string(),
                }
            }
            _ => return text + &item.name.to_string(),
        }
    }
    text
}

/// A type alias that does not resolve. Beside another error, rustc reports neither it nor its uses.
pub(crate) fn nothing(name: &Ident) -> TokenStream {
    quote! {
        #[allow(non_camel_case_types, reason = "whatever it is, there is an error about it")]
        pub type #name<'s, R = ()> = NoSession<'s, R>;
    }
}
