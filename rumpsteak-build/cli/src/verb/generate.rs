//! `generate`: the Rust module of a protocol, to be changed by hand.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use rumpsteak_build::command::{Code, Notice, is_untouched};

use crate::options::Limits;
use crate::{Answer, Outcome, Reply, Terminal, modules};

/// Prints the Rust module of a protocol: its roles, messages and sessions
///
/// The module holds all that is generated where a module is empty, to be changed by hand. A machine
/// beside the file, such as `double_buffering.k.dot`, takes the place of that role's order in the
/// protocol, if it is safe.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The Scribble file
    file: PathBuf,
    /// Which protocol, if the file holds several
    #[arg(long, value_name = "NAME")]
    protocol: Option<String>,
    /// Write the code to FILE, unless it is there already
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write nothing; fail if FILE does not hold the code of the protocol as it is now
    #[arg(long, requires = "output")]
    check: bool,
    #[command(flatten)]
    limits: Limits,
    /// Let the code have at most N lines [default: 25000]
    #[arg(long, value_name = "N")]
    generated_lines: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    let file = arguments.file.display().to_string();
    let limits = arguments.limits.build(arguments.generated_lines);
    let code = code(&arguments.file, arguments.protocol.as_deref(), &limits, terminal)?;
    let Some(text) = code.as_ref().and_then(|code| code.text.as_ref()) else {
        return Ok(Answer::new(Outcome::Fails));
    };
    let Some(output) = &arguments.output else {
        terminal.say(text);
        return Ok(Answer::new(Outcome::Holds));
    };
    let path = output.display();
    let error = |verb, error| Notice::error(format!("cannot {verb} `{path}`: {error}"));
    let old = match fs::read_to_string(output) {
        Ok(old) => Some(old),
        Err(found) if found.kind() == ErrorKind::NotFound => None,
        Err(found) => return Err(error("read", found)),
    };
    if arguments.check && old.as_ref() != Some(text) {
        let report = match old {
            Some(old) => stale(output, &old, text),
            None => Notice::error(format!("`{path}` does not exist")),
        };
        let help = format!("run `cargo rumpsteak generate {file} --output {path}`");
        terminal.report(&report.help(help));
        return Ok(Answer::new(Outcome::Fails));
    }
    if old.as_ref() != Some(text) {
        fs::write(output, text).map_err(|found| error("write", found))?;
    }
    Ok(Answer::new(Outcome::Holds))
}

/// The code of a protocol in a file. `None` if it has a mistake, which is reported.
pub(super) fn code(
    path: &Path,
    protocol: Option<&str>,
    limits: &rumpsteak_build::Limits,
    terminal: &mut Terminal,
) -> Result<Option<Code>, Notice> {
    let file = path.display().to_string();
    if file == "-" {
        let message = "the code of a protocol depends on the machines beside its file";
        return Err(Notice::error(message).help("name the file instead of standard input"));
    }
    // If the current folder is unknown, paths are taken as they are.
    let configuration = rumpsteak_build::configure().protocols(path);
    let folder = std::env::current_dir().unwrap_or_default();
    let mut codes = configuration.code(&folder, limits).map_err(|report| {
        let text = report.to_string();
        Notice::error(text.strip_prefix("error: ").unwrap_or(&text))
    })?;
    let names: Vec<&str> = codes.iter().map(|code| code.protocol.as_str()).collect();
    let code = codes.swap_remove(modules::pick(&file, &names, protocol, "generated")?);
    for found in &code.problems {
        terminal.report(&Notice::error(&found.text).with_code(found.code));
    }
    Ok(Some(code).filter(|code| code.text.is_some() && code.problems.is_empty()))
}

/// The difference of the file and the text that it should hold: the lines between the first and the
/// last that differ.
fn stale(output: &Path, old: &str, new: &str) -> Notice {
    /// Lines that a difference shows at most, on each side.
    const MOST: usize = 12;
    let path = output.display();
    let reason = match is_untouched(old) {
        true => "it was generated from another protocol or by another version",
        false => "it was changed by hand",
    };
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    // The first lines are the stamp, which always differs.
    let start = 2.min(old.len()).min(new.len());
    let both = old[start..].iter().zip(&new[start..]);
    let start = start + both.take_while(|(old, new)| old == new).count();
    let both = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = both.take_while(|(old, new)| old == new).count();
    let show = |sign: char, lines: &[&str]| {
        let shown = lines.iter().take(MOST).map(|line| format!("{sign} {line}\n"));
        let more = lines.len().checked_sub(MOST + 1);
        let more = more.map(|more| format!("{sign} … {} further lines\n", more + 1));
        shown.chain(more).collect::<String>()
    };
    let text = format!(
        "`{path}` is stale: {reason}\n\n--- {path}, line {}\n+++ generated\n{}{}",
        start + 1,
        show('-', &old[start..old.len() - end]),
        show('+', &new[start..new.len() - end]),
    );
    Notice::error(text.trim_end())
}
