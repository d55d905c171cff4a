//! The errors of measuring and rendering figures.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// The reason why a figure was not measured or not rendered.
#[derive(Debug)]
pub enum Error {
    /// The command line is invalid.
    Usage(String),
    /// No figure has this name.
    UnknownFigure {
        /// The name that was given.
        name: String,
        /// The known names.
        known: Vec<&'static str>,
    },
    /// A line of stored results is not one that this program writes.
    Corrupt {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The mistake in the line.
        why: String,
    },
    /// A file or another program could not be used.
    Io {
        /// The file or program.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The measured program gave a wrong result.
    Wrong(String),
    /// A picture could not be drawn.
    Plot(String),
}

/// A result whose error is [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The output of the measured program is wrong.
    pub fn wrong(why: impl fmt::Display) -> Self {
        Self::Wrong(why.to_string())
    }

    /// Names the file that an error is about: for `map_err`.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |error| Self::Io { path, error }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(why) => write!(formatter, "{why}\n\n{}", crate::usage::USAGE),
            Self::UnknownFigure { name, known } => {
                write!(formatter, "there is no figure `{name}`; there are {}", known.join(", "))
            }
            Self::Corrupt { file, line, why } => {
                write!(formatter, "{}:{line}: {why}", file.display())
            }
            Self::Io { path, error } => write!(formatter, "{}: {error}", path.display()),
            Self::Wrong(why) => write!(formatter, "wrong output: {why}"),
            Self::Plot(why) => write!(formatter, "cannot draw: {why}"),
        }
    }
}

impl std::error::Error for Error {}
