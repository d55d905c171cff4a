//! Fingerprints of session types, by which a session that changes hands keeps its state.
//!
//! A [`Detached`](crate::Detached) session continues with another lifetime, and a parcel of
//! `rumpsteak-net` in another program. Both compare the fingerprint of the state in which the
//! session was taken with the one from which it continues.
//!
//! A fingerprint is a 64-bit hash of the constructor, the names and the next state's fingerprint. A
//! type alias is transparent. A session struct or enum has a number, which the macro computes from
//! all connected sessions of its module.

/// A session type that has a fingerprint.
pub trait Structure {
    /// The fingerprint.
    const FINGERPRINT: u64;
}

/// The numbers of the constructors. `Send` and `Receive` are mixed with the number of the peer, the
/// number of the label and the fingerprint of the next state. `End` is mixed with 0. Every other
/// one is mixed with the number of the peer (0 if its options name theirs) and of its choice.
pub(crate) const SEND: u64 = 1;
pub(crate) const RECEIVE: u64 = 2;
pub(crate) const SELECT: u64 = 3;
pub(crate) const BRANCH: u64 = 4;
pub(crate) const END: u64 = 5;
pub(crate) const RACE: u64 = 6;
pub(crate) const GATHER: u64 = 7;

/// Mixes a part into a fingerprint, which begins as the number of a constructor.
pub(crate) const fn mix(hash: u64, part: u64) -> u64 {
    (hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// The hash of a name.
pub(crate) const fn number(name: &str) -> u64 {
    let (mut bytes, mut hash) = (name.as_bytes(), name.len() as u64);
    while let [first, rest @ ..] = bytes {
        hash = mix(hash, *first as u64);
        bytes = rest;
    }
    hash
}

/// The fingerprint of a state with one label.
pub(crate) const fn of_action(constructor: u64, peer: u64, label: &str, then: u64) -> u64 {
    mix(mix(mix(constructor, peer), number(label)), then)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let all = [
            of_action(SEND, 7, "a", 1),
            of_action(SEND, 9, "a", 1),
            of_action(SEND, 7, "b", 1),
            of_action(SEND, 7, "a", 2),
            of_action(RECEIVE, 7, "a", 1),
            mix(mix(SELECT, 7), 8),
            mix(mix(BRANCH, 7), 8),
            mix(END, 0),
        ];
        for (index, fingerprint) in all.iter().enumerate() {
            assert!(!all[..index].contains(fingerprint), "{index} collides");
        }
    }
}
