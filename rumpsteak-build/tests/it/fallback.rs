//! The fallback: a session that its projection refuses, and that is safe with the sessions of its
//! peers.

use std::fs;
use std::path::Path;

use crate::support::{begins, ends, only, package, says, verified};
use rumpsteak_build::command::Check;
use rumpsteak_build::{Limits, configure};

const PROTOCOL: &str =
    "global protocol Swap(role a, role b) {\n  x() from a to b;\n  y() from b to a;\n}\n";

const ROLES: &str = "\
#[derive(Role)] #[protocol(Swap::a)] #[message(Label)] pub struct A { #[route(B)] b: Channel<Label> }
#[derive(Role)] #[protocol(Swap::b)] #[message(Label)] pub struct B { #[route(A)] a: Channel<Label> }
#[derive(Message)] pub enum Label { X(X), Y(Y) }
pub struct X;
pub struct Y;
";

/// Waits for what the protocol has `b` send only afterwards.
const LATE: &str = "#[session(A)] pub type Late = Receive<B, Y, Send<B, X, End>>;\n";
/// Sends it at once, which the protocol allows.
const EARLY: &str = "#[session(B)] pub type Early = Send<A, Y, Receive<A, X, End>>;\n";
/// As the protocol has it.
const PLAIN: &str = "#[session(B)] pub type Plain = Receive<A, X, Send<A, Y, End>>;\n";

fn check(name: &str, accepted: &[&str], parts: &[&str]) -> Check {
    check_with(name, accepted, parts, Limits::default())
}

fn check_with(name: &str, accepted: &[&str], parts: &[&str], limits: Limits) -> Check {
    let source = [&[ROLES], parts].concat().concat();
    let files = [("protocols/swap.scr", PROTOCOL), ("src/lib.rs", &source)];
    let folder = package(&format!("fallback/{name}"), &files);
    let mut configuration = configure().protocols("protocols").limits(limits);
    for protocol in accepted {
        configuration = configuration.accept_closed_system(*protocol);
    }
    verified(configuration, &folder)
}

/// The text of the only problem, which is that `Late` is refused.
#[track_caller]
fn refused(check: &Check) -> &str {
    let problem = only(check);
    begins(
        &problem.text,
        "unsafe reordering: `Late` receives `Y` from `B` before it sends `X` to `B`",
    );
    &problem.text
}

#[test]
fn the_diagnostic_says_that_all_sessions_together_are_safe() {
    let check = check("said", &[], &[LATE, EARLY]);
    ends(
        refused(&check),
        "\n\nnote: together with the sessions of all other roles as they are written here, it is safe (1-multiparty \
             compatible)\n\
             help: if no other program plays a role of `Swap`, accept that in build.rs:\n      \
             rumpsteak_build::configure().protocols(\"protocols\").accept_closed_system(\"Swap\").verify()?;",
    );
    assert_eq!((check.summary.sessions, check.summary.verified), (2, 1));
}

#[test]
fn it_is_accepted_where_the_build_script_says_so() {
    for name in ["Swap", "swap"] {
        let check = check("accepted", &[name], &[LATE, EARLY]);
        assert!(check.holds(), "{:?}", check.problems);
        assert_eq!((check.summary.sessions, check.summary.verified), (2, 2));
        assert_eq!(check.warnings, Vec::<String>::new());
    }
    // Where nothing is refused, nothing is said.
    let check = check("needless", &["Swap"], &[EARLY]);
    assert!(check.holds(), "{:?}", check.problems);
}

#[test]
fn a_role_without_a_session_may_be_played_by_anybody() {
    let silent = check("silent", &["Swap"], &[LATE]);
    ends(
        refused(&silent),
        "note: `accept_closed_system(\"Swap\")` does not help: the role `b` has no session in this package, so that it is not \
             known what the others meet",
    );
    let plain = check("silent-plain", &[], &[LATE]);
    assert!(!refused(&plain).contains("multiparty"), "{}", refused(&plain));
}

#[test]
fn every_session_of_every_role_counts() {
    let mixed = check("mixed", &["Swap"], &[LATE, EARLY, PLAIN]);
    let text = refused(&mixed);
    // A run is shown above it.
    says(text, "nobody can move\n");
    ends(
        text,
        "note: `accept_closed_system(\"Swap\")` does not help: the system of all sessions as they are written, with `Plain`, gets stuck",
    );
    assert_eq!((mixed.summary.sessions, mixed.summary.verified), (3, 2));
    // Not even a session of another target of the package is left out.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fallback/mixed");
    fs::write(folder.join("src/lib.rs"), [ROLES, LATE, EARLY].concat()).unwrap();
    fs::write(folder.join("src/main.rs"), [ROLES, PLAIN].concat()).unwrap();
    let configuration = configure().protocols("protocols").accept_closed_system("Swap");
    let targets = verified(configuration, &folder);
    assert!(refused(&targets).contains("does not help: the system of all sessions"));
}

#[test]
fn a_session_with_an_error_is_not_known() {
    let early = EARLY.replace("Send<A, Y", "Send<A, Z");
    let check = check("unread", &["Swap"], &[LATE, &early]);
    assert!(
        check.problems.iter().any(|problem| problem
            .text
            .ends_with("does not help: the session `Early` has an error, so that it is not known what the others meet")),
        "{:?}",
        check.problems
    );
    assert_eq!(check.summary.verified, 0);
}

#[test]
fn a_limit_is_an_answer() {
    let limits = Limits::default().configurations(1);
    let check = check_with("limit", &["Swap"], &[LATE, EARLY], limits);
    says(
        &check.problems[0].text,
        "it is not known whether all sessions together are safe: the system has more than 1",
    );
}

#[test]
fn a_name_of_no_protocol_is_a_warning() {
    let check = check("unknown", &["Swop"], &[LATE, EARLY]);
    assert!(refused(&check).contains("accept that in build.rs"));
    assert_eq!(
        check.warnings,
        [
            "build.rs: `accept_closed_system(\"Swop\")` names no protocol that roles can play; did you mean `Swap`?"
        ]
    );
}
