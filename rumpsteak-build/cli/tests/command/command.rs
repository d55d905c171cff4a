//! The command as a whole: how it is called, what it reads, where it writes.

use std::io::Read;
use std::process::Stdio;

use crate::common::{Folder, begins, command, says};

const MACHINE: &str =
    "digraph k {\n  0 -> 1 [label=\"s!ready\"];\n  1 -> 0 [label=\"s?value(i32)\"];\n}\n";
const MIXED: &str =
    "digraph k {\n  0 -> 1 [label=\"s!ready\"];\n  0 -> 1 [label=\"s?value(i32)\"];\n}\n";

#[test]
fn a_call_without_a_verb_shows_the_help_and_is_bad() {
    let run = Folder::new("no_verb").call("").exits(2);
    says(&run.stderr, "Usage: cargo rumpsteak");
    assert_eq!(run.stdout, "");
}

#[test]
fn help_and_version_are_answers() {
    let folder = Folder::new("help");
    let help = folder.call("--help").exits(0);
    for word in ["subtype", "Exit status: 0 it holds, 1 it does not hold"] {
        says(&help.stdout, word);
    }
    let version = folder.call("--version").exits(0);
    assert_eq!(version.stdout, format!("cargo-rumpsteak {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn what_is_no_text_file_is_refused() {
    let folder = Folder::new("no_text_file")
        .with("good.dot", MACHINE)
        .with("empty.dot", "")
        .with("blank.dot", "\u{feff} \r\n\t")
        .with("garbage.dot", [b'd', 0xff, 0x00, 0x80])
        .with("folder/x", "");
    for (file, message) in [
        ("empty.dot", "`empty.dot` is empty"),
        ("blank.dot", "`blank.dot` is empty"),
        ("garbage.dot", "`garbage.dot` is not text: byte 1 is not UTF-8"),
        ("folder", "`folder` is a folder"),
    ] {
        for pair in [[file, "good.dot"], ["good.dot", file]] {
            let run = folder.run(["subtype", pair[0], pair[1]]).exits(2);
            let expected = format!("error: {message}\nhelp: ");
            begins(&run.stderr, &expected);
            assert_eq!(run.stdout, "");
        }
    }
}

#[cfg(unix)]
#[test]
fn an_endless_device_is_refused() {
    let folder = Folder::new("endless").with("good.dot", MACHINE);
    let run = folder.call("subtype /dev/zero good.dot").exits(2);
    begins(&run.stderr, "error: `/dev/zero` is longer than 64 MiB\n");
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new("unreadable").with("secret.dot", MACHINE);
    let path = folder.path().join("secret.dot");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        println!("skipped: this user may read everything");
        return;
    }
    let run = folder.call("subtype secret.dot secret.dot").exits(2);
    begins(&run.stderr, "error: cannot read `secret.dot`: ");
}

#[test]
fn names_cannot_speak_to_the_terminal() {
    let hostile =
        "digraph \"\u{1b}[31mk\u{202e}\" { 0 -> 1 [label=\"s!a\"]; 0 -> 0 [label=\"s!a\"]; }";
    let folder = Folder::new("hostile").with("hostile.dot", hostile);
    let run = folder.call("subtype hostile.dot hostile.dot").exits(2);
    assert!(!run.stderr.contains('\u{1b}') && !run.stderr.contains('\u{202e}'), "{run:?}");
    says(&run.stderr, "\\u{1b}[31mk\\u{202e}");
}

#[test]
fn colours_follow_the_option_and_the_environment() {
    let folder = Folder::new("colours");
    let coloured = |arguments: &[&str], environment: &[(&str, &str)]| {
        let mut command = command();
        command.arg("subtype").args(["x", "y"]).args(arguments).current_dir(folder.path());
        let output = command.envs(environment.iter().copied()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        output.stderr.contains(&0x1b)
    };
    assert!(!coloured(&[], &[]), "no terminal");
    assert!(coloured(&["--color", "always"], &[]));
    assert!(coloured(&["--color=always"], &[("NO_COLOR", "1")]), "the option wins");
    assert!(coloured(&[], &[("CARGO_TERM_COLOR", "always")]));
    assert!(!coloured(&[], &[("CARGO_TERM_COLOR", "always"), ("NO_COLOR", "1")]));
    assert!(coloured(&[], &[("CARGO_TERM_COLOR", "always"), ("NO_COLOR", "")]), "empty is unset");
    assert!(!coloured(&["--color=never"], &[("CARGO_TERM_COLOR", "always")]));
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let folder = Folder::new("closed_pipe").with("a.dot", MACHINE).with("mixed.dot", MIXED);
    for (arguments, status) in [
        (vec!["subtype", "a.dot", "a.dot"], 0),
        (vec!["subtype", "a.dot", "a.dot", "--format=json"], 0),
        (vec!["subtype", "a.dot", "mixed.dot", "--format=json"], 2),
        (vec!["--help"], 0),
        (vec!["subtype"], 2),
    ] {
        let start = || {
            let mut command = command();
            command.args(&arguments).current_dir(folder.path()).stdin(Stdio::null());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let mut child = start();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");

        // The pipe is closed before anything is read.
        let mut child = start();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(status), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let folder = Folder::new("full_disk").with("a.dot", MACHINE);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command()
        .args(["subtype", "a.dot", "a.dot"])
        .current_dir(folder.path())
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    begins(&String::from_utf8(output.stderr).unwrap(), "error: cannot write the result: ");
}
