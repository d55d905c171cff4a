//! Orders in a `par`: what a role sends comes first, and messages of several peers are gathered.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use rumpsteak_scribble::{Projection, check, parse};

/// The actions of a role in a line, gathers in braces. A choice whose options go on differently is
/// the last.
fn line(projection: &Projection) -> String {
    let (fsm, mut state, mut text) = (&projection.fsm, projection.fsm.initial(), String::new());
    let mut is_gathered = false;
    loop {
        let options: Vec<_> = fsm.transitions_from(state).collect();
        let [first, ..] = &options[..] else { return text.trim_end().to_owned() };
        let actions = options.iter().map(|option| option.action.to_string());
        let gathers = projection.gathers(state);
        text += if gathers && !is_gathered { "{" } else { "" };
        text += &actions.collect::<Vec<_>>().join("|");
        text += if is_gathered && !gathers { "} " } else { " " };
        if options.iter().any(|option| option.target != first.target) {
            return text + "…";
        }
        (state, is_gathered) = (first.target, gathers);
    }
}

fn lines(source: &str) -> String {
    let parsed = parse(source);
    assert_eq!(parsed.diagnostics, [], "{source}");
    let checked = check(&parsed.module);
    assert_eq!(checked.diagnostics.iter().find(|it| it.is_error), None, "{source}");
    let protocol = &checked.protocols[0];
    let roles = protocol.roles().iter().zip(protocol.project_all().unwrap());
    roles.map(|(role, found)| format!("{role}: {}\n", line(&found))).collect()
}

#[track_caller]
fn is(source: &str, expected: &str) {
    assert_eq!(lines(source).trim_end(), expected.trim_end(), "{source}");
}

#[test]
fn a_send_comes_before_a_receive_unless_it_races() {
    let greeting = |race: &str| {
        format!(
            "global protocol P(role c, role s) {{
               par {{ hello(String) from c to s; {race} }} and {{ hi(String) from s to c; }}
               par {{ key() from c to s; }} and {{ key() from s to c; }} }}"
        )
    };
    let key = |peer: &str| format!("{peer}!key {peer}?key");
    let (first, second) = (key("s"), key("c"));
    is(
        &greeting(""),
        &format!(
            "c: s!hello(String) s?hi(String) {first}\ns: c!hi(String) c?hello(String) {second}"
        ),
    );
    is(
        &greeting("@\"race\""),
        &format!("c: s!hello(String)|s?hi(String) …\ns: c!hi(String) c?hello(String) {second}"),
    );
    // A part that loops leaves all orders open, and so does a role that may interrupt.
    for source in [
        "global protocol P(role c, role s) { par { rec X { a() from c to s; continue X; } } and { b() from s to c; } }",
        "global protocol P(role c, role s) {
           interruptible { par { a() from c to s; } and { b() from s to c; } c() from s to c; d() from c to s; }
           with { stop() by c; } }",
    ] {
        assert!(lines(source).starts_with("c: s!a|s?b"), "{}", lines(source));
    }
}

#[test]
fn answers_in_any_order_are_linear() {
    for n in [2, 8, 12, 16, 70] {
        let names: Vec<String> = (1..=n).map(|number| format!("w{number}")).collect();
        let parts = names.iter().map(|name| format!("{{ result(u64) from {name} to m; }}"));
        let (all, parts) = (names.join(", "), parts.collect::<Vec<_>>().join(" and "));
        let roles = names.join(", role ");
        let source = format!(
            "global protocol Gather(role m, role {roles}) {{
               job(String) from m to {all}; par {parts} done() from m to {all}; }}"
        );
        let found = lines(&source);
        let some = |of: &dyn Fn(&String) -> String| names.iter().map(of).collect::<Vec<_>>();
        let gathers: Vec<String> = some(&|name| format!("{name}?result(u64)"))
            .chunks(64)
            .map(|chunk| format!("{{{}}}", chunk.join(" ")))
            .collect();
        let expected = format!(
            "m: {} {} {}\n",
            some(&|name| format!("{name}!job(String)")).join(" "),
            gathers.join(" "),
            some(&|name| format!("{name}!done")).join(" "),
        );
        assert!(found.starts_with(&expected), "{found}\n{expected}");
        assert!(found.ends_with(&format!("w{n}: m?job(String) m!result(u64) m?done\n")), "{found}");
    }
}

#[test]
fn protocols_with_gathers() {
    // Two-phase commit (Gray, Notes on Data Base Operating Systems, 1978): a vote of each.
    is(
        "global protocol Commit(role c, role p, role q) {
           par { prepare() from c to p; } and { prepare() from c to q; }
           par { choice at p { yes() from p to c; } or { no(String) from p to c; } }
           and { choice at q { yes() from q to c; } or { no(String) from q to c; } }
           outcome(bool) from c to p, q; }",
        "c: p!prepare q!prepare {p?yes|p?no(String) q?yes|q?no(String)} p!outcome(bool) q!outcome(bool)
p: c?prepare c!yes|c!no(String) c?outcome(bool)
q: c?prepare c!yes|c!no(String) c?outcome(bool)",
    );
    // MapReduce (Dean, Ghemawat, OSDI 2004): each mapper writes for each reducer.
    is(
        "global protocol MapReduce(role m, role a, role b, role x, role y) {
           split(String) from m to a, b;
           par { part(String) from a to x, y; } and { part(String) from b to x, y; }
           par { file(String) from x to m; } and { file(String) from y to m; } }",
        "m: a!split(String) b!split(String) {x?file(String) y?file(String)}
a: m?split(String) x!part(String) y!part(String)
b: m?split(String) x!part(String) y!part(String)
x: {a?part(String) b?part(String)} m!file(String)
y: {a?part(String) b?part(String)} m!file(String)",
    );
    // PBFT (Castro, Liskov, OSDI 1999), the normal case: all to all, and a reply of each replica.
    is(
        "global protocol Pbft(role c, role p, role q, role r, role s) {
           request() from c to p; propose() from p to q, r, s;
           par { prepare() from q to p, r, s; } and { prepare() from r to p, q, s; }
           and { prepare() from s to p, q, r; }
           par { reply() from p to c; } and { reply() from q to c; } and { reply() from r to c; }
           and { reply() from s to c; } }",
        "c: p!request {p?reply q?reply r?reply s?reply}
p: c?request q!propose r!propose s!propose {q?prepare r?prepare s?prepare} c!reply
q: p?propose p!prepare r!prepare s!prepare {r?prepare s?prepare} c!reply
r: p?propose p!prepare q!prepare s!prepare {q?prepare s?prepare} c!reply
s: p?propose p!prepare q!prepare r!prepare {q?prepare r?prepare} c!reply",
    );
    // Scatter and gather in one block; the first messages of all come before the second ones.
    is(
        "global protocol Chunks(role m, role a, role b) {
           par { get() from m to a; size(u64) from a to m; data() from a to m; }
           and { get() from m to b; size(u64) from b to m; data() from b to m; } }",
        "m: a!get b!get {a?size(u64) b?size(u64)} {a?data b?data}
a: m?get m!size(u64) m!data
b: m?get m!size(u64) m!data",
    );
    // A role that does not know that the block begins: the first message is any of it.
    is(
        "global protocol Tells(role s, role a, role b, role x) {
           choice at s { go() from s to a; go() from s to b; par { f() from a to x; } and { g() from b to x; } }
           or { no() from s to a; no() from s to b; n() from s to x; } }",
        "s: a!go|a!no …\na: s?go|s?no …\nb: s?go|s?no …\nx: a?f|b?g|s?n …",
    );
}

#[test]
fn what_is_no_gather_is_any_order() {
    for (parts, first) in [
        // An answer to each at once, two messages of one peer, options that go on differently.
        (
            "{ a() from p to m; ok() from m to p; } and { b() from q to m; ok() from m to q; }",
            "p?a|q?b …",
        ),
        ("{ a() from p to m; } and { b() from p to m; }", "p?a|p?b …"),
        (
            "{ choice at p { a() from p to m; c() from p to m; } or { d() from p to m; } } and { b() from q to m; }",
            "p?a|p?d|q?b …",
        ),
    ] {
        let source =
            format!("global protocol P(role m, role p, role q) {{ par {parts} z() from p to q; }}");
        assert!(lines(&source).starts_with(&format!("m: {first}\n")), "{}", lines(&source));
    }
}
