//! The guard of a session, which owns the borrow of the role and aborts unfinished sessions.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::{Error, ErrorKind, Result};
use crate::lending::Lender;
use crate::role::{Role, participant, poisoning};
use crate::states::{End, State};
use crate::testing;
use crate::watch::{self, Doing};

/// A role while its process runs. Dropping the guard in the middle of the session aborts it: the
/// role is poisoned, and its peers wake.
pub(crate) struct SessionGuard<'s, R: Role> {
    role: Lender<'s, R>,
    state: State<'s, R>,
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
            state: State { claim, owned: R::NOT_OWNED },
            is_in_session: false,
            #[cfg(feature = "tracing")]
            span: tracing::Span::none(),
        }
    }

    /// Checks that the role may begin a session.
    #[inline]
    pub(crate) fn check(&mut self) -> Result<()> {
        let role = self.role();
        let is_plain = participant::is_plain(role) && !cfg!(feature = "tracing");
        let is_misplaced = participant::misplaced(role).is_some();
        if !is_plain || is_misplaced || participant::is_used_up(role) || role.unfit().is_some() {
            return self.look_closer();
        }
        Ok(())
    }

    /// Fails with the reason why the role cannot begin a session, unless it is only watched.
    #[cold]
    #[inline(never)]
    fn look_closer(&mut self) -> Result<()> {
        let role = self.role();
        let kind = match (participant::misplaced(role), role.unfit()) {
            _ if role.is_poisoned() => ErrorKind::Poisoned { role: R::NAME },
            (Some((route, belongs)), _) => ErrorKind::Misplaced { role: R::NAME, route, belongs },
            (None, Some(unfit)) => unfit,
            (None, None) if participant::is_used_up(role) => {
                ErrorKind::SecondSession { role: R::NAME, peer: R::ONCE.unwrap_or_default() }
            }
            (None, None) => {
                self.watch();
                return Ok(());
            }
        };
        // The future of an earlier session may have been leaked, so wake its peers.
        poisoning::abort(role);
        Err(kind.into())
    }

    /// Lets the session be [watched](crate::watch) if the role is.
    pub(crate) fn watch(&mut self) {
        if watch::begins(self.role()) {
            self.state.claim.watch();
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
        poisoning::enter(self.role());
        self.is_in_session = true;
        #[cfg(feature = "tracing")]
        let _entered = {
            let (set, number) = participant::session(self.role());
            self.span = tracing::trace_span!(
                target: "rumpsteak",
                "session",
                protocol = R::PROTOCOL,
                role = R::NAME,
                session = format_args!("{set}.{number}")
            );
            self.span.clone().entered()
        };
        let state = self.state.take();
        self.role.lend(|| process(state))
    }

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
            if watch::IS_ON {
                watch::changes(self.role(), Doing::WaitsToBegin);
            }
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
                if watch::IS_ON {
                    watch::changes(self.role(), Doing::Ended);
                }
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
        poisoning::abort(self.role());
        watch::changes(self.role(), Doing::Aborted);
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
