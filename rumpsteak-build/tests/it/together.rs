//! Sessions that are subtypes of their projections, and what they do together.

use rumpsteak_build::command::Check;
use rumpsteak_build::{Limits, Liveness, configure};

use crate::support::{ends, package, says, verified};

/// Checks a package with this protocol and this source.
#[track_caller]
fn check_with(name: &str, protocol: &str, source: &str, limits: Limits) -> Check {
    let files = [("protocols/p.scr", protocol), ("src/lib.rs", source)];
    let folder = package(&format!("together/{name}"), &files);
    verified(configure().protocols("protocols").limits(limits), &folder)
}

#[track_caller]
fn check(name: &str, protocol: &str, source: &str) -> Check {
    check_with(name, protocol, source, Limits::default())
}

/// The roles and labels of `P`, all in one line.
fn roles(roles: &[&str], labels: &[&str]) -> String {
    let mut text = String::new();
    for role in roles {
        let others = roles.iter().filter(|other| *other != role);
        let routes: Vec<String> = others
            .map(|other| format!("#[route({})] Channel<Label>", other.to_uppercase()))
            .collect();
        text += &format!(
            "#[derive(Role)] #[protocol(P::{role})] #[message(Label)] pub struct {}({}); ",
            role.to_uppercase(),
            routes.join(", ")
        );
    }
    let variants: Vec<String> = labels.iter().map(|label| format!("{label}({label})")).collect();
    text += &format!("#[derive(Message)] pub enum Label {{ {} }} ", variants.join(", "));
    for label in labels {
        text += &format!("pub struct {label}; ");
    }
    text + "\n"
}

/// Where each problem is, and its first line.
fn problems(check: &Check) -> Vec<String> {
    let problems = check.problems.iter();
    problems
        .map(|problem| {
            let headline = problem.text.lines().next().unwrap_or_default();
            format!("{}:{}: {headline}", problem.line, problem.column)
        })
        .collect()
}

/// `c` waits for `m` or `r`, from two roles; which of them comes decides.
const TWO_SPEAKERS: &str = "global protocol P(role a, role b, role c) {
  choice at a { l() from a to b; m() from b to c; n() from c to a; r() from a to c; fin() from c to a; }
  or { s() from a to b; r() from a to c; fin() from c to a; }
}";

#[test]
fn a_send_that_overtakes_beside_a_role_that_hears_two_is_judged_with_all_roles() {
    let roles = roles(&["a", "b", "c"], &["L", "M", "N", "R", "S", "Fin"]);
    let early = roles.clone()
        + "#[session(A)] type First = Select<B, Choose>;
#[session] enum Choose { L(L, Send<C, R, Receive<C, N, Receive<C, Fin, End>>>), S(S, Send<C, R, Receive<C, Fin, End>>) }
#[session(B)] type Second = Branch<A, OfB>;
#[session] enum OfB { L(L, Send<C, M, End>), S(S, End) }";
    let checked = check("undirected", TWO_SPEAKERS, &early);
    assert_eq!(
        problems(&checked),
        [
            "3:31: unsafe reordering: `First` does something before its turn, and `C` hears `B` and `A` at once, so that it may take the one for the other"
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
    assert_eq!(checked.summary.verified, 2);
    let exact = |warning: &&String| warning.contains("exactly");
    assert_eq!(checked.warnings.iter().filter(exact).count(), 0);

    // What is done early and cannot be heard too early is safe, with these very roles.
    let last = roles
        + "#[session(A)] type First = Select<B, Choose>;
#[session] enum Choose { L(L, Receive<C, N, Send<C, R, Send<B, Fin, Receive<C, Fin, End>>>>), S(S, Send<C, R, Send<B, Fin, Receive<C, Fin, End>>>) }";
    let told = TWO_SPEAKERS.replace("fin() from c to a;", "fin() from c to a; fin() from a to b;");
    let checked = check("undirected-safe", &told, &last);
    assert_eq!(problems(&checked), [""; 0]);
    let found: Vec<&String> = checked.warnings.iter().filter(exact).collect();
    assert_eq!(
        found,
        [
            "protocols/p.scr: `First` is proven beside this package's sessions and roles that do exactly what `P` says: it does something early, and `c` hears several roles at once; with those it is safe as it is, with others it is not proven; `rumpsteak_build::configure().protocols(\"protocols\").accept_closed_system(\"P\").verify()?;` in build.rs accepts that, without this warning"
        ]
    );
    let files = [("protocols/p.scr", &*told), ("src/lib.rs", &*last)];
    let folder = package("together/undirected-meant", &files);
    let meant = configure().protocols("protocols").accept_closed_system("P");
    assert_eq!(verified(meant, &folder).warnings.iter().filter(exact).count(), 0);
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
    let roles = roles(&["a", "b", "c"], &["Go", "Again", "Stop", "Result"]);
    let others = "#[session(A)] type First = Send<B, Result, End>;
#[session(C)] type Third = ThirdLoop;
#[session] struct ThirdLoop(Send<B, Go, Branch<B, OfC>>);
#[session] enum OfC { Again(Again, ThirdLoop), Stop(Stop, End) }
";
    let again = "#[session(B)] type Second = SecondLoop;
#[session] struct SecondLoop(Receive<C, Go, Send<C, Again, Self>>);";
    let checked = check("orphan", RESULT_AT_THE_END, &[&*roles, others, again].concat());
    assert_eq!(
        problems(&checked),
        [
            "7:45: unsafe choice: `Second` leaves out an option that other roles rely on: it does not send `Stop` to `C` here"
        ]
    );
    let text = &checked.problems[0].text;
    let run = "the shortest run that leaves a message from `a` to `b` behind, with all other roles as the protocol has them:";
    says(text, run);
    let help =
        "help: let some way through the choice send `Stop`, or take the option out of the protocol";
    ends(text, help);
    // Nor does it hold if choices are fair.
    let files = [
        ("protocols/p.scr", RESULT_AT_THE_END),
        ("src/lib.rs", &[&*roles, others, again].concat()),
    ];
    let folder = package("together/orphan-fair", &files);
    let fair = configure().protocols("protocols").liveness("P", Liveness::Fair);
    assert_eq!(problems(&verified(fair, &folder)), problems(&checked));

    // Twice round, and then the result.
    let twice = "#[session(B)] type Second = Receive<C, Go, Send<C, Again, Receive<C, Go, Send<C, Again, Receive<C, Go, Send<C, Stop, Receive<A, Result, End>>>>>>>;";
    let checked = check("orphan-not", RESULT_AT_THE_END, &[&*roles, others, twice].concat());
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
    let labels = ["More", "Stop", "Done", "Go", "Note"];
    let roles = roles(&["a", "b", "c", "d"], &labels);
    let narrow = "#[session(B)] type Narrow = Rounds;
#[session] struct Rounds(Send<C, More, Self>);
";
    let early = "#[session(D)] type Early = Send<A, Note, Receive<B, Done, End>>;\n";
    let plain = "#[session(D)] type Plain = Receive<B, Done, Send<A, Note, End>>;\n";

    // Who waits for ever is warned of, once.
    let checked = check("narrow", NOTE_AT_THE_END, &[&*roles, narrow, plain].concat());
    assert_eq!(problems(&checked), [""; 0]);
    let waits = |warning: &&String| warning.contains("with the sessions as they are");
    assert_eq!(checked.warnings.iter().filter(waits).count(), 1);
    let checked = check("early", NOTE_AT_THE_END, &[&*roles, early].concat());
    assert_eq!(problems(&checked), [""; 0]);
    assert_eq!(checked.warnings.iter().filter(waits).count(), 0);

    // With both, the note is left behind; also where another session of the role would not.
    for (name, sessions) in
        [("both", [narrow, early].concat()), ("one-of-two", [narrow, plain, early].concat())]
    {
        let checked = check(name, NOTE_AT_THE_END, &(roles.clone() + &sessions));
        assert_eq!(
            problems(&checked),
            [
                "3:26: unsafe choice: `Narrow` leaves out an option that other roles rely on: it does not send `Stop` to `C` here"
            ],
            "{name}"
        );
        let text = &checked.problems[0].text;
        let run = "the shortest run that leaves a message from `d` to `a` behind, with `Early` and all other roles as the protocol has them:";
        says(text, run);
    }

    // Roles that no route joins are no company.
    let modules = [
        "mod one { use super::*; ",
        &*roles,
        narrow,
        "}\nmod two { use super::*; ",
        &*roles,
        early,
        "}",
    ];
    let checked = check("apart", NOTE_AT_THE_END, &modules.concat());
    assert_eq!(problems(&checked), [""; 0]);

    let limits = Limits::default().combinations(1);
    let source = [&*roles, narrow, plain, early].concat();
    let checked = check_with("many", NOTE_AT_THE_END, &source, limits);
    assert_eq!(
        problems(&checked),
        [
            "2:20: `Narrow` could not be verified: the roles have 2 combinations of sessions, and at most 1 are judged (`Limits::combinations`)"
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
    let source = roles(&["a", "b", "c", "d", "e"], &["One", "Two", "M", "L", "X", "Y"])
        + "#[session(D)] type First = Select<E, Choose>;
#[session] enum Choose { One(One, Send<B, One, Send<A, One, End>>), Two(Two, Send<A, Two, Send<B, Two, End>>) }";
    assert_eq!(problems(&check("again", protocol, &source)), [""; 0]);
}

/// The task joins only after it was told to close.
const SHUTDOWN: &str = "global protocol P(role owner, role task) {
  rec Work { choice at owner { item() from owner to task; continue Work; } or { closed() from owner to task; } }
  joined() from task to owner;
}";

#[test]
fn a_receive_that_can_never_come_beside_a_send_is_refused_at_its_token() {
    let roles = roles(&["owner", "task"], &["Item", "Closed", "Joined"]);
    let race = roles.clone()
        + "#[session(OWNER)] type Owner = Race<Next>;
#[session] enum Next {
  Item(Send<TASK, Item, Owner>),
  Joined(Receive<TASK, Joined, Send<TASK, Closed, End>>),
}";
    let checked = check("dead", SHUTDOWN, &race);
    assert_eq!(
        problems(&checked),
        [
            "5:3: `Owner` receives `Joined` from `TASK` or sends something here, and `Joined` never comes here: a process that waits for it hangs"
        ]
    );
    let text = &checked.problems[0].text;
    says(
        text,
        "it comes only after `closed` was sent to `task`, with all other roles as the protocol has them:",
    );
    ends(
        text,
        "help: `TASK` sends it after `Closed`: receive it behind the send of `Closed` to `TASK`",
    );

    let right = roles
        + "#[session(OWNER)] type Owner = Select<TASK, Next>;
#[session] enum Next { Item(Item, Owner), Closed(Closed, Branch<TASK, Last>) }
#[session] enum Last { Joined(Joined, End) }
";
    let checked = check("dead-right", SHUTDOWN, &right);
    assert_eq!(problems(&checked), [""; 0]);
}
