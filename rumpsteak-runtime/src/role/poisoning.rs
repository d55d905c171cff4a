//! Poisoning: a role whose session did not reach its end refuses to begin another one, until it is
//! reset together with its peers. A poisoned role is marked like a role in a session. The
//! [guard](crate::guard) of a session calls this when the session is left.

use super::participant::Participant;

/// Marks the role as in a session, or as poisoned.
#[inline]
pub(crate) fn begin<R: Participant>(role: &R) {
    role.for_each_mark(|_, mark| mark.set_in_session(true));
}

/// Closes all routes, which wakes waiting peers, and leaves the role poisoned.
pub(crate) fn abort<R: Participant>(role: &mut R) {
    begin(role);
    role.close();
}
