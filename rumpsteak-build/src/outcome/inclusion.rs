//! What is said at `protocol!(…)`.

use rumpsteak_contract::verdict::{self, Entry, Kind, Proof};

use crate::fault::Origin;
use crate::judge::judgement::Judgement;
use crate::outcome::findings::{Findings, Located, Word, outcome};
use crate::source::crate_tree::{ItemId, Tree};
use crate::source::package_root::PackageRoot;

/// Adds the entries of `protocol!(…)`, and the files that they include.
pub(crate) fn findings(
    tree: &Tree,
    base: &PackageRoot,
    judgement: &Judgement,
    word: &Word<'_>,
    findings: &mut Findings,
) {
    for (inclusion, causes) in tree.inclusions.iter().zip(&judgement.inclusions) {
        let item = &inclusion.item;
        let token = item.name_token;
        let causes = causes.iter();
        let problems: Vec<Located> = causes
            .map(|(cause, note)| Located {
                file: inclusion.file,
                token,
                span: item.key.span_of(token),
                text: word(cause, note.as_ref()),
                gravity: cause.gravity(),
                // No other item of the Rust source says it.
                origin: Origin::Own,
            })
            .collect();
        let name = item.name.to_string();
        let included = inclusion.included.map(|file| &tree.files[file.0]);
        if let Some(file) = included.and_then(|file| file.generated.as_ref()) {
            let generated = verdict::Generated {
                protocol: name.clone(),
                file: file.path.clone(),
                stamp: verdict::stamp(&file.text),
            };
            if !findings.verdicts.generated.contains(&generated) {
                findings.verdicts.generated.push(generated);
            }
        }
        let krate = tree.module(inclusion.module).krate;
        let entry = Entry {
            kind: Kind::Protocol,
            name,
            hash: item.key.hash(),
            target: tree.crates[krate.0].target.clone(),
            file: base.show(&tree.files[inclusion.file.0].path),
            line: item.name.span().start().line,
            outcome: outcome(&problems, Proof::default()),
        };
        findings.add(entry, problems);
    }
    let generated = &mut findings.verdicts.generated;
    generated.sort_by(|left, right| left.protocol.cmp(&right.protocol));
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
