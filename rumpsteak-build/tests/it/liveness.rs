//! Which liveness a role is asked for, and what its protocol promises it.

use rumpsteak_build::command::Check;

use crate::support::{begins, check_module, ends, headlines, only, says};

/// A package of this protocol and of its module, with settings in the attribute.
fn check(name: &str, protocol: &str, attribute: &str, items: &str) -> Check {
    check_module(&format!("liveness/{name}"), protocol, attribute, items)
}

/// The Hospital of CONCUR'19 and LMCS'21.
const HOSPITAL: &str = "global protocol Hospital(role p, role h) {
    rec loop {
        choice at p { nd() from p to h;
            choice at h { ok() from h to p; continue loop; } or { ko() from h to p; continue loop; }
        } or { pr() from p to h; fin() from h to p; }
    }
}";

const PATIENT: &str = "\
#[session(P)] type Patient = Select<H, Sends>;
enum Sends { Nd(Nd, Patient), Pr(Pr, Branch<H, Reads>) }
enum Reads { Ok(OkMessage, Branch<H, Reads>), Ko(Ko, Branch<H, Reads>), Fin(Fin, End) }
";

#[test]
fn a_session_that_may_put_off_for_ever_what_it_receives_is_accepted_by_name() {
    let asked =
        |settings: &str| check("hospital", HOSPITAL, &format!("Hospital{settings}"), PATIENT);
    // A role goes before its protocol.
    for refused in ["", ", every_run", ", fair(h)", ", fair, every_run(p)"] {
        let check = asked(refused);
        let text = &only(&check).text;
        begins(text, "`Patient` repeats itself and never receives `OkMessage` from `H`\n\n");
        ends(
            text,
            "\n\nhelp: receive `OkMessage` from `H` somewhere in the loop\n\n\
             note: it holds if choices are fair: what is put off can always still be done, but need not be in every run\n\
             help: if that is enough, accept it:\n      #[rumpsteak::protocol(Hospital, fair(p))]",
        );
        assert!(!text.contains("if another role is reordered"), "{text}");
    }
    for accepted in [", fair", ", fair(p)", ", every_run, fair(P)"] {
        let check = asked(accepted);
        assert!(check.holds(), "{check:?}");
        assert_eq!((check.summary.verified, &check.warnings[..]), (2, &[][..]));
    }
}

#[test]
fn a_role_that_does_not_exist_is_refused() {
    let check = check("unknown", HOSPITAL, "Hospital, fair(p, q)", PATIENT);
    assert_eq!(headlines(&check), ["1:41: `q` does not exist"]);
    ends(&check.problems[0].text, "help: there are `p` and `h`");
}

/// Scribble-Java's `unfair/Test02`: `B` depends on the choices of `A`.
const UNFAIR: &str = "global protocol Proto1(role A, role B, role C) {
    rec X {
        1() from A to C;
        choice at A { 1() from A to C; continue X; } or { 2() from A to B; 2() from A to C; }
    }
}";

const WAITS: &str = "\
#[derive(Message)] enum Label { #[label(\"1\")] One(One), #[label(\"2\")] Two(Two) }
struct One; struct Two;
#[session(B)] type Waits = Receive<A, Two, End>;
";

#[test]
fn a_role_that_its_protocol_neglects_is_warned_of_or_refused() {
    let neglected = "`B` may wait for ever, if others go on for ever with `1` from `A` to `C`";
    let asked =
        |name: &str, settings: &str| check(name, UNFAIR, &format!("Proto1{settings}"), WAITS);
    let told = |check: &Check| -> Vec<String> {
        let told = check.warnings.iter().filter(|warning| warning.contains("for ever"));
        told.cloned().collect()
    };
    let check = asked("unfair", "");
    assert!(check.holds(), "{check:?}");
    let expected = format!(
        "protocols/p.scr: in `Proto1`, {neglected} [V0413]\n  \
         no deadlock: the others go on, and none of them ever has to send to `B`\n  \
         `#[rumpsteak::protocol(Proto1, fair(B))]` accepts that, `every_run` refuses it"
    );
    assert_eq!(told(&check), [expected]);

    for accepted in [", fair", ", fair(B)"] {
        let check = asked("unfair", accepted);
        assert!(check.holds() && told(&check).is_empty(), "{check:?}");
    }
    for refused in [", every_run", ", every_run(B)"] {
        let check = asked("unfair", refused);
        let of_waits: Vec<_> =
            check.problems.iter().filter(|problem| problem.text.starts_with("`Waits`")).collect();
        let [problem] = of_waits[..] else { panic!("{check:?}") };
        begins(
            &problem.text,
            &format!("`Waits` follows `Proto1`, which is not live in every run: {neglected}\n\n"),
        );
        assert_eq!((problem.line, problem.column), (4, 20));
    }
    // `C` hears in every round, but that takes longer queues than are explored.
    let check = asked("unfair", ", every_run(C)");
    says(
        &only(&check).text,
        "every run: a queue would hold more than 64 messages (limit `queue`)\n\n",
    );
    // What is not known is not promised.
    let check = asked("unfair", ", every_run, limits(configurations = 2)");
    says(
        &check.problems[0].text,
        "the system has more than 2 configurations (limit `configurations`)",
    );
}

/// `c` puts off `Y` until `a` stops, which it need not ever do.
const PUT_OFF: &str = "\
#[session(A)] type First = Send<C, X, Stream>;
struct Stream(Select<C, Next>);
enum Next { More(More, Receive<C, Ack, Stream>), Stop(Stop, End) }
#[session(B)] type Second = Send<C, Y, End>;
#[session(C)] type Third = Receive<A, X, Drain>;
struct Drain(Branch<A, Heard>);
enum Heard { More(More, Send<A, Ack, Drain>), Stop(Stop, Receive<B, Y, End>) }
";

fn put_off(name: &str, beginning: &str, settings: &str) -> Vec<String> {
    let protocol = format!(
        "global protocol P(role a, role b, role c) {{
           {beginning}
           rec X {{ choice at a {{ more() from a to c; ack() from c to a; continue X; }} or {{ stop() from a to c; }} }}
         }}"
    );
    let mut items = PUT_OFF.to_owned();
    if beginning.contains("seen()") {
        items = items.replace("Send<C, X, Stream>", "Send<C, X, Receive<C, Seen, Stream>>");
        items = items.replace("Receive<A, X, Drain>", "Receive<A, X, Send<A, Seen, Drain>>");
    }
    let check = check(name, &protocol, &format!("P{settings}"), &items);
    check.problems.into_iter().map(|problem| problem.text).collect()
}

/// The sessions are judged together, since `c` hears two roles at once.
#[test]
fn what_is_judged_together_is_received_in_every_run() {
    let par = "par { x() from a to c; seen() from c to a; } and { y() from b to c; }";
    for settings in ["", ", every_run", ", fair(a)"] {
        let problems = put_off("par", par, settings);
        let [text] = &problems[..] else { panic!("{settings}: {problems:?}") };
        begins(text, "unsafe order: `Third` does not do everything at its turn");
        says(
            text,
            "leads to where `c` may never receive what `b` sends to it, if others go on for ever with `",
        );
        says(text, "in the queue from b to c: y\n");
        says(text, "note: it holds if choices are fair");
        says(text, "#[rumpsteak::protocol(P, fair(c))]");
    }
    for settings in [", fair", ", fair(c)"] {
        assert_eq!(put_off("par", par, settings), [""; 0]);
    }
}

#[test]
fn what_is_accepted_as_a_closed_system_is_received_in_every_run() {
    let sequence = "x() from a to c; y() from b to c;";
    for settings in [", accept_closed_system", ", accept_closed_system, every_run"] {
        let problems = put_off("closed", sequence, settings);
        let [text] = &problems[..] else { panic!("{settings}: {problems:?}") };
        begins(text, "`Third` repeats itself and never receives `Y` from `B`\n");
        says(
            text,
            "note: `accept_closed_system` does not help: the system of all sessions as they are written leads to where `c` may never receive what `b` sends to it",
        );
    }
    assert_eq!(put_off("closed", sequence, ", accept_closed_system, fair(c)"), [""; 0]);
}
