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
    parse_text(&text(arguments, item))
}

fn parse_text(text: &str) -> syn::Result<SessionItem> {
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
fn refuse(item: &str) -> String {
    let Err(error) = parse_text(item) else { panic!("`{item}` was accepted") };
    format!("{}: {error}", &item[error.span().byte_range()])
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

/// The items of `refused_sessions.md`, each with the token that the message points at.
#[test]
fn refusals_point_at_the_token_and_say_what_to_write() {
    let page = include_str!("refused_sessions.md");
    let items: Vec<_> = page
        .split("\n\n")
        .filter_map(|part| {
            let part = part.trim_start_matches("```text\n").trim_end().trim_end_matches("\n```");
            part.starts_with("#[session").then_some(part)
        })
        .collect();
    assert_eq!(items.len(), 59);
    for item in items {
        let (item, expected) = item.split_once('\n').unwrap();
        assert_eq!(refuse(item).replace("\n\n", "\n"), expected, "for `{item}`");
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
