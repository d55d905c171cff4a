//! Numbers by group, and backwards reachability.

/// Returns the numbers `0..n` by group, in order within each. There are `count` groups; `groups`
/// has the group of each number.
pub(super) fn grouped(count: usize, groups: impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); count];
    for (number, group) in (0..).zip(groups) {
        members[group as usize].push(number);
    }
    members
}

/// Returns for each of the numbers `0..n` true if a path leads from it to one of `goals`. An edge
/// is a source and a target. O(n + edges).
pub(super) fn leads_to(
    n: usize,
    edges: &[(u32, u32)],
    goals: impl IntoIterator<Item = u32>,
) -> Vec<bool> {
    let backwards = grouped(n, edges.iter().map(|&(_, target)| target));
    let mut leads = vec![false; n];
    let mut work: Vec<u32> = goals.into_iter().collect();
    while let Some(number) = work.pop() {
        if !std::mem::replace(&mut leads[number as usize], true) {
            work.extend(backwards[number as usize].iter().map(|&edge| edges[edge as usize].0));
        }
    }
    leads
}
