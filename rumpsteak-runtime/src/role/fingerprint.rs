//! Fingerprints of session types: how rustc confirms what the build script resolved.
//!
//! The build script finds out by itself which role, label or helper a name in an alias means; rustc
//! does the same with its own rules. Were the two to disagree (a name shadowed by a macro, an item
//! hidden by a `cfg`), another session would run than the one that was verified. So `#[session]`
//! emits, beside each alias, the fingerprint of what the build script understood, and asserts at
//! compile time that it equals [`Structure::FINGERPRINT`] of the type that rustc understood.
//!
//! A fingerprint is a hash of 64 bits of the constructor, the numbers of the names, and the
//! fingerprint of what follows. `#[derive(Role)]` and `#[derive(Message)]` make the numbers, so
//! that rustc reads no text. Aliases are transparent; structs and enums are nominal (recursion goes
//! through them), with an identity that the build script hands out, and their bodies are asserted
//! on their own. The hash guards against accidents, not against an adversary: somebody who wants to
//! forge a proof can also write the `impl` by hand.

use crate::role::Role;

/// A session type, as rustc resolved its names.
pub trait Structure {
    /// The fingerprint: one of the constructors, [mixed](mix) with its parts, or an identity.
    const FINGERPRINT: u64;
}

/// `Send<P, L, then>`: the numbers of `P` and `L`, and the fingerprint of what follows.
pub const SEND: u64 = 1;

/// `Receive<P, L, then>`.
pub const RECEIVE: u64 = 2;

/// `Select<P, choice>`: the number of `P`, 0 if its options name their peers, and the identity of
/// the choice.
pub const SELECT: u64 = 3;

/// `Branch<P, choice>`.
pub const BRANCH: u64 = 4;

/// `End`, with 0.
pub const END: u64 = 5;

/// The options of a choice in order: the number of the label, and what follows; or the fingerprint
/// of the `Send` or `Receive` that it is.
pub const CHOICE: u64 = 6;

/// `Race<choice>`, as `Select<choice>`.
pub const RACE: u64 = 7;

/// A fingerprint with one part more: it begins with the number of a constructor.
///
/// `rumpsteak-contract` has the same function for the macros.
#[must_use]
pub const fn mix(hash: u64, part: u64) -> u64 {
    (hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// A fingerprint with several parts more.
#[must_use]
pub const fn mix_all(mut hash: u64, mut parts: &[u64]) -> u64 {
    while let [part, rest @ ..] = parts {
        hash = mix(hash, *part);
        parts = rest;
    }
    hash
}

/// Whether a role and its session are those that were verified.
#[must_use]
pub const fn is_root<R: Role, S: Structure>(role: u64, session: u64) -> bool {
    R::PLAYED.0.number == role && S::FINGERPRINT == session
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let all: [&[u64]; 9] = [
            &[SEND, 7, 8, 1],
            &[SEND, 9, 8, 1],
            &[SEND, 7, 9, 1],
            &[SEND, 7, 8, 2],
            &[RECEIVE, 7, 8, 1],
            &[SELECT, 7, 8],
            &[BRANCH, 7, 8],
            &[END, 0],
            &[CHOICE, 7, 1],
        ];
        let of = |parts: &[u64]| parts.iter().copied().reduce(mix);
        for (index, parts) in all.iter().enumerate() {
            let earlier = all[..index].iter().any(|earlier| of(earlier) == of(parts));
            assert!(!earlier, "{parts:?} collides");
        }
    }
}
