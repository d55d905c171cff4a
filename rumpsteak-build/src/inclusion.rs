//! What is said at `protocol!(…)`.

use rumpsteak_syntax::verdict::{self, Entry, Kind, Outcome, Problem, Proof};

use crate::paths::Base;
use crate::verify::{Findings, Located};
use crate::walk::{Inclusion, ItemId, Tree};

/// Adds the entries of `protocol!(…)`, and the files that they include.
pub(crate) fn findings(tree: &Tree, base: &Base, findings: &mut Findings) {
    for inclusion in &tree.inclusions {
        let Inclusion {
            item,
            module,
            file,
            included,
            problems,
        } = inclusion;
        let token = item.name_token;
        let problems = problems.iter().map(|text| Problem {
            token,
            text: text.clone(),
        });
        let problems: Vec<Problem> = problems.collect();
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
            line: item.name.span().start().line,
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
    findings
        .verdicts
        .generated
        .sort_by(|left, right| left.protocol.cmp(&right.protocol));
}

/// Where an item is generated from a machine with an error, the protocol as `protocol!(…)` names it: the error is
/// raised there.
pub(crate) fn failed(tree: &Tree, id: ItemId) -> Option<String> {
    let file = tree.item(id).file;
    let failed =
        |inclusion: &&Inclusion| inclusion.included == Some(file) && !inclusion.problems.is_empty();
    let inclusion = tree.inclusions.iter().find(failed)?;
    Some(inclusion.item.name.to_string())
}
