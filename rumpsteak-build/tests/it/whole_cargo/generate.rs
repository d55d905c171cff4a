//! The items that a module does not write: they pass every lint, and the module that writes all of
//! them is judged as any other.

use rumpsteak_build::{Limits, configure};

use super::harness::Package;
use super::programs::{printed, programs};
use crate::support::{OPTIMISED, PROTOCOL, check_files, only, says};

/// A process in a crate that is as strict as can be.
pub(super) const STRICT: &str = "\
//! A crate that documents all of its items.
#![deny(missing_docs, missing_debug_implementations, warnings, clippy::all, clippy::pedantic)]

use std::convert::Infallible;

use rumpsteak::{Result, protocol, try_run};

/// The protocol.
#[protocol(Ordered)]
pub mod ordered {}

/// Names that collide with everything.
#[protocol(Odd)]
pub mod odd {}

use ordered::{K, KSession, Ready, Value};

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

fn main() {}
";

/// A crate in which nothing that is generated is public or used.
pub(super) const UNUSED: &str = "\
#![deny(warnings)]
#[rumpsteak::protocol(Odd)]
mod odd {}
fn main() {}
";

pub(super) const ODD: &str = "\
type <rust> \"std::vec::Vec<u8>\" from \"std\" as Bytes;
sig <rust> \"std::time::Duration\" from \"std\" as pause;

global protocol Odd(role self, role send, role type, role String, role roles) {
  rec more {
    ok() from self to send;
    send(Bytes) from send to type;
    MAIL_FROM() from type to String;
    choice at String {
      a'(i32, bool) from String to self;
      gather() from self to send;
      gather() from send to type, roles;
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

/// The module of a protocol with all of its items, as the command writes it.
pub(super) fn written(package: &Package) -> String {
    let configuration = configure().protocols("protocols/ordered.scr");
    let codes = configuration.code(&package.path(""), &Limits::default());
    let codes = codes.unwrap_or_else(|report| panic!("{report}"));
    let [code] = &codes[..] else { panic!("{codes:?}") };
    let lints =
        "//! Documented.\n#![deny(missing_docs, warnings, clippy::all, clippy::pedantic)]\n";
    let text = code.text.clone().unwrap();
    let text = text.replace("#[rumpsteak::protocol", "/// The protocol.\n#[rumpsteak::protocol");
    format!("{lints}\n{text}\nfn main() {{}}\n")
}

/// Processes to fill in, for all protocols of the package.
pub(super) fn skeletons(package: &Package) -> String {
    let codes = configure().protocols("protocols").code(&package.path(""), &Limits::default());
    let mut text = "#![allow(unused, unreachable_code)]\nfn main() {}\n".to_owned();
    for (number, code) in codes.unwrap_or_else(|report| panic!("{report}")).iter().enumerate() {
        let (_, program) = code.skeleton();
        let (program, _) = program.split_once("#[tokio::main").unwrap();
        text += &format!("mod skeleton_{number} {{\n{program}}}\n");
    }
    text
}

#[test]
fn generated_code_passes_every_lint() {
    let examples = ["--example", "strict", "--example", "unused", "--example", "written"];
    programs().cargo("clippy", &examples).passes();
    programs().check(&["--example", "skeletons"]).passes();
    assert_eq!(printed("written"), "");
}

#[test]
fn code_that_is_checked_in_is_verified_as_any_other() {
    let source = programs().read("examples/written.rs");
    let (safe, refused) = (
        "type KSession = Send<S, Ready, KReadyLoop>;",
        "type KSession = Receive<S, Value, KReadyLoop>;",
    );
    says(&source, safe);
    let source = source.replace(safe, refused);
    let protocol = PROTOCOL.replace("DoubleBuffering", "Ordered");
    let files = [
        ("protocols/ordered.scr", &*protocol),
        ("protocols/ordered.k.dot", OPTIMISED),
        ("src/lib.rs", &source),
    ];
    let check = check_files("checked-in", &files);
    let problem = only(&check);
    assert_eq!(&source[problem.range.clone()], "Receive", "{}", problem.text);
    says(&problem.text, "unsafe reordering: `KSession` receives `Value` from `S`");
}

#[test]
fn a_machine_that_is_not_decided_is_an_error_that_names_the_limit() {
    let module = |limits: &str| {
        let source = format!("#[rumpsteak::protocol(DoubleBuffering{limits})] mod m {{}}\n");
        let files = [
            ("protocols/double_buffering.scr", PROTOCOL),
            ("protocols/double_buffering.k.dot", OPTIMISED),
            ("src/lib.rs", &source),
        ];
        check_files("undecided", &files)
    };
    let check = module(", limits(steps = 1, configurations = 1)");
    let texts: Vec<&str> = check.problems.iter().map(|problem| &*problem.text).collect();
    let text = texts.iter().find(|text| text.contains(".k.dot")).unwrap();
    says(text, "`protocols/double_buffering.k.dot` could not be verified: ");
    says(text, "note: it may be safe, but the search for a proof was stopped");
    says(text, "limits(steps = 10)");
    assert!(module("").holds());
}
