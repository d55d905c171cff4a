//! Bottom-up: sets of roles without a protocol, and the fallback to them.

use super::harness::{IMPORTS, KERNEL, OTHERS, PROCESS, Package, ROLES};
use crate::support::begins;

/// The roles of double buffering without a protocol.
fn roles() -> String {
    let lines = ROLES.lines().filter(|line| !line.starts_with("#[protocol("));
    let roles: Vec<&str> = lines.collect();
    roles.join("\n").replace("#[derive(Roles)]", "#[derive(Roles)]\n#[closed_system]")
}

fn package(name: &str) -> Package {
    let package = Package::new(name);
    package
        .remove("protocols/double_buffering.scr")
        .write(
            "build.rs",
            "fn main() -> Result<(), rumpsteak_build::Report> { rumpsteak_build::configure().verify().map(drop) }\n",
        )
        .write(
            "src/lib.rs",
            &[IMPORTS, &roles(), OTHERS, KERNEL, PROCESS].join("\n"),
        );
    package
}

/// How many roots were verified to be 1-multiparty compatible.
fn verified_for_1(package: &Package) -> usize {
    let proofs = package.proofs().into_iter();
    proofs.filter(|(_, proof)| proof.kmc == Some(1)).count()
}

#[test]
fn a_safe_set_builds_and_says_for_which_k() {
    let package = package("system-safe");
    let outcome = package.check(&[]);
    outcome.passes();
    assert!(outcome.messages.is_empty(), "{}", outcome.show());
    assert_eq!(verified_for_1(&package), 3);
    let kernel = package.proofs().into_iter().find(|(name, _)| name == "Kernel");
    let plays = kernel.and_then(|(_, proof)| proof.plays);
    let plays = plays.map(|role| role.to_string());
    assert_eq!(plays.as_deref(), Some("lib tested: ::Roles::K"));
}

#[test]
fn an_unsafe_set_fails_where_a_role_of_a_circle_waits() {
    let package = package("system-unsafe");
    package.edit(
        "src/lib.rs",
        "SinkLoop(Send<K, Ready, Receive<K, Value, Self>>)",
        "SinkLoop(Receive<K, Value, Send<K, Ready, Self>>)",
    );
    let outcome = package.check(&[]);
    // None of the others may run either, and says nothing of it.
    let error = outcome.error();
    // The kernel asks twice, the source answers twice, and then the sink, which has waited all the
    // time, waits for the kernel and the kernel for the sink.
    error
        .is_at("src/lib.rs", "Receive")
        .says("which sends it only after it receives `Ready` from `T`: the system of `Roles` gets stuck")
        .says("K waits for Ready from T")
        .says("T waits for Value(i32) from K");
    begins(&error.text, "`SinkLoop` receives `Value` from `K`");
}

#[test]
fn a_set_is_verified_or_there_is_no_proof() {
    let package = package("system-gate");
    // Roles of no set and of no protocol.
    package.edit("src/lib.rs", "#[closed_system]\n", "");
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    outcome.errors()[0].says("`S`");
    package.edit("src/lib.rs", "#[derive(Roles)]", "#[derive(Roles)]\n#[closed_system]");
    package.check(&[]).passes();
    // A set that the build script does not see.
    let text = package.read("src/lib.rs");
    let start = text.find("#[derive(Roles)]").unwrap_or_default();
    let end = text[start..].find('}').map_or(start, |end| start + end + 1);
    let set = &text[start..end];
    package.write(
        "src/lib.rs",
        &text.replace(set, &format!("macro_rules! set {{ () => {{ {set} }} }}\nset!();")),
    );
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    assert!(
        outcome.errors().iter().any(|error| error
            .text
            .starts_with("`Roles` was not verified: the build script did not see")),
        "{}",
        outcome.show()
    );
    // There is one way to verify a set, so it has no name.
    package.write("src/lib.rs", &text.replace("#[closed_system]", "#[closed_system(luck)]"));
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    assert!(
        outcome
            .errors()
            .iter()
            .any(|error| error.token == "("
                && error.text == "`#[closed_system]` takes no argument"),
        "{}",
        outcome.show()
    );
    package.write("src/lib.rs", &text);
    package.write("build.rs", "fn main() {}\n");
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    assert!(outcome.errors().iter().any(|error| error.token == "Roles"), "{}", outcome.show());
}

#[test]
fn the_fallback_lets_the_sessions_run_and_is_recorded() {
    let package = Package::new("system-fallback");
    // The kernel waits for the source, which need not be asked, and answers it later.
    package
        .edit("src/lib.rs", KERNEL, "#[session(K)] pub struct Kernel(Receive<S, Value, Send<S, Ready, Receive<T, Ready, Send<T, Value, Self>>>>);\n")
        .edit("src/lib.rs", "SourceLoop(Receive<K, Ready, Send<K, Value, Self>>)", "SourceLoop(Send<K, Value, Receive<K, Ready, Self>>)")
        .edit("src/lib.rs", PROCESS, "pub async fn kernel(role: &mut K) -> Result<std::convert::Infallible> {
            try_run(role, async |mut s: Kernel<'_>| loop {
                let (Value(value), next) = s.receive().await?;
                let (Ready, next) = next.send(Ready).await?.receive().await?;
                s = next.send(Value(value)).await?;
            }).await
        }");
    let outcome = package.check(&[]);
    outcome
        .error()
        .is_at("src/lib.rs", "Receive")
        .says("it is safe (1-multiparty compatible)")
        .says("accept_closed_system(\"DoubleBuffering\")");
    package.edit(
        "build.rs",
        "verify(\"protocols\")",
        "configure().protocols(\"protocols\").accept_closed_system(\"DoubleBuffering\").verify()",
    );
    package.check(&[]).passes();
    assert_eq!(verified_for_1(&package), 3);
}
