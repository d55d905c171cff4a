//! Bottom-up: sets of roles without a protocol.

use std::fs;
use std::path::Path;

use crate::support::{begins, ends, package, says, verified};
use rumpsteak_build::command::{Check, Problem};
use rumpsteak_build::{Limits, configure};

const ROLES: &str = "\
#[derive(Roles)] #[closed_system] pub struct Roles { pub s: S, pub k: K, pub t: T }
#[derive(Role)] #[message(Label)] pub struct S { #[route(K)] k: Channel<Label> }
#[derive(Role)] #[message(Label)] pub struct K { #[route(S)] s: Channel<Label>, #[route(T)] t: Channel<Label> }
#[derive(Role)] #[message(Label)] pub struct T { #[route(K)] k: Channel<Label> }
#[derive(Message)] pub enum Label { Ready(Ready), Value(Value) }
pub struct Ready;
pub struct Value(pub i32);
";

const SOURCE: &str = "#[session(S)] pub type Source = SourceLoop;\n#[session] pub struct SourceLoop(Receive<K, Ready, Send<K, Value, Self>>);\n";
const SINK: &str = "#[session(T)] pub type Sink = SinkLoop;\n#[session] pub struct SinkLoop(Send<K, Ready, Receive<K, Value, Self>>);\n";
/// PPoPP'22, Fig. 4b.
const KERNEL: &str = "\
#[session(K)] pub type Kernel = Send<S, Ready, KernelLoop>;
#[session] pub struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
";

fn check_with(name: &str, parts: &[&str], limits: Limits) -> Check {
    let files = [("src/lib.rs", &*parts.concat())];
    let folder = package(&format!("system/{name}"), &files);
    verified(configure().limits(limits), &folder)
}

fn check(name: &str, parts: &[&str]) -> Check {
    check_with(name, parts, Limits::default())
}

/// The problem with the most lines, and how many others there are, each of one line.
#[track_caller]
fn main_problem(check: &Check) -> (&Problem, usize) {
    let (long, short): (Vec<&Problem>, Vec<&Problem>) =
        check.problems.iter().partition(|problem| problem.text.contains('\n'));
    let [problem] = long[..] else { panic!("{:?}", check.problems) };
    for other in &short {
        ends(&other.text, "not verified: the error about `Roles` says why");
    }
    (problem, short.len())
}

#[test]
fn a_set_that_is_safe() {
    let check = check("safe", &[ROLES, SOURCE, KERNEL, SINK]);
    assert!(check.holds(), "{:?}", check.problems);
    assert_eq!((check.summary.sessions, check.summary.verified), (3, 3));
    assert_eq!(check.warnings, Vec::<String>::new());
}

#[test]
fn every_combination_counts() {
    let plain = "#[session(K)] pub type Plain = KernelLoop;\n";
    let both = check("both", &[ROLES, SOURCE, KERNEL, plain, SINK]);
    assert!(both.holds(), "{:?}", both.problems);
    assert_eq!(both.summary.verified, 4);

    // Nothing is wrong with a kernel that asks first, but with one that does not.
    let waiting = "#[session(K)] pub type Waiting = Receive<S, Value, KernelLoop>;\n";
    let one = check("one", &[ROLES, SOURCE, KERNEL, waiting, SINK]);
    let (problem, others) = main_problem(&one);
    says(&problem.text, "the system of `Roles` gets stuck");
    assert_eq!((one.summary.verified, others), (0, 3), "{:?}", one.problems);
}

#[test]
fn an_unsafe_set_fails_at_the_last_step_of_the_run() {
    let kernel = "\
#[session(K)] pub type Kernel = KernelLoop;
#[session] pub struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<S, Value, Send<T, Value, Self>>>>);
";
    let check = check("last", &[ROLES, SOURCE, kernel, SINK]);
    let (problem, others) = main_problem(&check);
    // The kernel never listens to the sink, whose first step is the last one of the shortest run.
    assert_eq!(others, 2);
    let text = &problem.text;
    let expected = "`SinkLoop` sends `Ready` to `K`, and the system of `Roles` leaves a message from `T` to `K` behind\n\n\
                    the shortest run that does, with the sessions of all roles as they are written:\n\n";
    begins(text, expected);
    says(text, "in the queue from T to K: Ready");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("system/last/src/lib.rs");
    let source = fs::read_to_string(file).unwrap();
    assert!(source[problem.range.start..].starts_with("Send<K, Ready, Receive<K, Value, Self>>"));
}

#[test]
fn a_set_that_waits_for_a_role_that_has_ended_fails_where_it_ends() {
    let source = "#[session(S)] pub type Source = Send<K, Ready, Send<K, Value, End>>;\n";
    let kernel = "#[session(K)] pub type Kernel = Receive<S, Ready, Receive<S, Value, Send<T, Ready, Receive<S, Value, End>>>>;\n";
    let sink = "#[session(T)] pub type Sink = Receive<K, Ready, End>;\n";
    let check = check("ended", &[ROLES, source, kernel, sink]);
    let (problem, others) = main_problem(&check);
    assert_eq!(others, 2);
    begins(&problem.text, "`Source` sends `Value` to `K`, and the system of `Roles` gets stuck\n");
    says(&problem.text, "K waits for Value(i32) from S");
}

#[test]
fn a_set_that_waits_for_what_is_never_sent_fails_there() {
    let source = "#[session(S)] pub type Source = Send<K, Ready, End>;\n";
    let kernel = "#[session(K)] pub type Kernel = Receive<S, Ready, Send<T, Ready, Receive<S, Value, End>>>;\n";
    let sink = "#[session(T)] pub type Sink = Receive<K, Ready, End>;\n";
    let check = check("unsent", &[ROLES, source, kernel, sink]);
    let (problem, others) = main_problem(&check);
    assert_eq!(others, 2);
    let expected = "`Kernel` receives `Value` from `S`, which never sends it: the system of `Roles` gets stuck\n";
    begins(&problem.text, expected);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("system/unsent/src/lib.rs");
    let text = fs::read_to_string(file).unwrap();
    assert!(text[problem.range.start..].starts_with("Receive<S, Value, End>"));
}

#[test]
fn a_set_whose_roles_wait_for_each_other_fails_where_the_first_does() {
    let source = "#[session(S)] pub type Source = Receive<K, Ready, Send<K, Value, End>>;\n";
    let kernel = "#[session(K)] pub type Kernel = Send<T, Ready, Later>;\n#[session] pub type Later = Receive<S, Value, Send<S, Ready, End>>;\n";
    let sink = "#[session(T)] pub type Sink = Receive<K, Ready, End>;\n";
    let check = check("circle", &[ROLES, source, kernel, sink]);
    let (problem, others) = main_problem(&check);
    assert_eq!(others, 2);
    let expected = "`Source` receives `Ready` from `K`, which sends it only after it receives `Value` from `S`: the system of `Roles` gets stuck\n";
    begins(&problem.text, expected);
    let end = "src/lib.rs:10\nhelp: let one of these roles send before it receives";
    ends(&problem.text, end);
    says(&problem.text, "\n\nnote: `Later` receives `Value` from `S`, at ");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("system/circle/src/lib.rs");
    let text = fs::read_to_string(file).unwrap();
    assert!(text[problem.range.start..].starts_with("Receive<K, Ready, Send"));

    // The source waits for a circle that it is not in.
    let kernel = "#[session(K)] pub type Kernel = Receive<T, Value, Send<T, Ready, Send<S, Ready, Receive<S, Value, End>>>>;\n";
    let sink = "#[session(T)] pub type Sink = Receive<K, Ready, Send<K, Value, End>>;\n";
    let beside = self::check("beside", &[ROLES, source, kernel, sink]);
    let (problem, _) = main_problem(&beside);
    begins(
        &problem.text,
        "`Kernel` receives `Value` from `T`, which sends it only after it receives `Ready` from `K`: ",
    );
}

#[test]
fn a_set_of_which_a_role_has_several_sessions_names_the_one() {
    let idle = "#[session(T)] pub type Idle = Send<K, Ready, End>;\n";
    let check = check("several", &[ROLES, SOURCE, KERNEL, SINK, idle]);
    let (problem, _) = main_problem(&check);
    let help = "\nhelp: this is so with `Idle`, of a role that has several sessions: one that is only a part of another has \
                `#[session]` without a role";
    assert!(problem.text.ends_with(help), "{}", problem.text);
}

#[test]
fn a_route_that_is_missing_is_said_at_the_role() {
    let roles = ROLES.replace(", #[route(T)] t: Channel<Label>", "");
    let check = check("route", &[&roles, SOURCE, KERNEL, SINK]);
    let (problem, others) = main_problem(&check);
    assert_eq!(
        problem.text,
        "a session of `K` has `T` as a peer, and `K` has no route to it\n\n\
         help: add the field `#[route(T)] t: Channel<Label>`"
    );
    assert_eq!((problem.line, others), (3, 2));
}

#[test]
fn a_variant_that_carries_another_type_than_the_struct_of_its_label() {
    let roles = ROLES.replace("Value(Value)", "Value(i32)");
    let check = check("variant", &[&roles, SOURCE, KERNEL, SINK]);
    let problem = &check.problems[0];
    assert_eq!(
        problem.text,
        "`Value` is no message of the role that plays `Roles::S`: its variant carries `i32`\n\n\
         help: a variant carries the struct of its label: `Value(Value)`"
    );
}

#[test]
fn a_role_without_a_session() {
    let check = check("silent", &[ROLES, SOURCE, KERNEL]);
    let (problem, others) = main_problem(&check);
    assert_eq!(
        problem.text,
        "`Roles` could not be verified: its role `T` has no session\n\n\
         help: write one, `#[session(T)] type …`; without it, nobody knows what its peers may rely on"
    );
    assert_eq!((problem.line, others), (1, 2));
}

#[test]
fn a_session_with_an_error_is_the_only_long_one() {
    let sink = SINK.replace("Receive<K, Value, Self>", "Receive<K, Valeu, Self>");
    let check = check("error", &[ROLES, SOURCE, KERNEL, &sink]);
    let (problem, others) = main_problem(&check);
    says(&problem.text, "`Valeu`");
    assert!(others >= 2, "{:?}", check.problems);
    assert_eq!(check.summary.verified, 0);
}

#[test]
fn what_cannot_be_found_out_is_refused() {
    // The source sends as fast as it can, and nobody ever answers.
    let source = "#[session(S)] pub struct Source(Send<K, Value, Self>);\n";
    let kernel = "#[session(K)] pub struct Kernel(Receive<S, Value, Send<T, Value, Self>>);\n";
    let sink = "#[session(T)] pub struct Sink(Receive<K, Value, Self>);\n";
    let parts = [ROLES, source, kernel, sink];
    let fine = check("ahead", &parts);
    assert!(fine.holds(), "{:?}", fine.problems);
    let limits = Limits::default().configurations(1);
    let short = check_with("ahead-limited", &parts, limits);
    let (problem, others) = main_problem(&short);
    begins(
        &problem.text,
        "`Roles` could not be verified: the system has more than 1 configurations (limit `configurations`)",
    );
    assert_eq!(others, 3);
}

#[test]
fn sets_that_are_none() {
    for (name, from, to, expected) in [
        ("unknown", "t: T }", "t: Tee }", "`Tee` is no role that the build script knows"),
        ("label", "t: T }", "t: Ready }", "`Ready` is no role that the build script knows"),
        ("twice", "t: T }", "t: T, u: T }", "`T` is in a set already"),
        (
            "protocol",
            "#[derive(Role)] #[message(Label)] pub struct T",
            "#[derive(Role)] #[protocol(P::t)] #[message(Label)] pub struct T",
            "`T` plays a role of a protocol, and this set has none",
        ),
    ] {
        let roles = ROLES.replacen(from, to, 1);
        assert_ne!(roles, ROLES);
        let check = check(&format!("none-{name}"), &[&roles, SOURCE, KERNEL, SINK]);
        assert!(
            check.problems.iter().any(|problem| problem.text.starts_with(expected)),
            "{name}: {:?}",
            check.problems
        );
        assert_eq!(check.summary.verified, 0, "{name}");
    }
}

#[test]
fn roles_of_two_sets_do_not_mix() {
    let other = "mod other {
        #[derive(Roles)] #[closed_system] pub struct Pair { pub a: A, pub b: B }
        #[derive(Role)] #[message(super::Label)] pub struct A { #[route(B)] b: Channel<super::Label> }
        #[derive(Role)] #[message(super::Label)] pub struct B { #[route(A)] a: Channel<super::Label> }
        #[session(A)] pub type First = Send<B, super::Ready, End>;
        #[session(B)] pub type Second = Receive<A, super::Ready, End>;
    }\n";
    let fine = check("two-sets", &[ROLES, SOURCE, KERNEL, SINK, other]);
    assert!(fine.holds(), "{:?}", fine.problems);
    assert_eq!(fine.summary.verified, 5);

    let mixed = SINK.replace("Send<K, Ready", "Send<other::A, Ready");
    let mixed = check("mixed-sets", &[ROLES, SOURCE, KERNEL, &mixed, other]);
    assert!(
        mixed.problems.iter().any(|problem| problem.text.contains("other::A")),
        "{:?}",
        mixed.problems
    );
    // The other set is safe all the same.
    assert_eq!(mixed.summary.verified, 2);
}
