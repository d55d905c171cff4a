//! `optimise`.

use std::path::Path;

use crate::common::{DOUBLE_BUFFERING, Folder, ROLES, begins, says};

const RING: &str = "\
global protocol Ring(role a, role b, role c) {
  rec lap { value(i32) from a to b; value(i32) from b to c; value(i32) from c to a; continue lap; }
}
";
const STREAMING: &str = "\
global protocol Streaming(role s, role t) {
  rec loop {
    ready() from t to s;
    choice at s { value(i32) from s to t; continue loop; } or { stop() from s to t; }
  }
}
";

#[test]
fn the_kernel_of_the_paper() {
    let folder = Folder::new("optimise_kernel").with("db.scr", DOUBLE_BUFFERING);
    let run = folder.call("optimise db.scr --role k").exits(0);
    begins(
        &run.stderr,
        "note: `value(i32) from k to t` is taken to be made from what `k` has received before in the round: without that an order is faster\n",
    );
    let expected = "\
`k` of `DoubleBuffering`: 4 orders faster and proven, of 4 orders tried; `--show 4` prints them all

1. up to 1 message to `s` before its turn: 25 % less time (905 instead of 1203; an action takes 1)

digraph k {
  0;
  1;
  2;
  3;
  4;
  0 -> 1 [label=\"s!ready\"];
  1 -> 2 [label=\"s!ready\"];
  2 -> 3 [label=\"s?value(i32)\"];
  3 -> 4 [label=\"t?ready\"];
  4 -> 1 [label=\"t!value(i32)\"];
}

#[session(K)]
type OptimisedK = Send<S, Ready, OptimisedKReadyLoop>;

#[session]
struct OptimisedKReadyLoop(
    Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>,
);

before, up to time 12:
";
    begins(&run.stdout, expected);
    says(&run.stdout, "\nafter, up to time 10:\n");

    // Nothing says that a value waits for room.
    let free = folder.call("optimise db.scr --role k --assume-independent --format alias").exits(0);
    says(&free.stdout, "struct OptimisedKValueLoop(\n    Send<T, Value, Receive<S, Value,");

    // All are printed.
    let all = folder.call("optimise db.scr --role k --show 4 --format chart").exits(0);
    begins(
        &all.stdout,
        "`k` of `DoubleBuffering`: 4 orders faster and proven, of 4 orders tried\n",
    );

    // What is printed is read back, and is a subtype.
    let machine = folder.call("optimise db.scr --role k --format dot").exits(0).stdout;
    let projections = folder.call("project db.scr").exits(0).stdout;
    let folder = folder.with("kernel.dot", machine).with("db.dot", projections);
    folder.call("subtype kernel.dot db.dot --role k").exits(0);
}

/// The first round goes the way in which nothing changes.
#[test]
fn the_chart_shows_a_round_in_which_the_orders_differ() {
    let protocol = "\
global protocol P(role client, role parser, role registry, role store) {
  rec next {
    choice at client {
      batch() from client to parser;
      lookup() from parser to registry;
      schema(i32) from registry to parser;
      choice at parser {
        insert(i32) from parser to store;
        stored(i32) from store to parser;
        accepted(i32) from parser to client; @\"depends: schema\"
        continue next;
      } or {
        drop() from parser to store;
        rejected() from parser to client;
        continue next;
      }
    } or {
      close() from client to parser;
      close() from parser to registry;
      close() from parser to store;
    }
  }
}
";
    let folder = Folder::new("optimise_chart").with("p.scr", protocol);
    let run = folder.call("optimise p.scr --role parser --format chart").exits(0);
    let chart = |of: &str| {
        let behind = run.stdout.split(&format!("\n{of}, from time ")).nth(1).unwrap();
        behind.split("\n     │").next().unwrap().split_once(":\n").unwrap().1.to_owned()
    };
    assert_ne!(chart("before"), chart("after"), "{}", run.stdout);
    says(&chart("before"), "  1  ├──────batch─────▷│");
}

#[test]
fn the_protocols_of_the_papers() {
    let protocols = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    let folder = Folder::new("optimise_papers");
    let alias = |file: &str, role: &str, more: &str| {
        let file = protocols.join(file);
        let line = format!("optimise {} --role {role} --format alias {more}", file.display());
        folder.call(&line).exits(0).stdout
    };
    assert!(
        alias("double_buffering.scr", "k", "")
            .starts_with("#[session(K)]\ntype OptimisedK = Send<S, Ready, OptimisedKReadyLoop>;\n")
    );
    assert_eq!(
        alias("ring.scr", "b", "--window 1 --assume-independent"),
        "#[session(B)]\nstruct OptimisedB(Send<C, Value, Receive<A, Value, Self>>);\n"
    );
    assert_eq!(
        alias("streaming.scr", "s", "--window 1"),
        "#[session(S)]
type OptimisedS = Select<T, OptimisedSValueOrStop>;

#[session]
enum OptimisedSValueOrStop {
    Value(Value, Receive<T, Ready, Select<T, Self>>),
    Stop(Stop, Receive<T, Ready, End>),
}
"
    );
}

#[test]
fn the_window_grows_with_the_latency() {
    let folder = Folder::new("optimise_window").with("streaming.scr", STREAMING);
    let window = |more: &str| {
        let object = folder
            .call(&format!("optimise streaming.scr --role s --format json --window 6 {more}"))
            .exits(0)
            .json();
        assert_eq!(object["verdict"], "safe");
        object["proposals"][0]["windows"][0]["messages"].as_u64().unwrap()
    };
    let none = folder.call("optimise streaming.scr --role s --window 0").exits(2).prints("");
    begins(&none.stderr, "error: invalid value '0' for '--window <N>': 0 is not in 1..");
    assert_eq!(window(""), 2);
    assert_eq!(window("--latency 3"), 4);
    // One slow direction counts as much as two that are half as slow.
    assert_eq!(window("--latency 0 --latency s:t=6"), 4);
}

#[test]
fn what_depends_on_a_message_stays_behind_it() {
    let named = "global protocol P(role a, role b, role c) {
  rec X { v(x: i32) from a to b; w(x: i32) from b to c; ok() from c to a; continue X; }
}";
    let assumed = named.replace("x: ", "");
    let saying =
        |depends: &str| assumed.replace("b to c;", &format!("b to c; @\"depends:{depends}\""));
    let folder = Folder::new("optimise_data")
        .with("named.scr", named)
        .with("annotated.scr", saying(" v"))
        .with("assumed.scr", &assumed)
        .with("free.scr", saying(""))
        .with("wrong.scr", saying(" z"));
    let slow = "no order of `b` is faster: it sends nothing that could come before a receive\n";
    for file in ["named.scr", "annotated.scr"] {
        folder.call(&format!("optimise {file} --role b")).exits(1).prints(slow).says("");
    }
    folder.call("optimise assumed.scr --role b").exits(1).prints(slow).says(
        "note: `w(i32) from b to c` is taken to be made from what `b` has received before in the round: without that an order is faster\n\
         help: say behind the interaction what it is made from, or must not come before: \
         `w(i32) from b to c; @\"depends: v\"` if that is `v`, `@\"depends:\"` if it is none; or for all messages with `--assume-independent`\n\n",
    );
    folder.call("optimise assumed.scr --role b --assume-independent").exits(0).says("");
    folder.call("optimise free.scr --role b").exits(0).says("");
    // It is as if nothing were declared.
    let run = folder.call("optimise wrong.scr --role b").exits(1);
    begins(
        &run.stderr,
        "warning[S0217]: unknown label in `depends: z`\n \
         --> wrong.scr:2:52\n",
    );
}

/// `home` comes first among the messages of the baker.
#[test]
fn only_what_holds_back_a_faster_order_is_named() {
    const BAKERY: &str = "\
global protocol P(role a, role b, role o, role c) {
  rec X {
    choice at a { order() from a to b; bake(i32) from b to o; bread(i32) from o to b; ready() from o to b; parcel(i32) from b to c; continue X; }
    or { close(i32) from a to b; off() from b to o; home(i32) from b to c; }
  }
}
";
    const CHOICE: &str = "\
global protocol P(role a, role b, role c) {
  rec X { v(i32) from a to b; choice at b { w(i32) from b to c; continue X; } or { x(i32) from b to c; continue X; } }
}
";
    const TWO: &str = "\
global protocol P(role a, role b, role c) {
  v(i32) from a to b; w(i32) from b to c; ok() from c to b;
  u(i32) from a to b; x(i32) from b to c; ok() from c to b;
}
";
    let cases = [
        (BAKERY, "b", "note: `parcel(i32) from b to c` is taken to be made from what "),
        (BAKERY, "o", "note: with `--assume-independent` none is faster either\n\n"),
        (CHOICE, "b", "note: what `b` sends is taken to be made from what `b` has received"),
        (TWO, "b", "note: `w(i32) from b to c` and `x(i32) from b to c` are taken to be made "),
    ];
    for (protocol, role, note) in cases {
        let folder = Folder::new("optimise_named").with("p.scr", protocol);
        begins(&folder.call(&format!("optimise p.scr --role {role}")).exits(1).stderr, note);
    }
}

/// A payload is made from what came before it in its own round: in the loops around it, and in
/// those that it is behind.
#[test]
fn what_is_assumed_goes_by_rounds() {
    let folder = Folder::new("optimise_rounds")
        // `x` comes behind `y`, so the next `y` may overtake it.
        .with(
            "behind.scr",
            "global protocol P(role a, role b, role c) { rec X { y(i32) from b to c; x(i32) from a to b; continue X; } }",
        )
        .with(
            "before.scr",
            "global protocol P(role a, role b, role c) { rec X { x(i32) from a to b; y(i32) from b to c; continue X; } }",
        )
        // `sum` is made from the items of the loop before it.
        .with(
            "sum.scr",
            "global protocol P(role a, role b, role c) {
  rec X { choice at a { item(i32) from a to b; continue X; } or { done() from a to b; } }
  sum(i32) from b to c;
}",
        )
        // Only signals are received.
        .with(
            "signals.scr",
            "global protocol P(role a, role b) { rec X { ready() from a to b; y(i32) from b to a; continue X; } }",
        );
    let tried = |file: &str| {
        let object = folder.call(&format!("optimise {file} --role b --window 1 --format json"));
        let object = object.json();
        object["tried"].as_u64().unwrap()
    };
    assert_eq!(tried("behind.scr"), 1);
    assert_eq!(tried("before.scr"), 0);
    assert_eq!(tried("before.scr --assume-independent"), 1);
    assert_eq!(tried("sum.scr"), 0);
    assert_eq!(tried("sum.scr --assume-independent"), 1);
    assert_eq!(tried("signals.scr"), 1);
}

#[test]
fn all_roles_together() {
    let folder = Folder::new("optimise_all").with("ring.scr", RING);
    let run = folder
        .call("optimise ring.scr --all-roles --format alias --window 1 --assume-independent")
        .exits(0);
    begins(&run.stderr, "all roles of `Ring` together: ");
    for role in ["A", "B", "C"] {
        says(&run.stdout, &format!("#[session({role})]"));
    }
    let object = folder
        .call("optimise ring.scr --all-roles --format json --window 1 --assume-independent")
        .exits(0)
        .json();
    assert!(object["after"].as_u64() < object["time"].as_u64());
    assert_eq!(object["proposals"].as_array().unwrap().len(), 3);
}

/// `c` hears two roles at once. That costs the others nothing.
#[test]
fn a_role_that_cannot_be_changed_does_not_stop_the_others() {
    const HEARS_TWO: &str = "\
global protocol P(role a, role b, role c) {
  rec X {
    choice at a { l() from a to b; x() from a to c; } or { r() from a to b; y() from b to c; }
    ok() from c to a;
    go() from b to a;
    continue X;
  }
}
";
    let folder = Folder::new("optimise_each").with("p.scr", HEARS_TWO);
    let by_hand = "no other order of `c` is tried: state 0 chooses between the peers `a` and `b`; write another order by hand: the build judges \
                   it together with all other roles\n";
    let run = folder.call("optimise p.scr --all-roles --format dot").exits(0);
    begins(&run.stderr, "all roles of `P` together: ");
    says(&run.stderr, by_hand);
    begins(&run.stdout, "digraph a {");
    let object = folder.call("optimise p.scr --all-roles --format json").exits(0).json();
    let of_role = |role: usize| {
        let found = &object["roles"][role];
        assert_eq!(found["role"], ["a", "b", "c"][role]);
        (found["verdict"].as_str().unwrap(), found["reason"].is_string())
    };
    assert_eq!([0, 1, 2].map(of_role), [("safe", false), ("unsafe", true), ("undecided", true)]);

    // With nothing that is faster, what was not tried decides about the answer.
    const ENDS: &str = "\
global protocol P(role a, role b, role c) {
  choice at a { l() from a to b; x() from a to c; } or { r() from a to b; y() from b to c; }
  bye() from c to a;
}
";
    let folder = folder.with("p.scr", ENDS);
    let run = folder.call("optimise p.scr --all-roles").exits(3);
    begins(&run.stdout, "no faster order was found among 0 orders, which are not all\n\n");
    says(&run.stdout, by_hand);
    folder.call("optimise p.scr --role c").exits(3).prints(
        "error: undecided whether another order is faster: state 0 chooses between the peers `a` and `b`\n\
         help: write another order by hand: the build judges it together with all other roles\n\n",
    );
}

#[test]
fn calls_that_have_no_answer() {
    let peers = "global protocol P(role A, role B, role C) {
    choice at A { l() from A to B; x() from A to C; } or { r() from A to B; y() from B to C; }
    bye() from C to A;
}
";
    let endless = "global protocol P(role a, role b) {
  rec X {
    choice at a { get() from a to b; rec Y { choice at b { item() from b to a; continue Y; } or { done() from b to a; } } continue X; }
    or { bye() from a to b; }
  }
}
";
    let folder = Folder::new("optimise_calls")
        .with("ring.scr", RING)
        .with("peers.scr", peers)
        .with("endless.scr", endless)
        .with("broken.scr", "global protocol");
    folder.call("optimise ring.scr").exits(2);
    folder.call("optimise ring.scr --role a --all-roles").exits(2);
    folder
        .call("optimise ring.scr --role d")
        .exits(2)
        .says("error: `Ring` has no role `d`\nhelp: the roles are `a`, `b` and `c`\n\n");
    folder.call("optimise ring.scr --role a --latency x").exits(2);
    folder.call("optimise ring.scr --role a --latency a:z=3").exits(2);
    folder.call("optimise broken.scr --role a").exits(2);
    folder.call("optimise peers.scr --role C").exits(3);
    // A peer may send items for ever, so nothing that comes behind them may be sent early.
    let run = folder.call("optimise endless.scr --role a").exits(1);
    says(&run.stdout, "may not take the place of what the protocol says");
    let object = folder
        .call("optimise ring.scr --role a --assume-independent --budget 0 --format json")
        .exits(3)
        .json();
    assert_eq!(object["verdict"], "undecided");
}

/// What is printed for Rust is Rust, and the build accepts it.
#[test]
fn the_session_types_can_be_pasted() {
    const MANIFEST: &str =
        "[package]\nname = \"app\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    const BUILD: &str = "fn main() -> Result<(), rumpsteak_build::Report> { rumpsteak_build::verify(\"protocols\").map(drop) }\n";
    const SOURCE: &str = "\
use rumpsteak_runtime::{Channel, Message, Role, Roles, session, states::{Branch, End, Receive, Select, Send}};

#[derive(Roles)]
struct Roles { s: S, t: T }

#[derive(Role)]
#[protocol(Streaming::s)]
#[message(Label)]
struct S { #[route(T)] t: Channel<Label> }

#[derive(Role)]
#[protocol(Streaming::t)]
#[message(Label)]
struct T { #[route(S)] s: Channel<Label> }

#[derive(Message)]
enum Label { Ready(Ready), Value(Value), Stop(Stop) }
struct Ready;
struct Value(i32);
struct Stop;
";
    const SHOP: &str = "\
type <rust> \"crate::Order\" from \"crate\" as Order;
global protocol Shop(role a, role b) { rec X { order(Order) from a to b; paid() from b to a; continue X; } }
";
    // The label `shop::Order` is called as its payload.
    const GENERATED: &str = "\
use rumpsteak_runtime::{session, states::{Receive, Send}};
rumpsteak_runtime::protocol!(Shop);
use shop::{A, B, Paid};
struct Order;
";
    let cases = [
        ("kernel", DOUBLE_BUFFERING, ROLES, "k", "", "1 of 1 session"),
        ("source", STREAMING, SOURCE, "s", "", "1 of 1 session"),
        ("far_ahead", STREAMING, SOURCE, "s", "--latency 9", "1 of 1 session"),
        ("generated", SHOP, GENERATED, "a", "", "3 of 3 sessions"),
    ];
    for (name, protocol, roles, role, more, sessions) in cases {
        let folder = Folder::new(&format!("optimise_paste_{name}"))
            .with("Cargo.toml", MANIFEST)
            .with("build.rs", BUILD)
            .with("protocols/p.scr", protocol);
        let line = format!("optimise protocols/p.scr --role {role} --format alias {more}");
        let alias = folder.call(&line).exits(0).stdout;
        let folder = folder.with("src/main.rs", format!("{roles}\n{alias}\nfn main() {{}}\n"));
        let run = folder.call("check").exits(0);
        let verified = format!("{sessions} verified against 1 protocol\n");
        assert_eq!(run.stdout, verified, "{name}: {run:?}");
    }
}
