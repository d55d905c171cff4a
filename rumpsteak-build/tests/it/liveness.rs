//! Which liveness a role is asked for, and what its protocol promises it.

use std::path::{Path, PathBuf};

use rumpsteak_build::command::Check;
use rumpsteak_build::{Configuration, Liveness, configure};

use crate::support::{begins, ends, package, says, verified};

/// The Hospital of CONCUR'19 and LMCS'21.
const HOSPITAL: &str = "global protocol Hospital(role p, role h) {
    rec loop {
        choice at p { nd() from p to h;
            choice at h { ok() from h to p; continue loop; } or { ko() from h to p; continue loop; }
        } or { pr() from p to h; fin() from h to p; }
    }
}";

const PATIENT: &str = "\
#[derive(Role)] #[protocol(Hospital::p)] #[message(Label)] pub struct P(#[route(H)] Channel<Label>);
#[derive(Role)] #[protocol(Hospital::h)] #[message(Label)] pub struct H(#[route(P)] Channel<Label>);
#[derive(Message)] pub enum Label { Nd(Nd), Pr(Pr), Ok(Ok), Ko(Ko), Fin(Fin) }
pub struct Nd; pub struct Pr; pub struct Ok; pub struct Ko; pub struct Fin;
#[session(P)] type Patient = Select<H, Sends>;
#[session] enum Sends { Nd(Nd, Patient), Pr(Pr, Branch<H, Reads>) }
#[session] enum Reads { Ok(Ok, Branch<H, Reads>), Ko(Ko, Branch<H, Reads>), Fin(Fin, End) }
#[session(H)] type Hospital = Branch<P, Takes>;
#[session] enum Takes { Nd(Nd, Select<P, Judges>), Pr(Pr, Send<P, Fin, End>) }
#[session] enum Judges { Ok(Ok, Hospital), Ko(Ko, Hospital) }
";

fn hospital(name: &str) -> PathBuf {
    let files = [("protocols/hospital.scr", HOSPITAL), ("src/lib.rs", PATIENT)];
    package(&format!("liveness/{name}"), &files)
}

fn asked(folder: &Path, liveness: &[(&str, Liveness)]) -> Check {
    let add =
        |asked: Configuration, &(name, liveness): &(&str, Liveness)| asked.liveness(name, liveness);
    verified(liveness.iter().fold(configure().protocols("protocols"), add), folder)
}

#[test]
fn a_session_that_may_put_off_for_ever_what_it_receives_is_accepted_by_name() {
    let folder = hospital("hospital");
    for refused in [
        &[][..],
        &[("Hospital", Liveness::EveryRun)],
        &[("Hospital::h", Liveness::Fair)],
        // A role goes before its protocol.
        &[("Hospital", Liveness::Fair), ("Hospital::p", Liveness::EveryRun)],
    ] {
        let check = asked(&folder, refused);
        let [problem] = &check.problems[..] else { panic!("{check:?}") };
        begins(&problem.text, "`Patient` repeats itself and never receives `Ok` from `H`\n\n");
        let more = if refused.is_empty() { "" } else { "…" };
        ends(
            &problem.text,
            &format!(
                "\n\nhelp: receive `Ok` from `H` somewhere in the loop\n\n\
                 note: it holds if choices are fair: what is put off can always still be done, but need not be in every run\n\
                 help: if that is enough, accept it in build.rs:\n      \
                 rumpsteak_build::configure().protocols(\"protocols\"){more}.liveness(\"Hospital::p\", rumpsteak_build::Liveness::Fair).verify()?;"
            ),
        );
        assert!(!problem.text.contains("it is not proven that none then does"), "{}", problem.text);
    }
    for accepted in [
        &[("Hospital", Liveness::Fair)][..],
        &[("Hospital::p", Liveness::Fair)],
        &[("Hospital", Liveness::EveryRun), ("hospital::P", Liveness::Fair)],
    ] {
        let check = asked(&folder, accepted);
        assert!(check.holds(), "{check:?}");
        assert_eq!((check.summary.verified, &check.warnings[..]), (2, &[][..]));
    }
}

#[test]
fn a_name_that_stands_for_nothing_is_warned_of() {
    let folder = hospital("unknown");
    for (name, meant) in [
        ("Hospitol", "did you mean `Hospital`?"),
        ("Hospital::q", "the roles are `p` and `h`"),
        ("Hospitol::p", "did you mean `Hospital`?"),
        ("p", "`Protocol::role`"),
    ] {
        let check = asked(&folder, &[(name, Liveness::Fair)]);
        let expected = format!(
            "build.rs: `liveness({name:?}, …)` names no protocol that roles can play, and no role of one: {meant}"
        );
        assert_eq!(check.warnings, [expected]);
    }
}

/// Scribble-Java's `unfair/Test02`, in which `B` depends on what `A` chooses.
const UNFAIR: &str = "global protocol Proto1(role A, role B, role C) {
    rec X {
        1() from A to C;
        choice at A { 1() from A to C; continue X; } or { 2() from A to B; 2() from A to C; }
    }
}";

const ROLES: &str = "\
#[derive(Role)] #[protocol(Proto1::A)] #[message(Label)] pub struct A(#[route(B)] Channel<Label>, #[route(C)] Channel<Label>);
#[derive(Role)] #[protocol(Proto1::B)] #[message(Label)] pub struct B(#[route(A)] Channel<Label>);
#[derive(Role)] #[protocol(Proto1::C)] #[message(Label)] pub struct C(#[route(A)] Channel<Label>);
#[derive(Message)] pub enum Label { #[label(\"1\")] One(One), #[label(\"2\")] Two(Two) }
pub struct One; pub struct Two;
#[session(B)] type Waits = Receive<A, Two, End>;
";

#[test]
fn a_protocol_that_neglects_a_role_is_warned_of_or_refused_or_accepted() {
    let files = [("protocols/p.scr", UNFAIR), ("src/lib.rs", ROLES)];
    let folder = package("liveness/unfair", &files);
    let neglected = "`B` may wait for ever, if others go on for ever with `1` from `A` to `C`";
    let told = |check: &Check| -> Vec<String> {
        let told = check.warnings.iter().filter(|warning| warning.contains("for ever"));
        told.cloned().collect()
    };
    let check = asked(&folder, &[]);
    assert!(check.holds(), "{check:?}");
    let warned = told(&check);
    let [warning] = &warned[..] else { panic!("{check:?}") };
    begins(
        warning,
        &format!(
            "protocols/p.scr: in `Proto1`, {neglected}; `rumpsteak_build::configure().protocols(\"protocols\").liveness(\"Proto1::B\", rumpsteak_build::Liveness::Fair).verify()?;`"
        ),
    );

    for accepted in ["Proto1", "Proto1::B"] {
        let check = asked(&folder, &[(accepted, Liveness::Fair)]);
        assert!(check.holds() && told(&check).is_empty(), "{check:?}");
    }
    for refused in ["Proto1", "Proto1::B"] {
        let check = asked(&folder, &[(refused, Liveness::EveryRun)]);
        let [problem] = &check.problems[..] else { panic!("{check:?}") };
        begins(
            &problem.text,
            &format!("`Waits` follows `Proto1`, which is not live in every run: {neglected}\n\n"),
        );
        assert_eq!((problem.line, problem.column), (6, 20));
    }
    // `C` hears in every round, but that takes longer queues than are explored.
    let check = asked(&folder, &[("Proto1::C", Liveness::EveryRun)]);
    let [problem] = &check.problems[..] else { panic!("{check:?}") };
    says(&problem.text, "every run: a queue would hold more than 64 messages (limit `queue`)\n\n");
    // What is not known is not promised.
    let few = rumpsteak_build::Limits::default().configurations(2);
    let configuration = configure().protocols("protocols").limits(few);
    let check = verified(configuration.liveness("Proto1", Liveness::EveryRun), &folder);
    says(
        &check.problems[0].text,
        "the system has more than 2 configurations (limit `configurations`)",
    );
}

/// `c` puts off `Y` until `a` stops, which it need not ever do.
const PUT_OFF: &str = "#[derive(Role)] #[protocol(P::a)] #[message(Label)] struct A { #[route(C)] c: Channel<Label> }
#[derive(Role)] #[protocol(P::b)] #[message(Label)] struct B { #[route(C)] c: Channel<Label> }
#[derive(Role)] #[protocol(P::c)] #[message(Label)] struct C { #[route(A)] a: Channel<Label>, #[route(B)] b: Channel<Label> }
#[derive(Message)] enum Label { X(X), Y(Y), More(More), Ack(Ack), Stop(Stop) }
struct X; struct Y; struct More; struct Ack; struct Stop;
#[session(A)] type First = Send<C, X, Stream>;
#[session] struct Stream(Select<C, Next>);
#[session] enum Next { More(More, Receive<C, Ack, Stream>), Stop(Stop, End) }
#[session(B)] type Second = Send<C, Y, End>;
#[session(C)] type Third = Receive<A, X, Drain>;
#[session] struct Drain(Branch<A, Heard>);
#[session] enum Heard { More(More, Send<A, Ack, Drain>), Stop(Stop, Receive<B, Y, End>) }
";

fn put_off(name: &str, beginning: &str, configuration: Configuration) -> Vec<String> {
    let protocol = format!(
        "global protocol P(role a, role b, role c) {{
           {beginning}
           rec X {{ choice at a {{ more() from a to c; ack() from c to a; continue X; }} or {{ stop() from a to c; }} }}
         }}"
    );
    let files = [("protocols/p.scr", &*protocol), ("src/lib.rs", PUT_OFF)];
    let folder = package(&format!("liveness/{name}"), &files);
    let check = verified(configuration.protocols("protocols"), &folder);
    check.problems.into_iter().map(|problem| problem.text).collect()
}

/// The sessions are judged together, since `c` hears two roles at once.
#[test]
fn what_is_judged_together_is_received_in_every_run() {
    let par = "par { x() from a to c; } and { y() from b to c; }";
    for (name, configuration) in [
        ("par", configure()),
        ("par-strict", configure().liveness("P", Liveness::EveryRun)),
        ("par-others", configure().liveness("P::a", Liveness::Fair)),
    ] {
        let problems = put_off(name, par, configuration);
        let [text] = &problems[..] else { panic!("{name}: {problems:?}") };
        begins(text, "unsafe order: `Third` does not do everything at its turn");
        says(
            text,
            "leads to where `c` may never receive what `b` sends to it, if others go on for ever with `",
        );
        says(text, "in the queue from b to c: y\n");
        says(text, "note: it holds if choices are fair");
        says(text, ".liveness(\"P::c\", rumpsteak_build::Liveness::Fair).verify()?;");
    }
    for (name, protocol) in [("par-fair", "P"), ("par-fair-role", "P::c")] {
        let fair = configure().liveness(protocol, Liveness::Fair);
        assert_eq!(put_off(name, par, fair), [""; 0]);
    }
}

#[test]
fn what_is_accepted_as_a_closed_system_is_received_in_every_run() {
    let sequence = "x() from a to c; y() from b to c;";
    let closed = || configure().accept_closed_system("P");
    for (name, configuration) in
        [("closed", closed()), ("closed-strict", closed().liveness("P", Liveness::EveryRun))]
    {
        let problems = put_off(name, sequence, configuration);
        let [text] = &problems[..] else { panic!("{name}: {problems:?}") };
        begins(text, "`Third` repeats itself and never receives `Y` from `B`\n");
        says(
            text,
            "note: `accept_closed_system(\"P\")` does not help: the system of all sessions as they are written leads to where `c` may never receive what `b` sends to it",
        );
    }
    let fair = closed().liveness("P::c", Liveness::Fair);
    assert_eq!(put_off("closed-fair", sequence, fair), [""; 0]);
}
