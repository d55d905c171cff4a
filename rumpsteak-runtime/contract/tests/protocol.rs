//! The arguments of `protocol!(…)`.

use rumpsteak_contract::ProtocolItem;

fn parse(arguments: &str) -> ProtocolItem {
    let tokens = arguments.parse();
    let tokens = tokens.unwrap_or_else(|error| panic!("{arguments}: {error}"));
    ProtocolItem::parse(tokens).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_name_with_a_visibility_and_attributes() {
    let plain = parse("DoubleBuffering");
    assert_eq!((plain.module().as_str(), plain.is_public()), ("double_buffering", false));
    assert_eq!(plain.name_token, 0);

    let public = parse("#[doc = \"text\"] pub(crate) DoubleBuffering");
    assert!(public.is_public());
    assert_eq!(public.name_token, 4);
    assert_ne!(plain.key.hash(), public.key.hash());
}

#[test]
fn anything_else_is_refused_with_an_example() {
    for arguments in ["", "A, B", "A, crate", "\"A\"", "a::B"] {
        let error =
            ProtocolItem::parse(arguments.parse().unwrap()).map(|item| item.name.to_string());
        let error = error.map_err(|error| error.to_string());
        assert!(
            matches!(&error, Err(text) if text.contains("`protocol!(DoubleBuffering);`")),
            "{arguments}: {error:?}"
        );
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
