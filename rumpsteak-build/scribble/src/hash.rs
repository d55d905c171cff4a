//! Hash maps for small keys of numbers.
//!
//! The crate runs in build scripts, which are not optimised. There the standard SipHash costs more than all the
//! rest of a lookup. The keys are ids of our own making, so nobody gains by making them collide: a protocol that
//! did would be slow for its author alone, within the limits.
//!
//! [`Map`] is the standard table and serves wherever a lookup is rare. What happens for each word of a text goes through
//! [`Index`], which compiles to few calls where nothing is inlined: a lookup costs a sixth.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    sync::Arc,
};

pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Multiply>>;

/// One rotation and one multiplication a word.
#[derive(Default)]
pub(crate) struct Multiply(u64);

impl Multiply {
    fn add(&mut self, word: u64) {
        // An odd number with evenly spread bits: 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Multiply {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
        let mut last = u64::try_from(bytes.len()).unwrap_or(0);
        for &byte in chunks.remainder() {
            last = last << 8 | u64::from(byte);
        }
        self.add(last);
    }

    fn write_u32(&mut self, word: u32) {
        self.add(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_usize(&mut self, word: usize) {
        // No target has words wider than 64 bits.
        self.add(word as u64);
    }

    fn finish(&self) -> u64 {
        // The table takes its bits from both ends; the multiplication mixes the upper ones only.
        self.0 ^ self.0 >> 32
    }
}

/// Finds the position of a value in a table that its owner keeps, by the value's hash: open addressing with linear
/// probing, at most half full.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The hash and the position, or [`FREE`]; a power of two of them, or none.
    slots: Vec<(u32, u32)>,
    taken: usize,
}

const FREE: u32 = u32::MAX;

impl Index {
    /// The position that was [added](Self::add) under this hash and of which `is` holds.
    pub(crate) fn find(&self, hash: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
        let slots = self.slots.as_slice();
        if slots.is_empty() {
            return None;
        }
        let mask = slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let (known, position) = slots[at];
            if position == FREE {
                return None;
            }
            if known == hash && is(position) {
                return Some(position);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a position, which is not there yet.
    pub(crate) fn add(&mut self, hash: u32, position: u32) {
        if self.taken * 2 >= self.slots.len() {
            let size = (self.slots.len() * 2).max(64);
            let old = std::mem::replace(&mut self.slots, vec![(0, FREE); size]);
            for (hash, position) in old {
                if position != FREE {
                    self.put(hash, position);
                }
            }
        }
        self.put(hash, position);
        self.taken += 1;
    }

    fn put(&mut self, hash: u32, position: u32) {
        let slots = self.slots.as_mut_slice();
        let mask = slots.len() - 1;
        let mut at = hash as usize & mask;
        while slots[at].1 != FREE {
            at = (at + 1) & mask;
        }
        slots[at] = (hash, position);
    }
}

/// Takes one more word into a hash.
pub(crate) fn mix(hash: u32, word: u32) -> u32 {
    let product = (hash.rotate_left(7) ^ word).wrapping_mul(0x9e37_79b1);
    // The table takes the lower bits; the multiplication mixes the upper ones.
    product ^ product >> 15
}

/// Texts, each once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    index: Index,
    texts: Vec<Arc<str>>,
}

impl Texts {
    /// The position of `text`. `share` makes the text that is kept, if it is a new one.
    pub(crate) fn position(&mut self, text: &str, share: impl FnOnce() -> Arc<str>) -> u32 {
        let mut hash = 0;
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            hash = mix(hash, u32::from(bytes[at]));
            at += 1;
        }
        let texts = self.texts.as_slice();
        if let Some(found) = self.index.find(hash, |at| *texts[at as usize] == *text) {
            return found;
        }
        let position = crate::resolve::index(self.texts.len());
        self.texts.push(share());
        self.index.add(hash, position);
        position
    }

    /// The text at a position.
    pub(crate) fn get(&self, position: u32) -> &Arc<str> {
        &self.texts[position as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_keeps_what_collides_apart() {
        let mut index = Index::default();
        assert_eq!(index.find(0, |_| true), None);
        for position in 0..1_000 {
            // Four hashes for a thousand positions.
            index.add(position % 4, position);
        }
        for position in 0..1_000 {
            let found = index.find(position % 4, |found| found == position);
            assert_eq!(found, Some(position));
            assert_eq!(index.find(position % 4 + 4, |_| true), None);
        }
    }

    #[test]
    fn equal_texts_have_one_position() {
        let mut texts = Texts::default();
        let names: Vec<String> = (0..10_000).map(|number| format!("m{number}")).collect();
        for _ in 0..2 {
            for (position, name) in (0..).zip(&names) {
                assert_eq!(texts.position(name, || name.as_str().into()), position);
                assert_eq!(&**texts.get(position), name);
            }
        }
        assert_eq!(texts.position("", || "".into()), 10_000);
    }
}
