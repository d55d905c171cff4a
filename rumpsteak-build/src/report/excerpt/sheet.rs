//! The layout of one text: which lines are shown, and where on them the marks are drawn.
//!
//! ```text
//! 4 |     let a = b;                5 | /     if a {
//!   |         ^ - and this          6 | |         b
//!   |         |                     7 | |     } else { c }
//!   |         this                    | |_____^        - and this
//!                                     |       |
//!                                     |       this
//! ```
//!
//! A mark on one line is one *stroke*; one on several lines is two, where it starts and where it ends, with a *rail* at the
//! left of the lines between them. Below a line come rows, counted as *levels*: on level 0 are the underlines, and at the
//! end of the last one its label. What would be in the way of something at its left is moved down a level, with a bar that leads to it.

use super::drawing::{Canvas, Excerpt, Ink, cells, width};

/// How many columns a drawing has, unless a single mark takes more.
const COLUMNS: usize = 140;

/// How many cells are shown around the marks of a line that is cut, and before an indentation is.
const MARGIN: usize = 6;

/// A place in the text. On one line, places compare by where they are drawn.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Place {
    line: usize,
    /// The cells of the line before it.
    cell: usize,
    /// The characters of the line before it. One more than the line has is the place behind its line break.
    column: usize,
}

impl Place {
    fn start_of(line: usize) -> Self {
        Self {
            line,
            cell: 0,
            column: 0,
        }
    }
}

/// What is drawn on and below one line.
#[derive(Clone, Copy, Debug)]
struct Stroke<'a> {
    start: Place,
    /// On the same line.
    end: Place,
    edge: Edge,
    label: &'a str,
    ink: Ink,
    level: usize,
}

/// What a stroke has to do with a rail.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Edge {
    /// It is a mark of its own.
    None,
    /// The rail of this number starts here.
    Start(usize),
    /// The rail of this number ends here.
    End(usize),
    /// A rail passes a line that is shown because of it. Nothing is drawn; but a label at the line's first cell keeps away.
    Pass,
}

/// The bar that connects the start and the end of a mark.
#[derive(Clone, Copy, Debug)]
struct Rail<'a> {
    start: Place,
    end: Place,
    label: &'a str,
    ink: Ink,
    /// How many rails are at its left.
    depth: usize,
}

/// A text with marks.
#[derive(Debug)]
pub(super) struct Sheet<'a> {
    path: &'a str,
    /// Without their line breaks.
    lines: Vec<&'a str>,
    /// The start of the primary mark, or else of the first one in the text.
    head: Place,
    strokes: Vec<Stroke<'a>>,
    /// Those that start first come first, the longer one of two before the other.
    rails: Vec<Rail<'a>>,
    /// The lines with strokes, in order.
    shown: Vec<usize>,
    /// The first cell that is drawn of each line.
    left: usize,
    /// The cell behind the last one that is drawn of lines that are cut.
    right: usize,
    /// How many cells a line may have from `left` on without being cut.
    width: usize,
}

impl<'a> Sheet<'a> {
    /// The layout of an excerpt, the first mark of which is the primary one or one like the others.
    pub(super) fn new(excerpt: &Excerpt<'a>, primary: bool) -> Self {
        let source = excerpt.source;
        let mut sheet = Self {
            path: excerpt.path,
            lines: Vec::new(),
            head: Place::start_of(0),
            strokes: Vec::new(),
            rails: Vec::new(),
            shown: Vec::new(),
            left: 0,
            right: 0,
            width: 0,
        };
        // Where the lines start. A line break at the end of the text starts no line.
        let mut starts = Vec::new();
        let mut start = 0;
        for line in source.split_inclusive('\n') {
            starts.push(start);
            start += line.len();
            let line = line.strip_suffix('\n').unwrap_or(line);
            sheet.lines.push(line.strip_suffix('\r').unwrap_or(line));
        }
        if starts.is_empty() {
            starts.push(0);
            sheet.lines.push("");
        }

        for (index, mark) in excerpt.marks.iter().enumerate() {
            let start = sheet.place(&starts, floor(source, mark.range.start));
            let last = floor(source, mark.range.end.max(mark.range.start));
            let mut end = sheet.place(&starts, last);
            let ink = match primary && index == 0 {
                true => Ink::Level,
                false => Ink::Frame,
            };
            if index == 0 || !primary && start < sheet.head {
                sheet.head = start;
            }
            if start.line == end.line {
                // A line break is not underlined behind something else, and nothing is drawn without width.
                let length = sheet.lines[end.line].chars().count();
                end.column = end.column.min(length.max(start.column));
                end.cell = end.cell.max(start.cell + 1);
                sheet.stroke(start, end, Edge::None, mark.label, ink);
            } else {
                if last > starts[end.line] + sheet.lines[end.line].len() {
                    end.cell += 1;
                }
                sheet.rail(start, end, mark.label, ink);
            }
        }
        sheet.rails_to_strokes();
        sheet
    }

    /// The last line that is shown.
    pub(super) fn last(&self) -> Option<usize> {
        self.shown.last().copied()
    }

    /// How many columns the rails take, with the one that parts them from the text.
    pub(super) fn gutter(&self) -> usize {
        let mut gutter = 0;
        for rail in &self.rails {
            gutter = gutter.max(rail.depth + 2);
        }
        gutter
    }

    fn place(&self, starts: &[usize], offset: usize) -> Place {
        // The first line starts at 0, so at least one line starts here or before.
        let line = starts.partition_point(|&start| start <= offset) - 1;
        let length = offset - starts[line];
        let text = self.lines[line];
        let mut place = Place::start_of(line);
        place.column = usize::from(length > text.len());
        for read in text[..length.min(text.len())].chars() {
            place.column += 1;
            place.cell += width(read);
        }
        place
    }

    fn stroke(&mut self, start: Place, end: Place, edge: Edge, label: &'a str, ink: Ink) {
        if let Err(position) = self.shown.binary_search(&end.line) {
            self.shown.insert(position, end.line);
        }
        self.strokes.push(Stroke {
            start,
            end,
            edge,
            label,
            ink,
            level: 0,
        });
    }

    fn rail(&mut self, start: Place, end: Place, label: &'a str, ink: Ink) {
        let mut position = 0;
        for rail in &self.rails {
            if (rail.start.line, end.line) <= (start.line, rail.end.line) {
                position += 1;
            }
        }
        let rail = Rail {
            start,
            end,
            label,
            ink,
            depth: 0,
        };
        self.rails.insert(position, rail);
    }

    /// Puts the rails side by side, and makes strokes of their ends.
    fn rails_to_strokes(&mut self) {
        // Counted from the text: each rail is left of all those beside it that start later.
        let mut most = 0;
        for index in (0..self.rails.len()).rev() {
            let mut depth = 0;
            for later in &self.rails[index + 1..] {
                if later.start.line <= self.rails[index].end.line {
                    depth = depth.max(later.depth + 1);
                }
            }
            most = most.max(depth);
            self.rails[index].depth = depth;
        }
        for index in 0..self.rails.len() {
            let rail = &mut self.rails[index];
            rail.depth = most - rail.depth;
            let Rail {
                start,
                end,
                label,
                ink,
                depth,
            } = *rail;
            let next = Place {
                cell: start.cell + 1,
                column: start.column + 1,
                ..start
            };
            self.stroke(start, next, Edge::Start(depth), "", ink);
            // Four lines from the start, but for those that say nothing at their end, and two at the end.
            let fourth = end.line.min(start.line + 4);
            let mut until = fourth;
            while until > start.line + 1 && says_nothing(self.lines[until - 1]) {
                until -= 1;
            }
            for line in start.line + 1..until {
                self.pass(line, ink);
            }
            if fourth + 1 < end.line && !says_nothing(self.lines[end.line - 1]) {
                self.pass(end.line - 1, ink);
            }
            let last = Place {
                cell: end.cell.saturating_sub(1),
                column: end.column.saturating_sub(1),
                ..end
            };
            self.stroke(last, end, Edge::End(depth), label, ink);
        }
    }

    fn pass(&mut self, line: usize, ink: Ink) {
        let place = Place::start_of(line);
        self.stroke(place, place, Edge::Pass, "", ink);
    }

    pub(super) fn draw(&mut self, canvas: &mut Canvas, arrow: &str) {
        self.fit(COLUMNS.saturating_sub(canvas.margin + 3 + canvas.gutter));
        let row = canvas.row();
        canvas.write(row, canvas.margin, arrow, Ink::Frame);
        canvas.append(row, self.path, Ink::Plain);
        let place = format!(":{}:{}", self.head.line + 1, self.head.column + 1);
        canvas.append(row, &place, Ink::Plain);
        canvas.frame();
        let mut next = self.shown.first().copied().unwrap_or(0);
        for &line in &self.shown {
            if line == next + 1 {
                self.line(canvas, next);
            } else if line > next {
                let row = canvas.row();
                canvas.write(row, 0, "...", Ink::Frame);
                for rail in &self.rails {
                    if rail.start.line < next && line <= rail.end.line {
                        canvas.put(row, canvas.margin + 3 + rail.depth, '|', rail.ink);
                    }
                }
            }
            let row = self.line(canvas, line);
            self.marks(canvas, line, row);
            next = line + 1;
        }
    }

    /// Chooses what is shown of lines that are too long or far indented.
    fn fit(&mut self, width: usize) {
        let mut indent = None;
        let mut longest = 0;
        let mut first = usize::MAX;
        let mut last = 0;
        let mut label = 0;
        for stroke in &self.strokes {
            let text = self.lines[stroke.end.line];
            longest = longest.max(cells(text));
            let spaces = indentation(text);
            if spaces < text.len() {
                let spaces = cells(&text[..spaces]);
                indent = Some(indent.unwrap_or(spaces).min(spaces));
            }
            if stroke.edge != Edge::Pass {
                first = first.min(stroke.start.cell);
            }
            last = last.max(stroke.end.cell);
            let space = usize::from(!stroke.label.is_empty());
            label = label.max(stroke.end.cell + space + cells(stroke.label));
        }
        let indent = indent.unwrap_or(0).min(first).saturating_sub(MARGIN);
        let first = first.saturating_sub(MARGIN);
        let marks = (last + MARGIN).saturating_sub(first);
        let labels = (label + MARGIN).saturating_sub(first);

        self.width = width;
        self.left = if indent > 20 { indent - 16 } else { 0 };
        self.right = longest.max(self.left);
        if self.right - self.left > width {
            self.left = if (label + MARGIN).saturating_sub(indent) <= width {
                indent
            } else if labels <= width {
                first.saturating_sub((width - labels) / 2)
            } else if marks <= width {
                first.saturating_sub((width - marks) / 5 * 2)
            } else {
                first
            };
            self.right = self.left + width.max(marks);
        }
    }

    /// Draws a line with its number and the rails at its left.
    fn line(&self, canvas: &mut Canvas, line: usize) -> usize {
        let row = canvas.frame();
        let number = format!("{:>1$}", line + 1, canvas.margin);
        canvas.write(row, 0, &number, Ink::Frame);
        let whole = cells(self.lines[line]);
        let right = match whole <= self.left + self.width {
            true => whole,
            false => self.right,
        };
        let mut cell = 0;
        let mut cut = String::new();
        for read in self.lines[line].chars() {
            let next = cell + width(read);
            if read == '\t' || cell < self.left {
                // A tab may be cut; and half of a character is blank.
                for _ in cell.max(self.left)..next.min(right) {
                    cut.push(' ');
                }
            } else if next <= right {
                cut.push(read);
            }
            cell = next;
        }
        let text = self.at(canvas, 0);
        canvas.write(row, text, &cut, Ink::Plain);
        if self.left > 0 {
            canvas.write(row, text, "...", Ink::Frame);
        }
        if whole > right {
            let end = canvas.rows[row].len().max(text + 3);
            canvas.write(row, end - 3, "...", Ink::Frame);
        }
        self.bars(canvas, line, row);
        for rail in &self.rails {
            if rail.end.line == line {
                canvas.put(row, canvas.margin + 3 + rail.depth, '|', rail.ink);
            }
        }
        row
    }

    /// The column in which a cell is drawn.
    fn at(&self, canvas: &Canvas, cell: usize) -> usize {
        canvas.margin + 3 + canvas.gutter + cell.saturating_sub(self.left)
    }

    /// Draws the rails that pass a line.
    fn bars(&self, canvas: &mut Canvas, line: usize, row: usize) {
        for rail in &self.rails {
            if rail.start.line < line && line < rail.end.line {
                canvas.put(row, canvas.margin + 3 + rail.depth, '|', rail.ink);
            }
        }
    }

    /// Draws what belongs to a line, below it.
    fn marks(&self, canvas: &mut Canvas, line: usize, above: usize) {
        let rails = canvas.margin + 3;
        // From the right to the left; of those that start together, first what was added first.
        let mut strokes: Vec<Stroke<'a>> = Vec::new();
        let text = self.lines[line];
        let indent = cells(&text[..indentation(text)]);
        let mut short = true;
        let mut starts = true;
        for stroke in &self.strokes {
            if stroke.end.line == line {
                let mut position = strokes.len();
                while position > 0 && strokes[position - 1].start < stroke.start {
                    position -= 1;
                }
                strokes.insert(position, *stroke);
                let start = matches!(stroke.edge, Edge::Start(_));
                short &= start && stroke.start.cell <= indent || stroke.edge == Edge::Pass;
                starts &= start;
            }
        }
        // A mark that starts with its line needs no row of its own; neither does one that only passes.
        if short {
            for stroke in &strokes {
                if let Edge::Start(depth) = stroke.edge {
                    canvas.put(above, rails + depth, '/', stroke.ink);
                }
            }
            return;
        }

        let lowest = level(&mut strokes);
        let mut height = match lowest {
            0 => 1,
            _ => lowest + 2,
        };
        if starts {
            // Without labels, the outer rails may start first.
            for stroke in &mut strokes {
                stroke.level = lowest - stroke.level;
            }
            height = lowest + 1;
        }
        let base = canvas.rows.len();
        for _ in 0..height {
            canvas.frame();
        }
        for stroke in &strokes {
            let depth = match stroke.edge {
                Edge::None | Edge::Pass => continue,
                Edge::Start(depth) => {
                    canvas.put(base + stroke.level, rails + depth, ' ', stroke.ink);
                    depth
                }
                Edge::End(depth) => depth,
            };
            for column in rails + depth + 1..self.at(canvas, stroke.start.cell) {
                canvas.put(base + stroke.level, column, '_', stroke.ink);
            }
        }
        for stroke in &strokes {
            let column = self.at(canvas, stroke.start.cell);
            if stroke.hangs() {
                for level in 1..stroke.level + 1 {
                    canvas.put(base + level, column, '|', stroke.ink);
                }
            }
            let (levels, depth) = match stroke.edge {
                Edge::None | Edge::Pass => continue,
                Edge::Start(depth) => (stroke.level + 1..height, depth),
                Edge::End(depth) => (0..stroke.level + 1, depth),
            };
            for level in levels {
                canvas.put(base + level, rails + depth, '|', stroke.ink);
            }
        }
        for stroke in &strokes {
            let start = self.at(canvas, stroke.start.cell);
            let (row, column) = match stroke.level {
                0 => (base, self.at(canvas, stroke.end.cell).max(start + 1) + 1),
                level => (base + level + 1, start),
            };
            canvas.write(row, column, stroke.label, stroke.ink);
        }
        while let Some(index) = widest(&strokes) {
            let stroke = strokes.remove(index);
            let start = self.at(canvas, stroke.start.cell);
            let end = self.at(canvas, stroke.end.cell).max(start + 1);
            let drawn = match stroke.ink {
                Ink::Level => '^',
                _ => '-',
            };
            if stroke.edge != Edge::Pass {
                for column in start..end {
                    canvas.put(base, column, drawn, stroke.ink);
                }
            }
        }
        for row in base..base + height {
            self.bars(canvas, line, row);
        }
    }
}

impl Stroke<'_> {
    fn is_labelled(&self) -> bool {
        !self.label.is_empty()
    }

    fn is_edge(&self) -> bool {
        matches!(self.edge, Edge::Start(_) | Edge::End(_))
    }

    /// Whether something of it can be drawn below its underline.
    fn hangs(&self) -> bool {
        self.is_labelled() || self.is_edge()
    }

    /// Whether its underline, `more` cells longer, has a cell in common with that of a stroke at its right.
    fn meets(&self, right: &Self, more: usize) -> bool {
        let (start, end) = (self.start.cell, self.end.cell + more);
        right.start.cell <= start && start < right.end.cell
            || start <= right.start.cell && right.start.cell < end
    }

    /// Whether a label at the end of its underline would be over a stroke at its left.
    fn covers(&self, left: &Self) -> bool {
        let twin = left.start == self.start && left.end == self.end;
        self.is_labelled() && left.meets(self, 0) && (left.is_labelled() || !twin)
    }

    /// Whether a stroke at its left has to be below it.
    fn lifts(&self, left: &Self) -> bool {
        let more = match left.is_labelled() {
            true => left.label.len() + 2,
            false => 0,
        };
        let within = self.level == 0 && left.end <= self.end;
        self.is_edge() && left.hangs()
            || self.hangs() && left.is_edge()
            || left.is_labelled() && left.meets(self, more) && (self.is_labelled() || within)
    }
}

/// Gives each of the strokes of a line, from the right to the left, its level; the lowest of them.
fn level(strokes: &mut [Stroke<'_>]) -> usize {
    let mut level = 0;
    let mut lowest = 0;
    for index in 0..strokes.len() {
        let mut stroke = strokes[index];
        let left = &strokes[index + 1..];
        if level == 0 && left.iter().any(|left| stroke.covers(left)) {
            level = 1;
        }
        stroke.level = level;
        lowest = level;
        if left.iter().any(|left| stroke.lifts(left)) {
            level += 1;
        }
        strokes[index] = stroke;
    }
    lowest
}

/// The widest of the strokes, which is to be drawn before the narrower ones; of those as wide, the primary one is the last.
fn widest(strokes: &[Stroke<'_>]) -> Option<usize> {
    let mut widest = None;
    let mut best = (0, false);
    for (index, stroke) in strokes.iter().enumerate() {
        let key = (
            stroke.end.cell - stroke.start.cell,
            stroke.ink != Ink::Level,
        );
        if widest.is_none() || key > best {
            widest = Some(index);
            best = key;
        }
    }
    widest
}

/// How many bytes of white space a line starts with.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether a line is empty, a single bracket or a comment that is no documentation.
fn says_nothing(line: &str) -> bool {
    let line = line.trim();
    let docs = line.starts_with("///") || line.starts_with("//!");
    line.starts_with("//") && !docs || matches!(line, "" | "{" | "}" | "(" | ")" | "[" | "]")
}

/// The last boundary of a character that is not behind the offset.
fn floor(source: &str, offset: usize) -> usize {
    let mut offset = offset.min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
