//! The arguments of `protocol!(…)`.

use rumpsteak_contract::ProtocolItem;

fn parse(arguments: &str) -> ProtocolItem {
    let tokens = arguments.parse();
    let tokens = tokens.unwrap_or_else(|error| panic!("{arguments}: {error}"));
    ProtocolItem::parse(tokens).unwrap_or_else(|error| panic!("{error}"))
}

const ROUTES: &str =
    "expected the type of routes, without arguments: `routes = rumpsteak_net::Net`";

#[test]
fn a_name_with_a_visibility_and_attributes() {
    let plain = parse("DoubleBuffering");
    let of = |item: &ProtocolItem| (item.module(), item.visibility.to_string().replace(' ', ""));
    assert_eq!(of(&plain), ("double_buffering".to_owned(), "pub(crate)".to_owned()));
    assert_eq!(plain.name_token, 0);

    let public = parse("#[doc = \"text\"] pub(super) DoubleBuffering");
    assert_eq!(of(&public), ("double_buffering".to_owned(), "pub(super)".to_owned()));
    assert_eq!(public.name_token, 4);
    assert_ne!(plain.key.hash(), public.key.hash());
}

#[test]
fn anything_else_is_refused_with_an_example() {
    let name = "expected the name of a protocol: `protocol!(DoubleBuffering);`";
    let end = "expected nothing more, or `routes = …` and `derive(…)`, in this order: \
               `protocol!(DoubleBuffering, routes = rumpsteak_net::Net, derive(Clone))`";
    for (arguments, expected) in [
        ("", name),
        ("\"A\"", name),
        ("A, B", end),
        ("A, crate", end),
        ("a::B", end),
        ("A; B", end),
    ] {
        let error = ProtocolItem::parse(arguments.parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{arguments}");
    }
}

#[test]
fn the_runtime_may_have_another_name() {
    let krate = |arguments: &str| parse(arguments).krate.to_string();
    assert_eq!(krate("A"), ":: rumpsteak_runtime");
    assert_eq!(krate("A, crate = \"rt::inner\""), "rt :: inner");
    for arguments in ["A, crate = rt", "A, crate = \"1\""] {
        let error = ProtocolItem::parse(arguments.parse().unwrap()).unwrap_err();
        let text = "expected the path of the runtime: `crate = \"rumpsteak_runtime\"`";
        assert_eq!(error.to_string(), text, "{arguments}");
    }
}

#[test]
fn routes_and_derives_are_chosen() {
    let plain = parse("A");
    assert_eq!((plain.routes.clone(), plain.derives.clone()), (None, Vec::new()));
    let chosen = parse("A, crate = \"rt\", routes = net::Net, derive(Clone, serde::Serialize,)");
    assert_eq!(chosen.routes.as_deref(), Some("net::Net"));
    assert_eq!(chosen.derives, ["Clone", "serde::Serialize"]);
    assert_eq!(chosen.variant(), "rt routes net::Net derive Clone derive serde::Serialize");
    assert_eq!(plain.variant(), plain.runtime);
    for (arguments, expected) in [
        ("A, routes(Net)", ROUTES),
        ("A, routes = \"Net\"", ROUTES),
        ("A, routes = rumpsteak_net::Net<Label>", ROUTES),
        ("A, derive", "expected derives of messages: `derive(Clone, Debug)`"),
        ("A, derive(Clone Debug)", "expected derives of messages: `derive(Clone, Debug)`"),
    ] {
        let error = ProtocolItem::parse(arguments.parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{arguments}");
    }
}
