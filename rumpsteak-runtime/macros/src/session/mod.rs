//! `#[session]`.
//!
//! A session item is written without the lifetime `'s` of the session and without its role `R`. The
//! expansion inserts both, and seals the item to its verdict. The bare words `Send`, `Receive`,
//! `Select`, `Branch` and `End` are those of the runtime, imported or not.
//!
//! ```text
//! #[session(K)] type Kernel = Send<S, Ready, KernelLoop>;
//!
//!     type Kernel<'s, R = K> = states::Send<'s, R, S, Ready, KernelLoop<'s, R>>;
//!     impl<'s> Plays<Kernel<'s, K>> for K {}                     the proof for try_session
//!     const _: () = assert!(fingerprint of Kernel<'static, K> == fingerprint of what was verified);
//!
//! #[session] struct KernelLoop(Send<S, Ready, Self>);
//!
//!     struct KernelLoop<'s, R: Role>(Send<'s, R, S, Ready, KernelLoop<'s, R>>);
//!     impl Session for KernelLoop                                asserts its body when it is entered
//!     impl Structure for KernelLoop                              its identity in other fingerprints
//!     impl KernelLoop { into_session, send, send_or_return }
//!
//! #[session] enum Choice { Go(Go, Branch<A, Self>), Stop(Stop, End) }
//!
//!     enum Choice<'s, R: Role> { Go(Go, Branch<'s, R, A, Choice<'s, R>>), Stop(Stop, End<'s, R>) }
//!     impl Choice, Offers<Go>, Offers<Stop>, Structure for Choice
//! ```
//!
//! A chain of many actions goes on in structs of its own ([`parts`]).
//!
//! An item whose verification failed expands all the same, proof included where rustc allows one,
//! beside the `compile_error!`s: types that exist cause no errors elsewhere, and nothing runs,
//! because the crate does not compile.

mod choice;
mod expansion;
mod fingerprint;
mod parts;
mod root;
mod structure;

use proc_macro2::TokenStream;
use quote::quote;
use rumpsteak_contract::SessionItem;
use rumpsteak_contract::session::Form;
use syn::Error;

use self::expansion::Expansion;

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = match SessionItem::parse(arguments.clone(), item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => return Error::into_compile_error(error),
    };
    let source = [arguments, item].into_iter().collect();
    let expansion = Expansion::new(&parsed, source);
    let problems = &expansion.verdict.problems;
    if let Some(is_named) = expansion.verdict.left_out {
        let SessionItem { name, visibility, .. } = &parsed;
        // Beside an error, rustc says nothing of a name that is nowhere, nor of what it is used
        // for, since it has no type.
        let item = is_named.then(|| quote!(#visibility type #name<'s, R = ()> = NoSession<'s, R>;));
        return quote!(#item #problems);
    }
    let item = match &parsed.form {
        Form::Alias(chain) => expansion.alias(&expansion.parts(chain)),
        Form::Choice(variants) => expansion.choice(variants),
        Form::Struct(chain) => expansion.structure(&expansion.parts(chain)),
    };
    let root = parsed.role.as_ref().map(|role| expansion.root(role));
    quote!(#item #root #problems)
}
