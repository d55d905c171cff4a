//! Marks of routes: the state that a route keeps between sessions.

use std::any::TypeId;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicUsize, Ordering};

use once_cell::race::OnceRef;

/// The state of one end of a route: if a session uses it or was aborted on it, and its place in its
/// set of roles.
///
/// Your own transport keeps one mark at each end of a route and returns it from
/// [`Link::mark`](super::Link::mark). Only this crate writes to it, so that no role runs a second
/// session after an aborted one by mistake.
#[derive(Debug, Default)]
pub struct Mark {
    /// Some of [`IN_SESSION`], [`MOVED`] and [`WATCHED`]. Only one session at a time uses the role,
    /// so relaxed accesses suffice.
    state: AtomicU8,
    /// One more than the index of a member of a set in its family, as far as it fits, and else 0.
    pub(crate) member: AtomicU16,
    completed: AtomicUsize,
    /// One more than the capacity of the queue to the peer if it was named, and else 0.
    pub(super) capacity: u32,
    /// The round in which a choice among peers last began with this one. Later rounds are larger.
    turn: AtomicUsize,
    /// The number of the route's set of roles.
    set: AtomicUsize,
    place: OnceRef<'static, Place>,
}

/// A session uses the route, or was aborted on it.
const IN_SESSION: u8 = 1;
/// The route was moved away in the middle of a session, so no session begins here again.
const MOVED: u8 = 2;
/// The role is [watched](crate::watch).
const WATCHED: u8 = 4;

/// The place of a route in its set.
pub(crate) struct Place {
    /// The struct with the route's field.
    pub(crate) owner: fn() -> TypeId,
    /// The route's index among the struct's routes.
    pub(crate) index: usize,
    pub(crate) role: &'static str,
    pub(crate) peer: &'static str,
}

/// The type of a struct. Never inlined, so there is usually one such function per struct.
#[inline(never)]
pub(crate) fn owner<R: 'static>() -> TypeId {
    TypeId::of::<R>()
}

impl Place {
    /// Returns true if the route is a field of this struct.
    #[inline]
    pub(crate) fn is_of<R: 'static>(&self) -> bool {
        // Comparing the functions is cheaper than a call. Equal ones have equal results.
        ptr::fn_addr_eq(self.owner, owner::<R> as fn() -> TypeId)
            || (self.owner)() == TypeId::of::<R>()
    }
}

impl Mark {
    /// The mark of a route that no session has used.
    pub const fn new() -> Self {
        Self {
            state: AtomicU8::new(0),
            member: AtomicU16::new(0),
            completed: AtomicUsize::new(0),
            capacity: 0,
            turn: AtomicUsize::new(0),
            set: AtomicUsize::new(0),
            place: OnceRef::new(),
        }
    }

    /// Moves the mark out together with its route, in the middle of a session. The mark that stays
    /// belongs to a route over which no session begins any more.
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self { state: AtomicU8::new(MOVED), ..Self::new() })
    }

    #[inline]
    pub(crate) fn in_session(&self) -> bool {
        self.state() & (IN_SESSION | MOVED) != 0
    }

    /// 0 if no session uses the route or was aborted on it, and its role is not watched.
    #[inline]
    pub(crate) fn state(&self) -> u8 {
        self.state.load(Ordering::Relaxed)
    }

    pub(crate) fn watched_member(&self) -> Option<u16> {
        (self.state() & WATCHED != 0).then(|| self.member.load(Ordering::Relaxed))
    }

    /// Marks that the role is watched.
    pub(crate) fn watch(&self) {
        self.state.store(self.state() | WATCHED, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn set_in_session(&self, in_session: bool) {
        let state = self.state();
        let state = if in_session { state | IN_SESSION } else { state & !IN_SESSION };
        self.state.store(state, Ordering::Relaxed);
    }

    /// Counts a completed session and returns the number of completed sessions.
    #[inline]
    pub(crate) fn complete(&self) -> usize {
        self.set_in_session(false);
        let completed = self.completed() + 1;
        self.completed.store(completed, Ordering::Relaxed);
        completed
    }

    /// The number of sessions that were completed over the route.
    #[inline]
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

    /// The number of the set and the route's place in it, if it has one.
    #[inline]
    pub(crate) fn place(&self) -> Option<(usize, &'static Place)> {
        self.place.get().map(|place| (self.set.load(Ordering::Relaxed), place))
    }

    /// Sets the place, once: a transport may return the mark of an earlier route.
    pub(crate) fn set_place(&self, set: usize, place: &'static Place) {
        if self.place.set(place).is_ok() {
            self.set.store(set, Ordering::Relaxed);
        }
    }
}
