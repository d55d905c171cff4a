//! The smallest machine with the same behaviour.
//!
//! Two states are equivalent if they offer the same actions, and each action leads to equivalent states. The
//! coarsest such partition is found by refinement: start with one block and one *cord* of transitions per letter;
//! a cord splits the blocks by who has a transition in it, a block splits the cords by whose
//! transitions end in it, until nothing splits.
//!
//! This is the algorithm of Valmari and Lehtinen (*Efficient minimization of DFAs with partial transition
//! functions*, STACS 2008): of the two halves of a block only the smaller one is used to split on, so that each
//! transition is looked at O(log states) times: O(transitions · log transitions) in all. Hopcroft's algorithm
//! needs a transition for every letter in every state, which machines of many labels would pay for. Their
//! second phase, which removes states that lead to no accepting state, is left out: here every state counts,
//! finished or not.

/// A transition between two states, under a letter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) source: u32,
    pub(crate) letter: u32,
    pub(crate) target: u32,
}

/// For each of `states` states the number of its class; equal numbers are equivalent states. In each state there is at
/// most one move per letter, and letters are numbers below `letters`.
pub(crate) fn classes(states: usize, letters: usize, moves: &[Move]) -> Vec<u32> {
    // One cord per letter, in the order of the letters: `count` has the moves of each, and then where they start.
    let mut count = vec![0_u32; letters + 1];
    let mut most = 0;
    for found in moves {
        let count = &mut count[found.letter as usize];
        *count += 1;
        most = most.max(*count);
    }
    if most <= 1 {
        return unlike(states, moves);
    }
    let mut blocks = Partition::new(states);
    let mut cords = Partition::new(moves.len());
    cords.first.clear();
    cords.end.clear();
    cords.marked.clear();
    let mut position = 0;
    for count in &mut count {
        let size = std::mem::replace(count, position);
        if size > 0 {
            cords.first.push(position);
            position += size;
            cords.end.push(position);
            cords.marked.push(0);
        }
    }
    for (element, found) in (0..).zip(moves) {
        let position = &mut count[found.letter as usize];
        cords.elements[*position as usize] = element;
        cords.position[element as usize] = *position;
        *position += 1;
    }
    for cord in 0..cords.first.len() {
        for position in cords.first[cord]..cords.end[cord] {
            let element = cords.elements[position as usize] as usize;
            cords.set[element] = to_u32(cord);
        }
    }

    // The moves that end in each state.
    let mut offsets = vec![0_u32; states + 1];
    for found in moves {
        offsets[found.target as usize + 1] += 1;
    }
    for state in 0..states {
        offsets[state + 1] += offsets[state];
    }
    let mut incoming = vec![0_u32; moves.len()];
    let mut free = offsets.clone();
    for (at, found) in moves.iter().enumerate() {
        let slot = &mut free[found.target as usize];
        incoming[*slot as usize] = to_u32(at);
        *slot += 1;
    }

    let mut touched = Vec::new();
    // Block 0 was there from the start: cords need not be split by it, since all moves end in it. With more than
    // one block, each new one splits the cords once.
    let mut block = 1;
    let mut cord = 0;
    while cord < cords.len() {
        for position in cords.first[cord]..cords.end[cord] {
            let found = &moves[cords.elements[position as usize] as usize];
            blocks.mark(found.source, &mut touched);
        }
        blocks.split(&mut touched);
        cord += 1;
        while block < blocks.len() {
            for position in blocks.first[block]..blocks.end[block] {
                let state = blocks.elements[position as usize] as usize;
                for &found in &incoming[offsets[state] as usize..offsets[state + 1] as usize] {
                    cords.mark(found, &mut touched);
                }
            }
            cords.split(&mut touched);
            block += 1;
        }
    }
    blocks.set
}

/// The classes where every letter has one move: a state with a move is like no other.
fn unlike(states: usize, moves: &[Move]) -> Vec<u32> {
    let mut classes = vec![0; states];
    let classes_of = classes.as_mut_slice();
    // The finished states are class 0, if there are any.
    let mut busy = 0;
    let mut last = None;
    for found in moves {
        // Moves of one state are beside each other, as the caller lists them; if not, it is counted twice, and the
        // numbers have a gap.
        if last != Some(found.source) {
            busy += 1;
            classes_of[found.source as usize] = busy;
            last = Some(found.source);
        }
    }
    if (busy as usize) == states {
        for class in classes_of {
            *class -= 1;
        }
    }
    classes
}

/// A partition of `0..n` into sets, as one permutation in which each set is a range. Elements are marked by moving
/// them to the front of their range.
struct Partition {
    elements: Vec<u32>,
    /// Where each element is in `elements`.
    position: Vec<u32>,
    /// The set of each element.
    set: Vec<u32>,
    first: Vec<u32>,
    end: Vec<u32>,
    /// How many elements of each set are marked.
    marked: Vec<u32>,
}

impl Partition {
    /// One set with all elements; none if there are no elements.
    fn new(size: usize) -> Self {
        let sets = usize::from(size > 0);
        Self {
            elements: (0..to_u32(size)).collect(),
            position: (0..to_u32(size)).collect(),
            set: vec![0; size],
            first: vec![0; sets],
            end: vec![to_u32(size); sets],
            marked: vec![0; sets],
        }
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
            touched.push(to_u32(set));
        }
        let other = self.elements[front as usize];
        self.elements.swap(at as usize, front as usize);
        self.position[element as usize] = front;
        self.position[other as usize] = at;
        self.marked[set] += 1;
    }

    /// Splits each noted set into its marked elements and the others; the smaller half becomes the new set.
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
            let id = to_u32(self.first.len());
            self.first.push(new.0);
            self.end.push(new.1);
            self.marked.push(0);
            for position in new.0..new.1 {
                self.set[self.elements[position as usize] as usize] = id;
            }
        }
    }
}

/// Numbers of states and moves fit: the limits on both are below 2^32.
fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(states: usize, moves: &[(u32, u32, u32)], expected: &[&[u32]]) {
        let moves: Vec<_> = moves
            .iter()
            .map(|&(source, letter, target)| Move {
                source,
                letter,
                target,
            })
            .collect();
        let letters = moves.iter().map(|found| found.letter + 1).max();
        let classes = classes(states, letters.unwrap_or(0) as usize, &moves);
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for state in 0..states {
            let class = classes[state];
            match groups
                .iter_mut()
                .find(|group| classes[group[0] as usize] == class)
            {
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
        check(
            5,
            &[(0, 0, 1), (0, 1, 2), (1, 2, 3), (2, 2, 4)],
            &[&[0], &[1, 2], &[3, 4]],
        );
    }

    #[test]
    fn being_finished_differs_from_going_on() {
        check(2, &[(0, 0, 1)], &[&[0], &[1]]);
        check(3, &[(0, 0, 1), (1, 0, 1), (2, 0, 2)], &[&[0, 1, 2]]);
    }
}
