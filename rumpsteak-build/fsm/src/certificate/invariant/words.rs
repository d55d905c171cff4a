//! Sets of pending words, and what the rules do with them. The argument for each operation is in the [module above](super).

use std::collections::BTreeSet;

/// A transition of the supertype, by its position.
pub(super) type Letter = u32;

type Windows = BTreeSet<Vec<Letter>>;

/// A set of words that are not empty.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Words {
    Exactly(Vec<Letter>),
    /// The words that begin with `first`, end with `last`, as long as each other, are longer than these, and have only these windows.
    Between {
        first: Vec<Letter>,
        last: Vec<Letter>,
        windows: Windows,
    },
}

impl Words {
    /// These words, or the empty one if there are none, with a letter behind them.
    pub(super) fn append(words: Option<Self>, letter: Letter) -> Self {
        match words {
            None => Self::Exactly(vec![letter]),
            Some(Self::Exactly(mut word)) => {
                word.push(letter);
                Self::Exactly(word)
            }
            Some(Self::Between {
                first,
                mut last,
                mut windows,
            }) => {
                last.push(letter);
                windows.insert(last.clone());
                last.remove(0);
                Self::Between {
                    first,
                    last,
                    windows,
                }
            }
        }
    }

    /// The letters that the words begin with, each with what may be left then; `None` is the empty word.
    pub(super) fn take_off(&self) -> Vec<(Letter, Option<Self>)> {
        let (first, last, windows) = match self {
            Self::Exactly(word) => {
                let taken = word.split_first();
                return taken
                    .map(|(&letter, rest)| (letter, Self::exactly(rest)))
                    .into_iter()
                    .collect();
            }
            Self::Between {
                first,
                last,
                windows,
            } => (first, last, windows),
        };
        let mut taken = vec![];
        for window in windows.iter().filter(|window| window.starts_with(first)) {
            let Some((&letter, rest)) = window.split_first() else {
                continue;
            };
            if rest == last {
                taken.push((letter, Self::exactly(rest)));
            }
            let windows = on_the_way(windows, rest, last);
            if !windows.is_empty() {
                let (first, last) = (rest.to_vec(), last.clone());
                let longer = Self::Between {
                    first,
                    last,
                    windows,
                };
                taken.push((letter, Some(longer)));
            }
        }
        taken
    }

    fn exactly(word: &[Letter]) -> Option<Self> {
        (!word.is_empty()).then(|| Self::Exactly(word.to_vec()))
    }

    /// Whether all of `others` are among these. A "no" may be wrong, a "yes" is not.
    pub(super) fn contains(&self, others: &Self) -> bool {
        match (self, others) {
            (Self::Exactly(word), Self::Exactly(other)) => word == other,
            (
                Self::Between {
                    first,
                    last,
                    windows,
                },
                Self::Exactly(other),
            ) => {
                other.len() > first.len()
                    && other.starts_with(first)
                    && other.ends_with(last)
                    && other
                        .windows(first.len() + 1)
                        .all(|window| windows.contains(window))
            }
            (
                Self::Between {
                    first,
                    last,
                    windows,
                },
                Self::Between {
                    first: other_first,
                    last: other_last,
                    windows: others,
                },
            ) => first == other_first && last == other_last && others.is_subset(windows),
            (Self::Exactly(_), Self::Between { .. }) => false,
        }
    }
}

/// The windows that lie on a way `from … to`, each shifted by one letter against that before.
fn on_the_way(windows: &Windows, from: &[Letter], to: &[Letter]) -> Windows {
    // A window leads from all its letters but the last to all but the first.
    let ends = |window: &[Letter]| -> Option<(Vec<Letter>, Vec<Letter>)> {
        Some((
            window.split_last()?.1.to_vec(),
            window.split_first()?.1.to_vec(),
        ))
    };
    let edges: Vec<_> = windows.iter().filter_map(|window| ends(window)).collect();
    let closure = |start: &[Letter], reversed: bool| -> BTreeSet<Vec<Letter>> {
        let mut next: std::collections::BTreeMap<&[Letter], Vec<&[Letter]>> =
            std::collections::BTreeMap::new();
        for (tail, head) in &edges {
            let (tail, head) = if reversed { (head, tail) } else { (tail, head) };
            next.entry(tail).or_default().push(head);
        }
        let mut met = BTreeSet::from([start.to_vec()]);
        let mut open = vec![start.to_vec()];
        while let Some(at) = open.pop() {
            for &onward in next.get(at.as_slice()).into_iter().flatten() {
                if met.insert(onward.to_vec()) {
                    open.push(onward.to_vec());
                }
            }
        }
        met
    };
    let (after, before) = (closure(from, false), closure(to, true));
    let lies = |window: &&Vec<Letter>| {
        ends(window).is_some_and(|(tail, head)| after.contains(&tail) && before.contains(&head))
    };
    windows.iter().filter(lies).cloned().collect()
}
