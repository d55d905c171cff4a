//! Routes that declare the capacity of their queue.

use rumpsteak_build::command::Check;

use crate::support::{check_module, headlines, only, says};

const PUSH: &str = "global protocol P(role a, role b) {
  chunk() from a to b; part() from b to a; chunk() from a to b; part() from b to a;
}";
const AHEAD: &str =
    "#[session(A)] type Ahead = Send<B, Chunk, Send<B, Chunk, Receive<B, Part, Receive<B, Part, End>>>>;
#[session(B)] type Eager = Send<A, Part, Send<A, Part, Receive<A, Chunk, Receive<A, Chunk, End>>>>;";

fn check(name: &str, protocol: &str, settings: &str, items: &str) -> Check {
    check_module(&format!("declared/{name}"), protocol, &format!("P{settings}"), items)
}

#[test]
fn sessions_that_need_more_room_are_refused_at_the_declaration() {
    let roles = |[of_a, of_b]: [&str; 2]| {
        format!(
            "#[derive(Role)] struct A(#[route(B{of_a})] Queues);\n#[derive(Role)] struct B(#[route(A{of_b})] Queues);\n{AHEAD}"
        )
    };
    let [one, two, unbounded] = [", capacity = 1", ", capacity = 2", ", unbounded"];
    let wait = "with room for 1 message in the queue from a to b, the sessions hang: a and b wait for each other";
    for (settings, rooms, expected) in [
        ("", [one, one], Some(format!("2:48: {wait}"))),
        // The attribute of the module is for routes that do not declare their room.
        (one, ["", one], Some(format!("1:37: {wait}"))),
        (one, ["", two], None),
        (one, ["", unbounded], None),
        (unbounded, ["", ""], None),
        ("", ["", ""], None),
    ] {
        let checked = check("push", PUSH, settings, &roles(rooms));
        assert_eq!(headlines(&checked), Vec::from_iter(expected), "{settings} {rooms:?}");
    }
    let checked = check("push", PUSH, one, AHEAD);
    let text = &only(&checked).text;
    says(text, "the shortest run that leads there");
    says(text, "  b waits for room in the queue from b to a, which is full (1)\n");
    says(text, "help: `capacity = 2` in each route that declares less is enough");
    assert_eq!(headlines(&check("push", PUSH, two, AHEAD)), [""; 0]);
}

#[test]
fn each_combination_of_sessions_counts() {
    let plain = "#[session(B)] type Plain = Receive<A, Chunk, Send<A, Part, Receive<A, Chunk, Send<A, Part, End>>>>;";
    let checked = check("several", PUSH, ", capacity = 1", &format!("{plain}\n{AHEAD}"));
    says(&only(&checked).text, "help: this is so with `Eager`, of a role that has several");
    let (ahead, _) = AHEAD.split_once('\n').unwrap();
    let checked = check("several", PUSH, ", capacity = 1", &format!("{plain}\n{ahead}"));
    assert_eq!(headlines(&checked), [""; 0]);
}

/// The role `c` hears two roles, and `a` may wait for room.
#[test]
fn what_is_not_proven_is_undecided() {
    let streams = "global protocol P(role a, role b, role c) {
  par { rec X { x() from a to c; continue X; } } and { rec Y { y() from b to c; continue Y; } }
}";
    let larger = "1:37: it is not known whether the sessions of `m` hang with the room that routes declare: with exactly this room \
                  they do not, but a queue may hold more, and a role that chooses among several peers, or races, may then go \
                  another way";
    assert_eq!(headlines(&check("streams", streams, ", capacity = 1", "")), [larger]);

    // Only some roles must be live in every run, and a sender may wait.
    let stream = "global protocol P(role a, role b) { rec X { x() from a to b; continue X; } }";
    assert_eq!(headlines(&check("stream", stream, ", capacity = 1, every_run", "")), [""; 0]);
    let partial = check("stream", stream, ", capacity = 1, every_run(b)", "");
    says(&only(&partial).text, "only some roles are `every_run`, and a sender may wait for room");

    // Members that receive in different orders may wait for room at different places.
    let members = "global protocol P(role a, role b, role w[2]) {
  par { x() from a to each w; z() from each w to a; } and { y() from b to each w; }
}";
    assert_eq!(headlines(&check("members", members, "", "")), [""; 0]);
    let bounded = check("members", members, ", capacity = 1", "");
    says(&only(&bounded).text, "a member of `w` receives from several roles");
}

#[test]
fn a_role_that_races_may_have_chosen_to_send() {
    let patience = "global protocol P(role c, role s) {
  interruptible { question() from c to s; answer() from s to c; thanks() from c to s; } with { cancel() by c; }
}";
    let wide = check("race", patience, ", capacity = 4", "");
    assert_eq!((headlines(&wide), wide.reports.len()), (vec![], 0));
    let small = check("race", patience, ", capacity = 1", "");
    says(&only(&small).text, "with exactly this room they do not, but a queue may hold more");
}
