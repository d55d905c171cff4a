//! Shortening a run to the moves that its fault needs.
//!
//! From the last move to the first, each move is left out if the rest is a run with the same fault
//! at its end. With unbounded queues a move needs only earlier moves, so one pass is enough. Cost:
//! O(n²) configurations for a run of n moves.

use super::violation::{Violation, definite};
use crate::system::{Explorer, InternedSystem};

const LONGEST: usize = 1_000;

/// A part of the run that ends with a fault and needs each of its moves.
pub(crate) fn slice(system: &InternedSystem<'_>, path: &[u32]) -> Option<(Vec<u32>, Violation)> {
    let bounds = vec![u32::MAX; system.channels()];
    let end = |path: &[u32]| {
        let mut explorer = Explorer::new(system, &bounds, path.len().saturating_add(2));
        let node = explorer.walk(path)?;
        definite(&explorer, node)
    };
    let fault = end(path).filter(|_| path.len() <= LONGEST)?;
    let mut sliced = path.to_vec();
    for at in (0..path.len()).rev() {
        let by = sliced.remove(at);
        if end(&sliced) != Some(fault) {
            sliced.insert(at, by);
        }
    }
    Some((sliced, fault))
}
