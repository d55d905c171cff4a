//! Annotations that have a meaning, and are not what they should be.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::name_errors;
use crate::diagnostics::similar::similar;
use crate::diagnostics::span::Span;
use crate::global::automaton::Global;
use crate::names::program::Source;
use crate::syntax::ast::{Interaction, Module};

/// The annotations that are nearly called as those that have a meaning, or lack their colon. Others
/// are those of other tools.
pub(crate) fn unknown(module: &Module) -> impl Iterator<Item = Diagnostic> {
    const KNOWN: [&str; 2] = ["depends", "name"];
    let annotations = interactions(module).flat_map(|interaction| &interaction.annotations);
    annotations.filter_map(|annotation| {
        let text = annotation.as_str().trim();
        if let Some((keyword, _)) = text.split_once(':') {
            let meant = similar(keyword, &KNOWN).filter(|_| !KNOWN.contains(&keyword))?;
            return Some(name_errors::unknown_annotation(annotation, keyword, meant));
        }
        // Without its colon it begins with the very word, and names follow: it is no sentence.
        let (keyword, names) = text.split_once([' ', '='])?;
        let is_name = |name: &str| {
            let mut letters = name.trim_matches([' ', '=']).chars().peekable();
            letters.peek().is_some() && letters.all(|c| c.is_alphanumeric() || c == '_')
        };
        let is_meant = KNOWN.contains(&keyword) && names.split(',').all(is_name);
        is_meant.then(|| name_errors::annotation_without_colon(annotation, keyword, names))
    })
}

/// The labels that `depends:` names and that the role which sends the message never receives.
pub(crate) fn unknown_dependencies<'p>(
    sources: &[Source<'_>],
    protocols: impl Iterator<Item = &'p Global>,
) -> Vec<Diagnostic> {
    let interactions = sources.iter().flat_map(|source| interactions(source.module));
    let depending: BTreeMap<Span, _> =
        interactions.filter_map(|found| Some((found.span, found.dependencies()?))).collect();
    if depending.is_empty() {
        return Vec::new();
    }
    // Once for each label, however often the protocol is called.
    let mut unknown = BTreeMap::new();
    for global in protocols {
        let received = received(global);
        let parts = global.blocks.iter().flat_map(|block| &block.parts);
        for part in iter::once(global).chain(parts) {
            for edge in &part.edges {
                let sender = part.letter(edge).from as usize;
                // A block has no sender of its own, nor a receiver.
                let Some(received) = received.get(sender) else { continue };
                let role = &global.roles[sender];
                for &origin in part.origins(edge) {
                    let labels = depending.get(&origin).into_iter().flatten();
                    for &(at, label) in labels.filter(|(_, label)| !received.contains(label)) {
                        unknown.entry((at.span, label)).or_insert_with(|| {
                            name_errors::unknown_dependency(at, label, (role, origin), received)
                        });
                    }
                }
            }
        }
    }
    unknown.into_values().collect()
}

fn interactions(module: &Module) -> impl Iterator<Item = &Interaction> {
    let bodies = module.protocols.iter().map(|protocol| &protocol.body);
    bodies.flat_map(|body| body.interactions()).map(|(_, interaction)| interaction)
}

fn received(global: &Global) -> Vec<BTreeSet<&str>> {
    let mut received = vec![BTreeSet::new(); global.roles.len()];
    let label = |message: u32| global.messages[message as usize].label.as_str();
    for letter in &global.letters {
        if let Some(received) = received.get_mut(letter.to as usize) {
            received.insert(label(letter.message));
        }
    }
    for (block, participants) in global.blocks.iter().zip(&*global.participants) {
        for &(by, message, _) in &block.interrupts {
            for role in participants.ones().filter(|&role| role != by as usize) {
                received[role].insert(label(message));
            }
        }
    }
    received
}
