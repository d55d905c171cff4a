//! Sessions that both ends of a route count, and sessions that only one end counts.

use std::marker::PhantomData;

use super::wiring::same;
use crate::role::Role;

/// The session counts of the role `R` and its peer `P`.
///
/// A role that starts on demand takes no part in some sessions of a peer, and several times in
/// others, so the ends of its routes do not count the same sessions. With one peer it needs no
/// count, because it receives from one queue only. With several peers, one of them could call it in
/// the next session before another one does in this session.
#[derive(Debug)]
pub struct SessionCount<R, P>(PhantomData<(R, P)>);

impl<R: Role, P: Role> SessionCount<R, P> {
    /// True if both ends of a route count the same sessions.
    pub const IS_SHARED: bool = !plays_on_demand::<R>() && !plays_on_demand::<P>();

    /// The peer, if because of it the role can only run one session over its routes.
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

/// Returns the first that is `Some`.
pub const fn first(all: &[Option<&'static str>]) -> Option<&'static str> {
    match all {
        [] => None,
        [None, others @ ..] => first(others),
        [found, ..] => *found,
    }
}
