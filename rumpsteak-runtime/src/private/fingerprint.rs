//! Fingerprints of session types: how rustc confirms what the build script resolved.
//!
//! The build script finds out by itself which role, label or helper a name in an alias means; rustc
//! does the same with its own rules. Were the two to disagree (a name shadowed by a macro, an item
//! hidden by a `cfg`), another session would run than the one that was verified. So `#[session]`
//! emits, beside each alias, the fingerprint of what the build script understood, and asserts at
//! compile time that it equals [`Structure::FINGERPRINT`] of the
//! type that rustc understood.
//!
//! A fingerprint is the 64-bit FNV-1a hash of the constructor, the names, and the fingerprint of
//! what follows. Aliases are transparent; structs and enums are nominal (recursion goes through
//! them), with an identity that the build script hands out, and their bodies are asserted on their
//! own. The hash guards against accidents, not against an adversary: somebody who wants to forge a
//! proof can also write the `impl` by hand.

/// A session type, as rustc resolved its names.
pub trait Structure {
    /// The fingerprint.
    const FINGERPRINT: u64;
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Separates the parts: no UTF-8 text contains it.
const SEPARATOR: u8 = 0xff;

const fn byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(PRIME)
}

const fn text(hash: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = hash;
    let mut index = 0;
    while index < bytes.len() {
        hash = byte(hash, bytes[index]);
        index += 1;
    }
    byte(hash, SEPARATOR)
}

const fn number(hash: u64, number: u64) -> u64 {
    let bytes = number.to_le_bytes();
    let mut hash = hash;
    let mut index = 0;
    while index < bytes.len() {
        hash = byte(hash, bytes[index]);
        index += 1;
    }
    hash
}

/// `Send<P, L, then>`, where `P` plays `role` in `protocol` and `L` is named `label`.
pub const fn send(protocol: &str, role: &str, label: &str, then: u64) -> u64 {
    let hash = text(OFFSET, "send");
    number(text(text(text(hash, protocol), role), label), then)
}

/// `Receive<P, L, then>`.
pub const fn receive(protocol: &str, role: &str, label: &str, then: u64) -> u64 {
    let hash = text(OFFSET, "receive");
    number(text(text(text(hash, protocol), role), label), then)
}

/// `Select<P, choice>`.
pub const fn select(protocol: &str, role: &str, choice: u64) -> u64 {
    number(text(text(text(OFFSET, "select"), protocol), role), choice)
}

/// `Branch<P, choice>`.
pub const fn branch(protocol: &str, role: &str, choice: u64) -> u64 {
    number(text(text(text(OFFSET, "branch"), protocol), role), choice)
}

/// `End`.
pub const fn end() -> u64 {
    text(OFFSET, "end")
}

/// The body of a choice: its variants in order, each with the name of its label and what follows.
pub const fn choice(variants: &[(&str, u64)]) -> u64 {
    let mut hash = text(OFFSET, "choice");
    let mut index = 0;
    while index < variants.len() {
        let (label, then) = variants[index];
        hash = number(text(hash, label), then);
        index += 1;
    }
    hash
}

/// A session that `role` of `protocol` may begin.
pub const fn root(protocol: &str, role: &str, session: u64) -> u64 {
    number(text(text(text(OFFSET, "root"), protocol), role), session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let all = [
            send("P", "a", "x", 1),
            send("Q", "a", "x", 1),
            send("P", "b", "x", 1),
            send("P", "a", "y", 1),
            send("P", "a", "x", 2),
            send("Pa", "", "x", 1),
            receive("P", "a", "x", 1),
            select("P", "a", 1),
            branch("P", "a", 1),
            choice(&[("x", 1), ("y", 2)]),
            choice(&[("y", 2), ("x", 1)]),
            choice(&[("x", 1)]),
            choice(&[]),
            root("P", "a", 1),
            end(),
        ];
        for (index, fingerprint) in all.iter().enumerate() {
            assert!(!all[..index].contains(fingerprint), "{index} collides");
        }
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // The published test vector of FNV-1a 64 for "a".
        assert_eq!(byte(OFFSET, b'a'), 0xaf63_dc4c_8601_ec8c);
    }
}
