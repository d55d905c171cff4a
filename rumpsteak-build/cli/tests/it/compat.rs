//! `compat`: pairs of protocol versions.

use crate::common::{Folder, begins, says};
use serde_json::{Value, json};

/// A shop, and what becomes of it.
fn shop(body: &str) -> String {
    format!("global protocol Shop(role buyer, role seller) {{\n{body}}}\n")
}

const LOOP: &str = "    rec Loop {
        choice at buyer { order(i32) from buyer to seller; price(i32) from seller to buyer; continue Loop; }
        or { bye() from buyer to seller; }
    }
";

const WITH_HELP: &str = "    rec Loop {
        choice at buyer { order(i32) from buyer to seller; price(i32) from seller to buyer; continue Loop; }
        or { help() from buyer to seller; text(String) from seller to buyer; continue Loop; }
        or { bye() from buyer to seller; }
    }
";

const UNROLLED: &str = "    rec Loop {
        choice at buyer {
            order(i32) from buyer to seller; price(i32) from seller to buyer;
            choice at buyer { order(i32) from buyer to seller; price(i32) from seller to buyer; continue Loop; }
            or { bye() from buyer to seller; }
        } or { bye() from buyer to seller; }
    }
";

const WITH_LOG: &str = "global protocol Shop(role buyer, role seller, role log) {
    rec Loop {
        choice at buyer {
            order(i32) from buyer to seller; price(i32) from seller to buyer; entry(i32) from seller to log;
            continue Loop;
        } or { bye() from buyer to seller; closed() from seller to log; }
    }
}
";

/// One pair: for each role how it changes, whether it may be upgraded first and whether it may stay
/// until last; with the broken rules.
struct Pair {
    name: &'static str,
    old: String,
    new: String,
    roles: &'static [(&'static str, &'static str, Rule, Rule)],
}

/// Nothing where it may; else the rule that forbids it.
type Rule = Option<&'static str>;

fn pairs() -> Vec<Pair> {
    let pair = |name, old: String, new: String, roles| Pair { name, old, new, roles };
    let once = |text: &str| shop(text);
    vec![
        // Two ways to write one protocol.
        pair(
            "unrolled",
            shop(LOOP),
            shop(UNROLLED),
            &[("buyer", "same", None, None), ("seller", "same", None, None)],
        ),
        // Who offers more may come first, who asks for more must come last.
        pair(
            "added_branch",
            shop(LOOP),
            shop(WITH_HELP),
            &[
                ("buyer", "changed", Some("output-not-offered"), None),
                ("seller", "changed", None, Some("input-not-handled")),
            ],
        ),
        // The other way round.
        pair(
            "removed_branch",
            shop(WITH_HELP),
            shop(LOOP),
            &[
                ("buyer", "changed", None, Some("output-not-offered")),
                ("seller", "changed", Some("input-not-handled"), None),
            ],
        ),
        // A send may be done early, a receive may not.
        pair(
            "reordered",
            once("    order(i32) from buyer to seller;\n    terms(String) from seller to buyer;\n"),
            once("    terms(String) from seller to buyer;\n    order(i32) from buyer to seller;\n"),
            &[
                ("buyer", "changed", Some("input-before-output"), None),
                ("seller", "changed", None, Some("input-before-output")),
            ],
        ),
        // Two messages from one peer have an order.
        pair(
            "reordered_one_way",
            once("    order(i32) from buyer to seller;\n    address(String) from buyer to seller;\n"),
            once("    address(String) from buyer to seller;\n    order(i32) from buyer to seller;\n"),
            &[
                (
                    "buyer",
                    "changed",
                    Some("outputs-to-one-peer"),
                    Some("outputs-to-one-peer"),
                ),
                (
                    "seller",
                    "changed",
                    Some("inputs-from-one-peer"),
                    Some("inputs-from-one-peer"),
                ),
            ],
        ),
        pair(
            "new_payload",
            shop(LOOP),
            shop(LOOP).replace("price(i32)", "price(i64)"),
            &[
                (
                    "buyer",
                    "changed",
                    Some("payload-differs"),
                    Some("payload-differs"),
                ),
                (
                    "seller",
                    "changed",
                    Some("payload-differs"),
                    Some("payload-differs"),
                ),
            ],
        ),
        pair(
            "new_name",
            shop(LOOP),
            shop(LOOP).replace("order(", "purchase("),
            &[
                (
                    "buyer",
                    "changed",
                    Some("output-not-offered"),
                    Some("output-not-offered"),
                ),
                (
                    "seller",
                    "changed",
                    Some("input-not-handled"),
                    Some("input-not-handled"),
                ),
            ],
        ),
        // The seller cannot know whether there is a log yet.
        pair(
            "new_role",
            shop(LOOP),
            WITH_LOG.to_owned(),
            &[
                ("buyer", "same", None, None),
                (
                    "seller",
                    "changed",
                    Some("output-not-reached"),
                    Some("input-before-output"),
                ),
                ("log", "added", Some("input-not-reached"), Some("forgotten")),
            ],
        ),
        pair(
            "removed_role",
            WITH_LOG.to_owned(),
            shop(LOOP),
            &[
                ("buyer", "same", None, None),
                (
                    "seller",
                    "changed",
                    Some("input-before-output"),
                    Some("output-not-reached"),
                ),
                (
                    "log",
                    "removed",
                    Some("forgotten"),
                    Some("input-not-reached"),
                ),
            ],
        ),
        // A message more at the end: somebody waits for what nobody sends, or sends what nobody
        // takes.
        pair(
            "acknowledged",
            shop(LOOP),
            shop(LOOP).replace(
                "bye() from buyer to seller;",
                "bye() from buyer to seller; bye() from seller to buyer;",
            ),
            &[
                (
                    "buyer",
                    "changed",
                    Some("input-not-reached"),
                    Some("forgotten"),
                ),
                (
                    "seller",
                    "changed",
                    Some("output-not-reached"),
                    Some("forgotten"),
                ),
            ],
        ),
        // A value is sent before the one before it is answered.
        pair(
            "pipelined",
            once("    rec Loop { order(i32) from buyer to seller; price(i32) from seller to buyer; continue Loop; }\n"),
            once(
                "    order(i32) from buyer to seller;
    rec Loop { order(i32) from buyer to seller; price(i32) from seller to buyer; continue Loop; }\n",
            ),
            &[
                ("buyer", "changed", None, Some("input-before-output")),
                ("seller", "changed", Some("input-before-output"), None),
            ],
        ),
        // A role that is declared and does nothing.
        pair(
            "idle_role",
            shop(LOOP),
            shop(LOOP).replace("role seller", "role seller, role auditor"),
            &[
                ("buyer", "same", None, None),
                ("seller", "same", None, None),
                ("auditor", "added", None, None),
            ],
        ),
    ]
}

#[test]
fn pairs_of_versions() {
    for Pair { name, old, new, roles } in pairs() {
        let folder =
            Folder::new(&format!("compat_{name}")).with("old.scr", old).with("new.scr", new);
        let holds = roles.iter().all(|(_, _, join, _)| join.is_none());
        let status = i32::from(!holds);
        let object = folder.call("compat old.scr new.scr --format json").exits(status).json();
        let verdict = |rule: Rule| if rule.is_some() { "unsafe" } else { "safe" };
        let expected: Vec<Value> = roles
            .iter()
            .map(|(role, change, join, stay)| {
                json!([role, change, verdict(*join), join, verdict(*stay), stay])
            })
            .collect();
        let found: Vec<Value> = object["roles"]
            .as_array()
            .unwrap()
            .iter()
            .map(|role| {
                let (join, stay) = (&role["join"], &role["stay"]);
                json!([
                    role["role"],
                    role["change"],
                    join["verdict"],
                    join["rule"],
                    stay["verdict"],
                    stay["rule"]
                ])
            })
            .collect();
        assert_eq!(found, expected, "{name}");

        // Each refusal is told, alone with its run, each of the others in a line.
        let text = folder.call("compat old.scr new.scr").exits(status).says("");
        for (role, change, join, _) in roles {
            let told = text.stdout.lines().find(|line| {
                let refused =
                    line.strip_prefix("error[V").map(|line| line.split(" may not ").next());
                refused.flatten().map_or(line.starts_with(&format!("`{role}` ")), |roles| {
                    roles.contains(&format!("`{role}`"))
                })
            });
            let told = told.unwrap_or_else(|| panic!("{name}: {role}: {text:?}"));
            assert_eq!(told.starts_with("error[V"), join.is_some(), "{told}");
            let alone = folder
                .call(&format!("compat old.scr new.scr --role {role}"))
                .exits(i32::from(join.is_some()));
            if join.is_some() {
                says(&alone.stdout, "the shortest run that leads there:\n");
                says(&alone.stdout, "  = help: ");
            }
            if *change == "same" {
                assert_eq!(alone.stdout, format!("`{role}` is the same in both\n"));
            }
        }
    }
}

#[test]
fn a_verdict_as_it_is_told() {
    let folder = Folder::new("compat_text")
        .with(
            "old.scr",
            shop("    order(i32) from buyer to seller;\n    terms(String) from seller to buyer;\n"),
        )
        .with(
            "new.scr",
            shop("    terms(String) from seller to buyer;\n    order(i32) from buyer to seller;\n"),
        );
    folder.call("compat old.scr new.scr").exits(1).prints(
        "error[V0407]: `buyer` of `new.scr` may not join peers that run `old.scr`: it receives `terms(String)` from `seller` before it sends `order(i32)` to `seller`
 --> new.scr:2:5
  |
2 |     terms(String) from seller to buyer;
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ received before …
  |
 ::: old.scr:2:5
  |
2 |     order(i32) from buyer to seller;
  |     -------------------------------- … this is sent
  |
  = note: among these peers, nobody can move; the shortest run that leads there:
               buyer                   seller
               │                       │
            buyer waits for terms(String) from seller
            seller waits for order(i32) from buyer
            nobody can move
  = help: upgrade `buyer` last: as it is in `old.scr` it may stay while its peers run `new.scr`

`seller` of new.scr may join peers that run old.scr: 1 situation compared, at most 1 action pending
",
    );
}

/// Whoever reads this need not know what a subtype is.
#[test]
fn a_missing_branch_is_named() {
    let folder =
        Folder::new("compat_missing").with("old.scr", shop(WITH_HELP)).with("new.scr", shop(LOOP));
    folder
        .call("compat old.scr new.scr --role seller")
        .exits(1)
        .prints(
            "error[V0410]: `seller` of `new.scr` may not join peers that run `old.scr`: it receives `order(i32)` from `buyer`, but never `help` from `buyer`, which may come instead
 --> new.scr:3:27
  |
3 |         choice at buyer { order(i32) from buyer to seller; price(i32) from seller to buyer; continue Loop; }
  |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
  |
 ::: old.scr:4:14
  |
4 |         or { help() from buyer to seller; text(String) from seller to buyer; continue Loop; }
  |              ---------------------------- here `old.scr` has `seller` receive this
  |
  = note: among these peers, seller cannot receive the next message from buyer; the shortest run that leads there:
               seller                  buyer
            1  │◁────────help──────────┤
               │                       │
            seller waits for order(i32) or bye from buyer
            buyer waits for text(String) from seller
            in the queue from buyer to seller: help
            seller cannot receive the next message from buyer
  = help: upgrade `seller` last: as it is in `old.scr` it may stay while its peers run `new.scr`

",
        );
}

/// The sentence of each refusal of the pairs.
#[test]
fn every_refusal_says_what_is_done_and_by_whom() {
    let expected = [
        ("added_branch", "it sends `help` to `seller`, which `old.scr` never has `buyer` do"),
        ("new_payload", "it sends `price(i64)` to `buyer` with another payload than `old.scr` has"),
        (
            "new_name",
            "it receives `purchase(i32)` from `buyer`, but `old.scr` has `seller` receive `order(i32)` from `buyer`",
        ),
        ("acknowledged", "it receives `bye` from `seller`, which `old.scr` never has `buyer` do"),
        ("acknowledged", "it sends `bye` to `buyer`, which `old.scr` never has `seller` do"),
        (
            "reordered_one_way",
            "it sends `address(String)` to `seller` before it sends `order(i32)` to `seller`",
        ),
        (
            "reordered_one_way",
            "it receives `address(String)` from `buyer` before it receives `order(i32)` from `buyer`",
        ),
    ];
    for (name, sentence) in expected {
        let pair = pairs().into_iter().find(|pair| pair.name == name).unwrap();
        let folder = Folder::new(&format!("compat_says_{name}"))
            .with("old.scr", pair.old)
            .with("new.scr", pair.new);
        let run = folder.call("compat old.scr new.scr").exits(1);
        let says =
            |line: &str| line.starts_with("error[V") && line.ends_with(&format!(": {sentence}"));
        assert!(run.stdout.lines().any(says), "{name}: {sentence}\n{}", run.stdout);
    }
}

/// What speaks with a role that the other version lacks is named with it, once.
#[test]
fn a_role_that_only_one_version_has_is_one_refusal() {
    let with_journal = WITH_LOG.replace("log", "journal");
    let named = |from: &str, to: String| {
        let folder = Folder::new("compat_roles").with("old.scr", from).with("new.scr", to);
        let run = folder.call("compat old.scr new.scr").exits(1).says("");
        let lines = run.stdout.lines().filter(|line| line.starts_with("error"));
        let help = run.stdout.lines().filter(|line| line.contains("= help: "));
        lines.chain(help).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        named(WITH_LOG, with_journal.clone()),
        [
            "error[V0202]: `old.scr` has no role `journal` and `new.scr` has no role `log`, so `seller`, `log` and `journal` may not run `new.scr` while their peers run `old.scr`",
            "  = help: did you mean `log` by `journal`, which does the same? If not, upgrade `seller`, `log` and `journal` together",
        ]
    );
    // It does more than the other one.
    assert_eq!(
        named(
            WITH_LOG,
            with_journal.replace(
                "closed() from seller",
                "entry(i32) from seller to journal; closed() from seller"
            )
        )[1],
        "  = help: upgrade `seller`, `log` and `journal` together"
    );
    assert_eq!(
        named(WITH_LOG, shop(LOOP))[0],
        "error[V0202]: `new.scr` has no role `log`, so `seller` and `log` may not run `new.scr` while their peers run `old.scr`"
    );
}

#[test]
fn a_role_that_receives_from_several_peers_is_judged_with_its_peers() {
    let protocol = |bye: &str| {
        format!(
            "global protocol P(role A, role B, role C) {{
    choice at A {{ l() from A to B; x() from A to C; }} or {{ r() from A to B; y() from B to C; }}
    {bye}
}}
"
        )
    };
    let folder = Folder::new("compat_peers")
        .with("old.scr", protocol(""))
        .with("new.scr", protocol("bye() from C to A;"));
    let run = folder.call("compat old.scr new.scr --role C").exits(1);
    begins(&run.stdout, "error: `C` of `new.scr` may not join peers that run `old.scr`\n");
    says(&run.stdout, "among these peers, A never receives the message from C");
    let object = folder.call("compat old.scr new.scr --role C --format json").exits(1).json();
    assert_eq!(object["verdict"], "unsafe");
    // Unchanged it may run with anybody.
    folder.call("compat old.scr new.scr --role B").exits(0);
    folder.call("compat old.scr old.scr").exits(0);
}

/// The new `c` says `done` first, and hears `a` or `b` then. The runtime keeps it from hearing the
/// next session of `a`.
#[test]
fn a_role_that_hears_several_peers_may_join_those_of_the_old_version() {
    let protocol = |early: &str, late: &str| {
        format!(
            "global protocol P(role c, role a, role b) {{
    {early}
    choice at a {{ x() from a to c; n() from a to b; m() from b to c; {late} }}
    or {{ go() from a to b; y() from b to c; {late} }}
}}
"
        )
    };
    let done = "done() from c to a;";
    let folder = Folder::new("compat_next").with("old.scr", protocol("", done));
    let folder = folder.with("new.scr", protocol(done, ""));
    folder.call("compat old.scr new.scr --role c").exits(0);
}

/// Rounds that `a` or `b` may end, before `a` hears the result.
fn rounds(name: &str, a_may_stop: bool, b_may_quit: bool) -> String {
    let end = |may: bool, message: &str| match may {
        true => format!(" or {{ {message}; result() from c to a; }}"),
        false => String::new(),
    };
    let choice = |at: &str, first: &str, may: bool, message: &str| match may {
        true => format!("choice at {at} {{ {first} }}{}", end(may, message)),
        false => first.to_owned(),
    };
    let again = format!("again() from b to a; continue {name};");
    let answer = choice("b", &again, b_may_quit, "quit() from b to a");
    let more = format!("more() from a to b; {answer}");
    format!("rec {name} {{ {} }}", choice("a", &more, a_may_stop, "stop() from a to b"))
}

/// `a` stops no more after `s`, `b` quits no more after `w`, and `d` sends no `w` after `s`.
#[test]
fn roles_that_may_join_one_by_one_may_do_harm_together() {
    let protocol = |first: String, second: String| {
        format!(
            "global protocol P(role a, role b, role c, role d) {{
    choice at d {{ s() from d to a; {first} }} or {{ t() from d to a; {second} }}
}}
"
        )
    };
    let told = |w: Option<String>, v: String| match w {
        Some(w) => format!("choice at d {{ w() from d to b; {w} }} or {{ v() from d to b; {v} }}"),
        None => format!("v() from d to b; {v}"),
    };
    let both = |name: &str| rounds(name, true, true);
    let old = protocol(told(Some(both("A")), both("B")), told(Some(both("C")), both("D")));
    let new = protocol(
        told(None, rounds("B", false, true)),
        told(Some(rounds("C", true, false)), both("D")),
    );
    let folder = Folder::new("compat_mixes").with("old.scr", old).with("new.scr", new);
    for role in ["a", "b", "c", "d"] {
        folder.call(&format!("compat old.scr new.scr --role {role}")).exits(0);
    }
    let run = folder.call("compat old.scr new.scr").exits(1);
    says(
        &run.stdout,
        "error: `a` and `b` of `new.scr` may each join peers that run `old.scr`, but not together
note: among these peers, a never receives the message from c; the shortest run that leads there:
",
    );
    says(&run.stdout, "\nhelp: upgrade one of them when all other roles run `new.scr`\n");
    let object = folder.call("compat old.scr new.scr --format json").exits(1).json();
    assert_eq!(
        json!([object["verdict"], object["reason"]]),
        json!(["unsafe", "a never receives the message from c"])
    );
}

#[test]
fn limits_and_bad_calls() {
    let folder = Folder::new("compat_calls")
        .with("old.scr", shop(LOOP))
        .with("new.scr", shop(WITH_HELP))
        .with("broken.scr", "global protocol")
        .with("untold.scr", "global protocol Shop(role a, role b, role c) { choice at a { l() from a to b; x() from a to c; } or { r() from a to b; } }");
    let run = folder.call("compat old.scr new.scr --role seler").exits(2).prints("");
    assert_eq!(
        run.stderr,
        "error: neither version has a role `seler`\nhelp: did you mean `seller`?\n\n"
    );
    folder.call("compat old.scr nowhere.scr").exits(2);
    folder.call("compat - -").exits(2);
    folder.call("compat old.scr new.scr --protocol Q").exits(2);
    folder.call("compat old.scr broken.scr").exits(2).prints("");
    let run = folder.call("compat untold.scr old.scr").exits(2).prints("");
    begins(&run.stderr, "error[S0404]: ");
    let object = folder.call("compat old.scr broken.scr --format json").exits(2).json();
    assert_eq!(object["verdict"], Value::Null);
    let run = folder.call("compat new.scr old.scr --role buyer --steps 1").exits(3);
    says(&run.stdout, "help: raise the limit with `--steps`\n");
}
