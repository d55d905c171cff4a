//! Sessions that are subtypes of their projections, and what they do together.

use rumpsteak_build::command::Check;

use crate::support::{check_module, ends, headlines as problems, says};

/// Checks a package with this protocol and its module, with settings in the attribute.
fn check_with(name: &str, protocol: &str, settings: &str, items: &str) -> Check {
    check_module(&format!("together/{name}"), protocol, &format!("P{settings}"), items)
}

fn check(name: &str, protocol: &str, items: &str) -> Check {
    check_with(name, protocol, "", items)
}

/// `c` waits for `m` or `r`, from two roles; which of them comes decides.
const TWO_SPEAKERS: &str = "global protocol P(role a, role b, role c) {
  choice at a { l() from a to b; m() from b to c; n() from c to a; r() from a to c; fin() from c to a; }
  or { s() from a to b; r() from a to c; fin() from c to a; }
}";

#[test]
fn a_send_that_overtakes_beside_a_role_that_hears_two_is_judged_with_all_roles() {
    let early = "#[session(A)] type First = Select<B, Choose>;
enum Choose { L(L, Send<C, R, Receive<C, N, Receive<C, Fin, End>>>), S(S, Send<C, R, Receive<C, Fin, End>>) }
#[session(B)] type Second = Branch<A, OfB>;
enum OfB { L(L, Send<C, M, End>), S(S, End) }";
    let checked = check("undirected", TWO_SPEAKERS, early);
    assert_eq!(
        problems(&checked),
        [
            "3:20: unsafe reordering: `First` does something before its turn, and `C` hears several roles at once, so that it may take the one for the other"
        ]
    );
    let text = &checked.problems[0].text;
    let run = "the shortest run that brings `a` a message from `c` that it cannot take, with all other roles as the protocol has them:";
    says(text, run);
    ends(text, "help: keep the order of the protocol");

    // In the order of the protocol nothing is wrong, and nothing has to be said.
    let plain = early.replace(
        "Send<C, R, Receive<C, N, Receive<C, Fin, End>>>",
        "Receive<C, N, Send<C, R, Receive<C, Fin, End>>>",
    );
    let checked = check("undirected-plain", TWO_SPEAKERS, &plain);
    assert_eq!(problems(&checked), [""; 0]);
    assert_eq!(checked.summary.verified, 3);
    let exact = |warning: &&String| warning.contains("is proven safe with");
    assert_eq!(checked.warnings.iter().filter(exact).count(), 0);

    // What is done early and cannot be heard too early is safe, with these very roles.
    let last = "#[session(A)] type First = Select<B, Choose>;
enum Choose { L(L, Receive<C, N, Send<C, R, Send<B, Fin, Receive<C, Fin, End>>>>), S(S, Send<C, R, Send<B, Fin, Receive<C, Fin, End>>>) }";
    let told = TWO_SPEAKERS.replace("fin() from c to a;", "fin() from c to a; fin() from a to b;");
    let checked = check("undirected-safe", &told, last);
    assert_eq!(problems(&checked), [""; 0]);
    let found: Vec<&String> = checked.warnings.iter().filter(exact).collect();
    assert_eq!(
        found,
        [
            "protocols/p.scr: `First` is proven safe with the sessions of this module, but not with every role that follows `P`, since it does something early, and `c` hears several roles at once\n  if every process is built from this module, write `#[rumpsteak::protocol(P, accept_closed_system)]`"
        ]
    );
    let meant = check_with("undirected-meant", &told, ", accept_closed_system", last);
    assert_eq!(meant.warnings.iter().filter(exact).count(), 0);
}

const RESULT_AT_THE_END: &str = "global protocol P(role a, role b, role c) {
  rec X {
    go() from c to b;
    choice at b { again() from b to c; continue X; }
    or { stop() from b to c; result() from a to b; }
  }
}";

#[test]
fn an_option_in_which_a_message_is_received_may_not_be_left_out_for_ever() {
    let others = "#[session(A)] type First = Send<B, ResultMessage, End>;
#[session(C)] type Third = ThirdLoop;
struct ThirdLoop(Send<B, Go, Branch<B, OfC>>);
enum OfC { Again(Again, ThirdLoop), Stop(Stop, End) }
";
    let again = "#[session(B)] type Second = SecondLoop;
struct SecondLoop(Receive<C, Go, Send<C, Again, Self>>);";
    let checked = check("orphan", RESULT_AT_THE_END, &[others, again].concat());
    assert_eq!(
        problems(&checked),
        [
            "7:34: unsafe choice: `Second` leaves out an option that other roles rely on: it does not send `Stop` to `C` here"
        ]
    );
    let text = &checked.problems[0].text;
    let run = "the shortest run that leaves a message from `a` to `b` behind, with all other roles as the protocol has them:";
    says(text, run);
    let help =
        "help: let some way through the choice send `Stop`, or take the option out of the protocol";
    ends(text, help);
    // Nor does it hold if choices are fair.
    let fair = check_with("orphan-fair", RESULT_AT_THE_END, ", fair", &[others, again].concat());
    assert_eq!(problems(&fair), problems(&checked));

    // Twice round, and then the result.
    let twice = "#[session(B)] type Second = Receive<C, Go, Send<C, Again, Receive<C, Go, Send<C, Again, Receive<C, Go, Send<C, Stop, Receive<A, ResultMessage, End>>>>>>>;";
    let checked = check("orphan-not", RESULT_AT_THE_END, &[others, twice].concat());
    assert_eq!(problems(&checked), [""; 0]);
    assert_eq!(checked.summary.verified, 3);
}

/// `a` hears of `go` only if `b` stops, and `note` comes after that.
const NOTE_AT_THE_END: &str = "global protocol P(role a, role b, role c, role d) {
  rec X {
    choice at b { more() from b to c; continue X; }
    or { stop() from b to c; done() from b to d; go() from b to a; note() from d to a; }
  }
}";

#[test]
fn sessions_that_are_harmless_alone_are_judged_together() {
    let narrow = "#[session(B)] type Narrow = Rounds;
struct Rounds(Send<C, More, Self>);
";
    let early = "#[session(D)] type Early = Send<A, Note, Receive<B, Done, End>>;\n";
    let plain = "#[session(D)] type Plain = Receive<B, Done, Send<A, Note, End>>;\n";

    // Who waits for ever is warned of, once.
    let checked = check("narrow", NOTE_AT_THE_END, &[narrow, plain].concat());
    assert_eq!(problems(&checked), [""; 0]);
    let waits = |warning: &&String| warning.contains("with the sessions as they are");
    assert_eq!(checked.warnings.iter().filter(waits).count(), 1);
    let checked = check("early", NOTE_AT_THE_END, &[early].concat());
    assert_eq!(problems(&checked), [""; 0]);
    assert_eq!(checked.warnings.iter().filter(waits).count(), 0);

    // With both, the note is left behind; also where another session of the role would not.
    for (name, sessions) in
        [("both", [narrow, early].concat()), ("one-of-two", [narrow, plain, early].concat())]
    {
        let checked = check(name, NOTE_AT_THE_END, &sessions);
        assert_eq!(
            problems(&checked),
            [
                "3:15: unsafe choice: `Narrow` leaves out an option that other roles rely on: it does not send `Stop` to `C` here"
            ],
            "{name}"
        );
        let text = &checked.problems[0].text;
        let run = "the shortest run that leaves a message from `d` to `a` behind, with `Early` and all other roles as the protocol has them:";
        says(text, run);
    }

    // The sessions of two modules do not run together.
    let apart = format!("{narrow}}}\n#[rumpsteak::protocol(P)] mod n {{\n{early}");
    assert_eq!(problems(&check("apart", NOTE_AT_THE_END, &apart)), [""; 0]);

    let source = [narrow, plain, early].concat();
    let checked = check_with("many", NOTE_AT_THE_END, ", limits(combinations = 1)", &source);
    assert_eq!(
        problems(&checked),
        [
            "2:20: `Narrow` could not be verified: the roles have 2 combinations of sessions, and at most 1 are judged (limit `combinations`)"
        ]
    );
}

/// `c` waits for `m` or `l`. In its next session `d` may have chosen otherwise, and be faster: the
/// runtime keeps that session apart.
#[test]
fn roles_that_begin_again_early_are_safe() {
    let protocol = "global protocol P(role a, role b, role c, role d, role e) {
  choice at d { one() from d to e; one() from d to b; m() from b to c; x() from e to c; one() from d to a; }
  or { two() from d to e; two() from d to a; l() from a to c; y() from e to c; two() from d to b; }
}";
    let source = "#[session(D)] type First = Select<E, Choose>;
enum Choose { One(One, Send<B, One, Send<A, One, End>>), Two(Two, Send<A, Two, Send<B, Two, End>>) }";
    assert_eq!(problems(&check("again", protocol, source)), [""; 0]);
}

/// The task joins only after it was told to close.
const SHUTDOWN: &str = "global protocol P(role owner, role task) {
  rec Work { choice at owner { item() from owner to task; continue Work; } or { closed() from owner to task; } }
  joined() from task to owner;
}";

#[test]
fn a_receive_that_can_never_come_beside_a_send_is_refused_at_its_token() {
    let race = "#[session(Owner)] type Own = Race<Next>;
enum Next {
  Item(Send<Task, Item, Own>),
  Joined(Receive<Task, Joined, Send<Task, Closed, End>>),
}";
    let checked = check("dead", SHUTDOWN, race);
    assert_eq!(
        problems(&checked),
        [
            "5:3: `Own` receives `Joined` from `Task` or sends something here, and `Joined` never comes here: a process that waits for it hangs"
        ]
    );
    let text = &checked.problems[0].text;
    says(
        text,
        "it comes only after `closed` was sent to `task`, with all other roles as the protocol has them:",
    );
    ends(
        text,
        "help: `Task` sends it after `Closed`: receive it behind the send of `Closed` to `Task`",
    );

    let right = "#[session(Owner)] type Own = Select<Task, Next>;
enum Next { Item(Item, Own), Closed(Closed, Branch<Task, Last>) }
enum Last { Joined(Joined, End) }
";
    let checked = check("dead-right", SHUTDOWN, right);
    assert_eq!(problems(&checked), [""; 0]);
}
