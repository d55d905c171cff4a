//! `check` with files.

use crate::common::{Folder, begins, says};
use rumpsteak_oracle::interrupters;
use serde_json::{Value, json};

const PING: &str = "\
global protocol Ping(role a, role b) {
  rec X { ping() from a to b; pong() from b to a; continue X; }
}
";

/// A block in a block. Only exploration can tell if it is safe.
const NESTED: &str = "\
global protocol Nested(role a, role b, role c) {
  par { x() from a to b; } and { par { y() from a to c; } and { z() from b to c; } }
}
";

/// `C` is told about one branch only.
const UNTOLD: &str = "\
global protocol P(role A, role B, role C) {
  choice at A { l() from A to B; m() from A to C; }
  or { r() from A to B; }
}
";

/// A safe protocol in which `C` listens to `A` and `B` in one state.
const TWO_PEERS: &str = "\
global protocol Peers(role A, role B, role C) {
  choice at A { l() from A to B; x() from A to C; }
  or { r() from A to B; y() from B to C; }
}
";

const SYNTAX: &str = "\
global protocol P(role a, role b) {
  hello() form a to b;
  bye( from b to a;
}
";

#[test]
fn a_safe_protocol_says_what_was_explored() {
    let folder = Folder::new("check_safe").with("ping.scr", PING);
    folder
        .call("check ping.scr")
        .exits(0)
        .says("")
        .prints("ping.scr: `Ping` is safe: 2 roles, 4 configurations explored with queues of up to 1 message\n");
    folder
        .run_with_input(["check", "-"], PING)
        .exits(0)
        .prints("<stdin>: `Ping` is safe: 2 roles, 4 configurations explored with queues of up to 1 message\n");
}

#[test]
fn a_machine_is_no_protocol() {
    let folder = Folder::new("check_machine")
        .with("protocols/ping.scr", PING)
        .with("protocols/ping.a.local", "a: rec X . b!ping; b?pong; X")
        .with("other.dot", "digraph a { 0 -> 1 [label=\"b!ping\"]; }");
    let beside = "error: `protocols/ping.a.local` is the machine of a role, not a protocol\n\
                  help: name `protocols/ping.scr`; `subtype` and `kmc` read machines\n\n";
    for call in ["check", "optimise --all-roles", "project"] {
        folder.call(&format!("{call} protocols/ping.a.local")).exits(2).says(beside);
    }
    folder.call("check other.dot").exits(2).says(
        "error: `other.dot` is the machine of a role, not a protocol\n\
         help: name a `.scr` file; `subtype` and `kmc` read machines\n\n",
    );
}

#[test]
fn a_choice_of_another_role_than_the_text_names_is_warned_of() {
    let text = "\
global protocol P(role a, role b, role c) {
  choice at a { job() from a to b; x() from b to c; }
  or { job() from a to b; y() from b to c; }
}
";
    let run = Folder::new("check_chooser").with("p.scr", text).call("check p.scr");
    begins(&run.stderr, "warning[S0305]: branches begin with the same `job`: `b` decides, not `a`");
    says(&run.stderr, "= help: use different labels, or write `job` once and then `choice at b`");
    run.exits(0).prints(
        "p.scr: `P` is safe: 3 roles, 6 configurations explored with queues of up to 1 message\n",
    );
}

#[test]
fn all_errors_of_all_files_are_told() {
    let folder = Folder::new("check_all")
        .with("ping.scr", PING)
        .with("syntax.scr", SYNTAX)
        .with("untold.scr", UNTOLD);
    let run = folder.call("check syntax.scr nowhere.scr untold.scr ping.scr").exits(2);
    // The library words the message.
    let titles: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.starts_with("error"))
        .map(|line| line.split_inclusive(':').next().unwrap())
        .collect();
    assert_eq!(titles, ["error[S0104]:", "error[S0104]:", "error:", "error[S0404]:",]);
    says(&run.stderr, "error: there is no file `nowhere.scr`\n");
    begins(&run.stdout, "ping.scr: `Ping` is safe: ");
}

#[test]
fn the_status_tells_bad_input_from_a_bad_protocol() {
    let names = "global protocol P(role alice, role bob) { x() from alice to bbo; }";
    let folder = Folder::new("check_status")
        .with("ping.scr", PING)
        .with("nested.scr", NESTED)
        .with("syntax.scr", SYNTAX)
        .with("names.scr", names)
        .with("untold.scr", UNTOLD);
    folder.call("check syntax.scr").exits(2);
    folder.call("check names.scr").exits(1);
    folder.call("check untold.scr").exits(1);
    folder.call("check ping.scr untold.scr").exits(1);
    folder.call("check untold.scr ping.scr").exits(1);
    folder.call("check untold.scr syntax.scr").exits(2);
    folder.call("check nested.scr --configurations 2").exits(3);
    folder.call("check nested.scr untold.scr --configurations 2").exits(1);
}

#[test]
fn a_limit_of_blocks_is_named_and_can_be_raised() {
    let folder = Folder::new("check_blocks").with("p.scr", interrupters(4));
    folder.call("check p.scr --generated-lines 100000").exits(0).says("");
    for verb in ["check", "project", "kmc", "generate"] {
        let run = folder.call(&format!("{verb} p.scr --local-transitions 50"));
        says(&run.stderr, "projecting onto `r0` meets the limit 50 of `local_transitions`\n");
        says(&run.stderr, "or raise the limit `local_transitions`\n");
        // These do not ask about the file.
        let status = if matches!(verb, "kmc" | "generate") { 2 } else { 3 };
        assert_eq!((run.status, &*run.stdout), (Some(status), ""), "{verb}");
    }
    // The lines of code.
    let lines = "no code can be generated for `P`: it would have more than 200 lines";
    let run = folder.call("check p.scr --generated-lines 200").exits(0);
    says(&run.stderr, &format!("note[V0604]: {lines}\n"));
    says(&run.stderr, "or raise the limit: `limits(generated_lines = …)` in the attribute\n");
    let run = folder.call("generate p.scr --generated-lines 200").exits(1).prints("");
    says(&run.stderr, &format!("error[V0604]: {lines}\n"));
    let run = folder.call("generate p.scr --generated-lines 100000").exits(0);
    assert!(run.stdout.lines().count() > 200);
}

#[test]
fn a_limit_of_exploring_blocks_is_named_and_can_be_raised() {
    // What `b` receives in one part it sends in the other, so no flat protocol decides.
    let text = "global protocol P(role a, role b) {
        par { x() from a to b; y() from b to a; } and { par { z() from b to a; } and { w() from a to b; } }
    }";
    let folder = Folder::new("check_explored_blocks").with("p.scr", text);
    let run = folder.call("check p.scr --configurations 3").exits(3).prints("");
    begins(&run.stderr, "error[S0410]: undecided whether the roles of `P` fit together\n");
    says(&run.stderr, "help: let senders wait for answers, or raise the limit `configurations`\n");
    folder.call("check p.scr").exits(0).says("");
    let run = folder.call("generate p.scr --configurations 3").exits(2).prints("");
    says(&run.stderr, "error[S0410]");
    folder.call("generate p.scr").exits(0);
}

#[test]
fn a_limit_is_named_with_its_setting() {
    let folder = Folder::new("check_limit").with("ping.scr", PING).with("nested.scr", NESTED);
    let run = folder.call("check nested.scr --configurations 2").exits(3).prints("");
    begins(&run.stderr, "error[S0410]: undecided whether the roles of `Nested` fit together\n");
    says(&run.stderr, "help: let senders wait for answers, or raise the limit `configurations`\n");
    let object = folder.call("check nested.scr --configurations 2 --format json").exits(3).json();
    assert_eq!(object["verdict"], "undecided");
    assert_eq!(object["limit"], json!({"setting": "configurations", "value": 2}));

    // What is safe by construction need not be explored.
    folder.call("check ping.scr --configurations 2").exits(0).prints(
        "ping.scr: `Ping` is safe: 2 roles, by construction: every role can be projected\n",
    );
}

#[test]
fn a_state_with_several_peers_is_safe() {
    let folder = Folder::new("check_peers").with("peers.scr", TWO_PEERS);
    let run = folder.call("check peers.scr").exits(0);
    begins(&run.stdout, "peers.scr: `Peers` is safe: 3 roles, ");
    assert_eq!(run.stderr, "");
    folder.call("generate peers.scr").exits(0);
    let run = folder.call("optimise --role C peers.scr").exits(3);
    begins(&run.stdout, "error: undecided whether another order is faster: state 0 chooses");
}

#[test]
fn a_file_without_protocols_is_noted() {
    let aux = "aux global protocol Help(role a, role b) { x() from a to b; }";
    let folder = Folder::new("check_aux").with("aux.scr", aux);
    folder.call("check aux.scr").exits(0).prints("").says(
        "note: `aux.scr` declares no protocol to check\n\
         help: `aux` protocols and those with parameters are checked when others call them\n\n",
    );
}

#[test]
fn json_is_one_object_with_every_file() {
    let folder = Folder::new("check_json").with("ping.scr", PING).with("untold.scr", UNTOLD);
    let object = folder.call("check ping.scr untold.scr --format json").exits(1).json();
    assert_eq!(object["verdict"], "unsafe");
    assert_eq!(object["reason"], object["files"][1]["diagnostics"][0]["message"]);
    for field in ["bound", "limit", "run"] {
        assert_eq!(object[field], Value::Null, "{field}");
    }
    assert_eq!(
        object["files"][0],
        json!({
            "file": "ping.scr",
            "protocols": [{
                "protocol": "Ping", "roles": ["a", "b"],
                "verdict": "safe", "bound": 1, "limit": null, "run": null, "reason": null,
            }],
            "diagnostics": [],
        })
    );
    assert_eq!(object["files"][1]["protocols"][0]["verdict"], "unsafe");
    assert_eq!(object["files"][1]["diagnostics"][0]["code"], "S0404");

    let safe = folder.call("check ping.scr --format json").exits(0).json();
    assert_eq!((&safe["verdict"], &safe["bound"]), (&json!("safe"), &json!(1)));

    let missing = folder.call("check nowhere.scr --format json").exits(2).json();
    assert_eq!(missing["verdict"], Value::Null);
    assert_eq!(missing["reason"], "there is no file `nowhere.scr`");
}

#[test]
fn messages_as_json_are_one_object_per_line() {
    let folder = Folder::new("check_lines").with("ping.scr", PING).with("untold.scr", UNTOLD);
    let run = folder.call("check untold.scr ping.scr --format json-lines").exits(1).says("");
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary: Vec<_> = lines
        .iter()
        .map(|line| {
            (line["kind"].as_str().unwrap(), line["file"].as_str(), line["verdict"].as_str())
        })
        .collect();
    assert_eq!(
        summary,
        [
            ("diagnostic", Some("untold.scr"), None),
            ("protocol", Some("untold.scr"), Some("unsafe")),
            ("protocol", Some("ping.scr"), Some("safe")),
            ("finished", None, Some("unsafe")),
        ]
    );
}

#[test]
fn garbage_is_refused_without_a_panic() {
    let folder = Folder::new("check_garbage")
        .with("folder/x", "")
        .with("empty.scr", "")
        .with("binary.scr", [0x7f, b'E', b'L', b'F', 0, 0xff])
        .with("control.scr", "global \u{0}\u{1b}[31m protocol \u{202e} P(")
        .with("brackets.scr", "{".repeat(100_000))
        .with("long.scr", "x".repeat(1_000_000));
    for name in ["folder", "empty.scr", "binary.scr", "control.scr", "brackets.scr", "long.scr"] {
        let run = folder.run(["check", name]).exits(2);
        begins(&run.stderr, "error");
        assert!(
            !run.stderr.contains("panicked") && !run.stderr.contains('\u{1b}'),
            "{name}: {run:?}"
        );
        assert_eq!(run.stdout, "", "{name}");
    }
}

/// Thousands of choices inside one another; `b` answers, so that the two stay close.
#[test]
fn deep_nesting_is_no_stack_overflow() {
    let depth = 2_000;
    let mut source = String::from("global protocol Deep(role a, role b) {\n");
    for _ in 0..depth {
        source.push_str("choice at a { l() from a to b; m() from b to a; ");
    }
    for _ in 0..depth {
        source.push_str("} or { r() from a to b; }\n");
    }
    source.push('}');
    let folder = Folder::new("check_deep").with("deep.scr", source);
    begins(&folder.call("check deep.scr").exits(0).stdout, "deep.scr: `Deep` is safe: 2 roles, ");
}

#[test]
fn the_protocols_of_the_papers_are_safe() {
    let protocols = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocols");
    let folder = Folder::new("check_protocols");
    let files = std::fs::read_dir(protocols).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|ext| ext == "scr")).collect();
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        folder.run(["check".as_ref(), file.as_path()]).exits(0);
    }
}

/// The command prints what the crate's README shows.
#[test]
fn the_readme_is_true() {
    let readme = include_str!("../../README.md");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = crate::common::command()
        .args(["check", "protocols/double_buffering.scr"])
        .current_dir(root)
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    says(readme, &stdout);
}

#[test]
fn a_file_may_call_itself_what_its_path_ends_in() {
    const BODY: &str = "global protocol P(role A, role B) { hello() from A to B; }\n";
    let text = |name: &str| format!("module {name};\n{BODY}");
    let folder = Folder::new("check_module_line")
        .with("shop/Orders.scr", text("shop.Orders"))
        .with("shop/Plain.scr", BODY)
        .with("shop/Last.scr", text("Last"))
        .with("shop/Basket.scr", text("shop.Orders"))
        .with("market/Orders.scr", text("shop.Orders"))
        .with("two-buyers.scr", text("buyers"));
    for good in ["shop/Orders.scr", "shop/Plain.scr", "shop/Last.scr"] {
        folder.call(&format!("check {good}")).exits(0);
    }
    // From inside of the folder, too.
    let inside =
        Folder::new("check_module_line_inside/shop").with("Orders.scr", text("shop.Orders"));
    inside.call("check Orders.scr").exits(0);
    // Standard input has no name.
    folder.run_with_input(["check", "-"], &text("any.Name")).exits(0);

    folder.call("check shop/Basket.scr").exits(1).says(
        "error[S0213]: the module in `Basket.scr` calls itself `shop.Orders`
 --> shop/Basket.scr:1:8
  |
1 | module shop.Orders;
  |        ^^^^^^^^^^^ expected `shop.Basket`
  |
  = help: correct or remove the line, or move the file to `shop/Orders.scr`

for more about this error, try `cargo rumpsteak explain S0213`
",
    );
    // The file's own name is right: the folder alone is a warning.
    for (call, status) in [
        ("check market/Orders.scr", 0),
        ("project market/Orders.scr", 0),
        ("compat market/Orders.scr market/Orders.scr", 0),
        // No order is faster.
        ("optimise --role A market/Orders.scr", 1),
    ] {
        let run = folder.call(call).exits(status);
        begins(&run.stderr, "warning[S0213]: ");
        says(&run.stderr, "expected `market.Orders`\n");
    }
    let folder = folder.with("market/stall.scr", text("shop.Orders"));
    let run = folder.call("check market/stall.scr").exits(1);
    says(&run.stderr, "expected `stall`\n");
    let run = folder.call("check two-buyers.scr").exits(1);
    says(&run.stderr, " not the name of the file\n");
    begins(&folder.call("project shop/Basket.scr").exits(1).stderr, "error[S0213]: ");
}

/// An upstream that the resolver asks if its cache misses (RFC 1034), a server that knows opaque
/// tokens (RFC 7662), and a collector of entries (RFC 5424).
const SERVERS: &str = "\
global protocol Dns(role stub, role resolver, role upstream) {
  version(u8) from resolver to upstream;
  rec Query {
    query() from stub to resolver;
    choice at resolver { answer() from resolver to stub; continue Query; }
    or { query() from resolver to upstream; answer() from upstream to resolver; answer() from resolver to stub; continue Query; }
  }
}
global protocol Introspection(role client, role resource, role server) {
  rec Next {
    choice at client { get() from client to resource; data() from resource to client; continue Next; }
    or { opaque() from client to resource; introspect() from resource to server; active() from server to resource; }
  }
}
global protocol Log(role app, role peer, role syslog) {
  rec Next {
    choice at app { work() from app to peer; continue Next; }
    or { work() from app to peer; entry() from app to syslog; continue Next; }
  }
}
";

#[test]
fn a_role_that_waits_to_be_asked_is_not_warned_of() {
    let folder = Folder::new("check_servers").with("servers.scr", SERVERS);
    folder.call("check servers.scr").exits(0).says("");
    let refused = folder.call("check servers.scr --liveness every-run --format json").exits(1);
    let neglected = ["/files/0/protocols/0", "/files/0/protocols/1", "/files/0/protocols/2"];
    let neglected = neglected.map(|at| refused.json().pointer(at).unwrap()["neglected"].clone());
    assert_eq!(neglected, [json!(["upstream"]), json!(["server"]), json!(["syslog"])]);
    // The client has asked, and waits for its answer.
    let asks = "global protocol P(role a, role b, role c) {
      ask() from c to b;
      rec X { choice at a { more() from a to b; continue X; } or { stop() from a to b; answer() from b to c; } }
    }";
    let run = folder.with("asks.scr", asks).call("check asks.scr").exits(0);
    begins(&run.stderr, "warning[V0413]: in `P`, `c` may wait for ever");
}

/// Scribble-Java's `unfair/Test03a` and the like: `c` depends on what `a` chooses.
const DEPENDS: &str = "\
global protocol P(role a, role b, role c) {
  rec X {
    choice at a { more() from a to b; continue X; }
    or { stop() from a to b; done() from b to c; }
  }
}
";

#[test]
fn a_role_that_depends_on_a_choice_is_warned_of_or_refused_or_accepted() {
    let folder = Folder::new("check_liveness").with("p.scr", DEPENDS);
    let told = "[V0413]: in `P`, `c` may wait for ever, if others go on for ever with `more` from `a` to `b`\n\
         note: no deadlock: the others go on, and none of them ever has to send to `c`\n\
         help: `--liveness fair` accepts that\n\n\
         for more about this error, try `cargo rumpsteak explain V0413`\n";
    let safe =
        "p.scr: `P` is safe: 3 roles, 6 configurations explored with queues of up to 1 message\n";
    folder.call("check p.scr").exits(0).says(&format!("warning{told}")).prints(safe);
    folder.call("check p.scr --liveness fair").exits(0).says("").prints(safe);
    let refused = folder.call("check p.scr --liveness every-run").exits(1);
    refused.says(&format!("error{told}"));
    let object = folder.call("check p.scr --liveness every-run --format json").exits(1).json();
    assert_eq!((&object["verdict"], &object["neglected"]), (&json!("unsafe"), &json!(["c"])));
}
