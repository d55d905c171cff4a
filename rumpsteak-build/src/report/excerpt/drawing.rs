//! Texts with marks in them, drawn as rustc draws source.
//!
//! ```text
//! error[S0301]: C is not told which branch was taken
//!   --> p.scr:4:5
//!    |
//!  4 |       choice at A {
//!    |       ^^^^^^    --- this role chooses
//!    |       |
//!    |       these branches
//! ...
//!  9 |       } or {
//!    |  __________-
//! 10 | |         Go() from A to B;
//! 11 | |     }
//!    | |_____- this branch
//!    |
//!   ::: q.scr:1:8
//!    |
//!  1 |   import p;
//!    |          - imported here
//!    |
//!    = note: C waits for Stop()
//!            in one branch only
//!    = help: send C a message in each branch
//! ```
//!
//! The title, if there is one, has a level, a code and a message. Behind the arrow stand the path and the place of the
//! primary mark, or of the first one in another text. A line with marks has its number at its left, and below it are the
//! underlines: `^` for the primary mark, `-` for the others. The label of the last one stands at its end; the others hang
//! below it, unless there is room. One line between lines with marks is shown, more are left out. A mark of several lines
//! has a rail at the left. Notes and help follow.
//!
//! Excerpts are to look like the compiler's, because they appear among the compiler's. `annotate-snippets`, rustc's own
//! renderer, draws these shapes among many others, and took an eighth of the 10 CPU-seconds that a user's clean build may
//! cost. It is a dev-dependency now, and the tests hold every drawing against it. They agree to the byte, plain and
//! styled, with these exceptions:
//!
//! * each mark of several lines has a rail that meets no other, where rustc's renderer may draw three over each other, and
//!   draws two marks of the same lines as one;
//! * a mark that is wider than the window is drawn in full, not with its middle left out;
//! * numbers of lines are always padded: rustc's renderer forgets it where the last mark starts line 10, 100, …;
//! * control characters are replaced in labels, notes and paths too, not only in source and title;
//! * widths of characters are those of [`width`], an approximation;
//! * places between the two characters of a line break, or behind a zero-width joiner, may be a cell off.
//!
//! Nothing here fails: a range beyond the text or inside a character is moved back to the nearest boundary.
//!
//! The cost is linear in the texts and in the drawing, and for n marks on one line quadratic in n. The code has no generic
//! parameters and few closures, since each user compiles it, without optimisation.

use std::ops::Range;
use std::ptr;

use super::sheet::Sheet;

/// Everything that is drawn at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drawing<'a> {
    /// What is wrong; without it the drawing starts with its first excerpt.
    pub(crate) title: Option<Title<'a>>,
    /// The first mark of the first one is the primary one: the place of the error itself.
    pub(crate) excerpts: Vec<Excerpt<'a>>,
    /// `note` or `help`, and a text of one line or several.
    pub(crate) notes: Vec<(&'static str, &'a str)>,
}

/// An error in one sentence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Title<'a> {
    pub(crate) code: Option<&'a str>,
    /// One line or several.
    pub(crate) message: &'a str,
}

/// A text, of which the lines with marks are shown. Without marks, it is not drawn.
#[derive(Clone, Debug)]
pub(crate) struct Excerpt<'a> {
    pub(crate) path: &'a str,
    pub(crate) source: &'a str,
    pub(crate) marks: Vec<Mark<'a>>,
}

/// A place in a text.
#[derive(Clone, Debug)]
pub(crate) struct Mark<'a> {
    /// Bytes of the text. An empty range is drawn as one character.
    pub(crate) range: Range<usize>,
    /// One line, or nothing.
    pub(crate) label: &'a str,
}

impl<'a> Drawing<'a> {
    /// Adds a mark to the excerpt of its text, which is a new one if none has this path and text.
    pub(crate) fn mark(
        &mut self,
        path: &'a str,
        source: &'a str,
        range: Range<usize>,
        label: &'a str,
    ) {
        let mark = Mark { range, label };
        for excerpt in &mut self.excerpts {
            if excerpt.path == path && ptr::eq(excerpt.source, source) {
                excerpt.marks.push(mark);
                return;
            }
        }
        self.excerpts.push(Excerpt {
            path,
            source,
            marks: vec![mark],
        });
    }

    /// The lines of the drawing, without a line break after the last one, with the colours of a terminal or without.
    pub(crate) fn render(&self, styled: bool) -> String {
        let mut sheets = Vec::new();
        let mut last = None;
        let mut gutter = 0;
        for excerpt in &self.excerpts {
            if !excerpt.marks.is_empty() {
                let sheet = Sheet::new(excerpt, sheets.is_empty());
                last = last.max(sheet.last());
                gutter = gutter.max(sheet.gutter());
                sheets.push(sheet);
            }
        }
        let mut canvas = Canvas {
            rows: Vec::new(),
            margin: last.map_or(0, |line| (line + 1).to_string().len()),
            gutter,
        };
        if let Some(title) = &self.title {
            canvas.title(title);
        }
        for (index, sheet) in sheets.iter_mut().enumerate() {
            if index > 0 {
                canvas.frame();
            }
            sheet.draw(&mut canvas, if index == 0 { "--> " } else { "::: " });
        }
        if !self.notes.is_empty() {
            canvas.frame();
        }
        for (name, text) in &self.notes {
            let row = canvas.row();
            canvas.write(row, canvas.margin + 1, "= ", Ink::Frame);
            canvas.append(row, name, Ink::Bold);
            canvas.append(row, ": ", Ink::Plain);
            canvas.lines(row, text, Ink::Plain);
        }
        canvas.print(styled, self.title.is_some())
    }
}

/// How a character is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ink {
    Plain,
    Bold,
    /// What belongs to the error: the word itself and the primary mark.
    Level,
    /// What frames the text, and the other marks.
    Frame,
}

/// The rows that are drawn. A row is as long as what was put into it.
#[derive(Debug)]
pub(super) struct Canvas {
    pub(super) rows: Vec<Vec<(char, Ink)>>,
    /// How many digits the numbers of lines have.
    pub(super) margin: usize,
    /// How many columns rails take, with the one that parts them from the text.
    pub(super) gutter: usize,
}

impl Canvas {
    /// A new row at the bottom.
    pub(super) fn row(&mut self) -> usize {
        self.rows.push(Vec::new());
        self.rows.len() - 1
    }

    /// A new row with the bar between numbers and text.
    pub(super) fn frame(&mut self) -> usize {
        let row = self.row();
        self.put(row, self.margin + 1, '|', Ink::Frame);
        row
    }

    pub(super) fn put(&mut self, row: usize, column: usize, drawn: char, ink: Ink) {
        let row = &mut self.rows[row];
        while row.len() <= column {
            row.push((' ', Ink::Plain));
        }
        row[column] = (drawn, ink);
    }

    /// Puts a text, in which characters that would move the cursor or the text around them are replaced.
    pub(super) fn write(&mut self, row: usize, column: usize, text: &str, ink: Ink) {
        let mut column = column;
        for read in text.chars() {
            let drawn = match read {
                '\t' => {
                    for _ in 1..TAB {
                        self.put(row, column, ' ', ink);
                        column += 1;
                    }
                    ' '
                }
                // The pictures of the control characters.
                '\0'..='\x1f' => char::from_u32(0x2400 + read as u32).unwrap_or(' '),
                '\x7f' => '\u{2421}',
                '\u{200d}' => continue,
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
                _ => read,
            };
            self.put(row, column, drawn, ink);
            column += 1;
        }
    }

    pub(super) fn append(&mut self, row: usize, text: &str, ink: Ink) {
        self.write(row, self.rows[row].len(), text, ink);
    }

    /// Appends a text of several lines, all of which start in the same column.
    fn lines(&mut self, row: usize, text: &str, ink: Ink) {
        let indent = self.rows[row].len();
        let mut row = row;
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                row = self.row();
                self.rows[row].resize(indent, (' ', Ink::Plain));
            }
            self.append(row, line, ink);
        }
    }

    fn title(&mut self, title: &Title<'_>) {
        let row = self.row();
        self.append(row, "error", Ink::Level);
        if let Some(code) = title.code {
            self.append(row, "[", Ink::Level);
            self.append(row, code, Ink::Level);
            self.append(row, "]", Ink::Level);
        }
        self.append(row, ": ", Ink::Bold);
        self.lines(row, title.message, Ink::Bold);
    }

    /// The rows as text. Without an error at its head, the drawing is a note, which has a colour of its own.
    fn print(&self, styled: bool, error: bool) -> String {
        let mut printed = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            if index > 0 {
                printed.push('\n');
            }
            let mut before = Ink::Plain;
            for &(drawn, ink) in row {
                if styled && ink != before {
                    reset(&mut printed, before);
                    printed.push_str(match ink {
                        Ink::Plain => "",
                        Ink::Bold => "\x1b[1m",
                        Ink::Level if error => "\x1b[1m\x1b[91m",
                        Ink::Level => "\x1b[1m\x1b[92m",
                        Ink::Frame => "\x1b[1m\x1b[94m",
                    });
                    before = ink;
                }
                printed.push(drawn);
            }
            reset(&mut printed, before);
        }
        printed
    }
}

fn reset(printed: &mut String, ink: Ink) {
    if ink != Ink::Plain {
        printed.push_str("\x1b[0m");
    }
}

/// As many cells has a tab, wherever it stands.
const TAB: usize = 4;

/// How many cells of a terminal a character takes. This is an approximation: exact for ASCII, Latin, Greek, Cyrillic, Chinese,
/// Japanese and Korean writing and the common symbols; marks may be drawn beside other writings and rare symbols.
pub(super) fn width(read: char) -> usize {
    match read {
        '\t' => TAB,
        ..='\u{ac}' => 1,
        // Combining marks, and what has no shape.
        '\u{ad}'
        | '\u{300}'..='\u{36f}'
        | '\u{483}'..='\u{489}'
        | '\u{1ab0}'..='\u{1acf}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2065}'
        | '\u{20d0}'..='\u{20f0}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}'
        | '\u{feff}' => 0,
        // Jamo, ideographs and kana, syllables, full-width forms, pictures, more ideographs.
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{a960}'..='\u{a97c}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6b}'
        | '\u{ff01}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f900}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// How many cells a text takes.
pub(super) fn cells(text: &str) -> usize {
    let mut cells = 0;
    for read in text.chars() {
        cells += width(read);
    }
    cells
}
