//! What is said at `protocol!(…)`.

use rumpsteak_contract::verdict::{self, Entry, Kind, Outcome, Problem, Proof};

use crate::codegen;
use crate::fault::Origin;
use crate::judge::judgement::Judgement;
use crate::outcome::entries::{Findings, Located, Word};
use crate::source::crate_tree::{Inclusion, ItemId, Tree};
use crate::source::package_root::PackageRoot;

/// Adds the entries of `protocol!(…)`, and the files that they include.
pub(crate) fn findings(
    tree: &Tree,
    base: &PackageRoot,
    judgement: &Judgement,
    word: &Word<'_>,
    findings: &mut Findings,
) {
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
        for problem in problems
            .iter()
            .filter(|problem| is_raised(problem, judgement))
        {
            let system = problem
                .refused
                .and_then(|of| judgement.closed_systems.get(&of));
            let text = word(
                &problem.cause,
                system.and_then(|system| system.note.as_ref()),
            );
            findings.problems.push(Located {
                file: *file,
                span: item.span_of(token),
                text: text.clone(),
                gravity: problem.cause.gravity(),
                // Nothing else of the Rust source says it.
                origin: Origin::Own,
            });
            texts.push(Problem { token, text });
        }
        let problems = texts;
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
            outcome: if problems.is_empty() {
                Outcome::Passed(Proof::default())
            } else {
                Outcome::Failed {
                    id: None,
                    plays: false,
                    problems,
                }
            },
        });
    }
    findings
        .verdicts
        .generated
        .sort_by(|left, right| left.protocol.cmp(&right.protocol));
}

/// The protocol, as `protocol!(…)` names it, whose inclusion has an error and generates an item: the
/// error is raised there.
pub(crate) fn failed(tree: &Tree, judgement: &Judgement, id: ItemId) -> Option<String> {
    let file = tree.item(id).file;
    let failed = |inclusion: &&Inclusion| {
        let mut problems = inclusion.problems.iter();
        inclusion.included == Some(file) && problems.any(|problem| is_raised(problem, judgement))
    };
    let inclusion = tree.inclusions.iter().find(failed)?;
    Some(inclusion.item.name.to_string())
}

/// Whether a problem is one: the closed system of a refused machine may be accepted.
fn is_raised(problem: &codegen::Problem, judgement: &Judgement) -> bool {
    let system = problem
        .refused
        .and_then(|of| judgement.closed_systems.get(&of));
    system.is_none_or(|system| !system.is_accepted)
}
