//! `check` without files: what the build script does, for the package in the current folder.

use std::io;
use std::path::{Path, PathBuf};

use rumpsteak_build::command::{Check, Notice, count, visible};
use serde_json::{Value, json};

use super::arguments::{Arguments, Form};
use super::settings;
use crate::json::{self, Answer};
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Checks the package.
///
/// # Errors
/// There is no package here, or it or its protocols cannot be read.
pub(super) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Notice> {
    let folder = package_folder()?;
    let (mut configuration, note) = settings::read(&folder);
    if let Some(note) = note {
        terminal.report(&note);
    }
    if !arguments.protocols.is_empty() {
        configuration = configuration.replace_protocols(&arguments.protocols);
    }
    for path in configuration.protocol_paths() {
        if !folder.join(path).exists() {
            let message = format!("the package has no protocols at `{}`", path.display());
            return Err(Notice::error(message)
                .remark(format!("its folder is `{}`", folder.display()))
                .help("say with `--protocols` what its build script says, or name the `.scr` files to check"));
        }
    }
    let limits = arguments.limits.build(arguments.generated_lines);
    let check = configuration.check(&folder, &limits);

    let outcome = check.gravest().into();
    match arguments.form() {
        Form::JsonLines => print_lines(&check, outcome, terminal),
        Form::Json => {
            print_diagnostics(&check, terminal);
            let mut object = object(&check, outcome);
            object["problems"] = problems(&check).collect();
            object["reports"] = check.reports.iter().map(ToString::to_string).collect();
            object["warnings"] = check.warnings.iter().map(String::as_str).collect();
            terminal.print(&json::text(&object));
        }
        Form::Text => {
            print_diagnostics(&check, terminal);
            // Where an error left nothing to verify, the numbers say nothing.
            if check.summary.verified > 0 || outcome == Outcome::Holds {
                terminal.print(&summary(&check));
            }
        }
    }
    Ok(outcome)
}

/// The nearest folder with a manifest, from the current one upwards, as Cargo looks for it.
pub(crate) fn package_folder() -> Result<PathBuf, Notice> {
    let unreadable =
        |error: io::Error| Notice::error(format!("cannot tell the current folder: {error}"));
    let here = std::env::current_dir().map_err(unreadable)?;
    let found = here.ancestors().find(|folder| folder.join("Cargo.toml").is_file());
    found.map(Path::to_owned).ok_or_else(|| {
        Notice::error("there is no package here: no `Cargo.toml` in this folder or above it")
            .help("go to a package, or name the `.scr` files to check")
    })
}

fn print_diagnostics(check: &Check, terminal: &mut Terminal) {
    let styled = terminal.colours_diagnostics();
    for problem in &check.problems {
        terminal.explain(problem.code);
        terminal.remark(&format!("{}\n\n", problem.render(styled)));
    }
    for report in &check.reports {
        terminal.remark(&format!("{}\n\n", report.render(styled)));
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
    let problem = check.problems.first().and_then(|problem| first_line(&problem.text));
    let report = check.reports.first().and_then(|report| first_line(&report.to_string()));
    let answer = Answer { reason: problem.or(report), ..Answer::default() };
    let mut object = answer.object(outcome);
    object["protocols"] = check.summary.protocols.into();
    object["sessions"] = check.summary.sessions.into();
    object["verified"] = check.summary.verified.into();
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
            "code": problem.code,
            "message": problem.text,
            "rendered": problem.render(false),
        })
    })
}

fn print_lines(check: &Check, outcome: Outcome, terminal: &mut Terminal) {
    let mut line = |kind: &str, value: Value| terminal.print(&json::line(kind, value));
    for problem in problems(check) {
        line("problem", problem);
    }
    for report in &check.reports {
        line("report", json!({"rendered": report.to_string()}));
    }
    for warning in &check.warnings {
        line("warning", json!({"message": visible(warning)}));
    }
    line("finished", object(check, outcome));
}
