//! What is wrong, as a value.

use rumpsteak_fsm::sorted;

use crate::{diagnostics::code::Code, diagnostics::span::Span};

/// One error. Rendering is the caller's.
///
/// A message is one sentence without a full stop; so are the labels and the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
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
    /// What else to know, each perhaps of several lines: the runs that a role confuses.
    pub notes: Vec<String>,
    /// The way out.
    pub help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn new(
        code: Code,
        message: impl Into<String>,
        primary: Span,
        label: impl Into<String>,
    ) -> Self {
        Self {
            code,
            message: message.into(),
            primary,
            label: label.into(),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
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

    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }
}

/// Puts errors into the order of the text. Of several with one code in one place the first stays: the others say the same of
/// another way there.
pub(crate) fn sort(diagnostics: &mut Vec<Diagnostic>) {
    sorted::sort_by(diagnostics, |a, b| {
        (a.primary, a.code, &a.message).cmp(&(b.primary, b.code, &b.message))
    });
    diagnostics.dedup_by(|a, b| (a.primary, a.code) == (b.primary, b.code));
}
