//! Pieces of `.scr` files, of Rust source and of machines, drawn as rustc draws source.
//!
//! [`mod@drawing`] says what a drawing looks like and why the renderer is our own; [`sheet`] lays out one text.

pub(crate) mod drawing;
mod sheet;
#[cfg(test)]
mod tests;

use std::ops::Range;

use rumpsteak_scribble::{Diagnostic, Span};

use self::drawing::{Drawing, Title};
use crate::protocols::ScrFile;

/// The lines around some spans, the first of which is the primary one, without colours.
pub(crate) fn of(file: &ScrFile, marks: &[(Span, String)]) -> String {
    let mut drawing = Drawing::default();
    for (span, label) in marks {
        mark(&mut drawing, file, *span, label);
    }
    drawing.render(false)
}

/// The lines around one place of a text, without colours.
pub(crate) fn around(path: &str, source: &str, range: Range<usize>, label: &str) -> String {
    let mut drawing = Drawing::default();
    drawing.mark(path, source, range, label);
    drawing.render(false)
}

/// An error of a file with its excerpt and its help.
pub(crate) fn diagnostic(file: &ScrFile, diagnostic: &Diagnostic, styled: bool) -> String {
    drawing(file, diagnostic).render(styled)
}

fn drawing<'a>(file: &'a ScrFile, diagnostic: &'a Diagnostic) -> Drawing<'a> {
    let Diagnostic {
        code,
        message,
        primary,
        label,
        secondary,
        notes,
        help,
    } = diagnostic;
    let mut drawing = Drawing {
        title: Some(Title {
            code: Some(code.as_str()),
            message,
        }),
        ..Drawing::default()
    };
    mark(&mut drawing, file, *primary, label);
    for (span, label) in secondary {
        mark(&mut drawing, file, *span, label);
    }
    for note in notes {
        drawing.notes.push(("note", note));
    }
    if let Some(help) = help {
        drawing.notes.push(("help", help));
    }
    drawing
}

fn mark<'a>(drawing: &mut Drawing<'a>, file: &'a ScrFile, span: Span, label: &'a str) {
    let text = file.text(span.source());
    drawing.mark(&text.shown, &text.text, span.range(), label);
}
