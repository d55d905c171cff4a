//! The mark of a route: what a role knows of it from one session to the next.

use std::any::TypeId;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use once_cell::race::OnceRef;

/// What a role knows of a route: whether a session uses it, or did so and never ended, and whose
/// route it is, if a set of roles made it.
///
/// A transport of your own keeps one for each end of a route, and lends it in
/// [`Link::mark`](super::Link::mark). Only this crate writes to it, so that a role whose session
/// never ended is not used again by mistake.
#[derive(Debug, Default)]
pub struct Mark {
    /// Only one session at a time has the role, so the order of memory accesses does not matter.
    in_session: AtomicBool,
    completed: AtomicUsize,
    /// Whether the route was taken away in the middle of a session: none ever begins here.
    is_left: bool,
    /// When a choice among peers last began with this one: a number larger than those before it.
    turn: AtomicUsize,
    /// The number of the set of roles.
    set: AtomicUsize,
    place: OnceRef<'static, Place>,
}

/// The place of a route in its set.
#[derive(Debug)]
pub(crate) struct Place {
    /// The struct that the route is a field of.
    pub(crate) owner: fn() -> TypeId,
    /// Which of its routes this is.
    pub(crate) index: usize,
    pub(crate) role: &'static str,
    pub(crate) peer: &'static str,
}

/// The type of a struct. Never inlined, so that there mostly is one such function for each struct.
#[inline(never)]
pub(crate) fn owner<R: 'static>() -> TypeId {
    TypeId::of::<R>()
}

impl Place {
    /// Whether it is a field of this struct.
    #[inline]
    pub(crate) fn is_of<R: 'static>(&self) -> bool {
        // Equal functions have one answer, and to compare them takes less than to call one.
        ptr::fn_addr_eq(self.owner, owner::<R> as fn() -> TypeId)
            || (self.owner)() == TypeId::of::<R>()
    }
}

impl Mark {
    /// The mark of a route that no session has used.
    #[must_use]
    pub const fn new() -> Self {
        Self::with(false)
    }

    /// The mark of a route without a place, which was left or was never used.
    const fn with(is_left: bool) -> Self {
        Self {
            in_session: AtomicBool::new(is_left),
            completed: AtomicUsize::new(0),
            is_left,
            turn: AtomicUsize::new(0),
            set: AtomicUsize::new(0),
            place: OnceRef::new(),
        }
    }

    /// Takes the mark away with its route, in the middle of a session. What is left is the mark of
    /// a route over which no session begins any more.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self::with(true))
    }

    #[inline]
    pub(crate) fn in_session(&self) -> bool {
        self.in_session.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set_in_session(&self, in_session: bool) {
        self.in_session.store(in_session | self.is_left, Ordering::Relaxed);
    }

    /// Counts a session that has come to its end, and returns how many have.
    #[inline]
    pub(crate) fn complete(&self) -> usize {
        self.set_in_session(false);
        let completed = self.completed() + 1;
        self.completed.store(completed, Ordering::Relaxed);
        completed
    }

    /// How many sessions over the route have come to their ends.
    #[inline]
    #[must_use]
    pub fn completed(&self) -> usize {
        self.completed.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn turn(&self) -> usize {
        self.turn.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set_turn(&self, turn: usize) {
        self.turn.store(turn, Ordering::Relaxed);
    }

    /// The place of the route in its set, if it has one, with the number of the set.
    #[inline]
    pub(crate) fn place(&self) -> Option<(usize, &'static Place)> {
        self.place.get().map(|place| (self.set.load(Ordering::Relaxed), place))
    }

    /// Says where the route is, once: a transport that lends the mark of an earlier route stays
    /// there.
    pub(crate) fn set_place(&self, set: usize, place: &'static Place) {
        if self.place.set(place).is_ok() {
            self.set.store(set, Ordering::Relaxed);
        }
    }
}
