//! Pieces of `.scr` files, drawn as rustc draws source.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use rumpsteak_scribble::{Diagnostic, Span};

use crate::protocols::ScrFile;

/// The lines of a file around some spans, the first of which is the primary one, without colours.
pub(crate) fn of(file: &ScrFile, marks: &[(Span, String)]) -> String {
    let mut snippet = Snippet::source(file.text.as_str())
        .path(file.shown.as_str())
        .fold(true);
    for (index, (span, label)) in marks.iter().enumerate() {
        let kind = if index == 0 {
            AnnotationKind::Primary
        } else {
            AnnotationKind::Context
        };
        snippet = snippet.annotation(kind.span(span.range()).label(label.as_str()));
    }
    let group = Group::with_level(Level::NOTE).element(snippet);
    Renderer::plain().render(&[group])
}

/// An error of a file with its excerpt and its help.
pub(crate) fn diagnostic(file: &ScrFile, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let Diagnostic {
        code,
        message,
        primary,
        label,
        secondary,
        notes,
        help,
    } = diagnostic;
    let mut snippet = Snippet::source(file.text.as_str())
        .path(file.shown.as_str())
        .fold(true)
        .annotation(
            AnnotationKind::Primary
                .span(primary.range())
                .label(label.as_str()),
        );
    for (span, label) in secondary {
        snippet = snippet.annotation(
            AnnotationKind::Context
                .span(span.range())
                .label(label.as_str()),
        );
    }
    let title = Level::ERROR
        .primary_title(message.as_str())
        .id(code.as_str());
    let mut group = title.element(snippet);
    for note in notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    if let Some(help) = help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}
