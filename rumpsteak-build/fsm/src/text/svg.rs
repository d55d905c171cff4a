//! Pictures of machines: a tree of states from the initial one downwards.
//!
//! ```text
//!   ●         the initial state
//!   │ s!ready
//!  (1)──────╮
//!   │ s?go  │ s?stop
//!  (2)     ((3))        a session may end in a state with two circles
//!   │ t!go
//!  ┊0┊                  on from a state that is drawn elsewhere: dashed, with its number
//! ```
//!
//! The first way on goes straight down; further ways have columns of their own to the right. A tree
//! needs no layout engine, and no two of its lines cross. Pictures have the colour of the text
//! around them.

use std::fmt::Write as _;

use crate::machine::{Fsm, StateId, Transition};

/// Pixels from one state to the next below it.
const ROW: usize = 56;
/// Pixels from a state to the left edge of its column, and its radius.
const LEFT: usize = 24;
const RADIUS: usize = 13;
/// The width of a character, and the space in a column beside the longest text.
const CHARACTER: usize = 8;
const SPACE: usize = LEFT + 28;

/// A state at the lower end of a way.
struct Place<'a> {
    state: StateId,
    /// True if the state is drawn elsewhere.
    is_repeated: bool,
    row: usize,
    column: usize,
    /// The column of the state above it, and the transition between them.
    from: Option<(usize, Transition<'a>)>,
}

/// One picture, the machines in it one below the other.
pub(super) fn print(machines: &[Fsm]) -> String {
    let (mut body, mut width, mut height) = (String::new(), 0, 0);
    for fsm in machines {
        let places = places(fsm);
        let columns = columns(&places, fsm);
        let mut picture = Picture::default();
        for place in &places {
            picture.draw(fsm, place, &columns);
        }
        let Picture { lines, circles, words } = picture;
        let role = escape(fsm.role().as_str());
        // Writing to a string does not fail.
        let _ = write!(
            body,
            "<g transform=\"translate(0 {height})\"><g fill=\"none\" stroke=\"currentColor\">\
             <path d=\"{lines}\"/>{circles}</g><text x=\"8\" y=\"18\" font-weight=\"bold\">{role}</text>\
             {words}</g>"
        );
        height += y(places.iter().map(|place| place.row).max().unwrap_or(0)) + RADIUS + 8;
        width = width.max(columns.last().copied().unwrap_or(0));
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"13\" \
         fill=\"currentColor\">{body}</svg>\n"
    )
}

/// The tree, each state before those below it.
fn places(fsm: &Fsm) -> Vec<Place<'_>> {
    let mut places: Vec<Place<'_>> = Vec::new();
    let mut is_drawn = vec![false; fsm.len()];
    let mut columns = 1;
    // The row, what is above (its column, and the transition from there), and true if it goes
    // straight down; the next one is the last.
    let mut pending = vec![(0, None, true)];
    while let Some((row, from, is_straight)) = pending.pop() {
        let start = (0, fsm.initial());
        let (above, state) = from.map_or(start, |(at, Transition { target, .. })| (at, target));
        let is_repeated = std::mem::replace(&mut is_drawn[state.index()], true);
        let column = if is_straight { above } else { columns };
        columns += usize::from(!is_straight);
        places.push(Place { state, is_repeated, row, column, from });
        if !is_repeated {
            let below: Vec<_> = fsm.transitions_from(state).collect();
            let below = below.into_iter().enumerate().rev();
            pending.extend(below.map(|(number, by)| (row + 1, Some((column, by)), number == 0)));
        }
    }
    places
}

/// The left edges of the columns, and the right edge of the last.
fn columns(places: &[Place<'_>], fsm: &Fsm) -> Vec<usize> {
    let mut widths = vec![SPACE; places.iter().map(|place| place.column).max().unwrap_or(0) + 1];
    widths[0] += CHARACTER * fsm.role().as_str().chars().count();
    for place in places {
        if let Some((_, transition)) = &place.from {
            let text = transition.action.to_string().chars().count();
            let width = &mut widths[place.column];
            *width = (*width).max(SPACE + CHARACTER * text);
        }
    }
    let edges = widths.iter().scan(0, |edge, width| {
        *edge += width;
        Some(*edge)
    });
    std::iter::once(0).chain(edges).collect()
}

/// The middle of a row.
fn y(row: usize) -> usize {
    ROW * row + 44
}

#[derive(Default)]
struct Picture {
    lines: String,
    circles: String,
    words: String,
}

impl Picture {
    fn draw(&mut self, fsm: &Fsm, place: &Place<'_>, columns: &[usize]) {
        let (x, y, state) = (columns[place.column] + LEFT, y(place.row), place.state);
        if let Some((above, transition)) = &place.from {
            let (from, top) = (columns[*above] + LEFT, y - RADIUS);
            let start = y - ROW + RADIUS + if from == x { 0 } else { 6 };
            let _ = write!(self.lines, "M{from} {start}H{x}V{top}m-4 -7l4 7l4 -7");
            let action = escape(&transition.action.to_string());
            let _ = write!(self.words, "<text x=\"{}\" y=\"{}\">{action}</text>", x + 8, top - 8);
        }
        let style = match (&place.from, place.is_repeated) {
            (None, _) => " stroke-width=\"2\"",
            (_, true) => " stroke-dasharray=\"3 3\"",
            _ => "",
        };
        let radii = [RADIUS, RADIUS - 3];
        for radius in &radii[..if fsm.may_end(state) { 2 } else { 1 }] {
            let _ = write!(self.circles, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{style}/>");
        }
        let y = y + 4;
        let _ =
            write!(self.words, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{state}</text>");
    }
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // XML cannot express most of them.
    text.replace(char::is_control, "\u{fffd}")
}
