//! The grammar of `#[session]` items: what is accepted, where it points, and how it refuses.

use quote::ToTokens as _;
use rumpsteak_front::session::{Action, Chain, Direction, Form, SessionItem, Tail};

/// The item with `#[session(…)]` before it.
fn text(arguments: &str, item: &str) -> String {
    if arguments.is_empty() {
        format!("#[session] {item}")
    } else {
        format!("#[session({arguments})] {item}")
    }
}

fn parse(arguments: &str, item: &str) -> syn::Result<SessionItem> {
    let text = text(arguments, item);
    SessionItem::parse(text.parse().unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn sign(direction: Direction) -> char {
    match direction {
        Direction::Receive => '?',
        Direction::Send => '!',
    }
}

/// The chain in one line.
fn show(chain: &Chain) -> String {
    let mut text = String::new();
    for action in &chain.actions {
        let Action { direction, constructor, peer, label } = action;
        assert!(["Send", "Receive"].contains(&&*constructor.to_string()));
        text += &format!("{peer}{}{label} ", sign(*direction));
    }
    text + &match &chain.tail {
        Tail::Choice { direction, peer, choice, .. } => {
            let peer = peer.as_ref().map_or(String::new(), ToString::to_string);
            format!("{peer}{}{{{choice}}}", direction.map_or('|', sign))
        }
        Tail::End(_) => "end".to_owned(),
        Tail::Itself(_) => "self".to_owned(),
        Tail::Named(name) => name.to_string(),
    }
}

fn show_item(arguments: &str, item: &str) -> String {
    let item = parse(arguments, item).unwrap_or_else(|error| panic!("{item}: {error}"));
    match &item.form {
        Form::Alias(chain) => format!("type {} = {}", item.name, show(chain)),
        Form::Struct(chain) => format!("struct {} = {}", item.name, show(chain)),
        Form::Choice(..) => {
            let rest = item.rest().map(|rest| show(&rest.then));
            let variants: Vec<_> = item
                .variants()
                .iter()
                .map(|variant| {
                    let peer = variant.head.action().map_or(String::new(), |action| {
                        format!("{}{}", action.peer, sign(action.direction))
                    });
                    format!("{peer}{} => {}", variant.head.label(), show(&variant.then))
                })
                .chain(rest)
                .collect();
            format!("enum {} = {}", item.name, variants.join(" | "))
        }
    }
}

/// The message, and the token that it points at.
fn refuse(arguments: &str, item: &str) -> String {
    let Err(error) = parse(arguments, item) else { panic!("`{item}` was accepted") };
    format!("{}: {error}", &text(arguments, item)[error.span().byte_range()])
}

#[test]
fn the_papers_kernel() {
    assert_eq!(
        show_item("K", "pub(crate) type Kernel = Send<S, Ready, KernelLoop>;"),
        "type Kernel = S!Ready KernelLoop"
    );
    assert_eq!(
        show_item(
            "",
            "struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);"
        ),
        "struct KernelLoop = S!Ready S?Value T?Ready T!Value self"
    );
}

#[test]
fn the_papers_choices() {
    assert_eq!(
        show_item(
            "",
            "enum RingBChoice { Add(Add, Receive<A, Add, RingB>), Sub(Sub, Receive<A, Add, RingB>) }"
        ),
        "enum RingBChoice = Add => A?Add RingB | Sub => A?Add RingB"
    );
    assert_eq!(
        show_item("", "enum Choice { Continue(Continue, Branch<A, Self>), Stop(Stop, End), }"),
        "enum Choice = Continue => A?{Self} | Stop => end"
    );
    assert_eq!(
        show_item("B", "type RingB = Select<C, RingBChoice>;"),
        "type RingB = C!{RingBChoice}"
    );
}

#[test]
fn choices_among_peers() {
    assert_eq!(
        show_item("D", "type Pool = Send<A, Run, Select<Next>>;"),
        "type Pool = A!Run !{Next}"
    );
    assert_eq!(
        show_item(
            "",
            "enum Next { ToA(Send<A, Run, Branch<Self>>), Stop(Send<B, Stop, Send<A, Stop, End,>>,) }"
        ),
        "enum Next = A!Run => ?{Self} | B!Stop => A!Stop end"
    );
    assert_eq!(
        show_item("", "enum Answer { FromA(Receive<A, Done, Pool>), Give(Send<B, Up, End>) }"),
        "enum Answer = A?Done => Pool | B!Up => end"
    );
    assert_eq!(show_item("D", "type Impatient = Race<Answer>;"), "type Impatient = |{Answer}");
}

#[test]
fn gathers() {
    assert_eq!(show_item("M", "type All = Send<A, Job, Gather<Due>>;"), "type All = A!Job ?{Due}");
    for (rest, shown) in [
        ("End", "end"),
        ("Next", "Next"),
        ("Send<A, Done, Self2>", "A!Done Self2"),
        ("Branch<A, Next>,", "A?{Next}"),
        ("Receive<A, Yes, End>", "A?Yes end"),
    ] {
        let item = format!(
            "enum Due {{ A(Receive<A, Yes, Self>), B(Receive<B, Yes, Self>), All({rest}) }}"
        );
        let shown = format!("enum Due = A?Yes => self | B?Yes => self | {shown}");
        assert_eq!(show_item("", &item), shown);
    }
    let no_rest = "Self: the last variant of a gather has the session that follows all its messages: `All(End)`";
    let no_session = "Self: `Self` is this choice, which is not a session by itself: write `Select<Role, Self>` or \
                      `Branch<Role, Self>`, or name a session";
    for (item, refused) in [
        ("enum C { A(Receive<A, L, Self>), B(Receive<B, L, Self>) }", no_rest),
        ("enum C { A(Receive<A, L, Self>) }", no_session),
        ("enum C { A(Receive<A, L, Self>), B(Receive<B, L, End>), C(End) }", no_session),
        ("enum C { A(Receive<A, L, Self>), B(L, End) }", no_session),
        ("enum C { A(Send<A, L, Self>), All(End) }", no_session),
        (
            "enum C { A(Receive<A, L, End>), All(End) }",
            "): an option is written `Variant(Label, Session)`",
        ),
        ("type A = Gather<P, C>;", "P: `Gather` is written `Gather<Choice>`"),
    ] {
        assert_eq!(refuse("", item), refused, "{item}");
    }
}

#[test]
fn trailing_commas() {
    assert_eq!(show_item("", "struct A(Send<S, L, End,>,);"), "struct A = S!L end");
    assert_eq!(show_item("", "enum A { L(L, End,), }"), "enum A = L => end");
}

#[test]
fn a_root_may_be_a_struct() {
    assert_eq!(show_item("K", "struct A(Send<S, L, Self>);"), "struct A = S!L self");
}

#[test]
fn attributes_and_visibilities_are_kept() {
    let item = parse("K", "/// Words.\n#[allow(dead_code)] pub(super) struct A(Send<S, L, Self>);")
        .unwrap_or_else(|error| panic!("{error}"));
    let kept: Vec<_> =
        item.attributes.iter().map(|it| it.path().to_token_stream().to_string()).collect();
    assert_eq!(kept, ["doc", "allow"]);
    assert_eq!(item.visibility.to_token_stream().to_string(), "pub (super)");
    assert_eq!(item.role.unwrap(), "K");
    let item =
        parse("", "enum C { /** Words. */ A(A, End) }").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(item.variants()[0].attributes.len(), 1);
    assert_eq!(item.visibility.to_token_stream().to_string(), "pub");
}

#[test]
fn parts_and_texts() {
    let item = parse("", "enum C { A(A, Select<P, Self>), B(B, Send<P, L, Rest>), C(C, End) }");
    let item = item.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(item.parts().map(ToString::to_string).collect::<Vec<_>>(), ["Self", "Rest"]);
    assert_eq!((item.chains().count(), item.actions().count()), (3, 1));
    let item = parse("", "type A = Send < P, L, Branch<Q,C,> >;")
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(item.written(), "Send<P, L, Branch<Q, C>");
}

#[test]
fn a_session_of_any_length_is_read_without_recursion() {
    let long = |actions| {
        parse("", &format!("type A = {}End{};", "Send<S, L, ".repeat(actions), ">".repeat(actions)))
    };
    let Form::Alias(chain) = long(2_000).unwrap_or_else(|error| panic!("{error}")).form else {
        panic!()
    };
    assert_eq!(chain.actions.len(), 2_000);
    let error = long(100_000).err().unwrap();
    assert!(error.to_string().starts_with("more than 2,000 actions in one item"));
}

#[test]
fn deep_brackets_are_refused_without_recursion() {
    let nested = format!("{}{}", "(".repeat(100_000), ")".repeat(100_000));
    for item in [nested.clone(), format!("type A = Send<S, L, {nested}>;")] {
        let error = parse("", &item).err().unwrap();
        assert!(error.to_string().starts_with("this is nested too deep"));
    }
}

#[test]
fn refusals_point_at_the_token_and_say_what_to_write() {
    let condition = "#[cfg(x)]: a condition cannot stand in a module that is verified: put `#[cfg(…)]` on the whole module, and write the module once for each case";
    let cases = [
        (
            "",
            "fn f() {}",
            "fn: `#[session]` stands on a `type` alias, on a tuple `struct` with one field, or on an `enum` of options",
        ),
        ("K, S", "type A = End;", "S: expected nothing more in this attribute"),
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
            "type A = Send<S, Send, End>;",
            "Send: `Send` is a word of sessions, so no label can have this name here\n\n\
             help: give the struct another name; its variant keeps the protocol's name: `Send(SendMessage)`",
        ),
        (
            "",
            "type A = Select<Branch, C>;",
            "Branch: `Branch` is a word of sessions, so no role can have this name here\n\n\
             help: give the struct another name; its `#[protocol(…)]` keeps the protocol's name",
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
            "(: a session names only the label: its `struct` has the payload",
        ),
        (
            "",
            "type A = Select<S, Send<S, L, End>>;",
            "Send: a choice is the name of a `#[session] enum`: write the options there",
        ),
        (
            "",
            "type A = Loop<'s>;",
            "<: `Loop` is not `Send`, `Receive`, `Select`, `Branch` or `Race`, and the name of another session has no \
             arguments: `#[session]` adds those that it needs",
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
            "enum A { L(Send<P, L, End>), Y(M, End) }",
            "M: either all options of a choice name a peer, or none does\n\nhelp: write `Y(Send<P, M, …>)` here, or `Variant(Label, Then)` in the others",
        ),
        (
            "",
            "enum A { Y(M, End), X(Send<P, L, End>) }",
            "Send: either all options of a choice name a peer, or none does\n\nhelp: write `X(X, Send<P, …>)` here: first the label, then the session that follows it; or name a peer in the others",
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
            "Self: `Self` is this choice, which is not a session by itself: write `Select<Role, Self>` or `Branch<Role, Self>`, or name a session",
        ),
        (
            "K",
            "enum A { L(L, End) }",
            "K: a choice is only a part of a session: put the role on the `type` or `struct` that selects or branches with it",
        ),
        ("", "enum A { #[cfg(x)] L(L, End) }", condition),
        ("", "struct A(#[cfg(x)] End);", condition),
    ];
    for (arguments, item, expected) in cases {
        assert_eq!(refuse(arguments, item), expected, "for `{item}`");
    }
}

#[test]
fn paths_are_refused() {
    let names = "everything that a session names is an item of the module: import a payload with `use`, and wrap it in a label";
    for (arguments, item, expected) in [
        ("a::K", "type A = End;", format!("a: {names}")),
        ("", "type A = Send<crate::roles::S, L, End>;", format!("crate: {names}")),
        ("", "type A = Send<S, ::L, End>;", format!(":: {names}").replace(":: ", ":: ")),
        ("", "type A = Send<S, L, self::Rest>;", format!("self: {names}")),
        ("", "enum A { L(super::L, End) }", format!("super: {names}")),
        (
            "",
            "type A = rumpsteak::Send<S, L, End>;",
            "rumpsteak: `Send` is a word of sessions, which is written without a path".to_owned(),
        ),
        ("", "type A = Send<S, ::L, a::>;", format!(":: {names}")),
        ("", "type A = Send<S, L, a::>;", ">: a path goes on with a name after `::`".to_owned()),
    ] {
        assert_eq!(refuse(arguments, item), expected, "for `{item}`");
    }
}

#[test]
fn attributes_that_may_change_a_session_are_refused() {
    let may = "may be a macro that changes this item after it was verified: only `#[derive(…)]`, attributes of a derive, and attributes such as \
               `#[doc]` and `#[allow]` can stand here";
    for (item, expected) in [
        ("#[tamper] type A = End;", format!("#[tamper]: `#[tamper]` {may}")),
        ("#[a::tamper] type A = End;", format!("#[a::tamper]: `#[tamper]` {may}")),
        ("enum A { #[tamper] A(A, End) }", format!("#[tamper]: `#[tamper]` {may}")),
        ("struct A(#[allow(x)] End);", "#: no attributes inside a session".to_owned()),
        ("#[session] type A = End;", "#[session]: `#[session]` stands here twice".to_owned()),
        ("#[cfg_attr(x, y)] type A = End;", "#[cfg_attr(x, y)]: a condition cannot stand in a module that is verified: put `#[cfg(…)]` on the whole module, and write the module once for each case".to_owned()),
    ] {
        assert_eq!(refuse("", item), expected);
    }
}

#[test]
fn truncated_items_are_refused_at_a_token() {
    let whole = "pub struct KernelLoop(Send<S, Ready, Select<T, Choice>>);";
    for end in (0..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
        if let Ok(tokens) = whole[..end].parse() {
            let error = SessionItem::parse(tokens).err();
            let error = error.unwrap_or_else(|| panic!("{} was accepted", &whole[..end]));
            assert!(end == 0 || !error.span().byte_range().is_empty(), "{}", &whole[..end]);
        }
    }
}
