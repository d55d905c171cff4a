//! Misspelt annotations, and `depends:` annotations with unknown labels.

use hashbrown::HashSet;
use litemap::LiteMap;

use crate::diagnostics::{Diagnostic, Span, name_errors, similar};
use crate::global::automaton::Global;
use crate::names::program::Source;
use crate::syntax::ast::{Interaction, Module};

/// Warnings about annotations whose keyword is misspelt or lacks its colon. Other unknown
/// annotations are left to other tools.
pub(crate) fn unknown(module: &Module) -> impl Iterator<Item = Diagnostic> {
    const KNOWN: [&str; 2] = ["depends", "name"];
    interactions(module).flat_map(|interaction| &interaction.annotations).filter_map(|annotation| {
        let text = annotation.as_str().trim();
        if let Some((keyword, _)) = text.split_once(':') {
            let meant = similar(keyword, &KNOWN).filter(|_| !KNOWN.contains(&keyword))?;
            return Some(name_errors::misspelt_annotation(annotation, keyword, meant).warning());
        }
        // If the colon is missing, the exact keyword and a list of names are required: the text may
        // be a sentence.
        let (keyword, names) = text.split_once([' ', '='])?;
        let is_name = |name: &str| {
            let mut letters = name.trim_matches([' ', '=']).chars().peekable();
            letters.peek().is_some() && letters.all(|c| c.is_alphanumeric() || c == '_')
        };
        let is_meant = KNOWN.contains(&keyword) && names.split(',').all(is_name);
        let names = names.trim_matches([' ', '=']);
        let found = || name_errors::annotation_without_colon(annotation, keyword, names).warning();
        is_meant.then(found)
    })
}

/// The messages with `@"race"`: in a `par`, their senders may receive first.
pub(crate) fn raced(sources: &[Source]) -> HashSet<Span> {
    let is_raced = |found: &&Interaction| {
        found.annotations.iter().any(|annotation| annotation.as_str().trim() == "race")
    };
    let interactions = sources.iter().flat_map(|source| interactions(&source.module));
    interactions.filter(is_raced).map(|found| found.span).collect()
}

/// Warnings about labels in `depends:` that the sender of the message never receives.
pub(crate) fn unknown_dependencies<'p>(
    sources: &[Source],
    protocols: impl Iterator<Item = &'p Global>,
) -> Vec<Diagnostic> {
    let interactions = sources.iter().flat_map(|source| interactions(&source.module));
    let mut depending = LiteMap::new_vec();
    let found = interactions.filter_map(|found| Some((found.span, found.dependencies()?)));
    found.for_each(|(span, labels)| _ = depending.insert(span, labels));
    if depending.is_empty() {
        return Vec::new();
    }
    // Once for each label, however often the protocol is called.
    let mut unknown = LiteMap::new_vec();
    for global in protocols {
        let received = received(global);
        let parts = global.blocks.iter().flat_map(|block| &block.parts);
        for part in [global].into_iter().chain(parts) {
            for edge in part.all_edges() {
                let sender = part.letter(edge).from as usize;
                // A block has no sender and no receiver.
                let Some(received) = received.get(sender) else { continue };
                let role = &global.roles[sender];
                for &origin in &edge.origins {
                    let labels = depending.get(&origin).into_iter().flatten();
                    let unknown_ones = labels.filter(|of| received.binary_search(&of.1).is_err());
                    for &(at, label) in unknown_ones {
                        unknown.entry((at.span, label)).or_insert_with(|| {
                            // Bounds the time for comparing labels.
                            let known: Vec<_> = received.iter().copied().take(256).collect();
                            name_errors::unknown_dependency(at, label, role, origin, &known)
                                .warning()
                        });
                    }
                }
            }
        }
    }
    unknown.into_tuple_vec().into_iter().map(|(_, warning)| warning).collect()
}

fn interactions(module: &Module) -> impl Iterator<Item = &Interaction> {
    let bodies = module.protocols.iter().map(|protocol| &protocol.body);
    bodies.flat_map(|body| body.interactions()).map(|(_, interaction)| interaction)
}

/// The labels that each role receives, sorted.
fn received(global: &Global) -> Vec<Vec<&str>> {
    let mut received = vec![Vec::new(); global.roles.len()];
    let label = |message: u32| global.messages[message as usize].label.as_str();
    for letter in &global.letters {
        if let Some(received) = received.get_mut(letter.to as usize) {
            received.push(label(letter.message));
        }
    }
    for (block, participants) in global.blocks.iter().zip(&*global.participants) {
        for found in &block.interrupts {
            for role in participants.ones() {
                let is_own = role == found.by as usize;
                let heard = if is_own { found.answer } else { Some(found.message) };
                received[role].extend(heard.map(label));
            }
        }
    }
    for labels in &mut received {
        labels.sort_unstable();
        labels.dedup();
    }
    received
}
