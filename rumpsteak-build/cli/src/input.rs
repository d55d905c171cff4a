//! Reading files and standard input.

use std::{
    fs::File,
    io::{self, Read},
    ops::Range,
    path::Path,
};

use crate::report::Report;

/// Longer inputs are refused: no protocol is a fraction as long, a device or a wrong file is.
const LIMIT_MIB: u64 = 64;

/// Reads inputs; standard input at most once.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    stdin_read: bool,
}

impl Reader {
    /// Reads a file, or standard input for `-`. `what` names the contents, such as "a Scribble module".
    ///
    /// # Errors
    /// A report that says why it cannot be read, or that it is empty, too long or not text.
    pub(crate) fn read(&mut self, path: &Path, what: &str) -> Result<Source, Report> {
        let stdin = path == Path::new("-");
        let name = match stdin {
            true => "<stdin>".to_owned(),
            false => path.display().to_string(),
        };

        let bytes = if stdin {
            if std::mem::replace(&mut self.stdin_read, true) {
                return Err(Report::error("standard input can only be read once")
                    .help("name a file in place of the second `-`"));
            }
            read_all(io::stdin().lock())
        } else {
            File::open(path).and_then(|file| {
                if file.metadata()?.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                read_all(file)
            })
        };
        let bytes = bytes.map_err(|error| unreadable(path, &name, what, &error))?;

        if bytes.len() as u64 > LIMIT_MIB << 20 {
            let message = format!("`{name}` is longer than {LIMIT_MIB} MiB");
            return Err(Report::error(message).help(format!("is it {what}?")));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Report::error(format!("`{name}` is not text: byte {at} is not UTF-8"))
                .help(format!("this command reads {what}"))
        })?;
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            return Err(
                Report::error(format!("`{name}` is empty")).help(format!("it should hold {what}"))
            );
        }
        Ok(Source::new(name, text))
    }
}

fn read_all(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    input
        .take((LIMIT_MIB << 20) + 1)
        .read_to_end(&mut bytes)
        .map(|_| bytes)
}

fn unreadable(path: &Path, name: &str, what: &str, error: &io::Error) -> Report {
    match error.kind() {
        io::ErrorKind::NotFound => {
            let report = Report::error(format!("there is no file `{name}`"));
            match similar(path) {
                Some(other) => report.help(format!("did you mean `{other}`?")),
                None => report,
            }
        }
        io::ErrorKind::IsADirectory => Report::error(format!("`{name}` is a folder"))
            .help(format!("name a file in it that holds {what}")),
        _ => Report::error(format!("cannot read `{name}`: {error}")),
    }
}

/// A file beside `path` with a name like it.
fn similar(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let folder = path.parent()?;
    let here = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let names: Vec<String> = here
        .read_dir()
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let best = crate::report::similar(wanted, names.iter().map(String::as_str))?;
    Some(folder.join(best).display().to_string())
}

/// A text that was read, with its name and its lines.
#[derive(Debug)]
pub(crate) struct Source {
    /// How to call it: the path as it was given, or `<stdin>`.
    pub(crate) name: String,
    /// What it says.
    pub(crate) text: String,
    /// Where each line starts, in ascending order; the first is 0, so there is one.
    line_starts: Vec<usize>,
}

impl Source {
    fn new(name: String, text: String) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts = std::iter::once(0)
            .chain(breaks.map(|(index, _)| index + 1))
            .collect();
        Self {
            name,
            text,
            line_starts,
        }
    }

    /// `span` cut to what is in the text, its ends moved out to whole characters.
    pub(crate) fn clip(&self, span: Range<usize>) -> Range<usize> {
        let mut start = span.start.min(self.text.len());
        let mut end = span.end.clamp(start, self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        start..end
    }

    /// The line and the column of the byte at `index`, both counted from 1, columns in characters.
    pub(crate) fn position(&self, index: usize) -> (usize, usize) {
        let index = self.clip(index..index).start;
        let line = self.line_of(index);
        let start = self.line_starts[line - 1];
        (line, self.text[start..index].chars().count() + 1)
    }

    /// The whole lines that hold `span`: the number of the first, counted from 1, and where they are.
    pub(crate) fn lines(&self, span: Range<usize>) -> (usize, Range<usize>) {
        let span = self.clip(span);
        let first = self.line_of(span.start);
        let last = self.line_of(span.end);
        let end = self.line_starts.get(last).copied();
        let range = self.line_starts[first - 1]..end.unwrap_or(self.text.len());
        (first, range)
    }

    /// The number of the line that holds `index`: at least 1, because line 1 starts at 0.
    fn line_of(&self, index: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::new("x".to_owned(), text.to_owned())
    }

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let text = source("ab\né!\n");
        assert_eq!(text.position(0), (1, 1));
        assert_eq!(text.position(2), (1, 3), "the line break is in its line");
        assert_eq!(text.position(3), (2, 1));
        assert_eq!(text.position(4), (2, 1), "inside `é`");
        assert_eq!(text.position(5), (2, 2));
        assert_eq!(text.position(99), (3, 1), "behind the end");
    }

    #[test]
    fn lines_are_whole_and_end_with_their_break() {
        let text = source("ab\ncd\nef");
        assert_eq!(text.lines(0..1), (1, 0..3));
        assert_eq!(text.lines(4..7), (2, 3..8));
        assert_eq!(text.lines(8..8), (3, 6..8));
        assert_eq!(source("").lines(0..5), (1, 0..0));
    }

    #[test]
    fn spans_are_clipped_to_whole_characters_of_the_text() {
        let text = source("aé");
        assert_eq!(text.clip(2..2), 1..3);
        assert_eq!(text.clip(9..12), 3..3);
        // A span that ends before it starts.
        assert_eq!(text.clip(std::ops::Range { start: 1, end: 0 }), 1..1);
    }
}
