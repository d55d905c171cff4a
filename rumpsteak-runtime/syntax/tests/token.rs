//! The build script and the macro must number and hash the tokens of an item alike.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use rumpsteak_syntax::token::{Flat, TokenKind, hash};
use rumpsteak_syntax::{Result, RoleItem, SessionItem};

/// The same item as the build script finds it: parsed out of a file, its own attribute taken off.
fn from_file(source: &str) -> Result<SessionItem> {
    let mut item = syn::parse_file(source)
        .unwrap_or_else(|error| panic!("{error}"))
        .items
        .remove(0);
    let attributes = match &mut item {
        syn::Item::Type(item) => &mut item.attrs,
        syn::Item::Struct(item) => &mut item.attrs,
        syn::Item::Enum(item) => &mut item.attrs,
        _ => panic!("no session item"),
    };
    let Some(position) = attributes
        .iter()
        .position(|attribute| attribute.path().is_ident("session"))
    else {
        panic!("no session item");
    };
    let arguments = match attributes.remove(position).meta {
        syn::Meta::List(list) => list.tokens,
        _ => TokenStream::new(),
    };
    SessionItem::parse(arguments, quote!(#item))
}

#[track_caller]
fn assert_same(file: &SessionItem, attribute: &SessionItem) {
    assert_eq!(file.hash(), attribute.hash());
    assert_eq!(file.tokens.len(), attribute.tokens.len());
    assert_eq!(file.name_token, attribute.name_token);
}

#[test]
fn a_file_and_a_macro_give_the_same_tokens() {
    assert_same(
        &from_file(
            "/// What it does.\n#[session(K)]\n#[allow(dead_code)]\npub(crate) type Kernel =\n    Send<S,Ready , KernelLoop>; // why",
        ).unwrap(),
        &SessionItem::parse(
            quote!(K),
            quote!(
                pub(crate) type Kernel = Send<S, Ready, KernelLoop>;
            ),
        )
        .unwrap(),
    );
    assert_same(
        &from_file("#[session] struct L(Send<S, Ready, Receive<S, Value, Self>>);").unwrap(),
        &SessionItem::parse(
            quote!(),
            quote!(
                struct L(Send<S, Ready, Receive<S, Value, Self>>);
            ),
        )
        .unwrap(),
    );
    assert_same(
        &from_file("#[session] enum C { /// One.\n A(A, End), B(B, End), }").unwrap(),
        &SessionItem::parse(
            quote!(),
            quote!(
                enum C {
                    #[doc = " One."]
                    A(A, End),
                    B(B, End),
                }
            ),
        )
        .unwrap(),
    );
}

#[test]
fn invisible_groups_count_for_nothing() {
    let session: TokenStream = "Send<S, L, End>".parse().unwrap();
    let hidden = TokenTree::Group(Group::new(Delimiter::None, session.clone()));
    let plain = SessionItem::parse(quote!(K), quote!(type A = #session;)).unwrap();
    let through_macro_rules = SessionItem::parse(quote!(K), quote!(type A = #hidden;)).unwrap();
    assert_same(&plain, &through_macro_rules);
}

#[test]
fn any_difference_in_the_tokens_changes_the_hash() {
    let of = |arguments: &str, item: &str| {
        SessionItem::parse(arguments.parse().unwrap(), item.parse().unwrap())
            .unwrap()
            .hash()
    };
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
fn the_hash_is_the_same_on_every_machine() {
    // FNV-1a as in its definition, over `i` `a` 0xff.
    let flat = Flat::new(quote!(a), &[]);
    let expected = [b'i', b'a', 0xff]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    assert_eq!(hash(&flat.tokens), expected);
}

#[test]
fn groups_become_two_tokens_and_dropped_attributes_none() {
    let flat = Flat::new(
        "#[a] struct S { #[keep(x)] f: (u8, Vec<Vec<u8>>) }"
            .parse()
            .unwrap(),
        &["keep"],
    );
    let text: Vec<String> = flat
        .tokens
        .iter()
        .map(|token| match &token.kind {
            TokenKind::Close(delimiter) => format!("close {delimiter:?}"),
            TokenKind::Ident(ident) => ident.to_string(),
            TokenKind::Literal(literal) => literal.clone(),
            TokenKind::Open(delimiter) => format!("open {delimiter:?}"),
            TokenKind::Punct(punct, _) => punct.to_string(),
        })
        .collect();
    assert_eq!(
        text.join(" "),
        "struct S open Brace # open Bracket keep open Parenthesis x close Parenthesis close Bracket f : open \
         Parenthesis u8 , Vec < Vec < u8 > > close Parenthesis close Brace"
    );
    assert_eq!(flat.dropped.len(), 1);
    assert_eq!(
        (flat.dropped[0].before, flat.dropped[0].name.as_str()),
        (0, "a")
    );
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
    assert_eq!(file.hash(), RoleItem::parse(derive).unwrap().hash());
    assert_ne!(file.hash(), RoleItem::parse(other).unwrap().hash());
}
