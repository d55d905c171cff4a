//! What can go wrong while figures are measured and rendered.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Why a figure was not measured or not rendered.
#[derive(Debug)]
pub enum Error {
    /// The command line does not say what to do.
    Usage(String),
    /// There is no figure of this name.
    UnknownFigure {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// A line of stored results is not one that this program writes.
    Corrupt {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A file or another program could not be used.
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// What was measured did not do what it should have done.
    Wrong(String),
    /// A picture could not be drawn.
    Plot(String),
}

/// A result whose error is [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The output of what was measured is wrong.
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
