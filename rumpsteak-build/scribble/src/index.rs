//! 32-bit numbers for states, nodes and the like: the sets that hand them out, and searches.

pub(crate) const NONE: u32 = u32::MAX;

/// Converts to 32 bits. The number fits: nothing is more numerous than the bytes of a text, which
/// has at most 64 MiB. Only 16 GiB of imported texts could exceed the range; the last number would
/// then be used twice.
pub(crate) fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NONE - 1)
}

/// Returns for each of `count` numbers the last one of the chain that `next` leads along. All
/// numbers that lead into a cycle get the same number of the cycle.
pub(crate) fn follow(count: usize, next: impl Fn(u32) -> Option<u32>) -> Vec<u32> {
    let mut ends = vec![NONE; count];
    let mut path = Vec::new();
    // Backwards: most chains lead to a greater number, whose end is known by then.
    for start in (0..index(count)).rev() {
        let mut at = start;
        let end = loop {
            if ends[at as usize] != NONE {
                break ends[at as usize];
            }
            // Until its end is known, a number stands for itself: this ends a cycle.
            ends[at as usize] = at;
            path.push(at);
            let Some(next) = next(at) else { break at };
            at = next;
        };
        for at in path.drain(..) {
            ends[at as usize] = end;
        }
    }
    ends
}

/// Elements numbered in the order of their insertion.
pub(crate) type IndexSet<T> = indexmap::IndexSet<T, hashbrown::DefaultHashBuilder>;

/// The elements by number, in the order in which the numbers come.
pub(crate) fn by_number<T>(elements: Vec<(u32, T)>) -> Vec<(u32, Vec<T>)> {
    let (mut numbers, mut groups) = (IndexSet::default(), Vec::new());
    for (number, element) in elements {
        let (at, is_new) = numbers.insert_full(number);
        groups.extend(is_new.then(|| (number, Vec::new())));
        groups[at].1.push(element);
    }
    groups
}

/// The numbers in order, each once.
pub(crate) fn sorted(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Sets of numbers, themselves numbered. Each is kept sorted.
pub(crate) type Sets = IndexSet<Box<[u32]>>;

/// Inserts the set of these elements. Returns its number, and true if it is new.
pub(crate) fn insert_set(sets: &mut Sets, elements: Vec<u32>) -> (u32, bool) {
    let (number, is_new) = sets.insert_full(sorted(elements).into());
    (index(number), is_new)
}

/// Returns the numbers `0..n` by group, in order within each. There are `count` groups; `groups`
/// has the group of each number.
pub(crate) fn grouped(count: usize, groups: impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); count];
    for (number, group) in (0..).zip(groups) {
        members[group as usize].push(number);
    }
    members
}

/// Returns for each of the numbers `0..n` true if a path leads from it to one of `goals`. An edge
/// is a source and a target. O(n + edges).
pub(crate) fn leads_to(n: usize, edges: &[(u32, u32)], goals: Vec<u32>) -> Vec<bool> {
    let backwards = grouped(n, edges.iter().map(|&(_, target)| target));
    reached(n, goals, &|number, work| {
        work.extend(backwards[number as usize].iter().map(|&edge| edges[edge as usize].0));
    })
}

/// Returns for each number below `n` true if it is in `work`, or `add` adds it for one that is.
pub(crate) fn reached(n: usize, mut work: Vec<u32>, add: &dyn Fn(u32, &mut Vec<u32>)) -> Vec<bool> {
    let mut seen = vec![false; n];
    while let Some(number) = work.pop() {
        if !std::mem::replace(&mut seen[number as usize], true) {
            add(number, &mut work);
        }
    }
    seen
}
