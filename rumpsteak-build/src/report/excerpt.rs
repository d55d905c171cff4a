//! Source excerpts with labels, drawn as rustc draws them, by `annotate-snippets`. It only gets the
//! lines around the labels, because its cost grows with the text, and only ranges of whole
//! characters, because it panics at others.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use rumpsteak_scribble::Span;

use crate::named_text::{NamedText, TextPlace};
use crate::short_map::entry;
use crate::words::visible;

/// Places in texts. The first one is the primary place: the error itself.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    /// The places.
    pub marks: Vec<Mark>,
}

/// A place in a text.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The text.
    pub text: Arc<NamedText>,
    /// A range of whole characters. An empty range is drawn as one character.
    pub span: Range<usize>,
    /// The text at the place, possibly empty.
    pub label: String,
}

impl Excerpt {
    /// The lines of a Scribble module and its imports around some spans.
    pub fn of_spans<'a>(
        texts: &[Arc<NamedText>],
        marks: impl IntoIterator<Item = &'a (Span, String)>,
    ) -> Self {
        let mut excerpt = Self::default();
        for (span, label) in marks {
            // A text that does not exist has no place.
            if let Some(text) = texts.get(span.source().index()) {
                excerpt.mark(text, span.range(), label);
            }
        }
        excerpt
    }

    pub(crate) fn of_place((text, span): &TextPlace, label: &str) -> Self {
        let mut excerpt = Self::default();
        excerpt.mark(text, span.clone(), label);
        excerpt
    }

    /// Adds a place. A span beyond the text moves to its end.
    pub fn mark(&mut self, text: &Arc<NamedText>, span: Range<usize>, label: &str) {
        let (span, label) = (text.clip(span), label.to_owned());
        self.marks.push(Mark { text: Arc::clone(text), span, label });
    }

    pub(super) fn snippets(&self) -> Vec<Snippet<'_, Annotation<'_>>> {
        let mut texts = Vec::new();
        for (index, mark) in self.marks.iter().enumerate() {
            let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            entry::<_, Vec<_>>(&mut texts, Arc::as_ptr(&mark.text)).push((kind, mark));
        }
        texts.iter().map(|(_, marks)| snippet(marks)).collect()
    }
}

/// The lines of one text around its marks: at least one.
fn snippet<'a>(marks: &[(AnnotationKind, &'a Mark)]) -> Snippet<'a, Annotation<'a>> {
    let text = &marks[0].1.text;
    let start = marks.iter().map(|(_, mark)| mark.span.start).min();
    let end = marks.iter().map(|(_, mark)| mark.span.end).max();
    let (line, range) = text.lines(start.unwrap_or(0)..end.unwrap_or(0));
    let annotations = marks.iter().map(|(kind, mark)| {
        let label = (!mark.label.is_empty()).then(|| visible(&mark.label));
        kind.span(mark.span.start - range.start..mark.span.end - range.start).label(label)
    });
    Snippet::source(&text.text[range.clone()])
        .line_start(line)
        .path(visible(&text.name))
        .annotations(annotations.collect::<Vec<_>>())
}

/// Draws the places without colours and without a title.
impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = Group::with_level(Level::NOTE).elements(self.snippets());
        f.write_str(&Renderer::plain().render(&[group]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(source: &str, marks: &[(Range<usize>, &str)]) -> String {
        let text = Arc::new(NamedText::new("p.scr", source));
        let mut excerpt = Excerpt::default();
        for (span, label) in marks {
            excerpt.mark(&text, span.clone(), label);
        }
        excerpt.to_string()
    }

    #[test]
    fn marks_are_drawn_below_their_lines() {
        let source = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
        let expected = "
  --> p.scr:3:1
   |
 3 | three
   | ^^^^^ here
...
10 | ten
   | --- there";
        let drawn = draw(source, &[(8..13, "here"), (45..48, "there")]);
        assert_eq!(drawn, expected.trim_start_matches('\n'));
    }

    #[test]
    fn the_end_of_the_text_is_in_its_last_line() {
        for (source, end, expected) in [
            ("", 0, "1 |\n  | ^ end"),
            ("ab", 2, "1 | ab\n  |   ^ end"),
            ("ab\n", 3, "1 | ab\n  |   ^ end"),
            ("ab\n\n", 3, "2 |\n  | ^ end"),
            ("ab\r\n", 2, "1 | ab\n  |   ^ end"),
        ] {
            let drawn = draw(source, &[(end..end, "end")]);
            assert!(drawn.ends_with(expected), "{source:?}:\n{drawn}");
        }
    }

    #[test]
    fn control_characters_are_made_visible() {
        let drawn = draw("a\u{1b}[31m\u{202e}b", &[(9..10, "\u{1b}[31m")]);
        assert!(!drawn.contains(|letter: char| letter.is_control() && letter != '\n'));
        assert!(!drawn.contains('\u{202e}'));
        assert!(drawn.ends_with("^ \\u{1b}[31m"), "{drawn}");
    }

    #[test]
    fn a_long_line_is_cut() {
        let words: String = (0..1_000_000).map(|word| format!("{word:06} ")).collect();
        let drawn = draw(&words, &[(3_500_000..3_500_006, "middle")]);
        assert!(drawn.lines().all(|line| line.chars().count() < 200));
        assert!(drawn.ends_with("^^^^^^ middle"), "{drawn}");
    }

    /// Any range in any text is drawn, and the lines that are left out change nothing.
    #[test]
    fn no_range_and_no_text_is_refused() {
        const PIECES: [&str; 14] = [
            "a", "b c", " ", "        ", "\n", "\r\n", "\t", "漢", "e\u{301}", "\u{200b}", "\u{7}",
            "🦀", "\n}\n", "\n// c\n",
        ];
        const LABELS: [&str; 4] = ["", "x", "the other one", "wide 漢字"];
        let mut random = fastrand::Rng::with_seed(0x2545_f491_4f6c_dd1d);
        for _ in 0..1_000 {
            let source: String =
                (0..random.usize(..80)).map(|_| PIECES[random.usize(..PIECES.len())]).collect();
            let mut offset = || match random.usize(..8) {
                0 => usize::MAX - random.usize(..3),
                _ => random.usize(..source.len() + 3),
            };
            let ranges: Vec<_> = (0..6).map(|_| offset()..offset()).collect();
            let marks: Vec<_> = ranges
                .into_iter()
                .zip(LABELS.iter().cycle())
                .map(|(range, label)| (range, *label))
                .collect();
            let drawn = draw(&source, &marks);
            for (_, label) in marks {
                assert!(drawn.contains(label), "{label} is not in\n{drawn}");
            }
        }
    }
}
