//! Messages with places, notes and advice, and reports of several messages.

use std::fmt;
use std::sync::Arc;

use annotate_snippets::{Group, Level, Renderer};
use rumpsteak_scribble::Diagnostic;

use super::excerpt::Excerpt;
use crate::named_text::NamedText;
use crate::protocols::{Outcome, Protocols, ScrFile, gravest};
use crate::words::visible;

/// The severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// An error.
    Error,
    /// Something unusual that may be a mistake.
    Warning,
    /// A remark about something correct.
    #[cfg_attr(not(feature = "command"), expect(dead_code, reason = "only the command says it"))]
    Note,
}

/// A message as plain data.
#[derive(Clone, Debug)]
#[must_use = "a notice has no effect until it is printed"]
pub struct Notice {
    /// The severity.
    pub severity: Severity,
    /// The code that `cargo rumpsteak explain` knows.
    pub code: Option<&'static str>,
    /// The message, of one or more lines.
    pub message: String,
    /// The places in texts.
    pub excerpt: Excerpt,
    /// Further remarks.
    pub notes: Vec<String>,
    /// The advice.
    pub help: Option<String>,
}

impl Notice {
    /// An error.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    pub(crate) fn new(severity: Severity, message: impl Into<String>) -> Self {
        let (code, excerpt, notes, help) = Default::default();
        Self { severity, code, message: message.into(), excerpt, notes, help }
    }

    /// Sets the advice.
    pub fn help(self, help: impl Into<String>) -> Self {
        self.maybe_help(Some(help))
    }

    /// Sets the advice, or removes it.
    pub fn maybe_help(mut self, help: Option<impl Into<String>>) -> Self {
        self.help = help.map(Into::into);
        self
    }

    /// An error of a Scribble module, with the texts of the module and of its imports.
    pub fn of_diagnostic(texts: &[Arc<NamedText>], diagnostic: &Diagnostic) -> Self {
        let severity = if diagnostic.is_error { Severity::Error } else { Severity::Warning };
        let primary = (diagnostic.primary, diagnostic.label.clone());
        Self {
            code: Some(diagnostic.code.as_str()),
            excerpt: Excerpt::of_spans(texts, [&primary].into_iter().chain(&diagnostic.secondary)),
            notes: diagnostic.notes.clone(),
            help: diagnostic.help.clone(),
            ..Self::new(severity, diagnostic.message.clone())
        }
    }

    /// Renders the title, the excerpt, the notes and the help, without a final line break.
    pub fn render(&self, colour: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let mut title = level.primary_title(visible(&self.message));
        if let Some(code) = self.code {
            title = title.id(code);
        }
        let mut group = Group::with_title(title).elements(self.excerpt.snippets());
        // Below an excerpt, remarks hang from its margin.
        let notes = self.notes.iter().map(|note| (Level::NOTE, note));
        let remarks = notes.chain(self.help.iter().map(|help| (Level::HELP, help)));
        let mut rest = Vec::new();
        for (level, text) in remarks {
            if self.excerpt.marks.is_empty() {
                rest.push(Group::with_title(level.primary_title(visible(text))));
            } else {
                group = group.element(level.message(visible(text)));
            }
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        // Rendered separately, because the renderer puts an empty margin between groups.
        let mut text = renderer.render(std::slice::from_ref(&group));
        for group in &rest {
            text.push('\n');
            text.push_str(&renderer.render(std::slice::from_ref(group)));
        }
        text
    }
}

/// The errors of a build script that no macro can raise.
///
/// Its [`Debug`](fmt::Debug) output is the rendered report, which
/// `fn main() -> Result<(), Report>` prints.
#[derive(Clone)]
pub struct Report {
    notices: Vec<Notice>,
    pub(crate) outcome: Outcome,
}

impl Report {
    pub(crate) fn of_file(file: &ScrFile) -> Self {
        let errors = file.module.diagnostics.iter();
        Self {
            notices: errors.map(|error| Notice::of_diagnostic(&file.module.texts, error)).collect(),
            outcome: gravest(&file.module.diagnostics),
        }
    }

    /// A report of one sentence, with advice.
    pub(crate) fn of(message: &str, help: &str) -> Self {
        Self { notices: vec![Notice::error(message).help(help)], outcome: Outcome::BadInput }
    }

    /// Joins reports. `None` of an empty list.
    pub(crate) fn join(reports: Vec<Self>) -> Option<Self> {
        Some(Self {
            outcome: reports.iter().map(|report| report.outcome).max()?,
            notices: reports.into_iter().flat_map(|report| report.notices).collect(),
        })
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
    let help = "build.rs names the folder or the file relative to the package, as in `verify(\"protocols\")`";
    protocols.unreadable.iter().map(move |(path, error)| {
        Report::of(&format!("cannot read the protocols in `{path}`: {error}"), help)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_hang_from_the_margin_of_an_excerpt() {
        let notice = Notice::error("wrong").remark("one\ntwo").help("mend it");
        let notice = notice.with_code(Some("S0301"));
        assert_eq!(
            notice.render(false),
            "error[S0301]: wrong\nnote: one\n      two\nhelp: mend it"
        );
        let text = Arc::new(NamedText::new("p.scr", "a b\n"));
        let notice = notice.mark(&text, 2..3, "here");
        assert_eq!(
            notice.render(false),
            "error[S0301]: wrong\n --> p.scr:1:3\n  |\n1 | a b\n  |   ^ here\n  |\n  = note: one\n          \
             two\n  = help: mend it"
        );
        let styled = notice.render(true);
        assert!(styled.starts_with("\x1b[1m\x1b[91merror[S0301]"), "{styled:?}");
    }
}
