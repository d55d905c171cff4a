//! Numbers of states and transitions.

use std::fmt;

use petgraph::graph::{EdgeIndex, NodeIndex};

/// A state of one machine: dense, in order of insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(u32);

impl StateId {
    /// The position in order of insertion.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The id of position `index`, as a dense table counts them.
    ///
    /// # Panics
    /// If `index` does not fit into 32 bits, which no machine's state does.
    pub fn from_index(index: usize) -> Self {
        Self(dense(index))
    }

    pub(super) fn node(self) -> NodeIndex {
        NodeIndex::new(self.index())
    }
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A transition of one machine: dense, in order of insertion over the whole machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransitionId(u32);

impl TransitionId {
    /// The position in order of insertion.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The id of position `index`, as a dense table counts them.
    ///
    /// # Panics
    /// If `index` does not fit into 32 bits, which no machine's transition does.
    pub fn from_index(index: usize) -> Self {
        Self(dense(index))
    }

    pub(super) fn edge(self) -> EdgeIndex {
        EdgeIndex::new(self.index())
    }
}

/// Ids are 32 bits wide because tables of them dominate the memory of the algorithms; a machine of
/// four thousand million states would not fit into memory beside them.
#[track_caller]
fn dense(index: usize) -> u32 {
    match u32::try_from(index) {
        Ok(id) => id,
        Err(_) => panic!("a machine has fewer than 2^32 states and transitions"),
    }
}
