//! `explain`: the long form of a diagnostic.

use clap::Args;
use rumpsteak_build::command::{Notice, did_you_mean, explanations};
use serde_json::{Map, json};

use crate::{Answer, Outcome, Output, Reply, Terminal};

/// Explains a diagnostic by its code; lists all codes with a given beginning, or all
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The code, such as S0404 or V0407
    code: Option<String>,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    terminal.is_json = arguments.output.json();
    let wanted = arguments.code.as_deref().unwrap_or_default();
    let upper = wanted.to_uppercase();
    let found: Vec<_> = explanations().filter(|(code, _)| code.starts_with(&upper)).collect();
    let text = match found[..] {
        [] => return Err(unknown(wanted)),
        [(code, text)] if code == upper => text.to_owned(),
        _ => found.iter().map(|(code, text)| format!("{code}  {}\n", gist(text))).collect(),
    };
    let codes = found.into_iter().map(|(code, text)| (code.to_owned(), json!(text)));
    terminal.say(&text);
    let object = json!({"codes": codes.collect::<Map<_, _>>()});
    Ok(Answer { outcome: Outcome::Holds, object })
}

fn unknown(text: &str) -> Notice {
    let upper = text.to_uppercase();
    let number = upper.strip_prefix('E').filter(|number| number.len() == 4);
    if number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        return Notice::error(format!("`{upper}` is a code of rustc"))
            .help(format!("`rustc --explain {upper}` explains it"));
    }
    let meant = did_you_mean(&upper, explanations().map(|(code, _)| code));
    let help = meant.unwrap_or_else(|| "`cargo rumpsteak explain` lists all codes".to_owned());
    Notice::error(format!("there is no code `{text}`")).help(help)
}

/// The first sentence, on one line.
fn gist(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.split_once(". ") {
        Some((sentence, _)) => sentence.to_owned(),
        None => line.trim_end_matches(['.', ':']).to_owned(),
    }
}
