//! Writing to the terminal, in colour or not.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, IsTerminal, Write};

use clap::ColorChoice;
use rumpsteak_build::command::Notice;

use crate::Outcome;

/// Standard output for answers, standard error for diagnostics.
///
/// If the reader closes the pipe (`… | head`), the rest of the text is dropped. Any other failure
/// to write, such as a full disk, is reported at the end and makes the outcome
/// [`Outcome::BadInput`]: a part of the text must not be taken for the whole.
#[derive(Debug)]
pub(crate) struct Terminal {
    colour: ColorChoice,
    /// True if the answer is a JSON object, in place of words.
    pub(crate) is_json: bool,
    /// The codes of reported diagnostics.
    codes: BTreeSet<&'static str>,
    failure: Option<io::Error>,
}

impl Terminal {
    pub(crate) fn new(colour: ColorChoice) -> Self {
        Self { colour, is_json: false, codes: BTreeSet::new(), failure: None }
    }

    pub(crate) fn print(&mut self, text: &str) {
        if self.failure.is_some() {
            return;
        }
        let mut out = io::stdout().lock();
        self.failure = out.write_all(text.as_bytes()).and_then(|()| out.flush()).err();
    }

    /// The option decides, then NO_COLOR (no-color.org), then CARGO_TERM_COLOR. If none is set, a
    /// terminal that has colours gets them.
    fn has_colours(&self, is_terminal: bool) -> bool {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        match self.colour {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if set("NO_COLOR").is_some() => false,
            ColorChoice::Auto => match set("CARGO_TERM_COLOR") {
                Some(value) if value == "always" => true,
                Some(value) if value == "never" => false,
                _ => is_terminal && set("TERM").is_none_or(|term| term != "dumb"),
            },
        }
    }

    pub(crate) fn colours_diagnostics(&self) -> bool {
        self.has_colours(io::stderr().is_terminal())
    }

    pub(crate) fn report(&mut self, notice: &Notice) {
        let colour = self.colours_diagnostics();
        self.explain(notice.code);
        self.remark(&paragraph(notice, colour));
    }

    /// Remembers a code, so that [`finish`](Self::finish) says how to read more about it.
    pub(crate) fn explain(&mut self, code: Option<&'static str>) {
        self.codes.extend(code);
    }

    pub(crate) fn remark(&mut self, text: &str) {
        // If standard error is closed, there is nothing to report to.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Prints a part of an answer in words.
    pub(crate) fn say(&mut self, text: &str) {
        if !self.is_json {
            self.print(text);
        }
    }

    /// Prints a verdict that is drawn like a diagnostic, as a part of an answer in words.
    pub(crate) fn say_notice(&mut self, notice: &Notice) {
        self.say(&paragraph(notice, self.has_colours(io::stdout().is_terminal())));
    }

    /// Says how to read more about the codes, and returns the outcome if everything was written.
    pub(crate) fn finish(mut self, outcome: Outcome) -> Outcome {
        let codes = std::mem::take(&mut self.codes);
        if let Some(first) = codes.first() {
            let all: Vec<&str> = codes.iter().copied().collect();
            let errors = match all.len() {
                1 => "this error".to_owned(),
                _ => format!("these errors ({})", all.join(", ")),
            };
            let text = format!("for more about {errors}, try `cargo rumpsteak explain {first}`\n");
            self.remark(&text);
        }
        match self.failure.take() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.report(&Notice::error(format!("cannot write the result: {error}")));
                Outcome::BadInput
            }
            _ => outcome,
        }
    }
}

/// A notice with an empty line behind it.
pub(crate) fn paragraph(notice: &Notice, colour: bool) -> String {
    notice.render(colour) + "\n\n"
}
