//! `explain`: the long form of a diagnostic.

use clap::Args;
use rumpsteak_build::command::{Notice, did_you_mean};
use rumpsteak_scribble::Code;
use serde_json::{Map, json};

use crate::options::Output;
use crate::outcome::Outcome;
use crate::reply::{Reply, Words};

/// Explains the code of a diagnostic; without a code, lists them all
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The code, such as S0404
    code: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The explanation of a code, or of all.
///
/// # Errors
/// There is no such code.
pub(crate) fn run(arguments: &Arguments) -> Result<Reply, Notice> {
    let codes = match &arguments.code {
        None => Code::ALL.to_vec(),
        Some(text) => vec![Code::named(text).ok_or_else(|| unknown(text))?],
    };
    let entry = |code: &Code| (code.as_str().to_owned(), json!(code.explanation()));
    let entries: Map<_, _> = codes.iter().map(entry).collect();
    let text = match &codes[..] {
        [code] => code.explanation().to_owned(),
        codes => codes.iter().map(|code| format!("{code}  {}\n", gist(*code))).collect(),
    };
    Ok(Reply {
        outcome: Outcome::Holds,
        words: vec![Words::Lines(text)],
        object: json!({"codes": entries}),
    })
}

fn unknown(text: &str) -> Notice {
    let upper = text.to_uppercase();
    let meant = did_you_mean(&upper, Code::ALL.iter().map(|code| code.as_str()));
    let help = meant.unwrap_or_else(|| "`cargo rumpsteak explain` lists all codes".to_owned());
    Notice::error(format!("there is no code `{text}`")).help(help)
}

/// The first sentence of an explanation, on one line.
fn gist(code: Code) -> String {
    let paragraph = code.explanation().split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.split_once(". ") {
        Some((sentence, _)) => sentence.to_owned(),
        None => line.trim_end_matches(['.', ':']).to_owned(),
    }
}
