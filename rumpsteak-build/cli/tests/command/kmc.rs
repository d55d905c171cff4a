//! `kmc` on the systems of the corpora. What it prints is in `calls/kmc.md`.

use std::collections::BTreeMap;
use std::fs;

use crate::common::{Folder, says};
use rumpsteak_oracle::corpus;

/// The guide's chapter on channels quotes what the command prints.
#[test]
fn the_guide_is_true() {
    let chapter = include_str!("../../../../rumpsteak-runtime/guide/channels.md");
    let blocks = chapter.split("```text\n").skip(1);
    let blocks: Vec<&str> = blocks.map(|block| block.split("```").next().unwrap()).collect();
    let [_, tasks, call] = blocks[..] else { panic!("three blocks") };
    let (call, printed) = call.split_once('\n').unwrap();
    let call = call.strip_prefix("$ cargo rumpsteak ").unwrap();
    let run = Folder::new("kmc_guide").with("tasks.txt", tasks).call(call).exits(1);
    for line in printed.lines().filter(|line| line.trim() != "…") {
        says(&run.stdout, line);
    }
}

/// The values that were computed on the unreduced system, by the field's own tool.
#[test]
#[ignore = "needs RUMPSTEAK_CORPORA"]
fn the_corpus_has_its_properties() {
    let kmc = corpus("kmc");
    let folder = Folder::new("kmc_corpus");
    let table = fs::read_to_string(kmc.join("expected.csv")).unwrap();
    let mut lines = table.lines();
    let columns: BTreeMap<&str, usize> = lines.next().unwrap().split(',').zip(0..).collect();

    let mut count = 0;
    let mut wrong = vec![];
    for line in lines {
        let row: Vec<&str> = line.split(',').collect();
        let value = |column: &str| row[columns[column]];
        if value("transition_system") != "full" {
            continue;
        }
        count += 1;
        let file = kmc.join(value("file"));
        let arguments = [
            "kmc".as_ref(),
            file.as_os_str(),
            "-k".as_ref(),
            value("k").as_ref(),
            "--format=json".as_ref(),
        ];
        let object = folder.run(arguments).json();
        for column in ["csa", "directed", "k_exhaustive", "k_safe"] {
            // That tool prints nothing for systems that are not directed.
            let expected = value(column) == "True";
            if object["properties"][column] != expected {
                wrong.push(format!("{line}: {column} is {}", object["properties"][column]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 200, "only {count} rows");
}
