//! Calls of the command in Markdown, with the text that each prints.
//!
//! Each page in the folder `calls` has sections, each with a folder of its own. A block
//! ```` ```scribble ring.scr ```` is a file in it; the files before the first section are in all
//! folders. A block ```` ```console ```` has calls without the name of the command, and below each
//! what it prints: `=` stands before a line of standard output, `!` before one of standard error,
//! and `?` before an exit status that is not 0. A call may end with
//!
//! - `< file`, its standard input,
//! - `> file`, for its standard output,
//! - `| /verdict /limit`, the parts to show of the JSON object that it prints.
//!
//! `UPDATE_EXPECT=1` rewrites the printed text, to be read in the diff.

use std::fs;
use std::path::Path;

use expect_test::expect_file;
use serde_json::Value;

use crate::common::Folder;

#[test]
fn each_call_prints_what_its_page_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/calls");
    let mut pages = 0;
    for page in fs::read_dir(folder).unwrap() {
        let path = page.unwrap().path();
        let name = path.file_stem().unwrap().display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        expect_file![path].assert_eq(&answered(&name, &text));
        pages += 1;
    }
    assert_eq!(pages, 6);
}

fn answered(name: &str, page: &str) -> String {
    let mut answered = String::new();
    let mut shared: Vec<(&str, String)> = vec![];
    let mut folder: Option<Folder> = None;
    let mut sections = 0;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        answered += &format!("{line}\n");
        if line.starts_with("## ") {
            sections += 1;
            let own = Folder::new(&format!("calls/{name}-{sections}"));
            folder = Some(shared.iter().fold(own, |own, (file, text)| own.with(file, text)));
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let body = lines.by_ref().take_while(|&line| line != "```");
        if info == "console" {
            let calls = body.filter(|line| line.starts_with("$ "));
            let calls = calls.map(|call| answer(folder.as_ref().unwrap(), call));
            answered += &calls.collect::<Vec<_>>().join("\n");
        } else {
            let (_, file) = info.split_once(' ').unwrap();
            let text: String = body.map(|line| format!("{line}\n")).collect();
            answered += &text;
            match folder {
                Some(own) => folder = Some(own.with(file, text)),
                None => shared.push((file, text)),
            }
        }
        answered += "```\n";
    }
    answered
}

fn answer(folder: &Folder, line: &str) -> String {
    let (call, parts) = line.split_once(" | ").unwrap_or((line, ""));
    let (call, output) = call.split_once(" > ").unwrap_or((call, ""));
    let (call, input) = call.split_once(" < ").unwrap_or((call, ""));
    let input = match input {
        "" => String::new(),
        file => fs::read_to_string(folder.path().join(file)).unwrap(),
    };
    let run = folder.run_with_input(call.split_whitespace().skip(1), &input);
    let mut printed = run.stdout.clone();
    if !parts.is_empty() {
        let object = run.json();
        let part = |at| object.pointer(at).map_or("missing".to_owned(), Value::to_string);
        printed = parts.split(' ').map(|at| format!("{at}: {}\n", part(at))).collect();
    }
    if !output.is_empty() {
        fs::write(folder.path().join(output), std::mem::take(&mut printed)).unwrap();
    }
    let mut answer = format!("{line}\n");
    for (sign, text) in [('=', printed), ('!', run.stderr)] {
        let lines = text.lines().map(|line| format!("{sign} {line}"));
        lines.for_each(|line| answer += &format!("{}\n", line.trim_end()));
    }
    match run.status {
        Some(0) => answer,
        status => answer + &format!("? {}\n", status.unwrap()),
    }
}
