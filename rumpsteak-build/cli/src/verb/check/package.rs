//! `check` without files: what the build script does, for the package in the current folder.

use std::{
    io,
    path::{Path, PathBuf},
};

use rumpsteak_build::command::{Cfg, Check, Kind, Notice, count, visible};
use rumpsteak_fsm::Limits;
use serde_json::{Value, json};

use super::arguments::{Arguments, Form};
use crate::{
    json::{self, Answer},
    outcome::Outcome,
    terminal::Terminal,
};

/// Checks the package.
///
/// # Errors
/// There is none here, or it or its protocols cannot be read.
pub(super) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Notice> {
    let folder = package_folder()?;
    let mut features = arguments.features.clone();
    if !arguments.no_default_features {
        features.extend(rumpsteak_build::command::default_features(&folder).map_err(whole)?);
    }

    let build_script = std::fs::read_to_string(folder.join("build.rs")).unwrap_or_default();
    let settings = Settings::of(&build_script);
    for setting in &settings.computed {
        terminal.report(
            &Notice::warning(format!(
                "the build script computes its `{setting}`, which only the build does"
            ))
            .help("`cargo check` says what the build finds"),
        );
    }
    let mut configuration = rumpsteak_build::configure()
        .limits(arguments.limits(settings.limits))
        .sources(&settings.sources);
    if settings.generates {
        configuration = configuration.generate();
    }
    let mut protocols = arguments.protocols.clone();
    if protocols.is_empty() {
        protocols = settings.protocols;
    }
    if protocols.is_empty() {
        protocols.push("protocols".into());
    }
    for path in &protocols {
        if !folder.join(path).exists() {
            let message = format!("the package has no protocols at `{}`", path.display());
            return Err(Notice::error(message)
                .remark(format!("its folder is `{}`", folder.display()))
                .help("say with `--protocols` what its build script says, or name the `.scr` files to check"));
        }
        configuration = configuration.protocols(path);
    }
    let check = configuration
        .check(&folder, &Cfg::from_features(features))
        .map_err(whole)?;

    let outcome = match check.gravest() {
        None => Outcome::Holds,
        Some(Kind::Undecided) => Outcome::Undecided,
        Some(Kind::BadInput) => Outcome::BadInput,
        Some(_) => Outcome::Fails,
    };
    match arguments.form() {
        Form::JsonLines => print_lines(&check, outcome, terminal),
        Form::Json => {
            print_diagnostics(&check, terminal);
            terminal.print(&json::text(&object(&check, outcome)));
        }
        Form::Text => {
            print_diagnostics(&check, terminal);
            terminal.print(&summary(&check));
        }
    }
    Ok(outcome)
}

/// The nearest folder with a manifest, from the current one upwards, as Cargo looks for it. Said relative to the
/// current folder where that is short.
fn package_folder() -> Result<PathBuf, Notice> {
    let unreadable =
        |error: io::Error| Notice::error(format!("cannot tell the current folder: {error}"));
    let here = std::env::current_dir().map_err(unreadable)?;
    let found = here
        .ancestors()
        .find(|folder| folder.join("Cargo.toml").is_file());
    found.map(Path::to_owned).ok_or_else(|| {
        Notice::error("there is no package here: no `Cargo.toml` in this folder or above it")
            .help("go to a package, or name the `.scr` files to check")
    })
}

/// A package that the library cannot read. Its report is drawn already; only what it says is kept.
fn whole(report: rumpsteak_build::Report) -> Notice {
    let text = report.to_string();
    let title = text.lines().next().unwrap_or_default();
    Notice::error(title.strip_prefix("error: ").unwrap_or(title))
        .help("go to the folder of a package, or name the `.scr` files to check")
}

/// What the package's build script asks for, as far as it is written there in so many words.
#[derive(Debug, PartialEq)]
struct Settings {
    /// The texts in the calls of `verify` and `protocols`. A script that computes them needs `--protocols`.
    protocols: Vec<PathBuf>,
    /// The texts in the calls of `sources`.
    sources: Vec<PathBuf>,
    /// The numbers in the calls of `limits`.
    limits: Limits,
    /// Whether it calls `generate`.
    generates: bool,
    /// The calls in which something else is.
    computed: Vec<&'static str>,
}

impl Settings {
    fn of(build_script: &str) -> Self {
        let code = |line: &&str| !line.trim_start().starts_with("//");
        let lines: Vec<&str> = build_script.lines().filter(code).collect();
        let code = lines.join("\n");
        let paths = |names: &[&str]| {
            let calls = names.iter().flat_map(|name| arguments_of(&code, name));
            calls.flat_map(texts).map(PathBuf::from).collect()
        };
        let mut settings = Self {
            protocols: paths(&["verify", "protocols"]),
            sources: paths(&["sources"]),
            limits: Limits::default(),
            generates: !arguments_of(&code, "generate").is_empty(),
            computed: vec![],
        };
        for call in arguments_of(&code, "sources") {
            if texts(call).next().is_none() {
                settings.computed.push("sources");
            }
        }
        for call in arguments_of(&code, "limits") {
            let limits = &mut settings.limits;
            let fields = [
                ("anticipation", &mut limits.anticipation),
                ("branching", &mut limits.branching),
                ("configurations", &mut limits.configurations),
                ("queue", &mut limits.queue),
                ("steps", &mut limits.steps),
                ("widening", &mut limits.widening),
            ];
            let mut set = 0;
            for (name, field) in fields {
                if let Some(value) = number(call, name) {
                    *field = value;
                    set += 1;
                }
            }
            // Each field that is set has a colon, and paths have two.
            let colons = call.replace("::", "").matches(':').count();
            if colons != set || set == 0 && call.trim() != "Limits::default()" {
                settings.computed.push("limits");
            }
        }
        settings
    }
}

/// What stands between the brackets of each call of a function or method.
fn arguments_of<'a>(code: &'a str, name: &str) -> Vec<&'a str> {
    let mut found = vec![];
    for (at, _) in code.match_indices(name) {
        let before = code[..at].chars().next_back();
        let rest = &code[at + name.len()..];
        let is_call = before.is_some_and(|letter| letter == '.' || letter == ':');
        if !is_call || !rest.starts_with('(') {
            continue;
        }
        let mut depth = 0_usize;
        let mut in_text = false;
        for (offset, letter) in rest.char_indices() {
            match letter {
                '"' => in_text = !in_text,
                '(' if !in_text => depth += 1,
                ')' if !in_text => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                found.push(&rest[1..offset]);
                break;
            }
        }
    }
    found
}

/// The texts in quotes.
fn texts(code: &str) -> impl Iterator<Item = &str> {
    code.split('"').skip(1).step_by(2)
}

/// The number behind `name:`.
fn number(code: &str, name: &str) -> Option<usize> {
    let (before, rest) = code.split_once(name)?;
    let whole = before
        .chars()
        .next_back()
        .is_none_or(|letter| !letter.is_alphanumeric() && letter != '_');
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let digits = value
        .find(|letter: char| !letter.is_ascii_digit() && letter != '_')
        .unwrap_or(value.len());
    let (digits, behind) = value.split_at(digits);
    // Not a part of a longer expression.
    let ends = matches!(behind.trim_start().chars().next(), None | Some(',' | '}'));
    let digits = digits.replace('_', "");
    digits.parse().ok().filter(|_| whole && ends)
}

fn print_diagnostics(check: &Check, terminal: &mut Terminal) {
    let styled = terminal.colours_diagnostics();
    for problem in &check.problems {
        terminal.remark(&format!("{}\n\n", problem.render(styled)));
    }
    for report in &check.reports {
        let text = match styled {
            true => report.styled().to_owned(),
            false => report.to_string(),
        };
        terminal.remark(&format!("{text}\n\n"));
    }
    for warning in &check.warnings {
        terminal.report(&Notice::warning(warning));
    }
}

fn summary(check: &Check) -> String {
    let summary = check.summary;
    format!(
        "{} of {} verified against {}\n",
        summary.verified,
        count(summary.sessions, "session"),
        count(summary.protocols, "protocol"),
    )
}

fn object(check: &Check, outcome: Outcome) -> Value {
    let first_line = |text: &str| text.lines().next().map(str::to_owned);
    let problem = check
        .problems
        .first()
        .and_then(|problem| first_line(&problem.text));
    let report = check
        .reports
        .first()
        .and_then(|report| first_line(&report.to_string()));
    let answer = Answer {
        reason: problem.or(report),
        ..Answer::default()
    };
    let mut object = answer.object(outcome);
    object["protocols"] = check.summary.protocols.into();
    object["sessions"] = check.summary.sessions.into();
    object["verified"] = check.summary.verified.into();
    object["problems"] = problems(check).collect();
    object["reports"] = check.reports.iter().map(ToString::to_string).collect();
    object["warnings"] = check.warnings.iter().map(String::as_str).collect();
    object
}

fn problems(check: &Check) -> impl Iterator<Item = Value> + '_ {
    check.problems.iter().map(|problem| {
        json!({
            "file_name": problem.file,
            "line": problem.line,
            "column": problem.column,
            "byte_start": problem.range.start,
            "byte_end": problem.range.end,
            "message": problem.text,
            "rendered": problem.render(false),
        })
    })
}

fn print_lines(check: &Check, outcome: Outcome, terminal: &mut Terminal) {
    let mut line = |kind: &str, value: Value| {
        let mut object = json!({"kind": kind});
        json::extend(&mut object, value);
        terminal.print(&format!("{object}\n"));
    };
    for problem in problems(check) {
        line("problem", problem);
    }
    for report in &check.reports {
        line("report", json!({"rendered": report.to_string()}));
    }
    for warning in &check.warnings {
        line("warning", json!({"message": visible(warning)}));
    }
    let mut finished = object(check, outcome);
    if let Some(object) = finished.as_object_mut() {
        for told in ["problems", "reports", "warnings"] {
            object.shift_remove(told);
        }
    }
    line("finished", finished);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_script_says_where_the_protocols_are() {
        let paths = |script| -> Vec<String> {
            let paths = Settings::of(script).protocols.into_iter();
            paths.map(|path| path.display().to_string()).collect()
        };
        assert_eq!(
            paths(
                "fn main() -> Result<(), rumpsteak_build::Report> { rumpsteak_build::verify(\"../protocols\").map(drop) }"
            ),
            ["../protocols"]
        );
        assert_eq!(
            paths("configure()\n  .protocols(\"a\").protocols(\"b.scr\")\n  .verify();"),
            ["a", "b.scr"]
        );
        assert_eq!(paths("// x.verify(\"old\")\nx.verify(path);").len(), 0);
    }

    #[test]
    fn the_build_script_says_which_sources_and_limits() {
        let settings = Settings::of(
            "rumpsteak_build::configure()
                .protocols(\"p\")
                .sources([\"fixtures/one.rs\", \"fixtures/two.rs\"])
                .limits(Limits { steps: 10_000, queue: 4, ..Limits::default() })
                .verify();",
        );
        assert_eq!(
            settings.sources,
            [
                PathBuf::from("fixtures/one.rs"),
                PathBuf::from("fixtures/two.rs")
            ]
        );
        let expected = Limits {
            steps: 10_000,
            queue: 4,
            ..Limits::default()
        };
        assert_eq!(settings.limits, expected);
        assert_eq!(settings.computed.len(), 0);

        let settings = Settings::of("c.sources(files).limits(Limits { steps: 2 * N, queue: 3 })");
        assert_eq!(settings.computed, ["sources", "limits"]);
        assert_eq!(settings.limits.queue, 3);
        assert_eq!(Settings::of("c.limits(mine)").computed, ["limits"]);
        let same = Settings::of("c.limits(Limits::default())");
        assert_eq!((same.computed.len(), same.limits), (0, Limits::default()));
        // A bracket that is never closed.
        assert_eq!(Settings::of("c.limits((").computed.len(), 0);

        assert!(Settings::of("c.protocols(\"p\").generate().verify()").generates);
        assert!(!Settings::of("c.verify(\"generate()\")").generates);
    }
}
