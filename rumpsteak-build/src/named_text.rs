//! Texts with line numbers.

use std::ops::Range;
use std::sync::Arc;

/// A text, and bytes of it.
pub(crate) type TextPlace = (Arc<NamedText>, Range<usize>);

/// The text of a file, with the name that messages show.
#[derive(Debug, PartialEq)]
pub struct NamedText {
    /// The path as shown, or `<stdin>`.
    pub name: String,
    /// The contents.
    pub text: String,
    /// The offset of each line, ascending. The first is 0.
    line_starts: Vec<usize>,
}

impl NamedText {
    /// A text and its name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let (name, text) = (name.into(), text.into());
        let breaks = text.match_indices('\n').map(|(index, _)| index + 1);
        let line_starts = std::iter::once(0).chain(breaks).collect();
        Self { name, text, line_starts }
    }

    /// Cuts `span` to the text, and moves its ends outwards to whole characters.
    pub fn clip(&self, span: Range<usize>) -> Range<usize> {
        let length = self.text.len();
        let is_boundary = |at: &usize| self.text.is_char_boundary(*at);
        let start = (0..=span.start.min(length)).rev().find(is_boundary).unwrap_or(0);
        start..(span.end.max(start)..length).find(is_boundary).unwrap_or(length)
    }

    /// The line and the column of the byte at `index`, both counted from 1, columns in characters.
    pub fn position(&self, index: usize) -> (usize, usize) {
        let index = self.clip(index..index).start;
        let line = self.line_of(index);
        let start = self.line_starts[line - 1];
        (line, self.text[start..index].chars().count() + 1)
    }

    /// The whole lines that contain `span`: the number of the first one, from 1, and their bytes.
    pub(crate) fn lines(&self, span: Range<usize>) -> (usize, Range<usize>) {
        let span = self.clip(span);
        let mut first = self.line_of(span.start);
        if first > 1 && self.line_starts[first - 1] == self.text.len() {
            first -= 1;
        }
        let end = self.line_starts.get(self.line_of(span.end)).copied();
        (first, self.line_starts[first - 1]..end.unwrap_or(self.text.len()))
    }

    /// The number of the line that contains `index`, from 1.
    fn line_of(&self, index: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> NamedText {
        NamedText::new("x", text)
    }

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let text = text("ab\né!\n");
        assert_eq!(text.position(0), (1, 1));
        assert_eq!(text.position(2), (1, 3), "the line break is in its line");
        assert_eq!(text.position(3), (2, 1));
        assert_eq!(text.position(4), (2, 1), "inside `é`");
        assert_eq!(text.position(5), (2, 2));
        assert_eq!(text.position(99), (3, 1), "behind the end");
    }

    #[test]
    fn lines_are_whole_and_end_with_their_break() {
        assert_eq!(text("ab\ncd\nef").lines(0..1), (1, 0..3));
        assert_eq!(text("ab\ncd\nef").lines(4..7), (2, 3..8));
        assert_eq!(text("ab\ncd\nef").lines(8..8), (3, 6..8));
        assert_eq!(text("ab\ncd\n").lines(6..6), (2, 3..6));
        assert_eq!(text("\n").lines(1..1), (1, 0..1));
        assert_eq!(text("").lines(0..5), (1, 0..0));
    }

    #[test]
    fn spans_are_clipped_to_whole_characters_of_the_text() {
        let text = text("aé");
        assert_eq!(text.clip(2..2), 1..3);
        assert_eq!(text.clip(9..12), 3..3);
        // A span that ends before it starts.
        assert_eq!(text.clip(Range { start: 1, end: 0 }), 1..1);
    }
}
