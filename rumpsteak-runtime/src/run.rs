//! Beginning and ending sessions.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::error::{Error, ErrorKind, Result};
use crate::guard::SessionGuard;
use crate::role::Role;
use crate::role::participant::{self, Misplaced};
use crate::states::Plays;
use crate::states::Process;
use crate::states::state::polled_again;
use crate::states::{End, State};

/// Runs `process` as a session of `role`, where the process may fail.
///
/// The process gets the first state of a session type that carries `#[session(Role)]`, and returns
/// its value together with the [`End`] that the last action gave it: `end.end(value)`. A session
/// without an end runs for ever: its process loops, and its value is
/// [`Infallible`](std::convert::Infallible).
///
/// ```
/// # use rumpsteak_doctests::*;
/// # use futures::executor::block_on;
/// let Roles { mut c, mut s } = Roles::default();
/// let serving = std::thread::spawn(move || block_on(try_run(&mut s, server)));
/// let asked = try_run(&mut c, async |s: Client<'_>| {
///     let (Pong(answer), s) = s.send(Ping(41)).await?.receive().await?;
///     s.end(answer)
/// });
/// assert_eq!(block_on(asked)?, 42);
/// # serving.join().unwrap()?;
/// # Ok::<(), Error>(())
/// ```
///
/// The session type must have been verified: `R: Plays<S>` is the proof, which only the macro of
/// a module gives.
///
/// # Errors
///
/// What the process returns; [`ErrorKind::Poisoned`] if an earlier session of this role did not
/// end; [`ErrorKind::Misplaced`] if a route is not where its set put it;
/// [`ErrorKind::SecondSession`] if the role has one session over its routes;
/// [`ErrorKind::ForeignEnd`] if the process returned the end of another session. Unless the result
/// is `Ok`, the role is poisoned afterwards, and peers that wait for it wake with
/// [`ErrorKind::Closed`].
///
/// # Cancel safety
///
/// Not cancel safe: dropping the future in the middle of the session poisons the role and wakes its
/// peers, as a panic of the process does. Dropping it before it was first polled has no effect.
///
/// # What rustc says
///
/// If a process returns another state than the end, rustc marks the expression in a function whose
/// type is [`Ended`](crate::Ended), and the whole process in a closure without a type: see
/// [`guide::errors`](crate::guide::errors).
pub fn try_run<'s, R, S, T, E, F, P, A, Q>(
    role: &'s mut R,
    process: P,
) -> Running<'s, R, P, <F as Process<A>>::Itself, T, E>
where
    R: Role + Plays<S, State = State<'s, R>, Player = Q>,
    P: FnOnce(S) -> F,
    F: Process<A> + Future<Output = Result<(T, End<'s, Q>), E>>,
    Q: Role,
    E: From<Error>,
{
    let start = |running: Pin<&mut Running<'s, R, P, F::Itself, T, E>>, context: &Context<'_>| {
        let mut this = running.project();
        let Some(process) = this.begins.take() else { polled_again() };
        check::<R, S>(this.guard.role())?;
        if this.guard.poll_begin(context).is_pending() {
            *this.begins = Some(process);
        } else {
            let begin = |state| this.process.set(Some(process(R::begin(state)).itself()));
            this.guard.begin(begin);
        }
        Ok(())
    };
    let finish = |ended, guard: &mut SessionGuard<'s, R>| guard.end::<T, E, Q>(ended);
    let guard = SessionGuard::new(role);
    Running { start, begins: Some(process), process: None, guard, finish }
}

pin_project! {
    /// The future of [`try_run`].
    ///
    /// It is no `async fn`, whose future would repeat its bounds wherever it is used: rustc would
    /// say three times of a session that it was never verified, or of a process that it does not
    /// return its end.
    #[must_use = "no session begins unless you `await` the future"]
    pub struct Running<'s, R: Role, P, F: Future, T, E> {
        // Once for each session, so out of the way of its polls.
        start: fn(Pin<&mut Running<'s, R, P, F, T, E>>, &Context<'_>) -> Result<(), E>,
        begins: Option<P>,
        // Dropped before the guard, which then aborts the session.
        #[pin]
        process: Option<F>,
        guard: SessionGuard<'s, R>,
        finish: fn(F::Output, &mut SessionGuard<'s, R>) -> Result<T, E>,
    }
}

impl<R: Role, P, F: Future, T, E> Future for Running<'_, R, P, F, T, E> {
    type Output = Result<T, E>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, E>> {
        // Without a shared reference to what is pinned, which may borrow from itself.
        if self.as_mut().project().process.as_pin_mut().is_none() {
            (self.start)(self.as_mut(), context)?;
        }
        let mut this = self.project();
        // It waits until it may begin.
        let Some(process) = this.process.as_mut().as_pin_mut() else { return Poll::Pending };
        let ended = ready!(this.guard.poll(process, context));
        this.process.set(None);
        Poll::Ready((this.finish)(ended, this.guard))
    }
}

impl<R: Role, P, F: Future, T, E> fmt::Debug for Running<'_, R, P, F, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("role", &R::NAME).finish_non_exhaustive()
    }
}

pin_project! {
    /// The future of the method `run` of a set of roles, which runs one process for each role.
    ///
    /// Its value is the values of all processes. If any of them fails, it is the first error that
    /// is not the consequence of another one.
    #[must_use = "no session begins unless you `await` the future"]
    pub struct RunningAll<J: Future, T> {
        #[pin]
        processes: J,
        finish: fn(J::Output) -> Result<T>,
    }
}

impl<J: Future, T> RunningAll<J, T> {
    /// For the macro: the processes, and how their results become one.
    #[doc(hidden)]
    #[inline]
    pub fn new(processes: J, finish: fn(J::Output) -> Result<T>) -> Self {
        Self { processes, finish }
    }
}

impl<J: Future, T> Future for RunningAll<J, T> {
    type Output = Result<T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let this = self.project();
        Poll::Ready((this.finish)(ready!(this.processes.poll(context))))
    }
}

impl<J: Future, T> fmt::Debug for RunningAll<J, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningAll").finish_non_exhaustive()
    }
}

/// Runs `process` as a session of `role`, where the process itself handles all errors.
///
/// As [`try_run`], with a process that returns `(value, end)`. Since an action that fails leaves no
/// way to the [`End`], this suits processes that diverge, panic, or have nothing to do.
pub async fn run<'s, R, S, T, F, P>(role: &'s mut R, process: P) -> Result<T>
where
    R: Role + Plays<S, State = State<'s, R>>,
    P: FnOnce(S) -> F,
    F: Future<Output = (T, End<'s, R>)>,
{
    check::<R, S>(role)?;
    let mut guard = SessionGuard::new(role);
    poll_fn(|context| guard.poll_begin(context)).await;
    let ended = guard.run(|state| process(R::begin(state))).await;
    guard.end(Ok(ended))
}

/// Checks that a session of the role may begin.
#[inline]
fn check<R: Role + Plays<S>, S>(role: &mut R) -> Result<()> {
    const {
        assert!(R::VERIFIED, "a session of this role was not verified, and no error says why");
    }
    let is_second = R::ONCE.is_some() && participant::has_completed(role);
    if role.is_poisoned() || participant::misplaced(role).is_some() || is_second {
        return Err(refused(role));
    }
    Ok(())
}

/// Why the role cannot begin a session.
#[cold]
#[inline(never)]
fn refused<R: Role>(role: &mut R) -> Error {
    let kind = match participant::misplaced(role) {
        Some(Misplaced { route, belongs }) if !role.is_poisoned() => ErrorKind::Misplaced {
            role: R::NAME,
            route,
            belongs: belongs.map(|place| (place.role, place.peer)),
        },
        _ if !role.is_poisoned() => {
            let peer = R::ONCE.unwrap_or_default();
            ErrorKind::SecondSession { role: R::NAME, peer }
        }
        _ => ErrorKind::Poisoned { role: R::NAME },
    };
    // The future of an earlier session may have been leaked: make sure that its peers wake.
    participant::abort(role);
    kind.into()
}
