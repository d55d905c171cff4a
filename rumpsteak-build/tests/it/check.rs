//! The library without Cargo: how it draws a problem, what it cannot read, and large sources. The
//! problems themselves are cases in the folder `packages`.

use std::fs;
use std::path::{Path, PathBuf};

use rumpsteak_build::command::{Cfg, Check, default_features};
use rumpsteak_build::configure;

use crate::support;
use crate::support::{PROTOCOL, begins, says, verified};

const ROLES: &str = "\
#[derive(Role)] #[protocol(DoubleBuffering::s)] #[message(Label)] pub struct S { #[route(K)] k: Channel<Label> }
#[derive(Role)] #[protocol(DoubleBuffering::k)] #[message(Label)] pub struct K { #[route(S)] s: Channel<Label>, #[route(T)] t: Channel<Label> }
#[derive(Role)] #[protocol(DoubleBuffering::t)] #[message(Label)] pub struct T { #[route(K)] k: Channel<Label> }
#[derive(Message)] pub enum Label { Ready(Ready), Value(Value) }
pub struct Ready;
pub struct Value(pub i32);
";

const LOOP: &str = "#[session] pub struct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);\n";

/// A package of the given files, with double buffering as its protocol.
fn package(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let protocol = [("protocols/p.scr", PROTOCOL)];
    support::package(&format!("check/{name}"), &[&protocol, files].concat())
}

fn run(folder: &Path) -> Check {
    let features = default_features(folder).unwrap_or_else(|report| panic!("{report}"));
    configure()
        .protocols("protocols")
        .check(folder, &Cfg::from_features(features))
        .unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn an_unsafe_reordering_drawn() {
    let folder = package(
        "drawn",
        &[(
            "src/lib.rs",
            &format!("{ROLES}{LOOP}#[session(K)] type Kernel = Receive<S, Value, Loop>;\n"),
        )],
    );
    let check = run(&folder);
    let drawn = check.problems[0].render(false);
    let expected = "
8 | #[session(K)] type Kernel = Receive<S, Value, Loop>;
  |                             ^^^^^^^
";
    says(drawn, expected);
    begins(
        drawn,
        "error[V0407]: unsafe reordering: `Kernel` receives `Value` from `S` before it sends `Ready` to `S`\n",
    );
    assert!(!drawn.contains('\u{1b}') && check.problems[0].render(true).contains('\u{1b}'));
    let problem = &check.problems[0];
    let source = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    assert_eq!(&source[problem.range.clone()], "Receive");
}

#[test]
fn what_cannot_be_read_is_reported() {
    let folder = package("unreadable", &[("src/lib.rs", "")]);
    let check = verified(configure().protocols("missing"), &folder);
    says(&check.reports[0].to_string(), "cannot read the protocols in `");
    assert!(!check.holds());

    let error = configure().check(&folder.join("src"), &Cfg::default());
    let Err(report) = error else { panic!("a folder without a manifest was accepted") };
    says(&format!("{report:?}"), "cannot read");

    // No build script has called.
    let Err(report) = configure().verify() else { panic!("a test is no build script") };
    says(&format!("{report:?}"), "was not called from a build script");
}

#[test]
fn no_cut_of_a_source_or_a_protocol_does_harm() {
    let source = format!(
        "{ROLES}{LOOP}#[session(K)] type Kernel = Send<S, Ready, Loop>;
         use {{a::{{self, b as c}}, d::*}}; #[cfg_attr(all(unix, not(test)), path = \"x.rs\")] mod m;
         #[session] enum Choice {{ Go(Ready, Loop), Stop(Value, End) }}"
    );
    let folder = package("cut", &[("src/lib.rs", "")]);
    for end in (0..source.len()).step_by(11) {
        fs::write(folder.join("src/lib.rs"), &source[..end]).unwrap();
        run(&folder);
    }
    fs::write(folder.join("src/lib.rs"), &source).unwrap();
    for end in (0..PROTOCOL.len()).step_by(7) {
        fs::write(folder.join("protocols/p.scr"), &PROTOCOL[..end]).unwrap();
        run(&folder);
    }
}

#[test]
fn many_items_are_not_slow() {
    use std::fmt::Write as _;
    let mut source = format!("{ROLES}{LOOP}#[session(K)] type Kernel = Send<S, Ready, A0>;\n");
    for index in 0..3_000 {
        let _ = writeln!(
            source,
            "#[session] struct A{index}(Receive<S, Value, Receive<T, Ready, Send<T, Value, Send<S, Ready, A{}>>>>);",
            index + 1
        );
    }
    let _ = writeln!(
        source,
        "#[session] struct A3000(Receive<S, Value, Receive<T, Ready, Send<T, Value, Loop>>>);"
    );
    let folder = package("many", &[("src/lib.rs", &source)]);
    let start = std::time::Instant::now();
    let check = run(&folder);
    assert!(check.holds(), "{:?}", check.problems);
    assert_eq!(check.summary.verified, 1);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
