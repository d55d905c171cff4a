//! Every drawing is held against rustc's own renderer, and each shape is shown here once.

use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::drawing::{Drawing, Excerpt, Mark, Title, width};
use crate::protocols::Protocols;
use crate::source::package_root::Base;

/// What rustc's renderer makes of a drawing.
fn reference(drawing: &Drawing<'_>, styled: bool) -> String {
    let mut group = match drawing.title {
        Some(Title { code, message }) => {
            let mut title = Level::ERROR.primary_title(message);
            if let Some(code) = code {
                title = title.id(code);
            }
            Group::with_title(title)
        }
        None => Group::with_level(Level::NOTE),
    };
    for (index, excerpt) in drawing.excerpts.iter().enumerate() {
        let annotations = excerpt.marks.iter().enumerate().map(|(position, mark)| {
            let kind = match (index, position) {
                (0, 0) => AnnotationKind::Primary,
                _ => AnnotationKind::Context,
            };
            kind.span(mark.range.clone())
                .label((!mark.label.is_empty()).then_some(mark.label))
        });
        group = group.element(
            Snippet::source(excerpt.source)
                .path(excerpt.path)
                .fold(true)
                .annotations(annotations.collect::<Vec<_>>()),
        );
    }
    for &(name, text) in &drawing.notes {
        let level = match name {
            "help" => Level::HELP,
            _ => Level::NOTE,
        };
        group = group.element(level.message(text));
    }
    match styled {
        true => Renderer::styled().render(&[group]),
        false => Renderer::plain().render(&[group]),
    }
}

#[track_caller]
fn agrees(drawing: &Drawing<'_>) {
    for styled in [false, true] {
        let (ours, theirs) = (drawing.render(styled), reference(drawing, styled));
        assert!(
            ours == theirs,
            "{drawing:?}\n\n{theirs}\n\nis drawn as\n\n{ours}\n"
        );
    }
}

/// One excerpt, whose first mark is the primary one.
fn excerpt<'a>(source: &'a str, marks: &[(Range<usize>, &'a str)]) -> Drawing<'a> {
    let mut drawing = Drawing::default();
    for (range, label) in marks {
        drawing.mark("p.scr", source, range.clone(), label);
    }
    drawing
}

/// The drawing of marks in a text, each named by the first piece of the text that it covers, is this one, and rustc's.
#[track_caller]
fn draws(source: &str, marks: &[(&str, &str)], expected: &str) {
    let marks: Vec<_> = marks
        .iter()
        .map(|(piece, label)| (find(source, piece), *label))
        .collect();
    let drawing = excerpt(source, &marks);
    assert_eq!(drawing.render(false), expected.trim_start_matches('\n'));
    agrees(&drawing);
}

fn find(source: &str, piece: &str) -> Range<usize> {
    let start = source.find(piece).unwrap();
    start..start + piece.len()
}

#[test]
fn a_mark_with_a_label_and_without() {
    draws(
        "let a = b;\n",
        &[("a", "here")],
        "
 --> p.scr:1:5
  |
1 | let a = b;
  |     ^ here",
    );
    draws(
        "let a = b;\n",
        &[("let", "")],
        "
 --> p.scr:1:1
  |
1 | let a = b;
  | ^^^",
    );
}

#[test]
fn labels_hang_where_they_would_touch() {
    draws(
        "global protocol P(role A, role B) {",
        &[("B", "this"), ("A", "that"), ("P", "those")],
        "
 --> p.scr:1:32
  |
1 | global protocol P(role A, role B) {
  |                 -      - that  ^ this
  |                 |
  |                 those",
    );
    draws(
        "Ping() from A to B;",
        &[("A", "sends"), ("Ping()", "m"), ("B", "receives")],
        "
 --> p.scr:1:13
  |
1 | Ping() from A to B;
  | ------      ^    - receives
  | |           |
  | m           sends",
    );
}

#[test]
fn marks_inside_of_marks() {
    draws(
        "Ping() from A to B;",
        &[("from A to B", "outer"), ("A", "inner")],
        "
 --> p.scr:1:8
  |
1 | Ping() from A to B;
  |        ^^^^^-^^^^^
  |        |    |
  |        |    inner
  |        outer",
    );
    draws(
        "Ping() from A to B;",
        &[("from", "one"), ("from", "two"), ("from A", "three")],
        "
 --> p.scr:1:8
  |
1 | Ping() from A to B;
  |        ^^^^--
  |        |
  |        one
  |        two
  |        three",
    );
}

#[test]
fn lines_without_marks_are_left_out_where_there_are_two() {
    draws(
        "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n",
        &[("one", "1"), ("three", "3"), ("ten", "10")],
        "
  --> p.scr:1:1
   |
 1 | one
   | ^^^ 1
 2 | two
 3 | three
   | ----- 3
...
10 | ten
   | --- 10",
    );
}

#[test]
fn a_mark_of_several_lines() {
    draws(
        "let a = f(\n    b,\n);\n",
        &[("f(\n    b,\n)", "this call")],
        "
 --> p.scr:1:9
  |
1 |   let a = f(
  |  _________^
2 | |     b,
3 | | );
  | |_^ this call",
    );
    draws(
        "if a {\n    b\n} else {\n    c\n}\n",
        &[("if a {\n    b\n}", "here"), ("else", "there")],
        "
 --> p.scr:1:1
  |
1 | / if a {
2 | |     b
3 | | } else {
  | | ^ ---- there
  | |_|
  |   here",
    );
}

#[test]
fn a_mark_of_many_lines_shows_its_ends() {
    draws(
        "choice at A {\n    a\n    b\n\n    c\n    d\n    e\n    f\n}\n",
        &[(
            "choice at A {\n    a\n    b\n\n    c\n    d\n    e\n    f\n}",
            "",
        )],
        "
 --> p.scr:1:1
  |
1 | / choice at A {
2 | |     a
3 | |     b
... |
8 | |     f
9 | | }
  | |_^",
    );
}

#[test]
fn two_marks_of_several_lines() {
    draws(
        "a\n  b\n  c\nd\n",
        &[("a\n  b\n  c\nd", "outer"), ("b\n  c", "inner")],
        "
 --> p.scr:1:1
  |
1 | /  a
2 | |/   b
3 | ||   c
  | ||___- inner
4 | |  d
  | |__^ outer",
    );
    draws(
        "a b\nc d\ne\n",
        &[("b\nc", "first"), ("d\ne", "second")],
        "
 --> p.scr:1:3
  |
1 |    a b
  |  ____^
2 | |  c d
  | | _^_-
  | ||_|
  |  | first
3 |  | e
  |  |_- second",
    );
}

#[test]
fn a_mark_without_width() {
    draws(
        "a;\n",
        &[(";", "x"), ("", "y")],
        "
 --> p.scr:1:2
  |
1 | a;
  | -^ x
  | |
  | y",
    );
    let ends: [(&str, usize, &str); 6] = [
        ("", 0, "1 |\n  | ^ end"),
        ("ab", 2, "1 | ab\n  |   ^ end"),
        ("ab\n", 2, "1 | ab\n  |   ^ end"),
        ("ab\n", 3, "1 | ab\n  |   ^ end"),
        ("ab\n\n", 3, "2 |\n  | ^ end"),
        ("ab\r\n", 2, "1 | ab\n  |   ^ end"),
    ];
    for (source, end, expected) in ends {
        let drawing = excerpt(source, &[(end..end, "end")]);
        let drawn = drawing.render(false);
        assert!(drawn.ends_with(expected), "{source:?}:\n{drawn}");
        agrees(&drawing);
    }
}

#[test]
fn marks_are_below_what_they_mark() {
    draws(
        "\t\"漢字\"\t\"e\u{301}\" from A\r\n",
        &[("A", "A"), ("\"漢字\"", "漢字"), ("\"e\u{301}\"", "é")],
        "
 --> p.scr:1:17
  |
1 |     \"漢字\"    \"e\u{301}\" from A
  |     ------    --- é    ^ A
  |     |
  |     漢字",
    );
    let drawing = excerpt("a\u{1b}[31m\u{202e}b\u{200d}c", &[(9..10, "")]);
    let expected = "1 | a␛[31m\u{fffd}bc\n  |        ^";
    assert!(drawing.render(false).ends_with(expected));
    agrees(&drawing);
}

#[test]
fn long_lines_are_cut_and_far_indentations_shortened() {
    let words: String = (0..100).map(|word| format!("{word:03} ")).collect();
    let drawing = excerpt(&words, &[(find(&words, "050"), "middle")]);
    let expected = "
 --> p.scr:1:201
  |
1 | ...035 036 037 038 039 040 041 042 043 044 045 046 047 048 049 050 051 052 053 054 055 056 057 058 059 060 061 062 063 064 065 066 06...
  |                                                                ^^^ middle";
    let drawn = drawing.render(false);
    assert_eq!(drawn, expected.trim_start_matches('\n'));
    agrees(&drawing);

    let spaces = " ".repeat(40);
    let source = format!("{spaces}if a {{\n{spaces}    b\n{spaces}}}\n");
    draws(
        &source,
        &[("b", "far")],
        "
 --> p.scr:2:45
  |
2 | ...                   b
  |                       ^ far",
    );
}

#[test]
fn a_whole_error_is_the_example_of_the_module() {
    let source = "module p;\n\nglobal protocol P(role A, role B, role C) {\n    choice at A {\n        \
                  Stop() from A to B;\n        Stop() from B to C;\n        // The end.\n\n    } or {\n        \
                  Go() from A to B;\n    }\n}\n";
    let mut drawing = Drawing {
        title: Some(Title {
            code: Some("S0301"),
            message: "C is not told which branch was taken",
        }),
        notes: vec![
            ("note", "C waits for Stop()\nin one branch only"),
            ("help", "send C a message in each branch"),
        ],
        ..Drawing::default()
    };
    let branch = "{\n        Go() from A to B;\n    }";
    drawing.mark("p.scr", source, find(source, "choice"), "these branches");
    drawing.mark("p.scr", source, find(source, "A {"), "this role chooses");
    drawing.mark("p.scr", source, find(source, branch), "this branch");
    drawing.mark("q.scr", "import p;\n", 7..8, "imported here");
    let document = include_str!("drawing.rs");
    let picture: Vec<_> = document
        .lines()
        .skip_while(|line| *line != "//! ```text")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .map(|line| {
            line.trim_start_matches("//!")
                .strip_prefix(' ')
                .unwrap_or("")
        })
        .collect();
    assert_eq!(drawing.render(false), picture.join("\n"));
    agrees(&drawing);
}

#[test]
fn titles_and_notes_of_several_lines() {
    let mut drawing = Drawing {
        title: Some(Title {
            code: None,
            message: "one\ntwo",
        }),
        ..Drawing::default()
    };
    assert_eq!(drawing.render(false), "error: one\n       two");
    agrees(&drawing);
    drawing.notes = vec![("help", "three\nfour"), ("note", "five")];
    let expected = "error: one\n       two\n |\n = help: three\n         four\n = note: five";
    assert_eq!(drawing.render(false), expected);
    agrees(&drawing);
    drawing.mark("p.scr", "x", 0..1, "six");
    agrees(&drawing);
    drawing.title = None;
    agrees(&drawing);
}

#[test]
fn colours() {
    let mut drawing = excerpt("a b", &[(0..1, "one"), (2..3, "two")]);
    let frame = "\x1b[1m\x1b[94m";
    let reset = "\x1b[0m";
    let expected = |primary: &str| {
        format!(
            " {frame}--> {reset}p.scr:1:1\n  {frame}|{reset}\n{frame}1{reset} {frame}|{reset} a b\n  \
             {frame}|{reset} {primary}^{reset} {frame}-{reset} {frame}two{reset}\n  \
             {frame}|{reset} {primary}|{reset}\n  {frame}|{reset} {primary}one{reset}"
        )
    };
    assert_eq!(drawing.render(true), expected("\x1b[1m\x1b[92m"));
    drawing.title = Some(Title {
        code: Some("S1"),
        message: "wrong",
    });
    let red = "\x1b[1m\x1b[91m";
    let title = format!("{red}error[S1]{reset}\x1b[1m: wrong{reset}\n");
    assert_eq!(drawing.render(true), title + &expected(red));
    agrees(&drawing);
}

/// Where rustc's renderer is not followed: see the list in [`super::drawing`].
#[test]
fn exceptions() {
    // Three rails, of which no two are over each other.
    let drawing = excerpt(
        "a\nb\nc\nd\ne\nf\ng\n",
        &[(0..5, "one"), (2..13, "two"), (8..11, "three")],
    );
    let expected = "
 --> p.scr:1:1
  |
1 | /   a
2 | |/  b
3 | ||  c
  | ||  ^
  | ||__|
  |  |  one
4 |  |  d
5 |  |/ e
6 |  || f
  |  ||_- three
7 |  |  g
  |  |__- two";
    assert_eq!(drawing.render(false), expected.trim_start_matches('\n'));
    // Twice the same lines.
    let drawing = excerpt("a\nb\n", &[(0..3, "one"), (0..3, "two")]);
    let expected = "
 --> p.scr:1:1
  |
1 | // a
2 | || b
  | || ^
  | ||_|
  |  |_one
  |    two";
    assert_eq!(drawing.render(false), expected.trim_start_matches('\n'));
    // A wide mark, of which nothing is left out.
    let source = "word ".repeat(60);
    let drawing = excerpt(&source, &[(10..260, "wide")]);
    let drawn = drawing.render(false);
    assert_eq!(drawn.matches('^').count(), 250);
    // The number of the last line.
    let source = "\n".repeat(9) + "a\n";
    let drawing = excerpt(&source, &[(9..9, "")]);
    let expected = "
  --> p.scr:10:1
   |
10 | a
   | ^";
    assert_eq!(drawing.render(false), expected.trim_start_matches('\n'));
    // Control characters.
    let mut drawing = excerpt("a", &[(0..1, "\u{1b}[31m")]);
    drawing.notes.push(("note", "\u{1b}[31m"));
    let expected = "1 | a\n  | ^ ␛[31m\n  |\n  = note: ␛[31m";
    assert!(drawing.render(false).ends_with(expected));
}

/// Numbers that look random, and are the same in each run (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

const OTHER: &str = "a b\nc d\n";

const LABELS: [&str; 5] = ["", "x", "one", "the other one", "wide 漢字"];

const TEXTS: [&[&str]; 4] = [
    &["a", "b c", " ", "    ", "\n"],
    &[
        "a",
        "b c",
        "    ",
        "\n",
        "\n}\n",
        "\n ( \n",
        "\n// c\n",
        "\n/// d\n",
    ],
    &[
        "a", " ", "\t", "\r\n", "\n", "漢", "é", "e\u{301}", "\u{200b}", "\u{7}", "🦀",
    ],
    &[
        "word",
        "another word",
        "  ",
        "                    ",
        "long long long long ",
        "\n",
        "\n                           ",
    ],
];

/// Up to four marks in a text.
fn random_marks(random: &mut Random, source: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut marks: Vec<(Range<usize>, _)> = Vec::new();
    let places: Vec<usize> = (0..source.len() + 1)
        .filter(|&place| source.is_char_boundary(place))
        .collect();
    for _ in 0..1 + random.below(4) {
        let start = random.below(places.len());
        let end = match random.below(4) {
            0 => random.below(places.len()),
            _ => (start + random.below(8)).min(places.len() - 1),
        };
        let range = places[start.min(end)]..places[start.max(end)];
        marks.push((range, random.of(&LABELS)));
    }
    marks
}

/// Whether rustc's renderer and ours are to agree: see the list in [`super::drawing`].
fn is_promised(source: &str, marks: &[(Range<usize>, &str)]) -> bool {
    let inside_of_break =
        |place: usize| source[..place].ends_with('\r') && source[place..].starts_with('\n');
    let mut several_lines = 0;
    let mut lines = 0;
    for (range, _) in marks {
        if inside_of_break(range.start) || inside_of_break(range.end) {
            return false;
        }
        let covered = &source[range.clone()];
        // A line break at the end of the text starts no line.
        let covered = match range.end == source.len() {
            true => covered.strip_suffix('\n').unwrap_or(covered),
            false => covered,
        };
        if covered.contains('\n') {
            several_lines += 1;
        } else if covered.len() > 100 {
            return false;
        }
        lines = lines.max(source[..range.end].matches('\n').count());
    }
    let twins = (1..marks.len()).any(|index| {
        marks[..index]
            .iter()
            .any(|(range, _)| *range == marks[index].0)
    });
    several_lines <= 2 && !(several_lines == 2 && twins) && !matches!(lines, 9 | 99)
}

#[test]
fn random_marks_are_drawn_as_by_rustc() {
    for (number, pieces) in TEXTS.iter().enumerate() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 + number as u64);
        let mut compared = 0;
        for _ in 0..4000 {
            let mut source = String::new();
            for _ in 0..random.below(60) {
                source.push_str(random.of(pieces));
            }
            let marks = random_marks(&mut random, &source);
            if is_promised(&source, &marks) {
                let mut drawing = excerpt(&source, &marks);
                if random.below(2) == 0 {
                    drawing.title = Some(Title {
                        code: None,
                        message: "wrong",
                    });
                }
                if random.below(4) == 0 {
                    drawing.notes.push(("help", "do\nthis"));
                }
                if random.below(4) == 0 {
                    for range in [6..7, 0..1, 2..5] {
                        if random.below(2) == 0 {
                            drawing.mark("q.scr", OTHER, range, random.of(&LABELS));
                        }
                    }
                }
                agrees(&drawing);
                compared += 1;
            }
        }
        assert!(compared > 2000, "{compared} of {number}");
    }
}

/// Removes the colours.
fn plain(styled: &str) -> String {
    let mut plain = String::new();
    for (index, piece) in styled.split('\x1b').enumerate() {
        plain.push_str(match index {
            0 => piece,
            _ => piece.split_once('m').unwrap().1,
        });
    }
    plain
}

#[test]
fn no_range_and_no_text_is_refused() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..20_000 {
        let pieces = random.of(&TEXTS);
        let mut source = String::new();
        for _ in 0..random.below(80) {
            source.push_str(random.of(pieces));
        }
        let mut drawing = Drawing::default();
        let mut labels = Vec::new();
        for _ in 0..random.below(10) {
            let mut offset = || match random.below(8) {
                0 => usize::MAX - random.below(3),
                _ => random.below(source.len() + 3),
            };
            // The ends may be in any order, beyond the text and inside of characters.
            let range = offset()..offset();
            let label = random.of(&LABELS);
            labels.push(label);
            drawing.excerpts.push(Excerpt {
                path: "p.scr",
                source: &source,
                marks: Vec::new(),
            });
            drawing.excerpts[0].marks.push(Mark { range, label });
        }
        let drawn = drawing.render(false);
        assert_eq!(plain(&drawing.render(true)), drawn);
        for label in labels {
            assert!(drawn.contains(label), "{label} is not in\n{drawn}");
        }
        assert!(!drawn.contains(|read: char| read.is_control() && read != '\n'));
    }
}

#[test]
fn very_many_marks() {
    let source = "a b\n".repeat(300);
    let mut drawing = Drawing::default();
    for line in 0..299 {
        drawing.mark("p.scr", &source, line * 4..line * 4 + 7, "x");
    }
    let drawn = drawing.render(false);
    assert_eq!(drawn.matches('x').count(), 299);
}

/// The widths of rustc's renderer, as far as they are promised.
#[test]
fn widths() {
    let writings = [
        '\u{20}'..='\u{58f}',
        '\u{1e00}'..='\u{1fff}',
        '\u{200b}'..='\u{2029}',
        '\u{202f}'..='\u{2064}',
        '\u{2070}'..='\u{2319}',
        '\u{2500}'..='\u{25fc}',
        '\u{3041}'..='\u{3096}',
        '\u{30a0}'..='\u{30ff}',
        '\u{3400}'..='\u{a48c}',
        '\u{ac00}'..='\u{d7a3}',
        '\u{f900}'..='\u{faff}',
        '\u{ff01}'..='\u{ff60}',
        '\u{1f600}'..='\u{1f64f}',
        '\u{20000}'..='\u{2a6df}',
    ];
    for read in writings.into_iter().flatten() {
        let source = format!("{read}x");
        let start = read.len_utf8();
        let drawing = excerpt(&source, &[(start..start + 1, "")]);
        let theirs = reference(&drawing, false);
        let line = theirs.lines().last().unwrap();
        let cells = line.find('^').unwrap() - 4;
        assert_eq!(width(read), cells, "{read:?} {:x}", read as u32);
    }
}

/// Every diagnostic of every file, and then other marks in the same texts. Returns how many diagnostics and texts there were.
fn files_agree(base: &Base, folder: &Path) -> (usize, usize) {
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut diagnostics, mut texts) = (0, 0);
    for file in Protocols::load(base, &[PathBuf::from(folder)]).files {
        for diagnostic in &file.diagnostics {
            agrees(&super::drawing(&file, diagnostic));
            diagnostics += 1;
        }
        for text in &file.texts {
            for _ in 0..5 {
                let marks = random_marks(&mut random, &text.text);
                if is_promised(&text.text, &marks) {
                    agrees(&excerpt(&text.text, &marks));
                }
            }
            texts += 1;
        }
    }
    (diagnostics, texts)
}

#[test]
fn files_of_the_repository_are_drawn_as_by_rustc() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let base = Base::new(package);
    let mut texts = 0;
    for folder in ["../protocols", "../ui-tests/protocols"] {
        texts += files_agree(&base, &package.join(folder)).1;
    }
    assert!(texts > 20, "{texts}");
}

#[test]
fn files_of_the_corpora_are_drawn_as_by_rustc() {
    let Some(root) = std::env::var_os("RUMPSTEAK_CORPORA") else {
        println!("skipped: RUMPSTEAK_CORPORA is not set");
        return;
    };
    let root = PathBuf::from(root).join("scribble");
    let (diagnostics, texts) = files_agree(&Base::new(&root), &root);
    assert!(diagnostics > 50, "{diagnostics}");
    assert!(texts > 200, "{texts}");
}
