//! The fingerprint of what was verified.

use rumpsteak_contract::canonical::number;
use rumpsteak_contract::verdict::{Chain, Step, mix};

/// The constructors, whose numbers in `private::fingerprint` of the runtime count from 1.
const CONSTRUCTORS: [&str; 7] = ["send", "receive", "select", "branch", "end", "choice", "race"];

/// The fingerprint of a chain as it was verified.
pub(super) fn of(chain: &[Step]) -> u64 {
    chain.iter().rev().fold(0, |then, (constructor, names, id)| match &names[..] {
        [protocol, role, label @ ..] => {
            let fingerprint = mix(start(constructor), number(&[protocol, role]));
            let label = label.iter().map(|label| number(&[label]));
            mix(label.fold(fingerprint, mix), id.unwrap_or(then))
        }
        // A choice among peers, a struct, or the end.
        _ => match (start(constructor), id) {
            (0, Some(id)) => *id,
            (start, Some(id)) => mix(mix(start, 0), *id),
            (start, None) => mix(start, 0),
        },
    })
}

/// The fingerprint of the options of a choice as they were verified.
pub(super) fn of_choice(options: &[(Option<String>, Chain)]) -> u64 {
    options.iter().fold(start("choice"), |fingerprint, (label, chain)| {
        // Without a label, it is in the chain.
        let label = label.as_ref().map(|label| number(&[label]));
        mix(label.map_or(fingerprint, |label| mix(fingerprint, label)), of(chain))
    })
}

fn start(constructor: &str) -> u64 {
    let position = CONSTRUCTORS.iter().position(|known| *known == constructor);
    position.map_or(0, |position| position as u64 + 1)
}
