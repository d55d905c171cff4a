//! `check` without files: a package.

use std::fs::File;
use std::time::SystemTime;

use crate::common::{DOUBLE_BUFFERING, Folder, begins, says};
use rumpsteak_build::command::PATH;
use serde_json::json;

/// `[workspace]`: the folder may lie below the root of this workspace.
const MANIFEST: &str =
    "[package]\nname = \"app\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
const BUILD: &str = "fn main() {}\n";
const SAFE: &str = "\
#[rumpsteak::protocol(DoubleBuffering)]
mod double_buffering {
    #[session(K)]
    struct Kernel(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
}
fn main() {}
";
const UNSAFE: &str = "\
#[rumpsteak::protocol(DoubleBuffering)]
mod double_buffering {
    #[session(K)]
    struct Kernel(Receive<S, Value, Send<S, Ready, Receive<T, Ready, Send<T, Value, Self>>>>);
}
fn main() {}
";

fn package(test: &str, source: &str) -> Folder {
    let folder = Folder::new(test)
        .with("Cargo.toml", MANIFEST)
        .with("build.rs", BUILD)
        .with("protocols/double_buffering.scr", DOUBLE_BUFFERING)
        .with("src/main.rs", source);
    built(folder, &["protocols"])
}

/// The folder after the build script has run and named these paths of protocols.
fn built(folder: Folder, paths: &[&str]) -> Folder {
    let out_dir = "target/debug/build/app-0123456789abcdef/out";
    folder.with(&format!("{out_dir}/{PATH}"), left(paths))
}

fn left(paths: &[&str]) -> String {
    format!("{}\napp\n.\n{}\n", env!("CARGO_PKG_VERSION"), paths.join("\n"))
}

#[test]
fn a_safe_package_is_counted() {
    let folder = package("package_safe", SAFE);
    folder.call("check").exits(0).says("").prints("3 of 3 sessions verified against 1 protocol\n");
    let object = folder.call("check --format json").exits(0).json();
    assert_eq!(
        object,
        json!({
            "verdict": "safe", "bound": null, "limit": null, "run": null, "reason": null,
            "protocols": 1, "sessions": 3, "verified": 3,
            "problems": [], "reports": [], "warnings": [],
        })
    );
}

#[test]
fn an_unsafe_session_is_shown_at_its_token() {
    let folder = package("package_unsafe", UNSAFE);
    // A module is refused as a whole.
    let run = folder.call("check").exits(1).prints("");
    begins(
        &run.stderr,
        "error[V0407]: unsafe reordering: `Kernel` receives `Value` from `S` before ",
    );
    says(&run.stderr, " --> src/main.rs:4:19\n");
    says(&run.stderr, "protocols/double_buffering.scr:3:5\n");
    says(&run.stderr, "no role can move");

    let object = folder.call("check --format json").exits(1).json();
    assert_eq!(object["verdict"], "unsafe");
    assert_eq!((&object["sessions"], &object["verified"]), (&json!(3), &json!(0)));
    let problem = &object["problems"][0];
    assert_eq!(
        (&problem["file_name"], &problem["line"], &problem["column"]),
        (&json!("src/main.rs"), &json!(4), &json!(19))
    );

    let lines = folder.call("check --format json-lines").exits(1).says("");
    let kinds: Vec<String> = lines
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(kinds, ["problem", "finished"]);
}

#[test]
fn colours_reach_the_drawings_of_the_library() {
    let folder = package("package_colours", UNSAFE);
    assert!(folder.call("check --color always").exits(1).stderr.contains('\u{1b}'));
    assert!(!folder.call("check").exits(1).stderr.contains('\u{1b}'));
}

#[test]
fn the_package_is_found_from_below() {
    let folder = package("package_below", SAFE).with("src/deep/note.txt", "");
    let output = crate::common::command()
        .args(["rumpsteak", "check"])
        .current_dir(folder.path().join("src/deep"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn the_build_script_says_where_the_protocols_are() {
    let folder =
        package("package_elsewhere", SAFE).with("spec/double_buffering.scr", DOUBLE_BUFFERING);
    let folder = built(folder, &["spec"]);
    std::fs::remove_dir_all(folder.path().join("protocols")).unwrap();
    folder.call("check").exits(0);
    let run = folder.call("check --protocols nowhere").exits(2).prints("");
    begins(&run.stderr, "error: the package has no protocols at `nowhere`\n");
}

#[test]
fn modules_of_all_features_are_checked() {
    let reordered = UNSAFE.replace("mod double_buffering", "mod reordered");
    let source = format!("{SAFE}#[cfg(feature = \"reordered\")]\n{reordered}");
    let run = package("package_features", &source).call("check").exits(1);
    run.prints("3 of 6 sessions verified against 1 protocol\n");
}

#[test]
fn an_error_in_a_protocol_is_shown_there() {
    let folder = package("package_syntax", SAFE).with(
        "protocols/double_buffering.scr",
        DOUBLE_BUFFERING.replace("from k to s", "form k to s"),
    );
    // Once, and without errors about the sessions that are not verified because of it.
    folder.call("check").exits(2).says(
        "error[S0104]: expected `from`, found `form`
 --> protocols/double_buffering.scr:3:13
  |
3 |     ready() form k to s;
  |             ^^^^ expected `from`

",
    );
    let object = folder.call("check --format json").exits(2).json();
    assert_eq!(object["problems"], json!([]));
    assert_eq!(object["reports"].as_array().unwrap().len(), 1);
    assert_eq!((&object["sessions"], &object["verified"]), (&json!(0), &json!(0)));
}

#[test]
fn without_a_package_it_says_what_to_do() {
    // A folder outside of every package.
    let folder = std::env::temp_dir().join(format!("cargo-rumpsteak-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    if folder.ancestors().any(|folder| folder.join("Cargo.toml").is_file()) {
        println!("skipped: the folder for temporary files is inside of a package");
        return;
    }
    for call in [vec!["check"], vec!["project", "--session", "K"]] {
        let mut command = crate::common::command();
        let output = command.args(call).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "error: there is no package here: no `Cargo.toml` in this folder or above it\n\
             help: go to the folder of a package, or name a `.scr` file\n\n"
        );
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_workspace_without_a_package_says_what_to_do() {
    let folder = Folder::new("package_workspace")
        .with("Cargo.toml", "[workspace]\nmembers = [\"app\"]\n")
        .with("protocols/x", "");
    folder.call("check").exits(2).prints("").says(
        "error: there is no package here: `Cargo.toml` is that of a workspace\n\
         help: go to the folder of a package, or name a `.scr` file\n\n",
    );
}

#[test]
fn options_for_packages_do_not_mix_with_files() {
    let folder = package("package_mixed_options", SAFE);
    folder.call("check protocols/double_buffering.scr --protocols protocols").exits(2);
}

#[test]
fn the_status_says_why_a_package_does_not_hold() {
    // Undecided: the proof meets the limit of the module.
    let early = SAFE
        .replace("struct Kernel(Send", "type Kernel = Send<S, Ready, Loop>;\n    struct Loop(Send");
    let limited = early.replace("(DoubleBuffering)", "(DoubleBuffering, limits(steps = 1))");
    let object = package("package_undecided", &limited).call("check --format json").exits(3).json();
    assert_eq!(object["verdict"], "undecided");
    package("package_decided", &early).call("check").exits(0);

    // It does not hold.
    package("package_fails", UNSAFE).call("check").exits(1);
    let misspelt = DOUBLE_BUFFERING.replace("ready() from t", "ready() from tt");
    package("package_names", SAFE)
        .with("protocols/double_buffering.scr", misspelt)
        .call("check")
        .exits(1);

    // It cannot be read.
    let garbled = DOUBLE_BUFFERING.replace("from t", "form t");
    let run = package("package_garbled", SAFE)
        .with("protocols/double_buffering.scr", garbled)
        .call("check")
        .exits(2)
        .prints("");
    says(&run.stderr, "error[S0104]: ");
}

#[test]
fn a_closed_system_that_the_attribute_accepts_is_accepted() {
    const SWAP: &str =
        "global protocol Swap(role a, role b) { x() from a to b; y() from b to a; }\n";
    const MAIN: &str = "\
#[rumpsteak::protocol(Swap)]
mod swap {
    #[session(A)]
    type Late = Receive<B, Y, Send<B, X, End>>;
    #[session(B)]
    type Early = Send<A, Y, Receive<A, X, End>>;
}
fn main() {}
";
    let folder = Folder::new("package_closed_system")
        .with("Cargo.toml", MANIFEST)
        .with("protocols/swap.scr", SWAP)
        .with("src/main.rs", MAIN);
    let folder = built(folder, &["protocols"]);
    folder.call("check").exits(1);
    let accepted = MAIN.replace("(Swap)", "(Swap, accept_closed_system)");
    folder.with("src/main.rs", accepted).call("check").exits(0).says("");
}

#[test]
fn the_latest_run_of_the_build_script_counts() {
    let folder = built(package("package_profiles", SAFE), &["protocols"]);
    let old = format!("target/release/build/app-0123456789abcdef/out/{PATH}");
    let folder = folder.with(&old, left(&["nowhere"]));
    let file = File::options().write(true).open(folder.path().join(&old));
    file.unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    folder.call("check").exits(0);
}

#[test]
fn a_package_without_protocols_is_checked_bottom_up() {
    const MAIN: &str = "\
#[rumpsteak::closed_system]
mod asking {
    #[session(A)]
    type Ask = Send<B, X, Receive<B, Y, End>>;
    #[session(B)]
    type Answer = Receive<A, X, Send<A, Y, End>>;
    struct X;
    struct Y;
}
fn main() {}
";
    let folder = Folder::new("package_bottom_up")
        .with("Cargo.toml", MANIFEST)
        .with("build.rs", BUILD)
        .with("src/main.rs", MAIN);
    let printed = "2 of 2 sessions verified against 0 protocols\n";
    // Before the build script has run, and after it was changed.
    folder.call("check").exits(0).prints(printed);
    let folder = built(folder, &[]);
    folder.call("check").exits(0).says("").prints(printed);
    // The limit of the call holds for modules that do not set it.
    folder.call("check --configurations 1").exits(3);
    let limits = "#[rumpsteak::closed_system(limits(configurations = 9))]";
    let folder = folder.with("src/main.rs", MAIN.replace("#[rumpsteak::closed_system]", limits));
    folder.call("check --configurations 1").exits(0);
    let wrong = MAIN.replace("Receive<A, X, Send<A, Y, End>>", "Receive<A, Y, Send<A, X, End>>");
    folder.with("src/main.rs", wrong).call("check").exits(1);
}

#[test]
fn a_build_script_that_has_not_run_or_changed_is_noted() {
    let folder = package("package_changed", SAFE);
    let script = File::options().write(true).open(folder.path().join("build.rs")).unwrap();
    let later = SystemTime::now() + std::time::Duration::from_secs(60);
    script.set_modified(later).unwrap();
    folder.call("check").exits(0).says(
        "note: the build script has changed since it ran, so its settings may be others\n\
         help: run `cargo check` first\n\n",
    );
    std::fs::remove_dir_all(folder.path().join("target")).unwrap();
    folder.call("check").exits(0).says(
        "note: the build script has not run yet, so its settings are not known\n\
         help: run `cargo check` first, or name the protocols with `--protocols`\n\n",
    );
}

/// The machine of `Kernel`, as a local type.
const KERNEL: &str = "k: rec x . s!ready; s?value<i32>; t?ready; t!value<i32>; x\n";

#[test]
fn the_machine_of_a_session_is_printed() {
    let folder = package("project_session", SAFE);
    let printed = |name: &str| {
        let line = format!("project --session {name} --format local");
        folder.call(&line).exits(0).says("").stdout
    };
    assert_eq!(printed("Kernel"), KERNEL);
    assert_eq!(printed("double_buffering::Kernel"), KERNEL);
    assert_eq!(printed("SSession"), "s: rec x . k?ready; k!value<i32>; x\n");
    for (form, part) in [("dot", "digraph k {"), ("mermaid", "stateDiagram-v2"), ("svg", "<svg ")] {
        says(&folder.call(&format!("project --session Kernel --format {form}")).stdout, part);
    }
    // CFSM text numbers the participants, so the sessions of the peers follow.
    let text = folder.call("project --session Kernel --format cfsm").exits(0).stdout;
    let machines = rumpsteak_fsm::text::parse(&text).unwrap();
    let states: Vec<_> = machines.iter().map(|of| (of.role().as_str(), of.len())).collect();
    assert_eq!(states, [("k", 4), ("s", 2), ("t", 2)]);
    let object = folder.call("project --session Kernel --format json").exits(0).json();
    assert_eq!(object["machines"][0]["role"], "k");
    assert_eq!(object["machines"][0]["states"], 4);
}

#[test]
fn a_session_that_is_not_there_is_told() {
    let folder = package("project_session_misspelt", SAFE);
    folder.call("project --session Kernal").exits(2).prints("").says(
        "error: the package has no session `Kernal`\n\
         help: did you mean `Kernel`?\n\n",
    );
    folder.call("project --session Sale").exits(2).prints("").says(
        "error: the package has no session `Sale`\n\
         help: the sessions are `Kernel`, `SSession` and `TSession`\n\n",
    );
    // A session belongs to a package, not to a file.
    folder.call("project protocols/double_buffering.scr --session Kernel").exits(2);
    folder.call("project --session Kernel --role k").exits(2);
}

#[test]
fn a_session_of_two_modules_is_named_with_its_module() {
    let other = SAFE.replace("mod double_buffering", "mod other");
    let folder = package("project_session_twice", &format!("{SAFE}{other}"));
    folder.call("project --session Kernel").exits(2).prints("").says(
        "error: the package has several sessions `Kernel`\n\
         help: say which one: `double_buffering::Kernel` or `other::Kernel`\n\n",
    );
    folder.call("project --session other::Kernel --format local").exits(0).prints(KERNEL);
}

#[test]
fn the_machine_of_a_refused_session_is_printed() {
    let folder = package("project_session_refused", UNSAFE);
    let run = folder.call("project --session Kernel --format local").exits(0);
    run.prints("k: rec x . s?value<i32>; s!ready; t?ready; t!value<i32>; x\n");
}
