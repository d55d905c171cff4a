//! The fingerprint of what was verified.

use rumpsteak_contract::canonical::number;
use rumpsteak_contract::verdict::{Chain, Step, mix};

/// The constructors, whose numbers in `private::fingerprint` of the runtime count from 1.
const CONSTRUCTORS: [&str; 6] = ["send", "receive", "select", "branch", "end", "choice"];

/// The fingerprint of a chain as it was verified.
pub(super) fn of(chain: &[Step]) -> u64 {
    chain.iter().rev().fold(0, |then, (constructor, names, id)| match &names[..] {
        [protocol, role, label @ ..] => {
            let fingerprint = mix(start(constructor), number(&[protocol, role]));
            let label = label.iter().map(|label| number(&[label]));
            mix(label.fold(fingerprint, mix), id.unwrap_or(then))
        }
        // A struct, or the end.
        _ => id.unwrap_or_else(|| mix(start(constructor), 0)),
    })
}

/// The fingerprint of the options of a choice as they were verified.
pub(super) fn of_choice(options: &[(Option<String>, Chain)]) -> u64 {
    options.iter().fold(start("choice"), |fingerprint, (label, chain)| {
        let label = number(&[label.as_deref().unwrap_or_default()]);
        mix(mix(fingerprint, label), of(chain))
    })
}

fn start(constructor: &str) -> u64 {
    let position = CONSTRUCTORS.iter().position(|known| *known == constructor);
    position.map_or(0, |position| position as u64 + 1)
}
