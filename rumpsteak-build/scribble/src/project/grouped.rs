//! Numbers by group, and what leads to them.

use crate::index::index;

/// The numbers `0..n` by group, in order within each.
pub(super) struct Grouped {
    /// `members[starts[g]..starts[g + 1]]` are in group `g`.
    pub(super) starts: Vec<u32>,
    pub(super) members: Vec<u32>,
}

impl Grouped {
    /// Puts each number into its group, of which there are `count`. A counting sort: O(n + count).
    pub(super) fn new(count: usize, groups: impl Iterator<Item = u32> + Clone) -> Self {
        let mut starts = vec![0; count + 1];
        for group in groups.clone() {
            starts[group as usize + 1] += 1;
        }
        for group in 0..count {
            starts[group + 1] += starts[group];
        }
        let mut members = vec![0; starts[count] as usize];
        let mut free = starts.clone();
        for (number, group) in groups.enumerate() {
            let slot = &mut free[group as usize];
            members[*slot as usize] = index(number);
            *slot += 1;
        }
        Self { starts, members }
    }

    pub(super) fn get(&self, group: u32) -> &[u32] {
        let group = group as usize;
        &self.members[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}

/// Which of the numbers `0..n` lead to one of `goals` along these edges, each from a number to
/// another. O(n + edges).
pub(super) fn leads_to(
    n: usize,
    edges: &[(u32, u32)],
    goals: impl IntoIterator<Item = u32>,
) -> Vec<bool> {
    let backwards = Grouped::new(n, edges.iter().map(|&(_, target)| target));
    let mut leads = vec![false; n];
    let mut work: Vec<u32> = goals.into_iter().collect();
    while let Some(number) = work.pop() {
        if !std::mem::replace(&mut leads[number as usize], true) {
            work.extend(backwards.get(number).iter().map(|&edge| edges[edge as usize].0));
        }
    }
    leads
}
