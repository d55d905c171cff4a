//! Sessions that subtyping accepts, but that go wrong together: every verb says so.

use serde_json::json;

use crate::common::{Folder, says};

/// `c` hears `b` and `a` at once.
fn two_speakers(choice: &str) -> String {
    format!("global protocol P(role a, role b, role c) {{\n{choice}}}\n")
}

const EITHER: &str = "  choice at a {
    l() from a to b; m() from b to c; n() from c to a; r() from a to c; fin() from c to a;
  } or {
    s() from a to b; r() from a to c; fin() from c to a;
  }
";

/// The order `r` before `n`, which `a` may have if `c` hears it after `b`.
const EARLY: &str =
    "  l() from a to b; m() from b to c; r() from a to c; n() from c to a; fin() from c to a;
";

const HEARS_TWO: &str = "\
note: it is a subtype, but it does something early, and `c` hears several roles at once
note: among these peers, a cannot receive the next message from c; the shortest run that leads there:
";

#[test]
fn a_send_that_overtakes_beside_a_role_that_hears_two() {
    let folder = Folder::new("together_two_speakers")
        .with("either.scr", two_speakers(EITHER))
        .with("early.scr", two_speakers(EARLY));
    folder
        .call("optimise either.scr --role a")
        .exits(1)
        .prints("no order of `a` is faster: of 20 orders tried, 20 may not take the place of what the protocol says\n");
    let run = folder.call("subtype early.scr either.scr --role a").exits(1);
    let refusal = "error: `early.scr` may not take the place of `either.scr`\n";
    assert!(run.stdout.starts_with(&format!("{refusal}{HEARS_TWO}")), "{run:?}");
    let run = folder.call("compat either.scr early.scr --role a").exits(1);
    let refusal = "error: `a` of `early.scr` may not join peers that run `either.scr`\n";
    assert!(run.stdout.starts_with(&format!("{refusal}{HEARS_TWO}")), "{run:?}");
}

#[test]
fn an_option_that_is_needed() {
    let folder = Folder::new("together_narrowed")
        .with(
            "p.local",
            "a: b!result<i32>; end\n\
             b: rec x . c?go; {c!again; x, c!stop; a?result<i32>; end}\n\
             c: rec x . b!go; {b?again; x, b?stop; end}\n",
        )
        .with("again.local", "b: rec X . c?go; c!again; X\n")
        .with("stop.local", "b: c?go; c!stop; a?result<i32>; end\n");
    let answer = folder.call("subtype again.local p.local --role b --format json").exits(1).json();
    let end = &answer["system"]["end"]["failure"];
    assert_eq!(*end, json!("b never receives the message from a"));
    assert_eq!(answer["refusal"], json!(null));
    let text = answer["rendered"].as_str().unwrap();
    let note = "note: it is a subtype, but it leaves out an option of a choice, `c!stop`\n";
    assert!(text.contains(note), "{text}");
    folder
        .call("subtype stop.local p.local --role b")
        .exits(0)
        .prints("`stop.local` may take the place of `p.local`: 1 situation compared, nothing is done early; proven for peers that are exactly these, because it leaves out an option of a choice, `c!again`\n");
}

/// `c` puts off `y` until `a` stops, and `a` need not stop.
#[test]
fn a_message_that_is_not_received_in_every_run() {
    let protocol = "global protocol P(role a, role b, role c) {
  par { x() from a to c; seen() from c to a; } and { y() from b to c; }
  rec X { choice at a { more() from a to c; ack() from c to a; continue X; } or { stop() from a to c; } }
}
";
    let third = "c: a?x; a!seen; rec X . {a?more; a!ack; X, a?stop; b?y; end}\n";
    let others = "a: c!x; c?seen; rec X . {c!more; c?ack; X, c!stop; end}\nb: c!y; end\n";
    let folder = Folder::new("together_every_run")
        .with("p.scr", protocol)
        .with("third.local", third)
        .with("all.local", format!("{third}{others}"));
    let run = folder.call("subtype third.local p.scr --role c").exits(1);
    let text = "among these peers, `c` may never receive what `b` sends to it, if others go on for ever with `";
    says(&run.stdout, text);
    says(&run.stdout, "note: it holds if choices are fair, and `--fair` accepts that\n");
    folder.call("subtype third.local p.scr --role c --fair").exits(0);

    let neglect =
        "error[V0413]: `c` may never receive what `b` sends to it, if others go on for ever with `";
    folder.call("kmc all.local").exits(0).says("");
    let run = folder.call("kmc all.local --liveness every-run").exits(1);
    says(&run.stderr, neglect);
    let run = folder.call("kmc all.local --liveness every-run --format json").exits(1);
    assert_eq!(run.json()["verdict"], json!("unsafe"));
    assert_eq!(run.json()["neglected"], json!(["c"]));
    for verb in ["check", "kmc"] {
        folder.call(&format!("{verb} p.scr --liveness every-run")).exits(0).says("");
    }

    // The machine beside the protocol is what `generate` and the build judge.
    let run = folder.with("p.c.local", third).call("generate p.scr").exits(1).prints("");
    says(&run.stderr, "leads to where `c` may never receive what `b` sends to it");
}

const SHUTDOWN: &str = "global protocol Shutdown(role owner, role task) {
    rec Work {
        choice at owner { item(String) from owner to task; continue Work; }
        or { closed() from owner to task; }
    }
    joined() from task to owner;
}
";

#[test]
fn a_receive_that_can_never_come_where_something_is_sent() {
    let folder = Folder::new("together_dead")
        .with("shutdown.scr", SHUTDOWN)
        .with("race.local", "owner: rec X . {task!item<String>; X, task?joined; task!closed; end}\n")
        .with("right.local", "owner: rec X . {task!item<String>; X, task!closed; task?joined; end}\n")
        // It receives more than the protocol says.
        .with("more.local", "owner: rec X . {task!item<String>; X, task!closed; {task?joined; end, task?failed; end}}\n");
    let told = "`joined` from `task` cannot come while `owner` is here: it comes only after `closed` was sent to `task`";
    for fair in ["", " --fair"] {
        let run = folder.call(&format!("subtype race.local shutdown.scr --role owner{fair}"));
        let run = run.exits(1);
        says(&run.stdout, "error: `race.local` may not take the place of `shutdown.scr`\n");
        says(
            &run.stdout,
            &format!("note: among these peers, {told}; the shortest run that leads there:"),
        );
    }
    let run = folder.call("subtype race.local shutdown.scr --role owner --format json").exits(1);
    assert_eq!(run.json()["system"]["end"]["failure"], json!(told));
    folder.call("subtype right.local shutdown.scr --role owner").exits(0);
    folder.call("subtype more.local shutdown.scr --role owner").exits(0);

    let folder = folder.with(
        "shutdown.owner.local",
        "owner: rec X . {task!item<String>; X, task?joined; task!closed; end}\n",
    );
    let run = folder.call("generate shutdown.scr").exits(1).prints("");
    says(
        &run.stderr,
        "shutdown.owner.local` receives `joined` from `task` or sends something here, and `joined` never comes here",
    );
    says(
        &run.stderr,
        "help: `task` sends it after `closed`: receive it behind the send of `closed` to `task`\n",
    );
}
