//! The texts that users read.
//!
//! The text of a `compile_error!` stands below the user's own line, which rustc draws. It is plain,
//! because it lands in JSON and in editors, and shows what rustc does not know: the `.scr` file and
//! the run. A report on stderr is complete and may have colours.

pub(crate) mod comparison;
pub(crate) mod excerpt;
pub(crate) mod notice;
pub(crate) mod refusal;
pub(crate) mod wording;
pub(crate) mod words;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use self::notice::Notice;
use crate::gravity::Gravity;
use crate::named_text::NamedText;
use crate::protocols::ScrFile;

/// All errors of a file as the text of one `compile_error!`.
pub(crate) fn file(file: &ScrFile) -> String {
    let errors = match file.diagnostics.len() {
        1 => "an error".to_owned(),
        count => format!("{count} errors"),
    };
    format!("{errors} in {}\n\n{}", file.shown(), file_with(file, false))
}

/// All errors of a file, one after the other.
fn file_with(file: &ScrFile, styled: bool) -> String {
    let mut drawn = String::new();
    for error in &file.diagnostics {
        if !drawn.is_empty() {
            drawn.push_str("\n\n");
        }
        drawn.push_str(&Notice::of_diagnostic(&file.texts, error).render(styled));
    }
    drawn
}

/// A problem in Rust source, drawn as rustc would draw it.
pub(crate) fn problem(
    text: &str,
    file: &str,
    range: Range<usize>,
    source: Option<&str>,
    styled: bool,
) -> String {
    let (message, rest) = match text.split_once('\n') {
        Some((message, rest)) => (message, Some(rest)),
        None => (text, None),
    };
    let mut notice = Notice::error(message);
    if let Some(source) = source
        && range.end <= source.len()
    {
        let text = Arc::new(NamedText::new(file, source));
        notice.excerpt.mark(&text, range, "");
    }
    let mut drawn = notice.render(styled);
    if let Some(rest) = rest {
        drawn.push('\n');
        drawn.push_str(rest.trim_start_matches('\n'));
    }
    drawn
}

/// Why a build script cannot go on: errors that no item of the Rust source can show.
///
/// Its [`Debug`](fmt::Debug) is the rendered report, so that `fn main() -> Result<(), Report>`
/// prints what a person can read.
#[derive(Clone)]
pub struct Report {
    pub(crate) plain: String,
    pub(crate) styled: String,
    pub(crate) gravity: Gravity,
}

impl Report {
    /// All errors of a file.
    pub(crate) fn of_file(file: &ScrFile) -> Self {
        Self {
            plain: file_with(file, false),
            styled: file_with(file, true),
            gravity: file.gravity(),
        }
    }

    /// The report of one sentence, with a way out.
    pub(crate) fn of(message: &str, help: &str) -> Self {
        let notice = Notice::error(message).help(help);
        Self {
            plain: notice.render(false),
            styled: notice.render(true),
            gravity: Gravity::BadInput,
        }
    }

    /// Several reports as one. `None` if there are none.
    pub(crate) fn join(reports: &[Self]) -> Option<Self> {
        let texts = |part: fn(&Self) -> &str| {
            let texts: Vec<&str> = reports.iter().map(part).collect();
            texts.join("\n\n")
        };
        Some(Self {
            plain: texts(|report| &report.plain),
            styled: texts(|report| &report.styled),
            gravity: reports.iter().map(|report| report.gravity).max()?,
        })
    }

    /// What it means for the package.
    #[must_use]
    pub(crate) fn gravity(&self) -> Gravity {
        self.gravity
    }

    /// The report with the colours of a terminal.
    #[must_use]
    pub fn styled(&self) -> &str {
        &self.styled
    }
}

/// In a line of its own: a `main` that returns an error prints `Error: ` before it.
impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.plain)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.plain)
    }
}

impl std::error::Error for Report {}
