//! The library without Cargo: a package in a folder, and its problems.
//!
//! Faster than a real build, so here are the many small cases: names, modules, conditions, every
//! reason to refuse.

use std::fs;
use std::path::{Path, PathBuf};

use rumpsteak_build::command::{Cfg, Check};
use rumpsteak_build::{Limits, configure};

use crate::support;
use crate::support::{PROTOCOL, begins, ends, says, verified};

const ROLES: &str = "\
#[derive(Role)] #[protocol(DoubleBuffering::s)] #[message(Label)] pub struct S { #[route(K)] k: Channel<Label> }
#[derive(Role)] #[protocol(DoubleBuffering::k)] #[message(Label)] pub struct K { #[route(S)] s: Channel<Label>, #[route(T)] t: Channel<Label> }
#[derive(Role)] #[protocol(DoubleBuffering::t)] #[message(Label)] pub struct T { #[route(K)] k: Channel<Label> }
#[derive(Message)] pub enum Label { Ready(Ready), Value(Value) }
pub struct Ready;
pub struct Value(pub i32);
";

const LOOP: &str = "#[session] pub struct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);\n";

/// A package of the given files, with double buffering as its protocol.
fn package(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let protocol = [("protocols/p.scr", PROTOCOL)];
    support::package(&format!("check/{name}"), &[&protocol, files].concat())
}

fn run(folder: &Path) -> Check {
    let features = rumpsteak_build::command::default_features(folder)
        .unwrap_or_else(|report| panic!("{report}"));
    configure()
        .protocols("protocols")
        .check(folder, &Cfg::from_features(features))
        .unwrap_or_else(|report| panic!("{report}"))
}

/// Every problem as `file:line:column: first line`, and every report by its first line.
fn problems(check: &Check, folder: &Path) -> Vec<String> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let problems = check.problems.iter().map(|problem| {
        // The folder is inside of a workspace, or is not: that is not the subject.
        let file = problem
            .file
            .rsplit_once(&*name)
            .map_or(problem.file.as_str(), |(_, rest)| rest.trim_start_matches('/'));
        let first = problem.text.lines().next().unwrap_or_default();
        format!("{file}:{}:{}: {first}", problem.line, problem.column)
    });
    let reports = check
        .reports
        .iter()
        .map(|report| report.to_string().lines().next().unwrap_or_default().to_owned());
    problems.chain(reports).collect()
}

#[track_caller]
fn check(name: &str, files: &[(&str, &str)], expected: &[&str]) -> Check {
    let folder = package(name, files);
    let check = run(&folder);
    assert_eq!(problems(&check, &folder), expected);
    assert_eq!(check.holds(), expected.is_empty());
    check
}

/// The only problem of a session of the kernel.
#[track_caller]
fn kernel(name: &str, session: &str, expected: &str) -> String {
    let source = format!("{ROLES}{LOOP}#[session(K)] pub type Kernel = {session};\n");
    let check = check(name, &[("src/lib.rs", &source)], &[expected]);
    check.problems[0].text.clone()
}

#[test]
fn a_package_that_holds() {
    let source = format!("{ROLES}{LOOP}#[session(K)] type Kernel = Send<S, Ready, Loop>;");
    let check = check("holds", &[("src/lib.rs", &source)], &[]);
    assert_eq!(
        (check.summary.protocols, check.summary.sessions, check.summary.verified),
        (1, 1, 1)
    );
    let without: Vec<_> = check
        .warnings
        .iter()
        .map(|warning| warning.rsplit('/').next().unwrap_or_default())
        .collect();
    assert_eq!(
        without,
        [
            "lib.rs:1: no session of the role `S` (DoubleBuffering::s): `#[session(S)] type … = …;`",
            "lib.rs:3: no session of the role `T` (DoubleBuffering::t): `#[session(T)] type … = …;`"
        ]
    );
}

#[test]
fn an_unsafe_reordering_drawn() {
    let folder = package(
        "drawn",
        &[(
            "src/lib.rs",
            &format!("{ROLES}{LOOP}#[session(K)] type Kernel = Receive<S, Value, Loop>;\n"),
        )],
    );
    let check = run(&folder);
    let drawn = check.problems[0].render(false);
    let expected = "
8 | #[session(K)] type Kernel = Receive<S, Value, Loop>;
  |                             ^^^^^^^
";
    says(drawn, expected);
    begins(
        drawn,
        "error[V0407]: unsafe reordering: `Kernel` receives `Value` from `S` before it sends `Ready` to `S`\n",
    );
    assert!(!drawn.contains('\u{1b}') && check.problems[0].render(true).contains('\u{1b}'));
    let problem = &check.problems[0];
    let source = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    assert_eq!(&source[problem.range.clone()], "Receive");
}

#[test]
fn every_refusal_names_its_token_and_the_way_out() {
    let text = kernel(
        "refused-receive-first",
        "Receive<S, Value, Loop>",
        "src/lib.rs:8:33: unsafe reordering: `Kernel` receives `Value` from `S` before it sends `Ready` to `S`",
    );
    says(&text, "3 |     ready() from k to s;");
    assert!(
        text.contains("k waits for value(i32) from s") && text.contains("s waits for ready from k"),
        "{text}"
    );
    ends(
        &text,
        "help: send `Ready` to `S` before this; a send may move ahead of a receive, never a receive ahead of a send",
    );

    let text = kernel(
        "refused-other-label",
        "Send<S, Ready, Receive<S, Ready, Loop>>",
        "src/lib.rs:8:48: `Kernel` receives `Ready` from `S`, which the protocol never has `k` do",
    );
    says(&text, "4 |     value(i32) from s to k;");

    kernel(
        "refused-end",
        "Send<S, Ready, End>",
        "src/lib.rs:8:48: `Kernel` ends, but the protocol goes on: `k` still receives `Value` from `S`",
    );
    let text = kernel(
        "refused-not-offered",
        "Send<S, Value, Loop>",
        "src/lib.rs:8:33: `Kernel` sends `Value` to `S`, but the protocol has `k` send `Ready` to `S`",
    );
    says(&text, "help: did you mean `Ready`? Or is that misspelled in the protocol?");
}

/// Where the role knows which branch it is in, though the same choice may come again.
#[test]
fn what_another_branch_has_is_called_so_in_a_loop() {
    let roles = "
#[derive(Role)] #[protocol(P::a)] #[message(Label)] pub struct A(#[route(B)] Channel<Label>);
#[derive(Role)] #[protocol(P::b)] #[message(Label)] pub struct B(#[route(A)] Channel<Label>);
#[derive(Message)] pub enum Label { X(X), Y(Y), Z(Z), P(P), Q(Q) }
pub struct X; pub struct Y; pub struct Z; pub struct P; pub struct Q;
";
    let protocol = "global protocol P(role a, role b) { rec l {
        choice at a { x() from a to b; p() from FROM; AGAIN }
        or { y() from a to b; q() from b to a; AGAIN } or { z() from a to b; }
    } }";
    let other = ", which the protocol has in another branch: here";
    // What `p` is, who the session plays, what comes behind `x` and `y` in it, and what is said.
    let cases = "
b to a|B|Send<A, Q, AGAIN>|Send<A, P, AGAIN>|sends `Q` to `A`|`b` sends `P` to `A`
b to a|B|Send<A, Q, AGAIN>|Send<A, Q, AGAIN>|sends `Q` to `A`|`b` sends `P` to `A`
a to b|B|Send<A, Q, AGAIN>|Receive<A, P, AGAIN>|sends `Q` to `A`|`b` receives `P` from `A`
b to a|A|Receive<B, Q, AGAIN>|Receive<B, P, AGAIN>|receives `Q` from `B`|`a` receives `P` from `B`";
    for case in cases.trim().lines() {
        let [from, role, x, y, done, due] = case.split('|').collect::<Vec<_>>()[..] else {
            panic!()
        };
        for again in ["continue l;", ""] {
            let kind = if role == "A" { "Select<B, Order>" } else { "Branch<A, Order>" };
            let source = format!(
                "{roles}#[session({role})] type Bank = {kind};\n#[session] enum Order {{\n X(X, {x}), Y(Y, {y}), Z(Z, End) }}\n"
            );
            let source = source.replace("AGAIN", if again.is_empty() { "End" } else { "Bank" });
            let protocol = protocol.replace("FROM", from).replace("AGAIN", again);
            let protocol = if again.is_empty() {
                protocol.replace("rec l {", "").replace("} }", "}")
            } else {
                protocol
            };
            let files = [("protocols/p.scr", &*protocol), ("src/lib.rs", &*source)];
            check("branch", &files, &[&format!("src/lib.rs:8:7: `Bank` {done}{other} {due}")]);
        }
    }
}

/// What is due next, and not that there is too much: with one send less it would fit, too.
#[test]
fn an_answer_that_is_not_received_is_missing() {
    let protocol = "global protocol Jobs(role c, role w) {
        rec next { choice at c { submit() from c to w; done() from w to c; continue next; }
            or { stop() from c to w; } }
    }";
    let roles = "
#[derive(Role)] #[protocol(Jobs::c)] #[message(Label)] pub struct C(#[route(W)] Channel<Label>);
#[derive(Role)] #[protocol(Jobs::w)] #[message(Label)] pub struct W(#[route(C)] Channel<Label>);
#[derive(Message)] pub enum Label { Submit(Submit), Done(Done), Stop(Stop) }
pub struct Submit; pub struct Done; pub struct Stop;
#[session] pub enum Ahead { Submit(Submit, Receive<W, Done, Select<W, Ahead>>), Stop(Stop, End) }
#[session(C)] pub type Job = ";
    let cases = "
Send<W, Submit, Send<W, Stop, End>>|7:46: `Job` sends `Submit` to `W`, but then does not receive `Done` from `W`
Send<W, Submit, Send<W, Submit, Receive<W, Done, Send<W, Stop, End>>>>|7:46: `Job` sends `Submit` to `W`, but then does not receive `Done` from `W`
Send<W, Submit, Select<W, Ahead>>|6:92: `Job` sends `Stop` to `W`, but then does not receive `Done` from `W`
Send<W, Submit, Receive<W, Done, End>>|7:63: `Job` ends, but the protocol goes on: `c` still sends `Submit` or `Stop` to `W`";
    for case in cases.trim().lines() {
        let (session, expected) = case.split_once('|').unwrap();
        let source = format!("{roles}{session};");
        let files = [("protocols/p.scr", protocol), ("src/lib.rs", &source)];
        check("answer", &files, &[&format!("src/lib.rs:{expected}")]);
    }
}

/// A session that asks once ahead, and one of two loops: what it should go on as is said where it
/// names another part.
#[test]
fn a_session_that_goes_on_as_the_wrong_part_of_itself() {
    let roles = "
#[derive(Role)] #[protocol(P::c)] #[message(Label)] pub struct C(#[route(W)] Channel<Label>);
#[derive(Role)] #[protocol(P::w)] #[message(Label)] pub struct W(#[route(C)] Channel<Label>);
#[derive(Message)] pub enum Label { X(X), Y(Y), Z(Z), Q(Q) }
pub struct X; pub struct Y; pub struct Z; pub struct Q;
";
    let ahead = "
#[session(C)] pub type Job = Select<W, First>;
#[session] pub enum First { X(X, Select<W, Ahead>), Q(Q, End) }
#[session] pub enum Ahead { X(X, Receive<W, Y, NEXT>), Q(Q, Receive<W, Y, End>) }";
    let nested = "
#[session(C)] pub type Job = Select<W, Outer>;
#[session] pub enum Outer { X(X, Inner), Q(Q, End) }
#[session] pub type Inner = Select<W, Option>;
#[session] pub enum Option { Y(Y, NEXT), Z(Z, LAST) }";
    let once =
        "choice at c { x() from c to w; y() from w to c; continue o; } or { q() from c to w; }";
    let twice = "choice at c { x() from c to w;
        rec i { choice at c { y() from c to w; continue i; } or { z() from c to w; continue o; } }
    } or { q() from c to w; }";
    let named = "
#[session(C)] pub type Job = Send<W, X, Rest>;
#[session] pub type Rest = Send<W, Y, Branch<W, Next>>;
#[session] pub enum Next { Z(Z, Job), Q(Q, End) }";
    let later = "x() from c to w; rec i { y() from c to w;
        choice at w { z() from w to c; continue i; } or { q() from w to c; } }";
    let wrong = "but then goes on as the wrong part of itself";
    let cases = [
        (once, ahead.replace("NEXT", "Job"), "9:48: `Job` receives `Y` from `W`|Select<W, Ahead>"),
        (
            twice,
            nested.replace("NEXT", "Job").replace("LAST", "Job"),
            "10:35: `Job` sends `Y` to `W`|Select<W, Option>",
        ),
        (
            twice,
            nested.replace("NEXT", "Select<W, Self>").replace("LAST", "Inner"),
            "10:58: `Job` sends `Z` to `W`|Job",
        ),
        (later, named.to_owned(), "9:33: `Job` receives `Z` from `W`|Rest"),
    ];
    for (body, session, expected) in cases {
        let (place, part) = expected.split_once('|').unwrap();
        let protocol = format!("global protocol P(role c, role w) {{ rec o {{ {body} }} }}");
        let source = format!("{roles}{session}");
        let files = [("protocols/p.scr", &*protocol), ("src/lib.rs", &*source)];
        let check = check("part", &files, &[&format!("src/lib.rs:{place}, {wrong}")]);
        says(&check.problems[0].text, &format!("help: write `{part}` here, with which it fits"));
    }
}

/// What is sent once less than it is due is missing where it lacks first.
#[test]
fn a_send_that_lacks_in_the_first_round_of_a_session_that_is_ahead() {
    let protocol = "global protocol P(role c, role w) {
    rec o { choice at c { x() from c to w; z() from c to w; y() from w to c; continue o; }
            or { q() from c to w; } } }";
    let roles = "
use rumpsteak_runtime::{Channel, Message, Role, session};
#[derive(Role)] #[protocol(P::c)] #[message(Label)] pub struct C(#[route(W)] Channel<Label>);
#[derive(Role)] #[protocol(P::w)] #[message(Label)] pub struct W(#[route(C)] Channel<Label>);
#[derive(Message)] pub enum Label { X(X), Z(Z), Y(Y), Q(Q) }
pub struct X; pub struct Z; pub struct Y; pub struct Q;
#[session(C)] pub type Job = Select<W, First>;
#[session] pub enum First { X(X, FIRST), Q(Q, End) }
#[session] pub enum Ahead { X(X, Send<W, Z, Receive<W, Y, Select<W, Self>>>), Q(Q, Receive<W, Y, End>) }
";
    let check = |first: &str, expected: &[&str]| {
        let source = roles.replace("FIRST", first);
        check("first_round", &[("protocols/p.scr", protocol), ("src/lib.rs", &source)], expected)
    };
    let expected = "src/lib.rs:8:34: `Job` sends `X` to `W`, but then does not send `Z` to `W`";
    let lacking = check("Select<W, Ahead>", &[expected]);
    says(&lacking.problems[0].text, "help: send `Z` to `W` here, or take that out of the protocol");
    check("Send<W, Z, Select<W, Ahead>>", &[]);
}

/// Of two nested loops, with one session that acts early; and not where a session really ends.
#[test]
fn a_continue_that_the_sessions_of_a_protocol_miss_is_one_error() {
    let roles = "
#[derive(Role)] #[protocol(P::a)] #[message(Label)] pub struct A(#[route(B)] Channel<Label>);
#[derive(Role)] #[protocol(P::b)] #[message(Label)] pub struct B(#[route(A)] Channel<Label>, #[route(C)] Channel<Label>);
#[derive(Role)] #[protocol(P::c)] #[message(Label)] pub struct C(#[route(B)] Channel<Label>);
#[derive(Message)] pub enum Label { Open(Open), Ack(Ack), Log(Log), Quit(Quit), Fin(Fin) }
pub struct Open; pub struct Ack; pub struct Log; pub struct Quit; pub struct Fin;
#[session(A)] pub type Ask = Select<B, Order>;
#[session] pub enum Order { Open(Open, Select<B, Again>), Quit(Quit, End) }
#[session] pub enum Again { Ack(Ack, Select<B, Again>), Quit(Quit, Receive<B, Ack, Ask>) }
#[session(B)] pub type Pass = Branch<A, Passed>;
#[session] pub enum Passed { Open(Open, Branch<A, Each>), Quit(Quit, Send<C, Fin, End>) }
#[session] pub enum Each { Ack(Ack, Branch<A, Each>), Quit(Quit, Send<A, Ack, Send<C, Log, AGAIN>>) }
#[session(C)] pub type Keep = Branch<B, Kept>;
#[session] pub enum Kept { Log(Log, Keep), Fin(Fin, End) }
";
    let protocol = "global protocol P(role a, role b, role c) {
    rec day { choice at a { open() from a to b;
        rec hour { choice at a { ack() from a to b; continue hour; } or {
            quit() from a to b; log() from b to c;
            ack() from b to a;
        } }
    } or { quit() from a to b; fin() from b to c; } }
}";
    let wrong = "src/lib.rs:9:84: `Ask`, `Pass` and `Keep` go on where `P` does not: is `continue day;` missing there?";
    let echo = "not verified: the error about `Ask` says why";
    let source = roles.replace("AGAIN", "Pass");
    let folder = package("continue", &[("protocols/p.scr", protocol), ("src/lib.rs", &source)]);
    let told = run(&folder);
    let all = problems(&told, &folder);
    assert_eq!(all[0], wrong);
    assert!(all.len() == 3 && all[1..].iter().all(|other| other.ends_with(echo)), "{all:?}");
    says(&told.problems[0].text, "p.scr:5:13");
    says(&told.problems[0].text, "help: write `continue day;` behind this message");

    let source = roles.replace("AGAIN", "End");
    let folder = package("ends", &[("protocols/p.scr", protocol), ("src/lib.rs", &source)]);
    let all = problems(&run(&folder), &folder);
    assert!(all.iter().all(|told| !told.contains("go on where")), "{all:?}");
}

/// Nobody waits for what is sent late here: no run is claimed that is not shown.
#[test]
fn a_reordering_without_a_run_that_goes_wrong() {
    let source = "
#[derive(Role)] #[protocol(P::a)] #[message(Label)] pub struct A(#[route(B)] Channel<Label>, #[route(C)] Channel<Label>);
#[derive(Role)] #[protocol(P::b)] #[message(Label)] pub struct B(#[route(A)] Channel<Label>);
#[derive(Role)] #[protocol(P::c)] #[message(Label)] pub struct C(#[route(A)] Channel<Label>);
#[derive(Message)] pub enum Label { X(X), Y(Y) }
pub struct X; pub struct Y;
#[session(A)] pub type Late = Receive<B, Y, Send<C, X, End>>;
";
    let protocol =
        "global protocol P(role a, role b, role c) { x() from a to c; y() from b to a; }";
    let files = [("protocols/p.scr", protocol), ("src/lib.rs", source)];
    let wrong = "unsafe reordering: `Late` receives `Y` from `B` before it sends `X` to `C`";
    let told = check("late", &files, &[&format!("src/lib.rs:7:31: {wrong}")]);
    says(
        &told.problems[0].text,
        "no run goes wrong (all 5 configurations were explored);\n      \
         but each may be replaced by one that keeps to the protocol too, and it is not proven that none then does",
    );
}

#[test]
fn a_session_that_fits_another_role_is_told_of_it() {
    let source = "
#[derive(Role)] #[protocol(P::a)] #[message(Label)] pub struct A(#[route(B)] Channel<Label>);
#[derive(Role)] #[protocol(P::b)] #[message(Label)] pub struct B(#[route(A)] Channel<Label>, #[route(C)] Channel<Label>);
#[derive(Role)] #[protocol(P::c)] #[message(Label)] pub struct C(#[route(B)] Channel<Label>);
#[derive(Message)] pub enum Label { Ping(Ping), Pong(Pong) }
pub struct Ping; pub struct Pong;
#[session(A)] pub type Asks = Send<B, Ping, End>;
#[session(A)] pub type Told = Receive<B, Pong, End>;
";
    let protocol =
        "global protocol P(role a, role b, role c) { ping() from a to b; pong() from b to c; }";
    let files = [("protocols/p.scr", protocol), ("src/lib.rs", source)];
    let expected =
        "src/lib.rs:8:31: `Told` receives `Pong` from `B`, which the protocol never has `a` do";
    let check = check("fits", &files, &[expected]);
    says(
        &check.problems[0].text,
        "help: is it meant for `C`, which it fits, and which has no session: `#[session(C)]`?",
    );
}

#[test]
fn a_safe_session_after_a_bad_part_is_told_once() {
    check(
        "bad_part",
        &[(
            "src/lib.rs",
            &format!(
                "{ROLES}
#[session(K)] pub type One = Send<S, Ready, Bad>;
#[session(K)] pub type Two = Send<S, Ready, Send<S, Ready, Bad>>;
#[session] pub struct Bad(Receive<S, Nothing, Self>);
#[session(K)] pub type Three = Send<S, Ready, Alias>;
#[session] pub type Alias = Receive<S, Nothing, Bad>;
"
            ),
        )],
        &[
            "src/lib.rs:10:38: `Nothing` is no message of the role that plays `DoubleBuffering::k`",
            "src/lib.rs:11:47: not verified: the error about `Alias` says why",
            "src/lib.rs:12:40: not verified: the error about `Nothing` says why",
        ],
    );
}

#[test]
fn one_mistake_is_one_error() {
    // A role whose link is wrong: its own sessions and those of its peers say nothing.
    for link in ["Elsewhere::k", "DoubleBuffering::kk"] {
        let source = format!(
            "{}{LOOP}
#[session(K)] pub type Kernel = Send<S, Ready, Loop>;
#[session(S)] pub struct Source(Receive<K, Ready, Send<K, Value, Again>>);
#[session] pub struct Again(Receive<K, Ready, Send<K, Value, Self>>);
",
            ROLES.replace("DoubleBuffering::k", link)
        );
        let folder = package("one-mistake-link", &[("src/lib.rs", &source)]);
        let check = run(&folder);
        assert_eq!(check.problems.len(), 1, "{:?}", problems(&check, &folder));
        assert_eq!(check.problems[0].line, 2);
        assert_eq!(
            (check.summary.sessions, check.summary.verified),
            (2, 0),
            "what was not compared with a protocol is not verified"
        );
    }

    // A `type` that a choice leads back to.
    let protocol = "global protocol P(role a, role b) {
        rec loop { choice at a { more() from a to b; continue loop; } or { stop() from a to b; } }
    }";
    let source = "
#[derive(Role)] #[protocol(P::a)] #[message(Label)] pub struct A(#[route(B)] Channel<Label>);
#[derive(Role)] #[protocol(P::b)] #[message(Label)] pub struct B(#[route(A)] Channel<Label>);
#[derive(Message)] pub enum Label { More(More), Stop(Stop) }
pub struct More; pub struct Stop;
#[session(A)] type Give = Select<B, Given>;
#[session] enum Given { More(More, Give), Stop(Stop, End) }
#[session(B)] type Take = Branch<A, Taken>;
#[session] enum Taken { More(More, Take) }
";
    check(
        "one-mistake-choice",
        &[("protocols/p.scr", protocol), ("src/lib.rs", source)],
        &["src/lib.rs:8:27: `Take` does not handle `Stop`, which `A` may send here"],
    );

    // Another root on whose way a refused one lies is judged by itself.
    let source = format!(
        "{ROLES}{LOOP}
#[session(K)] pub type Late = Receive<S, Value, Receive<T, Ready, Send<T, Value, Loop>>>;
#[session(K)] pub type Kernel = Send<S, Ready, Late>;
"
    );
    check(
        "one-mistake-on-the-way",
        &[("src/lib.rs", &source)],
        &[
            "src/lib.rs:9:31: unsafe reordering: `Late` receives `Value` from `S` before it sends `Ready` to `S`",
        ],
    );
}

#[test]
fn what_names_may_not_mean() {
    let lines = [
        ("Send<Label, Ready, Loop>", "`Label` is no role"),
        (
            "Send<K, Ready, Loop>",
            "`K` plays the role that this session is of, and no role talks to itself",
        ),
        ("Send<Free, Ready, Loop>", "the role `Free` is linked to no protocol"),
        ("Send<inner, Ready, Loop>", "`inner` is a module, not a type"),
        ("Send<Missing, Ready, Loop>", "`Missing` is not declared in the source of this package"),
        (
            "Send<S, Other, Loop>",
            "`Other` is no message of the role that plays `DoubleBuffering::k`",
        ),
        ("Send<S, Ready, Other>", "`Other` is no session"),
        ("Send<S, Ready, Choice>", "`Choice` is a choice, which is no session by itself"),
        ("Select<S, Loop>", "`Loop` is a session, not a choice"),
        ("Select<S, Among>", "the options of `Among` name their peers"),
        ("Select<Choice>", "with whom is this choice? The options of `Choice` do not say so"),
        ("Branch<Among>", "`Branch` receives, and an option of `Among` sends"),
        ("Select<Heard>", "`Select` sends, and an option of `Heard` receives"),
        ("Race<Choice>", "with whom is this choice? The options of `Choice` do not say so"),
        (
            "Idle",
            "the session `Idle2` never does anything: the items that it names lead back to it",
        ),
        ("Send<S, Ready, Circle>", "the `type` alias `Circle` contains itself"),
    ];
    for (index, (session, expected)) in lines.into_iter().enumerate() {
        let source = format!(
            "{ROLES}{LOOP}
             pub struct Other; pub mod inner {{}}
             #[derive(Role)] pub struct Free {{}}
             #[session] enum Choice {{ Go(Ready, Loop), Stop(Value, End) }}
             #[session] enum Among {{ ToS(Send<S, Ready, Loop>), ToT(Send<T, Value, Loop>) }}
             #[session] enum Heard {{ S(Receive<S, Value, Loop>), T(Receive<T, Ready, Loop>) }}
             #[session] struct Idle(Idle2); #[session] type Idle2 = Idle;
             #[session] type Circle = Send<S, Ready, Circle>;
             #[session(K)] type Kernel = {session};"
        );
        let folder = package(&format!("meaning-{index}"), &[("src/lib.rs", &source)]);
        let found = problems(&run(&folder), &folder);
        assert!(found.iter().any(|problem| problem.ends_with(expected)), "{session}: {found:#?}");
    }
}

#[test]
fn modules_where_rustc_looks_for_them() {
    let session =
        |name: &str| format!("use crate::*; #[session(K)] type {name} = Receive<S, Value, Loop>;");
    let missing = "#[session(K)] type M = Receive<S, Value, Loop>;";
    check(
        "modules",
        &[
            (
                "src/lib.rs",
                &format!(
                    "{ROLES}{LOOP}
mod a; mod b; mod inline {{ mod c; #[path = \"d_file.rs\"] mod d; }}
#[path = \"other/e.rs\"] mod e; #[path = \"folder\"] mod inline2 {{ mod f; }}
include!(\"included.rs\");
mod missing; #[path = \"lib.rs\"] mod circle;"
                ),
            ),
            ("src/a.rs", &format!("{}\nmod deep;", session("A"))),
            ("src/a/deep.rs", &session("Deep")),
            ("src/b/mod.rs", &format!("{}\nmod deep;", session("B"))),
            ("src/b/deep.rs", &session("BDeep")),
            ("src/inline/c.rs", &session("C")),
            ("src/inline/d_file.rs", &session("D")),
            ("src/other/e.rs", &format!("{}\nmod beside;", session("E"))),
            ("src/other/beside.rs", &session("Beside")),
            ("src/folder/f.rs", &session("F")),
            ("src/included.rs", missing),
            ("src/unused.rs", missing),
        ],
        &[
            "src/a.rs:1:38: unsafe reordering: `A` receives `Value` from `S` before it sends `Ready` to `S`",
            "src/a/deep.rs:1:41: unsafe reordering: `Deep` receives `Value` from `S` before it sends `Ready` to `S`",
            "src/b/deep.rs:1:42: unsafe reordering: `BDeep` receives `Value` from `S` before it sends `Ready` to `S`",
            "src/b/mod.rs:1:38: unsafe reordering: `B` receives `Value` from `S` before it sends `Ready` to `S`",
            "src/folder/f.rs:1:38: unsafe reordering: `F` receives `Value` from `S` before it sends `Ready` to `S`",
            "src/included.rs:1:24: unsafe reordering: `M` receives `Value` from `S` before it sends `Ready` to `S`",
            "src/inline/c.rs:1:38: unsafe reordering: `C` receives `Value` from `S` before it sends `Ready` to `S`",
            "src/inline/d_file.rs:1:38: unsafe reordering: `D` receives `Value` from `S` before it sends `Ready` to `S`",
            "src/other/beside.rs:1:43: unsafe reordering: `Beside` receives `Value` from `S` before it sends `Ready` to `S`",
            "src/other/e.rs:1:38: unsafe reordering: `E` receives `Value` from `S` before it sends `Ready` to `S`",
        ],
    );
}

#[test]
fn conditions() {
    check(
        "conditions",
        &[(
            "src/lib.rs",
            &format!(
                "{ROLES}{LOOP}
#[cfg(feature = \"c\")] #[session(K)] type Off = Receive<S, Value, Loop>;
#[cfg(not(feature = \"b\"))] mod off {{ use super::*; #[session(K)] type Off = Receive<S, Value, Loop>; }}
mod off_inside {{ #![cfg(feature = \"c\")] use super::*; #[session(K)] type Off = Receive<S, Value, Loop>; }}
#[cfg(test)] #[session(K)] type Perhaps = Receive<S, Value, Loop>;
#[cfg_attr(feature = \"a\", session(K))] type On = Receive<S, Value, Loop>;
#[cfg(test)] #[session] struct Two(Send<S, Ready, Self>);
#[cfg(not(test))] #[session] struct Two(Send<S, Ready, Self>);
#[session(K)] type Either = Send<S, Ready, Two>;
"
            ),
        )],
        &[
            "src/lib.rs:12:43: unsafe reordering: `Perhaps` receives `Value` from `S` before it sends `Ready` to `S`",
            "src/lib.rs:13:50: unsafe reordering: `On` receives `Value` from `S` before it sends `Ready` to `S`",
            "src/lib.rs:16:44: `Two` is declared more than once, under conditions that the build script cannot tell apart",
        ],
    );
}

#[test]
fn shared_parts_keep_one_meaning() {
    let source = format!(
        "{ROLES}{LOOP}
#[derive(Role)] #[protocol(DoubleBuffering::k)] #[message(Words)] pub struct K2 {{ #[route(S)] s: Channel<Words>, #[route(T)] t: Channel<Words> }}
#[derive(Message)] pub enum Words {{ READY(Ready), VALUE(Value) }}
#[session(K)] type One = Send<S, Ready, Loop>;
#[session(K2)] type Two = Send<S, Ready, Loop>;
"
    );
    check(
        "meanings",
        &[("src/lib.rs", &source)],
        &[
            "src/lib.rs:7:23: `Loop` is a part of sessions for which its names have different meanings",
        ],
    );
}

#[test]
fn a_part_that_is_right_in_another_session_is_refused_where_it_is_named() {
    let protocol = "global protocol P(role a, role b, role c) { rec l { choice at a {
        x() from a to b; x() from a to c; p() from b to a; q() from c to a; continue l;
    } or { y() from a to b; y() from a to c; } } }";
    let roles = "
#[derive(Role)] #[protocol(P::a)] #[message(Label)] pub struct A(#[route(B)] Channel<Label>, #[route(C)] Channel<Label>);
#[derive(Role)] #[protocol(P::b)] #[message(Label)] pub struct B(#[route(A)] Channel<Label>);
#[derive(Role)] #[protocol(P::c)] #[message(Label)] pub struct C(#[route(A)] Channel<Label>);
#[derive(Message)] pub enum Label { X(X), Y(Y), P(P), Q(Q) }
pub struct X; pub struct Y; pub struct P; pub struct Q;
#[session(B)] type OfB = Branch<A, Task>;
#[session] struct Answer(Send<A, P, Again>);
#[session] enum Task { X(X, Answer), Y(Y, End) }
#[session] type Again = Branch<A, Task>;
#[session(C)] type OfC = ";
    // The token that names the part: of a choice, of another name of the whole, behind an option.
    let cases = [
        ("Branch<A, Task>;", "11:36"),
        ("Again;", "11:26"),
        ("Branch<A, Own>;\n#[session] enum Own { X(X, Answer), Y(Y, End) }", "12:28"),
    ];
    for (session, place) in cases {
        let source = format!("{roles}{session}\n");
        let files = [("protocols/p.scr", protocol), ("src/lib.rs", &source)];
        let expected = format!(
            "src/lib.rs:{place}: `OfC` sends `P` to `A`, but the protocol has `c` send `Q` to `A`"
        );
        let check = check("right-elsewhere", &files, &[&expected]);
        let text = &check.problems[0].text;
        says(text, "src/lib.rs:8, a part that is right in `OfB`: `OfC` may need one of its own\n");
        // The other session holds.
        assert_eq!((check.summary.sessions, check.summary.verified), (2, 1));
    }

    // A build may leave out the session, but not the part.
    let roles = roles.replace("#[session(C)]", "#[cfg(test)] #[session(C)]");
    let files = [("protocols/p.scr", protocol), ("src/lib.rs", &format!("{roles}Again;"))];
    let expected =
        "src/lib.rs:8:26: `OfC` sends `P` to `A`, but the protocol has `c` send `Q` to `A`";
    check("right-elsewhere", &files, &[expected]);
}

#[test]
fn links_to_protocols() {
    let with = |from: &str, to: &str| {
        format!("{}{LOOP}#[session(K)] type Kernel = Loop;", ROLES.replace(from, to))
    };
    let link = "#[protocol(DoubleBuffering::k)]";
    check(
        "link-protocol",
        &[("src/lib.rs", &with(link, "#[protocol(DoubleBufferng::k)]"))],
        &["src/lib.rs:2:28: no `.scr` file declares a protocol `DoubleBufferng`"],
    );
    check(
        "link-role",
        &[("src/lib.rs", &with(link, "#[protocol(DoubleBuffering::kk)]"))],
        &["src/lib.rs:2:45: the protocol `DoubleBuffering` has no role `kk`"],
    );
    check(
        "link-twice",
        &[("src/lib.rs", &with("", "")), ("protocols/again.scr", PROTOCOL)],
        &[
            "src/lib.rs:1:28: the protocol `DoubleBuffering` is declared in protocols/again.scr and in protocols/p.scr",
            "src/lib.rs:2:28: not verified: the error about `DoubleBuffering` says why",
            "src/lib.rs:3:28: not verified: the error about `DoubleBuffering` says why",
        ],
    );
    check(
        "link-auxiliary",
        &[
            ("src/lib.rs", &with(link, "#[protocol(Part::k)]")),
            (
                "protocols/part.scr",
                "aux global protocol Part(role s, role k) { ready() from k to s; }",
            ),
        ],
        &[
            "src/lib.rs:2:28: the protocol `Part` is there to be called by others: it is `aux` or has parameters",
        ],
    );
}

#[test]
fn a_file_that_calls_itself_otherwise() {
    let aux = "aux global protocol Q(role A, role B) { hello() from A to B; }";
    let file = |module: &str| format!("module {module};\n{aux}\n");
    let folder = package(
        "misplaced",
        &[
            ("protocols/shop/Orders.scr", &file("shop.Orders")),
            ("protocols/shop/Basket.scr", &file("shop.Baskett")),
            ("protocols/market/Cart.scr", &file("shop.Cart")),
            ("src/lib.rs", ""),
        ],
    );
    let check = run(&folder);
    let reports: Vec<String> = check.reports.iter().map(ToString::to_string).collect();
    let [report] = &reports[..] else {
        panic!("{reports:#?}");
    };
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(lines[0], "error[S0213]: the module in `Basket.scr` calls itself `shop.Baskett`");
    says(report, "expected `shop.Basket`");
    says(report, "protocols/shop/Basket.scr:1:8");
    assert_eq!(
        lines.last(),
        Some(&"  = help: correct or remove the line, or move the file to `shop/Baskett.scr`")
    );
    // The file's own name is right: the folder alone is a warning.
    assert_eq!(
        check.warnings,
        ["protocols/market/Cart.scr:1: the module in `Cart.scr` calls itself `shop.Cart`; \
             correct or remove the line, or move the file to `shop/Cart.scr`",]
    );
}

#[test]
fn imported_protocols() {
    let root = "import lib.Base as B; global protocol DoubleBuffering(role s, role k, role t) { do B.Loop(s, k, t); }";
    let base = PROTOCOL.replace("global protocol DoubleBuffering", "aux global protocol Loop");
    let protocols = [("protocols/p.scr", root), ("protocols/lib/Base.scr", &*base)];
    let source = |begin: &str| format!("{ROLES}{LOOP}#[session(K)] type Kernel = {begin}, Loop>;");
    check("imports", &[&protocols[..], &[("src/lib.rs", &source("Send<S, Ready"))]].concat(), &[]);
    // The excerpt is of the file in which the message is.
    let unsafe_source = source("Receive<S, Value");
    let files = [&protocols[..], &[("src/lib.rs", &unsafe_source)]].concat();
    let folder = package("imports-unsafe", &files);
    let check = run(&folder);
    says(&check.problems[0].text, "lib/Base.scr:3:5");
}

#[test]
fn payloads() {
    let source = |payload: &str| {
        format!(
            "{}{LOOP}#[session(K)] type Kernel = Loop;",
            ROLES.replace("pub struct Value(pub i32);", payload)
        )
    };
    for (index, (payload, declared)) in [
        ("pub struct Value(pub i32);", "i32"),
        ("pub struct Value { pub number: i32, }", "i32"),
        ("pub struct Value(pub std::string::String);", "Str"),
        ("pub struct Value(pub Vec<(u8, my::Type)>);", "Bytes"),
        ("pub struct Value { pub a: f32, pub b: Option<Box<u8>> }", "f32, Opt"),
        ("pub enum Value { A, B }", "Value"),
        ("pub use elsewhere::Value;", "Anything"),
        ("pub struct Value(pub u8);", "Foreign"),
    ]
    .into_iter()
    .enumerate()
    {
        let protocol = format!(
            "type <rust> \"std::string::String\" from \"std\" as Str;\n\
             type <rust> \"Vec<(u8, crate::my::Type)>\" from \"crate\" as Bytes;\n\
             type <rust> \"Option<Box<u8>>\" from \"std\" as Opt;\n\
             type <java> \"java.lang.Integer\" from \"rt.jar\" as Foreign;\n{}",
            PROTOCOL.replace("i32", declared)
        );
        check(
            &format!("payload-{index}"),
            &[("protocols/p.scr", &protocol), ("src/lib.rs", &source(payload))],
            &[],
        );
    }
    // Once in each session, however often it is used there.
    check(
        "payload-differs",
        &[("src/lib.rs", &source("pub struct Value(pub i64, pub u8);"))],
        &[
            "src/lib.rs:7:54: `Value` carries `i64, u8`, but the message of the protocol `DoubleBuffering` is `value(i32)`",
        ],
    );
}

#[test]
fn a_struct_that_is_the_only_label() {
    let protocol = |label: &str| {
        format!(
            "global protocol P(role a, role b) {{ rec loop {{ {label} from a to b; continue loop; }} }}"
        )
    };
    let source = |message: &str, sent: &str| {
        format!(
            "mod roles {{
               #[derive(Role)] #[protocol(P::a)] #[message(messages::Value)] pub struct A(#[route(B)] Channel<messages::Value>);
               #[derive(Role)] #[protocol(P::b)] #[message(messages::Value)] pub struct B(#[route(A)] Channel<messages::Value>);
               pub mod messages {{ {message} pub struct Other; }}
             }}
             use roles::{{A, B, messages::*}};
             #[session(A)] struct Give(Send<B, {sent}, Self>);
             #[session(B)] struct Take(Receive<A, Value, Self>);"
        )
    };
    for (index, (message, label)) in [
        ("#[derive(Message)] pub struct Value(pub i32);", "value(i32)"),
        ("#[derive(Message)] pub struct Value;", "value()"),
        (
            "#[derive(Debug, Message)] #[label(\"count\")] pub struct Value { pub number: i32 }",
            "count(i32)",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        check(
            &format!("only-label-{index}"),
            &[("protocols/p.scr", &protocol(label)), ("src/lib.rs", &source(message, "Value"))],
            &[],
        );
    }
    let value = "#[derive(Message)] pub struct Value(pub i32);";
    check(
        "only-label-other",
        &[("protocols/p.scr", &protocol("value(i32)")), ("src/lib.rs", &source(value, "Other"))],
        &["src/lib.rs:7:48: `Other` is no message of the role that plays `P::a`"],
    );
    check(
        "only-label-payload",
        &[("protocols/p.scr", &protocol("value(u8)")), ("src/lib.rs", &source(value, "Value"))],
        &[
            "src/lib.rs:7:48: `Value` carries `i32`, but the message of the protocol `P` is `value(u8)`",
            "src/lib.rs:8:51: not verified: the error about `Value` says why",
        ],
    );
}

#[test]
fn of_two_items_of_one_name_rustc_says_so() {
    let check_with = |name: &str, label: &str, expected: &[&str]| {
        let protocol = "global protocol P(role a, role b) { value() from a to b; }";
        let source = format!(
            "#[derive(Message)] pub enum Label {{ #[label(\"value\")] B({label}) }}
pub struct {label};
#[derive(Role)] #[protocol(P::a)] #[message(Label)] pub struct A(#[route(B)] Channel<Label>);
#[derive(Role)] #[protocol(P::b)] #[message(Label)] pub struct B(#[route(A)] Channel<Label>);
#[session(A)] type Give = Send<B, {label}, End>;
#[session(B)] type Take = Receive<A, {label}, End>;"
        );
        check(name, &[("protocols/p.scr", protocol), ("src/lib.rs", &source)], expected);
    };
    check_with("names-once", "Value", &[]);
    // Which the macros leave to rustc.
    let told = ["5:32", "6:11"]
        .map(|place| format!("src/lib.rs:{place}: not verified: the error about `B` says why"));
    check_with("names-twice", "B", &told.each_ref().map(String::as_str));
}

#[test]
fn a_label_is_what_its_alias_stands_for() {
    let check_with = |name: &str, message: &str, aliases: &str, expected: &[&str]| {
        let protocol =
            format!("global protocol P(role a, role b) {{ value({message}) from a to b; }}");
        let source = format!(
            "#[derive(Role)] #[protocol(P::a)] #[message(Label)] pub struct A(#[route(B)] Channel<Label>);
#[derive(Role)] #[protocol(P::b)] #[message(Label)] pub struct B(#[route(A)] Channel<Label>);
#[derive(Message)] pub enum Label {{ Value(Value) }}
{aliases}
mod types {{ pub struct Number(pub u64); pub type Far = Number; }}
#[session(A)] type Give = Send<B, Value, End>;"
        );
        check(name, &[("protocols/p.scr", &protocol), ("src/lib.rs", &source)], expected);
    };
    check_with("label-alias", "u64", "type Value = types::Far;", &[]);
    check_with("label-alias-bare", "u64", "type Value = u64;", &[]);
    check_with("label-alias-unit", "", "type Value = ();", &[]);
    let refused = |name: &str, message: &str, aliases: &str, carried: &str| {
        let told = format!(
            "src/lib.rs:6:35: `Value` carries `{carried}`, but the message of the protocol `P` is `value({message})`"
        );
        check_with(name, message, aliases, &[&told]);
    };
    refused("label-alias-not", "u32", "type Value = types::Far;", "u64");
    // What is not followed is not taken to be right.
    refused("label-alias-away", "u64", "type Value = elsewhere::Number;", "Value");
    refused("label-alias-perhaps", "u64", "#[cfg(perhaps)] type Value = types::Far;", "Value");
    refused("label-alias-circle", "u64", "type Value = Other; type Other = Value;", "Value");
}

#[test]
fn payloads_are_what_their_aliases_stand_for() {
    let protocol = "type <rust> \"std::vec::Vec<u64>\" from \"std\" as Ids;
        global protocol P(role a, role b) { value(u64, Ids) from a to b; }";
    let check_with = |name: &str, fields: &str, aliases: &str, expected: &[&str]| {
        let source = format!(
            "#[derive(Role)] #[protocol(P::a)] #[message(Label)] pub struct A(#[route(B)] Channel<Label>);
#[derive(Role)] #[protocol(P::b)] #[message(Label)] pub struct B(#[route(A)] Channel<Label>);
#[derive(Message)] pub enum Label {{ Value(Value) }}
pub struct Value({fields});
mod types {{ {aliases} }}
#[session(A)] type Give = Send<B, Value, End>;"
        );
        check(name, &[("protocols/p.scr", protocol), ("src/lib.rs", &source)], expected);
    };
    let aliases = "pub type Id = Number; type Number = u64; pub type Many = Vec<Id>;";
    check_with("aliases", "types::Id, types::Many", aliases, &[]);
    check_with(
        "aliases-not",
        "Number, Vec<u64>",
        aliases,
        &[
            "src/lib.rs:6:35: `Value` carries `Number, Vec<u64>`, but the message of the protocol `P` is `value(u64, Ids)`",
        ],
    );
    let circle = "pub type Id = Vec<Id>; pub type Many = (Many, Many);";
    check_with(
        "aliases-circle",
        "types::Id, types::Many",
        circle,
        &[
            "src/lib.rs:6:35: `Value` carries `Id, Many`, but the message of the protocol `P` is `value(u64, Ids)`",
        ],
    );
}

#[test]
fn what_is_of_another_package_is_called_so() {
    for (import, role) in [("use api::A;", "A"), ("", "api::A"), ("use api as net;", "net::A")] {
        let source = format!("{ROLES}{import} #[session({role})] type Kernel = Loop;");
        let folder = package("elsewhere", &[("src/lib.rs", &source)]);
        let check = run(&folder);
        let [problem] = &check.problems[..] else { panic!("{check:?}") };
        begins(&problem.text, &format!("`{role}` is of another package, or made by a macro, and"));
        assert_eq!(problem.code, Some("V0105"));
    }
}

#[test]
fn a_role_that_waits_for_ever_is_warned_of() {
    let protocol = "global protocol P(role a, role b, role c) {
        rec loop { choice at a { more() from a to b; again() from b to c; continue loop; } or { stop() from a to b; done() from b to c; } }
    }
    global protocol Q(role a, role b, role c) {
        rec loop { choice at a { more() from a to b; continue loop; } or { stop() from a to b; done(i32) from b to c; } }
    }";
    let source = |protocol: &str, give: &str| {
        format!(
            "#[derive(Role)] #[protocol({protocol}::a)] #[message(Label)] pub struct A(#[route(B)] Channel<Label>);
#[derive(Role)] #[protocol({protocol}::b)] #[message(Label)] pub struct B(#[route(A)] Channel<Label>, #[route(C)] Channel<Label>);
#[derive(Role)] #[protocol({protocol}::c)] #[message(Label)] pub struct C(#[route(B)] Channel<Label>);
#[derive(Message)] pub enum Label {{ More(More), Stop(Stop), Again(Again), Done(Done) }}
pub struct More; pub struct Stop; pub struct Again; pub struct Done{};
{give}",
            if protocol == "Q" { "(i32)" } else { "" }
        )
    };
    let waiting = |name: &str, protocol_name: &str, give: &str| -> Vec<String> {
        let source = source(protocol_name, give);
        let check = check(name, &[("protocols/p.scr", protocol), ("src/lib.rs", &source)], &[]);
        let waits = |warning: &&String| warning.contains("for ever");
        check.warnings.iter().filter(waits).cloned().collect()
    };
    let narrowed = "#[session(A)] struct Give(Send<B, More, Self>);";
    assert_eq!(
        waiting("starve", "Q", narrowed),
        [
            "protocols/p.scr: with the sessions as they are, the role `c` of `Q` may wait for ever for done(i32) from b"
        ]
    );
    // Here `c` hears something in every round.
    assert_eq!(waiting("starve-not", "P", narrowed), [""; 0]);
    // Somebody may still stop; that he need not is the protocol's doing.
    let whole = "#[session(A)] type Give = Select<B, Given>;
        #[session] enum Given { More(More, Give), Stop(Stop, End) }";
    assert_eq!(
        waiting("starve-whole", "Q", whole),
        [
            "protocols/p.scr: in `Q`, `c` may wait for ever, if others go on for ever with `more` from `a` to `b`; `rumpsteak_build::configure().protocols(\"protocols\").liveness(\"Q::c\", rumpsteak_build::Liveness::Fair).verify()?;` in build.rs accepts that, `EveryRun` refuses it"
        ]
    );
    // One session of the role stops, another does not: the one that does not may be the one that
    // runs.
    let both = format!("{narrowed} #[session(A)] type Once = Send<B, Stop, End>;");
    assert_eq!(waiting("starve-both", "Q", &both).len(), 1);
    // A refused session is told of first.
    let source =
        source("Q", &format!("{narrowed} #[session(C)] type Wrong = Receive<B, Again, End>;"));
    let folder =
        package("starve-refused", &[("protocols/p.scr", protocol), ("src/lib.rs", &source)]);
    let check = run(&folder);
    assert_eq!(check.problems.len(), 1);
    assert!(!check.warnings.iter().any(|w| w.contains("for ever")));
}

#[test]
fn limits_are_answers() {
    let source =
        format!("{ROLES}{LOOP}#[session(K)] type Kernel = Send<S, Ready, Send<S, Ready, Loop>>;");
    let folder = package("limits", &[("src/lib.rs", &source)]);
    let limits = Limits::default().steps(1);
    let check = verified(configure().protocols("protocols").limits(limits), &folder);
    let text = &check.problems[0].text;
    begins(text, "`Kernel` could not be verified: more than 1 actions would have to be compared");
    says(text, "limits(rumpsteak_build::Limits::default().steps(10)).verify()?;");
}

#[test]
fn a_package_of_too_many_modules_is_not_read_to_its_end() {
    let folder = package("many_modules", &[("src/lib.rs", "mod a { mod b {} } mod c {}")]);
    for (most, is_cut) in [(4, false), (3, true)] {
        let check = configure()
            .limits(Limits::default().modules(most))
            .check(&folder, &Cfg::default())
            .unwrap_or_else(|report| panic!("{report}"));
        let warned = format!(
            "the package has more than {most} modules, and the rest was not read: raise that in build.rs, \
             `rumpsteak_build::configure().limits(rumpsteak_build::Limits::default().modules({most}0)).verify()?;`"
        );
        assert_eq!(check.warnings.contains(&warned), is_cut, "{:?}", check.warnings);
    }
}

#[test]
fn what_cannot_be_read_is_reported() {
    let folder = package("unreadable", &[("src/lib.rs", "")]);
    let check = verified(configure().protocols("missing"), &folder);
    says(&check.reports[0].to_string(), "cannot read the protocols in `");
    assert!(!check.holds());

    let error = configure().check(&folder.join("src"), &Cfg::default());
    let Err(report) = error else { panic!("a folder without a manifest was accepted") };
    says(&format!("{report:?}"), "cannot read");

    // No build script has called.
    let Err(report) = configure().verify() else { panic!("a test is no build script") };
    says(&format!("{report:?}"), "was not called from a build script");
}

#[test]
fn no_cut_of_a_source_or_a_protocol_does_harm() {
    let source = format!(
        "{ROLES}{LOOP}#[session(K)] type Kernel = Send<S, Ready, Loop>;
         use {{a::{{self, b as c}}, d::*}}; #[cfg_attr(all(unix, not(test)), path = \"x.rs\")] mod m;
         #[session] enum Choice {{ Go(Ready, Loop), Stop(Value, End) }}"
    );
    let folder = package("cut", &[("src/lib.rs", "")]);
    for end in (0..source.len()).step_by(11) {
        fs::write(folder.join("src/lib.rs"), &source[..end]).unwrap();
        run(&folder);
    }
    fs::write(folder.join("src/lib.rs"), &source).unwrap();
    for end in (0..PROTOCOL.len()).step_by(7) {
        fs::write(folder.join("protocols/p.scr"), &PROTOCOL[..end]).unwrap();
        run(&folder);
    }
}

#[test]
fn many_items_are_not_slow() {
    use std::fmt::Write as _;
    let mut source = format!("{ROLES}{LOOP}#[session(K)] type Kernel = Send<S, Ready, A0>;\n");
    for index in 0..3_000 {
        let _ = writeln!(
            source,
            "#[session] struct A{index}(Receive<S, Value, Receive<T, Ready, Send<T, Value, Send<S, Ready, A{}>>>>);",
            index + 1
        );
    }
    let _ = writeln!(
        source,
        "#[session] struct A3000(Receive<S, Value, Receive<T, Ready, Send<T, Value, Loop>>>);"
    );
    let start = std::time::Instant::now();
    check("many", &[("src/lib.rs", &source)], &[]);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
