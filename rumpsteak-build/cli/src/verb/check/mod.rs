//! `check`: the checks of the build script, for protocol files or for a package.

mod arguments;
mod files;
pub(crate) mod package;
pub(crate) mod settings;

pub(crate) use self::arguments::Arguments;
use self::arguments::Form;
use crate::{Reply, Terminal};

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    terminal.is_json = arguments.format == Form::Json;
    match arguments.files.is_empty() {
        true => package::run(arguments, terminal),
        false => Ok(files::run(arguments, terminal)),
    }
}
