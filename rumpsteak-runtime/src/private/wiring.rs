//! How `#[derive(Roles)]` connects a set of roles: by type, and statically.
//!
//! The derive on the set sees the types of the roles but not their routes; the derive on a role
//! sees the peers of its routes but not the set. They meet on a *board*, a struct local to the set
//! that gives each role a *seat*: one slot per route of that role. Each role is then wired in turn.
//! For its route to a peer it first looks into its own slot for that peer. If a peer that was wired
//! earlier has left an end there, the role takes it; else it creates both ends, keeps one and
//! leaves the other in the peer's slot. So each route is created exactly once, in any order of the
//! fields.
//!
//! ```text
//! set {a, b}   wire a: slot a→b is empty: (x, y) = pair(); keep x, put y into slot b→a
//!              wire b: slot b→a holds y: take it
//! ```
//!
//! A peer that is not in the set (`B: Seats<P>` fails) or that has no route back (`P: Joins<R, B>`
//! fails) does not compile. All bounds mention the board, so a role alone, whose peers live
//! elsewhere, compiles.

use std::any::TypeId;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::role::Role;
use crate::transport::Pair;
use crate::transport::capacity::{Capacity, Queue};
use crate::transport::mark::Brand;

/// A board that has a seat for role `P`. Implemented by `#[derive(Roles)]` for each field.
#[diagnostic::on_unimplemented(
    message = "this set of roles has no `{P}`",
    label = "has a route to `{P}`, which this set lacks",
    note = "add a field of type `{P}` to the set"
)]
pub trait Seats<P: Role> {
    /// The seat.
    fn seat(&mut self) -> &mut P::Seat;
}

/// A role that has a route to `Peer` on board `B`. Implemented by `#[derive(Role)]` for each route.
#[diagnostic::on_unimplemented(
    message = "role `{Self}` has no route to `{Peer}`, but `{Peer}` has one to `{Self}`",
    label = "`{Self}` has no route back to `{Peer}`",
    note = "add a field `#[route({Peer})]` to `{Self}`, or remove the route to `{Self}` from `{Peer}`"
)]
pub trait Joins<Peer, B> {
    /// The type of the route.
    type Link;

    /// [`Role::NAME`]. No bound says that the role is one, since its derive would say it once more.
    const NAME: &'static str;

    /// `Participant::SYSTEM`.
    const SYSTEM: u64;

    /// How much room the queue to the peer needs, in that system.
    const CAPACITY: Capacity;

    /// The slot for this end of the route.
    fn slot(board: &mut B) -> &mut Option<Self::Link>;
}

/// A role that can be wired on board `B`. Implemented by `#[derive(Role)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a role",
    label = "not a role",
    note = "every field of a set of roles has a type with `#[derive(Role)]`"
)]
pub trait Wire<B>: Role {
    /// The names of the peers, in the order of the routes.
    const PEERS: &'static [&'static str];

    /// Connects the role to all its peers.
    fn wire(board: &mut B) -> Self;

    /// Connects the role to all its peers, and brands its routes as those of the set with this
    /// number.
    fn wire_in_set(board: &mut B, set: usize) -> Self {
        let role = Self::wire(board);
        let mut peers = Self::PEERS.iter().enumerate();
        role.for_each_mark(|_, mark| {
            if let Some((index, peer)) = peers.next() {
                mark.set_brand(Brand {
                    set,
                    owner: TypeId::of::<Self>(),
                    index,
                    role: Self::NAME,
                    peer,
                });
            }
        });
        role
    }
}

/// A number that no other set of roles has.
pub fn new_set() -> usize {
    static SETS: AtomicUsize = AtomicUsize::new(0);
    SETS.fetch_add(1, Ordering::Relaxed)
}

/// The end of `Near` of the route between `Near` and `Far`.
pub fn connect<Near, Far, B>(board: &mut B) -> Near::Link
where
    Near: Joins<Far, B>,
    Far: Joins<Near, B>,
    Near::Link: Pair<Far::Link>,
{
    match Near::slot(board).take() {
        Some(near) => near,
        None => {
            let (near, far) = Pair::pair_as(queue::<Near, Far, B>(), queue::<Far, Near, B>());
            *Far::slot(board) = Some(far);
            near
        }
    }
}

/// The queue from one role to another.
///
/// A capacity is proven for the sessions of a whole system of roles, so it only counts if both ends
/// are of one system. Otherwise the queue grows.
fn queue<From, To, B>() -> Queue
where
    From: Joins<To, B>,
    To: Joins<From, B>,
{
    let capacity = if From::SYSTEM != 0 && From::SYSTEM == To::SYSTEM {
        From::CAPACITY
    } else {
        Capacity::Growable
    };
    Queue::new(capacity).between(From::NAME, To::NAME)
}

/// Whether a session may run on a role: the role has no proven capacities, or they were proven with
/// this session.
pub const fn counted<R: Role>(system: u64) -> bool {
    R::SYSTEM == 0 || R::SYSTEM == system
}

/// Whether two roles play the same protocol.
pub const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// Whether a role has another name than the earlier ones of its set.
pub const fn differs(name: &str, earlier: &[&str]) -> bool {
    let mut index = 0;
    while index < earlier.len() {
        if same(name, earlier[index]) {
            return false;
        }
        index += 1;
    }
    true
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

    #[test]
    fn a_repeated_name_is_found_anywhere() {
        assert!(differs("a", &[]));
        assert!(differs("c", &["a", "b"]));
        assert!(!differs("a", &["a", "b"]));
        assert!(!differs("b", &["a", "b"]));
    }
}
