//! Programs that run: examples of one package, which is built once for all tests.

use std::fmt::Write as _;
use std::process::Command;
use std::sync::LazyLock;

use super::harness::Package;
use super::{capacities, generate, interrupters, labels, patterns};
use crate::support::{OPTIMISED, PROTOCOL};

const BLOCK_ON: &str = "
fn block_on<F: Future>(future: F) -> F::Output {
    use std::task::{Context, Poll, Waker};
    let (mut future, mut context) = (std::pin::pin!(future), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}
";

/// The examples that run. The others are checked.
const RUN: [&str; 6] = ["capacities", "interrupters", "labels", "long", "patterns", "written"];

/// The package with all examples, those that run built.
static PROGRAMS: LazyLock<Package> = LazyLock::new(|| {
    let package = Package::new("programs");
    package
        .write("protocols/double_buffering.scr", PROTOCOL)
        .write("protocols/watched.scr", interrupters::WATCHED)
        .write("protocols/ahead.scr", interrupters::AHEAD)
        .write("protocols/capacities.scr", capacities::PROTOCOLS)
        .write("protocols/odd.scr", generate::ODD)
        // A machine beside the file of a protocol of its own.
        .write("protocols/ordered.scr", &PROTOCOL.replace("DoubleBuffering", "Ordered"))
        .write("protocols/ordered.k.dot", OPTIMISED);
    for (name, protocol) in patterns::PROTOCOLS.iter().chain(&labels::PROTOCOLS) {
        package.write(&format!("protocols/{name}.scr"), protocol);
    }
    // rustc needs 12 CPU-seconds for a skeleton of 400 actions.
    let skeletons = generate::skeletons(&package);
    let (protocol, long) = long();
    package.write("protocols/long.scr", &protocol);
    let quiet = "#![allow(dead_code)]\n";
    for (name, source) in [
        ("capacities", capacities::PROGRAM),
        ("interrupters", interrupters::GENERATED),
        ("interrupters_by_hand", &format!("{quiet}{}fn main() {{}}\n", interrupters::BY_HAND)),
        ("labels", &format!("{}{BLOCK_ON}", labels::PROGRAM)),
        ("long", &long),
        ("patterns", &format!("{}{BLOCK_ON}", patterns::GENERATED)),
        ("patterns_by_hand", &format!("{quiet}{}fn main() {{}}\n", patterns::BY_HAND)),
        ("skeletons", &skeletons),
        ("strict", generate::STRICT),
        ("unused", generate::UNUSED),
        ("written", &generate::written(&package)),
    ] {
        package.write(&format!("examples/{name}.rs"), source);
    }
    let examples = RUN.iter().flat_map(|name| ["--example", name]);
    package.cargo("build", &examples.collect::<Vec<_>>()).passes();
    package
});

pub(super) fn programs() -> &'static Package {
    &PROGRAMS
}

#[track_caller]
pub(super) fn printed(example: &str) -> String {
    let program = PROGRAMS.target().join("debug/examples").join(example);
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{example}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A session of 400 actions, and its process of two.
fn long() -> (String, String) {
    let (mut protocol, mut session) = (String::new(), String::new());
    for number in 0..400 {
        let (label, from, to) = [("ping", "a", "b"), ("pong", "b", "a")][number % 2];
        let _ = writeln!(protocol, "    {label}() from {from} to {to};");
        session += ["Send<B, Ping, ", "Receive<B, Pong, "][number % 2];
    }
    let program = format!(
        "#[rumpsteak::protocol(Long)]
mod long {{
    #[session(A)]
    type Many = {session}End{};
}}
use long::*;

pub async fn first(s: Many<'_>) -> rumpsteak::Result<()> {{
    let (Pong, s) = s.send(Ping).await?.receive().await?;
    drop(s);
    Ok(())
}}

fn main() {{}}
",
        ">".repeat(400)
    );
    (format!("global protocol Long(role a, role b) {{\n{protocol}}}\n"), program)
}

#[test]
fn a_session_of_many_actions_needs_no_deeper_recursion() {
    assert_eq!(printed("long"), "");
}
