//! Configurations and queue contents, each stored once and known by a number.

use crate::hashed::{self, HashedMap, Index};

/// A queue's content, by number. [`EMPTY`] is the empty one.
pub(crate) type Word = u32;

/// The empty [`Word`].
pub(crate) const EMPTY: Word = 0;

#[derive(Clone, Copy, Debug)]
struct Content {
    length: u32,
    /// The oldest message.
    head: u32,
    /// What is left when it is taken.
    tail: Word,
}

/// Queue contents.
///
/// A content is known by the content before its last message was put in, and knows the content after its first is
/// taken out, so that both ends of a queue move in constant time.
#[derive(Debug)]
pub(crate) struct Words {
    contents: Vec<Content>,
    longer: HashedMap<(Word, u32), Word>,
    /// Contents that [`push`](Self::push) is about to make; empty between calls.
    pending: Vec<Word>,
}

impl Words {
    pub(crate) fn new() -> Self {
        Self {
            contents: vec![Content {
                length: 0,
                head: 0,
                tail: EMPTY,
            }],
            longer: HashedMap::new(),
            pending: vec![],
        }
    }

    pub(crate) fn length(&self, word: Word) -> u32 {
        self.contents[word as usize].length
    }

    /// The oldest message, if there is one.
    pub(crate) fn head(&self, word: Word) -> Option<u32> {
        let content = self.contents[word as usize];
        (content.length > 0).then_some(content.head)
    }

    /// The content without its oldest message.
    pub(crate) fn pop(&self, word: Word) -> Word {
        self.contents[word as usize].tail
    }

    /// The content with a message put in: amortised constant time.
    pub(crate) fn push(&mut self, word: Word, message: u32) -> Word {
        // `w·m` without its head is `tail(w)·m`, which must exist first, and so on down to `m` alone.
        let mut at = word;
        let mut made = loop {
            if let Some(&known) = self.longer.get(&(at, message)) {
                break known;
            }
            self.pending.push(at);
            if at == EMPTY {
                break EMPTY;
            }
            at = self.pop(at);
        };
        while let Some(shorter) = self.pending.pop() {
            let next = self.contents.len() as Word;
            let Content { length, head, .. } = self.contents[shorter as usize];
            self.contents.push(Content {
                length: length + 1,
                head: if length == 0 { message } else { head },
                tail: made,
            });
            self.longer.insert((shorter, message), next);
            made = next;
        }
        made
    }
}

/// Rows of equal width, each stored once.
///
/// | operation | cost |
/// |---|---|
/// | `intern` | O(width) amortised |
/// | `row` | O(1) |
#[derive(Debug)]
pub(crate) struct Rows {
    width: usize,
    words: Vec<u32>,
    count: usize,
    index: Index,
}

impl Rows {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            words: vec![],
            count: 0,
            index: Index::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn row(&self, number: u32) -> &[u32] {
        let start = number as usize * self.width;
        &self.words[start..start + self.width]
    }

    /// The number of `row`, and whether it is new.
    pub(crate) fn intern(&mut self, row: &[u32]) -> (u32, bool) {
        debug_assert_eq!(row.len(), self.width);
        let hash = hashed::hash(row);
        if let Some(number) = self.index.find(hash, |number| self.row(number) == row) {
            return (number, false);
        }
        // Callers end their search at 2^32 - 1 rows; memory ends long before.
        let number = self.count as u32;
        self.index.add(hash, number);
        self.words.extend_from_slice(row);
        self.count += 1;
        (number, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_move_at_both_ends() {
        let mut words = Words::new();
        let mut word = EMPTY;
        for message in [7, 8, 7, 9] {
            word = words.push(word, message);
        }
        assert_eq!(words.length(word), 4);
        let mut taken = vec![];
        while let Some(message) = words.head(word) {
            taken.push(message);
            word = words.pop(word);
        }
        assert_eq!(taken, [7, 8, 7, 9]);
        assert_eq!(word, EMPTY);

        // Equal contents are one, however they came about.
        let one = words.push(EMPTY, 7);
        let two = words.push(one, 9);
        let two = words.push(two, 7);
        let two = words.pop(two);
        let nine = words.push(EMPTY, 9);
        assert_eq!(two, words.push(nine, 7));
    }

    #[test]
    fn rows_are_stored_once() {
        let mut rows = Rows::new(2);
        for round in 0..2 {
            for number in 0..1_000 {
                let row = [number % 10, number / 10];
                assert_eq!(rows.intern(&row), (number, round == 0));
            }
        }
        assert_eq!(rows.len(), 1_000);
        assert_eq!(rows.row(123), [3, 12]);
    }
}
