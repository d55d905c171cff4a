//! One mistake in one place.

use super::{Code, Span};

/// One error or warning. The caller renders it.
///
/// A message is one sentence without a full stop; so are the labels and the help.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// True for an error: the protocol cannot be used. False for a warning: something in it may be
    /// unintended.
    pub is_error: bool,
    /// The kind of mistake.
    pub code: Code,
    /// The headline.
    pub message: String,
    /// The place of the mistake.
    pub primary: Span,
    /// The text at that place.
    pub label: String,
    /// Other places that matter, each with its text.
    pub secondary: Vec<(Span, String)>,
    /// Notes of one or several lines: for example two runs that a role confuses.
    pub notes: Vec<String>,
    /// Advice on how to fix the protocol.
    pub help: Option<String>,
    /// The name and the value of the limit that ended the search, if any.
    pub limit: Option<(&'static str, usize)>,
}

impl Diagnostic {
    /// An error without notes and help.
    pub(crate) fn new(
        code: Code,
        message: impl Into<String>,
        primary: Span,
        label: impl Into<String>,
    ) -> Self {
        Self {
            is_error: true,
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

    pub(crate) fn warning(self) -> Self {
        Self { is_error: false, ..self }
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

/// A value, or errors.
pub(crate) type Found<T> = Result<T, Vec<Diagnostic>>;

/// All values, or else all errors.
pub(crate) fn all<T>(found: impl IntoIterator<Item = Found<T>>) -> Found<Vec<T>> {
    let (mut values, mut diagnostics) = (Vec::new(), Vec::new());
    for found in found {
        match found {
            Ok(value) => values.push(value),
            Err(found) => diagnostics.extend(found),
        }
    }
    if diagnostics.is_empty() { Ok(values) } else { Err(diagnostics) }
}

/// Puts diagnostics into the order of the text. Keeps one for each code and place: the others would
/// report the same mistake on another path.
pub(crate) fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics
        .sort_by(|a, b| (a.primary, a.code, &a.message).cmp(&(b.primary, b.code, &b.message)));
    diagnostics.dedup_by(|a, b| (a.primary, a.code) == (b.primary, b.code));
}
