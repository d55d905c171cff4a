//! Sets of numbers, each known by a number.

use hashbrown::HashMap;

use crate::index::index;

/// Sets of numbers, each once, in the order in which they came.
///
/// Most states stand for one state of the automaton that they are made from, so sets of one element
/// are found without hashing.
pub(crate) struct Sets {
    /// The elements of all sets, and where those of each set end.
    elements: Vec<u32>,
    ends: Vec<u32>,
    /// For each element one more than the number of its set alone, or 0: zeros cost nothing to
    /// make.
    single: Vec<u32>,
    several: HashMap<Box<[u32]>, u32>,
}

impl Sets {
    /// No set; most elements are expected to be below `elements`.
    pub(crate) fn new(elements: usize) -> Self {
        Self {
            elements: Vec::new(),
            ends: Vec::new(),
            single: vec![0; elements],
            several: HashMap::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, set: u32) -> &[u32] {
        let set = set as usize;
        let start = if set == 0 { 0 } else { self.ends[set - 1] };
        &self.elements[start as usize..self.ends[set] as usize]
    }

    /// The number of the set with this element alone, and whether it is new.
    pub(crate) fn insert_one(&mut self, element: u32) -> (u32, bool) {
        let at = element as usize;
        if at >= self.single.len() {
            self.single.resize((2 * at).max(64), 0);
        }
        if self.single[at] > 0 {
            return (self.single[at] - 1, false);
        }
        self.elements.push(element);
        let new = self.add();
        self.single[at] = new + 1;
        (new, true)
    }

    /// The number of a set, and whether it is new. The elements may be in any order.
    pub(crate) fn insert(&mut self, mut elements: Vec<u32>) -> (u32, bool) {
        elements.sort_unstable();
        elements.dedup();
        if let [element] = *elements {
            return self.insert_one(element);
        }
        if let Some(&known) = self.several.get(&*elements) {
            return (known, false);
        }
        self.elements.extend(&elements);
        let new = self.add();
        self.several.insert(elements.into(), new);
        (new, true)
    }

    fn add(&mut self) -> u32 {
        self.ends.push(index(self.elements.len()));
        index(self.ends.len() - 1)
    }
}
