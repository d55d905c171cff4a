//! Every target of a package is verified, and each by its own rules.

use super::harness::{IMPORTS, KERNEL, OTHERS, Package, ROLES, double_buffering};

const UNSAFE: &str = "#[session(K)] pub type Wrong = Receive<S, Value, KernelLoop>;\n";

#[test]
fn a_library_and_two_binaries() {
    let package = Package::new("targets-bins");
    // One binary uses the library's sessions, the other has its own of the same names and tokens.
    package.write(
        "src/bin/one.rs",
        "use tested::{K, Kernel, KernelLoop, Ready, S};
         pub async fn one(role: &mut K) -> rumpsteak_runtime::Result<std::convert::Infallible> {
             rumpsteak_runtime::try_run(role, async |s: Kernel<'_>| {
                 let s: KernelLoop<'_, K> = s.send(Ready).await?;
                 loop { let _ = &s; std::future::pending::<()>().await; }
             }).await
         }
         fn main() { let _ = (one, std::mem::size_of::<S>()); }",
    );
    package.write("src/bin/two.rs", &format!("{}\nfn main() {{}}", double_buffering()));
    package.check(&["--bins", "--lib"]).passes();

    package.edit(
        "src/bin/two.rs",
        "Kernel = Send<S, Ready, KernelLoop>",
        "Kernel = Receive<S, Value, KernelLoop>",
    );
    package.edit("src/bin/two.rs", super::harness::PROCESS, "");
    let outcome = package.check(&["--bins", "--lib"]);
    outcome.error().is_at("src/bin/two.rs", "Receive");
    package.check(&["--bin", "one"]).passes();

    // A session of its own for the library's role would need a proof that Rust does not allow
    // there.
    let text = package.read("src/bin/one.rs");
    package.write(
        "src/bin/one.rs",
        &format!(
            "{IMPORTS}{text}\n#[session(K)] type Mine = Send<S, Ready, tested::KernelLoop>;
             #[session(S)] type Yours = Send<K, Ready, tested::KernelLoop>;"
        ),
    );
    let outcome = package.check(&["--bin", "one"]);
    let errors = outcome.errors();
    let wrong = "is declared in another target of this package";
    let told: Vec<_> = errors.iter().filter(|error| error.text.contains(wrong)).collect();
    assert!(
        told.len() == 1 && told[0].token == "K" && told[0].text.contains("note: so is `S`\n"),
        "{}",
        outcome.show()
    );
}

#[test]
fn one_module_file_in_two_targets() {
    let package = Package::new("targets-shared");
    package.write("src/lib.rs", "pub mod sessions;");
    package.write("src/main.rs", "mod sessions;\nfn main() {}");
    package.write(
        "src/sessions.rs",
        &double_buffering().replace("#![allow(dead_code, unused_imports)]", ""),
    );
    package.check(&[]).passes();
}

#[test]
fn tests_examples_and_benches() {
    for (folder, flag) in
        [("tests", "--tests"), ("examples", "--examples"), ("benches", "--benches")]
    {
        let package = Package::new(&format!("targets-{folder}"));
        let body = if folder == "examples" || folder == "benches" { "fn main() {}" } else { "" };
        let source = format!("{IMPORTS}\n{ROLES}\n{OTHERS}\n{KERNEL}\n{body}");
        package.write(&format!("{folder}/it.rs"), &source);
        if folder == "benches" {
            let manifest = package.read("Cargo.toml");
            package.write(
                "Cargo.toml",
                &format!("{manifest}\n[[bench]]\nname = \"it\"\nharness = false\n"),
            );
        }
        package.check(&[flag]).passes();
        package.write(&format!("{folder}/it.rs"), &format!("{source}\n{UNSAFE}"));
        package.check(&[flag]).error().is_at(&format!("{folder}/it.rs"), "Receive");
        // The library is as safe as before.
        package.check(&["--lib"]).passes();
    }
}

#[test]
fn sessions_in_unit_tests() {
    let package = Package::new("targets-unit");
    let library = double_buffering();
    let tests = "#[cfg(test)] mod tests { use super::*; #[session(K)] type Mine = Send<S, Ready, KernelLoop>; }\n";
    package.write("src/lib.rs", &format!("{library}\n{tests}"));
    package.check(&["--lib", "--profile", "test"]).passes();
    package.write(
        "src/lib.rs",
        &format!("{library}\n{tests}").replace("Mine = Send<S, Ready,", "Mine = Receive<S, Value,"),
    );
    package.check(&["--lib", "--profile", "test"]).error().is_at("src/lib.rs", "Receive");
    package.check(&["--lib"]).passes();
}

#[test]
fn documentation() {
    let package = Package::new("targets-doc");
    package.cargo("doc", &["--no-deps"]).passes();
    package.edit("src/lib.rs", super::harness::PROCESS, UNSAFE);
    package.cargo("doc", &["--no-deps"]).error().is_at("src/lib.rs", "Receive");
    // What a role sends in a race is no variant to match on, which rustc says, and not rustdoc.
    package.write("src/lib.rs", include_str!("../../../../ui-tests/src/cancel.rs"));
    package.cargo("doc", &["--no-deps"]).passes();
    let page = package.target().join("doc").join(package.name()).join("enum.Work.html");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Answer") && !page.contains("Deprecated"), "{page}");
}

#[test]
fn targets_that_the_manifest_names() {
    let package = Package::new("targets-named");
    let manifest = package.read("Cargo.toml");
    package.write(
        "Cargo.toml",
        &format!("{manifest}\n[lib]\npath = \"code/it.rs\"\n\n[[bin]]\nname = \"tool\"\npath = \"code/tool.rs\"\n"),
    );
    package.remove("src/lib.rs");
    package.write("code/it.rs", &double_buffering());
    package.write("code/tool.rs", &format!("{}\nfn main() {{}}", double_buffering()));
    package.check(&[]).passes();
    package.edit("code/tool.rs", super::harness::PROCESS, UNSAFE);
    package.check(&[]).error().is_at("code/tool.rs", "Receive");
}

#[test]
fn files_that_are_no_targets_are_named_in_the_build_script() {
    let package = Package::new("targets-sources");
    package.write(
        "build.rs",
        "fn main() -> Result<(), rumpsteak_build::Report> { rumpsteak_build::configure().protocols(\"protocols\").sources([\"other/it.rs\"]).verify().map(drop) }",
    );
    package.write(
        "other/it.rs",
        &double_buffering().replace("#![allow(dead_code, unused_imports)]", ""),
    );
    // To the walk this is no module of the library, because the path is made by a macro.
    package.write(
        "src/lib.rs",
        "macro_rules! hidden { () => { #[path = \"../other/it.rs\"] mod it; } }\nhidden!();",
    );
    package.check(&[]).passes();
    package.write(
        "build.rs",
        "fn main() -> Result<(), rumpsteak_build::Report> { rumpsteak_build::verify(\"protocols\").map(drop) }",
    );
    let outcome = package.check(&[]);
    outcome.errors()[0].says("the build script did not see this item");
}
