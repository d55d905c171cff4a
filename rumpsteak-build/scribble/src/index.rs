//! Numbers of things, as 32 bits.

/// The number of no thing.
pub(crate) const NONE: u32 = u32::MAX;

/// A number as 32 bits. It fits: there are fewer of anything than bytes in texts of at most 64 MiB.
/// With several modules numbers could run out, and the last one would be shared: 16 GiB of texts
/// would be in memory then.
pub(crate) fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NONE - 1)
}

/// Elements by number, in the order in which they came.
pub(crate) type IndexSet<T> = indexmap::IndexSet<T, hashbrown::DefaultHashBuilder>;

/// An empty set with space for so many elements.
pub(crate) fn set_of<T>(count: usize) -> IndexSet<T> {
    IndexSet::with_capacity_and_hasher(count, hashbrown::DefaultHashBuilder::default())
}

/// Values by key, in the order in which the keys came.
pub(crate) type IndexMap<K, V> = indexmap::IndexMap<K, V, hashbrown::DefaultHashBuilder>;
