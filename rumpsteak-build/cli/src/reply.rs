//! The answer of a verb.

use rumpsteak_build::command::Notice;
use serde_json::Value;

use crate::json;
use crate::outcome::Outcome;
use crate::terminal::Terminal;

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) outcome: Outcome,
    pub(crate) words: Vec<Words>,
    pub(crate) object: Value,
}

#[derive(Debug)]
pub(crate) enum Words {
    /// Lines on standard output.
    Lines(String),
    /// A verdict that is drawn like a diagnostic.
    Notice(Notice),
    /// Lines beside an answer that is a file: on standard error.
    Remark(String),
    /// Beside the answer.
    Report(Notice),
}

impl Reply {
    /// An answer without words: the reasons were reported.
    pub(crate) fn object(outcome: Outcome, object: Value) -> Self {
        Self { outcome, words: vec![], object }
    }

    /// A text, for a verb that never answers in JSON.
    pub(crate) fn text(text: String) -> Self {
        Self { outcome: Outcome::Holds, words: vec![Words::Lines(text)], object: Value::Null }
    }

    pub(crate) fn print(self, is_json: bool, terminal: &mut Terminal) -> Outcome {
        if is_json {
            terminal.print(&json::text(&self.object));
            return self.outcome;
        }
        for words in &self.words {
            match words {
                Words::Lines(text) => terminal.print(text),
                Words::Notice(notice) => terminal.print_report(notice),
                Words::Remark(text) => terminal.remark(text),
                Words::Report(notice) => terminal.report(notice),
            }
        }
        self.outcome
    }
}
