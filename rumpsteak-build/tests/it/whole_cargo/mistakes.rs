//! The mistakes in `mistakes.md`: what each costs its user to read.
//!
//! Two packages, each with a target folder: each mistake is an edit, a check, and the edit taken
//! back.
//! The figures are those of the compiler of `rust-toolchain.toml`; with another one,
//! `RUMPSTEAK_UI=skip` leaves this out.

use std::fmt::Write as _;
use std::fs;
use std::thread;

use super::harness::{Package, workspace};
use super::readme::example;

/// No mistake may cost more errors or lines than this.
const MOST: (usize, usize) = (3, 80);
/// The same of one in two.
const MEDIAN: (usize, usize) = (1, 45);

/// What Cargo prints.
struct Cost {
    errors: usize,
    lines: usize,
    /// The first line of each error, and the first of each advice below it.
    headlines: Vec<String>,
}

impl Cost {
    fn of(printed: &str) -> Self {
        let told = printed.lines().filter(|line| !line.starts_with("error: could not compile"));
        let headlines = told.filter_map(|line| {
            let advice = line.trim_start().trim_start_matches("= ");
            let is_headline = line.starts_with("error") || line.starts_with("warning: mistakes");
            match () {
                () if is_headline => Some(line.to_owned()),
                () if advice.starts_with("help: ") => Some(format!("  {advice}")),
                () => None,
            }
        });
        let headlines: Vec<String> = headlines.collect();
        let errors = headlines.iter().filter(|line| line.starts_with("error")).count();
        Self { errors, lines: lines(printed), headlines }
    }

    fn show(&self) -> String {
        let Self { errors, lines, headlines } = self;
        format!("errors: {errors}, lines: {lines}\n{}", headlines.join("\n"))
    }
}

/// How many lines everybody sees: rustc quotes its own library only where `rust-src` is installed.
fn lines(printed: &str) -> usize {
    let mut is_library = false;
    let everywhere = printed.lines().filter(|line| {
        let is_quote =
            line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit()).starts_with('|');
        is_library = line.contains("/rustlib/src/rust/library/") || is_library && is_quote;
        !(is_library && is_quote)
    });
    everywhere.count()
}

/// The edits of a mistake: the file, what stands there once, and what takes its place.
fn edits(mistake: &str) -> Vec<(String, String, String)> {
    let mut edits: Vec<(String, String, String)> = Vec::new();
    for block in mistake.split("```diff ").skip(1) {
        let (file, rest) = block.split_once('\n').unwrap();
        let body = rest.split("```").next().unwrap();
        let mut after_plus = true;
        for line in body.lines() {
            let (sign, text) = line.split_at(1);
            if sign == "-" && after_plus {
                edits.push((file.to_owned(), String::new(), String::new()));
            }
            after_plus = sign == "+";
            let (_, from, to) = edits.last_mut().unwrap();
            let side = if after_plus { to } else { from };
            let _ = writeln!(side, "{text}");
        }
    }
    edits
}

#[test]
fn a_mistake_costs_few_errors_and_lines() {
    if std::env::var_os("RUMPSTEAK_UI").is_some_and(|value| value == "skip") {
        return;
    }
    let table = table();
    let parts =
        ["mistakes", "mistakes-top-down", "mistakes-net"].into_iter().zip(table.split("\n# "));
    let measured: Vec<Measured> = parts.map(|(name, part)| costs_of(name, part)).collect();
    let found: Vec<&str> = measured.iter().map(|part| part.found.as_str()).collect();
    expect_test::expect_file!["mistakes.md"].assert_eq(&found.join("\n# "));
    let wrong: Vec<&str> =
        measured.iter().flat_map(|part| &part.wrong).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let costs: Vec<(usize, usize)> = measured.into_iter().flat_map(|part| part.costs).collect();
    let median = |of: fn(&(usize, usize)) -> usize| {
        let mut figures: Vec<usize> = costs.iter().map(of).filter(|&figure| figure > 0).collect();
        figures.sort_unstable();
        figures[figures.len() / 2]
    };
    let median = (median(|cost| cost.0), median(|cost| cost.1));
    assert!(median.0 <= MEDIAN.0 && median.1 <= MEDIAN.1, "{median:?}");
}

/// What was found out about some mistakes.
#[derive(Default)]
struct Measured {
    /// Their text, with what they cost.
    found: String,
    costs: Vec<(usize, usize)>,
    /// What is printed of those that cost too much.
    wrong: Vec<String>,
}

/// Measures the mistakes of a program, in two packages at once.
fn costs_of(name: &str, part: &str) -> Measured {
    let mut sections = part.split("\n## ");
    let program = sections.next().unwrap();
    let sections: Vec<&str> = sections.collect();
    let (first, second) = sections.split_at(sections.len() / 2);
    let (first, second) = thread::scope(|scope| {
        let second = scope.spawn(|| costs_in(&format!("too/{name}"), program, second));
        (costs_in(name, program, first), second.join().unwrap())
    });
    Measured {
        found: [program, &first.found, &second.found].concat(),
        costs: [first.costs, second.costs].concat(),
        wrong: [first.wrong, second.wrong].concat(),
    }
}

/// Measures some mistakes of a program, one after the other in one package.
fn costs_in(name: &str, program: &str, mistakes: &[&str]) -> Measured {
    let (package, files) = example(name, program);
    let right: Vec<(String, String)> =
        files.into_iter().map(|file| (file.clone(), package.read(&file))).collect();
    let (success, _, printed) = check(&package);
    assert!(success && printed.is_empty(), "{printed}");

    let mut measured = Measured::default();
    for section in mistakes {
        let (mistake, _) = section.split_once("\n```text\n").unwrap_or((section, ""));
        let title = mistake.lines().next().unwrap_or_default();
        for (file, from, to) in edits(mistake) {
            let text = package.read(&file);
            let (from, to) = match text.matches(&from).count() {
                1 => (from.as_str(), to.as_str()),
                _ => (from.trim_end_matches('\n'), to.trim_end_matches('\n')),
            };
            assert_eq!(text.matches(from).count(), 1, "{title}: {from}");
            package.write(&file, &text.replace(from, to));
        }
        let (_, _, printed) = check(&package);
        let cost = Cost::of(&printed);
        let is_private = printed.contains("private::");
        if cost.errors > MOST.0 || cost.lines > MOST.1 || is_private {
            measured.wrong.push(format!("{title}:\n{printed}"));
        }
        let (mistake, shown) = (mistake.trim_end(), cost.show());
        let _ = write!(measured.found, "\n## {mistake}\n\n```text\n{shown}\n```\n");
        measured.costs.push((cost.errors, cost.lines));
        for (file, text) in right.iter().filter(|(file, text)| package.read(file) != *text) {
            package.write(file, text);
        }
    }
    measured
}

fn table() -> String {
    let path = workspace().join("rumpsteak-build/tests/it/whole_cargo/mistakes.md");
    fs::read_to_string(path).unwrap()
}

/// The program of the table, without a mistake.
pub(super) fn jobs(name: &str) -> Package {
    example(name, table().split("\n## ").next().unwrap()).0
}

/// What `cargo check` prints to a person, wherever the package is.
fn check(package: &Package) -> (bool, String, String) {
    let (success, answer, printed) = package.run_with("check", &["-q"]);
    let folder = package.path("").display().to_string();
    (success, answer, printed.replace(folder.trim_end_matches('/'), "FOLDER"))
}
