//! What role structs and message enums say about names.

use proc_macro2::{Span, TokenStream};
use rumpsteak_contract::canonical::type_text;
use rumpsteak_contract::{MessageItem, RoleItem, name};

fn tokens(source: &str) -> TokenStream {
    source.parse().unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn at(source: &str, span: Span) -> &str {
    &source[span.byte_range()]
}

fn role(source: &str) -> RoleItem {
    RoleItem::parse(tokens(source)).unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn refuse_role(source: &str) -> String {
    let Err(error) = RoleItem::parse(tokens(source)) else { panic!("`{source}` was accepted") };
    format!("{}: {error}", at(source, error.span()))
}

fn refuse_message(source: &str) -> String {
    let Err(error) = MessageItem::parse(tokens(source)) else { panic!("`{source}` was accepted") };
    format!("{}: {error}", at(source, error.span()))
}

#[test]
fn a_role_with_named_fields() {
    let source = "#[derive(Role)] #[protocol(DoubleBuffering::k)] #[message(Label)] \
         struct K { #[route(S)] s: Channel, count: HashMap<u8, (u8, fn() -> u8)>, #[route(super::T)] pub t: Channel }";
    let role = role(source);
    let link = role.link.clone().unwrap();
    assert_eq!((link.protocol.to_string(), &*link.role), ("DoubleBuffering".to_owned(), "k"));
    assert_eq!(at(source, role.key.span_of(link.role_token)), "k");
    assert_eq!(at(source, role.key.span_of(link.protocol_token)), "DoubleBuffering");
    assert_eq!(role.message.as_ref().unwrap().to_string(), "Label");
    let routes: Vec<_> = role
        .routes
        .iter()
        .map(|route| (route.peer.to_string(), route.field.clone(), route.index))
        .collect();
    assert_eq!(routes.len(), 2);
    assert_eq!((&*routes[0].0, routes[0].2), ("S", 0));
    assert_eq!(
        (&*routes[1].0, routes[1].1.as_ref().unwrap().to_string(), routes[1].2),
        ("super::T", "t".to_owned(), 2)
    );
}

#[test]
fn the_papers_tuple_struct() {
    let role = role(
        "#[derive(Role)] #[message(Label)] struct K(#[route(S)] Channel, #[route(T)] pub Channel);",
    );
    assert!(role.link.is_none());
    assert_eq!(role.routes.len(), 2);
    assert!(role.routes[0].field.is_none());
}

#[test]
fn the_role_is_named_by_link_attribute_or_struct() {
    let named = |source| {
        let role = role(source);
        let link = role.link.clone().unwrap();
        let token = at(source, role.key.span_of(link.role_token));
        (link.role, token.to_owned())
    };
    assert_eq!(named("#[protocol(P::k)] struct Kernel;"), ("k".to_owned(), "k".to_owned()));
    assert_eq!(
        named("#[protocol(P)] #[role(\"k\")] struct Kernel;"),
        ("k".to_owned(), "\"k\"".to_owned())
    );
    assert_eq!(named("#[protocol(P)] struct Kernel;"), ("Kernel".to_owned(), "P".to_owned()));
    assert_eq!(named("#[protocol(P::r#type)] struct T;"), ("type".to_owned(), "r#type".to_owned()));
}

#[test]
fn generic_roles_are_stepped_over() {
    let role = role(
        "#[protocol(P::k)] struct K<const N: usize, T: Into<Vec<u8>>> where T: Copy { #[route(S)] s: C<T, N> }",
    );
    assert_eq!(role.routes.len(), 1);
}

#[test]
fn refused_roles() {
    assert_eq!(
        refuse_role("#[protocol(a::b::c)] struct K;"),
        "protocol: expected the protocol and the role in it: `#[protocol(DoubleBuffering::k)]`"
    );
    assert_eq!(
        refuse_role("#[protocol(P::k)] #[role(\"k\")] struct K;"),
        "k: the role is named twice: here and in `#[role(…)]`"
    );
    assert_eq!(
        refuse_role("#[protocol(P::k)] #[protocol(P::k)] struct K;"),
        "protocol: `#[protocol(…)]` stands here twice"
    );
    assert_eq!(
        refuse_role("#[protocol] struct K;"),
        "]: `protocol` takes an argument: `#[protocol(…)]`"
    );
    assert_eq!(refuse_role("#[protocol(P::k)] enum K {}"), "enum: a role is a struct");
    assert_eq!(refuse_role("#[route(S)] struct K;"), "route: `#[route(…)]` stands on a field");
    assert_eq!(
        refuse_role("struct K { #[message(M)] s: C }"),
        "message: `#[message(…)]` stands on the struct"
    );
    assert_eq!(
        refuse_role("struct K { #[route(S, T)] s: C }"),
        "T: expected nothing more in this attribute"
    );
}

#[test]
fn labels_and_their_names() {
    let source = "#[derive(Message, Debug)] pub enum Label { Ready(Ready), #[label(\"value\")] Item(labels::Value), \
         Raw(Vec<u8>), }";
    let message = MessageItem::parse(tokens(source)).unwrap();
    assert_eq!(message.name, "Label");
    let labels: Vec<_> = message
        .variants
        .iter()
        .map(|variant| (variant.label.as_str(), variant.payload.as_ref().map(ToString::to_string)))
        .collect();
    assert_eq!(
        labels,
        [
            ("Ready", Some("Ready".to_owned())),
            ("value", Some("labels::Value".to_owned())),
            ("Raw", None)
        ]
    );
    assert_eq!(type_text(message.variants[2].ty.clone()), "Vec<u8>");
}

#[test]
fn a_struct_is_its_own_only_label() {
    for (source, label) in [
        ("#[derive(Message)] pub struct Value(i32);", "Value"),
        ("#[label(\"value\")] struct Value { number: i32 }", "value"),
        ("struct r#Value;", "Value"),
    ] {
        let message = MessageItem::parse(tokens(source)).unwrap();
        let [only] = &message.variants[..] else { panic!("{source}") };
        assert_eq!(only.label, label);
        assert_eq!(message.name, only.name);
        assert_eq!(only.payload.as_ref().unwrap().as_ident(), Some(&only.name));
        assert_eq!(only.ty.to_string(), only.name.to_string());
    }
}

#[test]
fn refused_messages() {
    assert_eq!(
        refuse_message("union Label { a: u8 }"),
        "union: expected an enum with one variant for each label, or a struct that is the only label"
    );
    assert_eq!(
        refuse_message("#[label(\"note\")] enum Label { Note(Note) }"),
        "#: `#[label(…)]` stands on a variant"
    );
    assert_eq!(
        refuse_message("#[label(\"a\")] #[label(\"b\")] struct Label;"),
        "label: `#[label(…)]` stands here twice"
    );
    assert_eq!(
        refuse_message("enum Label { Ready }"),
        "}: a label carries one type: `Ready(Ready)`, with a `struct Ready`"
    );
    assert_eq!(
        refuse_message("enum Label { V(A, B) }"),
        "B: a label carries one type: put several values into a struct; if this is an option of a choice, \
         the enum is a `#[session]`, and no message"
    );
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
