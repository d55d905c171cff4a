//! A set in the order of insertion.
//!
//! Like that of `indexmap`, except that one table serves all kinds of elements: where each kind has
//! a table of its own, a clean build of a user's package takes a second longer.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::ops::Deref;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

/// A set in the order of insertion: a slice without equal elements.
#[derive(Clone, Debug)]
pub struct IndexSet<T> {
    elements: Vec<T>,
    /// The hash and the index of each element.
    table: HashTable<(u64, usize)>,
    hasher: DefaultHashBuilder,
}

impl<T: Hash + Eq> IndexSet<T> {
    /// Inserts an element. Returns the index of the equal one, and true if it is new.
    pub fn insert_full(&mut self, element: T) -> (usize, bool) {
        let hash = self.hasher.hash_one(&element);
        let is_it = |&(known, at): &(u64, usize)| known == hash && self.elements[at] == element;
        match self.table.entry(hash, is_it, |&(hash, _)| hash) {
            Entry::Occupied(found) => (found.get().1, false),
            Entry::Vacant(place) => {
                place.insert((hash, self.elements.len()));
                self.elements.push(element);
                (self.elements.len() - 1, true)
            }
        }
    }

    /// Inserts an element. Returns true if it is new.
    pub fn insert(&mut self, element: T) -> bool {
        self.insert_full(element).1
    }

    /// The index of an element.
    pub fn get_index_of<Q: Hash + Eq + ?Sized>(&self, element: &Q) -> Option<usize>
    where
        T: Borrow<Q>,
    {
        let hash = self.hasher.hash_one(element);
        let is_it =
            |&(known, at): &(u64, usize)| known == hash && self.elements[at].borrow() == element;
        self.table.find(hash, is_it).map(|found| found.1)
    }

    /// True if the set has this element.
    pub fn contains<Q: Hash + Eq + ?Sized>(&self, element: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.get_index_of(element).is_some()
    }
}

impl<T> IndexSet<T> {
    /// The elements in order.
    pub fn into_vec(self) -> Vec<T> {
        self.elements
    }
}

impl<T> Default for IndexSet<T> {
    fn default() -> Self {
        Self { elements: vec![], table: HashTable::new(), hasher: DefaultHashBuilder::default() }
    }
}

impl<T> Deref for IndexSet<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.elements
    }
}

impl<T: Hash + Eq> Extend<T> for IndexSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        elements.into_iter().for_each(|element| _ = self.insert(element));
    }
}

impl<T: Hash + Eq> FromIterator<T> for IndexSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut set = Self::default();
        set.extend(elements);
        set
    }
}
