//! Which set of processes this thread is polling: what [`join`](crate::join()) says to the wakers
//! of its processes, and to the receivers of channels.

use std::cell::Cell;

#[cfg(not(all(test, rumpsteak_loom)))]
thread_local! {
    /// The address of the set whose processes this thread is polling, or 0.
    static POLLED_HERE: Cell<usize> = const { Cell::new(0) };
}

#[cfg(all(test, rumpsteak_loom))]
loom::thread_local! {
    static POLLED_HERE: Cell<usize> = Cell::new(0);
}

/// Whether this thread is polling the processes of a set.
///
/// A process that then wakes itself is polled again after the others had their turn, at hardly any
/// cost.
#[inline]
pub(crate) fn is_polling() -> bool {
    // A thread that is shutting down polls nothing.
    POLLED_HERE.try_with(Cell::get).is_ok_and(|set| set != 0)
}

/// Whether this thread is polling the processes of the set at `address`.
#[inline]
pub(crate) fn is_polling_set(address: usize) -> bool {
    POLLED_HERE
        .try_with(Cell::get)
        .is_ok_and(|set| set == address)
}

/// Marks that this thread polls a set, until it is dropped, also by a panic. Sets may be nested.
pub(crate) struct Polling {
    outer: usize,
}

impl Polling {
    /// Marks that this thread polls the set at `address`.
    pub(crate) fn enter(address: usize) -> Self {
        Self {
            outer: POLLED_HERE.with(|set| set.replace(address)),
        }
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        POLLED_HERE.with(|set| set.set(self.outer));
    }
}
