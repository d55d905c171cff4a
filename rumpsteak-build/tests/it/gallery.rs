//! Every error as printed: Scribble errors in `scribble/GALLERY.md`, session errors in
//! `GALLERY.md`.
//!
//! The examples come from the explanations. `UPDATE_EXPECT=1` rewrites the galleries, to be read in
//! the diff; otherwise they must be up to date.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::{check, explained, package, says};
use rumpsteak_build::command::explanations;
use rumpsteak_build::{Limits, configure};
use rumpsteak_scribble::Code;

fn introduction(title: &str, refused: &str) -> String {
    format!(
        "\
# {title}

Every code with its explanation, {refused} that is refused and what is printed for it. This is
also what `cargo rumpsteak explain CODE` knows. The page is written by the test `gallery` of
`rumpsteak-build`, when `UPDATE_EXPECT` is set; the test fails when the page is stale.
"
    )
}

/// Terminals are this wide.
const COLUMNS: usize = 80;

/// Files that are not in an explanation, since they are several or would not be read: the first is
/// the one that is refused.
fn files(code: Code) -> Vec<(&'static str, String)> {
    match code {
        Code::OtherModule => vec![
            (
                "orders.scr",
                "import base;\nglobal protocol Orders(role A, role B) {\n    do base.Ping(A, B);\n}\n"
                    .to_owned(),
            ),
            (
                "base.scr",
                "module bass;\naux global protocol Ping(role A, role B) { ping() from A to B; }\n"
                    .to_owned(),
            ),
        ],
        Code::TooLarge => {
            let mut text =
                "global protocol P(role A, role B) { do P0(A, B); }\n".to_owned();
            for level in 0..18 {
                let next = level + 1;
                let _ = writeln!(
                    text,
                    "aux global protocol P{level}(role A, role B) {{ do P{next}(A, B); do P{next}(A, B); }}"
                );
            }
            text += "aux global protocol P18(role A, role B) { m() from A to B; }\n";
            vec![("example.scr", text)]
        }
        // C sees `a` and `b` only, and must remember the last 18 of them: each may have been the
        // one behind `last`.
        Code::ProjectionTooLarge => {
            let mut text = "\
global protocol P(role A, role B, role C) {
    rec X {
        choice at A { more() from A to B; a() from A to C; continue X; }
        or { less() from A to B; b() from A to C; continue X; }
        or { last() from A to B; a() from A to C; }
    }
"
            .to_owned();
            for _ in 0..18 {
                text += "    do Bit(A, B, C);\n";
            }
            text += "    end() from A to C;
}
aux global protocol Bit(role A, role B, role C) {
    choice at A { one() from A to B; a() from A to C; }
    or { two() from A to B; b() from A to C; }
}
";
            vec![("example.scr", text)]
        }
        _ => vec![],
    }
}

/// The same, where the files are too long for a page: what they are, and they.
fn described(code: Code) -> Option<(&'static str, Vec<(&'static str, String)>)> {
    let text = match code {
        Code::TextTooLong => " ".repeat((64 << 20) + 1),
        _ => return None,
    };
    Some(("`example.scr` has 64 MiB and one byte.", vec![("example.scr", text)]))
}

/// The path of an example: the name of a module must match its path.
fn place(text: &str) -> &'static str {
    if text.starts_with("module shop.Base;") { "shop/Base.scr" } else { "example.scr" }
}

/// Prints the errors of the first file, in a package that contains only these files.
fn print(code: Code, files: &[(&str, String)]) -> String {
    let mut all = vec![("src/lib.rs", "")];
    all.extend(files.iter().map(|(file, text)| (*file, text.as_str())));
    let folder = package(&format!("gallery/{code}"), &all);
    let check = configure().protocols(files[0].0).check(&folder, &Limits::default());
    let reports: Vec<String> = check.reports.iter().map(ToString::to_string).collect();
    // Of a warning the build prints one line, without the code.
    if [Code::UnknownAnnotation, Code::UnknownDependency, Code::DoneOnce].contains(&code) {
        assert_eq!(reports, [""; 0]);
        let mut warnings = check.warnings.iter();
        let warning = warnings.find(|it| it.contains("depend") || it.contains("done once"));
        return format!("warning: {}", warning.unwrap());
    }
    let printed = reports.join("\n\n");
    let printed = printed.replace(&shown(&folder), "");
    says(&printed, &format!("error[{code}]: "));
    assert!(!printed.contains('\u{1b}'), "{printed}");
    printed
}

/// A folder as it is printed: the target folder may be anywhere.
fn shown(folder: &Path) -> String {
    folder.to_string_lossy().into_owned() + "/"
}

/// The explanation in two: up to and with the protocol that is refused, and the rest; and that
/// protocol.
fn split(explanation: &str) -> (&str, &str, Option<&str>) {
    const OPEN: &str = "```scribble\n";
    const CLOSE: &str = "```\n";
    let refused = explanation.find("Refused:").and_then(|heading| {
        let start = heading + explanation[heading..].find(OPEN)? + OPEN.len();
        let end = start + explanation[start..].find(CLOSE)?;
        Some((start, end))
    });
    match refused {
        Some((start, end)) => {
            let (before, after) = explanation.split_at(end + CLOSE.len());
            (before, after, Some(&explanation[start..end]))
        }
        None => (explanation, "", None),
    }
}

#[test]
fn the_gallery_shows_what_is_printed() {
    let mut gallery = introduction("Errors of Scribble files", "a file");
    let mut wide = Vec::new();
    for &code in Code::ALL {
        let (before, after, example) = split(code.explanation());
        let _ = write!(gallery, "\n## {code}\n\n{before}");
        let files = match example {
            Some(text) => vec![(place(text), text.to_owned())],
            None => files(code),
        };
        if example.is_none() {
            for (name, text) in &files {
                let _ = write!(gallery, "\n`{name}`:\n\n```scribble\n{text}```\n");
            }
        }
        let files = match described(code) {
            Some((description, files)) => {
                let _ = write!(gallery, "\n{description}\n");
                files
            }
            None => files,
        };
        if files.is_empty() {
            // A question instead of a file. Its answer is in the explanation, where a test of the
            // command compares it.
            assert_eq!(code, Code::NoSuchRole);
            continue;
        }
        let printed = print(code, &files);
        let too_wide = printed.lines().filter(|line| line.chars().count() > COLUMNS);
        wide.extend(too_wide.map(|line| format!("{code}: {line}")));
        let _ = write!(gallery, "\nPrinted:\n\n```text\n{printed}\n```\n{after}");
    }
    assert_eq!(wide, Vec::<String>::new());
    expect_test::expect_file!["../../scribble/GALLERY.md"].assert_eq(&gallery);
}

#[test]
fn the_gallery_of_sessions_shows_what_is_printed() {
    let (mut gallery, mut wrong) = (introduction("Errors of sessions", "a program"), Vec::new());
    for (code, text) in explanations().filter(|(code, _)| code.starts_with('V')) {
        for line in text.lines() {
            assert!(line.chars().count() <= 96, "{code}: {line}");
        }
        let [refused, accepted] = explained(text);
        let check = |name: &str, files: &[(&str, &str)]| {
            let folder = package(&format!("gallery/{code}/{name}/example"), files);
            (check(&folder), folder)
        };
        let (found, folder) = check("refused", &refused);
        let mut codes: Vec<&str> = found.problems.iter().filter_map(|found| found.code).collect();
        codes.dedup();
        let (holds, _) = check("accepted", &accepted);
        if codes != [code] || !holds.holds() {
            wrong.push((code, codes, holds));
        }

        let (before, after) = text.split_once("\nAccepted:").unwrap();
        let printed: Vec<&str> = found.problems.iter().map(|found| found.render(false)).collect();
        let printed = printed.join("\n\n").replace(&shown(&folder), "");
        let _ = write!(
            gallery,
            "\n## {code}\n\n{before}\nPrinted:\n\n```text\n{printed}\n```\n\nAccepted:{after}"
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    expect_test::expect_file!["../../GALLERY.md"].assert_eq(&gallery);
}
