//! Build manners: what makes the script run again, and what it leaves behind.

use std::path::Path;

use super::harness::{Package, double_buffering};
use crate::support::says;

#[test]
fn a_second_build_does_not_run_the_script_again() {
    let package = Package::new("manners-twice");
    let first = package.check(&[]);
    assert!(first.passes().ran_script(), "{}", first.stderr);
    let second = package.check(&[]);
    assert!(!second.passes().ran_script(), "{}", second.stderr);

    package.write("src/unrelated.txt", "below src");
    package.write("unrelated.txt", "outside of all that was read");
    package.check(&[]).passes();
    package.write("unrelated.txt", "changed");
    let third = package.check(&[]);
    assert!(!third.passes().ran_script(), "{}", third.stderr);
}

/// `cargo rumpsteak check` compares their time with that of the build script.
#[test]
fn the_settings_have_the_time_of_the_last_run() {
    let package = Package::new("manners-settings");
    package.check(&[]).passes();
    package.edit("build.rs", "fn main()", "// Nothing else is new.\nfn main()");
    assert!(package.check(&[]).passes().ran_script());
    let time = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
    let settings = package.out("rumpsteak/configuration.json");
    assert!(time(&settings) > time(&package.path("build.rs")));
}

#[test]
fn new_files_are_noticed() {
    let package = Package::new("manners-new");
    package.check(&[]).passes();
    package.write("protocols/new.scr", "global protocol New(role a, role b) { m() from a to b; }");
    let outcome = package.check(&[]);
    says(&outcome.passes().stderr, "no role plays the protocol `New`");

    package.write("src/bin/new.rs", &format!("{}\nfn main() {{}}", double_buffering()));
    package.check(&[]).passes();

    // A module that is declared before its file is there.
    package.edit("src/bin/new.rs", "fn main() {}", "mod later;\nfn main() {}");
    assert!(!package.check(&[]).success);
    package.write("src/bin/later.rs", "");
    package.write("src/bin/later/mod.rs", "");
    package.remove("src/bin/later.rs");
    package.write(
        "src/bin/later/mod.rs",
        &double_buffering().replace("#![allow(dead_code, unused_imports)]", "#![allow(dead_code)]"),
    );
    package.check(&["--bin", "new"]).passes();
}

#[test]
fn equal_packages_give_equal_bytes() {
    let first = Package::new("manners-equal");
    first.check(&[]).passes();
    let bytes = first.verdicts();
    assert!(bytes.contains("session Kernel "));
    assert!(
        !bytes.contains(env!("CARGO_MANIFEST_DIR")) && !bytes.contains(env!("CARGO_TARGET_TMPDIR"))
    );

    // The same package again from nothing, and the same at another place.
    let again = Package::new("manners-equal");
    again.check(&[]).passes();
    assert_eq!(again.verdicts(), bytes);
    let elsewhere = Package::new("manners-equal-too");
    elsewhere.check(&[]).passes();
    assert_eq!(again.verdicts(), bytes);
}

#[test]
fn no_source_however_nested_stops_the_script() {
    let package = Package::new("manners-nested");
    let deep = 200_000;
    let sources = [
        format!("fn f() {{ {}{} }}", "(".repeat(deep), ")".repeat(deep)),
        format!("type A = {}u8{};", "Vec<".repeat(deep), ">".repeat(deep)),
        format!("use {}a{};", "{".repeat(deep), "}".repeat(deep)),
        format!("{}{}", "mod m { ".repeat(20_000), "}".repeat(20_000)),
        format!("#[cfg({}unix{})] struct A;", "not(".repeat(deep), ")".repeat(deep)),
        format!(
            "use rumpsteak_runtime::session;\n#[session] type A = {}End{};",
            "Send<S, L, ".repeat(deep),
            ">".repeat(deep)
        ),
        format!(
            "use rumpsteak_runtime::Role;\n#[derive(Role)] struct A {}{}",
            "(".repeat(deep),
            ")".repeat(deep)
        ),
        format!("global {}", "(".repeat(deep)),
        "\u{0}\u{1} \" unclosed".to_owned(),
    ];
    // Not of a target: rustc has limits of its own, which are not the subject.
    let names: Vec<String> =
        (0..sources.len()).map(|index| format!("\"hostile/{index}.rs\"")).collect();
    for (index, source) in sources.iter().enumerate() {
        package.write(&format!("hostile/{index}.rs"), source);
    }
    package.write(
        "build.rs",
        &format!(
            "fn main() -> Result<(), rumpsteak_build::Report> {{ rumpsteak_build::configure().protocols(\"protocols\").sources([{}]).verify().map(drop) }}",
            names.join(", ")
        ),
    );
    package.check(&[]).passes();
}

#[test]
fn a_half_typed_function_hides_no_session() {
    let package = Package::new("manners-half");
    let text = package.read("src/lib.rs");
    package.write("src/lib.rs", &format!("{text}\npub fn half() {{ let x = }}\n"));
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    assert!(!outcome.show().contains("did not see"), "{}", outcome.show());
}
