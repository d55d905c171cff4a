//! The guard of a session, which owns the borrow of the role and aborts unfinished sessions.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::{Error, Result};
use crate::lending::Lender;
use crate::role::Role;
use crate::role::participant;
use crate::states::state::state_of;
use crate::states::{End, State};
use crate::testing;

/// A role while its process runs. Dropping the guard in the middle of the session aborts it: the
/// role is poisoned, and its peers wake.
pub(crate) struct SessionGuard<'s, R: Role> {
    role: Lender<'s, R>,
    state: State<'s, R>,
    is_in_session: bool,
}

impl<'s, R: Role> SessionGuard<'s, R> {
    /// The guard of a role whose session has not begun.
    #[inline]
    pub(crate) fn new(role: &'s mut R) -> Self {
        let (role, claim) = Lender::new(role);
        Self { role, state: state_of(claim), is_in_session: false }
    }

    /// The role. The process must not be polled meanwhile.
    #[inline]
    pub(crate) fn role(&mut self) -> &mut R {
        self.role.role()
    }

    /// Begins the session: passes its first state to `process`.
    #[inline]
    pub(crate) fn begin<T>(&mut self, process: impl FnOnce(State<'s, R>) -> T) -> T {
        participant::begin(self.role());
        self.is_in_session = true;
        let state = self.state.take();
        self.role.lend(|| process(state))
    }

    /// Polls the process of the session.
    #[inline]
    pub(crate) fn poll<F: Future>(
        &mut self,
        process: Pin<&mut F>,
        context: &mut Context<'_>,
    ) -> Poll<F::Output> {
        self.role.lend(|| process.poll(context))
    }

    /// Waits until the next session of the role may begin.
    #[inline]
    pub(crate) fn poll_begin(&mut self, context: &Context<'_>) -> Poll<()> {
        let begun = self.role().poll_begin(context.waker());
        if begun.is_pending() {
            testing::waits_to_begin(R::NAME);
        }
        begun
    }

    /// Ends the session with the result of its process. Fails with the error of the process or with
    /// [`ErrorKind::ForeignEnd`](crate::ErrorKind::ForeignEnd).
    #[inline]
    pub(crate) fn end<T, E: From<Error>, Q: Role, V>(
        &mut self,
        ended: Result<V, E>,
        split: impl FnOnce(V) -> (T, End<'s, Q>),
    ) -> Result<T, E> {
        let ended = ended.and_then(|returned| {
            let (value, end) = split(returned);
            Ok(end.check(&self.role).map(|()| value)?)
        });
        match ended {
            Ok(_) => {
                self.is_in_session = false;
                self.role().complete();
            }
            Err(_) => self.abort(),
        }
        ended
    }

    #[cold]
    #[inline(never)]
    fn abort(&mut self) {
        self.is_in_session = false;
        participant::abort(self.role());
    }
}

impl<R: Role> Drop for SessionGuard<'_, R> {
    #[inline]
    fn drop(&mut self) {
        if self.is_in_session {
            self.abort();
        }
    }
}
