//! What the command writes, and whether in colour.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;

use rumpsteak_build::command::Notice;

use crate::outcome::Outcome;

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless the environment says otherwise.
    Auto,
    Always,
    Never,
}

impl Colour {
    /// The option decides, then NO_COLOR (no-color.org), then CARGO_TERM_COLOR, and then whether
    /// the stream is a terminal with colours.
    fn applies(self, is_terminal: bool) -> bool {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if set("NO_COLOR").is_some() => false,
            Self::Auto => match set("CARGO_TERM_COLOR") {
                Some(value) if value == "always" => true,
                Some(value) if value == "never" => false,
                _ => is_terminal && set("TERM").is_none_or(|term| term != "dumb"),
            },
        }
    }
}

/// Standard output for what was asked for, standard error for diagnostics.
///
/// A closed pipe (`… | head`) is no failure: the rest of the text is dropped. Any other failure to
/// write, such as a full disk, is reported at the end and makes the outcome [`Outcome::BadInput`],
/// so that nobody takes a part of the text for the whole.
#[derive(Debug)]
pub(crate) struct Terminal {
    colour: Colour,
    /// The codes of what was reported.
    codes: BTreeSet<&'static str>,
    failure: Option<io::Error>,
}

impl Terminal {
    pub(crate) fn new(colour: Colour) -> Self {
        Self { colour, codes: BTreeSet::new(), failure: None }
    }

    pub(crate) fn print(&mut self, text: &str) {
        if self.failure.is_some() {
            return;
        }
        let mut out = io::stdout().lock();
        self.failure = out.write_all(text.as_bytes()).and_then(|()| out.flush()).err();
    }

    pub(crate) fn colours_diagnostics(&self) -> bool {
        self.colour.applies(io::stderr().is_terminal())
    }

    pub(crate) fn report(&mut self, notice: &Notice) {
        let colour = self.colours_diagnostics();
        self.explain(notice.code);
        self.remark(&paragraph(notice, colour));
    }

    /// Will say in the end where to read more about a code.
    pub(crate) fn explain(&mut self, code: Option<&'static str>) {
        self.codes.extend(code);
    }

    pub(crate) fn remark(&mut self, text: &str) {
        // Nobody is left to tell when standard error is gone.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Writes a verdict that is drawn like a diagnostic to standard output.
    pub(crate) fn print_report(&mut self, notice: &Notice) {
        let colour = self.colour.applies(io::stdout().is_terminal());
        self.print(&paragraph(notice, colour));
    }

    /// Says where to read more, and gives the outcome, given that everything was written.
    pub(crate) fn finish(mut self, outcome: Outcome) -> Outcome {
        let codes = std::mem::take(&mut self.codes);
        if let Some(first) = codes.first() {
            let all: Vec<&str> = codes.iter().copied().collect();
            let errors = match all.len() {
                1 => "this error".to_owned(),
                _ => format!("these errors ({})", all.join(", ")),
            };
            self.remark(&format!(
                "for more about {errors}, try `cargo rumpsteak explain {first}`\n"
            ));
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
