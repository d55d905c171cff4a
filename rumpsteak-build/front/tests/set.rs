//! Sets of roles, and those that are closed systems.

use rumpsteak_contract::SetItem;

fn parse(item: &str) -> syn::Result<SetItem> {
    SetItem::parse(item.parse().unwrap_or_default())
}

#[test]
fn the_roles_of_a_set() {
    for item in [
        "#[closed_system] pub struct Roles { pub s: S, k: a::K }",
        "/// x\n#[closed_system] struct Roles(S, pub a::K);",
    ] {
        let set = parse(item).unwrap_or_else(|error| panic!("{error}"));
        assert!(set.is_closed_system);
        let roles: Vec<String> = set.roles().map(ToString::to_string).collect();
        assert_eq!((set.name.to_string().as_str(), roles.join(" ").as_str()), ("Roles", "S a::K"));
    }
    let without = parse("#[other] struct Roles { s: Box<S> }");
    assert!(without.is_ok_and(|set| !set.is_closed_system));
}

#[test]
fn what_is_no_set() {
    for (item, expected) in [
        ("#[closed_system(kmc)] struct R { s: S }", "`#[closed_system]` takes no argument"),
        (
            "#[closed_system] #[closed_system] struct R { s: S }",
            "`#[closed_system]` stands here twice",
        ),
        ("#[closed_system] enum R {}", "expected a struct with one field for each role"),
        ("#[closed_system] struct R { s: Option<S> }", "expected the name of a role"),
    ] {
        let Err(error) = parse(item) else { panic!("{item}") };
        assert!(error.to_string().contains(expected), "{item}: {error}");
    }
}
