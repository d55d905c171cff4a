//! The grammar of `#[session]` items: what is accepted, where it points, and how it refuses.

use proc_macro2::{TokenStream, TokenTree};
use rumpsteak_contract::session::{Action, Chain, Direction, Form, SessionItem, Tail};

fn parse(arguments: &str, item: &str) -> syn::Result<SessionItem> {
    // Both in one text, so that their places differ.
    let text = format!("{item}\n{arguments}");
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let is_item = |tree: &TokenTree| tree.span().byte_range().start < item.len();
    let (item, arguments) = tokens.into_iter().partition::<Vec<_>, _>(is_item);
    SessionItem::parse(arguments.into_iter().collect(), item.into_iter().collect())
}

fn sign(direction: Direction) -> char {
    match direction {
        Direction::Receive => '?',
        Direction::Send => '!',
    }
}

/// The chain in one line, with the index of the token of each part.
fn show(chain: &Chain) -> String {
    let mut text = String::new();
    for action in &chain.actions {
        let Action { direction, constructor, peer, label } = action;
        let direction = sign(*direction);
        text += &format!("{peer}{direction}{label}@{} ", constructor.last_token());
    }
    let shown = match &chain.tail {
        Tail::Choice { direction, peer, choice, .. } => {
            let peer = peer.as_ref().map_or(String::new(), ToString::to_string);
            format!("{peer}{}{{{choice}}}", direction.map_or('|', sign))
        }
        Tail::End(_) => "end".to_owned(),
        Tail::Itself(_) => "self".to_owned(),
        Tail::Named(path) => path.to_string(),
    };
    text + &format!("{shown}@{}", chain.tail.path().last_token())
}

fn show_item(arguments: &str, item: &str) -> String {
    let item = parse(arguments, item).unwrap_or_else(|error| panic!("{item}: {error}"));
    match &item.form {
        Form::Alias(chain) => format!("type {} = {}", item.name, show(chain)),
        Form::Struct(chain) => format!("struct {} = {}", item.name, show(chain)),
        Form::Choice(variants) => {
            let variants: Vec<_> = variants
                .iter()
                .map(|variant| {
                    let peer = variant.head.action().map_or(String::new(), |action| {
                        format!("{}{}", action.peer, sign(action.direction))
                    });
                    format!("{peer}{} => {}", variant.head.label(), show(&variant.then))
                })
                .collect();
            format!("enum {} = {}", item.name, variants.join(" | "))
        }
    }
}

/// The message, and the token that it points at.
fn refuse(arguments: &str, item: &str) -> String {
    let Err(error) = parse(arguments, item) else { panic!("`{item}` was accepted") };
    let text = format!("{item}\n{arguments}");
    format!("{}: {error}", &text[error.span().byte_range()])
}

#[test]
fn the_papers_kernel() {
    assert_eq!(
        show_item("K", "pub(crate) type Kernel = Send<S, Ready, KernelLoop>;"),
        "type Kernel = S!Ready@10 KernelLoop@16"
    );
    assert_eq!(
        show_item(
            "",
            "struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);"
        ),
        "struct KernelLoop = S!Ready@5 S?Value@11 T?Ready@17 T!Value@23 self@29"
    );
}

#[test]
fn the_papers_choices() {
    assert_eq!(
        show_item(
            "",
            "enum RingBChoice { Add(Add, Receive<A, Add, RingB>), Sub(Sub, Receive<A, Add, RingB>) }"
        ),
        "enum RingBChoice = Add => A?Add@9 RingB@15 | Sub => A?Add@23 RingB@29"
    );
    assert_eq!(
        show_item("", "enum Choice { Continue(Continue, Branch<A, Self>), Stop(Stop, End), }"),
        "enum Choice = Continue => A?{Self}@9 | Stop => end@21"
    );
    assert_eq!(
        show_item("B", "type RingB = Select<C, RingBChoice>;"),
        "type RingB = C!{RingBChoice}@6"
    );
}

#[test]
fn choices_among_peers() {
    assert_eq!(
        show_item("D", "type Pool = Send<A, Run, Select<Next>>;"),
        "type Pool = A!Run@6 !{Next}@12"
    );
    assert_eq!(
        show_item(
            "",
            "enum Next { ToA(Send<A, Run, Branch<Self>>), Stop(Send<B, Stop, Send<A, Stop, End,>>,) }"
        ),
        "enum Next = A!Run => ?{Self}@13 | B!Stop => A!Stop@28 end@34"
    );
    assert_eq!(
        show_item("", "enum Answer { FromA(Receive<A, Done, Pool>), Give(Send<B, Up, End>) }"),
        "enum Answer = A?Done => Pool@13 | B!Up => end@25"
    );
    assert_eq!(show_item("D", "type Impatient = Race<Answer>;"), "type Impatient = |{Answer}@6");
}

#[test]
fn paths_everywhere() {
    let item = "type A = rumpsteak_runtime::Send<crate::roles::S, super::Ready, ::other::Rest>;";
    assert_eq!(
        show_item("self::K", item),
        "type A = crate::roles::S!super::Ready@12 ::other::Rest@32"
    );
}

#[test]
fn trailing_commas() {
    assert_eq!(show_item("", "struct A(Send<S, L, End,>,);"), "struct A = S!L@5 end@11");
    assert_eq!(show_item("", "enum A { L(L, End,), }"), "enum A = L => end@9");
}

#[test]
fn a_root_may_be_a_struct() {
    assert_eq!(show_item("K", "struct A(Send<S, L, Self>);"), "struct A = S!L@6 self@12");
}

#[test]
fn attributes_are_not_counted() {
    let item =
        parse("", "/// Words.\n#[allow(dead_code)] pub struct A(Send<S, L, Self>);").unwrap();
    assert_eq!(item.key.hash(), parse("", "pub struct A(Send<S, L, Self>);").unwrap().key.hash());
    assert_eq!(
        parse("", "enum C { /** Words. */ A(A, End) }").unwrap().key.hash(),
        parse("", "enum C { A(A, End) }").unwrap().key.hash()
    );
}

#[test]
fn a_session_of_any_length_is_read_without_recursion() {
    let long = |actions| {
        parse("", &format!("type A = {}End{};", "Send<S, L, ".repeat(actions), ">".repeat(actions)))
    };
    let Form::Alias(chain) = long(2_000).unwrap().form else { panic!() };
    assert_eq!(chain.actions.len(), 2_000);
    let error = long(100_000).unwrap_err();
    assert!(error.to_string().starts_with("more than 2,000 actions in one item"));
}

#[test]
fn brackets_of_any_depth_are_read_without_recursion() {
    let nested = format!("{}{}", "(".repeat(100_000), ")".repeat(100_000));
    let error = parse("", &nested).unwrap_err();
    assert!(error.to_string().contains("`#[session]` stands on"));
    let error = parse("", &format!("type A = Send<S, L, {nested}>;")).unwrap_err();
    assert!(error.to_string().contains("expected a session"));
}

#[test]
fn refusals_point_at_the_token_and_say_what_to_write() {
    let cases = [
        (
            "",
            "fn f() {}",
            "fn: `#[session]` stands on a `type` alias, on a tuple `struct` with one field, or on an `enum` of options",
        ),
        (
            "K, S",
            "type A = End;",
            "S: expected nothing or the role that plays this session: `#[session(K)]`",
        ),
        (
            "\"K\"",
            "type A = End;",
            "\"K\": expected nothing or the role that plays this session: `#[session(K)]`",
        ),
        (
            "",
            "type A<'s> = End;",
            "<: a session is written without parameters: `#[session]` adds the lifetime and the role",
        ),
        (
            "",
            "type A = Send<S, L, Self>;",
            "Self: a `type` alias cannot name itself: below the same attribute, write `struct Name(…);` and `Self`",
        ),
        (
            "",
            "type A = Send<S, L>;",
            ">: expected the role at the other end, the label and what follows, perhaps `End`: `Send<Role, Label, Then>`",
        ),
        (
            "",
            "type A = Send<L, Receive<S, L, End>>;",
            "Receive: the role at the other end is missing in front of `L`: `Send<Role, Label, Then>`",
        ),
        (
            "",
            "type A = Send<L, End,>;",
            "End: the role at the other end is missing in front of `L`: `Send<Role, Label, Then>`",
        ),
        (
            "",
            "type A = Send<S, crate::Send, End>;",
            "Send: `crate::Send` is a word of sessions, so no label can have this name here\n\n\
             help: give the struct another name; its variant keeps that of the protocol: `Send(SendMessage)`",
        ),
        (
            "",
            "type A = Select<Branch, C>;",
            "Branch: `Branch` is a word of sessions, so no role can have this name here\n\n\
             help: give the struct another name; its `#[protocol(…)]` keeps that of the protocol",
        ),
        ("", "type A = Receive<S>;", ">: expected `,` and the label: `Receive<Role, Label, Then>`"),
        ("", "type A = Send;", ";: `Send` is written `Send<Role, Label, Then>`"),
        (
            "",
            "type A = Send<'_, S, L, End>;",
            "': expected the role at the other end: `#[session]` adds the lifetime and its own role",
        ),
        (
            "",
            "type A = Send<S, Value<i32>, End>;",
            "<: a label is a type without arguments: give this one a name of its own",
        ),
        (
            "",
            "type A = Select<S, C, End>;",
            "End: `Select` is written `Select<Role, Choice>`, or `Select<Choice>`: the options are the variants of that \
             `#[session] enum`, and one message alone is `Send<Role, Label, Then>`",
        ),
        (
            "",
            "type A = Send<S, L(u8), End>;",
            "(: a session names the label alone: what it carries stands in its `struct`",
        ),
        (
            "",
            "type A = Select<S, Send<S, L, End>>;",
            "Send: a choice is the name of a `#[session] enum`: write the options there",
        ),
        (
            "",
            "type A = Loop<'s>;",
            "<: `Loop` is none of `Send`, `Receive`, `Select`, `Branch` and `Race`, and the name of another session stands \
             without arguments: `#[session]` adds those that it needs",
        ),
        (
            "",
            "type A = End<K>;",
            "<: `End` is written without arguments: `#[session]` adds what it needs",
        ),
        (
            "",
            "type A = (End);",
            "(: expected a session: `Send<…>`, `Receive<…>`, `Select<…>`, `Branch<…>`, `End`, or the name of another `#[session]` item",
        ),
        (
            "",
            "struct A;",
            ";: expected the session in parentheses: `struct Name(Send<Role, Label, Self>);`",
        ),
        (
            "",
            "struct A { s: End }",
            "{: expected the session in parentheses: `struct Name(Send<Role, Label, Self>);`",
        ),
        ("", "struct A(End, End);", "End: a session struct has one field: the session"),
        (
            "",
            "struct A(Self);",
            "Self: this session is itself and nothing else: it needs an action before `Self`",
        ),
        ("", "enum A { }", "}: a choice needs at least one option: `Variant(Label, Session)`"),
        ("", "enum A { L }", "}: an option is written `Variant(Label, Session)`"),
        (
            "",
            "enum A { X(Send<P, L, End>), Y(M, End) }",
            "M: either all options of a choice name a peer, `Variant(Send<Role, Label, Then>)`, or none does, `Variant(Label, Then)`",
        ),
        (
            "",
            "enum A { X(Select<P, C>) }",
            "Select: an option of a choice among peers begins with the message: `Variant(Send<Role, Label, Then>)` or `Variant(Receive<Role, Label, Then>)`",
        ),
        (
            "",
            "enum A { X(Send<P, L, End>, End) }",
            "End: an option has two fields: first the label, then the session that follows it",
        ),
        (
            "",
            "enum A { X(Send<P, L, End>, X) }",
            "X: an option has two fields: first the label, then the session that follows it",
        ),
        ("", "type A = Race<P, C>;", "P: `Race` is written `Race<Choice>`"),
        ("", "type A = Select<>;", ">: expected the role at the other end"),
        (
            "",
            "type A = Branch<Send<P, L, End>>;",
            "Send: a choice is the name of a `#[session] enum`: write the options there",
        ),
        (
            "",
            "enum A { L(L, Self) }",
            "Self: `Self` is this choice, which is no session by itself: write `Select<Role, Self>` or `Branch<Role, Self>`, or name a session",
        ),
        (
            "K",
            "enum A { L(L, End) }",
            "K: a choice is a part of a session and no session by itself: put the role on the `type` or `struct` that selects or branches with it",
        ),
        (
            "",
            "enum A { #[cfg(x)] L(L, End) }",
            "#: no attributes inside a session: put `#[cfg(…)]` on the whole item, and write the item once for each case",
        ),
        (
            "",
            "struct A(#[cfg(x)] End);",
            "#: no attributes inside a session: put `#[cfg(…)]` on the whole item, and write the item once for each case",
        ),
    ];
    for (arguments, item, expected) in cases {
        assert_eq!(refuse(arguments, item), expected, "for `{item}`");
    }
}

#[test]
fn truncated_items_are_refused() {
    let whole = "pub struct KernelLoop(Send<S, Ready, Select<T, Choice>>);";
    for end in (0..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
        if let Ok(tokens) = whole[..end].parse() {
            let item = SessionItem::parse(TokenStream::new(), tokens);
            assert!(item.is_err(), "{}", &whole[..end]);
        }
    }
}
