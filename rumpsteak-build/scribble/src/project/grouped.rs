//! Numbers by group.

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

    /// The numbers in a group.
    pub(super) fn get(&self, group: u32) -> &[u32] {
        let group = group as usize;
        &self.members[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}
