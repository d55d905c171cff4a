//! The build script and the macro must number and hash the tokens of an item alike.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use rumpsteak_contract::{RoleItem, SessionItem};

/// The item as a macro sees it.
fn from_macro(arguments: TokenStream, item: TokenStream) -> SessionItem {
    SessionItem::parse(arguments, item).unwrap_or_else(|error| panic!("{error}"))
}

/// The item as the build script reads it.
fn from_file(arguments: &str, item: &str) -> SessionItem {
    let tokens = |text: &str| {
        let tokens = text.parse();
        tokens.unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    from_macro(tokens(arguments), tokens(item))
}

#[track_caller]
fn assert_same(file: &SessionItem, attribute: &SessionItem) {
    assert_eq!(file.key.hash(), attribute.key.hash());
    assert_eq!(file.name_token, attribute.name_token);
}

#[test]
fn a_file_and_a_macro_give_the_same_tokens() {
    assert_same(
        &from_file(
            "K",
            "/// What it does.\n#[allow(dead_code)]\npub(crate) type Kernel =\n    Send<S,Ready , KernelLoop>; // why",
        ),
        &from_macro(
            quote!(K),
            quote!(
                #[doc = " What it does."]
                #[allow(dead_code)]
                pub(crate) type Kernel = Send<S, Ready, KernelLoop>;
            ),
        ),
    );
    assert_same(
        &from_file("", "struct L(Send<S, Ready, Receive<S, Value, Self>>);"),
        &from_macro(
            quote!(),
            quote!(
                struct L(Send<S, Ready, Receive<S, Value, Self>>);
            ),
        ),
    );
    assert_same(
        &from_file("", "enum C { /// One.\n A(A, End), B(B, End), }"),
        &from_macro(
            quote!(),
            quote!(
                enum C {
                    #[doc = " One."]
                    A(A, End),
                    B(B, End),
                }
            ),
        ),
    );
}

#[test]
fn invisible_groups_count_for_nothing() {
    let session: TokenStream = "Send<S, L, End>".parse().unwrap();
    let hidden = TokenTree::Group(Group::new(Delimiter::None, session.clone()));
    let plain = from_macro(quote!(K), quote!(type A = #session;));
    let through_macro_rules = from_macro(quote!(K), quote!(type A = #hidden;));
    assert_same(&plain, &through_macro_rules);
}

#[test]
fn any_difference_in_the_tokens_changes_the_hash() {
    let of = |arguments: &str, item: &str| from_file(arguments, item).key.hash();
    let base = of("K", "type A = Send<S, L, End>;");
    for (arguments, item) in [
        ("", "type A = Send<S, L, End>;"),
        ("T", "type A = Send<S, L, End>;"),
        ("K", "type B = Send<S, L, End>;"),
        ("K", "type A = Receive<S, L, End>;"),
        ("K", "type A = Send<T, L, End>;"),
        ("K", "type A = Send<S, M, End>;"),
        ("K", "type A = Send<S, L, Send<S, L, End>>;"),
        ("K", "pub type A = Send<S, L, End>;"),
        ("K", "struct A(Send<S, L, End>);"),
    ] {
        assert_ne!(of(arguments, item), base, "{item}");
    }
}

#[test]
fn a_role_has_the_same_key_in_a_file_and_in_its_derive() {
    let file = "/// Doc.\n#[derive(Role, Debug)] #[protocol(P::k)] #[message(Label)] pub struct K { /// Doc.\n#[route(S)] s: Channel, }";
    let derive = quote!(
        #[protocol(P::k)]
        #[message(Label)]
        pub struct K {
            #[doc = " Doc."]
            #[route(S)]
            s: Channel,
        }
    );
    let other = quote!(
        #[protocol(P::k)]
        #[message(Label)]
        pub struct K {
            #[route(T)]
            s: Channel,
        }
    );
    let file = RoleItem::parse(file.parse().unwrap()).unwrap();
    let [derive, other] = [derive, other].map(|input| RoleItem::parse(input).unwrap());
    assert_eq!(file.key.hash(), derive.key.hash());
    assert_ne!(file.key.hash(), other.key.hash());
}
