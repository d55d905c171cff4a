//! `optimise`: what it prints for Rust. The rest is in `calls/optimise.md`.

use std::path::Path;

use crate::common::{DOUBLE_BUFFERING, Folder, says};

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
type OptimisedS = Select<T, OptimisedSValueChoice>;

#[session]
enum OptimisedSValueChoice {
    Value(Value, Receive<T, Ready, Select<T, Self>>),
    Stop(Stop, Receive<T, Ready, End>),
}
"
    );
}

/// The guide's page on the papers has their pictures as the command prints them.
#[test]
fn the_guide_is_true() {
    let page = include_str!("../../../../rumpsteak-runtime/guide/papers.md");
    let (call, rest) = page.split("$ cargo rumpsteak ").nth(1).unwrap().split_once('\n').unwrap();
    let protocol = include_str!("../../../../protocols/double_buffering.scr");
    let folder = Folder::new("optimise_guide").with("protocols/double_buffering.scr", protocol);
    let run = folder.call(call).exits(0);
    for line in rest.split("```").next().unwrap().lines() {
        says(&run.stdout, line);
    }
}

/// The build accepts the printed Rust code in the module.
#[test]
fn the_session_types_can_be_pasted() {
    const MANIFEST: &str =
        "[package]\nname = \"app\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    const SHOP: &str = "\
type <rust> \"crate::Order\" from \"crate\" as Order;
global protocol Shop(role a, role b) { rec X { order(Order) from a to b; paid() from b to a; continue X; } }
";
    // One label is called as its payload, an imported name, and another label as a role.
    const NAMES: &str = "\
global protocol Names(role a, role b, role c) {
  rec X { order(Order) from a to b; c() from b to a; d() from b to c; continue X; }
}
";
    let cases = [
        ("kernel", DOUBLE_BUFFERING, "DoubleBuffering", "", "k", "", "3 of 3"),
        ("source", STREAMING, "Streaming", "", "s", "", "2 of 2"),
        ("far_ahead", STREAMING, "Streaming", "", "s", "--latency 9", "2 of 2"),
        ("declared", SHOP, "Shop", "", "a", "", "2 of 2"),
        ("names", NAMES, "Names", "use super::Order;", "a", "", "3 of 3"),
    ];
    for (name, text, protocol, imports, role, more, sessions) in cases {
        let folder = Folder::new(&format!("optimise_paste_{name}"))
            .with("Cargo.toml", MANIFEST)
            .with("protocols/p.scr", text);
        let line = format!("optimise protocols/p.scr --role {role} --format alias {more}");
        let alias = folder.call(&line).exits(0).stdout;
        let module =
            format!("#[rumpsteak::protocol({protocol})]\nmod p {{\n{imports}\n{alias}}}\n");
        let folder = folder.with("src/main.rs", format!("{module}struct Order;\nfn main() {{}}\n"));
        let run = folder.call("check").exits(0);
        let verified = format!("{sessions} sessions verified against 1 protocol\n");
        assert_eq!(run.stdout, verified, "{name}: {run:?}");
    }
}
