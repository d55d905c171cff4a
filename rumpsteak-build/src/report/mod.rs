//! What the user reads.
//!
//! Two readers, two forms. The text of a `compile_error!` stands below the user's own line, which rustc draws: it is
//! plain, because it lands in JSON and in editors, and shows only what rustc cannot know, the `.scr` file and the run.
//! A report on stderr is complete and may have colours.

pub(crate) mod excerpt;
pub(crate) mod refusal;
pub(crate) mod text;

use std::fmt;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::protocols::ScrFile;

/// All errors of a file as the text of one `compile_error!`.
pub(crate) fn file(file: &ScrFile) -> String {
    let errors = match file.diagnostics.len() {
        1 => "an error".to_owned(),
        count => format!("{count} errors"),
    };
    format!(
        "{errors} in {}\n\n{}",
        file.shown(),
        file_with(file, &Renderer::plain())
    )
}

/// All errors of a file, one after the other.
pub(crate) fn file_with(file: &ScrFile, renderer: &Renderer) -> String {
    let drawn = file
        .diagnostics
        .iter()
        .map(|error| excerpt::diagnostic(file, error, renderer));
    drawn.collect::<Vec<_>>().join("\n\n")
}

/// A problem in Rust source, drawn as rustc would draw it.
pub(crate) fn problem(
    problem: &crate::Problem,
    source: Option<&str>,
    renderer: &Renderer,
) -> String {
    let mut lines = problem.text.splitn(2, '\n');
    let title = Level::ERROR.primary_title(lines.next().unwrap_or_default());
    let group = match source {
        Some(source) if problem.range.end <= source.len() => title.element(
            Snippet::source(source)
                .path(problem.file.as_str())
                .fold(true)
                .annotation(AnnotationKind::Primary.span(problem.range.clone())),
        ),
        _ => annotate_snippets::Group::with_title(title),
    };
    let rest = lines.next().map_or(String::new(), |rest| {
        format!("\n{}", rest.trim_start_matches('\n'))
    });
    format!("{}{rest}", renderer.render(&[group]))
}

/// Why a build script cannot go on: errors that no item of the Rust source can show.
///
/// Its [`Debug`](fmt::Debug) is the rendered report, so that `fn main() -> Result<(), Report>` prints what a person can
/// read.
#[derive(Clone)]
pub struct Report {
    pub(crate) plain: String,
    pub(crate) styled: String,
    pub(crate) kind: Kind,
}

/// What a problem or a report means for the question whether the package holds; the graver one is the greater.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Kind {
    /// It was not found out: a limit ended a proof, or an error that is reported elsewhere is in the way.
    Undecided,
    /// It does not hold.
    Fails,
    /// Something cannot be read, so there is nothing to judge.
    BadInput,
}

impl Report {
    pub(crate) fn new(kind: Kind, render: impl Fn(&Renderer) -> String) -> Self {
        Self {
            plain: render(&Renderer::plain()),
            styled: render(&Renderer::styled()),
            kind,
        }
    }

    /// All errors of a file.
    pub(crate) fn of_file(file: &ScrFile) -> Self {
        Self::new(file.kind(), |renderer| file_with(file, renderer))
    }

    /// The report of one sentence, with a way out.
    pub(crate) fn of(message: &str, help: &str) -> Self {
        Self::new(Kind::BadInput, |renderer| {
            let title = Level::ERROR.primary_title(message);
            renderer.render(&[title.element(Level::HELP.message(help))])
        })
    }

    /// What it means for the package.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The report with the colours of a terminal.
    #[must_use]
    pub fn styled(&self) -> &str {
        &self.styled
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.plain)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.plain)
    }
}

impl std::error::Error for Report {}
