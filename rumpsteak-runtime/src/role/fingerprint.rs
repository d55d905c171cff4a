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

/// `Send<P, L, then>`: mixed with the numbers of `P` and `L`, and the fingerprint of `then`.
pub(crate) const SEND: u64 = 1;
/// `Receive<P, L, then>`.
pub(crate) const RECEIVE: u64 = 2;
/// `Select<P, choice>`: mixed with the number of `P` (0 if its options name their peers) and the
/// number of the choice.
pub(crate) const SELECT: u64 = 3;
/// `Branch<P, choice>`.
pub(crate) const BRANCH: u64 = 4;
/// `End`: mixed with 0.
pub(crate) const END: u64 = 5;
/// `Race<choice>`: mixed as `Select<choice>`.
pub(crate) const RACE: u64 = 6;
/// `Gather<choice>`: mixed as `Select<choice>`.
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
