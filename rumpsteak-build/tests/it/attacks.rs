//! Packages that would lead the build script astray, read without Cargo.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rumpsteak_build::command::{Cfg, Check};
use rumpsteak_build::{Limits, configure};
use rumpsteak_oracle::interrupters;

const PROTOCOL: &str = "\
global protocol P(role s, role k) {
  ping(i32) from s to k;
  pong(i32) from k to s;
}
";

const LABELS: &str = "\
#[derive(Message)] pub enum Label { Ping(Ping), Pong(Pong) }
pub struct Ping(pub i32);
pub struct Pong(pub i32);
";

fn package(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR")).join("attacks");
    let folder = temporary.join(name);
    let _ = fs::remove_dir_all(&folder);
    let manifest = format!("[workspace]\n[package]\nname = \"{name}\"\n");
    let all = [("Cargo.toml", &*manifest), ("protocols/p.scr", PROTOCOL)];
    for (file, text) in all.iter().chain(files) {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn check(folder: &Path) -> Check {
    let configuration = configure().protocols("protocols");
    configuration.check(folder, &Cfg::default()).unwrap()
}

/// The token and the first line of each problem.
fn problems(folder: &Path) -> Vec<(String, String)> {
    let source = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    let check = check(folder);
    let problems = check.problems.iter().map(|problem| {
        let first = problem.text.lines().next().unwrap_or_default();
        (source[problem.range.clone()].to_owned(), first.to_owned())
    });
    problems.collect()
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn two_structs_that_play_one_role_are_no_two_peers() {
    for (name, second) in [("spelled", "P::K"), ("alike", "P::k")] {
        let source = format!(
            "{LABELS}
             #[derive(Role)] #[protocol(P::s)] #[message(Label)]
             struct S {{ #[route(K1)] k1: Channel<Label>, #[route(K2)] k2: Channel<Label> }}
             #[derive(Role)] #[protocol(P::k)] #[message(Label)]
             struct K1 {{ #[route(S)] s: Channel<Label> }}
             #[derive(Role)] #[protocol({second})] #[message(Label)]
             struct K2 {{ #[route(S)] s: Channel<Label> }}
             #[session(S)] type Source = Send<K1, Ping, Receive<K2, Pong, End>>;"
        );
        let folder = package(name, &[("src/lib.rs", &source)]);
        let text = "`K1` and `K2` both play `P::k`, which is one participant";
        let (_, role) = second.split_once("::").unwrap();
        let echo = "not verified: the error about `K2` says why";
        let expected = [("K2", echo), (role, text)];
        let expected = expected.map(|(token, text)| (token.to_owned(), text.to_owned()));
        assert_eq!(problems(&folder), expected);

        // A build may leave the second out: the routes that name both say it.
        let source = source.replace("struct K2", "#[cfg(test)] struct K2");
        let folder = package(name, &[("src/lib.rs", &source)]);
        assert_eq!(problems(&folder), [("K2".to_owned(), text.to_owned())]);
    }
}

#[test]
fn two_variants_of_a_role_in_two_sets_are_accepted() {
    let roles = |s: &str, k: &str| {
        format!(
            "#[derive(Role)] #[protocol(P::s)] #[message(Label)]
             struct {s} {{ #[route({k})] k: Channel<Label> }}
             #[derive(Role)] #[protocol(P::k)] #[message(Label)]
             struct {k} {{ #[route({s})] s: Channel<Label> }}
             #[session({s})] type {s}Run = Send<{k}, Ping, Receive<{k}, Pong, End>>;
             #[session({k})] type {k}Run = Receive<{s}, Ping, Send<{s}, Pong, End>>;"
        )
    };
    let source = format!("{LABELS}{}{}", roles("S1", "K1"), roles("S2", "K2"));
    let folder = package("variants", &[("src/lib.rs", &source)]);
    assert_eq!(problems(&folder), []);
    assert_eq!(check(&folder).summary.verified, 4);
}

#[test]
fn a_role_that_may_be_one_of_two_is_none() {
    let protocol = "global protocol P(role ab, role a_b) { ping(i32) from ab to a_b; }";
    let source = |role: &str| {
        format!(
            "{LABELS} #[derive(Role)] #[protocol(P::{role})] #[message(Label)]
             struct A {{ #[route(B)] b: Channel<Label> }}"
        )
    };
    let files = [("protocols/p.scr", protocol), ("src/lib.rs", &source("Ab"))];
    let folder = package("ambiguous", &files);
    let text = "the protocol `P` has no role `Ab`".to_owned();
    assert_eq!(problems(&folder), [("Ab".to_owned(), text)]);
    let advice = "help: write one of `ab` and `a_b` as the protocol does";
    assert!(check(&folder).problems[0].text.contains(advice));
    fs::write(folder.join("src/lib.rs"), source("a_b")).unwrap();
    assert_eq!(problems(&folder), []);
}

#[test]
fn files_that_include_each_other_are_read_once() {
    let mut files =
        vec![("src/lib.rs".to_owned(), "#[cfg(x)] mod m { include!(\"0.inc\"); }".to_owned())];
    for level in 0..40 {
        let next = (level + 1) % 40;
        let text = format!("include!(\"{next}.inc\");\n").repeat(3);
        files.push((format!("src/{level}.inc"), format!("struct L{level};\n{text}")));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    assert!(check(&package("inclusions", &files)).holds());
}

#[test]
fn nested_modules_that_include_each_other_end_at_the_limit_of_modules() {
    let text = "mod a { include!(\"x.inc\"); } mod b { include!(\"x.inc\"); }\n";
    let deep = |next: &str| text.replace("x.inc", next);
    let mut files = vec![("src/lib.rs".to_owned(), deep("0.inc"))];
    for level in 0..30 {
        files.push((format!("src/{level}.inc"), deep(&format!("{}.inc", level + 1))));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let check = check(&package("nested-inclusions", &files));
    let is_said = |warning: &String| warning.contains("Limits::default().modules(");
    assert!(check.warnings.iter().any(is_said), "{:?}", check.warnings);
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
fn a_file_does_not_include_itself() {
    let source = "struct S; mod a { include!(\"lib.rs\"); } mod b { include!(\"lib.rs\"); }";
    let check = check(&package("itself", &[("src/lib.rs", source)]));
    assert_eq!(check.warnings.iter().filter(|warning| warning.contains("modules")).count(), 0);
}

#[test]
fn a_pipe_or_a_device_is_no_file() {
    let source = "mod m { include!(\"/dev/zero\"); include!(\"pipe\"); } #[path = \"pipe\"] mod n;";
    let folder = package("pipes", &[("src/lib.rs", source)]);
    pipe(&folder.join("src/pipe"));
    assert!(check(&folder).holds());

    pipe(&folder.join("protocols/pipe.scr"));
    symlink("/dev/zero", folder.join("protocols/zero.scr")).unwrap();
    let reports = check(&folder).reports;
    let reports: Vec<String> = reports.iter().map(ToString::to_string).collect();
    assert_eq!(reports.len(), 2, "{reports:?}");
    for report in &reports {
        assert!(report.contains("it is no regular file"), "{report}");
    }
}

#[test]
fn a_manifest_that_is_a_pipe_is_refused() {
    let folder = package("pipe-manifest", &[]);
    fs::remove_file(folder.join("Cargo.toml")).unwrap();
    pipe(&folder.join("Cargo.toml"));
    let checked = configure().check(&folder, &Cfg::default());
    let report = checked.unwrap_err().to_string();
    assert!(report.contains("it is no regular file"), "{report}");
}

#[test]
fn links_below_the_protocols_are_followed_and_end() {
    let folder = package("links", &[("elsewhere/q.scr", "global protocol Q { no }")]);
    symlink("../elsewhere", folder.join("protocols/linked")).unwrap();
    symlink("..", folder.join("protocols/back")).unwrap();
    let reports = check(&folder).reports;
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].to_string().contains("q.scr"), "{}", reports[0]);
}

/// The errors of a package that includes the code of a protocol.
fn of_code(name: &str, protocol: &str, limits: Limits) -> Vec<String> {
    let source = "rumpsteak_runtime::protocol!(P);";
    let folder = package(name, &[("protocols/p.scr", protocol), ("src/lib.rs", source)]);
    let configuration = configure().protocols("protocols").generate().limits(limits);
    let check = configuration.check(&folder, &Cfg::default()).unwrap();
    let problems = check.problems.iter().map(|problem| problem.text.clone());
    problems.chain(check.reports.iter().map(ToString::to_string)).collect()
}

#[test]
fn a_limit_of_blocks_is_named_and_build_rs_can_raise_it() {
    let exploring = "global protocol P(role a, role b) {
        par { x() from a to b; } and { par { y() from b to a; } and { z() from a to b; } } }";
    let limits = Limits::default();
    for (name, protocol, limits, expected) in [
        ("24", &*interrupters(24), limits, "the limit 25000 of `local_transitions`"),
        ("30", &interrupters(30), limits, "the limit 25000 of `local_transitions`"),
        ("8", &interrupters(8), limits, "for `P`: it would have more than 25000 lines"),
        (
            "few",
            &interrupters(3),
            limits.local_transitions(20),
            "raise `Limits::local_transitions`",
        ),
        ("short", &interrupters(3), limits.generated_lines(100), "raise `Limits::generated_lines`"),
        ("explored", exploring, limits.configurations(3), "raise `Limits::configurations`"),
    ] {
        let start = Instant::now();
        let said = of_code(&format!("interrupters-{name}"), protocol, limits);
        assert!(said.iter().any(|text| text.contains(expected)), "{name}: {said:?}");
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    }
    assert_eq!(of_code("interrupters-3", &interrupters(3), limits), [""; 0]);
    assert_eq!(of_code("interrupters-all", exploring, limits), [""; 0]);
}
