//! `optimise`: what it prints for Rust. The rest is in `calls/optimise.md`.

use std::path::Path;

use crate::common::{DOUBLE_BUFFERING, Folder, ROLES};

const STREAMING: &str = "\
global protocol Streaming(role s, role t) {
  rec loop {
    ready() from t to s;
    choice at s { value(i32) from s to t; continue loop; } or { stop() from s to t; }
  }
}
";

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
