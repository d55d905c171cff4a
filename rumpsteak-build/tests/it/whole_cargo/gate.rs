//! The gate: a safe reordering builds, an unsafe one does not.

use super::harness::{KERNEL, Package, double_buffering};
use crate::support::{PROTOCOL, begins};

#[test]
fn a_safe_reordering_builds() {
    let package = Package::new("gate-safe");
    let outcome = package.check(&[]);
    outcome.passes();
    assert!(outcome.messages.is_empty(), "{}", outcome.show());
}

#[test]
fn an_unsafe_reordering_is_one_error_at_its_token() {
    let package = Package::new("gate-unsafe");
    package.edit(
        "src/lib.rs",
        "KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>)",
        "KernelLoop(Receive<S, Value, Receive<T, Ready, Send<T, Value, Send<S, Ready, Self>>>>)",
    );
    package.edit(
        "src/lib.rs",
        "type Kernel = Send<S, Ready, KernelLoop>",
        "type Kernel = KernelLoop",
    );
    package.edit("src/lib.rs", "let mut s = s.send(Ready).await?;", "let mut s = s;");
    package.edit("src/lib.rs", "s.send(Ready).await?.receive()", "s.receive()");
    package.edit(
        "src/lib.rs",
        "s = next.send(Value(value)).await?;",
        "s = next.send(Value(value)).await?.send(Ready).await?;",
    );
    let outcome = package.check(&[]);
    let error = outcome.error();
    error.is_at("src/lib.rs", "Receive");
    // The first line in the user's words, the line of the protocol, the run, who waits, what is
    // left, the way out.
    let expected = "\
unsafe reordering: `Kernel` receives `Value` from `S` before it sends `Ready` to `S` [V0407]

 --> protocols/double_buffering.scr:3:5
  |
3 |     ready() from k to s;
  |     ^^^^^^^^^^^^^^^^^^^^ the protocol has `k` send this first …
4 |     value(i32) from s to k;
  |     ----------------------- … and receive this afterwards

the shortest run that gets stuck, with all other roles as the protocol has them:
";
    begins(&error.text, expected);
    error
        .says("k waits for value(i32) from s")
        .says("s waits for ready from k")
        .says("in the queue from t to k: ready")
        .says("help: send `Ready` to `S` before this");
}

#[test]
fn an_unrelated_error_shows_beside_it() {
    let package = Package::new("gate-beside");
    package.edit(
        "src/lib.rs",
        "Kernel = Send<S, Ready, KernelLoop>",
        "Kernel = Receive<S, Value, KernelLoop>",
    );
    package.remove("src/lib.rs");
    let text = super::harness::double_buffering()
        .replace(super::harness::PROCESS, "pub const WRONG: u8 = \"text\";\n");
    package.write(
        "src/lib.rs",
        &text.replace("Kernel = Send<S, Ready,", "Kernel = Receive<S, Value,"),
    );
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    let tokens: Vec<&str> = outcome.errors().iter().map(|error| error.token.as_str()).collect();
    assert_eq!(tokens, ["Receive", "\"text\""], "{}", outcome.show());
}

#[test]
fn the_same_in_a_build_and_with_a_process_that_runs_it() {
    let package = Package::new("gate-build");
    package.cargo("build", &[]).passes();
    package.edit(
        "src/lib.rs",
        "Receive<T, Ready, Send<T, Value, Self>>",
        "Send<T, Value, Receive<T, Ready, Self>>",
    );
    package.edit("src/lib.rs", "let (Ready, next) = next.receive().await?;\n", "");
    package.edit(
        "src/lib.rs",
        "s = next.send(Value(value)).await?;",
        "let (Ready, next) = next.send(Value(value)).await?.receive().await?; s = next;",
    );
    // Sending the value before the sink is ready only needs room in a queue.
    package.cargo("build", &[]).passes();
}

#[test]
fn an_unsafe_edit_after_a_pass_is_refused() {
    let package = Package::new("edit-unsafe");
    package.check(&[]).passes();
    let first = package.verdicts();
    let (early, late) = ("Send<S, Ready, KernelLoop>;", "Receive<S, Value, KernelLoop>;");
    package.edit("src/lib.rs", early, late);
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    outcome.errors()[0]
        .is_at("src/lib.rs", "Receive")
        .says("unsafe reordering: `Kernel` receives `Value` from `S`");
    package.edit("src/lib.rs", late, early);
    package.check(&[]).passes();
    assert_eq!(package.verdicts(), first);
}

#[test]
fn editing_only_the_protocol_flips_the_verdict_both_ways() {
    let package = Package::new("gate-protocol");
    package.check(&[]).passes();

    // Now the sink speaks first, and the optimised kernel asks the source all the same: still safe.
    let reordered = PROTOCOL.replacen(
        "    ready() from k to s;\n",
        "    ready() from t to k;\n    ready() from k to s;\n",
        1,
    );
    let reordered = reordered.replace(
        "k;\n    ready() from t to k;\n    value(i32) from k",
        "k;\n    value(i32) from k",
    );
    package.write("protocols/double_buffering.scr", &reordered);
    package.check(&[]).passes();

    // Now each value must be acknowledged by a second message.
    package.edit(
        "protocols/double_buffering.scr",
        "value(i32) from s to k;",
        "value(i32) from s to k;\n    ready() from s to k;",
    );
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    assert!(outcome.errors().iter().all(|error| error.file == "src/lib.rs"), "{}", outcome.show());

    package.write("protocols/double_buffering.scr", PROTOCOL);
    package.check(&[]).passes();
}

#[test]
fn no_build_script_says_what_to_add() {
    let package = Package::new("gate-no-script");
    package.remove("build.rs");
    // Not one for each root.
    package
        .check(&[])
        .error()
        .says("`Source` was not verified: this package has no build script that verifies it")
        .says("rumpsteak_build::configure().protocols(\"protocols\").verify()?;");
}

#[test]
fn a_build_script_that_verifies_nothing_is_not_enough() {
    let package = Package::new("gate-idle-script");
    package.write("build.rs", "fn main() {}\n");
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    outcome.errors()[0].says("the build script of this package left no verdicts");
}

#[test]
fn several_roots_of_one_role_each_get_their_own_verdict() {
    let package = Package::new("gate-roots");
    package.edit(
        "src/lib.rs",
        KERNEL,
        &format!(
            "{KERNEL}
#[session(K)] pub type Plain = KernelLoop;
#[session(K)] pub type Greedy = Send<S, Ready, Send<S, Ready, KernelLoop>>;
#[session(K)] pub type Wrong = Receive<S, Value, KernelLoop>;
"
        ),
    );
    let outcome = package.check(&[]);
    outcome.error().is_at("src/lib.rs", "Receive").says("`Wrong` receives `Value`");
}

#[test]
fn no_error_of_rustc_beside_ours() {
    let package = Package::new("gate-alone");
    let messages = |outcome: &super::harness::Outcome| -> Vec<(String, String)> {
        let errors = outcome.errors();
        let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        errors.iter().map(|error| (error.token.clone(), first(&error.text))).collect()
    };
    let bad =
        "unsafe reordering: `Two` receives `Value` from `S` before it sends `Ready` to `S` [V0407]";

    // Two refused sessions of one type: rustc allows one proof.
    package.edit(
        "src/lib.rs",
        KERNEL,
        "#[session(K)] pub type One = Receive<S, Value, Loop>;
         #[session(K)] pub type Two = Receive<S, Value, Loop>;
         #[session(K)] pub type Three = Receive<S, Nothing, Loop>;
         #[session(K)] pub type Four = Receive<S, Nothing, Loop>;
         pub struct Nothing;
         #[session] pub struct Loop(Send<S, Ready, Receive<T, Ready, Send<T, Value, Receive<S, Value, Self>>>>);",
    );
    package.edit("src/lib.rs", super::harness::PROCESS, "");
    let outcome = package.check(&[]);
    let nothing = "`Nothing` is no message of the role that plays `DoubleBuffering::k` [V0208]";
    let mut said = messages(&outcome);
    said.sort();
    assert_eq!(
        said,
        [
            ("Nothing".to_owned(), nothing.to_owned()),
            ("Receive".to_owned(), bad.replace("Two", "One")),
            ("Receive".to_owned(), bad.to_owned()),
        ],
        "{}",
        outcome.show()
    );

    // A session of a role that another crate declares: rustc allows no proof.
    package.write("src/lib.rs", &super::harness::double_buffering());
    package.write(
        "src/main.rs",
        "use tested::{K, Ready, S, Value};
         use rumpsteak_runtime::{session, states::{End, Receive, Send}};
         #[session(K)] type Own = Send<S, Ready, Receive<S, Value, End>>;
         fn main() {}",
    );
    let outcome = package.check(&["--bins"]);
    outcome.error().is_at("src/main.rs", "K").says("is declared in another target of this package");
}

#[test]
fn a_wrong_link_is_one_error() {
    let package = Package::new("gate-link");
    package.edit("src/lib.rs", "DoubleBuffering::k", "DoubleBuffering::kernel");
    let outcome = package.check(&[]);
    outcome
        .error()
        .is_at("src/lib.rs", "kernel")
        .says("the protocol `DoubleBuffering` has no role `kernel`");

    // The sessions that said nothing were not verified: where rustc has a role without that error
    // in its place, none of them runs.
    package.edit(
        "src/lib.rs",
        "#[derive(Role)]\n#[protocol(DoubleBuffering::kernel)]",
        "macro_rules! other { ($item:item) => { $item } }
         other! { #[derive(Role)] #[protocol(DoubleBuffering::k)] #[message(Label)]
                  pub struct K { #[route(S)] s: Channel<Label>, #[route(T)] t: Channel<Label> } }
         #[cfg(test)]\n#[derive(Role)]\n#[protocol(DoubleBuffering::kernel)]",
    );
    let outcome = package.check(&[]);
    let errors = outcome.errors();
    assert!(!errors.is_empty(), "{}", outcome.show());
    for error in errors {
        error.says("is not the session that was verified");
    }
}

#[test]
fn an_error_in_a_part_is_reported_there_and_only_there() {
    let package = Package::new("gate-part");
    package.write(
        "src/lib.rs",
        &[
            super::harness::IMPORTS,
            super::harness::ROLES,
            super::harness::OTHERS,
            "#[session(K)] pub type Kernel = Send<S, Ready, First>;
             #[session] pub struct First(Receive<S, Value, Second>);
             #[session] pub struct Second(Send<S, Ready, Receive<T, Ready, Receive<S, Value, Send<T, Value, First2>>>>);
             #[session] pub struct First2(Send<T, Value, Receive<S, Value, Second>>);",
        ]
        .join("\n"),
    );
    let outcome = package.check(&[]);
    let error = outcome.error();
    assert_eq!(error.file, "src/lib.rs");
    error.says("`Kernel`");
}

#[test]
fn an_error_in_a_transparent_part_fails_the_root_too() {
    let package = Package::new("gate-alias-part");
    package.edit(
        "src/lib.rs",
        KERNEL,
        "#[session(K)] pub type Kernel = Send<S, Ready, Part>;
         #[session] pub type Part = Receive<S, Value, Loop>;
         #[session] pub struct Loop(Receive<S, Value, Send<S, Ready, Receive<T, Ready, Send<T, Value, Self>>>>);
         #[session] pub type Unused = Receive<S, Value, End>;",
    );
    package.edit("src/lib.rs", super::harness::PROCESS, "");
    let outcome = package.check(&[]);
    outcome.error().is_at("src/lib.rs", "Receive");

    // In the alias itself, the root fails with it, but says nothing of it.
    package.edit(
        "src/lib.rs",
        "type Part = Receive<S, Value, Loop>",
        "type Part = Receive<T, Ready, Receive<T, Ready, Loop>>",
    );
    package.check(&[]).error().is_at("src/lib.rs", "Receive");
}

#[test]
fn every_kind_of_refusal_says_what_to_do() {
    // The whole session of the kernel, the token, and what is said.
    let cases = [
        ("Send<S, Ready, Receive<S, Value, End>>", "End", "ends, but the protocol goes on"),
        (
            "Send<S, Ready, Receive<S, Ready, Loop>>",
            "Receive",
            "receives `Ready` from `S`, which the protocol never has `k` do",
        ),
        ("Send<T, Ready, Loop>", "Send", "sends `Ready` to `T`"),
    ];
    let package = Package::new("gate-refusals");
    package.edit("src/lib.rs", super::harness::PROCESS, "");
    for (session, token, text) in cases {
        package.write(
            "src/lib.rs",
            &[
                super::harness::IMPORTS,
                super::harness::ROLES,
                super::harness::OTHERS,
                "#[session] pub struct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);",
                &format!("#[session(K)] pub type Kernel = {session};"),
            ]
            .join("\n"),
        );
        let outcome = package.check(&[]);
        let errors = outcome.errors();
        assert_eq!(errors.len(), 1, "{session}: {}", outcome.show());
        assert_eq!(errors[0].token, token, "{session}: {}", outcome.show());
        errors[0].says(text).says("help: ");
    }
}

/// The states with identities of their own.
fn identities(package: &Package) -> Vec<(String, u64)> {
    let proofs = package.proofs().into_iter();
    let named = proofs.filter_map(|(name, proof)| Some((name, proof.id?)));
    let mut named: Vec<(String, u64)> = named.collect();
    named.sort();
    named
}

/// A session may go from a program to one of another build: its states are the same only where all
/// that belongs to it is.
#[test]
fn a_state_is_another_one_if_something_deeper_in_its_session_is() {
    let package = Package::new("gate-identities");
    package
        .edit(
            "src/lib.rs",
            "Receive<T, Ready, Send<T, Value, Self>>>>);",
            "Rest>>);\n#[session] pub struct Rest(Receive<T, Ready, Send<T, Value, KernelLoop>>);",
        )
        .check(&[])
        .passes();
    let before = identities(&package);
    package.edit(
        "src/lib.rs",
        "Receive<T, Ready, Send<T, Value, KernelLoop>>",
        "Receive<T, Ready, Last>",
    );
    package.edit(
        "src/lib.rs",
        "pub struct Rest",
        "pub struct Last(Send<T, Value, KernelLoop>);\n#[session] pub struct Rest",
    );
    package.check(&[]).passes();
    let after = identities(&package);
    let kept = before.iter().filter(|known| after.contains(known)).map(|(name, _)| &**name);
    assert_eq!(kept.collect::<Vec<_>>(), ["SinkLoop", "SourceLoop"]);
    let names = |of: &[(String, u64)]| of.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&before), ["KernelLoop", "Rest", "SinkLoop", "SourceLoop"]);
}

/// A macro cannot tell in which module it is: the states of both are one to the proofs.
#[test]
fn states_of_a_file_that_is_mounted_twice_have_one_identity() {
    let package = Package::new("gate-mounted");
    package.write("src/pipeline.rs", &double_buffering()).write(
        "src/lib.rs",
        "#[path = \"pipeline.rs\"]\npub mod first;\n#[path = \"pipeline.rs\"]\npub mod second;\n",
    );
    package.check(&[]).passes();
    let mut found = identities(&package);
    assert_eq!(found.len(), 6);
    found.dedup();
    let names = found.iter().map(|(name, _)| &**name);
    assert_eq!(names.collect::<Vec<_>>(), ["KernelLoop", "SinkLoop", "SourceLoop"]);
}
