//! Equivalent states of a machine.
//!
//! Two states are equivalent if they offer the same actions, and each action leads to equivalent
//! states. Refinement finds the coarsest such partition. It starts with one block of all states and
//! one *cord* of transitions per letter. A cord splits each block into the states with and without
//! a transition in the cord. A block splits each cord into the transitions that end in the block
//! and the others. This repeats until nothing splits.
//!
//! The algorithm is by Valmari and Lehtinen (*Efficient minimization of DFAs with partial
//! transition functions*, STACS 2008), without its second phase, since every state counts here.
//! Only the smaller half of a split block is used to split on: O(transitions · log transitions) in
//! all.

use super::grouped::grouped;
use crate::index::index;

#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) source: u32,
    pub(super) letter: u32,
    pub(super) target: u32,
}

/// Returns for each of `states` states the number of its class: equivalent states have equal
/// numbers. Each state has at most one move per letter, and letters are numbers below `letters`.
pub(super) fn classes(states: usize, letters: usize, moves: &[Move]) -> Vec<u32> {
    let mut blocks = Partition::new(&grouped(1, std::iter::repeat_n(0, states)), states);
    let letters = grouped(letters, moves.iter().map(|found| found.letter));
    let mut cords = Partition::new(&letters, moves.len());
    let incoming = grouped(states, moves.iter().map(|found| found.target));
    let mut touched = Vec::new();
    // Block 0 splits no cord, since all moves end in it. Each new block splits the cords once.
    let mut block = 1;
    let mut cord = 0;
    while cord < cords.len() {
        for &element in cords.members(cord) {
            blocks.mark(moves[element as usize].source, &mut touched);
        }
        blocks.split(&mut touched);
        cord += 1;
        while block < blocks.len() {
            for &found in blocks.members(block).iter().flat_map(|&state| &incoming[state as usize])
            {
                cords.mark(found, &mut touched);
            }
            cords.split(&mut touched);
            block += 1;
        }
    }
    blocks.set
}

/// A partition of `0..n` into sets: one permutation with a range for each set. Elements are marked
/// by moving them to the front of their range.
struct Partition {
    elements: Vec<u32>,
    position: Vec<u32>,
    set: Vec<u32>,
    first: Vec<u32>,
    end: Vec<u32>,
    marked: Vec<u32>,
}

impl Partition {
    /// One set for each group that has members, of `count` elements in all.
    fn new(groups: &[Vec<u32>], count: usize) -> Self {
        let mut partition = Self {
            elements: groups.concat(),
            position: vec![0; count],
            set: vec![0; count],
            first: Vec::new(),
            end: Vec::new(),
            marked: Vec::new(),
        };
        let mut end = 0;
        for group in groups.iter().filter(|group| !group.is_empty()) {
            let start = end;
            end += index(group.len());
            partition.add(start, end);
            for (position, &element) in (start..).zip(group) {
                partition.position[element as usize] = position;
            }
        }
        partition
    }

    /// Makes a set of a range of elements.
    fn add(&mut self, start: u32, end: u32) {
        let id = index(self.len());
        self.first.push(start);
        self.end.push(end);
        self.marked.push(0);
        for &element in &self.elements[start as usize..end as usize] {
            self.set[element as usize] = id;
        }
    }

    fn members(&self, set: usize) -> &[u32] {
        &self.elements[self.first[set] as usize..self.end[set] as usize]
    }

    fn len(&self) -> usize {
        self.first.len()
    }

    /// Marks an element. The first one of a set adds the set to `touched`.
    fn mark(&mut self, element: u32, touched: &mut Vec<u32>) {
        let set = self.set[element as usize] as usize;
        let at = self.position[element as usize];
        let front = self.first[set] + self.marked[set];
        if at < front {
            return;
        }
        if self.marked[set] == 0 {
            touched.push(index(set));
        }
        let other = self.elements[front as usize];
        self.elements.swap(at as usize, front as usize);
        self.position[element as usize] = front;
        self.position[other as usize] = at;
        self.marked[set] += 1;
    }

    /// Splits each touched set into its marked elements and the others. The smaller half becomes
    /// the new set.
    fn split(&mut self, touched: &mut Vec<u32>) {
        for set in touched.drain(..) {
            let set = set as usize;
            let (first, end) = (self.first[set], self.end[set]);
            let middle = first + std::mem::take(&mut self.marked[set]);
            if middle == end {
                continue;
            }
            if middle - first <= end - middle {
                self.first[set] = middle;
                self.add(first, middle);
            } else {
                self.end[set] = middle;
                self.add(middle, end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(states: usize, moves: &[(u32, u32, u32)], expected: &[&[u32]]) {
        let moves: Vec<_> =
            moves.iter().map(|&(source, letter, target)| Move { source, letter, target }).collect();
        let letters = moves.iter().map(|found| found.letter + 1).max();
        let classes = classes(states, letters.unwrap_or(0) as usize, &moves);
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for state in 0..states {
            let class = classes[state];
            match groups.iter_mut().find(|group| classes[group[0] as usize] == class) {
                Some(group) => group.push(state as u32),
                None => groups.push(vec![state as u32]),
            }
        }
        assert_eq!(groups, expected);
    }

    #[test]
    fn a_machine_without_moves_is_one_class() {
        check(1, &[], &[&[0]]);
        check(3, &[], &[&[0, 1, 2]]);
    }

    #[test]
    fn an_unrolled_loop_is_rolled_up() {
        check(3, &[(0, 7, 1), (1, 7, 2), (2, 7, 0)], &[&[0, 1, 2]]);
        check(3, &[(0, 7, 1), (1, 7, 2), (2, 8, 0)], &[&[0], &[1], &[2]]);
    }

    #[test]
    fn a_letter_that_occurs_once_tells_its_state_from_all_others() {
        let moves = [(0, 4, 1), (0, 2, 3), (1, 0, 0), (2, 3, 0)];
        check(5, &moves, &[&[0], &[1], &[2], &[3, 4]]);
        check(2, &[(0, 1, 1), (1, 0, 0)], &[&[0], &[1]]);
    }

    #[test]
    fn equal_tails_are_shared() {
        // 0 -a-> 1 -c-> 3, 0 -b-> 2 -c-> 4; 3 and 4 are finished.
        check(5, &[(0, 0, 1), (0, 1, 2), (1, 2, 3), (2, 2, 4)], &[&[0], &[1, 2], &[3, 4]]);
    }

    #[test]
    fn being_finished_differs_from_going_on() {
        check(2, &[(0, 0, 1)], &[&[0], &[1]]);
        check(3, &[(0, 0, 1), (1, 0, 1), (2, 0, 2)], &[&[0, 1, 2]]);
    }
}
