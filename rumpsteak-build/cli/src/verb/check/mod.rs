//! `check`: is everything all right?

mod arguments;
mod files;
pub(crate) mod package;
pub(crate) mod settings;

use rumpsteak_build::command::Notice;

pub(crate) use self::arguments::{Arguments, Form};
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Checks the files, or the package if there are none.
pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Notice> {
    if arguments.files.is_empty() {
        package::run(arguments, terminal)
    } else {
        Ok(files::run(arguments, terminal))
    }
}
