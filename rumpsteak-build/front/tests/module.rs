//! Modules: how they are found and cut into items, and the arguments of their attribute.
#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use rumpsteak_front::arguments::{Arguments, Liveness};
use rumpsteak_front::cut::modules;
use rumpsteak_front::hash::{Hasher, stamp};
use rumpsteak_front::module::{Item, items};
use rumpsteak_front::role::Room;
use rumpsteak_front::{Module, ModuleKind};

fn tokens(source: &str) -> TokenStream {
    source.parse().unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn module(source: &str) -> Module {
    let found = modules(tokens(source)).into_iter().next();
    let (kind, arguments, item) = found.unwrap_or_else(|| panic!("no module: {source}"));
    Module::parse(kind, arguments, item).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// The items of a module in short, and the errors with the tokens that they point at.
fn show(source: &str) -> (String, Vec<String>) {
    let (items, errors) = items(tokens(source));
    let items = items.iter().map(|item| match item {
        Item::Broken { name, kind, .. } => {
            let name = name.as_ref().map_or("-".to_owned(), ToString::to_string);
            format!("{kind:?}? {name}")
        }
        Item::Label(item) => format!("Label {}", item.name),
        Item::Message(item) => format!("Message {}", item.name),
        Item::Other(tokens) => tokens.to_string().split(' ').next().unwrap().to_owned(),
        Item::Role(item) => format!("Role {}", item.name),
        Item::Session(item) => format!("Session {}", item.name),
        Item::Set(item) => format!("Set {}", item.name),
        Item::Use(_) => "use".to_owned(),
    });
    let at = |error: &syn::Error| {
        let text = error.to_string();
        format!("{}: {}", &source[error.span().byte_range()], text.lines().next().unwrap())
    };
    (items.collect::<Vec<_>>().join(", "), errors.iter().map(at).collect())
}

fn show_valid(source: &str) -> String {
    let (items, errors) = show(source);
    assert_eq!(errors, [""; 0], "{source}");
    items
}

#[test]
fn a_module_of_each_kind_of_item() {
    let items = show_valid(
        "use super::{Frame, other::*};
         #[session(K)] type Kernel = Send<S, Ready, Loop>;
         struct Loop(Receive<S, Value, Select<T, Next>>);
         enum Next { Go(Go, Loop), Stop(Stop, Rest) }
         type Rest = Last; struct Last(Plain); type Plain = End;
         type Alias = Vec<u8>;
         struct Ready; pub struct Value { frame: Frame } enum Go { A } struct Stop<const N: usize = { 3 }>;
         #[derive(Role)] struct K(#[route(S)] Channel<Label>);
         #[message(Label)] struct S { #[route(K)] k: Channel<Label> }
         struct T { #[route(K)] k: Channel<Label> }
         #[derive(Debug, rumpsteak::Message)] enum Label { Ready(Ready) }
         #[derive(prost::Message)] struct Wire { a: u8 }
         #[derive(Roles)] struct Roles { k: K, s: S }
         const fn f() -> [u8; { 3 }] { [0; 3] } const X: u8 = { 3 } + { 4 }; impl A<{ 3 }> for B {}
         macro_rules! m { () => {} } m!(); m! { struct } unsafe impl X for Y {} pub(crate) unsafe fn g() {}
         mod inner { struct A(Send<S, L, End>); } extern \"C\" { fn h(); } static Y: u8 = { 3 };
         union U { a: u8 } trait Tr { type A; } pub use a::b; type Fun = fn() -> u8;",
    );
    assert_eq!(
        items,
        "use, Session Kernel, Session Loop, Session Next, Session Rest, Session Last, Session Plain, type, \
         Label Ready, Label Value, Label Go, Label Stop, Role K, Role S, Role T, Message Label, Label Wire, Set Roles, \
         const, const, impl, macro_rules, m, m, unsafe, pub, mod, extern, static, union, trait, use, type"
    );
}

#[test]
fn a_session_that_no_item_of_the_module_is_costs_one_error() {
    let error = "session: `#[session]` stands on an item of the module itself: a session that a macro, a function or a \
                 module in it has is not verified";
    for hidden in [
        "macro_rules! m { () => { #[session(K)] type A = End; #[session(K)] type B = End; } }",
        "m! { #[rumpsteak::session] struct A(End); }",
        "mod inner { #[session(K)] type A = Send<S, L, End>; }",
        "fn f() { #[session(K)] type A = End; }",
    ] {
        let (_, errors) = show(&format!("struct Before; {hidden} #[session(K)] type Next = End;"));
        assert_eq!(errors, [error], "{hidden}");
    }
    // A module of a protocol is one anywhere.
    show_valid("mod inner { #[protocol(P)] mod p { #[session(K)] type A = End; } }");
    // Calls of the macro expand to nothing.
    let (items, _) = items(tokens("macro_rules! m { () => { #[session] struct A(End); } }"));
    let [Item::Other(stub)] = &items[..] else { panic!("no macro") };
    assert!(stub.to_string().starts_with("macro_rules ! m {"), "{stub}");
}

#[test]
fn an_enum_that_a_role_names_is_its_message_type() {
    let valid = show_valid("#[message(M)] struct K; enum M { A(A) } struct A; enum Other { B(A) }");
    assert_eq!(valid, "Role K, Message M, Label A, Label Other");
    // So is one of the default name.
    assert_eq!(show_valid("enum Label { A(A) } enum Other { A(A) }"), "Message Label, Label Other");
    let choice = "#[session(K)] type S = Select<P, Label>; enum Label { A(A, End) }";
    assert_eq!(show_valid(choice), "Session S, Session Label");
}

#[test]
fn a_half_typed_item_costs_one_error_and_no_other_item() {
    let an_item = "expected an item, such as `type`, `struct`, `enum`, `use` or `fn`";
    let semicolon = "expected `;` or `{…}` after this";
    let next = "#[session(K)] type Next = End;";
    for (half, kind, error) in [
        ("type A = Send<S, L, End>", "Session? A", ">: expected `;` after the session".to_owned()),
        ("struct A(Send<S, L, ", "", String::new()),
        ("struct A(Send<S, L>);", "Session? A", ">: expected the role at the other end, the label and what follows, perhaps `End`: `Send<Role, Label, Then>`".to_owned()),
        ("#[session] type", "Session? -", "e: expected a name".to_owned()),
        ("Sen", "Other? -", format!("Sen: {an_item}")),
        ("Sen::", "Other? -", format!(":: {semicolon}")),
        ("pub", "Other? -", format!("pub: {an_item}")),
        ("= 3;", "Other? -", format!("=: {an_item}")),
        ("use super::a", "Other? super", format!("a: {semicolon}")),
        ("use super::;", "Other? super", ";: expected a name after `::`".to_owned()),
        ("struct A", "Label? A", "A: ".to_owned()),
        ("struct A {", "", String::new()),
        ("enum A { B(, }", "", String::new()),
        ("enum A { B(,) }", "Label? A", ",: ".to_owned()),
        ("#[derive(Role)] struct A { b }", "Role? A", "}: ".to_owned()),
    ] {
        if half.parse::<TokenStream>().is_err() {
            assert_eq!(kind, "", "{half}");
            continue;
        }
        let (items, errors) = show(&format!("struct Before; {half} {next} fn f() {{}}"));
        assert_eq!(items, format!("Label Before, {kind}, Session Next, fn"), "{half}");
        let [only] = &errors[..] else { panic!("{half}: {errors:?}") };
        assert!(only.starts_with(&error), "{half}: {only}");
    }
    let (items, errors) = show("struct A; #[session]");
    assert_eq!(items, "Label A, Session? -");
    assert!(errors.len() == 1 && errors[0].starts_with("]: `#[session]` stands on a `type` alias"));
    assert_eq!(show("#[allow(x)]"), ("Other? -".to_owned(), vec![format!("]: {an_item}")]));
    // The choice of a session with a mistake is a session all the same, and its labels are labels.
    let (items, errors) = show(
        "#[session(K)] type A = Send<S, L, Select<S, C>; enum C { V(L, End), W(M, A) } struct L; struct M(L);",
    );
    assert_eq!((items.as_str(), errors.len()), ("Session? A, Session C, Label L, Label M", 1));
}

#[test]
fn modules_are_found_at_any_depth() {
    let found = modules(tokens(
        "#![allow(x)] use a; #[protocol(A)] mod a { #[x] #[rumpsteak::protocol(B, fair)] #[cfg(y)] pub(crate) mod b {} }
         fn f() { let x = g(|| { #[closed_system] mod c {} }); #[closed_system()] mod d {} }
         #[cfg_attr(not(protocol), x, a::protocol(E), cfg_attr(y, protocol(F)))] mod e; #[other] mod g {} mod h {} #[protocol(I)] struct I {} #[protocol] mod j {}
         macro_rules! m { ($k:ident) => { #[protocol(K)] mod $k {} } } #[protocol = 3] mod l {}",
    ));
    let head = |item: &TokenStream| item.to_string().split('{').next().unwrap().to_owned();
    let found = found.iter().map(|(kind, of, item)| format!("{kind:?} {of} {}", head(item)));
    let found: Vec<_> = found.collect();
    assert_eq!(
        found,
        [
            "Protocol A mod a ",
            "Protocol E mod e ;",
            "Protocol F mod e ;",
            "Protocol  mod j ",
            "Protocol = 3 mod l ",
            "Protocol B , fair # [x] # [cfg (y)] pub (crate) mod b ",
            "ClosedSystem  mod d ",
            "ClosedSystem  mod c ",
        ]
    );
}

#[test]
fn the_header_of_a_module() {
    let module =
        module("#[protocol(P)] #[allow(x)] pub mod p { //! Words.\n #![warn(y)] struct A; }");
    let names = [module.arguments.protocol.unwrap(), module.name].map(|name| name.to_string());
    assert_eq!(names, ["P", "p"]);
    let attributes: Vec<_> =
        module.attributes.iter().map(|it| it.to_token_stream().to_string()).collect();
    assert_eq!(attributes, ["# [allow (x)]", "# [doc = \" Words.\"]", "# [warn (y)]"]);
    assert_eq!((module.items.len(), module.errors.len()), (1, 0));
    for item in ["mod a;", "struct A {}", "", "mod a { } ;"] {
        let error = Module::parse(ModuleKind::ClosedSystem, quote!(), tokens(item)).err().unwrap();
        let text =
            "this attribute is for a module in this file: `mod name { … }`, or `mod name {}`";
        assert_eq!(error.to_string(), text, "{item}");
    }
}

fn hash(attribute: &str, item: TokenStream) -> u64 {
    let kind = if attribute == "-" { ModuleKind::ClosedSystem } else { ModuleKind::Protocol };
    let arguments = if attribute == "-" { quote!() } else { tokens(attribute) };
    Module::parse(kind, arguments, item).unwrap_or_else(|error| panic!("{error}")).hash
}

#[test]
fn a_file_and_a_macro_give_the_same_hash() {
    let file = "/// Words.\n#[allow(x)] pub mod p { //! Words.\n struct Loop(Send<S,Ready , Receive<S, Value, Self>>); // why
                enum C { /// One.\n A(A, End), B(B, End), } const X: (char, &'static str) = ('a', \"b\"); }";
    let session = quote!(Send<S, Ready, Receive<S, Value, Self>>);
    let hidden = TokenTree::Group(Group::new(Delimiter::None, session));
    let from_macro = quote! {
        #[doc = " Words."]
        pub mod p {
            struct Loop(#hidden);
            enum C { A(A, End), #[doc(hidden)] B(B, End), }
            const X: (char, &'static str) = ('a', "b");
        }
    };
    assert_eq!(hash("P", tokens(file)), hash("P", from_macro));
}

#[test]
fn any_difference_in_the_tokens_changes_the_hash() {
    let sources = [
        ("P", "mod m { type A = Send<S, L, End>; }"),
        ("P, fair", "mod m { type A = Send<S, L, End>; }"),
        ("Q", "mod m { type A = Send<S, L, End>; }"),
        ("-", "mod m { type A = Send<S, L, End>; }"),
        ("P", "mod n { type A = Send<S, L, End>; }"),
        ("P", "pub mod m { type A = Send<S, L, End>; }"),
        ("P", "mod m { type B = Send<S, L, End>; }"),
        ("P", "mod m { type A = Receive<S, L, End>; }"),
        ("P", "mod m { #[session] type A = Send<S, L, End>; }"),
        ("P", "mod m { type A = Send<S, L, End>; {} }"),
        ("P", "mod m { type A = Send<S, L, End>; () }"),
        ("P", "mod m { type A = Send<S, L, End>; # }"),
    ];
    let mut hashes: Vec<_> =
        sources.iter().map(|(arguments, item)| hash(arguments, tokens(item))).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), sources.len());
}

#[test]
fn hashes_are_the_same_on_every_machine() {
    // FNV-1a as in its definition, over `i` `a` 0xff.
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let expected = [b'i', b'a', 0xff].iter().fold(0xcbf2_9ce4_8422_2325_u64, step);
    let mut hasher = Hasher::default();
    hasher.tokens(quote!(
        #[doc = "b"]
        a
    ));
    assert_eq!(hasher.finish(), expected);
    assert_ne!(stamp("a"), stamp("a\0"));
}

fn arguments(kind: ModuleKind, source: &str) -> syn::Result<Arguments> {
    Arguments::parse(kind, tokens(source), proc_macro2::Span::call_site())
}

#[test]
fn all_arguments() {
    let source = "P, routes = net::Net, derive(Clone, serde::Serialize,), fair(p, q), every_run, accept_closed_system, \
                  limits(bound = 20, states = 1_000), crate = \"::rt::inner\",";
    let all = arguments(ModuleKind::Protocol, source).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(all.protocol.unwrap(), "P");
    let text = |path: &syn::Path| path.to_token_stream().to_string();
    assert_eq!(all.routes.as_ref().map(text).as_deref(), Some("net :: Net"));
    assert_eq!(all.derives.iter().map(text).collect::<Vec<_>>(), ["Clone", "serde :: Serialize"]);
    let liveness = all.liveness.iter().map(|(it, roles)| (*it, roles.len())).collect::<Vec<_>>();
    assert_eq!(liveness, [(Liveness::Fair, 2), (Liveness::EveryRun, 0)]);
    assert!(all.accepts_closed_system);
    let limits =
        all.limits.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>();
    assert_eq!(limits, ["bound 20", "states 1000"]);
    assert_eq!(all.krate.as_ref().map(text).as_deref(), Some(":: rt :: inner"));
    let room = |source| arguments(ModuleKind::ClosedSystem, source).unwrap_or_default().room;
    assert!(matches!(room("capacity = 4"), Some(Room::Capacity(4, _))));
    assert!(matches!(room("unbounded"), Some(Room::Unbounded)));
    let closed = arguments(ModuleKind::ClosedSystem, "derive(Clone), crate = \"rt\"");
    assert!(closed.is_ok_and(|it| it.protocol.is_none() && it.derives.len() == 1));
}

#[test]
fn refused_arguments() {
    let name = "expected the name of the protocol first: `#[rumpsteak::protocol(DoubleBuffering)]`";
    let option = "expected nothing more, or one of these, after a comma";
    let closed = "a closed system has no protocol: expected nothing, or one of these";
    let runtime = "expected the path of the runtime: `crate = \"rumpsteak_runtime\"`";
    let routes = "expected the type of routes, without arguments: `routes = rumpsteak_net::Net`";
    for (source, at, expected) in [
        ("", "", name),
        ("fair(p), P", "fair", name),
        ("routes = Net", "routes", name),
        ("crate = \"rt\"", "crate", name),
        (
            "\"protocols/double_buffering.scr\"",
            "\"protocols/double_buffering.scr\"",
            "expected the name of the protocol, without quotes: `#[rumpsteak::protocol(DoubleBuffering)]`",
        ),
        ("P Q", "Q", option),
        ("P, Q", "Q", option),
        ("a::B", ":", option),
        ("P, fair fair", "fair", option),
        ("P, fair, fair", "fair", "`fair` stands here twice"),
        (
            "P, fair()",
            "fair",
            "expected roles of the protocol: `fair(p, q)`, or `fair` for all of them",
        ),
        ("P, crate = rt", "rt", runtime),
        ("P, crate = \"1\"", "\"1\"", runtime),
        ("P, crate = \"((((\"", "\"((((\"", runtime),
        ("P, routes(Net)", "(", routes),
        ("P, routes = \"Net\"", "\"Net\"", routes),
        ("P, routes = net::Net<Label>", "<", routes),
        ("P, capacity = 0", "0", "expected the number of messages that a queue has room for"),
        (
            "P, capacity = 1, unbounded",
            "unbounded",
            "`capacity` and `unbounded` exclude each other",
        ),
        ("P, derive", "", "expected derives of messages: `derive(Clone, Debug)`"),
        ("P, derive(Clone Debug)", "Debug", "expected derives of messages: `derive(Clone, Debug)`"),
        ("P, limits(bound = -1)", "-1", "expected limits of the verifier: `limits(queue = 128)`"),
        ("P, limits(bound)", ")", "expected limits of the verifier: `limits(queue = 128)`"),
        ("-P", "P", closed),
        ("-fair", "fair", closed),
        ("-routes = Net", "routes", closed),
        ("-\"p.scr\"", "\"p.scr\"", closed),
    ] {
        let (kind, source) = match source.strip_prefix('-') {
            Some(rest) => (ModuleKind::ClosedSystem, rest),
            None => (ModuleKind::Protocol, source),
        };
        let Err(error) = arguments(kind, source) else { panic!("`{source}` was accepted") };
        assert!(error.to_string().starts_with(expected), "{source}: {error}");
        assert_eq!(&source[error.span().byte_range()], at, "{source}");
    }
}

/// A sequence of numbers that is the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Parses all modules of a text, if it is Rust.
fn run(source: &str) {
    let Ok(tokens) = source.parse::<TokenStream>() else { return };
    for (kind, arguments, item) in modules(tokens) {
        if let Ok(module) = Module::parse(kind, arguments, item) {
            drop(
                module.errors.into_iter().map(|error| error.to_compile_error()).collect::<Vec<_>>(),
            );
        }
    }
}

#[test]
fn no_text_panics() {
    let words: Vec<&str> = "type struct enum use mod fn pub # #[session] #[session(K)] #[derive(Role)] #[derive(Message)] #[derive(Roles)] \
                            #[route(S)] #[message(L)] #[label(\"a\")] #[protocol(P)] Send Receive Select Branch Race End Self A B L S < > < > , , ; ; \
                            :: = ( ) [ ] { } ' \"a\" 3 - & ! const impl"
        .split_whitespace()
        .collect();
    let mut random = Random(1);
    for _ in 0..3_000 {
        let (mut text, mut open) = ("#[protocol(P)] mod a {".to_owned(), Vec::new());
        for _ in 0..random.below(40) {
            let word = words[random.below(words.len())];
            let closing = match word {
                "(" => Some(")"),
                "[" => Some("]"),
                "{" => Some("}"),
                ")" | "]" | "}" => {
                    text += open.pop().unwrap_or_default();
                    continue;
                }
                _ => None,
            };
            open.extend(closing);
            text += &format!("{word} ");
        }
        open.iter().rev().for_each(|closing| text += closing);
        run(&(text + "}"));
    }
}

#[test]
fn texts_of_any_depth_are_refused() {
    const DEPTH: usize = 400;
    let attributes =
        ["", "#[derive(Role)]", "#[derive(Roles)]", "#[derive(Message)]", "#[session]"];
    let nests = [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("Vec<", ">"),
        ("&", ""),
        ("*const ", ""),
        ("fn() -> ", ""),
        ("-", ""),
        ("!", ""),
        ("dyn Fn() -> ", ""),
        ("a + ", ""),
        ("a as ", ""),
        ("a.", ""),
        ("()", ""),
        ("[0]", ""),
        ("<", ""),
        ("|x| ", ""),
        ("&Vec<", ">"),
        ("a = ", ""),
        ("if a { } else ", ""),
        ("return ", ""),
        ("Send<S, L, ", ">"),
        ("for<'a> ", ""),
        ("a::<", ">"),
        ("x!(", ")"),
    ];
    for (open, close) in nests {
        for depth in [20, 45, DEPTH] {
            let nested = format!("{}u8{}", open.repeat(depth), close.repeat(depth));
            for attribute in attributes {
                if depth == DEPTH && !matches!(attribute, "" | "#[session]") {
                    continue;
                }
                let items = [
                    format!("struct A({nested});"),
                    format!("struct A {{ a: {nested} }}"),
                    format!("type A = {nested};"),
                    format!("enum A {{ B({nested}), C([u8; {nested}]) = {nested} }}"),
                    format!("#[doc = {nested}] struct A;"),
                    format!(
                        "struct A<T: {nested}, const N: usize = {nested}> where {nested}: {nested};"
                    ),
                    format!("pub(in {nested}) struct A;"),
                    format!("#![a = {nested}]"),
                ];
                for item in items {
                    run(&format!("#[protocol(P)] #[a = 3] mod a {{ {attribute} {item} }}"));
                }
            }
            run(&format!("#[protocol(P, {nested})] mod a {{}}"));
            run(&format!("#[protocol(P)] #[a = {nested}] pub({nested}) mod a {{}}"));
        }
    }
    // Long before a recursive parser is called.
    for (open, close) in [("(", ")"), ("{", "}"), ("(A, ", ")"), ("Vec<", ">"), ("&", "")] {
        let nested = format!("{}u8{}", open.repeat(10_000), close.repeat(10_000));
        run(&format!("#[protocol(P)] mod a {{ #[a({nested})] enum A {{ B({nested}) }} }}"));
        run(&format!("#[protocol({nested})] #[a = {nested}] mod a {{ {nested} }}"));
    }
}

#[test]
fn attributes_of_the_file_are_not_those_of_its_first_module() {
    let text = "//! A file.\n#![allow(dead_code)]\n/// A module.\n#[protocol(P)] mod p {}\n";
    let nested = format!("mod m {{ #![allow(dead_code)] {text} }}");
    for text in [text, &nested] {
        let module = module(text);
        assert_eq!((module.name.to_string(), module.attributes.len()), ("p".to_owned(), 1));
    }
}

#[test]
fn a_second_item_of_a_name_is_a_mistake() {
    let (items, errors) = show("struct A; #[session(K)] type A = End; struct B;");
    assert_eq!(items, "Label A, Other? -, Label B");
    assert_eq!(errors, ["A: a second `A` in this module"]);
}

#[test]
fn a_label_in_the_place_of_a_choice_stays_a_label() {
    let (items, errors) = show("#[session(K)] type A = Branch<S, Run>; struct Run(Job);");
    assert_eq!((&*items, errors.len()), ("Session A, Label Run", 0));
}

#[test]
fn a_route_sends_and_receives_the_messages_of_its_role() {
    for (ty, expected) in [
        ("Channel<Label>", None),
        ("Receiver<Label>", None),
        ("Own<Label>", None),
        ("Channel<Job>", Some("carries other messages than `Label`")),
        ("tokio::sync::mpsc::Sender<Label>", Some("is not a route")),
        ("(Sender<Label>, Receiver<Label>)", Some("is not a route")),
    ] {
        let source = format!("#[derive(Role)] #[message(Label)] struct K(#[route(S)] {ty});");
        let (_, errors) = show(&source);
        let is_right = match expected {
            Some(part) => errors.len() == 1 && errors[0].contains(part),
            None => errors.is_empty(),
        };
        assert!(is_right, "{ty}: {errors:?}");
    }
}
