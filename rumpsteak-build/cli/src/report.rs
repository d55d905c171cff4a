//! Diagnostics: values first, rendered with file and line by rustc's own renderer.

use std::{ops::Range, ptr, rc::Rc};

use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Renderer, Snippet, renderer::DecorStyle,
};
use serde_json::{Value, json};

use crate::{input::Source, terminal::plain};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// It has to be mended.
    Error,
    /// It holds, but is worth knowing.
    Note,
    /// Something was left out that may have been meant.
    Warning,
}

/// One diagnostic. Small, because it is the error of every function that reads something.
#[derive(Clone, Debug)]
pub(crate) struct Report(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    severity: Severity,
    /// The code of the library, if it has one.
    code: Option<String>,
    message: String,
    /// The first is the primary one.
    marks: Vec<Mark>,
    notes: Vec<String>,
    help: Option<String>,
}

/// A place that a diagnostic points at.
#[derive(Clone, Debug)]
struct Mark {
    source: Rc<Source>,
    /// Inside the text, at whole characters.
    span: Range<usize>,
    label: String,
}

impl Report {
    /// Something that has to be mended.
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message.into())
    }

    /// Something that is worth knowing.
    pub(crate) fn note(message: impl Into<String>) -> Self {
        Self::new(Severity::Note, message.into())
    }

    /// Something that was left out and may have been meant.
    pub(crate) fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message.into())
    }

    fn new(severity: Severity, message: String) -> Self {
        Self(Box::new(Parts {
            severity,
            code: None,
            message,
            marks: vec![],
            notes: vec![],
            help: None,
        }))
    }

    /// Adds the code that `explain` knows.
    pub(crate) fn code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(code.into());
        self
    }

    /// Adds a place in a text; the first one added is the primary one.
    pub(crate) fn mark(
        mut self,
        source: &Rc<Source>,
        span: Range<usize>,
        label: impl Into<String>,
    ) -> Self {
        self.0.marks.push(Mark {
            source: Rc::clone(source),
            span: source.clip(span),
            label: label.into(),
        });
        self
    }

    /// Adds a remark.
    pub(crate) fn remark(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
        self
    }

    /// Adds the way out.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// As [`help`](Self::help), if there is one.
    pub(crate) fn maybe_help(self, help: Option<impl Into<String>>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    /// The code that `explain` knows, if it has one.
    pub(crate) fn known_code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// What it says, in one line or a few, without the excerpt.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// The text for people: title, excerpt, notes and help, ending with a line break.
    pub(crate) fn render(&self, colour: bool) -> String {
        let level = match self.0.severity {
            Severity::Error => Level::ERROR,
            Severity::Note => Level::NOTE,
            Severity::Warning => Level::WARNING,
        };
        let message = plain(&self.0.message);
        let mut title = level.primary_title(message);
        if let Some(code) = &self.0.code {
            title = title.id(code.as_str());
        }
        let mut group = Group::with_title(title);
        group = group.elements(self.snippets());
        // Below an excerpt remarks hang from its margin; without one there is no margin.
        let remarks = self.0.notes.iter().map(|note| (Level::NOTE, note));
        let remarks = remarks.chain(self.0.help.iter().map(|help| (Level::HELP, help)));
        let mut groups = vec![];
        for (level, text) in remarks {
            if self.0.marks.is_empty() {
                groups.push(Group::with_title(level.primary_title(plain(text))));
            } else {
                group = group.element(level.message(plain(text)));
            }
        }
        groups.insert(0, group);

        let renderer = match colour {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let render = |group: &Group<'_>| renderer.render(std::slice::from_ref(group)) + "\n";
        groups.iter().map(render).collect::<String>() + "\n"
    }

    /// The same as a JSON object.
    pub(crate) fn to_json(&self) -> Value {
        let marks = self.0.marks.iter().enumerate();
        let spans: Vec<Value> = marks
            .map(|(index, mark)| mark.to_json(index == 0))
            .collect();
        json!({
            "level": match self.0.severity {
                Severity::Error => "error",
                Severity::Note => "note",
                Severity::Warning => "warning",
            },
            "code": self.0.code,
            "message": self.0.message,
            "spans": spans,
            "notes": self.0.notes,
            "help": self.0.help,
            "rendered": self.render(false),
        })
    }
}

impl Report {
    /// One excerpt for each text, in order of first mention, of the lines around its marks: the cost of the
    /// renderer grows with the text that it is given.
    fn snippets(&self) -> Vec<Snippet<'_, Annotation<'_>>> {
        let mut texts: Vec<(&Source, Vec<(AnnotationKind, &Mark)>)> = vec![];
        for (index, mark) in self.0.marks.iter().enumerate() {
            let kind = match index {
                0 => AnnotationKind::Primary,
                _ => AnnotationKind::Context,
            };
            let known = texts
                .iter_mut()
                .find(|(text, _)| ptr::eq(*text, &*mark.source));
            match known {
                Some((_, marks)) => marks.push((kind, mark)),
                None => texts.push((&mark.source, vec![(kind, mark)])),
            }
        }

        let snippet = |(text, marks): (&'_ Source, Vec<(AnnotationKind, &Mark)>)| {
            let start = marks.iter().map(|(_, mark)| mark.span.start).min();
            let end = marks.iter().map(|(_, mark)| mark.span.end).max();
            let (line, range) = text.lines(start.unwrap_or(0)..end.unwrap_or(0));
            let annotations = marks.into_iter().map(|(kind, mark)| {
                let label = (!mark.label.is_empty()).then(|| plain(&mark.label));
                kind.span(mark.span.start - range.start..mark.span.end - range.start)
                    .label(label)
            });
            Snippet::source(text.text[range.clone()].to_owned())
                .line_start(line)
                .path(plain(&text.name))
                .annotations(annotations.collect::<Vec<_>>())
        };
        texts.into_iter().map(snippet).collect()
    }
}

impl Mark {
    fn to_json(&self, is_primary: bool) -> Value {
        let (line_start, column_start) = self.source.position(self.span.start);
        let (line_end, column_end) = self.source.position(self.span.end);
        json!({
            "file_name": self.source.name,
            "byte_start": self.span.start,
            "byte_end": self.span.end,
            "line_start": line_start,
            "line_end": line_end,
            "column_start": column_start,
            "column_end": column_end,
            "is_primary": is_primary,
            "label": self.label,
        })
    }
}

/// `1 message`, `2 messages`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The name that somebody who wrote `wanted` most likely meant, if there is one like it.
pub(crate) fn similar<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let names: Vec<&str> = names.into_iter().collect();
    rumpsteak_scribble::similar(wanted, &names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_wins_and_a_distant_one_does_not() {
        assert_eq!(similar("Kernal", ["kernel", "kettle"]), Some("kernel"));
        assert_eq!(similar("k", ["s", "k1", "t"]), None);
        assert_eq!(similar("k", ["s", "K", "t"]), Some("K"));
        assert_eq!(similar("buyer", ["seller", "agency"]), None);
        assert_eq!(similar("x", []), None);
    }
}
