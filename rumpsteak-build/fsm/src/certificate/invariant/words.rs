//! Operations on sets of pending words. The [module above](super) has the argument for each.

use super::{Between, Words};
use crate::machine::TransitionId as Letter;

/// Sorted and distinct.
type Windows = Vec<Vec<Letter>>;

impl Words {
    /// Appends a letter to words with sorted windows, or to the empty word.
    pub(super) fn append(words: Option<Self>, letter: Letter) -> Self {
        match words {
            None => Self::Exactly(vec![letter]),
            Some(Self::Exactly(mut word)) => {
                word.push(letter);
                Self::Exactly(word)
            }
            Some(Self::Between(mut between)) => {
                let Between { last, windows, .. } = &mut between;
                last.push(letter);
                if let Err(place) = windows.binary_search(last) {
                    windows.insert(place, last.clone());
                }
                last.remove(0);
                Self::Between(between)
            }
        }
    }

    /// The first letters, each with what may be left; `None` is the empty word.
    pub(super) fn take_off(&self) -> Vec<(Letter, Option<Self>)> {
        let Between { first, last, windows } = match self {
            Self::Exactly(word) => {
                let taken = word.split_first().map(|(&letter, rest)| (letter, Self::exactly(rest)));
                return taken.into_iter().collect();
            }
            Self::Between(between) => between,
        };
        let mut taken = vec![];
        for window in windows.iter().filter(|window| window.starts_with(first)) {
            let Some((&letter, rest)) = window.split_first() else { continue };
            if rest == last {
                taken.push((letter, Self::exactly(rest)));
            }
            let windows = on_the_way(windows, rest, last);
            if !windows.is_empty() {
                let (first, last) = (rest.to_vec(), last.clone());
                taken.push((letter, Some(Self::Between(Between { first, last, windows }))));
            }
        }
        taken
    }

    fn exactly(word: &[Letter]) -> Option<Self> {
        (!word.is_empty()).then(|| Self::Exactly(word.to_vec()))
    }

    /// True if all of `others` are known to be among these.
    pub(super) fn contains(&self, others: &Self) -> bool {
        match (self, others) {
            (Self::Exactly(word), Self::Exactly(other)) => word == other,
            (Self::Between(own), Self::Exactly(other)) => {
                let mut windows = other.windows(own.first.len() + 1);
                other.len() > own.first.len()
                    && other.starts_with(&own.first)
                    && other.ends_with(&own.last)
                    && windows.all(|window| is_in(&own.windows, window))
            }
            (Self::Between(own), Self::Between(other)) => {
                let mut windows = other.windows.iter();
                (&own.first, &own.last) == (&other.first, &other.last)
                    && windows.all(|window| is_in(&own.windows, window))
            }
            (Self::Exactly(_), Self::Between(_)) => false,
        }
    }
}

/// The windows on a way `from … to`; each step shifts by one letter.
fn on_the_way(windows: &Windows, from: &[Letter], to: &[Letter]) -> Windows {
    // A window leads from all its letters but the last to all but the first.
    let mut forth: Vec<Step<'_>> = windows.iter().map(|window| split(window, from.len())).collect();
    let mut back: Vec<Step<'_>> = forth.iter().map(|&(tail, head)| (head, tail)).collect();
    forth.sort_unstable();
    back.sort_unstable();
    let (after, before) = (reached(&forth, from), reached(&back, to));
    let lies = |window: &&Vec<Letter>| {
        let (tail, head) = split(window, from.len());
        after.binary_search(&tail).is_ok() && before.binary_search(&head).is_ok()
    };
    windows.iter().filter(lies).cloned().collect()
}

fn is_in(windows: &Windows, window: &[Letter]) -> bool {
    windows.binary_search_by(|known: &Vec<Letter>| known.as_slice().cmp(window)).is_ok()
}

/// The first and the last `len` letters.
fn split(window: &[Letter], len: usize) -> Step<'_> {
    (&window[..len], &window[window.len() - len..])
}

type Step<'a> = (&'a [Letter], &'a [Letter]);

/// The ends of ways of sorted steps from a start, which is included; sorted.
fn reached<'a>(steps: &[Step<'a>], start: &'a [Letter]) -> Vec<&'a [Letter]> {
    let mut reached = vec![start];
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        let first = steps.partition_point(|&(from, _)| from < at);
        for &(_, next) in steps[first..].iter().take_while(|&&(from, _)| from == at) {
            if let Err(place) = reached.binary_search(&next) {
                reached.insert(place, next);
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap in a test is an assertion")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// All words over `letters` letters of at most `len` letters, but the empty one.
    fn all(letters: usize, len: usize) -> Vec<Vec<Letter>> {
        let mut words = vec![];
        let mut longest = vec![vec![]];
        for _ in 0..len {
            let longer = |word: &Vec<Letter>| {
                let word = word.clone();
                (0..letters).map(move |letter| [&word[..], &[Letter::from_index(letter)]].concat())
            };
            longest = longest.iter().flat_map(longer).collect();
            words.extend(longest.iter().cloned());
        }
        words
    }

    fn between(first: Vec<Letter>, last: Vec<Letter>, windows: Windows) -> Words {
        Words::Between(Between { first, last, windows })
    }

    /// The definition.
    fn has(words: &Words, word: &[Letter]) -> bool {
        match words {
            Words::Exactly(exactly) => exactly == word,
            Words::Between(Between { first, last, windows }) => {
                let m = first.len();
                word.len() > m
                    && word[..m] == first[..]
                    && word[word.len() - m..] == last[..]
                    && word.windows(m + 1).all(|window| is_in(windows, window))
            }
        }
    }

    /// Sets of words over two letters with m = 0 and m = 1, all of them, and those that a few words
    /// give for m = 2; and short words.
    fn sets() -> Vec<Words> {
        let mut sets: Vec<Words> = all(2, 4).into_iter().map(Words::Exactly).collect();
        let of_length = |len| match len {
            0 => vec![vec![]],
            _ => all(2, len).into_iter().filter(|word| word.len() == len).collect(),
        };
        for m in [0, 1] {
            let (shifts, ends) = (of_length(m + 1), of_length(m));
            for subset in 1_u32..1 << shifts.len() {
                let chosen = (0..shifts.len()).filter(|&bit| subset >> bit & 1 == 1);
                let windows: Windows = chosen.map(|bit| shifts[bit].clone()).collect();
                for first in &ends {
                    for last in &ends {
                        let (first, last) = (first.clone(), last.clone());
                        sets.push(between(first, last, windows.clone()));
                    }
                }
            }
        }
        for word in all(2, 6).into_iter().filter(|word| word.len() > 2) {
            let (first, last) = (word[..2].to_vec(), word[word.len() - 2..].to_vec());
            let windows: BTreeSet<_> = word.windows(3).map(<[Letter]>::to_vec).collect();
            sets.push(between(first, last, windows.into_iter().collect()));
        }
        sets
    }

    #[test]
    fn an_appended_letter_is_behind_each_word() {
        let words = all(2, 6);
        for set in sets() {
            for letter in [0, 1].map(Letter::from_index) {
                let longer = Words::append(Some(set.clone()), letter);
                for word in words.iter().filter(|word| has(&set, word)) {
                    let appended = [&word[..], &[letter]].concat();
                    assert!(has(&longer, &appended), "{set:?} {appended:?}");
                }
            }
        }
        let letter = Letter::from_index(1);
        assert_eq!(Words::append(None, letter), Words::Exactly(vec![letter]));
    }

    #[test]
    fn what_is_taken_off_is_what_may_be_first_and_what_may_follow() {
        let words = all(2, 7);
        for set in sets() {
            let taken = set.take_off();
            let found = |letter: Letter, rest: &[Letter]| {
                taken.iter().any(|(first, left)| {
                    *first == letter
                        && match left {
                            None => rest.is_empty(),
                            Some(left) => has(left, rest),
                        }
                })
            };
            for word in &words {
                let (&letter, rest) = word.split_first().unwrap();
                if has(&set, word) {
                    assert!(found(letter, rest), "{set:?} {word:?}");
                } else if matches!(set, Words::Exactly(_)) {
                    assert!(!found(letter, rest), "{set:?} {word:?}");
                }
            }
            // Nothing that cannot be, and no set is empty: a word is found within reach.
            for (letter, left) in &taken {
                let follows = words.iter().any(|word| {
                    word[0] == *letter
                        && has(&set, word)
                        && match left {
                            None => word.len() == 1,
                            Some(left) => has(left, &word[1..]),
                        }
                });
                assert!(follows, "{set:?} {letter:?} {left:?}");
            }
        }
    }

    #[test]
    fn a_set_that_contains_another_has_its_words() {
        let words = all(2, 6);
        let sets = sets();
        let (mut yes, mut no) = (0, 0);
        for set in &sets {
            for other in &sets {
                let missing = words.iter().any(|word| has(other, word) && !has(set, word));
                let contains = set.contains(other);
                assert!(!(contains && missing), "{set:?} {other:?}");
                *if contains { &mut yes } else { &mut no } += 1;
            }
            assert!(set.contains(set));
        }
        assert!(yes > sets.len() && no > yes, "{yes} {no}");
    }
}
