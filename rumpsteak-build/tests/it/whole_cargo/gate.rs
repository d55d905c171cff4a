//! The gate: a safe reordering builds, and an unsafe one does not, wherever the module stands, and
//! whatever an earlier build has left.
//!
//! All tests edit one package, one after the other.

use std::fs::{self, File};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::harness::{MODULE, Outcome, Package, REFUSAL, SAFE, UNSAFE, VERIFIES, manifest};
use crate::support::{OPTIMISED, PROTOCOL, begins, says};

/// A package with double buffering as its library, its protocol, and a build script.
fn gate() -> (MutexGuard<'static, ()>, Package) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let package = Package::new("gate");
    package.write("protocols/double_buffering.scr", PROTOCOL).write("src/lib.rs", MODULE);
    (turn, package)
}

fn refused() -> String {
    MODULE.replace(SAFE, UNSAFE)
}

/// Asserts that each error is the refusal of [`UNSAFE`], and returns the files, sorted.
#[track_caller]
fn refusals(outcome: &Outcome) -> Vec<String> {
    let mut files = Vec::new();
    for error in outcome.errors() {
        begins(&error.text, REFUSAL);
        assert_eq!(error.token, "Receive", "{}", outcome.show());
        files.push(error.file.clone());
    }
    // A binary is compiled for its tests, too.
    files.sort();
    files.dedup();
    files
}

#[test]
fn a_safe_reordering_builds_and_an_unsafe_one_is_one_error_at_its_token() {
    let (_turn, package) = gate();
    package.check(&[]).passes();
    let first = package.verdicts();
    assert_eq!(first.len(), 1);
    package.write("unrelated.txt", "outside of all that was read");
    assert!(!package.check(&[]).passes().ran_script());

    package.edit("src/lib.rs", SAFE, UNSAFE);
    let outcome = package.check(&[]);
    let error = outcome.error();
    error.is_at("src/lib.rs", "Receive");
    // The first line in the user's words, the lines of the protocol, the run, the roles that wait,
    // the messages that are left, the way out.
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
    assert_eq!(package.verdicts(), []);

    // Another error shows beside it.
    let text = package.read("src/lib.rs");
    package.write("src/lib.rs", &format!("{text}pub const WRONG: u8 = \"text\";\n"));
    let outcome = package.check(&[]);
    let tokens: Vec<&str> = outcome.errors().iter().map(|error| error.token.as_str()).collect();
    assert_eq!(tokens, ["Receive", "\"text\""], "{}", outcome.show());

    package.write("src/lib.rs", MODULE);
    package.check(&[]).passes();
    assert_eq!(package.verdicts(), first);
}

#[test]
fn a_module_is_judged_in_every_target() {
    let (_turn, package) = gate();
    let targets = ["src/bin/it.rs", "examples/it.rs", "tests/it.rs", "benches/it.rs"];
    let with = |module: &str| {
        for file in targets {
            let main = if file.contains("/it") && file.starts_with(['t', 'b']) {
                ""
            } else {
                "fn main() {}\n"
            };
            package.write(file, &format!("{module}{main}"));
        }
        let tests = format!("{MODULE}#[cfg(test)]\nmod tests {{\n{module}}}\n");
        let optional = format!("#[cfg(feature = \"fast\")]\npub mod fast {{\n{module}}}\n");
        package.write("src/lib.rs", &[tests, optional].concat());
    };
    with(&refused());
    package.check(&["--lib"]).passes();
    let outcome = package.check(&["--all-targets", "--keep-going"]);
    assert_eq!(
        refusals(&outcome),
        ["benches/it.rs", "examples/it.rs", "src/bin/it.rs", "src/lib.rs", "tests/it.rs"]
    );
    let outcome = package.check(&["--lib", "--features", "fast"]);
    assert_eq!(refusals(&outcome), ["src/lib.rs"]);
    with(MODULE);
    package.check(&["--all-targets", "--features", "fast"]).passes();
}

/// The tokens of a module are the same wherever they come from; so is the verdict.
#[test]
fn a_module_is_judged_wherever_it_stands() {
    let (_turn, package) = gate();
    // A macro of a dependency makes a module of this package.
    package.write(
        "helper/Cargo.toml",
        "[package]\nname = \"helper\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
    );
    let dependency = "[dependencies]\nhelper = { path = \"helper\" }\n";
    package.write("Cargo.toml", &manifest("gate").replace("[dependencies]\n", dependency));
    let with = |module: &str| {
        let made = format!("macro_rules! make {{ () => {{ {module} }} }}\nmake!();\n");
        let helper = format!("#[macro_export]\nmacro_rules! make {{ () => {{ {module} }} }}\n");
        package.write("helper/src/lib.rs", &helper);
        package.write("other/module.rs", module).write("other/included.inc", module);
        let places = [
            ("macro", made),
            ("dependency", "helper::make!();\n".to_owned()),
            ("function", format!("pub fn inside() {{\n{module}}}\n")),
            ("block", format!("pub const INSIDE: () = {{\n{module}}};\n")),
            ("path", "#[path = \"../other/module.rs\"]\npub mod first;\n".to_owned()),
            ("include", "include!(\"../other/included.inc\");\n".to_owned()),
            ("hidden", "macro_rules! hidden { () => { #[path = \"../other/module.rs\"] mod it; } }\nhidden!();\n".to_owned()),
            ("nested", format!("pub mod outer {{\n#[cfg(not(feature = \"fast\"))]\npub mod inner {{\n{module}}}\n}}\n")),
            ("raw", module.replace("mod double_buffering", "mod r#loop")),
            ("renamed", format!("use rumpsteak::protocol as verified;\n{}", module.replace("rumpsteak::protocol", "verified"))),
        ];
        for (name, text) in &places {
            package.write(&format!("examples/{name}.rs"), &format!("{text}fn main() {{}}\n"));
        }
        places.len()
    };
    let places = with(&refused());
    let outcome = package.check(&["--examples", "--keep-going"]);
    for error in outcome.errors() {
        begins(&error.text, REFUSAL);
    }
    assert_eq!(outcome.errors().len(), places, "{}", outcome.show());
    with(MODULE);
    let outcome = package.check(&["--examples"]);
    assert!(outcome.success && outcome.errors().is_empty(), "{}", outcome.show());
    package.write("Cargo.toml", &manifest("gate"));
}

/// Two modules with the same session are two systems: each has its own verdict.
#[test]
fn equal_sessions_of_two_modules_have_their_own_verdicts() {
    let (_turn, package) = gate();
    // `c` hears two roles in any order, so its order is safe with some sessions of `a` only.
    package.write(
        "protocols/p.scr",
        "global protocol P(role c, role a, role b) {
            par { x() from a to c; } and { y() from b to c; k() from c to b; l() from b to a; }
        }",
    );
    let order = "#[session(C)] type Order = Receive<A, X, Receive<B, Y, Send<B, K, End>>>;";
    let early = "#[session(A)] type Early = Send<C, X, Receive<B, L, End>>;";
    let late = "#[session(A)] type Late = Receive<B, L, Send<C, X, End>>;";
    let module = |name, session| {
        format!("#[rumpsteak::protocol(P)]\npub mod {name} {{ {session} {order} }}\n")
    };
    package.write("src/lib.rs", &[module("one", early), module("two", late)].concat());
    let outcome = package.check(&[]);
    let error = outcome.error();
    assert_eq!((error.line, error.token.as_str()), (4, "Order"), "{}", outcome.show());
    error.says("unsafe order: `Order`").says("[V0412]");
}

#[test]
fn an_edit_of_the_protocol_alone_flips_the_verdict_both_ways() {
    let (_turn, package) = gate();
    const FILE: &str = "protocols/double_buffering.scr";
    package.check(&[]).passes();
    // The sink speaks first. The kernel asks the source before it knows, which is safe.
    let reordered = PROTOCOL.replacen(
        "    ready() from k to s;\n",
        "    ready() from t to k;\n    ready() from k to s;\n",
        1,
    );
    let reordered = reordered.replace(
        "k;\n    ready() from t to k;\n    value(i32) from k",
        "k;\n    value(i32) from k",
    );
    package.write(FILE, &reordered);
    package.check(&[]).passes();
    // Each value is acknowledged by a second message.
    package.edit(
        FILE,
        "value(i32) from s to k;",
        "value(i32) from s to k;\n    ready() from s to k;",
    );
    let outcome = package.check(&[]);
    assert_eq!(outcome.error().file, "src/lib.rs");
    // The file has an error.
    package.write(FILE, &PROTOCOL.replacen("value(i32) from", "value(i32) form", 1));
    let outcome = package.check(&[]);
    outcome
        .error()
        .is_at("src/lib.rs", "DoubleBuffering")
        .says("expected `from`, found `form` [S0104]")
        .says(" --> protocols/double_buffering.scr:4:")
        .says("4 |     value(i32) form s to k;");
    // The file is deleted, and another file without a module has an error.
    package
        .remove(FILE)
        .write("protocols/other.scr", "global protocol Other(role a, role b) { no }");
    let outcome = package.check(&[]);
    assert!(!outcome.success && outcome.errors().is_empty(), "{}", outcome.show());
    says(&outcome.stderr, "1 | global protocol Other(role a, role b) { no }");
    says(&outcome.stderr, "(exit status: 1)");
    package.remove("protocols/other.scr").write(FILE, PROTOCOL);
    package.check(&[]).passes();
    // A protocol that no module names.
    package
        .write("protocols/idle.scr", "global protocol Idle(role a, role b) { m() from a to b; }");
    let outcome = package.check(&[]);
    says(&outcome.passes().stderr, "protocols/idle.scr: no module is for the protocol `Idle`");
}

#[test]
fn a_machine_beside_the_protocol_decides_the_order_as_long_as_it_is_there() {
    let (_turn, package) = gate();
    const FILE: &str = "protocols/double_buffering.k.dot";
    let order = |states: &str| {
        format!(
            "#[rumpsteak::protocol(DoubleBuffering)]\npub mod double_buffering {{}}\n\
             use double_buffering::*;\nuse rumpsteak::states::Send;\n\
             pub fn order(session: KSession<'_>) -> {states} {{ session }}\n"
        )
    };
    let machine = order("Send<'_, K, S, Ready, KReadyLoop<'_, K>>");
    package.write("src/lib.rs", &machine);
    let outcome = package.check(&[]);
    assert!(!outcome.success, "{}", outcome.show());
    package.write(FILE, OPTIMISED);
    package.check(&[]).passes();
    package.write(
        FILE,
        &OPTIMISED
            .replace("0 -> 1 [label=\"s!ready\"];", "0 -> 1 [label=\"s?value(i32)\"];")
            .replace("2 -> 3 [label=\"s?value(i32)\"];", "2 -> 3 [label=\"s!ready\"];"),
    );
    let outcome = package.check(&[]);
    // The program does not fit the machine as it is now, either.
    let of_macros: Vec<_> = outcome.errors().into_iter().filter(|error| !error.has_code).collect();
    let [error] = of_macros[..] else { panic!("{}", outcome.show()) };
    error
        .is_at("src/lib.rs", "DoubleBuffering")
        .says(" --> protocols/double_buffering.k.dot:2:17")
        .says("2 |   0 -> 1 [label=\"s?value(i32)\"];")
        .says("the shortest run that gets stuck")
        .says("k waits for value(i32) from s");
    package.write(FILE, OPTIMISED);
    package.check(&[]).passes();
    package.remove(FILE);
    let outcome = package.check(&[]);
    assert!(!outcome.success, "{}", outcome.show());
    assert_eq!(outcome.errors()[0].file, "src/lib.rs");
}

/// Sets the time of a file to one before all that Cargo has done.
fn make_old(package: &Package, file: &str) {
    let file = File::options().append(true).open(package.path(file)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

/// The protocol in which the source sends without being asked.
fn unasked() -> String {
    PROTOCOL.replacen("    ready() from k to s;\n", "", 1)
}

#[test]
fn a_protocol_that_is_replaced_by_an_older_file_is_read() {
    let (_turn, package) = gate();
    package.check(&[]).passes();
    package.write("protocols/double_buffering.scr", &unasked());
    make_old(&package, "protocols/double_buffering.scr");
    // Cargo compiles the tests for the first time, with the verdicts of the first protocol.
    let outcome = package.check(&["--lib", "--profile", "test"]);
    assert!(!outcome.success, "{}", outcome.show());
    outcome.error().is_at("src/lib.rs", "Send");
}

#[test]
fn a_second_checkout_does_not_get_the_verdicts_of_the_first() {
    let package = Package::bare("checkouts");
    // The second one lies inside of the first, as worktrees may.
    for (folder, protocol) in [("a", PROTOCOL.to_owned()), ("a/b", unasked())] {
        let write = |file: &str, text: &str| {
            let file = format!("{folder}/{file}");
            package.write(&file, text);
            make_old(&package, &file);
        };
        write("Cargo.toml", &manifest("checkout"));
        write("Cargo.lock", &package.read("Cargo.lock"));
        write("build.rs", VERIFIES);
        write("protocols/double_buffering.scr", &protocol);
        write("src/lib.rs", MODULE);
    }
    let (first, second) =
        (["--manifest-path", "a/Cargo.toml"], ["--manifest-path", "a/b/Cargo.toml"]);
    package.check(&first).passes();
    // Cargo takes the library as it is there, and compiles its tests for the first time.
    let outcome = package.check(&[&second[..], &["--lib", "--profile", "test"]].concat());
    assert!(!outcome.success && !outcome.ran_script(), "{}", outcome.show());
    assert_eq!(outcome.error().token, "Send");
}

/// A verdict counts for the tokens and texts that it is about, and only as it was written.
#[test]
fn verdicts_that_were_changed_by_hand_do_not_count() {
    let (_turn, package) = gate();
    package.check(&[]).passes();
    let [(path, safe)] = &package.verdicts()[..] else { panic!("one verdict") };
    let touch = || package.write("src/lib.rs", &format!("{}\n", package.read("src/lib.rs")));
    // The build script has no reason to run, and the macro reads the file again.
    let again = |text: &str| {
        fs::write(path, text).unwrap();
        package.write("tests/again.rs", &format!("{MODULE}// {}\n", text.len()));
        let outcome = package.check(&["--test", "again"]);
        (outcome.success, outcome.show())
    };
    for text in ["", "{}", &safe.replace("AtMost(2)", "AtMost(1)"), &safe[..safe.len() / 2]] {
        assert_ne!(text, safe);
        let (success, shown) = again(text);
        assert!(success, "{shown}");
    }
    // The verdict on a safe module, under the name of an unsafe one.
    touch();
    package.check(&[]).passes();
    let out = package.out_dir();
    package.write("src/lib.rs", &refused());
    let outcome = package.check(&[]);
    assert_eq!(refusals(&outcome), ["src/lib.rs"]);
    assert!(out.exists());
}

#[test]
fn a_package_without_a_build_script_that_verifies_it_has_no_proof() {
    let (_turn, package) = gate();
    package.check(&[]).passes();
    // A build script that verifies nothing, beside the verdicts of the one before it.
    package.write("build.rs", "fn main() {}\n");
    let outcome = package.check(&[]);
    outcome.error().is_at("src/lib.rs", "DoubleBuffering").says(
        "`DoubleBuffering` was not verified: no build script has verified this package\n\n\
         help: write `rumpsteak_build::verify(\"protocols\")?;` in `main` of build.rs",
    );
    // A build script of another version.
    package.write(
        "build.rs",
        "fn main() { println!(\"cargo::rustc-env=RUMPSTEAK_VERIFIED=0.0.7\"); }\n",
    );
    let outcome = package.check(&[]);
    outcome.error().is_at("src/lib.rs", "DoubleBuffering").says(&format!(
        "the build script used rumpsteak-build 0.0.7, and this is {}\n\nhelp: use the same version",
        env!("CARGO_PKG_VERSION")
    ));
    package.remove("build.rs");
    let outcome = package.check(&[]);
    outcome.error().is_at("src/lib.rs", "DoubleBuffering").says("no build script has verified");
    // A folder that is not there.
    package.write("build.rs", &VERIFIES.replace("\"protocols\"", "\"protocol\""));
    let outcome = package.check(&[]);
    assert!(!outcome.success && outcome.errors().is_empty());
    says(&outcome.stderr, "cannot read the protocols in `protocol`");
    package.write("build.rs", VERIFIES);
    package.check(&[]).passes();
}

#[test]
fn new_files_are_noticed() {
    let (_turn, package) = gate();
    package.check(&[]).passes();
    package.write("src/bin/new.rs", &format!("mod later;\n{}fn main() {{}}\n", refused()));
    assert!(!package.check(&[]).success);
    package.write("src/bin/later/mod.rs", MODULE);
    let outcome = package.check(&[]);
    assert_eq!(refusals(&outcome), ["src/bin/new.rs"]);
    package.edit("src/bin/new.rs", UNSAFE, SAFE);
    assert!(package.check(&[]).ran_script());
}

#[test]
fn a_runtime_with_another_name_than_in_the_source_is_refused() {
    let (_turn, package) = gate();
    package.edit(
        "Cargo.toml",
        "rumpsteak = { package = \"rumpsteak-runtime\", ",
        "rumpsteak-runtime = { ",
    );
    let (_, _, said) = package.run("check", &[]);
    says(
        &said,
        "the source says `#[rumpsteak::…]`, and Cargo.toml calls the runtime `rumpsteak_runtime`",
    );
    let renames = "extern crate rumpsteak_runtime as rumpsteak;\n";
    package.write("src/lib.rs", &format!("{renames}{MODULE}")).check(&[]).passes();
}

/// The verdicts of a package do not depend on its place, nor on the run.
#[test]
fn equal_packages_have_equal_verdicts() {
    let (_turn, package) = gate();
    package.check(&[]).passes();
    let texts = || {
        let named = package.verdicts().into_iter();
        named.map(|(path, text)| (path.file_name().unwrap().to_owned(), text)).collect::<Vec<_>>()
    };
    let here = texts();
    assert!(here.iter().all(|(_, text)| !text.contains("whole-cargo")));
    package.write("src/other.rs", "");
    assert!(package.check(&[]).passes().ran_script());
    assert_eq!(texts(), here);
}
