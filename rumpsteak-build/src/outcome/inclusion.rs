//! What is said at `protocol!(…)`.

use rumpsteak_contract::verdict::{self, Entry, Kind, Outcome, Problem, Proof};
use rumpsteak_fsm::sorted;

use crate::codegen;
use crate::judge::fallback::Notes;
use crate::outcome::{Findings, Located};
use crate::source::crate_tree::{Inclusion, ItemId, Tree};
use crate::source::package_root::Base;

/// Adds the entries of `protocol!(…)`, and the files that they include.
pub(crate) fn findings(tree: &Tree, base: &Base, notes: &Notes, findings: &mut Findings) {
    for inclusion in &tree.inclusions {
        let Inclusion {
            item,
            module,
            file,
            included,
            problems,
        } = inclusion;
        let token = item.name_token;
        let mut texts = Vec::new();
        for problem in problems {
            if let Some(note) = note(problem, notes) {
                let text = format!("{}{note}", problem.text);
                findings.kinds.insert(text.clone(), problem.kind);
                texts.push(Problem { token, text });
            }
        }
        let problems = texts;
        findings
            .problems
            .extend(problems.iter().map(|problem| Located {
                file: *file,
                span: item.span_of(problem.token),
                text: problem.text.clone(),
            }));
        let name = item.name.to_string();
        if let Some(included) = included
            && let Some(generated) = &tree.files[included.0].generated
            && let Some(text) = &generated.text
        {
            let generated = verdict::Generated {
                protocol: name.clone(),
                file: generated.file.clone(),
                stamp: verdict::stamp(text),
            };
            if !findings.verdicts.generated.contains(&generated) {
                findings.verdicts.generated.push(generated);
            }
        }
        findings.verdicts.entries.push(Entry {
            kind: Kind::Protocol,
            name,
            hash: item.hash(),
            target: tree.crates[tree.module(*module).krate.0].target.clone(),
            file: base.show(&tree.files[file.0].path),
            line: item.name.span().line,
            outcome: match problems.is_empty() {
                true => Outcome::Passed(Proof::default()),
                false => Outcome::Failed {
                    id: None,
                    plays: false,
                    problems,
                },
            },
        });
    }
    sorted::sort_by(&mut findings.verdicts.generated, |left, right| {
        left.protocol.cmp(&right.protocol)
    });
}

/// Where an item is generated from a machine with an error, the protocol as `protocol!(…)` names it: the error is
/// raised there.
pub(crate) fn failed(tree: &Tree, notes: &Notes, id: ItemId) -> Option<String> {
    let file = tree.item(id).file;
    let failed = |inclusion: &&Inclusion| {
        let is_raised = |problem: &codegen::Problem| note(problem, notes).is_some();
        inclusion.included == Some(file) && inclusion.problems.iter().any(is_raised)
    };
    let inclusion = tree.inclusions.iter().find(failed)?;
    Some(inclusion.item.name.to_string())
}

/// What to add to a problem; nothing if it is none, because all machines are accepted together.
fn note<'a>(problem: &codegen::Problem, notes: &'a Notes) -> Option<&'a str> {
    match problem.refused.and_then(|protocol| notes.get(&protocol)) {
        Some(note) => note.as_deref(),
        None => Some(""),
    }
}
