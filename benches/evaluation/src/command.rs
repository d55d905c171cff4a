//! The command line.

#![allow(clippy::print_stdout, reason = "what a command says")]

use std::path::{Path, PathBuf};

use crate::runner::{self, Plan};
use crate::{Error, Mode, Result, figures, report, transports};

/// Runs the command of the arguments.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::UnknownFigure`], and the errors of measuring and rendering.
pub fn run(arguments: &[String]) -> Result<()> {
    let (command, rest) =
        arguments.split_first().ok_or_else(|| Error::Usage("nothing to do".to_owned()))?;
    match command.as_str() {
        "run" => {
            let plan = plan(rest)?;
            runner::run(&plan)?;
            render(&plan.folder)
        }
        "measure" => runner::measure(&plan(rest)?),
        "report" => {
            let plan = plan(rest)?;
            if plan.again {
                return Err(Error::Usage("`report` measures nothing".to_owned()));
            }
            render(&plan.folder)
        }
        "list" if rest.is_empty() => {
            for figure in figures::all() {
                println!("{:<28} {}", figure.name, figure.title);
            }
            Ok(())
        }
        "sample" => sample(rest),
        "play" => transports::play(rest),
        _ => Err(Error::Usage(format!("cannot `{}`", arguments.join(" ")))),
    }
}

/// Reads options and names of figures.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::UnknownFigure`].
pub fn plan(arguments: &[String]) -> Result<Plan> {
    let (mut mode, mut again, mut folder, mut names) = (Mode::Full, false, None, Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => mode = Mode::Quick,
            "--again" => again = true,
            "--folder" => {
                let path = arguments
                    .next()
                    .ok_or_else(|| Error::Usage("--folder needs a path".to_owned()))?;
                folder = Some(PathBuf::from(path));
            }
            option if option.starts_with('-') => {
                return Err(Error::Usage(format!("there is no option `{option}`")));
            }
            name => names.push(name.to_owned()),
        }
    }
    Ok(Plan {
        figures: figures::named(&names)?,
        mode,
        again,
        folder: folder.unwrap_or_else(|| default_folder(mode)),
    })
}

/// The default folder of the report. A quick run does not touch the report of the project.
fn default_folder(mode: Mode) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    match mode {
        Mode::Full => package.join("../report"),
        // This program is in a folder of the target folder.
        Mode::Quick => std::env::current_exe()
            .ok()
            .and_then(|program| Some(program.parent()?.parent()?.join("evaluation")))
            .unwrap_or_else(|| package.join("../../target/evaluation")),
    }
}

fn render(folder: &Path) -> Result<()> {
    let page = report::render(folder)?;
    println!("the report is {}", page.display());
    Ok(())
}

/// The task of a started process: figure, series, x, mode.
fn sample(arguments: &[String]) -> Result<()> {
    let usage = || Error::Usage("`sample` is for this program alone".to_owned());
    let [name, series, x, mode] = arguments else {
        return Err(usage());
    };
    let figures = figures::named(std::slice::from_ref(name))?;
    let figure = figures.first().ok_or_else(usage)?;
    let x = x.parse().map_err(|_| usage())?;
    let mode = Mode::named(mode).ok_or_else(usage)?;
    runner::sample(figure, series, x, mode)
}
