//! A small generator of pseudo-random numbers: the same seed gives the same systems on every machine.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA'14): one addition and a mixing of bits per number.
///
/// Not for secrets. Its streams are good enough that neighbouring seeds give unrelated protocols, which is
/// all that is asked of it.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Starts the stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0. The bias is below 2^-32 for the small bounds used here.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() >> 32) as usize % bound.max(1)
    }

    /// True `percent` times out of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `items`, or none if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
