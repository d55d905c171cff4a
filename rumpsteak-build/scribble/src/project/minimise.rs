//! The smallest machine with the same behaviour.
//!
//! Two states are equivalent if they offer the same actions, and each action leads to equivalent
//! states. The coarsest such partition is found by refinement: start with one block of all states
//! and one *cord* of transitions per letter. A cord splits the blocks into the states with and
//! without a transition in it, a block splits the cords into the transitions that end in it and the
//! others, until nothing splits.
//!
//! This is the algorithm of Valmari and Lehtinen (*Efficient minimization of DFAs with partial
//! transition functions*, STACS 2008), without its second phase: every state counts here. Of the
//! two halves of a block only the smaller one is used to split on: O(transitions · log transitions)
//! in all.

use super::grouped::Grouped;
use crate::index::{NONE, index};

#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) source: u32,
    pub(super) letter: u32,
    pub(super) target: u32,
}

/// For each of `states` states the number of its class; equal numbers are equivalent states. In
/// each state there is at most one move per letter, and letters are numbers below `letters`.
pub(super) fn classes(states: usize, letters: usize, moves: &[Move]) -> Vec<u32> {
    let mut seen = vec![false; letters];
    let is_second = |found: &Move| std::mem::replace(&mut seen[found.letter as usize], true);
    if !moves.iter().any(is_second) {
        return unlike(states, moves);
    }
    let mut blocks = Partition::new(Grouped::new(1, std::iter::repeat_n(0, states)));
    let mut cords = Partition::new(Grouped::new(letters, moves.iter().map(|found| found.letter)));
    let incoming = Grouped::new(states, moves.iter().map(|found| found.target));
    let mut touched = Vec::new();
    // Block 0 was there from the start: cords need not be split by it, since all moves end in it.
    // With more than one block, each new one splits the cords once.
    let mut block = 1;
    let mut cord = 0;
    while cord < cords.len() {
        for &element in cords.members(cord) {
            blocks.mark(moves[element as usize].source, &mut touched);
        }
        blocks.split(&mut touched);
        cord += 1;
        while block < blocks.len() {
            for &found in blocks.members(block).iter().flat_map(|&state| incoming.get(state)) {
                cords.mark(found, &mut touched);
            }
            cords.split(&mut touched);
            block += 1;
        }
    }
    blocks.set
}

/// The classes depth first, from that of state 0 on, and by class its place among them. To where a
/// state leads is given last first.
pub(super) fn depth_first<I: Iterator<Item = u32>>(
    classes: &[u32],
    leads: impl Fn(u32) -> I,
) -> (Vec<u32>, Vec<u32>) {
    let mut order = Vec::new();
    let mut places = vec![NONE; classes.len()];
    let mut stack = vec![0];
    while let Some(state) = stack.pop() {
        let class = classes[state as usize];
        if places[class as usize] == NONE {
            places[class as usize] = index(order.len());
            order.push(class);
            stack.extend(leads(state));
        }
    }
    (order, places)
}

/// The classes where no letter has two moves: a state with a move is like no other.
fn unlike(states: usize, moves: &[Move]) -> Vec<u32> {
    let mut classes = vec![NONE; states];
    let mut count = 0;
    for found in moves {
        let class = &mut classes[found.source as usize];
        if *class == NONE {
            *class = count;
            count += 1;
        }
    }
    for class in &mut classes {
        // The finished states are all alike.
        *class = (*class).min(count);
    }
    classes
}

/// A partition of `0..n` into sets, as one permutation in which each set is a range. Elements are
/// marked by moving them to the front of their range.
struct Partition {
    elements: Vec<u32>,
    position: Vec<u32>,
    set: Vec<u32>,
    first: Vec<u32>,
    end: Vec<u32>,
    marked: Vec<u32>,
}

impl Partition {
    /// One set for each group that has members.
    fn new(groups: Grouped) -> Self {
        let count = groups.members.len();
        let mut partition = Self {
            elements: groups.members,
            position: vec![0; count],
            set: vec![0; count],
            first: Vec::new(),
            end: Vec::new(),
            marked: Vec::new(),
        };
        for bounds in groups.starts.windows(2) {
            let (start, end) = (bounds[0], bounds[1]);
            if start == end {
                continue;
            }
            for position in start..end {
                let element = partition.elements[position as usize] as usize;
                partition.position[element] = position;
                partition.set[element] = index(partition.len());
            }
            partition.first.push(start);
            partition.end.push(end);
            partition.marked.push(0);
        }
        partition
    }

    fn members(&self, set: usize) -> &[u32] {
        &self.elements[self.first[set] as usize..self.end[set] as usize]
    }

    fn len(&self) -> usize {
        self.first.len()
    }

    /// Marks an element; notes its set when it is the first of it.
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

    /// Splits each noted set into its marked elements and the others; the smaller half becomes the
    /// new set.
    fn split(&mut self, touched: &mut Vec<u32>) {
        for set in touched.drain(..) {
            let set = set as usize;
            let (first, end) = (self.first[set], self.end[set]);
            let middle = first + std::mem::take(&mut self.marked[set]);
            if middle == end {
                continue;
            }
            let new = if middle - first <= end - middle {
                self.first[set] = middle;
                (first, middle)
            } else {
                self.end[set] = middle;
                (middle, end)
            };
            let id = index(self.first.len());
            self.first.push(new.0);
            self.end.push(new.1);
            self.marked.push(0);
            for position in new.0..new.1 {
                self.set[self.elements[position as usize] as usize] = id;
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
