//! Packages in Markdown, and what the build script says of each.
//!
//! Each page in the folder `packages` has sections; the blocks before the first belong to all of
//! them. A block ```` ```rust src/lib.rs ```` is a file of the packages of its section. A block
//! ```` ```rust NAME ```` is the text that replaces `NAME` in the files. A later block replaces an
//! earlier one of the same name. A block ```` ```cases ```` has packages, with empty lines between
//! them:
//!
//! - `NAME := text` replaces `NAME`, which may be any text, in the files of this package alone.
//! - `= text` is what the build says: the place, token, code and first line of each problem, the
//!   first line of each report, and how many sessions are verified.
//!
//! A block ```` ```texts ```` has all lines of each problem and report, and the word `warnings`
//! behind either adds the warnings. `UPDATE_EXPECT=1` rewrites the answers, to be read in the diff.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use rumpsteak_build::command::Check;

use crate::support;

/// The texts of files by path, and the texts of names.
type Blocks<'a> = BTreeMap<&'a str, String>;

#[test]
fn each_package_is_judged_as_its_page_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/packages");
    let mut pages = 0;
    for page in fs::read_dir(folder).unwrap() {
        let path = page.unwrap().path();
        let name = path.file_stem().unwrap().display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        expect_file![path].assert_eq(&answered(&name, &text));
        pages += 1;
    }
    assert_eq!(pages, 8);
}

fn answered(name: &str, page: &str) -> String {
    let mut answered = String::new();
    let mut shared: Option<Blocks<'_>> = None;
    let mut blocks = Blocks::new();
    let mut cases = 0;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        answered += &format!("{line}\n");
        if line.starts_with("## ") {
            blocks = shared.get_or_insert(blocks).clone();
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|&line| line != "```").collect();
        let body = body.join("\n");
        let answers = match info.split_once(' ') {
            Some((language, block)) if !["cases", "texts"].contains(&language) => {
                answered += &format!("{body}\n");
                blocks.insert(block, body);
                vec![]
            }
            _ => body
                .split("\n\n")
                .map(|case| {
                    cases += 1;
                    answer(&format!("packages/{name}-{cases}"), case, &blocks, info)
                })
                .collect(),
        };
        answered += &answers.join("\n");
        answered += "```\n";
    }
    answered
}

fn answer(name: &str, case: &str, blocks: &Blocks<'_>, info: &str) -> String {
    let mut answer = String::new();
    let mut given = vec![];
    for line in case.lines().filter(|line| !line.starts_with('=')) {
        answer += &format!("{line}\n");
        let Some((name, text)) = line.split_once(" :=") else { panic!("{line}") };
        given.push((name, text.trim_start()));
    }
    let is_file = |name: &str| name.contains('.');
    let texts = blocks.iter().map(|(&name, text)| (name, text.as_str()));
    let is_given = |name: &str| given.iter().any(|&(other, _)| other == name);
    let names = texts.clone().filter(|&(name, _)| !is_file(name) && !is_given(name));
    let mut files: Vec<(&str, String)> = texts
        .filter(|&(name, _)| is_file(name))
        .map(|(path, text)| {
            (path, names.clone().fold(text.to_owned(), |text, (name, by)| text.replace(name, by)))
        })
        .collect();
    for (from, to) in given {
        assert!(files.iter().any(|(_, text)| text.contains(from)), "{name}: no file has {from}");
        files.iter_mut().for_each(|(_, text)| *text = text.replace(from, to));
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let folder = support::package(name, &files);
    answer + &said(&support::check(&folder), &folder, info)
}

/// The text of the build, wherever the package is.
fn said(check: &Check, folder: &Path, info: &str) -> String {
    assert_eq!(check.holds(), check.problems.is_empty() && check.reports.is_empty());
    let here = |text: &str| {
        let mut text = text.to_owned();
        let mut root = format!("{}/", folder.display());
        while !root.is_empty() {
            text = text.replace(&root, "");
            root = root.split_once('/').map_or(String::new(), |(_, rest)| rest.to_owned());
        }
        text
    };
    let problems = check.problems.iter().map(|problem| {
        let (file, text) = (here(&problem.file), here(&problem.text));
        let source = fs::read_to_string(folder.join(&file)).unwrap();
        let token = &source[problem.range.clone()];
        let code = problem.code.unwrap_or("no code");
        format!("{file}:{}:{} `{token}` {code}: {text}", problem.line, problem.column)
    });
    let reports = check.reports.iter().map(|report| here(&report.to_string()));
    let texts = problems.chain(reports).flat_map(|text| {
        let most = if info.starts_with("texts") { usize::MAX } else { 1 };
        text.lines().take(most).map(str::to_owned).collect::<Vec<_>>()
    });
    let warnings = check.warnings.iter().filter(|_| info.ends_with("warnings"));
    let warnings =
        warnings.map(|warning| format!("warning: {}", here(warning).replace('\n', "\n=")));
    let summary = &check.summary;
    let verified = format!("{} of {} sessions verified", summary.verified, summary.sessions);
    let lines = texts.chain(warnings).chain([verified]);
    lines.map(|line| format!("{}\n", format!("= {line}").trim_end())).collect()
}
