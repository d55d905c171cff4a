//! Sessions that both ends of a route count, and sessions that only one end counts.

use super::wiring::same;
use crate::role::Role;

/// Returns true if both ends of a route between the role `R` and its peer `P` count the same
/// sessions.
///
/// A role that starts on demand takes no part in some sessions of a peer, and several times in
/// others, so the ends of its routes do not count the same sessions. With one peer it needs no
/// count, because it receives from one queue only. With several peers, one of them could call it in
/// the next session before another one does in this session.
pub const fn counts_sessions<R: Role, P: Role>() -> bool {
    !plays_on_demand::<R>() && !plays_on_demand::<P>()
}

/// Returns the peer, if because of it the role can only run one session over its routes.
pub const fn once<R: Role, P: Role>() -> Option<&'static str> {
    let is_limited = !plays_on_demand::<R>() && plays_on_demand::<P>() && P::ROUTES > 1;
    if is_limited { Some(P::NAME) } else { None }
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
