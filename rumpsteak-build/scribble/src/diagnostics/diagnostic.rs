//! One mistake in one place, as a value.

use super::code::Code;
use super::span::Span;

/// Whether a diagnostic says that the protocol is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// The protocol is understood, and something about it may surprise.
    Warning,
    /// The protocol cannot be used.
    Error,
}

/// One error or warning. The caller renders it.
///
/// A message is one sentence without a full stop; so are the labels and the help.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Whether the protocol can be used all the same.
    pub severity: Severity,
    /// Which mistake.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub primary: Span,
    /// What is there.
    pub label: String,
    /// Other places that matter, each with what is there.
    pub secondary: Vec<(Span, String)>,
    /// More to know, each note of one or several lines: for example two runs that a role confuses.
    pub notes: Vec<String>,
    /// The way out.
    pub help: Option<String>,
    /// The name and the value of the limit that ended the search, if one did.
    pub limit: Option<(&'static str, usize)>,
}

impl Diagnostic {
    /// Whether the protocol cannot be used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// An error without more to say.
    pub(crate) fn new(
        code: Code,
        message: impl Into<String>,
        primary: Span,
        label: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            primary,
            label: label.into(),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
            limit: None,
        }
    }

    pub(crate) fn with(mut self, span: Span, label: impl Into<String>) -> Self {
        self.secondary.push((span, label.into()));
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn limit(mut self, name: &'static str, value: usize) -> Self {
        self.limit = Some((name, value));
        self
    }

    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }
}

/// All values, or what is wrong with all those that there are not.
pub(crate) fn all<T>(
    found: impl IntoIterator<Item = Result<T, Vec<Diagnostic>>>,
) -> Result<Vec<T>, Vec<Diagnostic>> {
    let (mut values, mut diagnostics) = (Vec::new(), Vec::new());
    for found in found {
        match found {
            Ok(value) => values.push(value),
            Err(found) => diagnostics.extend(found),
        }
    }
    if diagnostics.is_empty() { Ok(values) } else { Err(diagnostics) }
}

/// Puts diagnostics into the order of the text. Of several with one code in one place the first
/// stays: the others say the same of another way there.
pub(crate) fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics
        .sort_by(|a, b| (a.primary, a.code, &a.message).cmp(&(b.primary, b.code, &b.message)));
    diagnostics.dedup_by(|a, b| (a.primary, a.code) == (b.primary, b.code));
}
