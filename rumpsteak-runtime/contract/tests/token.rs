//! The build script and the macro must number and hash the tokens of an item alike.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use rumpsteak_contract::lex::lex;
use rumpsteak_contract::token::{
    Flat, Token, TokenKind, content, hash, tree_len, trees, type_text,
};
use rumpsteak_contract::{Input, RoleItem, SessionItem};

/// The item as a macro sees it.
fn from_macro(arguments: TokenStream, item: TokenStream) -> SessionItem {
    let [arguments, item] = [arguments, item].map(Input::new);
    SessionItem::parse(&arguments.tokens(), &item.tokens())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The item as the build script reads it.
fn from_file(arguments: &str, item: &str) -> SessionItem {
    let [arguments, item] = [arguments, item].map(|text| lex(text).unwrap_or_default());
    SessionItem::parse(&arguments, &item).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn assert_same(file: &SessionItem, attribute: &SessionItem) {
    assert_eq!(file.hash(), attribute.hash());
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

/// Each token in one line, as both sides see it.
fn show(tokens: &[Token<'_>]) -> Vec<String> {
    let show = |token: &Token<'_>| match token.kind {
        TokenKind::Punct(punct, _) => format!("punct {punct}"),
        other => format!("{other:?}"),
    };
    Flat::new(tokens, &["route"])
        .tokens
        .iter()
        .map(show)
        .collect()
}

#[test]
fn a_text_has_the_tokens_that_proc_macro2_reads() {
    for text in [
        "a r#type r br b c cr _ _a a1 é r#é",
        "1 1u8 1_000 0xff_u8 0b1e 0o7 1.0 1. 1.5f32 1e5 1e+5 1E-5_f64 1e 1..2 1.max(2) t.0.1 0x1e+5 1.0e_3",
        r##"'a' '\'' '\\' '\u{1F600}' '"' b'x' b'\'' 'é' '_' "s" "\"" "\\" "/* \n // é" b"\"" c"x" "s"suffix"##,
        r###"r"a\" r#"a"b"# r##"a"#b"## br"x" br#"""# cr#"x"# r#""#"###,
        "&'a &'static mut 'b: loop {} for<'a> fn(&'a T) -> 'static 'a",
        "a::b a : : b a<<b a>>=b -> => .. ... ..= && || #![x] #[a(b)] $x ? ~ @ ^ %",
        "a /* b /* c */ d */ e // f\n g /**/ h /***/ i //",
        "/// doc\n/** doc */ struct A; /*** none */ //// none",
        "{ [ ( ) ] } () [] {} ({}[])",
        "\u{feff}".trim_start_matches('\u{feff}'),
        " \t\r\n a \u{85} \u{2028} b \u{c}",
        "größe 変数 a_é क्ष",
        "macro_rules! m { ($($x:expr),* $(,)?) => { $($x)+* }; }",
        "async move |x: &'_ [u8; 4]| -> Vec<Option<u8>> { x[0] as u32 & !1 }",
    ] {
        let stream: TokenStream = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let input = Input::new(stream);
        let tokens = lex(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(show(&tokens), show(&input.tokens()), "{text}");
        for token in &tokens {
            let (TokenKind::Ident(word) | TokenKind::Literal(word)) = token.kind else {
                continue;
            };
            assert_eq!(&text[token.span.start..token.span.end], word);
        }
    }
}

#[test]
fn what_is_no_rust_has_no_tokens() {
    for text in [
        "(", ")", "(]", "{ ( }", "\"", "\"a\\\"", "r#\"a\"", "'", "'\\", "' a", "/*", "/* /* */",
        "/*/", "\\", "`", "a → b", "\u{1}", "b'", "b\"", "b'\\",
    ] {
        assert!(text.parse::<TokenStream>().is_err(), "{text}");
        assert!(lex(text).is_none(), "{text}");
    }
}

#[test]
fn half_a_text_is_no_panic() {
    let whole = r##"fn é<'a>(x: &'a str) -> u8 { /* é */ r#"é"#; 'é'; '\u{e9}'; "é\""; b'\''; 1.0e-5_f32; x.0.1 } // é"##;
    for (start, _) in whole.char_indices() {
        for (end, _) in whole[start..].char_indices() {
            let part = &whole[start..start + end];
            // Whether it is Rust does not matter here, but places within it do.
            for token in lex(part).unwrap_or_default() {
                assert!(part.get(token.span.start..token.span.end).is_some());
            }
        }
    }
}

#[test]
fn trees_are_tokens_and_groups() {
    let tokens = lex("a (b {c}) [] ; d").unwrap_or_default();
    let lengths: Vec<usize> = trees(&tokens).map(<[_]>::len).collect();
    assert_eq!(lengths, [1, 6, 2, 1, 1]);
    assert_eq!(content(&tokens[1..7]).len(), 4);
    // A piece without its end is what is there of it.
    let lengths: Vec<usize> = trees(&tokens[..4]).map(<[_]>::len).collect();
    assert_eq!(lengths, [1, 3]);
    assert_eq!((tree_len(&[]), content(&[]).len()), (0, 0));
}

#[test]
fn types_as_text() {
    let text = |source: &str| type_text(&lex(source).unwrap_or_default());
    assert_eq!(text("std :: vec::Vec< u8 >"), "Vec<u8>");
    assert_eq!(
        text("::std::collections::HashMap<a::B, (c::D, [u8; 4])>"),
        "HashMap<B,(D,[u8;4])>"
    );
    assert_eq!(text("Box<dyn Fn(i32) -> i32>"), "Box<dyn Fn(i32)->i32>");
    assert_eq!(text("Box<dyn std::fmt::Debug>"), "Box<dyn Debug>");
    assert_eq!(text("&'static str"), "&'static str");
    assert_eq!(text("()"), "()");
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
    let of = |arguments: &str, item: &str| from_file(arguments, item).hash();
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
    let flat = Flat::new(&lex("a").unwrap_or_default(), &[]);
    let expected = [b'i', b'a', 0xff]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    assert_eq!(hash(&flat.tokens), expected);
}

#[test]
fn groups_become_two_tokens_and_dropped_attributes_none() {
    let tokens = lex("#[a] struct S { #[keep(x)] f: (u8, Vec<Vec<u8>>) }").unwrap_or_default();
    let flat = Flat::new(&tokens, &["keep"]);
    let text: Vec<String> = flat
        .tokens
        .iter()
        .map(|token| match &token.kind {
            TokenKind::Close(delimiter) => format!("close {delimiter:?}"),
            TokenKind::Ident(ident) => ident.to_string(),
            TokenKind::Literal(literal) => literal.to_string(),
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
    assert_eq!((flat.dropped[0].before, flat.dropped[0].name), (0, "a"));
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
    let file = RoleItem::parse(&lex(file).unwrap_or_default()).unwrap();
    let [derive, other] = [derive, other]
        .map(Input::new)
        .map(|input| RoleItem::parse(&input.tokens()).unwrap());
    assert_eq!(file.hash(), derive.hash());
    assert_ne!(file.hash(), other.hash());
}
