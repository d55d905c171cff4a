//! The fingerprint of what was verified.

use rumpsteak_contract::canonical::number;
use rumpsteak_contract::verdict::{Step, fingerprint};

/// The constructors, whose numbers in `private::fingerprint` of the runtime count from 1.
const CONSTRUCTORS: [&str; 5] = ["send", "receive", "select", "branch", "end"];

/// The fingerprint of a chain as it was verified.
pub(super) fn of(chain: &[Step]) -> u64 {
    chain.iter().rev().fold(0, |then, (constructor, names, id)| {
        let position = CONSTRUCTORS.iter().position(|known| known == constructor);
        let Some(position) = position else {
            // A struct.
            return id.unwrap_or_default();
        };
        let mut parts = vec![position as u64 + 1];
        if let [protocol, role, label @ ..] = &names[..] {
            parts.push(number(&[protocol, role]));
            parts.extend(label.iter().map(|label| number(&[label])));
            parts.push(id.unwrap_or(then));
        }
        fingerprint(&parts)
    })
}
