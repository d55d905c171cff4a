//! `generate`: the Rust code of a protocol, for those who check it in.

use std::path::{Path, PathBuf};

use clap::Args;
use rumpsteak_build::command::{Code, Notice};

use crate::modules;
use crate::options::Limits;
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Prints the Rust code of a protocol: its roles, its messages and their sessions
///
/// The code is a module with all that it can hold, to be changed by hand. A machine beside the
/// file, such as `double_buffering.k.dot`, takes the place of that role's order in the protocol, if
/// it is safe.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The Scribble file
    file: PathBuf,
    /// Which protocol, where the file holds several
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

/// Generates the code of one protocol.
///
/// # Errors
/// A file that cannot be read or has errors; a protocol that is not in it; a file that cannot be
/// written.
pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Notice> {
    let file = arguments.file.display().to_string();
    if file == "-" {
        return Err(Notice::error(
            "the code of a protocol depends on the machines beside its file",
        )
        .help("name the file instead of standard input"));
    }
    // Without a text for it, the folder is the current one.
    let configuration = rumpsteak_build::configure().protocols(&arguments.file);
    let limits = arguments.limits.build(arguments.generated_lines);
    let folder = std::env::current_dir().unwrap_or_default();
    let codes = configuration.code(&folder, &limits).map_err(|report| {
        let text = report.to_string();
        Notice::error(text.strip_prefix("error: ").unwrap_or(&text))
    })?;
    let names: Vec<&str> = codes.iter().map(|code| code.protocol.as_str()).collect();
    let position = modules::pick(&file, &names, arguments.protocol.as_deref(), "generated")?;
    let Code { text, problems, .. } = &codes[position];
    for problem in problems {
        terminal.report(&Notice::error(&problem.text).with_code(problem.code));
    }
    let Some(text) = text.as_ref().filter(|_| problems.is_empty()) else {
        return Ok(Outcome::Fails);
    };
    let Some(output) = &arguments.output else {
        terminal.print(text);
        return Ok(Outcome::Holds);
    };
    let old = match std::fs::read_to_string(output) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(unwritable(output, "read", &error)),
    };
    if old.as_ref() == Some(text) {
        return Ok(Outcome::Holds);
    }
    if arguments.check {
        let report = match old {
            Some(old) => stale(output, &old, text),
            None => Notice::error(format!("`{}` does not exist", output.display())),
        };
        terminal.report(
            &report.help(format!(
                "run `cargo rumpsteak generate {file} --output {}`",
                output.display()
            )),
        );
        return Ok(Outcome::Fails);
    }
    std::fs::write(output, text).map_err(|error| unwritable(output, "write", &error))?;
    Ok(Outcome::Holds)
}

fn unwritable(path: &Path, verb: &str, error: &std::io::Error) -> Notice {
    Notice::error(format!("cannot {verb} `{}`: {error}", path.display()))
}

/// Lines that a difference shows at most, on each side.
const MOST: usize = 12;

/// The difference of the file and the text that it should hold: the lines between the first and the
/// last that differ.
fn stale(output: &Path, old: &str, new: &str) -> Notice {
    let path = output.display();
    let reason = if Code::is_untouched(old) {
        "it was generated from another protocol or by another version"
    } else {
        "it was changed by hand"
    };
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |left: &mut dyn Iterator<Item = &&str>, right: &mut dyn Iterator<Item = &&str>| {
        left.zip(right).take_while(|(left, right)| left == right).count()
    };
    // The first lines are the stamp, which always differs.
    let head = 2.min(old.len()).min(new.len());
    let start = head + same(&mut old[head..].iter(), &mut new[head..].iter());
    let end = same(&mut old[start..].iter().rev(), &mut new[start..].iter().rev());
    let show = |sign: char, lines: &[&str]| {
        let mut text: String =
            lines.iter().take(MOST).map(|line| format!("{sign} {line}\n")).collect();
        if lines.len() > MOST {
            text.push_str(&format!("{sign} … {} further lines\n", lines.len() - MOST));
        }
        text
    };
    let text = format!(
        "`{path}` is stale: {reason}\n\n--- {path}, line {}\n+++ generated\n{}{}",
        start + 1,
        show('-', &old[start..old.len() - end]),
        show('+', &new[start..new.len() - end]),
    );
    Notice::error(text.trim_end())
}
