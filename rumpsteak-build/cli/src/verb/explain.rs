//! `explain`: the long form of a diagnostic.

use clap::Args;
use rumpsteak_scribble::Code;
use serde_json::json;

use crate::{
    exit::Outcome,
    json,
    report::{Report, similar},
    terminal::Terminal,
};

/// Explains the code of a diagnostic; without a code, lists them all
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The code, such as S0404
    code: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints what is behind a code.
///
/// # Errors
/// There is no such code.
pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Report> {
    let codes = match &arguments.code {
        None => Code::ALL.to_vec(),
        Some(text) => vec![text.parse().map_err(|_| unknown(text))?],
    };
    let text = match (arguments.json, arguments.code.is_some()) {
        (true, _) => {
            let entry = |code: &Code| (code.as_str().to_owned(), json!(code.explanation()));
            json::text(
                &json!({"codes": codes.iter().map(entry).collect::<serde_json::Map<_, _>>()}),
            )
        }
        (false, true) => codes.iter().map(|code| code.explanation()).collect(),
        (false, false) => codes
            .iter()
            .map(|code| format!("{code}  {}\n", gist(*code)))
            .collect(),
    };
    terminal.print(&text);
    Ok(Outcome::Holds)
}

fn unknown(text: &str) -> Report {
    let report = Report::error(format!("there is no code `{text}`"));
    let upper = text.to_uppercase();
    match similar(&upper, Code::ALL.iter().map(|code| code.as_str())) {
        Some(code) => report.help(format!("did you mean `{code}`?")),
        None => report.help("`cargo rumpsteak explain` lists all codes"),
    }
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
