//! The public interface: origins of transitions, declared sorts, roles and their places.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use rumpsteak_fsm::Role;
use rumpsteak_scribble::{Code, Limits, Modules, check, parse};

#[test]
fn a_transition_remembers_every_interaction_that_it_stands_for() {
    let source = "global protocol P(role A, role B, role C) {
        rec X {
            choice at A {
                more() from A to B; x(Int) from B to C; continue X;
            } or {
                done() from A to B; x(Int) from B to C; end() from B to C;
            }
        }
    }";
    let checked = check(&parse(source).module);
    let projection = checked.protocols[0].project(&Role::from("C")).unwrap();
    let origins: Vec<_> = projection
        .fsm
        .transitions()
        .map(|transition| {
            let spans = projection.origins(transition.id).iter();
            let lines: Vec<_> = spans.map(|span| (span.start(), &source[span.range()])).collect();
            (transition.action.to_string(), lines)
        })
        .collect();
    let at = |text: &str| source.find(text).unwrap();
    let first = at("x(Int)");
    let second = first + 1 + source[first + 1..].find("x(Int)").unwrap();
    let x = vec![(first, "x(Int) from B to C;"), (second, "x(Int) from B to C;")];
    assert_eq!(
        origins,
        [
            // Before the first `x` nothing can have ended.
            ("B?x(Int)".to_owned(), x.clone()),
            ("B?x(Int)".to_owned(), x),
            ("B?end".to_owned(), vec![(at("end()"), "end() from B to C;")]),
        ]
    );
}

#[test]
fn equivalent_states_are_one_and_keep_their_origins() {
    let source = "global protocol P(role A, role B) {
        choice at A { l() from A to B; z() from B to A; } or { r() from A to B; z() from B to A; }
    }";
    let checked = check(&parse(source).module);
    let projection = checked.protocols[0].project(&Role::from("B")).unwrap();
    let counts: Vec<_> = projection
        .fsm
        .transitions()
        .map(|transition| (transition.action.to_string(), projection.origins(transition.id).len()))
        .collect();
    assert_eq!(counts, [("A?l".to_owned(), 1), ("A?r".to_owned(), 1), ("A!z".to_owned(), 2)]);
}

#[test]
fn a_protocol_knows_where_its_parts_are() {
    let source = "global protocol P(role Alice, role Bob) { m() from Alice to Bob; }";
    let checked = check(&parse(source).module);
    let protocol = &checked.protocols[0];
    assert_eq!(&source[protocol.name().span.range()], "P");
    let span = protocol.role_span(&Role::from("Bob")).unwrap();
    assert_eq!(&source[span.range()], "Bob");
    assert_eq!(protocol.role_span(&Role::from("Carol")), None);
    assert_eq!(protocol.roles(), [Role::from("Alice"), Role::from("Bob")]);
}

#[test]
fn sorts_and_messages_are_looked_up_in_all_modules() {
    let base = "type <rust> \"crate::Money\" from \"src/money.rs\" as Money; sig <rust> \"crate::Stop\" as Stop;";
    let source = "import base; type <rust> \"std::string::String\" from \"std\" as Str;";
    let (modules, errors) = Modules::load(source, |name| (name == "base").then(|| base.to_owned()));
    assert_eq!(errors, []);
    assert_eq!(modules.sort("Str").unwrap().external.as_str(), "std::string::String");
    let money = modules.sort("Money").unwrap();
    assert_eq!((money.schema.as_str(), money.external.as_str()), ("rust", "crate::Money"));
    assert_eq!(money.span.source().index(), 1);
    assert_eq!(modules.sort("Stop"), None);
    assert_eq!(modules.check(&Limits::default()).diagnostics, []);
}

#[test]
fn a_text_that_is_read_alone_cannot_import() {
    let checked =
        check(&parse("import base; global protocol P(role A, role B) { do base.Q(A, B); }").module);
    let codes: Vec<_> = checked.diagnostics.iter().map(|error| error.code).collect();
    assert_eq!(codes, [Code::Unsupported]);
}

#[test]
fn a_module_line_that_names_another_folder_is_a_warning_unless_an_import_needs_it() {
    let place = ["market", "Orders"];
    let is_error = |source: &str, imported: &str| {
        let (modules, errors) = Modules::load(source, |_| Some(imported.to_owned()));
        assert_eq!(errors, []);
        modules.misplaced(&place).map(|found| found.is_error)
    };
    assert_eq!(is_error("module market.Orders;", ""), None);
    assert_eq!(is_error("module Orders;", ""), None);
    assert_eq!(is_error("module shop.Orders;", ""), Some(false));
    assert_eq!(is_error("module shop.Basket;", ""), Some(true));
    let source = "module shop.Orders; import shop.Base;";
    assert_eq!(is_error(source, ""), Some(false));
    let imported = "module shop.Base; import shop.Orders;";
    assert_eq!(is_error(source, imported), Some(true));
}

#[test]
fn all_roles_are_projected_or_all_errors_are_told() {
    let source = "global protocol P(role A, role B, role C, role D) {
        choice at A { l() from A to B; m() from C to D; } or { r() from A to B; }
    }";
    let checked = check(&parse(source).module);
    let errors = checked.protocols[0].project_all().unwrap_err();
    let codes: Vec<_> = errors.iter().map(|error| error.code).collect();
    assert_eq!(codes, [Code::SendUnknown, Code::NeverTold]);

    let checked = check(&parse("global protocol P(role A, role B) { m() from A to B; }").module);
    let roles: Vec<_> = checked.protocols[0].project_all().unwrap();
    let roles: Vec<_> = roles.iter().map(|found| found.fsm.role().as_str()).collect();
    assert_eq!(roles, ["A", "B"]);
}
