//! One session after the other: what may be taken for the next one's, and which run shows it.

use rumpsteak_fsm::capacity::repeated;
use rumpsteak_fsm::run::Queue;
use rumpsteak_fsm::system::explore;
use rumpsteak_fsm::verify::again::{Early, Overlap, follow, overlap, telling};
use rumpsteak_fsm::{Limit, Limits, Message, System, Verdict, dot};

/// The collector of lines may go on at once: whoever has said its last is not heard any more.
#[test]
fn who_has_said_its_last_is_not_heard() {
    let machines = dot::parse(
        r#"digraph a { 0 -> 1 [label="c!x"] }
        digraph b { 0 -> 1 [label="c!y"] }
        digraph c { 0 -> 1 [label="a?x"]; 0 -> 2 [label="b?y"]; 1 -> 3 [label="b?y"]; 2 -> 3 [label="a?x"] }"#,
    );
    let system = System::new(machines.unwrap()).unwrap();
    let verdict = explore(&telling(&system).unwrap(), &Limits::default()).verdict;
    assert_eq!(verdict, Verdict::Safe(()));
}

/// In the next session `a` may be faster than `b`: `c` takes `l` for that of this one, and then
/// hears `x`, which is for `m`.
#[test]
fn what_is_taken_for_this_session_is_refused_with_a_run() {
    let machines = dot::parse(
        r#"digraph a { 0 -> 1 [label="d?one"]; 0 -> 2 [label="d?two"]; 2 -> 1 [label="c!l"] }
        digraph b { 0 -> 2 [label="d?one"]; 0 -> 1 [label="d?two"]; 2 -> 1 [label="c!m"] }
        digraph c { 0 -> 1 [label="b?m"]; 0 -> 2 [label="a?l"]; 1 -> 3 [label="e?x"]; 2 -> 3 [label="e?y"] }
        digraph d { 0 -> 1 [label="e!one"]; 1 -> 2 [label="b!one"]; 2 -> 5 [label="a!one"];
                    0 -> 3 [label="e!two"]; 3 -> 4 [label="a!two"]; 4 -> 5 [label="b!two"] }
        digraph e { 0 -> 1 [label="d?one"]; 1 -> 3 [label="c!x"]; 0 -> 2 [label="d?two"]; 2 -> 3 [label="c!y"] }"#,
    );
    let system = System::new(machines.unwrap()).unwrap();
    let limits = Limits::default();
    assert_eq!(explore(&system, &limits).verdict, Verdict::Safe(()));
    let Verdict::Unsafe(run) = follow(&system, &limits) else { panic!("it is unsafe") };
    assert_eq!(run.replay(&repeated(&system)), Ok(()));
    assert_eq!(run.failure.to_string(), "c cannot receive the next message from e");
}

/// `a` may have finished while `c` still hears it: the next `x` could come before `y`.
#[test]
fn who_may_have_finished_is_heard() {
    let machines = dot::parse(
        r#"digraph a { 0 -> 1 [label="c!x"]; 0 -> 2 [label="b!go"]; 1 -> 3 [label="b!no"]; 2 -> 3 [label="b!no"] }
        digraph b { 0 -> 1 [label="a?go"]; 0 -> 3 [label="a?no"]; 1 -> 2 [label="c!y"]; 2 -> 3 [label="a?no"] }
        digraph c { 0 -> 1 [label="a?x"]; 0 -> 1 [label="b?y"] }"#,
    );
    let system = System::new(machines.unwrap()).unwrap();
    assert_eq!(explore(&system, &Limits::default()).verdict, Verdict::Safe(()));
    let verdict = explore(&telling(&system).unwrap(), &Limits::default()).verdict;
    assert!(verdict.refusal().is_some(), "{verdict:?}");
}

/// The end of the session is told by `o`, which then begins again and again; `d` may wait for
/// it while `m` has finished.
#[test]
fn what_is_full_and_who_is_early_is_told() {
    let machines = dot::parse(
        r#"digraph o { 0 -> 0 [label="m!push"]; 0 -> 1 [label="m!finish"]; 1 -> 2 [label="d!reboot"] }
        digraph m { 0 -> 1 [label="o?push"]; 1 -> 0 [label="d!image"]; 0 -> 2 [label="o?finish"] }
        digraph d { 0 -> 0 [label="m?image"]; 0 -> 1 [label="o?reboot"] }"#,
    );
    let system = System::new(machines.unwrap()).unwrap();
    let limits = Limits::default().queue(4);
    assert_eq!(follow(&system, &limits), Verdict::Undecided(Limit::Queue(4)));
    let Overlap { early, full } = overlap(&system, &limits);
    let Early { role, awaited, finished } = early.unwrap();
    assert_eq!([role.as_str(), finished.as_str()], ["d", "m"]);
    let awaited: Vec<String> = awaited.iter().map(ToString::to_string).collect();
    assert_eq!(awaited, ["m?image", "o?reboot"]);
    let Queue { from, to, messages } = full.unwrap();
    assert_eq!([from.as_str(), to.as_str()], ["o", "d"]);
    assert_eq!(messages.iter().map(Message::to_string).collect::<Vec<_>>(), ["reboot"]);
}
