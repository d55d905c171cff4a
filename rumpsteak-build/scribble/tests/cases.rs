//! Accepted and refused protocols, with what is expected of them, as Markdown.
//!
//! Each file in `tests/cases` has prose, protocols in ```` ```scribble ```` fences, and behind each of them what the crate says:
//! ```` ```errors ```` with every diagnostic, and ```` ```dot ```` with the machines of the roles that can be projected; the latter is left
//! out where it says nothing new. With `RUMPSTEAK_UPDATE=1` the expectations are rewritten, to be read in the diff.

use std::{collections::BTreeSet, env, fmt::Write, fs, path::Path};

use rumpsteak_fsm::dot;
use rumpsteak_scribble::{Code, Diagnostic, Span, check, parse};

/// `line:column` and the text of a span, on one line.
fn place(source: &str, span: Span) -> String {
    let before = &source[..span.start()];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    let text: String = source[span.range()]
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    format!("{line}:{column} `{text}`")
}

fn show(source: &str, diagnostic: &Diagnostic) -> String {
    let Diagnostic {
        code,
        message,
        primary,
        label,
        secondary,
        help,
    } = diagnostic;
    let mut text = format!(
        "{code}: {message}\n  {}: {label}\n",
        place(source, *primary)
    );
    for (span, label) in secondary {
        writeln!(text, "  {}: {label}", place(source, *span)).unwrap();
    }
    if let Some(help) = help {
        writeln!(text, "  help: {help}").unwrap();
    }
    text
}

struct Outcome {
    errors: String,
    machines: String,
    codes: BTreeSet<Code>,
}

fn run(source: &str) -> Outcome {
    let parsed = parse(source);
    let checked = check(&parsed.module);
    let mut machines = String::new();
    let mut diagnostics = [parsed.diagnostics, checked.diagnostics].concat();
    for protocol in &checked.protocols {
        for role in protocol.roles() {
            match protocol.project(role) {
                Ok(projection) => {
                    machines += &dot::print(&projection.fsm);
                    if let Err(defect) = projection.fsm.check_directed() {
                        writeln!(machines, "// {defect}").unwrap();
                    }
                }
                Err(found) => diagnostics.extend(found),
            }
        }
    }
    Outcome {
        errors: diagnostics
            .iter()
            .map(|diagnostic| show(source, diagnostic))
            .collect(),
        machines,
        codes: diagnostics
            .iter()
            .map(|diagnostic| diagnostic.code)
            .collect(),
    }
}

/// One file: what it says about its protocols must be what happens.
fn check_file(path: &Path, codes: &mut BTreeSet<Code>) {
    let text = fs::read_to_string(path).unwrap();
    let mut actual = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        actual += line;
        actual += "\n";
        if line != "```scribble" {
            continue;
        }
        let mut source = String::new();
        for line in lines.by_ref().take_while(|&line| line != "```") {
            source += line;
            source += "\n";
        }
        let mut shows_machines = false;
        // The old expectations, in whatever order.
        while let Some(kind @ ("```errors" | "```dot")) = lines.peek().copied() {
            shows_machines |= kind == "```dot";
            lines
                .by_ref()
                .take_while(|&line| line != "```")
                .for_each(drop);
        }
        let outcome = run(&source);
        codes.extend(outcome.codes);
        actual += &source;
        actual += "```\n";
        if !outcome.errors.is_empty() {
            write!(actual, "```errors\n{}```\n", outcome.errors).unwrap();
        }
        if shows_machines || outcome.errors.is_empty() {
            write!(actual, "```dot\n{}```\n", outcome.machines).unwrap();
        }
    }
    if env::var_os("RUMPSTEAK_UPDATE").is_some() {
        fs::write(path, &actual).unwrap();
    } else {
        assert_eq!(actual, text, "{}", path.display());
    }
}

#[test]
fn every_protocol_is_judged_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut codes = BTreeSet::new();
    for path in paths {
        check_file(&path, &mut codes);
    }

    // These need huge inputs or special calls, and have tests of their own.
    let elsewhere = [
        Code::TextTooLong,
        Code::TooLarge,
        Code::ProjectionTooLarge,
        Code::NoSuchRole,
    ];
    let missing: Vec<_> = Code::ALL
        .iter()
        .filter(|code| !codes.contains(code) && !elsewhere.contains(code))
        .collect();
    assert_eq!(missing, Vec::<&Code>::new(), "codes without an example");
}
