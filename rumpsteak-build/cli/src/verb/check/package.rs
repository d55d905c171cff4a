//! `check` without files: what the build script does, for the package in the current folder.

use std::{
    io,
    path::{Path, PathBuf},
};

use rumpsteak_build::{Cfg, Check};
use serde_json::{Value, json};

use super::{Arguments, MessageFormat};
use crate::{
    exit::Outcome,
    json::{self, Answer},
    report::{Report, count},
    terminal::{Terminal, plain},
};

/// Checks the package.
///
/// # Errors
/// There is none here, or it or its protocols cannot be read.
pub(super) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Report> {
    let folder = package_folder()?;
    let mut features = arguments.features.clone();
    if !arguments.no_default_features {
        features.extend(rumpsteak_build::default_features(&folder).map_err(whole)?);
    }

    let mut configuration = rumpsteak_build::configure().limits(arguments.limits());
    let build_script = std::fs::read_to_string(folder.join("build.rs")).unwrap_or_default();
    if calls(&build_script, "generate()") {
        configuration = configuration.generate();
    }
    let mut protocols = arguments.protocols.clone();
    if protocols.is_empty() {
        protocols = protocols_of(&build_script);
    }
    if protocols.is_empty() {
        protocols.push("protocols".into());
    }
    for path in &protocols {
        if !folder.join(path).exists() {
            let message = format!("the package has no protocols at `{}`", path.display());
            return Err(Report::error(message)
                .remark(format!("its folder is `{}`", folder.display()))
                .help("say with `--protocols` what its build script says, or name the `.scr` files to check"));
        }
        configuration = configuration.protocols(path);
    }
    let check = configuration
        .check(&folder, &Cfg::from_features(features))
        .map_err(whole)?;

    let outcome = match check.holds() {
        true => Outcome::Holds,
        false => Outcome::Fails,
    };
    match arguments.message_format {
        MessageFormat::Json => print_lines(&check, outcome, terminal),
        MessageFormat::Human => {
            print_diagnostics(&check, terminal);
            let text = match arguments.json {
                true => json::text(&object(&check, outcome)),
                false => summary(&check),
            };
            terminal.print(&text);
        }
    }
    Ok(outcome)
}

/// The nearest folder with a manifest, from the current one upwards, as Cargo looks for it. Said relative to the
/// current folder where that is short.
fn package_folder() -> Result<PathBuf, Report> {
    let unreadable =
        |error: io::Error| Report::error(format!("cannot tell the current folder: {error}"));
    let here = std::env::current_dir().map_err(unreadable)?;
    let found = here
        .ancestors()
        .find(|folder| folder.join("Cargo.toml").is_file());
    found.map(Path::to_owned).ok_or_else(|| {
        Report::error("there is no package here: no `Cargo.toml` in this folder or above it")
            .help("go to a package, or name the `.scr` files to check")
    })
}

/// A package that the library cannot read. Its report is drawn already; only what it says is kept.
fn whole(report: rumpsteak_build::Report) -> Report {
    let text = report.to_string();
    let title = text.lines().next().unwrap_or_default();
    Report::error(title.strip_prefix("error: ").unwrap_or(title))
        .help("go to the folder of a package, or name the `.scr` files to check")
}

/// Whether the package's build script has this call.
fn calls(build_script: &str, call: &str) -> bool {
    let code = |line: &&str| !line.trim_start().starts_with("//");
    build_script
        .lines()
        .filter(code)
        .any(|line| line.contains(call))
}

/// The paths that the package's build script verifies: the texts in its calls of `verify` and `protocols`. A script
/// that computes them needs `--protocols`.
fn protocols_of(build_script: &str) -> Vec<PathBuf> {
    let code = |line: &'_ str| !line.trim_start().starts_with("//");
    let lines = build_script.lines().filter(|line| code(line));
    let calls = lines.flat_map(|line| {
        ["verify(\"", "protocols(\""]
            .into_iter()
            .flat_map(move |call| {
                let behind = line.split(call).skip(1);
                behind.filter_map(|rest| rest.split_once('"'))
            })
    });
    calls.map(|(path, _)| PathBuf::from(path)).collect()
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
        terminal.report(&Report::warning(warning));
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
        line("warning", json!({"message": plain(warning)}));
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
            let paths = protocols_of(script).into_iter();
            paths.map(|path| path.display().to_string()).collect()
        };
        assert_eq!(
            paths("fn main() { rumpsteak_build::verify(\"../protocols\") }"),
            ["../protocols"]
        );
        assert_eq!(
            paths("configure()\n  .protocols(\"a\").protocols(\"b.scr\")\n  .verify();"),
            ["a", "b.scr"]
        );
        assert_eq!(paths("// verify(\"old\")\nverify(path);").len(), 0);
    }
}
