//! The library without Cargo: how it draws a problem, what it cannot read, and large sources. The
//! problems themselves are cases in the folder `packages`.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rumpsteak_build::{Limits, configure};

use crate::support::{self, PROTOCOL, begins, check, headlines, says};

const LOOP: &str =
    "struct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);\n";

/// A package of double buffering with these items in its module.
fn package(name: &str, items: &str) -> PathBuf {
    let source = format!("#[rumpsteak::protocol(DoubleBuffering)]\nmod m {{\n{items}}}\n");
    let files = [("protocols/p.scr", PROTOCOL), ("src/lib.rs", &*source)];
    support::package(&format!("check/{name}"), &files)
}

#[test]
fn an_unsafe_reordering_drawn() {
    let folder =
        package("drawn", &format!("{LOOP}#[session(K)] type Kernel = Receive<S, Value, Loop>;\n"));
    let check = check(&folder);
    let problem = &check.problems[0];
    let drawn = problem.render(false);
    let expected = "
4 | #[session(K)] type Kernel = Receive<S, Value, Loop>;
  |                             ^^^^^^^
";
    says(drawn, expected);
    begins(
        drawn,
        "error[V0407]: unsafe reordering: `Kernel` receives `Value` from `S` before it sends `Ready` to `S`\n",
    );
    assert!(!drawn.contains('\u{1b}') && problem.render(true).contains('\u{1b}'));
    let source = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    assert_eq!(&source[problem.range.clone()], "Receive");
}

#[test]
fn what_cannot_be_read_is_reported() {
    let folder = package("unreadable", "");
    let check = configure().protocols("missing").check(&folder, &Limits::default());
    says(&check.reports[0].to_string(), "cannot read the protocols in `");
    assert!(!check.holds());

    // No build script has called.
    let Err(report) = configure().verify() else { panic!("a test is no build script") };
    says(&format!("{report:?}"), "was not called from a build script");
}

/// A module that is cut off anywhere costs at most one error, or a warning if the file does not
/// lex.
#[test]
fn no_cut_of_a_source_or_a_protocol_does_harm() {
    let items = format!(
        "{LOOP}enum Choice {{ Go(Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Loop>>>) }}
         #[session(K)] type Kernel = Select<S, Choice>;
         use super::{{a::{{self, b as c}}, d}};
         #[derive(Role)] struct K {{ #[route(S)] s: Channel<Label>, #[route(T)] t: Channel<Label> }}
         #[derive(Message)] enum Label {{ Ready(Ready), Value(Value) }} struct Ready; struct Value(i32);"
    );
    let folder = package("cut", "");
    let path = folder.join("src/lib.rs");
    let (mut whole, mut costs) = (0, [0; 4]);
    for end in 0..items.len() {
        let Some(items) = items.get(..end) else { continue };
        let source = format!(
            "#[rumpsteak::protocol(DoubleBuffering)]\nmod m {{\n{items}\n}}\nfn f() {{}}\n"
        );
        fs::write(&path, source).unwrap();
        let check = check(&folder);
        whole += usize::from(check.holds());
        let unread = check.warnings.iter().any(|warning| warning.contains("not Rust"));
        let cost = check.problems.len() + usize::from(unread);
        // Two structs of labels that are not there yet are two mistakes.
        let is_whole = check.problems.iter().all(|problem| problem.code.is_some());
        assert!(cost < 2 || is_whole, "{items}: {:?}", headlines(&check));
        costs[cost] += 1;
    }
    assert!(whole > 0 && costs[1] > 50 * costs[2] && costs[3] == 0, "{whole} {costs:?}");

    for end in (0..PROTOCOL.len()).step_by(7) {
        fs::write(folder.join("protocols/p.scr"), &PROTOCOL[..end]).unwrap();
        check(&folder);
    }
}

#[test]
fn many_items_are_not_slow() {
    let round = "Receive<S, Value, Receive<T, Ready, Send<T, Value";
    let items = (0..3_000)
        .map(|index| format!("struct A{index}({round}, Send<S, Ready, A{}>>>>);\n", index + 1));
    let items: String = items.collect();
    let items = format!(
        "{LOOP}{items}struct A3000({round}, Loop>>>);\n#[session(K)] type Kernel = Send<S, Ready, A0>;\n"
    );
    let folder = package("many", &items);
    let start = Instant::now();
    let check = check(&folder);
    assert!(check.holds(), "{:?}", check.problems);
    assert_eq!(check.summary.verified, 3);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}
