//! Numbers of things, as 32 bits.

pub(crate) const NONE: u32 = u32::MAX;

/// A number as 32 bits. It fits: there are fewer of anything than bytes in texts of at most 64 MiB.
/// With several modules numbers could run out, and the last one would be shared: 16 GiB of texts
/// would be in memory then.
pub(crate) fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NONE - 1)
}

/// For each of `count` numbers the last one on the way that `next` leads. Where the way runs in a
/// circle, one number of the circle is the last for all that lead there.
pub(crate) fn follow(count: usize, next: impl Fn(u32) -> Option<u32>) -> Vec<u32> {
    let mut ends = vec![NONE; count];
    let mut path = Vec::new();
    // Backwards: most ways lead to a greater number, whose end is known by then.
    for start in (0..index(count)).rev() {
        let known = next(start).map_or(start, |next| ends[next as usize]);
        if known != NONE {
            ends[start as usize] = known;
            continue;
        }
        let mut at = start;
        let end = loop {
            if ends[at as usize] != NONE {
                break ends[at as usize];
            }
            // Until the end is known, a number stands for itself: a circle ends here.
            ends[at as usize] = at;
            let Some(next) = next(at) else { break at };
            path.push(at);
            at = next;
        };
        for at in path.drain(..) {
            ends[at as usize] = end;
        }
    }
    ends
}

/// Elements by number, in the order in which they came.
pub(crate) type IndexSet<T> = indexmap::IndexSet<T, hashbrown::DefaultHashBuilder>;

/// An empty set with space for so many elements.
pub(crate) fn set_of<T>(count: usize) -> IndexSet<T> {
    IndexSet::with_capacity_and_hasher(count, hashbrown::DefaultHashBuilder::default())
}

/// Values by key, in the order in which the keys came.
pub(crate) type IndexMap<K, V> = indexmap::IndexMap<K, V, hashbrown::DefaultHashBuilder>;
