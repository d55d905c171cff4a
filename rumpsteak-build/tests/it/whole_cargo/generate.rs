//! Top-down: the code of a protocol is included, passes the lints, and is never that of another
//! build.

use super::harness::{GENERATES, Package, VERIFIES};
use crate::support::{OPTIMISED, PROTOCOL, says};

/// Its process, in a crate that is as strict as can be.
const SOURCE: &str = "\
//! A crate that documents all of its items.
#![deny(missing_docs, warnings, clippy::all, clippy::pedantic)]

use std::convert::Infallible;

use rumpsteak_runtime::{Result, protocol, try_run};

protocol!(pub DoubleBuffering);

use double_buffering::{K, KSession, Ready, Value};

/// Passes values on.
///
/// # Errors
///
/// If a peer is gone.
pub async fn kernel(role: &mut K) -> Result<Infallible> {
    try_run(role, async |s: KSession<'_>| {
        let mut s = s.send(Ready).await?;
        loop {
            let (Value(value), next) = s.send(Ready).await?.receive().await?;
            let (Ready, next) = next.receive().await?;
            s = next.send(Value(value)).await?;
        }
    })
    .await
}
";

/// Names that collide with everything.
const ODD: &str = "\
type <rust> \"std::vec::Vec<u8>\" from \"std\" as Bytes;
sig <rust> \"std::time::Duration\" from \"std\" as pause;

global protocol Odd(role self, role send, role type, role String, role roles) {
  rec more {
    ok() from self to send;
    send(Bytes) from send to type;
    MAIL_FROM() from type to String;
    choice at String {
      a'(i32, bool) from String to self;
      step_one() from self to send;
      step_one() from send to type, roles;
      continue more;
    } or {
      step_two() from String to self;
      step_two() from self to send;
      step_two() from send to type, roles;
    } or {
      step_three() from String to self;
      step_three() from self to send;
      pause() from self to send;
      step_three() from send to type, roles;
    }
  }
}
";

fn package(name: &str) -> Package {
    let package = Package::double_buffering(name, GENERATES);
    package.write("protocols/double_buffering.k.dot", OPTIMISED).write("src/lib.rs", SOURCE);
    package
}

#[test]
fn generated_code_passes_every_lint() {
    let package = package("generate-lints");
    let source = SOURCE.replace("deny(", "deny(missing_debug_implementations, ");
    package
        .write("protocols/odd.scr", ODD)
        .write("src/lib.rs", &format!("{source}\nprotocol!(pub Odd);\n"));
    let outcome = package.cargo("clippy", &[]);
    outcome.passes();
    assert!(outcome.messages.is_empty(), "{}", outcome.show());
    // Where nothing of it is public or used, nothing is said either.
    package.write("src/lib.rs", "#![deny(warnings)]\nrumpsteak_runtime::protocol!(Odd);\n");
    package.check(&[]).passes();
}

#[test]
fn an_unsafe_machine_is_an_error_at_the_call() {
    let package = package("generate-unsafe");
    package.write(
        "protocols/double_buffering.k.dot",
        &OPTIMISED
            .replace("0 -> 1 [label=\"s!ready\"];", "0 -> 1 [label=\"s?value(i32)\"];")
            .replace("2 -> 3 [label=\"s?value(i32)\"];", "2 -> 3 [label=\"s!ready\"];"),
    );
    // What was refused cannot run, whoever includes it, and says nothing of it; nor does a name
    // that the machine as it should be has.
    package.write(
        "src/lib.rs",
        "rumpsteak_runtime::protocol!(pub DoubleBuffering);\npub use double_buffering::KSessionRest;\n",
    );
    package
        .check(&[])
        .error()
        .is_at("src/lib.rs", "DoubleBuffering")
        .says(" --> protocols/double_buffering.k.dot:2:17")
        .says("2 |   0 -> 1 [label=\"s?value(i32)\"];")
        .says("the shortest run that gets stuck")
        .says("k waits for value(i32) from s");

    package.write("src/lib.rs", "rumpsteak_runtime::protocol!(pub DoubleBuffering);\n");
    package.write("protocols/double_buffering.k.dot", OPTIMISED);
    package.check(&[]).passes();
}

#[test]
fn a_machine_that_is_not_decided_is_an_error_that_names_the_limit() {
    let package = package("generate-undecided");
    let limited = GENERATES.replace(
        ".generate()",
        ".generate().limits(rumpsteak_build::Limits::default().steps(1).configurations(1))",
    );
    package
        .write("build.rs", &limited)
        .write("src/lib.rs", "rumpsteak_runtime::protocol!(pub DoubleBuffering);\n");
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    outcome.errors()[0]
        .is_at("src/lib.rs", "DoubleBuffering")
        .says("`protocols/double_buffering.k.dot` could not be verified: ")
        .says("note: it may be safe, but the search for a proof was stopped")
        .says(".limits(rumpsteak_build::Limits::default().steps(10)).verify()?;");
    // Not one limit more than is needed.
    package.write("build.rs", GENERATES);
    package.check(&[]).passes();
}

#[test]
fn the_code_follows_the_protocol_and_its_machines() {
    let package = package("generate-follows");
    package.check(&[]).passes();
    // Without the machine, the kernel is that of the protocol, which sends one `Ready` at a time.
    package.remove("protocols/double_buffering.k.dot");
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    assert!(outcome.errors().iter().all(|error| error.file == "src/lib.rs"), "{}", outcome.show());
    package.edit("src/lib.rs", "let mut s = s.send(Ready).await?;", "let mut s = s;");
    package.check(&[]).passes();
    package.edit("protocols/double_buffering.scr", "value(i32)", "value(u8)");
    package.edit("src/lib.rs", "Value(value)).await", "Value(value.wrapping_add(1_u8))).await");
    package.check(&[]).passes();
}

#[test]
fn code_of_another_build_is_refused() {
    let package = package("generate-stale");
    package.check(&[]).passes();
    let file = package.out("rumpsteak/double_buffering.rs");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    says(&text, "pub type KSession = Send<S, Ready, KReadyLoop>;");
    let changed = text.replace("= Send<S, Ready, KReadyLoop>;", "= KReadyLoop;");
    assert_ne!(text, changed);
    std::fs::write(&file, &changed).unwrap_or_else(|error| panic!("{error}"));
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    outcome.errors()[0]
        .is_at("src/lib.rs", "DoubleBuffering")
        .says("the code in OUT_DIR is not that of the last run of the build script");
    std::fs::write(&file, &text).unwrap_or_else(|error| panic!("{error}"));
    package.check(&[]).passes();

    // A script that verifies and generates nothing leaves the old file where it is.
    package.write("build.rs", VERIFIES);
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    outcome.errors()[0]
        .is_at("src/lib.rs", "DoubleBuffering")
        .says("the build script generates no code for `DoubleBuffering`")
        .says("help: call `generate` in build.rs");
    // One that does not even verify, too.
    package.write("build.rs", "fn main() {}\n");
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    outcome.errors()[0].says("the build script of this package left no verdicts");
}

#[test]
fn the_same_input_gives_the_same_bytes_elsewhere() {
    let [here, there] = ["generate-here", "generate-there"].map(|folder| {
        let package = package(folder);
        package.check(&[]).passes();
        ["rumpsteak/double_buffering.rs", "rumpsteak/verdicts.txt"].map(|path| {
            let file = package.out(path);
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            // Cargo may give both packages one `OUT_DIR`: the other one shall write anew.
            std::fs::remove_file(&file).unwrap_or_else(|error| panic!("{error}"));
            text
        })
    });
    assert_eq!(here, there);
    says(&here[0], "pub type KSession");
}

#[test]
fn code_that_is_checked_in_is_verified_as_any_other() {
    let package = package("generate-checked-in");
    let codes = rumpsteak_build::configure()
        .protocols("protocols")
        .code(&package.path(""))
        .unwrap_or_else(|report| panic!("{report}"));
    let [code] = &codes[..] else { panic!("{codes:?}") };
    let text = code.text.clone().unwrap_or_default();
    package
        .write(
            "build.rs",
            "fn main() -> Result<(), rumpsteak_build::Report> { rumpsteak_build::verify(\"protocols\").map(drop) }\n",
        )
        .write("src/double_buffering.rs", &text)
        .edit(
            "src/lib.rs",
            "protocol!(pub DoubleBuffering);",
            "/// The protocol.\npub mod double_buffering;",
        )
        .edit(
            "src/lib.rs",
            "{Result, protocol, try_run}",
            "{Result, try_run}",
        );
    package.cargo("clippy", &[]).passes();
    package.edit(
        "src/double_buffering.rs",
        "pub type KSession = Send<S, Ready, KReadyLoop>;",
        "pub type KSession = Receive<S, Value, KReadyLoop>;",
    );
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    outcome.errors()[0]
        .is_at("src/double_buffering.rs", "Receive")
        .says("unsafe reordering: `KSession` receives `Value` from `S`");
}

#[test]
fn the_protocol_is_needed() {
    let package = Package::double_buffering("generate-unknown", GENERATES);
    package
        .write("protocols/double_buffering.scr", PROTOCOL)
        .write("src/lib.rs", "rumpsteak_runtime::protocol!(DoubleBufering);\n");
    package
        .check(&[])
        .error()
        .is_at("src/lib.rs", "DoubleBufering")
        .says("help: did you mean `DoubleBuffering`?");
    // A build script that has not seen the call has no say about it.
    package.write(
        "src/lib.rs",
        "macro_rules! call { () => { rumpsteak_runtime::protocol!(DoubleBuffering); } }\ncall!();\n",
    );
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    outcome.errors()[0]
        .says("`DoubleBuffering` was not verified: the build script did not see this item");
}

#[test]
fn a_broken_protocol_is_one_error_at_the_call() {
    let package = Package::double_buffering("generate-broken", GENERATES);
    let source = "rumpsteak_runtime::protocol!(DoubleBuffering);\n\
                  use double_buffering::{K, KSession, Ready, S, T, Value};\n\
                  use rumpsteak_runtime::session;\n\
                  #[session(S)]\ntype Source = Receive<K, Ready, Rest>;\n\
                  #[session]\nstruct Rest(Send<K, Value, Receive<K, Ready, Self>>);\n\
                  pub fn kernel(_: KSession<'_>, _: Source<'_>, _: Value, _: T) {}\n";
    package
        .write("protocols/double_buffering.scr", &PROTOCOL.replacen("from", "form", 1))
        .write("src/lib.rs", source);
    package
        .check(&[])
        .error()
        .is_at("src/lib.rs", "DoubleBuffering")
        .says("expected `from`, found `form` [S0104]")
        .says(" --> protocols/double_buffering.scr:3:");
}
