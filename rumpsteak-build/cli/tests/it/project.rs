//! `project`.

use crate::common::{Folder, begins, says};
use serde_json::json;

const STREAMING: &str = "\
global protocol Streaming(role s, role t) {
  rec loop {
    ready() from t to s;
    choice at s {
      value(i32) from s to t;
      continue loop;
    } or {
      stop() from s to t;
    }
  }
}
";

const TWO: &str = "\
global protocol Ping(role a, role b) { ping() from a to b; }
global protocol Pong(role a, role b) { pong() from b to a; }
";

/// `C` is told about one branch only.
const UNTOLD: &str = "\
global protocol P(role A, role B, role C) {
  choice at A { l() from A to B; m() from A to C; }
  or { r() from A to B; }
}
";

#[test]
fn dot_is_the_default_and_makes_a_system() {
    let folder = Folder::new("project_dot").with("streaming.scr", STREAMING);
    let run = folder.call("project streaming.scr").exits(0).says("").prints(
        "digraph s {\n  \
           0;\n  1;\n  2;\n  \
           0 -> 1 [label=\"t?ready\"];\n  \
           1 -> 0 [label=\"t!value(i32)\"];\n  \
           1 -> 2 [label=\"t!stop\"];\n\
         }\n\
         digraph t {\n  \
           0;\n  1;\n  2;\n  \
           0 -> 1 [label=\"s!ready\"];\n  \
           1 -> 0 [label=\"s?value(i32)\"];\n  \
           1 -> 2 [label=\"s?stop\"];\n\
         }\n",
    );
    folder.call("project streaming.scr --format dot").exits(0).prints(&run.stdout);
}

#[test]
fn other_forms() {
    let folder = Folder::new("project_forms").with("streaming.scr", STREAMING);
    folder.call("project streaming.scr --format local").exits(0).prints(
        "s: rec x . t?ready; {t!value<i32>; x, t!stop; end}\n\
         t: rec x . s!ready; {s?value<i32>; x, s?stop; end}\n",
    );
    let cfsm = folder.call("project streaming.scr --format cfsm").exits(0);
    assert_eq!(cfsm.stdout.matches(".state graph").count(), 2, "{cfsm:?}");
    let mermaid = folder.call("project streaming.scr --format mermaid --role s").exits(0);
    begins(&mermaid.stdout, "stateDiagram-v2\n    [*] --> s0\n");
    let svg = folder.call("project streaming.scr --format svg --role s").exits(0);
    begins(&svg.stdout, "<svg xmlns=\"http://www.w3.org/2000/svg\" ");

    // What was printed reads back as the same machines.
    for form in ["dot", "local", "cfsm"] {
        let text = folder.run(["project", "streaming.scr", "--format", form]).exits(0).stdout;
        let role = if form == "local" || form == "dot" { "t" } else { "1" };
        std::fs::write(folder.path().join("again"), &text).unwrap();
        let role = match text.contains("--@role t") {
            true => "t",
            false => role,
        };
        folder.run(["subtype", "again", "again", "--role", role]).exits(0);
    }
}

#[test]
fn json_is_an_object_with_the_machines() {
    let folder = Folder::new("project_json").with("streaming.scr", STREAMING);
    let run = folder.call("project streaming.scr --role t --format json").exits(0);
    assert_eq!(
        run.json(),
        json!({
            "protocol": "Streaming",
            "machines": [{
                "role": "t",
                "initial": 0,
                "states": 3,
                "transitions": [
                    {"from": 0, "to": 1, "action": "s!ready", "peer": "s", "direction": "send", "label": "ready", "payload": []},
                    {"from": 1, "to": 0, "action": "s?value(i32)", "peer": "s", "direction": "receive", "label": "value", "payload": ["i32"]},
                    {"from": 1, "to": 2, "action": "s?stop", "peer": "s", "direction": "receive", "label": "stop", "payload": []},
                ],
            }],
            "diagnostics": [],
        })
    );
    folder.call("project streaming.scr --role t --format json").exits(0).prints(&run.stdout);
}

#[test]
fn the_file_may_be_standard_input() {
    let folder = Folder::new("project_stdin");
    let run =
        folder.run_with_input(["project", "-", "--role", "s", "--format", "local"], STREAMING);
    run.exits(0).prints("s: rec x . t?ready; {t!value<i32>; x, t!stop; end}\n");
}

#[test]
fn several_protocols_need_a_name() {
    let folder = Folder::new("project_several").with("two.scr", TWO);
    folder.call("project two.scr").exits(2).prints("").says(
        "error: `two.scr` holds several protocols\nhelp: say which one with `--protocol`: `Ping` and `Pong`\n\n",
    );
    let run = folder.call("project two.scr --protocol Pong --role a --format local");
    run.exits(0).prints("a: b?pong; end\n");
    folder
        .call("project two.scr --protocol ping")
        .exits(2)
        .says("error: `two.scr` holds no protocol `ping`\nhelp: did you mean `Ping`?\n\n");
    folder.call("project two.scr --protocol Something").exits(2).says(
        "error: `two.scr` holds no protocol `Something`\nhelp: it holds `Ping` and `Pong`\n\n",
    );
    // The object says the same.
    let object = folder.call("project two.scr --format json").exits(2).json();
    assert_eq!(object["error"]["help"], "say which one with `--protocol`: `Ping` and `Pong`");
}

#[test]
fn helpers_alone_are_nothing_to_project() {
    let aux = "aux global protocol Help(role a, role b) { x() from a to b; }";
    let folder = Folder::new("project_aux").with("aux.scr", aux);
    folder.call("project aux.scr").exits(2).says(
        "error: `aux.scr` holds no protocol that can be projected\n\
         help: `aux` protocols and those with parameters are projected where others call them\n\n",
    );
}

#[test]
fn an_unknown_role_gets_a_suggestion() {
    let source = STREAMING
        .replace("role s", "role source")
        .replace(" s ", " source ")
        .replace("to s;", "to source;");
    let folder = Folder::new("project_role").with("streaming.scr", source);
    let run = folder.call("project streaming.scr --role sorce").exits(2).prints("");
    begins(&run.stderr, "error[S0407]: ");
    says(&run.stderr, "help: did you mean `source`?");
}

#[test]
fn a_role_that_cannot_be_projected_is_told_and_no_machine_is_printed() {
    let folder = Folder::new("project_untold").with("untold.scr", UNTOLD);
    let run = folder.call("project untold.scr").exits(1).prints("");
    begins(&run.stderr, "error[S0404]: ");
    says(&run.stderr, " --> untold.scr:2:34\n");

    // The others can.
    folder
        .call("project untold.scr --role B --format local")
        .exits(0)
        .prints("B: {A?l; end, A?r; end}\n");

    let object = folder.call("project untold.scr --format json").exits(1).json();
    assert_eq!(object["machines"], json!([]));
    assert_eq!(object["diagnostics"][0]["code"], "S0404");
    assert_eq!(object["diagnostics"][0]["spans"][0]["line_start"], 2);
}

#[test]
fn a_file_that_is_no_scribble_is_bad_input() {
    let folder = Folder::new("project_syntax")
        .with("bad.scr", "global protocol P(role a, role b) {\n  x() form a to b;\n}\n");
    let run = folder.call("project bad.scr").exits(2).prints("");
    begins(&run.stderr, "error[S0104]: expected `from`, found `form`\n --> bad.scr:2:7\n");
}

#[test]
fn a_form_that_cannot_say_it_is_refused() {
    let folder = Folder::new("project_unsayable").with("streaming.scr", STREAMING);
    folder.call("project streaming.scr --role s --format cfsm").exits(2).prints("").says(
        "error: the machine of `s`: its peer `t` is not among the machines\nhelp: leave out `--role`\n\n",
    );
    let run = folder.call("project streaming.scr --format png").exits(2);
    says(&run.stderr, "[possible values: dot, local, cfsm, mermaid, svg, json]");
}
