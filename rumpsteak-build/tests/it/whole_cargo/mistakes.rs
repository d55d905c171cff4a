//! The mistakes in `mistakes.md`: the findings of the check, and what each costs its user to read.
//!
//! All mistakes are checked in process. The first one of each kind goes through rustc; with
//! `RUMPSTEAK_MISTAKES=all`, all of them do. The figures are for the compiler of
//! `rust-toolchain.toml`; with another one, `RUMPSTEAK_UI=skip` leaves this out.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rumpsteak_build::{Limits, configure};

use super::harness::Package;
use super::readme::example;

/// No mistake may cost more errors or lines than this.
const MOST: (usize, usize) = (3, 80);
/// At least half of the mistakes cost no more than this.
const MEDIAN: (usize, usize) = (1, 20);

/// Edits that many places follow, or that rustc reports at many places: each costs at most this.
const DEAR: [(&str, (usize, usize)); 6] = [
    ("`#[protocol]` forgotten, where all items are written", (79, 829)),
    ("all processes called in `run`", (8, 131)),
    ("`continue` forgotten in a generated protocol", (4, 44)),
    ("an interrupt added to the protocol", (9, 116)),
    ("an option's messages put behind a choice of their own", (6, 89)),
    ("an option removed from the protocol", (6, 76)),
];

struct Mistake<'a> {
    /// The title and the edits.
    text: &'a str,
    /// The result of the check.
    found: String,
    /// The output of rustc.
    printed: String,
}

impl<'a> Mistake<'a> {
    fn parse(section: &'a str) -> Self {
        let (text, answers) = section.split_once("\n```text\n").unwrap_or((section, ""));
        let answers = answers.split("```").next().unwrap_or_default();
        let (found, printed) = answers.split_once("errors: ").unwrap_or((answers, ""));
        let printed = format!("errors: {printed}");
        Self { text: text.trim_end(), found: found.to_owned(), printed }
    }

    fn title(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    fn show(&self) -> String {
        let Self { text, found, printed } = self;
        format!("\n## {text}\n\n```text\n{found}{}\n```\n", printed.trim_end())
    }

    /// The kind of the mistake: the group of the first error's code. Mistakes that rustc finds are
    /// one kind, and so are mistakes without a code.
    fn kind(&self) -> String {
        let headline = self.printed.lines().nth(1).unwrap_or_default();
        let code = headline.split(['[', ']']).nth(1).unwrap_or_default();
        code.chars().take(if code.starts_with('E') { 1 } else { 3 }).collect()
    }

    fn cost(&self) -> (usize, usize) {
        let figures = self.printed.lines().next().unwrap_or_default();
        let mut figures = figures.split(|c: char| !c.is_ascii_digit()).flat_map(str::parse);
        (figures.next().unwrap_or(0), figures.next().unwrap_or(0))
    }
}

/// The text that Cargo prints, in short.
fn cost(printed: &str) -> String {
    let lines = printed.lines().filter(|line| !line.starts_with("error: could not compile"));
    let headlines = lines.filter_map(|line| {
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
    format!("errors: {errors}, lines: {}\n{}", lines_of(printed), headlines.join("\n"))
}

/// The number of lines that everyone sees: rustc quotes its own library only if `rust-src` is
/// installed.
fn lines_of(printed: &str) -> usize {
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

fn make(package: &Package, mistake: &Mistake<'_>) {
    for (file, from, to) in edits(mistake.text) {
        let text = package.read(&file);
        let (from, to) = match text.matches(&from).count() {
            1 => (from.as_str(), to.as_str()),
            _ => (from.trim_end_matches('\n'), to.trim_end_matches('\n')),
        };
        assert_eq!(text.matches(from).count(), 1, "{}: {from}", mistake.title());
        package.write(&file, &text.replace(from, to));
    }
}

/// The result of checking the package: the place and the first line of each problem, and the first
/// line of each report.
fn found(package: &Package) -> String {
    let folder = package.path("");
    let check = configure().protocols("protocols").check(&folder, &Limits::default());
    let problems = check.problems.iter().map(|problem| {
        let source = package.read(&problem.file);
        let token = source[problem.range.clone()].lines().next().unwrap_or_default();
        let headline = problem.text.lines().next().unwrap_or_default();
        let code = problem.code.map(|code| format!(" [{code}]")).unwrap_or_default();
        format!("{}:{}: {token}: {headline}{code}\n", problem.file, problem.line)
    });
    let reports = check.reports.iter().map(|report| {
        let report = report.to_string();
        format!("{}\n", report.lines().next().unwrap_or_default())
    });
    problems.chain(reports).collect()
}

#[test]
fn a_mistake_is_found_and_costs_few_errors_and_lines() {
    if std::env::var_os("RUMPSTEAK_UI").is_some_and(|value| value == "skip") {
        return;
    }
    let goes_all = std::env::var_os("RUMPSTEAK_MISTAKES").is_some_and(|value| value == "all");
    let mut kinds = BTreeSet::new();
    let (mut shown, mut wrong, mut costs) = (Vec::new(), Vec::new(), Vec::new());
    for (number, part) in TABLE.split("\n# ").enumerate() {
        let mut sections = part.split("\n## ");
        let program = sections.next().unwrap();
        let (package, files) = example(&format!("mistakes-{number}"), program);
        let right: Vec<(String, String)> =
            files.into_iter().map(|file| (file.clone(), package.read(&file))).collect();
        let (success, printed) = check(&package);
        assert!(success && printed.is_empty(), "{printed}");
        let mut text = program.to_owned();
        for mut mistake in sections.map(Mistake::parse) {
            make(&package, &mistake);
            mistake.found = found(&package);
            if kinds.insert(mistake.kind()) || goes_all {
                let (_, printed) = check(&package);
                mistake.printed = cost(&printed);
                let (errors, lines) = mistake.cost();
                let dear = DEAR.iter().find(|(title, _)| *title == mistake.title());
                let most = dear.map_or(MOST, |(_, most)| *most);
                if errors > most.0 || lines > most.1 || printed.contains("private::") {
                    wrong.push(format!("{}:\n{printed}", mistake.title()));
                }
            }
            for (file, text) in &right {
                package.write(file, text);
            }
            // rustc prints the verdicts that the check finds.
            let verdicts = mistake.found.lines().filter(|line| line.contains(" [V"));
            let is_unsaid = |line: &&str| {
                let mut errors =
                    mistake.printed.lines().filter_map(|it| it.strip_prefix("error: "));
                !errors.any(|said| line.ends_with(said))
            };
            let unsaid = verdicts.filter(is_unsaid);
            wrong.extend(unsaid.map(|line| format!("{}: not said: {line}", mistake.title())));
            costs.push(mistake.cost());
            text += &mistake.show();
        }
        shown.push(text);
    }
    expect_test::expect_file!["mistakes.md"].assert_eq(&shown.join("\n# "));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let median = |of: fn(&(usize, usize)) -> usize| {
        let mut figures: Vec<usize> = costs.iter().map(of).filter(|&figure| figure > 0).collect();
        figures.sort_unstable();
        figures[figures.len() / 2]
    };
    let median = (median(|cost| cost.0), median(|cost| cost.1));
    assert!(median.0 <= MEDIAN.0 && median.1 <= MEDIAN.1, "{median:?}");
}

const TABLE: &str = include_str!("mistakes.md");

/// The program of the page that writes all items, without a mistake.
pub(super) fn jobs(name: &str) -> Package {
    example(name, TABLE.split("\n## ").next().unwrap()).0
}

/// The output of `cargo check`, without the path of the package; and true if it succeeds.
fn check(package: &Package) -> (bool, String) {
    let (success, _, printed) = package.run("check", &["-q"]);
    let folder = package.path("").display().to_string();
    (success, printed.replace(folder.trim_end_matches('/'), "FOLDER"))
}
