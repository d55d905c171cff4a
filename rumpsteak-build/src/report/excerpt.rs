//! Pieces of `.scr` files, drawn as rustc draws source.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use rumpsteak_scribble::{Diagnostic, SourceId, Span};

use crate::protocols::ScrFile;

/// The lines around some spans, the first of which is the primary one, without colours.
pub(crate) fn of(file: &ScrFile, marks: &[(Span, String)]) -> String {
    let marks: Vec<_> = marks
        .iter()
        .map(|(span, label)| (*span, label.as_str()))
        .collect();
    let group = Group::with_level(Level::NOTE).elements(snippets(file, &marks));
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
    let mut marks = vec![(*primary, label.as_str())];
    marks.extend(
        secondary
            .iter()
            .map(|(span, label)| (*span, label.as_str())),
    );
    let title = Level::ERROR
        .primary_title(message.as_str())
        .id(code.as_str());
    let mut group = title.elements(snippets(file, &marks));
    for note in notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    if let Some(help) = help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

/// One snippet for each text that has marks, that of the primary one first.
fn snippets<'a>(file: &'a ScrFile, marks: &[(Span, &'a str)]) -> Vec<Snippet<'a, Annotation<'a>>> {
    let mut sources: Vec<SourceId> = Vec::new();
    for (span, _) in marks {
        if !sources.contains(&span.source()) {
            sources.push(span.source());
        }
    }
    let snippet = |source: SourceId| {
        let text = file.text(source);
        let inside = marks
            .iter()
            .enumerate()
            .filter(|(_, (span, _))| span.source() == source);
        let annotations = inside.map(|(index, (span, label))| {
            let kind = if index == 0 {
                AnnotationKind::Primary
            } else {
                AnnotationKind::Context
            };
            kind.span(span.range()).label(*label)
        });
        Snippet::source(text.text.as_str())
            .path(text.shown.as_str())
            .fold(true)
            .annotations(annotations.collect::<Vec<_>>())
    };
    sources.into_iter().map(snippet).collect()
}
