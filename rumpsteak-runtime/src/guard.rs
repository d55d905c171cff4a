//! The guard of a session, which owns the borrow of the role and aborts unfinished sessions.

use std::mem::{self, ManuallyDrop};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::{Error, Result};
use crate::lending::{Claim, Lender};
use crate::role::Role;
use crate::role::participant;
use crate::states::state::state_of;
use crate::states::{End, State};
use crate::{testing, watch};

/// A role while its process runs. Dropping the guard in the middle of the session aborts it: the
/// role is poisoned, and its peers wake.
pub(crate) struct SessionGuard<'s, R: Role> {
    role: Lender<'s, R>,
    /// The claim of the first state, until the session begins. Its destructor has nothing to say.
    claim: ManuallyDrop<Claim<'s, R>>,
    is_in_session: bool,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

impl<'s, R: Role> SessionGuard<'s, R> {
    /// The guard of a role whose session has not begun.
    #[inline]
    pub(crate) fn new(role: &'s mut R) -> Self {
        let (role, claim) = Lender::new(role);
        Self {
            role,
            claim: ManuallyDrop::new(claim),
            is_in_session: false,
            #[cfg(feature = "tracing")]
            span: tracing::Span::none(),
        }
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
        #[cfg(feature = "tracing")]
        {
            let (set, number) = participant::session(self.role());
            self.span = tracing::trace_span!(
                target: "rumpsteak",
                "session",
                protocol = R::PROTOCOL,
                role = R::NAME,
                session = format_args!("{set}.{number}")
            );
        }
        #[cfg(feature = "tracing")]
        let _entered = self.span.enter();
        let claim = ManuallyDrop::new(Claim::none());
        let state = state_of(ManuallyDrop::into_inner(mem::replace(&mut self.claim, claim)));
        self.role.lend(|| process(state))
    }

    /// Polls the process of the session.
    #[inline]
    pub(crate) fn poll<F: Future>(
        &mut self,
        process: Pin<&mut F>,
        context: &mut Context<'_>,
    ) -> Poll<F::Output> {
        #[cfg(feature = "tracing")]
        let _entered = self.span.enter();
        self.role.lend(|| process.poll(context))
    }

    /// Waits until the next session of the role may begin.
    #[inline]
    pub(crate) fn poll_begin(&mut self, context: &Context<'_>) -> Poll<()> {
        let begun = self.role().poll_begin(context.waker());
        if begun.is_pending() {
            testing::waits_to_begin(R::NAME);
            watch::waits_to_begin(self.role());
        }
        begun
    }

    /// Ends the session with the result of its process. Fails with the error of the process or with
    /// [`ErrorKind::ForeignEnd`](crate::ErrorKind::ForeignEnd).
    #[inline]
    pub(crate) fn end<T, E: From<Error>, Q: Role>(
        &mut self,
        ended: Result<(T, End<'s, Q>), E>,
    ) -> Result<T, E> {
        let ended = ended.and_then(|(value, end)| Ok(end.check(&self.role).map(|()| value)?));
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
        watch::aborted(self.role());
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
