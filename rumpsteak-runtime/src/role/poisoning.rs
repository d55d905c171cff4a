//! Poisoning: a role whose session does not reach its end begins no other one.

use super::participant::Participant;

/// Marks the role as in a session. A role whose session does not reach its end stays so: it is
/// poisoned, and refuses to begin another one until it is reset together with its peers.
#[inline]
pub(crate) fn enter<R: Participant>(role: &R) {
    role.for_each_mark(|_, mark| mark.set_in_session(true));
}

/// Closes all routes, which wakes waiting peers, and leaves the role poisoned.
pub(crate) fn abort<R: Participant>(role: &mut R) {
    enter(role);
    role.close();
}
