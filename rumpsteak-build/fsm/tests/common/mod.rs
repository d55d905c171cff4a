//! What the tests share.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses a part of it"
)]

use std::path::PathBuf;

/// Xorshift: small, and the same numbers everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        // A multiplication spreads small seeds; the state must not be zero.
        Self((seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A folder of the corpora, or `None` and a note where they are not at hand.
pub fn corpus(name: &str) -> Option<PathBuf> {
    match std::env::var_os("RUMPSTEAK_CORPORA") {
        Some(corpora) => Some(PathBuf::from(corpora).join(name)),
        None => {
            println!("skipped: RUMPSTEAK_CORPORA does not name the corpora");
            None
        }
    }
}
