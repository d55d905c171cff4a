//! The woken processes of a [`join`](crate::join()), and the set that this thread is polling.
//!
//! A completed set leaves its wakers to the next one on the thread. Queues keep the wakers that
//! waited for them, so roles that run one session after another mostly find their wakers known. A
//! wake-up for a completed set may reach the next one and poll a process in vain, which the
//! contract of wakers allows.
//!
//! The thread-local variable is in the module of the wakers that read it, where a read is one
//! instruction.

use std::cell::Cell;
use std::sync::Arc;
use std::task::{Wake, Waker};

use crate::sync::AtomicWaker;
use crate::sync::atomic::{AtomicUsize, Ordering};

/// The task is polling processes, so a wake-up need not wake it.
pub(crate) const POLLING: usize = 1 << (usize::BITS - 1);

/// Bit sets of the woken processes of a set.
#[derive(Default)]
pub(crate) struct Woken {
    /// Woken by the thread that polls them, while it does. No other thread uses this field.
    pub(crate) here: AtomicUsize,
    /// Woken from anywhere else, with [`POLLING`] while the task polls processes. 0 while it
    /// sleeps.
    pub(crate) elsewhere: AtomicUsize,
    pub(crate) task: AtomicWaker,
}

pub(crate) struct ProcessWaker {
    woken: Arc<Woken>,
    bit: usize,
}

/// The woken processes of a set, and at least as many wakers as it has processes.
pub(crate) type Wakers = (Arc<Woken>, Vec<Waker>);

/// The wakers of `count` processes, all of which are due.
pub(crate) fn wakers(count: usize) -> Wakers {
    // `try_with`: a thread that is shutting down keeps nothing.
    let (woken, mut wakers) = KEPT.try_with(Cell::take).ok().flatten().unwrap_or_default();
    woken.here.store((1 << count) - 1, Ordering::Relaxed);
    for process in wakers.len()..count {
        let waker = ProcessWaker { woken: Arc::clone(&woken), bit: 1 << process };
        wakers.push(Waker::from(Arc::new(waker)));
    }
    (woken, wakers)
}

/// Leaves the wakers of a completed set to the next one of this thread.
pub(crate) fn keep(wakers: Wakers) {
    drop(wakers.0.task.take());
    // As above.
    let _ = KEPT.try_with(|kept| kept.set(Some(wakers)));
}

impl Woken {
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Adds bits to `here`. Only called by the thread that polls the processes.
    pub(crate) fn add_here(&self, bits: usize) {
        let here = self.here.load(Ordering::Relaxed);
        self.here.store(here | bits, Ordering::Relaxed);
    }
}

impl Wake for ProcessWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // A thread that is shutting down polls nothing.
        if POLLED_HERE.try_with(Cell::get).is_ok_and(|set| set == self.woken.address()) {
            self.woken.add_here(self.bit);
        } else if self.woken.elsewhere.fetch_or(self.bit, Ordering::AcqRel) == 0 {
            self.woken.task.wake();
        }
    }
}

#[cfg(not(all(test, rumpsteak_loom)))]
thread_local! {
    /// The address of the set whose processes this thread is polling, or 0.
    static POLLED_HERE: Cell<usize> = const { Cell::new(0) };
    /// The wakers of the last set that completed on this thread.
    static KEPT: Cell<Option<Wakers>> = const { Cell::new(None) };
}

#[cfg(all(test, rumpsteak_loom))]
loom::thread_local! {
    static POLLED_HERE: Cell<usize> = Cell::new(0);
    static KEPT: Cell<Option<Wakers>> = Cell::new(None);
}

/// Returns true if this thread is polling the processes of a set. Then a process that wakes itself
/// is polled again after the others had their turn, at hardly any cost.
#[inline]
pub(crate) fn is_polling() -> bool {
    // A thread that is shutting down polls nothing.
    POLLED_HERE.try_with(Cell::get).is_ok_and(|set| set != 0)
}

/// Marks that this thread polls a set until it is dropped, also by a panic. Sets may be nested.
pub(crate) struct Polling {
    outer: usize,
}

impl Polling {
    /// Marks that this thread polls the set at `address`.
    pub(crate) fn enter(address: usize) -> Self {
        Self { outer: POLLED_HERE.with(|set| set.replace(address)) }
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        POLLED_HERE.with(|set| set.set(self.outer));
    }
}
