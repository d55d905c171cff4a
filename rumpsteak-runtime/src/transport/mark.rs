//! The mark of a route: what a role knows of it from one session to the next.

use std::any::TypeId;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a role knows of a route: whether a session uses it, or did so and never ended, and whose
/// route it is, if `#[derive(Roles)]` made it.
///
/// A transport of your own keeps one for each end of a route, and lends it in
/// [`Link::mark`](super::Link::mark). Only this crate writes to it, so that a role whose session
/// never ended is not used again by mistake.
#[derive(Debug, Default)]
pub struct Mark {
    /// Only one session at a time has the role, so the order of memory accesses does not matter.
    in_session: AtomicBool,
    /// Whether the route was taken away in the middle of a session: none ever begins here.
    is_left: bool,
    brand: OnceLock<Brand>,
}

/// Whose route it is.
#[derive(Debug)]
pub(crate) struct Brand {
    /// The number of the set that `#[derive(Roles)]` wired.
    pub(crate) set: usize,
    /// The struct that the route is a field of.
    pub(crate) owner: TypeId,
    /// Which of its routes this is.
    pub(crate) index: usize,
    /// The name of the role.
    pub(crate) role: &'static str,
    /// The name of the role at the other end.
    pub(crate) peer: &'static str,
}

impl Mark {
    /// The mark of a route that no session has used.
    #[must_use]
    pub const fn new() -> Self {
        Self { in_session: AtomicBool::new(false), is_left: false, brand: OnceLock::new() }
    }

    /// Takes the mark away with its route, in the middle of a session. What is left is the mark of
    /// a route over which no session begins any more.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let left =
            Self { in_session: AtomicBool::new(true), is_left: true, brand: OnceLock::new() };
        std::mem::replace(self, left)
    }

    #[inline]
    pub(crate) fn in_session(&self) -> bool {
        self.in_session.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set_in_session(&self, in_session: bool) {
        self.in_session.store(in_session | self.is_left, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn brand(&self) -> Option<&Brand> {
        self.brand.get()
    }

    /// Brands the route, once: a transport that lends the mark of an earlier route keeps its brand.
    pub(crate) fn set_brand(&self, brand: Brand) {
        let _ = self.brand.set(brand);
    }
}
