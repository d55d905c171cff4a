//! Wiring: how the roles of a set are connected.
//!
//! A role also compiles alone, if its peers are in other processes. So its code knows the peers of
//! its routes but not the set, and the roles of a set are wired in turn. The first of two peers
//! creates both ends of their route, keeps its own, and leaves the other in the [`Wiring`] for its
//! peer. So each route is created once, whatever the order of the fields.
//!
//! ```text
//! set {a, b}   wire a: no end is left for a→b: (x, y) = pair(); keep x, leave y for b→a
//!              wire b: y is left for b→a: take it
//! ```
//!
//! A peer that is not in the set (`Set: Seats<P>` fails) or has no route back (`P: Joins<R, Set>`
//! fails) does not compile. All bounds mention the set, so that a role compiles without one.

use std::any::{Any, TypeId};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::role::{Role, Route};
use crate::seal::ByMacro;
use crate::transport::Pair;
use crate::transport::capacity::{Capacity, Queue};
use crate::transport::link::Link;
use crate::transport::mark::{Place, owner};

/// A set with a role `P`. Implemented for each field of the set.
#[diagnostic::on_unimplemented(
    message = "this set of roles has no `{P}`",
    label = "a role of this set has a route to `{P}`",
    note = "add a field of type `{P}` to the set"
)]
pub trait Seats<P> {
    /// The type that must pair with the near end of a route to `P`: the type of the far end, unless
    /// the peer is in another process.
    type Far<Far: 'static>: 'static;

    #[doc(hidden)]
    const BY_MACRO: ByMacro;
}

/// A role that has a route to `Peer`, in the set `S`.
#[diagnostic::on_unimplemented(
    message = "role `{Self}` has no route to `{Peer}`, but `{Peer}` has one to `{Self}`",
    label = "`{Self}` has no route back to `{Peer}`",
    note = "add a field `#[route({Peer})]` to `{Self}`, or remove the route to `{Self}` from `{Peer}`"
)]
pub trait Joins<Peer, S>: 'static {
    /// The type of the route.
    type Link: Link;

    /// [`Role::NAME`]. Without a `Role` bound, which would repeat the error of a failed derive.
    const NAME: &'static str;

    /// [`Route::CAPACITY`].
    const CAPACITY: Capacity;
}

#[diagnostic::do_not_recommend]
impl<R: Route<Peer>, Peer: 'static, S> Joins<Peer, S> for R {
    type Link = R::Link;

    const NAME: &'static str = R::NAME;
    const CAPACITY: Capacity = R::CAPACITY.0;
}

/// A role that can be wired in the set `S`.
pub trait Wire<S>: Role {
    /// Connects the role to all its peers.
    fn wire(wiring: &mut Wiring<'_>) -> Self;
}

/// A set of roles while it is wired.
#[allow(missing_debug_implementations, reason = "only generated code has one")]
pub struct Wiring<'a> {
    /// A number that no other set has. The highest bit is set if its roles join one by one.
    set: usize,
    /// The ends that wait for their roles.
    ends: Option<Box<Waiting<dyn Any>>>,
    /// The source of ends whose other ends are in other processes.
    elsewhere: Option<&'a mut Give<'a>>,
}

/// An end that waits for its role, in one allocation: a set of roles may be made for each session.
struct Waiting<T: ?Sized> {
    /// The end's role and its peer.
    roles: [TypeId; 2],
    /// The ends that were left before.
    before: Option<Box<Waiting<dyn Any>>>,
    /// An `Option` of the end.
    end: T,
}

/// Returns the end of a route that sends into this queue, or `None` to make a fresh route. True for
/// a route to a family.
pub type Give<'a> = dyn FnMut(Queue, bool) -> Option<Box<dyn Any>> + 'a;

impl<'a> Wiring<'a> {
    /// A set of which no role is wired yet.
    #[allow(clippy::new_without_default, reason = "each one is another")]
    pub fn new() -> Self {
        static SETS: AtomicUsize = AtomicUsize::new(0);
        Self { set: SETS.fetch_add(1, Ordering::Relaxed), ends: None, elsewhere: None }
    }

    /// A set whose roles get the ends of their routes from `give`.
    pub fn elsewhere(give: &'a mut Give<'a>) -> Self {
        let wiring = Self::new();
        Self { set: !wiring.set, elsewhere: Some(give), ..wiring }
    }

    /// Returns the end of the route from `Near` to `Far`, and marks it with this set and the field
    /// `INDEX` of `Near`.
    pub fn connect<Near, Far, S, const INDEX: usize>(&mut self) -> Near::Link
    where
        S: Seats<Far>,
        Near: Joins<Far, S>,
        Far: Joins<Near, S>,
        Near::Link: Pair<S::Far<Far::Link>>,
    {
        let roles = [TypeId::of::<Near>(), TypeId::of::<Far>()];
        let given = match &mut self.elsewhere {
            Some(give) => {
                let end = give(queue::<Near, Far, S>(), const { Near::Link::MEMBERS.is_some() });
                end.and_then(|end| end.downcast().ok()).map(|end| *end)
            }
            None => self.take(roles),
        };
        let near: Near::Link = given.unwrap_or_else(|| {
            let (near, far) = Near::Link::pair_as(queue::<Near, Far, S>(), queue::<Far, Near, S>());
            let [near_role, far_role] = roles;
            let roles = [far_role, near_role];
            // The members leave their ends for a peer in one.
            let far = match const { Far::Link::MEMBERS.is_some() } {
                true => Near::Link::unite(self.take(roles), far),
                false => far,
            };
            let (before, end) = (self.ends.take(), Some(far));
            self.ends = Some(Box::new(Waiting { roles, before, end }));
            near
        });
        let place = const {
            &Place {
                owner: owner::<Near>,
                index: INDEX,
                role: <Near as Joins<Far, S>>::NAME,
                peer: <Far as Joins<Near, S>>::NAME,
            }
        };
        near.mark().set_place(self.set, place);
        near
    }

    /// Takes the end that waits for a role and its peer.
    fn take<L: 'static>(&mut self, roles: [TypeId; 2]) -> Option<L> {
        let mut place = &mut self.ends;
        while place.as_ref().is_some_and(|waiting| waiting.roles != roles) {
            place = &mut place.as_mut()?.before;
        }
        let mut found = place.take()?;
        *place = found.before.take();
        found.end.downcast_mut::<Option<L>>()?.take()
    }
}

/// The queue from one role to another, with the capacity that was proven.
fn queue<From, To, S>() -> Queue
where
    From: Joins<To, S>,
    To: Joins<From, S>,
{
    Queue::new(From::CAPACITY).between(From::NAME, To::NAME)
}

pub(crate) const fn same(left: &str, right: &str) -> bool {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
        if *a != *b {
            return false;
        }
        (left, right) = (left_rest, right_rest);
    }
    left.is_empty() && right.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_whole() {
        assert!(same("", ""));
        assert!(same("kernel", "kernel"));
        assert!(!same("kernel", "kern"));
        assert!(!same("kernel", "Kernel"));
    }
}
