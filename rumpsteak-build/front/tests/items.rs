//! Roles, messages, sets and labels: what is accepted, where it points, and how it is refused.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use rumpsteak_front::role::{Link, Room};
use rumpsteak_front::{LabelItem, MessageItem, RoleItem, SetItem, name};
use syn::Result;

fn tokens(source: &str) -> TokenStream {
    source.parse().unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn at(source: &str, span: Span) -> &str {
    &source[span.byte_range()]
}

fn accept<T>(parse: fn(TokenStream) -> Result<T>, source: &str) -> T {
    parse(tokens(source)).unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn refuse<T>(parse: fn(TokenStream) -> Result<T>, source: &str) -> String {
    let Err(error) = parse(tokens(source)) else { panic!("`{source}` was accepted") };
    format!("{}: {error}", at(source, error.span()))
}

/// Tokens as a text without blanks, but between words.
fn text(tokens: impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    text.replace(" (", "(").replace(" ,", ",").replace(" ;", ";").replace("# [", "#[")
}

fn texts<T: ToTokens>(list: &[T]) -> Vec<String> {
    list.iter().map(text).collect()
}

#[test]
fn a_role_with_named_fields() {
    let source = "/// Words.\n#[derive(Debug, Role)] #[protocol(DoubleBuffering::k)] #[message(Label)] \
                  struct K { #[route(S)] s: Channel<Label>, #[doc = \"\"] #[route(T)] pub(super) t: net::Net<(u8, u8)> }";
    let role = accept(RoleItem::parse, source);
    let link = role.link.unwrap();
    assert_eq!((&*link.protocol.unwrap().to_string(), &*link.role), ("DoubleBuffering", "k"));
    assert_eq!(at(source, link.span), "k");
    assert_eq!(role.message.unwrap(), "Label");
    assert_eq!(texts(&role.attributes), ["#[doc = \" Words.\"]", "#[derive(Debug)]"]);
    assert_eq!(text(&role.visibility), "pub");
    let routes = role.routes.iter();
    let routes: Vec<_> = routes
        .map(|it| {
            let field = &it.field;
            format!("{} {} {}: {}", it.peer, text(&field.vis), text(&it.member), text(&field.ty))
        })
        .collect();
    assert_eq!(routes, ["S pub s: Channel < Label >", "T pub(super) t: net :: Net <(u8, u8) >"]);
    assert_eq!(texts(&role.routes[1].field.attrs), ["#[doc = \"\"]"]);
}

#[test]
fn the_papers_tuple_struct() {
    let role = accept(
        RoleItem::parse,
        "#[derive(rumpsteak::Role)] #[message(Label)] struct K(#[route(S)] Channel, #[route(T)] pub Channel);",
    );
    assert!(role.link.is_none() && role.attributes.is_empty());
    assert_eq!(role.routes.iter().map(|route| text(&route.member)).collect::<String>(), "01");
    let source =
        "struct K(#[route(S, capacity = 4,)] C, #[route(T, unbounded)] C, #[route(U,)] C);";
    let rooms = accept(RoleItem::parse, source).routes.into_iter().map(|route| match route.room {
        Some(Room::Capacity(most, span)) => format!("{most} {}", at(source, span)),
        Some(Room::Unbounded) => "unbounded".to_owned(),
        None => String::new(),
    });
    assert_eq!(rooms.collect::<Vec<_>>(), ["4 4", "unbounded", ""]);
    let role = accept(RoleItem::parse, "#[derive(Role)] struct K;");
    assert!(role.routes.is_empty() && role.message.is_none());
}

#[test]
fn the_role_is_named_by_link_attribute_or_struct() {
    let named = |source| {
        let Link { protocol, role, span } = accept(RoleItem::parse, source).link.unwrap();
        format!(
            "{} {role} {}",
            protocol.map_or("-".to_owned(), |it| it.to_string()),
            at(source, span)
        )
    };
    assert_eq!(named("#[protocol(P::k)] struct Kernel;"), "P k k");
    assert_eq!(named("#[protocol(P)] #[role(\"k\")] struct Kernel;"), "P k \"k\"");
    assert_eq!(named("#[role(\"k\")] struct Kernel;"), "- k \"k\"");
    assert_eq!(named("#[protocol(P)] struct Kernel;"), "P Kernel P");
    assert_eq!(named("#[protocol(P::r#type)] struct T;"), "P type r#type");
}

#[test]
fn refused_roles() {
    let link = "expected the protocol and the role in it: `#[protocol(DoubleBuffering::k)]`";
    let route = "expected the role at the other end: `#[route(S)]`";
    let room =
        "expected nothing more in this attribute, or after a comma `capacity = 4` or `unbounded`";
    let capacity =
        "expected the number of messages that a queue has room for, at least 1: `capacity = 4`";
    let other =
        format!("{route}. Each field of a role is a route; keep other data beside the role");
    let parameters = "a role has no parameters: it is one participant of one protocol";
    for (source, expected) in [
        ("#[protocol(a::b::c)] struct K;", format!("c: {link}")),
        ("#[protocol(::a)] struct K;", format!(":: {link}")),
        ("#[protocol(P.k)] struct K;", format!(".: {link}")),
        ("#[protocol()] struct K;", format!("): {link}")),
        (
            "#[protocol(P::k)] #[role(\"k\")] struct K;",
            "k: the role is named twice: here and in `#[role(…)]`".to_owned(),
        ),
        (
            "#[protocol(P::k)] #[protocol(P::k)] struct K;",
            "protocol: `#[protocol(…)]` stands here twice".to_owned(),
        ),
        (
            "#[protocol] struct K;",
            "protocol: `protocol` takes an argument: `#[protocol(…)]`".to_owned(),
        ),
        (
            "#[role(k)] struct K;",
            "k: expected the role's name in quotes: `#[role(\"k\")]`".to_owned(),
        ),
        ("#[protocol(P::k)] enum K {}", "K: a role is a struct".to_owned()),
        ("#[route(S)] struct K;", "route: `#[route(…)]` stands on a field".to_owned()),
        ("struct K { #[message(M)] s: C }", "message: `#[message(…)]` stands on the struct".to_owned()),
        ("struct K { #[route(S, T)] s: C }", format!("T: {room}")),
        ("struct K { #[route(S, capacity)] s: C }", format!("): {capacity}")),
        ("struct K { #[route(S, capacity = 0)] s: C }", format!("0: {capacity}")),
        ("struct K { #[route(S, capacity = many)] s: C }", format!("many: {capacity}")),
        (
            "struct K { #[route(S, capacity = 1, unbounded)] s: C }",
            "unbounded: expected nothing more in this attribute".to_owned(),
        ),
        ("struct K { #[route()] s: C }", format!("): {route}")),
        (
            "struct K { #[route(super::S)] s: C }",
            "super: everything that a session names is an item of the module: import a payload with `use`, and wrap it in a label".to_owned(),
        ),
        ("struct K { #[route(S)] s: C, count: u8 }", format!("count: {other}")),
        ("struct K(pub u8);", format!("pub: {other}")),
        ("struct K { #[route(K)] k: C }", "K: a role has no route to itself".to_owned()),
        (
            "struct K(#[route(S)] C, #[route(S)] C);",
            "S: a second route to `S`: the role has one route for each peer".to_owned(),
        ),
        (
            "struct K(#[route(S)] mpsc::UnboundedSender<M>);",
            "mpsc::UnboundedSender<M>: this is not a route: a route both sends and receives, by itself\n\n\
             help: use `Channel<Label>`, or wrap a sink and a stream: `Bidirectional<Tx, Rx>`, with `Nil` for a half \
             that is not needed".to_owned(),
        ),
        ("struct K<'a, T>(#[route(S)] C<T>);", format!("'a: {parameters}")),
        ("struct K where u8: Copy;", format!("where: {parameters}")),
        (
            "#[cfg(x)] struct K;",
            "#[cfg(x)]: a condition cannot stand in a module that is verified: put `#[cfg(…)]` on the whole module, and write the module once for each case".to_owned(),
        ),
    ] {
        assert_eq!(refuse(RoleItem::parse, source), expected);
    }
}

#[test]
fn labels_and_their_names() {
    let source = "#[derive(Message, Debug)] enum Label { Ready(Ready), #[label(\"value\")] #[doc = \"\"] Item(labels::Value), \
                  Raw(Vec<u8>), }";
    let message = accept(MessageItem::parse, source);
    assert!(message.name == "Label" && message.label.is_none());
    let variants = message.variants.iter();
    let labels: Vec<_> = variants
        .map(|it| (it.label.as_str(), text(&it.ty), it.ident.as_ref().map(ToString::to_string)))
        .collect();
    assert_eq!(
        labels,
        [
            ("Ready", "Ready".to_owned(), Some("Ready".to_owned())),
            ("value", "labels :: Value".to_owned(), None),
            ("Raw", "Vec < u8 >".to_owned(), None)
        ]
    );
    assert_eq!(
        text(message.tokens),
        "#[derive(Debug)] pub enum Label { Ready(Ready), #[doc = \"\"] Item(labels :: Value), Raw(Vec < u8 >), }"
    );
}

#[test]
fn a_struct_is_its_own_only_label() {
    for (source, label, tokens) in [
        ("#[derive(Message)] pub struct Value(i32);", "Value", "pub struct Value(pub i32);"),
        (
            "#[label(\"value\")] struct Value { number: i32 }",
            "value",
            "pub struct Value { pub number : i32 }",
        ),
        ("struct r#Value;", "Value", "pub struct r#Value;"),
    ] {
        let message = accept(MessageItem::parse, source);
        let [only] = &message.variants[..] else { panic!("{source}") };
        assert_eq!((&*only.label, &*text(&message.tokens)), (label, tokens));
        assert!(message.name == only.name && only.ident.as_ref() == Some(&only.name));
        assert_eq!(text(message.label.unwrap().tokens), tokens);
    }
}

#[test]
fn refused_messages() {
    for (source, expected) in [
        (
            "union Label { a: u8 }",
            "union: expected an enum with one variant for each label, or a struct that is the only label",
        ),
        (
            "#[label(\"note\")] enum Label { Note(Note) }",
            "#[label(\"note\")]: `#[label(…)]` stands on a variant",
        ),
        ("#[label(\"a\")] #[label(\"b\")] struct L;", "label: `#[label(…)]` stands here twice"),
        (
            "enum L { #[label(a)] A(A) }",
            "a: expected the label's name in quotes: `#[label(\"value\")]`",
        ),
        ("enum L {}", "L: expected at least one label: `Ready(Ready)`"),
        (
            "enum L { Ready }",
            "Ready: a label carries one type: `Ready(Ready)`, with a `struct Ready`",
        ),
        (
            "enum L { Ready() }",
            "Ready: a label carries one type: `Ready(Ready)`, with a `struct Ready`",
        ),
        (
            "enum L { V(A, B) }",
            "B: a label carries one type: put several values into a struct; if this is an option of a choice, the enum is a \
             `#[session]`, not a message",
        ),
        (
            "enum L<T> { V(T) }",
            "T: a message type has no parameters: the build script compares its labels with those of the protocol",
        ),
        ("enum L { One(A), one(B) }", "one: the label `one` exists already"),
        (
            "enum L { One(u8), Two(u8) }",
            "u8: `u8` already stands for the label `One`\n\nhelp: give each label a type of its own:\
             \n      One(One), with `struct One(u8);`\n      Two(Two), with `struct Two(u8);`",
        ),
        (
            "enum L { One(One), Two(One) }",
            "One: `One` already stands for the label `One`\n\nhelp: give each label a type of its own:\
             \n      Two(Two), and declare `struct Two` if it is not there",
        ),
    ] {
        assert_eq!(refuse(MessageItem::parse, source), expected);
    }
}

#[test]
fn the_roles_of_a_set() {
    for (source, is_tuple) in [
        ("#[derive(Roles)] pub(crate) struct Roles { #[allow(x)] pub(self) s: S, k: K }", false),
        ("/// x\n#[derive(Roles, Debug)] struct Roles(S, pub K);", true),
    ] {
        let set = accept(SetItem::parse, source);
        let roles: Vec<_> = set.fields.iter().map(|field| field.role.to_string()).collect();
        assert_eq!(roles, ["S", "K"]);
        assert_eq!(text(&set.fields[1].field.vis), "pub");
        assert_eq!(text(&set.fields[0].member) == "0", is_tuple);
    }
}

#[test]
fn refused_sets() {
    let role = "expected the name of a role, which is the type of a field of a set";
    for (source, expected) in [
        (
            "#[closed_system] struct R(S);",
            "#[closed_system]: `#[closed_system]` stands on the module".to_owned(),
        ),
        (
            "enum R {}",
            "R: expected a struct with one field for each role: `struct Roles { s: S, k: K }`"
                .to_owned(),
        ),
        ("struct R { s: Option<S> }", format!("Option<S>: {role}")),
        ("struct R { s: a::S }", format!("a::S: {role}")),
        ("struct R(S, S);", "S: a second `S`: a set has each role once".to_owned()),
        ("struct R {}", "R: expected at least one role: `struct Roles { s: S, k: K }`".to_owned()),
        ("struct R<T>(T);", "T: a set of roles has no parameters".to_owned()),
    ] {
        assert_eq!(refuse(SetItem::parse, source), expected);
    }
}

#[test]
fn labels_carry_their_fields() {
    for (source, fields, tokens) in [
        ("struct Ready;", Some(vec![]), "pub struct Ready;"),
        (
            "struct A(u8, pub(super) B);",
            Some(vec!["u8", "B"]),
            "pub struct A(pub u8, pub(super) B);",
        ),
        (
            "#[derive(serde::Serialize)] pub(super) struct A { #[serde(skip)] a: u8 }",
            Some(vec!["u8"]),
            "#[derive(serde :: Serialize)] pub(super) struct A { #[serde(skip)] pub a : u8 }",
        ),
        ("struct A<T>(T);", None, "pub struct A < T >(pub T);"),
        ("enum A { B { c: u8 }, D = 1 }", None, "pub enum A { B { c : u8 }, D = 1 }"),
    ] {
        let label = accept(LabelItem::parse, source);
        let types = label.fields.as_deref().map(texts);
        let types =
            types.as_ref().map(|types| types.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((types, text(label.tokens).as_str()), (fields, tokens));
    }
    let shifts: Vec<_> = (0..100).map(|it| format!("A{it} = 1 << {it}")).collect();
    accept(LabelItem::parse, &format!("enum A {{ {} }}", shifts.join(", ")));
    assert!(refuse(LabelItem::parse, "struct A { #[cfg(x)] a: u8 }").contains("a condition"));
    assert!(
        refuse(LabelItem::parse, "#[my::macro_] struct A;")
            .starts_with("#[my::macro_]: `#[macro_]` may be")
    );
    assert!(refuse(LabelItem::parse, "struct A { a }").starts_with("}: "));
}

#[test]
fn scribble_and_rust_names() {
    for (scribble, rust) in [
        ("ready", "Ready"),
        ("value_one", "ValueOne"),
        ("valueOne", "Value_One"),
        ("type", "r#type"),
    ] {
        assert!(name::same(scribble, rust), "{scribble} {rust}");
    }
    for (scribble, rust) in [("ready", "Read"), ("value1", "Value"), ("_", "__")] {
        assert!(!name::same(scribble, rust), "{scribble} {rust}");
    }
}
