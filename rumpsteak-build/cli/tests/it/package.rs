//! `check` without files: a package.

use std::fs::File;
use std::time::SystemTime;

use crate::common::{DOUBLE_BUFFERING, Folder, ROLES, begins, ends, says};
use rumpsteak_build::command::PATH;
use rumpsteak_build::{Configuration, Limits, configure};
use serde_json::json;

/// `[workspace]`: the folder may lie below the root of this workspace.
const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[features]\nreordered = []\n\n[workspace]\n";
const BUILD: &str = "fn main() {}\n";
const OTHERS: &str = "\
#[session(S)]
struct Source(Receive<K, Ready, Send<K, Value, Self>>);

#[session(T)]
struct Sink(Send<K, Ready, Receive<K, Value, Self>>);

";
const SAFE: &str = "\
#[session(K)]
struct Kernel(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
";
const UNSAFE: &str = "\
#[session(K)]
struct Kernel(Receive<S, Value, Send<S, Ready, Receive<T, Ready, Send<T, Value, Self>>>>);
";

fn package(test: &str, kernel: &str) -> Folder {
    let folder = Folder::new(test)
        .with("Cargo.toml", MANIFEST)
        .with("build.rs", BUILD)
        .with("protocols/double_buffering.scr", DOUBLE_BUFFERING)
        .with("src/main.rs", format!("{ROLES}{OTHERS}{kernel}\nfn main() {{}}\n"));
    built(folder, &configure().protocols("protocols"))
}

/// The folder after the build script has run with this configuration.
fn built(folder: Folder, configuration: &Configuration) -> Folder {
    let out_dir = "target/debug/build/app-0123456789abcdef/out";
    folder.with(&format!("{out_dir}/{PATH}"), configuration.print())
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
    let run = folder.call("check").exits(1).prints("2 of 3 sessions verified against 1 protocol\n");
    begins(
        &run.stderr,
        "error[V0407]: unsafe reordering: `Kernel` receives `Value` from `S` before ",
    );
    let line = [ROLES, OTHERS].concat().lines().count() + 2;
    says(&run.stderr, &format!(" --> src/main.rs:{line}:15\n"));
    says(&run.stderr, "protocols/double_buffering.scr:3:5\n");
    says(&run.stderr, "nobody can move");

    let object = folder.call("check --format json").exits(1).json();
    assert_eq!(object["verdict"], "unsafe");
    assert_eq!((&object["sessions"], &object["verified"]), (&json!(3), &json!(2)));
    let problem = &object["problems"][0];
    assert_eq!(
        (&problem["file_name"], &problem["line"], &problem["column"]),
        (&json!("src/main.rs"), &json!(line), &json!(15))
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
    let folder = built(folder, &configure().protocols("spec"));
    std::fs::remove_dir_all(folder.path().join("protocols")).unwrap();
    folder.call("check").exits(0);
    let run = folder.call("check --protocols nowhere").exits(2).prints("");
    begins(&run.stderr, "error: the package has no protocols at `nowhere`\n");
}

#[test]
fn features_decide_what_is_there() {
    let safe = SAFE.replace("#[session(K)]", "#[cfg(not(feature = \"reordered\"))]\n#[session(K)]");
    let reordered =
        UNSAFE.replace("#[session(K)]", "#[cfg(feature = \"reordered\")]\n#[session(K)]");
    let folder = package("package_features", &format!("{safe}{reordered}"));
    folder.call("check").exits(0);
    folder.call("check --features reordered").exits(1);
}

#[test]
fn an_error_in_a_protocol_is_shown_there() {
    let folder = package("package_syntax", SAFE).with(
        "protocols/double_buffering.scr",
        DOUBLE_BUFFERING.replace("from k to s", "form k to s"),
    );
    // Once, and nothing of the sessions that are not verified for it.
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
    assert_eq!((&object["sessions"], &object["verified"]), (&json!(3), &json!(0)));
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
    let output = crate::common::command().arg("check").current_dir(&folder).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: there is no package here: no `Cargo.toml` in this folder or above it\n\
         help: go to a package, or name the `.scr` files to check\n\n"
    );
}

#[test]
fn a_workspace_without_a_package_says_what_to_do() {
    let folder = Folder::new("package_workspace")
        .with("Cargo.toml", "[workspace]\nmembers = [\"app\"]\n")
        .with("protocols/x", "");
    let run = folder.call("check").exits(2).prints("");
    ends(&run.stderr, "help: go to the folder of a package, or name the `.scr` files to check\n\n");
}

#[test]
fn options_for_packages_do_not_mix_with_files() {
    let folder = package("package_mixed_options", SAFE);
    folder.call("check protocols/double_buffering.scr --features x").exits(2);
    folder.call("check protocols/double_buffering.scr --protocols protocols").exits(2);
}

#[test]
fn the_status_says_why_a_package_does_not_hold() {
    // Undecided: the proof meets the limit of the build script.
    let limited = configure().protocols("protocols").limits(Limits::default().steps(1));
    let early = "#[session(K)]
type Kernel = Send<S, Ready, Loop>;
#[session]
struct Loop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
";
    let folder = built(package("package_undecided", early), &limited);
    let object = folder.call("check --format json").exits(3).json();
    assert_eq!(object["verdict"], "undecided");
    package("package_decided", early).call("check").exits(0);

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
fn sources_of_the_build_script_are_checked() {
    let folder = package("package_sources", SAFE)
        .with("fixtures/other.rs", format!("{ROLES}{OTHERS}{UNSAFE}"));
    let sources = configure().protocols("protocols").sources(["fixtures/other.rs"]);
    let folder = built(folder, &sources);
    let run = folder.call("check").exits(1).prints("5 of 6 sessions verified against 1 protocol\n");
    says(&run.stderr, " --> fixtures/other.rs:");
}

#[test]
fn a_closed_system_that_the_build_script_accepts_is_accepted() {
    const SWAP: &str =
        "global protocol Swap(role a, role b) { x() from a to b; y() from b to a; }\n";
    const MAIN: &str = "\
#[derive(Roles)] struct Roles { a: A, b: B }
#[derive(Role)] #[protocol(Swap::a)] #[message(Label)] struct A { #[route(B)] b: Channel<Label> }
#[derive(Role)] #[protocol(Swap::b)] #[message(Label)] struct B { #[route(A)] a: Channel<Label> }
#[derive(Message)] enum Label { X(X), Y(Y) }
struct X;
struct Y;
#[session(A)] type Late = Receive<B, Y, Send<B, X, End>>;
#[session(B)] type Early = Send<A, Y, Receive<A, X, End>>;
fn main() {}
";
    let folder = Folder::new("package_closed_system")
        .with("Cargo.toml", MANIFEST)
        .with("protocols/swap.scr", SWAP)
        .with("src/main.rs", MAIN);
    let configuration = configure().protocols("protocols");
    let folder = built(folder, &configuration);
    folder.call("check").exits(1);
    let accepted = configuration.accept_closed_system("Swap");
    let folder = built(folder, &accepted);
    folder.call("check").exits(0).says("");
    // Another profile was built before.
    let old = "target/release/build/app-0123456789abcdef/out";
    let old = format!("{old}/{PATH}");
    let folder = folder.with(&old, configure().protocols("protocols").print());
    let before = SystemTime::UNIX_EPOCH;
    let file = File::options().write(true).open(folder.path().join(&old));
    file.unwrap().set_modified(before).unwrap();
    folder.call("check").exits(0);
}

#[test]
fn a_package_without_protocols_is_checked_bottom_up() {
    const MAIN: &str = "\
#[derive(Roles)] #[closed_system] struct Roles { a: A, b: B }
#[derive(Role)] #[message(Label)] struct A { #[route(B)] b: Channel<Label> }
#[derive(Role)] #[message(Label)] struct B { #[route(A)] a: Channel<Label> }
#[derive(Message)] enum Label { X(X), Y(Y) }
struct X;
struct Y;
#[session(A)] type Ask = Send<B, X, Receive<B, Y, End>>;
#[session(B)] type Answer = Receive<A, X, Send<A, Y, End>>;
fn main() {}
";
    let folder = Folder::new("package_bottom_up")
        .with("Cargo.toml", MANIFEST)
        .with("build.rs", BUILD)
        .with("src/main.rs", MAIN);
    let printed = "2 of 2 sessions verified against 0 protocols\n";
    // Before the build script has run, and behind it.
    folder.call("check").exits(0).prints(printed);
    let folder = built(folder, &configure());
    folder.call("check").exits(0).says("").prints(printed);
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
    // It may generate.
    let top_down = "rumpsteak_runtime::protocol!(DoubleBuffering);\nfn main() {}\n";
    let folder = folder.with("src/main.rs", top_down);
    folder.call("check").exits(0).prints("3 of 3 sessions verified against 1 protocol\n");
}
