//! Accepted and refused protocols with their expected results, as Markdown.
//!
//! Each file in `tests/cases` has prose, and protocols in ```` ```scribble ```` fences, after their
//! imports in ```` ```module NAME ```` fences. Behind each protocol, ```` ```errors ```` has all
//! diagnostics, and ```` ```dot ```` the machines of the roles that can be projected. The latter
//! may be left out if there are errors. `UPDATE_EXPECT=1` rewrites the expectations: read the diff.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

mod replay;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use rumpsteak_fsm::dot;
use rumpsteak_scribble::{Code, Diagnostic, Limits, Modules, Span};

/// The root first, under an empty name.
type Texts = [(String, String)];

/// `line:column` and the text of a span, on one line; in an imported module with its name before.
fn place(texts: &Texts, span: Span) -> String {
    let (name, source) = &texts[span.source().index()];
    let before = &source[..span.start()];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    let text: Vec<_> = source[span.range()].split_whitespace().collect();
    let separator = if name.is_empty() { "" } else { ":" };
    format!("{name}{separator}{line}:{column} `{}`", text.join(" "))
}

fn show(texts: &Texts, diagnostic: &Diagnostic) -> String {
    replay::assert_possible(diagnostic, &texts[diagnostic.primary.source().index()].1);
    let Diagnostic { code, message, primary, label, secondary, notes, help, .. } = diagnostic;
    // Together with `error[S0123]: ` and `  = help: `, they must fit into 80 columns.
    for (text, width) in [(Some(message), 66), (help.as_ref(), 70)] {
        let width_of_text = text.map_or(0, |text| text.chars().count());
        assert!(width_of_text <= width, "{width_of_text} columns: {text:?}");
    }
    for line in notes.iter().flat_map(|note| note.lines()) {
        assert!(line.chars().count() <= 70, "{line}");
    }
    let place = |span| place(texts, span);
    let mut text = format!("{code}: {message}\n  {}: {label}\n", place(*primary));
    for (span, label) in secondary {
        writeln!(text, "  {}: {label}", place(*span)).unwrap();
    }
    for note in notes {
        writeln!(text, "  note: {}", note.replace('\n', "\n  ")).unwrap();
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

fn run(texts: &Texts) -> Outcome {
    // In the order in which they are loaded.
    let mut loaded = vec![texts[0].clone()];
    let (modules, mut diagnostics) = Modules::load(&texts[0].1, |name| {
        let text = texts.iter().find(|text| text.0 == name)?;
        loaded.push(text.clone());
        Some(text.1.clone())
    });
    let checked = modules.check(&Limits::default());
    let mut machines = String::new();
    diagnostics.extend(checked.diagnostics);
    let mut seen = diagnostics.clone();
    for protocol in &checked.protocols {
        for role in protocol.roles() {
            match protocol.project(role) {
                Ok(projection) => {
                    machines += &dot::print(&projection.fsm);
                    if let Err(defect) = projection.fsm.check_directed() {
                        writeln!(machines, "// {defect}").unwrap();
                    }
                }
                // With blocks, all roles have the same errors.
                Err(found) => {
                    diagnostics.extend(found.into_iter().filter(|new| !seen.contains(new)));
                    seen.clone_from(&diagnostics);
                }
            }
        }
    }
    Outcome {
        errors: diagnostics.iter().map(|diagnostic| show(&loaded, diagnostic)).collect(),
        machines,
        codes: diagnostics.iter().map(|diagnostic| diagnostic.code).collect(),
    }
}

fn check_file(path: &Path, codes: &mut BTreeSet<Code>) {
    let text = fs::read_to_string(path).unwrap();
    let mut actual = String::new();
    let mut imports = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        actual += line;
        actual += "\n";
        let import = line.strip_prefix("```module ");
        if line != "```scribble" && import.is_none() {
            continue;
        }
        let mut source = String::new();
        for line in lines.by_ref().take_while(|&line| line != "```") {
            source += line;
            source += "\n";
        }
        actual += &source;
        actual += "```\n";
        if let Some(name) = import {
            imports.push((name.to_owned(), source));
            continue;
        }
        let mut texts = vec![(String::new(), source)];
        texts.append(&mut imports);
        let mut shows_machines = false;
        // The old expectations, in any order.
        while let Some(kind @ ("```errors" | "```dot")) = lines.peek().copied() {
            shows_machines |= kind == "```dot";
            lines.by_ref().take_while(|&line| line != "```").for_each(drop);
        }
        let outcome = run(&texts);
        codes.extend(outcome.codes);
        if !outcome.errors.is_empty() {
            write!(actual, "```errors\n{}```\n", outcome.errors).unwrap();
        }
        if shows_machines || outcome.errors.is_empty() {
            write!(actual, "```dot\n{}```\n", outcome.machines).unwrap();
        }
    }
    expect_test::expect_file![path].assert_eq(&actual);
}

#[test]
fn every_protocol_is_judged_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut codes = BTreeSet::new();
    for path in paths {
        check_file(&path, &mut codes);
    }

    // These need huge inputs or special calls, and have tests of their own.
    let elsewhere = [Code::TextTooLong, Code::TooLarge, Code::ProjectionTooLarge, Code::NoSuchRole];
    let missing: Vec<_> = Code::ALL
        .iter()
        .filter(|code| !codes.contains(code) && !elsewhere.contains(code))
        .collect();
    assert_eq!(missing, Vec::<&Code>::new(), "codes without an example");
}
