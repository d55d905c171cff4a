//! Equivalent states of a machine.
//!
//! Two states are equivalent if they offer the same actions, and each action leads to equivalent
//! states. Refinement finds the coarsest such partition: it starts with one class, and parts the
//! states of a class that offer different things, until none does.
//!
//! The algorithm is by Jacobs and Wißmann (*Fast coalgebraic bisimilarity minimization*, POPL'23).
//! The largest part of a class keeps its number. So a state gets a new number at most log(states)
//! times, and only then the states that lead to it are compared again: O(transitions · log states)
//! for states with few transitions each.

use hashbrown::HashMap;

use crate::index::{NONE, grouped, index};

#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) source: u32,
    pub(super) letter: u32,
    pub(super) target: u32,
}

#[derive(Default)]
struct Members {
    /// They offer the same.
    settled: Vec<u32>,
    /// They have to be compared.
    due: Vec<u32>,
}

/// Returns for each of `states` states the number of its class: equivalent states have equal
/// numbers. Each state has at most one move per letter.
pub(super) fn classes(states: usize, moves: &[Move]) -> Vec<u32> {
    let outgoing = grouped(states, moves.iter().map(|found| found.source));
    let incoming = grouped(states, moves.iter().map(|found| found.target));
    let mut classes = vec![0; states];
    let mut members = vec![Members { due: (0..index(states)).collect(), ..Members::default() }];
    // The position of each state among the settled ones of its class, or `NONE`.
    let mut places = vec![NONE; states];
    let mut work = vec![0];
    while let Some(class) = work.pop() {
        let Members { settled, due } = std::mem::take(&mut members[class as usize]);
        // The letters, each with the class that it leads to.
        let offers = |state: u32| {
            let moves = outgoing[state as usize].iter().map(|&found| moves[found as usize]);
            let class = |target: u32| u64::from(classes[target as usize]);
            let mut offers: Vec<u64> =
                moves.map(|of| u64::from(of.letter) << 32 | class(of.target)).collect();
            offers.sort_unstable();
            offers
        };
        let mut parts = vec![settled];
        let mut numbers: HashMap<Vec<u64>, usize> = HashMap::with_capacity(due.len() + 1);
        numbers.extend(parts[0].first().map(|&state| (offers(state), 0)));
        let known = parts[0].len();
        for state in due {
            let part = *numbers.entry(offers(state)).or_insert(parts.len());
            if part == parts.len() {
                parts.push(Vec::new());
            }
            parts[part].push(state);
        }
        let largest = (0..parts.len()).max_by_key(|&part| parts[part].len());
        let mut renumbered = Vec::new();
        for (at, part) in parts.into_iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let keeps = Some(at) == largest;
            let number = if keeps { class } else { index(members.len()) };
            // The settled states come first, and stay where they are.
            let stay = if keeps && at == 0 { known } else { 0 };
            for (place, &state) in part.iter().enumerate().skip(stay) {
                (places[state as usize], classes[state as usize]) = (index(place), number);
            }
            if keeps {
                members[class as usize].settled = part;
            } else {
                renumbered.extend_from_slice(&part);
                members.push(Members { settled: part, due: Vec::new() });
            }
        }
        for &found in renumbered.iter().flat_map(|&state| &incoming[state as usize]) {
            let source = moves[found as usize].source;
            let (place, class) = (places[source as usize], classes[source as usize]);
            let Members { settled, due } = &mut members[class as usize];
            // A state that is alone need not be compared.
            if place != NONE && settled.len() + due.len() > 1 {
                settled.swap_remove(place as usize);
                if let Some(&other) = settled.get(place as usize) {
                    places[other as usize] = place;
                }
                if due.is_empty() {
                    work.push(class);
                }
                due.push(source);
                places[source as usize] = NONE;
            }
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(states: usize, moves: &[(u32, u32, u32)], expected: &[&[u32]]) {
        let moves: Vec<_> =
            moves.iter().map(|&(source, letter, target)| Move { source, letter, target }).collect();
        let classes = classes(states, &moves);
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
