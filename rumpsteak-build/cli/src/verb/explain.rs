//! `explain`: the long form of a diagnostic.

use clap::Args;
use rumpsteak_build::command::{Notice, did_you_mean, explanations};
use serde_json::{Map, json};

use crate::options::Output;
use crate::outcome::Outcome;
use crate::reply::{Reply, Words};

/// Explains the code of a diagnostic; without a code, lists them all
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The code, such as S0404 or V0407
    code: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The explanation of a code, or of all.
///
/// # Errors
/// There is no such code.
pub(crate) fn run(arguments: &Arguments) -> Result<Reply, Notice> {
    let (text, object): (String, Map<_, _>) = match &arguments.code {
        None => (
            explanations().map(|(code, text)| format!("{code}  {}\n", gist(text))).collect(),
            explanations().map(|(code, text)| (code.to_owned(), json!(text))).collect(),
        ),
        Some(wanted) => {
            let mut all = explanations();
            let found = all.find(|(code, _)| code.eq_ignore_ascii_case(wanted));
            let (code, text) = found.ok_or_else(|| unknown(wanted))?;
            (text.to_owned(), [(code.to_owned(), json!(text))].into_iter().collect())
        }
    };
    Ok(Reply {
        outcome: Outcome::Holds,
        words: vec![Words::Lines(text)],
        object: json!({"codes": object}),
    })
}

fn unknown(text: &str) -> Notice {
    let upper = text.to_uppercase();
    let meant = did_you_mean(&upper, explanations().map(|(code, _)| code));
    let help = meant.unwrap_or_else(|| "`cargo rumpsteak explain` lists all codes".to_owned());
    Notice::error(format!("there is no code `{text}`")).help(help)
}

/// The first sentence of an explanation, on one line.
fn gist(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.split_once(". ") {
        Some((sentence, _)) => sentence.to_owned(),
        None => line.trim_end_matches(['.', ':']).to_owned(),
    }
}
