//! Packages that would lead the build script astray, and what they cost.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use rumpsteak_build::Limits;
use rumpsteak_oracle::interrupters;

use crate::support::{self, check, check_files, check_with, headlines, says};

const PROTOCOL: &str = "\
global protocol P(role s, role k) {
  ping(i32) from s to k;
  pong(i32) from k to s;
}
";

const REFUSED: &str =
    "#[rumpsteak::protocol(P)] mod p { #[session(K)] type Early = Send<S, Pong, End>; }";

fn package(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let all = [&[("protocols/p.scr", PROTOCOL)], files].concat();
    support::package(&format!("attacks/{name}"), &all)
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn two_modules_of_one_protocol_are_two_systems() {
    let source = format!(
        "#[rumpsteak::protocol(P)] mod one {{}}\n#[rumpsteak::protocol(P)] mod two {{}}\n{REFUSED}"
    );
    let check = check(&package("two", &[("src/lib.rs", &source)]));
    let text = "3:62: `Early` does not receive `Ping` from `S` at its beginning";
    assert_eq!(headlines(&check), [text]);
    assert_eq!((check.summary.sessions, check.summary.verified), (6, 4));
}

/// No `cfg` and no macro hides a module from the build script, or another one behind it.
#[test]
fn a_module_that_is_not_compiled_hides_nothing() {
    for (name, before, after) in [
        ("cfg", "#[cfg(any())]", ""),
        ("cfg_attr", "#[cfg_attr(all(), allow(dead_code))]", ""),
        ("macro", "macro_rules! m { () => {", "} }"),
        ("function", "fn f() { if true {", "} }"),
        ("module", "mod outer { mod inner { mod deeper {", "} } }"),
        ("shadowed", "#[cfg(any())] #[rumpsteak::protocol(P)] mod p {}\n", ""),
        ("broken", "#[rumpsteak::protocol(P)] mod q { #[session(S)] type }\n", ""),
        ("renamed", "use rumpsteak::protocol as closed;\n", ""),
    ] {
        let source = format!("{before}{REFUSED}{after}");
        let check = check(&package(name, &[("src/lib.rs", &source)]));
        let told = check.problems.iter().filter(|problem| problem.text.starts_with("`Early`"));
        assert_eq!(told.count(), 1, "{name}: {:?}", check.problems);
    }
}

/// Items of a module that a `cfg` may take away would make another system.
#[test]
fn conditions_inside_a_module_are_refused() {
    for items in [
        "#[cfg(test)] #[session(K)] type Own = Receive<S, Ping, Send<S, Pong, End>>;",
        "#[session(K)] #[cfg_attr(test, doc = \"\")] type Own = Receive<S, Ping, Send<S, Pong, End>>;",
        "#[session(K)] type Own = Receive<S, Ping, Select<S, Next>>; enum Next { #[cfg(test)] Pong(Pong, End) }",
        "#[derive(Role)] struct K { #[cfg(test)] #[route(S)] s: Channel<Label> }",
        "#[derive(Message)] enum Label { Ping(Ping), #[cfg(test)] Pong(Pong) } struct Ping(i32); struct Pong(i32);",
        "#[cfg(test)] struct Ping(i32);",
        "struct Ping(#[cfg(test)] i32);",
        "#[derive(Roles)] struct All { #[cfg(test)] s: S, k: K }",
    ] {
        let source = format!("#[rumpsteak::protocol(P)] mod p {{ {items} }}");
        let check = check(&package("conditions", &[("src/lib.rs", &source)]));
        let [problem] = &check.problems[..] else { panic!("{items}: {:?}", check.problems) };
        says(&problem.text, "cfg");
    }
}

#[test]
fn a_file_of_mistakes_is_told_in_part() {
    let folder = package("mistakes", &[("protocols/p.scr", &"'a & ".repeat(20_000))]);
    let [report] = &check(&folder).reports[..] else { panic!("one report of the file") };
    let report = report.to_string();
    assert_eq!(report.matches("error[S0101]").count(), 30);
    assert!(report.contains("there are 19970 more mistakes"), "{}", &report[report.len() - 300..]);
}

#[test]
fn a_pipe_or_a_device_is_no_file() {
    let folder = package("pipes", &[("src/lib.rs", "")]);
    pipe(&folder.join("src/pipe.rs"));
    symlink("/dev/zero", folder.join("src/zero.rs")).unwrap();
    assert!(check(&folder).holds());

    pipe(&folder.join("protocols/pipe.scr"));
    symlink("/dev/zero", folder.join("protocols/zero.scr")).unwrap();
    pipe(&folder.join("protocols/p.k.dot"));
    fs::write(folder.join("src/lib.rs"), "#[rumpsteak::protocol(P)] mod p {}").unwrap();
    let check = check(&folder);
    let reports: Vec<String> = check.reports.iter().map(ToString::to_string).collect();
    assert_eq!(reports.len(), 2, "{reports:?}");
    for report in &reports {
        says(report, "it is no regular file");
    }
    says(&check.problems[0].text, "cannot read protocols/p.k.dot: ");
}

#[test]
fn a_manifest_that_is_a_pipe_is_not_read() {
    let folder = package("pipe-manifest", &[("src/lib.rs", REFUSED)]);
    fs::remove_file(folder.join("Cargo.toml")).unwrap();
    pipe(&folder.join("Cargo.toml"));
    assert_eq!(check(&folder).problems.len(), 1);
}

#[test]
fn links_below_the_protocols_are_followed_and_end() {
    let folder = package("links", &[("elsewhere/q.scr", "global protocol Q { no }")]);
    symlink("../elsewhere", folder.join("protocols/linked")).unwrap();
    symlink("..", folder.join("protocols/back")).unwrap();
    let reports = check(&folder).reports;
    assert_eq!(reports.len(), 1, "{reports:?}");
    says(&reports[0].to_string(), "q.scr");
}

#[test]
fn links_between_sources_end() {
    let folder = package("source-links", &[("src/lib.rs", REFUSED)]);
    symlink("..", folder.join("src/back")).unwrap();
    symlink("lib.rs", folder.join("src/same.rs")).unwrap();
    symlink("itself.rs", folder.join("src/itself.rs")).unwrap();
    let files: Vec<String> =
        check(&folder).problems.into_iter().map(|problem| problem.file).collect();
    assert!(files.iter().all(|file| !file.contains("back")) && files.len() == 2, "{files:?}");
}

/// Unreadable source costs an error or a warning, and neither a panic nor much time.
#[test]
fn sources_of_any_form_are_read_soon() {
    let megabytes = 1 << 20;
    let long: String = (0..megabytes / 480)
        .map(|n| format!("#[session(S)] type A{n} = Send<K, Ping, Receive<K, Pong, End>>;\n"))
        .collect();
    let deep = |open: &str, close: &str| {
        let levels = 30_000;
        format!(
            "#[rumpsteak::protocol(P)] mod p {{ {}{} }}",
            open.repeat(levels),
            close.repeat(levels)
        )
    };
    let deep_type = |open: &str| {
        format!(
            "#[rumpsteak::protocol(P)] mod p {{ #[session(K)] type A = {}End{}; }}",
            open.repeat(100_000),
            ">".repeat(100_000)
        )
    };
    for (name, errors, source) in [
        ("words", 0, "protocol ".repeat(megabytes / 9)),
        ("long-text", 0, format!("// protocol\nstatic A: &str = \"{}\";", "a".repeat(megabytes))),
        ("long-module", 0, format!("#[rumpsteak::protocol(P)] mod p {{ {long} }}")),
        ("deep-brackets", 1, deep("(", ")")),
        ("deep-braces", 0, deep("mod a {", "}")),
        ("deep-angles", 1, deep_type("Send<S, Ping, ")),
        ("deep-types", 1, deep_type("Vec<")),
        ("deep-attribute", 1, deep("#[a(", ")]")),
        ("unbalanced", 1, deep("{", "")),
        ("unbalanced-end", 1, deep("", "}")),
        ("crossed", 1, deep("(", "]")),
    ] {
        let check = check(&package(name, &[("src/lib.rs", &source)]));
        let warned = check.warnings.iter().filter(|warning| warning.starts_with("src/lib.rs"));
        let told = check.problems.len() + warned.count();
        assert_eq!(told, errors, "{name}: {:?}", headlines(&check));
    }
}

#[test]
fn texts_that_are_no_utf_8_are_told() {
    let folder = package("bytes", &[("src/lib.rs", REFUSED)]);
    fs::write(folder.join("src/other.rs"), b"// protocol \xff").unwrap();
    fs::write(folder.join("protocols/q.scr"), b"global protocol \xff").unwrap();
    let check = check(&folder);
    assert_eq!((check.problems.len(), check.reports.len()), (1, 1), "{:?}", check.reports);
    says(&check.reports[0].to_string(), "q.scr");
}

/// Errors of a package that has one module, for this protocol.
fn of_code(name: &str, protocol: &str, limits: &Limits) -> Vec<String> {
    let source = "#[rumpsteak::protocol(P)] mod p {}";
    let folder = package(name, &[("protocols/p.scr", protocol), ("src/lib.rs", source)]);
    let check = check_with(&folder, limits);
    let problems = check.problems.iter().map(|problem| problem.text.clone());
    problems.chain(check.reports.iter().map(ToString::to_string)).collect()
}

#[test]
fn a_limit_of_blocks_is_named_and_can_be_raised() {
    let exploring = "global protocol P(role a, role b) {
        par { x() from a to b; } and { par { y() from b to a; } and { z() from a to b; } } }";
    let limits = Limits::default();
    let (mut few, mut short, mut explored) = (limits, limits, limits);
    few.scribble.local_transitions = 20;
    short.generated_lines = 100;
    explored.scribble.verifier.configurations = 3;
    for (name, protocol, limits, expected) in [
        ("24", &*interrupters(24), limits, "the limit 25000 of `local_transitions`"),
        ("30", &interrupters(30), limits, "the limit 25000 of `local_transitions`"),
        ("8", &interrupters(8), limits, "for `P`: it would have more than 25000 lines"),
        ("few", &interrupters(3), few, "raise the limit `local_transitions`"),
        ("short", &interrupters(3), short, "limits(generated_lines = …)"),
        ("explored", exploring, explored, "raise the limit `configurations`"),
    ] {
        let said = of_code(&format!("interrupters-{name}"), protocol, &limits);
        assert!(said.iter().any(|text| text.contains(expected)), "{name}: {said:?}");
    }
    assert_eq!(of_code("interrupters-3", &interrupters(3), &limits), [""; 0]);
    assert_eq!(of_code("interrupters-all", exploring, &limits), [""; 0]);
}

/// A module that sets limits has its protocol read with them.
#[test]
fn the_limits_of_a_module_are_those_of_its_protocol() {
    let source = "#[rumpsteak::protocol(P, limits(local_transitions = 20))] mod p {}\n\
                  #[rumpsteak::protocol(P)] mod q {}\n\
                  #[rumpsteak::protocol(P, limits(generated_lines = 100))] mod r {}";
    let files = [("protocols/p.scr", &*interrupters(3)), ("src/lib.rs", source)];
    let told = headlines(&check_files("attacks/limits", &files));
    let lines: Vec<&str> = told.iter().filter_map(|text| text.split(':').next()).collect();
    assert_eq!(lines, ["1", "3"], "{told:?}");
}
