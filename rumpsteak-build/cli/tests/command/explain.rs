//! `explain`.

use crate::common::{Folder, says};

#[test]
fn a_code_is_explained_with_an_example() {
    let folder = Folder::new("explain");
    let run = folder.call("explain S0404").exits(0).says("");
    says(&run.stdout, "```scribble\n");
    folder.call("explain s0404").exits(0).prints(&run.stdout);
    let object = folder.call("explain S0404 --format json").exits(0).json();
    assert_eq!(object["codes"]["S0404"], run.stdout);
}

#[test]
fn without_a_code_all_are_listed_on_a_line_each() {
    let folder = Folder::new("explain_all");
    let run = folder.call("explain").exits(0).says("");
    let codes: Vec<&str> =
        run.stdout.lines().map(|line| line.split_once("  ").unwrap().0).collect();
    assert!(codes.len() >= 70 && codes.is_sorted(), "{codes:?}");
    let object = folder.call("explain --format json").exits(0).json();
    assert_eq!(object["codes"].as_object().unwrap().len(), codes.len());
    // Every code in the list has an explanation.
    for code in codes {
        folder.run(["explain", code]).exits(0);
    }
}

#[test]
fn of_the_beginning_of_a_code_all_are_listed() {
    let folder = Folder::new("explain_family");
    let run = folder.call("explain s02").exits(0).says("");
    let codes: Vec<&str> =
        run.stdout.lines().map(|line| line.split_once("  ").unwrap().0).collect();
    assert_eq!((codes[0], codes.len()), ("S0201", 18));
    let object = folder.call("explain S02 --format json").exits(0).json();
    assert_eq!(object["codes"].as_object().unwrap().len(), 18);
}

#[test]
fn what_is_said_of_a_role_that_is_not_there_is_in_its_explanation() {
    let folder = Folder::new("explain_role");
    let text = folder.call("explain S0407").exits(0).stdout;
    let fence = |kind: &str| {
        let (_, rest) = text.split_once(&format!("```{kind}\n")).unwrap();
        rest.split_once("```").unwrap().0
    };
    let folder = folder.with("example.scr", fence("scribble"));
    let (_, call) = text.split_once("`cargo rumpsteak ").unwrap();
    let run = folder.call(call.split_once('`').unwrap().0).exits(2).prints("");
    let (error, hint) = run.stderr.split_once("\n\n").unwrap();
    assert_eq!(error, fence("text").trim_end());
    assert_eq!(hint, "for more about this error, try `cargo rumpsteak explain S0407`\n");
    assert!(run.stderr.lines().all(|line| line.chars().count() <= 80));
}
