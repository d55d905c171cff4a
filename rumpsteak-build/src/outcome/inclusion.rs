//! What is said at `protocol!(…)`.

use rumpsteak_contract::verdict::{Entry, Kind, Proof, key, stamp};

use crate::fault::Cause;
use crate::judge::judgement::Judgement;
use crate::outcome::findings::{Findings, Located, Word, raised};
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
    let krate = |inclusion: &Inclusion| tree.module(inclusion.module).krate;
    let inclusions = || tree.inclusions.iter().zip(&judgement.inclusions);
    for (position, (inclusion, causes)) in inclusions().enumerate() {
        // A file is told once: what is wrong with a machine's name concerns all protocols of one.
        let is_told = |cause: &Cause| {
            matches!(cause, Cause::BrokenFile { .. } | Cause::Machine { .. })
                && inclusions().take(position).any(|(other, said)| {
                    krate(other) == krate(inclusion) && said.iter().any(|(other, _)| other == cause)
                })
        };
        let item = &inclusion.item;
        let token = item.name_token;
        let causes = causes.iter();
        let problems: Vec<Located> = causes
            .map(|(cause, note)| Located {
                file: inclusion.file,
                token,
                span: item.key.span_of(token),
                told: word(cause, note.as_ref()),
                gravity: cause.gravity(),
                is_of_file: cause.is_of_file(),
                is_echo: is_told(cause),
                stub: cause.stub(),
            })
            .collect();
        let name = item.name.to_string();
        let included = inclusion.included.map(|file| &tree.files[file.0]);
        if let Some(file) = included.and_then(|file| file.generated.as_ref()) {
            let asked = format!("{name} {}", item.variant());
            let generated = (asked, file.path.clone(), stamp(&file.text));
            let known = &mut findings.verdicts.package.generated;
            if !known.contains(&generated) {
                known.push(generated);
            }
        }
        let krate = krate(inclusion);
        let entry = Entry {
            key: key(Kind::Protocol, &name, item.key.hash()),
            krate: tree.crates[krate.0].site(),
            file: base.show(&tree.files[inclusion.file.0].path),
            line: item.name.span().start().line,
            passed: problems.is_empty(),
            problems: raised(&problems),
            stubs: problems.iter().filter_map(|problem| problem.stub.clone()).collect(),
            proof: Proof::default(),
        };
        findings.add(&entry, problems);
    }
    findings.verdicts.package.generated.sort();
}

/// The protocol, as `protocol!(…)` names it, whose inclusion has an error and generates an item:
/// the error is raised there.
pub(crate) fn failed(tree: &Tree, judgement: &Judgement, id: ItemId) -> Option<String> {
    let file = tree.item(id).file;
    let mut inclusions = tree.inclusions.iter().zip(&judgement.inclusions);
    let (inclusion, _) = inclusions
        .find(|(inclusion, causes)| inclusion.included == Some(file) && !causes.is_empty())?;
    Some(inclusion.item.name.to_string())
}
