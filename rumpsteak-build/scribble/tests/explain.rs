//! Every example in an explanation is accepted, or refused for the explained mistake, as it says.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use rumpsteak_scribble::{Code, Limits, Modules};

fn codes(source: &str) -> Vec<Code> {
    let (modules, mut diagnostics) = Modules::load(source, |_| None);
    let checked = modules.check(&Limits::default());
    diagnostics.extend(checked.diagnostics);
    for protocol in &checked.protocols {
        for role in protocol.roles() {
            diagnostics.extend(protocol.project(role).err().unwrap_or_default());
        }
    }
    diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn example<'a>(text: &'a str, heading: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(heading)?;
    let (_, rest) = rest.split_once("```scribble\n")?;
    Some(rest.split_once("```").unwrap().0)
}

#[test]
fn every_example_is_judged_as_it_says() {
    let mut without = Vec::new();
    for &code in Code::ALL {
        let text = code.explanation();
        for line in text.lines() {
            assert!(line.chars().count() <= 96, "{code}: {line}");
        }
        match example(text, "Refused:") {
            Some(source) => {
                let mut found = codes(source);
                found.dedup();
                assert_eq!(found, [code], "{source}");
            }
            None => without.push(code.as_str()),
        }
        if let Some(source) = example(text, "Accepted:") {
            assert_eq!(codes(source), [], "{code}\n{source}");
        }
    }
    // These need a huge file, several files, limits, or an unknown role.
    assert_eq!(without, ["S0106", "S0213", "S0308", "S0406", "S0407"]);
}

#[test]
fn every_block_is_judged_as_its_fence_says() {
    let mut judged = [0, 0];
    let documents = [include_str!("../REFERENCE.md"), include_str!("kinds.md")];
    for block in documents.iter().flat_map(|text| text.split("\n```scribble").skip(1)) {
        let (fence, rest) = block.split_once('\n').unwrap();
        let mut found = codes(rest.split_once("\n```").unwrap().0);
        found.dedup();
        let named = Code::ALL.iter().filter(|code| code.as_str() == fence.trim());
        let expected: Vec<Code> = named.copied().collect();
        assert_eq!(found, expected, "{rest}");
        assert!(expected.len() == 1 || fence.is_empty(), "{fence}");
        judged[expected.len()] += 1;
    }
    assert_eq!(judged, [125, 47], "accepted, refused");
}

#[test]
fn no_code_is_used_twice() {
    let codes = Code::ALL.iter().map(|code| code.as_str());
    assert!(codes.is_sorted_by(|left, right| left < right));
}
