//! Roles that count the same sessions, and those that do not.

use std::marker::PhantomData;

use super::wiring::same;
use crate::role::Role;

/// Two roles with a route between them, seen from the first.
///
/// A role that plays on demand has other sessions than its peers: none in some of theirs, several
/// in others. So the ends of its routes do not count the same sessions. With one peer it needs no
/// count, because it takes one message after the other of one queue. With several peers, one of
/// them could call it in its next session before another one does in this session.
#[derive(Debug)]
pub struct Between<R, P>(PhantomData<(R, P)>);

impl<R: Role, P: Role> Between<R, P> {
    /// True if both ends of the route count the same sessions.
    pub const COUNTS: bool = !plays_on_demand::<R>() && !plays_on_demand::<P>();

    /// The peer, if the first role has one session over its routes because of it.
    pub const ONCE: Option<&'static str> =
        if !plays_on_demand::<R>() && plays_on_demand::<P>() && P::ROUTES > 1 {
            Some(P::NAME)
        } else {
            None
        };
}

const fn plays_on_demand<R: Role>() -> bool {
    let mut names = R::PLAYED.0.on_demand;
    while let [name, others @ ..] = names {
        if same(name, R::PLAYED.0.role) {
            return true;
        }
        names = others;
    }
    false
}

/// The first of these that is there.
pub const fn first(all: &[Option<&'static str>]) -> Option<&'static str> {
    match all {
        [] => None,
        [None, others @ ..] => first(others),
        [found, ..] => *found,
    }
}
