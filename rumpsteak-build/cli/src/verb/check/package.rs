//! `check` without files: what the build script does, for the package in the current folder.

use std::path::{Path, PathBuf};
use std::{env, fs};

use rumpsteak_build::command::{Check, Notice, count, visible};
use serde_json::{Value, json};

use super::arguments::{Arguments, Form};
use super::settings;
use crate::{Answer, Outcome, Reply, Terminal, json};

pub(super) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    let folder = package_folder()?;
    let (mut configuration, note) = settings::read(&folder);
    if let Some(note) = note {
        terminal.report(&note);
    }
    if !arguments.protocols.is_empty() {
        configuration.protocols.clone_from(&arguments.protocols);
    }
    let mut paths = configuration.protocols.iter();
    if let Some(path) = paths.find(|path| !folder.join(path).exists()) {
        let message = format!("the package has no protocols at `{}`", path.display());
        return Err(Notice::error(message).remark(format!("its folder is `{}`", folder.display())).help(
            "say with `--protocols` what its build script says, or name the `.scr` files to check",
        ));
    }
    let limits = arguments.reading.limits.build(arguments.generated_lines);
    let check = configuration.check(&folder, &limits);

    let mut answer = answer(&check);
    match arguments.format {
        Form::JsonLines => print_lines(&check, answer.object.clone(), terminal),
        Form::Json => {
            print_diagnostics(&check, terminal);
            let object = &mut answer.object;
            object["problems"] = problems(&check).collect();
            object["reports"] = check.reports.iter().map(ToString::to_string).collect();
            object["warnings"] = check.warnings.iter().map(String::as_str).collect();
        }
        Form::Text => {
            print_diagnostics(&check, terminal);
            // If errors left nothing to verify, the numbers mean nothing.
            let summary = check.summary;
            if summary.verified > 0 || answer.outcome == Outcome::Holds {
                let sessions = count(summary.sessions, "session");
                let protocols = count(summary.protocols, "protocol");
                let verified = summary.verified;
                terminal.print(&format!("{verified} of {sessions} verified against {protocols}\n"));
            }
            if check.problems.is_empty() && check.is_incomplete() {
                let text = "not all sessions were verified, because of mistakes that rustc reports";
                terminal.report(&Notice::error(text).help("run `cargo check`"));
            }
        }
    }
    Ok(answer)
}

/// The nearest folder with a manifest, from the current one upwards, as Cargo looks for it.
pub(crate) fn package_folder() -> Result<PathBuf, Notice> {
    let here = env::current_dir()
        .map_err(|error| Notice::error(format!("cannot tell the current folder: {error}")))?;
    let manifest = |folder: &Path| fs::read_to_string(folder.join("Cargo.toml")).ok();
    let found = here.ancestors().find_map(|folder| Some((folder, manifest(folder)?)));
    // The manifest of a workspace need not be a package.
    let is_package = |manifest: &str| {
        { manifest.lines() }.any(|line| line.trim_start_matches(['[', ' ']).starts_with("package"))
    };
    let missing = match found {
        Some((folder, manifest)) if is_package(&manifest) => return Ok(folder.to_owned()),
        Some(_) => "`Cargo.toml` is that of a workspace",
        None => "no `Cargo.toml` in this folder or above it",
    };
    Err(Notice::error(format!("there is no package here: {missing}"))
        .help("go to the folder of a package, or name a `.scr` file"))
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
        let (title, rest) = warning.split_once('\n').unwrap_or((warning, ""));
        let notice = Notice::warning(title);
        terminal.report(&rest.lines().fold(notice, |notice, line| notice.remark(line.trim())));
    }
}

fn answer(check: &Check) -> Answer {
    let problem = check.problems.first().map(|problem| problem.text.clone());
    let first = problem.or(check.reports.first().map(ToString::to_string));
    let reason = first.and_then(|text| Some(text.lines().next()?.to_owned()));
    Answer::new(check.gravest())
        .with("reason", reason)
        .with("protocols", check.summary.protocols)
        .with("sessions", check.summary.sessions)
        .with("verified", check.summary.verified)
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

fn print_lines(check: &Check, object: Value, terminal: &mut Terminal) {
    let problems = problems(check).map(|problem| ("problem", problem));
    let reports = check.reports.iter().map(|it| ("report", json!({"rendered": it.to_string()})));
    let warnings = check.warnings.iter().map(|it| ("warning", json!({"message": visible(it)})));
    for (kind, value) in problems.chain(reports).chain(warnings).chain([("finished", object)]) {
        terminal.print(&json::line(kind, value));
    }
}
