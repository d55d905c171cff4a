//! Hash tables for a build script: entries in a vector, and a table of their positions.
//!
//! They iterate in the order of insertion, so nothing that is printed depends on a hash. What they are for is, as with [`sorted`](crate::sorted), the time that
//! a *user's* build spends on compiling them, and on running them unoptimised: an instance of the standard library's hash table is some 1,700 lines of LLVM's code,
//! and one of these some 300 (measured with `--emit=llvm-ir`), because probing and growing know no type ([`Index`]).
//!
//! Hashes start from a number that is drawn once in a process, so nobody can write labels that collide.
//!
//! | operation | cost, amortised and expected |
//! |---|---|
//! | [`HashedMap::get`], [`insert`](HashedMap::insert), [`or_insert_with`](HashedMap::or_insert_with) | O(1) hashes and comparisons of a key |
//! | memory | 16 to 32 bytes a key, besides the key and its value |
//!
//! Nothing is ever taken out: no algorithm here does.

use std::{
    borrow::Borrow,
    fmt,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    ops, slice,
    sync::OnceLock,
};

/// A map whose entries keep the order in which their keys were inserted first.
#[derive(Clone)]
pub struct HashedMap<K, V> {
    index: Index,
    entries: Vec<(K, V)>,
}

impl<K, V> Default for HashedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> HashedMap<K, V> {
    /// An empty map. Does not allocate.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            index: Index::new(),
            entries: Vec::new(),
        }
    }

    /// How many keys it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Its keys with their values, in the order of insertion.
    pub fn iter(&self) -> slice::Iter<'_, (K, V)> {
        self.entries.iter()
    }
}

impl<K: Hash + Eq, V> HashedMap<K, V> {
    /// The hash of a key, and where it is.
    fn find<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> (u32, Option<usize>)
    where
        K: Borrow<Q>,
    {
        let hash = hash(key);
        let entries = self.entries.as_slice();
        let found = self
            .index
            .find(hash, |at| entries[at as usize].0.borrow() == key);
        (hash, found.map(|at| at as usize))
    }

    /// Adds a key that is not there yet; the place of its value.
    fn add(&mut self, hash: u32, key: K, value: V) -> usize {
        let at = self.entries.len();
        // Memory ends long before 2^32 entries do: each takes 16 bytes and more.
        self.index.add(hash, at as u32);
        self.entries.push((key, value));
        at
    }

    /// Sets the value of a key, and returns the one that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            (_, Some(at)) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            (hash, None) => {
                self.add(hash, key, value);
                None
            }
        }
    }

    /// The value of a key.
    #[must_use]
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).1?;
        Some(&self.entries[at].1)
    }

    /// The value of a key, to be changed.
    #[must_use]
    pub fn get_mut<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).1?;
        Some(&mut self.entries[at].1)
    }

    /// Whether a key has a value.
    #[must_use]
    pub fn contains_key<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).1.is_some()
    }

    /// The value of a key; one that is made now if it has none.
    pub fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let at = match self.find(&key) {
            (_, Some(at)) => at,
            (hash, None) => self.add(hash, key, make()),
        };
        &mut self.entries[at].1
    }
}

impl<K: Hash + Eq, V: Default> HashedMap<K, V> {
    /// The value of a key; the default one if it has none.
    pub fn or_default(&mut self, key: K) -> &mut V {
        self.or_insert_with(key, V::default)
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for HashedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.iter().map(|(key, value)| (key, value));
        f.debug_map().entries(entries).finish()
    }
}

impl<K: Hash + Eq, V> FromIterator<(K, V)> for HashedMap<K, V> {
    /// Of two values of one key, the later one stays.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<K: Hash + Eq + Borrow<Q>, V, Q: Hash + Eq + ?Sized> ops::Index<&Q> for HashedMap<K, V> {
    type Output = V;

    /// The value of a key.
    ///
    /// # Panics
    /// If the key has none.
    fn index(&self, key: &Q) -> &V {
        match self.find(key) {
            (_, Some(at)) => &self.entries[at].1,
            (_, None) => panic!("no such key"),
        }
    }
}

/// Finds the position of a value in a table that its owner keeps, by the value's hash: open addressing with linear
/// probing, at most half full.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// The hash and the position, or [`FREE`]; a power of two of them, or none.
    slots: Vec<(u32, u32)>,
    taken: usize,
}

/// No value has this position.
const FREE: u32 = u32::MAX;

impl Index {
    /// An empty table. Does not allocate.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            slots: Vec::new(),
            taken: 0,
        }
    }

    /// The position that was [added](Self::add) under this hash and of which `is` holds.
    pub fn find(&self, hash: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
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

    /// Adds a position below `u32::MAX`, which is not there yet.
    pub fn add(&mut self, hash: u32, position: u32) {
        if self.taken * 2 >= self.slots.len() {
            let size = (self.slots.len() * 2).max(16);
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

/// The hash of a value, for an [`Index`]: the same for equal values within a process.
#[must_use]
pub fn hash<T: Hash + ?Sized>(value: &T) -> u32 {
    let mut hasher = Folded::default();
    value.hash(&mut hasher);
    // Each bit of a word may change each bit of the sum, so any half of it will do.
    hasher.0 as u32
}

/// Takes one more number into the hash of a row of numbers, which begins with 0.
///
/// One multiplication, and not seeded: for numbers of one's own making, such as positions. It serves where unoptimised code hashes for each word of a text.
#[must_use]
pub fn mix(hash: u32, number: u32) -> u32 {
    let product = (hash.rotate_left(7) ^ number).wrapping_mul(0x9e37_79b1);
    // The table takes the lower bits; the multiplication mixes the upper ones.
    product ^ product >> 15
}

/// Hashes eight bytes with one multiplication: several times faster than the standard library's hash on keys as short as
/// actions, names and rows of numbers.
struct Folded(u64);

impl Default for Folded {
    fn default() -> Self {
        static START: OnceLock<u64> = OnceLock::new();
        Self(*START.get_or_init(|| RandomState::new().build_hasher().finish()))
    }
}

impl Folded {
    /// Both halves of the product count, so that every bit of the word may change every bit of the hash.
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for &word in words {
            self.add(u64::from_le_bytes(word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(u64::from(byte));
    }

    fn write_u32(&mut self, word: u32) {
        self.add(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
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
    fn a_map_keeps_the_order_of_insertion_and_the_last_value() {
        let mut map = HashedMap::new();
        assert_eq!(map.get("m0"), None);
        for number in (0..10_000_u32).rev() {
            assert_eq!(map.insert(format!("m{number}"), number), None);
        }
        assert_eq!(map.len(), 10_000);
        for number in 0..10_000_u32 {
            let name = format!("m{number}");
            assert_eq!(map.get(name.as_str()), Some(&number));
            assert_eq!(map.insert(name, number + 1), Some(number));
        }
        let values: Vec<u32> = map.iter().map(|&(_, value)| value).collect();
        assert_eq!(values, (1..=10_000).rev().collect::<Vec<_>>());
        assert_eq!(map["m7"], 8);
        assert!(!map.contains_key("m10000"));
        *map.or_default("m10000".to_owned()) += 5;
        *map.or_default("m10000".to_owned()) += 5;
        assert_eq!(map.get_mut("m10000"), Some(&mut 10));
    }

    #[test]
    fn of_two_values_of_one_key_the_later_one_stays() {
        let map: HashedMap<_, _> = [(1, 'a'), (2, 'b'), (1, 'c')].into_iter().collect();
        assert_eq!(format!("{map:?}"), "{1: 'c', 2: 'b'}");
        assert!(HashedMap::<u8, u8>::new().is_empty());
    }

    #[test]
    fn hashes_of_neighbours_differ_in_the_bits_that_a_table_takes() {
        let low: Vec<u32> = (0..4_096_u32).map(|number| hash(&number) % 4_096).collect();
        let mut used = vec![0; 4_096];
        for slot in low {
            used[slot as usize] += 1;
        }
        // Thrown at random, about 1,507 slots stay empty, and none gets more than 10.
        let empty = used.iter().filter(|&&count| count == 0).count();
        assert!(empty < 2_000, "{empty} empty slots");
        assert!(used.iter().all(|&count| count < 20));
    }
}
