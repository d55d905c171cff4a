//! Numbers by group, and reachability.

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
pub(crate) fn leads_to(
    n: usize,
    edges: &[(u32, u32)],
    goals: impl IntoIterator<Item = u32>,
) -> Vec<bool> {
    let backwards = grouped(n, edges.iter().map(|&(_, target)| target));
    reached(n, goals, |number| {
        backwards[number as usize].iter().map(|&edge| edges[edge as usize].0)
    })
}

/// Returns for each of the numbers `0..n` true if it is reached from one of `first` by steps to
/// what is `next`.
pub(crate) fn reached<I: IntoIterator<Item = u32>>(
    n: usize,
    first: impl IntoIterator<Item = u32>,
    next: impl Fn(u32) -> I,
) -> Vec<bool> {
    let (mut seen, mut work) = (vec![false; n], Vec::from_iter(first));
    while let Some(number) = work.pop() {
        if !std::mem::replace(&mut seen[number as usize], true) {
            work.extend(next(number));
        }
    }
    seen
}
