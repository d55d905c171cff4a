//! Errors without a place in Rust source.

use std::fmt;

use super::notice::Notice;
use crate::gravity::Gravity;
use crate::protocols::{Protocols, ScrFile};

/// The errors of a build script that have no place in Rust source.
///
/// Its [`Debug`](fmt::Debug) output is the rendered report, which
/// `fn main() -> Result<(), Report>` prints.
#[derive(Clone)]
pub struct Report {
    notices: Vec<Notice>,
    gravity: Gravity,
}

impl Report {
    pub(crate) fn of_file(file: &ScrFile) -> Self {
        let errors = file.diagnostics.iter();
        Self {
            notices: errors.map(|error| Notice::of_diagnostic(&file.texts, error)).collect(),
            gravity: file.gravity(),
        }
    }

    /// A report of one sentence, with advice.
    pub(crate) fn of(message: &str, help: &str) -> Self {
        Self { notices: vec![Notice::error(message).help(help)], gravity: Gravity::BadInput }
    }

    /// Joins reports. `None` if there are none.
    pub(crate) fn join(reports: Vec<Self>) -> Option<Self> {
        Some(Self {
            gravity: reports.iter().map(|report| report.gravity).max()?,
            notices: reports.into_iter().flat_map(|report| report.notices).collect(),
        })
    }

    /// The consequence for the package.
    pub(crate) fn gravity(&self) -> Gravity {
        self.gravity
    }

    /// The report as plain text, or with the colours of a terminal.
    pub fn render(&self, colour: bool) -> String {
        self.notices.iter().map(|notice| notice.render(colour)).collect::<Vec<_>>().join("\n\n")
    }
}

/// Begins on a new line, because a `main` that returns an error prints `Error: ` first.
impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Report {}

/// The reports of paths of protocols that cannot be read.
pub(crate) fn unreadable(protocols: &Protocols) -> impl Iterator<Item = Report> {
    protocols.unreadable.iter().map(|(path, error, meant)| {
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "build.rs names the folder or the file relative to the package, as in `verify(\"protocols\")`".to_owned(),
        };
        Report::of(&format!("cannot read the protocols in `{path}`: {error}"), &help)
    })
}
