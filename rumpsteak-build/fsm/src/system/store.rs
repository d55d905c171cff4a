//! Configurations and contents of queues, each stored once under a number.

use std::hash::{BuildHasher, Hasher};

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

pub(crate) type ContentId = u32;

pub(crate) const EMPTY: ContentId = 0;

#[derive(Clone, Copy, Debug)]
struct Content {
    length: u32,
    head: u32,
    tail: ContentId,
}

/// The contents of queues. Each content knows the content without its first message and is found by
/// the content without its last, so both ends of a queue move in constant time.
#[derive(Debug)]
pub(crate) struct QueueContents {
    contents: Vec<Content>,
    longer: HashMap<(ContentId, u32), ContentId>,
    /// Contents that [`push`](Self::push) is about to extend; empty between calls.
    pending: Vec<ContentId>,
}

impl QueueContents {
    pub(crate) fn new() -> Self {
        Self {
            contents: vec![Content { length: 0, head: 0, tail: EMPTY }],
            longer: HashMap::with_capacity(7),
            pending: vec![],
        }
    }

    pub(crate) fn length(&self, content: ContentId) -> u32 {
        self.contents[content as usize].length
    }

    pub(crate) fn head(&self, content: ContentId) -> Option<u32> {
        let content = self.contents[content as usize];
        (content.length > 0).then_some(content.head)
    }

    pub(crate) fn pop(&self, content: ContentId) -> ContentId {
        self.contents[content as usize].tail
    }

    /// The content with a message appended, in amortised constant time.
    pub(crate) fn push(&mut self, content: ContentId, message: u32) -> ContentId {
        // `w·m` without its head is `tail(w)·m`, which must exist first, and so on down to `m`.
        let mut at = content;
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
            let next = self.contents.len() as ContentId;
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

/// Rows of equal width, each stored once. Interning one costs O(width), amortised.
#[derive(Debug)]
pub(crate) struct Rows {
    width: usize,
    words: Vec<u32>,
    hashes: Vec<u64>,
    most: usize,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Rows {
    /// A table for at most `most` rows, and fewer than 2^32 - 1, with memory for those expected.
    pub(crate) fn new(width: usize, most: usize, expected: usize) -> Self {
        let expected = most.min(expected);
        Self {
            width,
            words: Vec::with_capacity(width * expected),
            hashes: Vec::with_capacity(expected),
            most: most.min(u32::MAX as usize - 1),
            numbers: HashTable::with_capacity(expected),
            hasher: DefaultHashBuilder::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(crate) fn row(&self, number: u32) -> &[u32] {
        row(&self.words, self.width, number)
    }

    /// The number of a row, and true if it is new. `None` if it would be one too many.
    pub(crate) fn intern(&mut self, new: &[u32]) -> Option<(u32, bool)> {
        debug_assert_eq!(new.len(), self.width);
        let Self { width, words, hashes, .. } = self;
        // By number: without optimisation, a hash of the bytes costs more than twice as much.
        let mut hasher = self.hasher.build_hasher();
        new.iter().for_each(|&word| hasher.write_u32(word));
        let hash = hasher.finish();
        let is_equal = |&number: &u32| row(words, *width, number) == new;
        match self.numbers.entry(hash, is_equal, |&number| hashes[number as usize]) {
            Entry::Occupied(known) => Some((*known.get(), false)),
            Entry::Vacant(_) if hashes.len() >= self.most => None,
            Entry::Vacant(free) => {
                let number = hashes.len() as u32;
                free.insert(number);
                words.extend_from_slice(new);
                hashes.push(hash);
                Some((number, true))
            }
        }
    }
}

/// [`Rows`] that are made from each other by changing a few words.
///
/// A wide row is stored as the numbers of its *blocks*. Neighbouring rows have most blocks in
/// common, so a change costs O(block + width / block) instead of O(width).
#[derive(Debug)]
pub(crate) struct Variants {
    /// `None` if rows are not wide.
    blocks: Option<Rows>,
    rows: Rows,
    draft: Vec<u32>,
    block: Vec<u32>,
}

/// The number of rows that most searches meet.
const USUAL: usize = 28;
const BLOCK: usize = 64;
/// Wider rows are split into blocks.
const NARROW: usize = 512;

impl Variants {
    /// A table with this row, which has number 0; later at most `most` rows, in at most so many
    /// words.
    pub(crate) fn new(first: &[u32], most: usize, words: usize) -> Self {
        let is_wide = first.len() > NARROW;
        let fewest = first.len().div_ceil(BLOCK);
        let mut blocks = is_wide.then(|| Rows::new(BLOCK, fewest.max(words / 2 / BLOCK), USUAL));
        let draft: Vec<u32> = match &mut blocks {
            None => first.to_vec(),
            Some(blocks) => {
                let number = |block: &[u32]| {
                    let mut block = block.to_vec();
                    block.resize(BLOCK, 0);
                    // There is room for all of these.
                    blocks.intern(&block).map_or(0, |(number, _)| number)
                };
                first.chunks(BLOCK).map(number).collect()
            }
        };
        // Results about wide rows take as much memory as the rows.
        let words = if is_wide { words / 4 } else { words };
        let width = draft.len();
        let mut rows = Rows::new(width, most.clamp(1, 1.max(words / width.max(1))), USUAL);
        rows.intern(&draft);
        Self { blocks, rows, draft, block: vec![] }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub(crate) fn word(&self, row: u32, at: usize) -> u32 {
        let row = row as usize * self.rows.width;
        match &self.blocks {
            None => self.rows.words[row + at],
            Some(blocks) => blocks.row(self.rows.words[row + at / BLOCK])[at % BLOCK],
        }
    }

    /// Starts a new row as a copy of this one.
    pub(crate) fn copy(&mut self, row: u32) {
        self.draft.clear();
        self.draft.extend_from_slice(self.rows.row(row));
    }

    #[inline]
    pub(crate) fn draft(&self, at: usize) -> u32 {
        match &self.blocks {
            None => self.draft[at],
            Some(blocks) => blocks.row(self.draft[at / BLOCK])[at % BLOCK],
        }
    }

    /// Changes a word of the new row. `None` without room.
    #[inline]
    pub(crate) fn set(&mut self, at: usize, word: u32) -> Option<()> {
        let Some(blocks) = &mut self.blocks else {
            self.draft[at] = word;
            return Some(());
        };
        let number = &mut self.draft[at / BLOCK];
        self.block.clear();
        self.block.extend_from_slice(blocks.row(*number));
        self.block[at % BLOCK] = word;
        (*number, _) = blocks.intern(&self.block)?;
        Some(())
    }

    /// The number of the new row, and true if it is new. `None` if it would be one too many.
    pub(crate) fn intern(&mut self) -> Option<(u32, bool)> {
        self.rows.intern(&self.draft)
    }
}

fn row(words: &[u32], width: usize, number: u32) -> &[u32] {
    let start = number as usize * width;
    &words[start..start + width]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap in a test is an assertion")]
mod tests {
    use super::*;

    #[test]
    fn contents_move_at_both_ends() {
        let mut contents = QueueContents::new();
        let mut content = EMPTY;
        for message in [7, 8, 7, 9] {
            content = contents.push(content, message);
        }
        assert_eq!(contents.length(content), 4);
        let mut taken = vec![];
        while let Some(message) = contents.head(content) {
            taken.push(message);
            content = contents.pop(content);
        }
        assert_eq!(taken, [7, 8, 7, 9]);
        assert_eq!(content, EMPTY);

        // Equal contents are one, however they came about.
        let one = contents.push(EMPTY, 7);
        let two = contents.push(one, 9);
        let two = contents.push(two, 7);
        let two = contents.pop(two);
        let nine = contents.push(EMPTY, 9);
        assert_eq!(two, contents.push(nine, 7));
    }

    #[test]
    fn rows_are_stored_once_and_not_beyond_the_limit() {
        let mut rows = Rows::new(2, 1_000, USUAL);
        for round in 0..2 {
            for number in 0..1_000 {
                let row = [number % 10, number / 10];
                assert_eq!(rows.intern(&row), Some((number, round == 0)));
            }
        }
        assert_eq!(rows.intern(&[10, 0]), None);
        assert_eq!(rows.len(), 1_000);
        assert_eq!(rows.row(123), [3, 12]);
    }

    #[test]
    fn variants_are_the_same_whether_they_are_wide_or_not() {
        for width in [1, NARROW, NARROW + 1, 10 * NARROW + 7] {
            let mut rows = Variants::new(&vec![7; width], 100, 1 << 20);
            let mut expected = vec![vec![7; width]];
            for step in 0..200 {
                let from = step * 17 % expected.len();
                let mut new = expected[from].clone();
                rows.copy(from as u32);
                for (at, word) in [(step * 31 % width, step % 3), (step * 71 % width, step % 2)] {
                    new[at] = word as u32;
                    rows.set(at, word as u32).unwrap();
                    assert_eq!(rows.draft(at), word as u32);
                }
                let known = expected.iter().position(|row| *row == new);
                match known {
                    Some(known) => assert_eq!(rows.intern(), Some((known as u32, false))),
                    None if expected.len() == 100 => assert_eq!(rows.intern(), None),
                    None => {
                        assert_eq!(rows.intern(), Some((expected.len() as u32, true)));
                        expected.push(new);
                    }
                }
            }
            assert_eq!(rows.len(), expected.len());
            for (number, row) in expected.iter().enumerate() {
                let words = (0..width).map(|at| rows.word(number as u32, at));
                assert!(words.eq(row.iter().copied()), "{width}, {number}");
            }
        }
    }
}
