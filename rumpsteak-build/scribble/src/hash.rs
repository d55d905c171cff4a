//! Hash maps for small keys of numbers.
//!
//! The crate runs in build scripts, which are not optimised. There the standard SipHash costs more than all the
//! rest of a lookup. The keys are ids of our own making, so nobody gains by making them collide: a protocol that
//! did would be slow for its author alone, within the limits.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
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
