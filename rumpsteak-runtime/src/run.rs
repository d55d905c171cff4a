//! Beginning and ending sessions.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::error::{Error, ErrorKind, Result};
use crate::guard::SessionGuard;
use crate::role::Role;
use crate::states::state::polled_again;
use crate::states::{Ends, Over, Plays, Process, State};

/// Runs `process` as a session of `role`.
///
/// The process gets the first state of a session type with `#[session(Role)]`, and returns its
/// value and the [end](crate::states::End) from the last action: `end.end(value)`. If a session has
/// no end, its process loops, and its value is [`Infallible`](std::convert::Infallible).
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
/// The bound `R: Plays<S>` is the proof that the session type was verified. Only macros make it.
///
/// # Errors
///
/// The error of the process; [`ErrorKind::Poisoned`] if an earlier session of this role did not
/// end; [`ErrorKind::Misplaced`] if a route is not where its set put it;
/// [`ErrorKind::SecondSession`] if the role can only run one session over its routes;
/// [`ErrorKind::SmallQueue`] if a queue has less room than its route declares;
/// [`ErrorKind::Members`] if a family has another number of members than the protocol fixes;
/// [`ErrorKind::ForeignEnd`] if the process returned the end of another session. On an error, the
/// role is poisoned, and peers that wait for it wake with [`ErrorKind::Closed`].
///
/// # Cancel safety
///
/// Not cancel safe: dropping the future in the middle of the session poisons the role and wakes its
/// peers, as a panic of the process does. Before the first poll, dropping it has no effect.
///
/// # Compiler errors
///
/// See [`guide::errors`](crate::guide::errors).
pub fn try_run<'s, R, S, T, E, F, P, A, Q, V, W>(
    role: &'s mut R,
    process: P,
) -> Running<'s, R, P, <F as Process<A>>::Itself, T, E, W>
where
    R: Role + Plays<S, State = State<'s, R>, Player = Q>,
    P: FnOnce(S) -> F,
    F: Process<A> + Future<Output = Result<V, E>>,
    Q: Ends<'s, V, T, W>,
    E: From<Error>,
{
    running(role, process)
}

/// [`try_run`], where `W` is not known from the process, and `X` may be. Used by the macro.
#[inline]
pub fn running<'s, R, S, T, E, F, P, A, Q, V, W, X>(
    role: &'s mut R,
    process: P,
) -> Running<'s, R, P, <F as Process<A>>::Itself, T, E, X>
where
    R: Role + Plays<S, State = State<'s, R>, Player = Q>,
    P: Begins<S, F>,
    F: Process<A> + Future<Output = Result<V, E>>,
    Q: Ends<'s, V, T, W>,
    E: From<Error>,
{
    let start = |running: Pin<&mut Running<'s, R, P, _, T, E, X>>, context: &Context<'_>| {
        let mut this = running.project();
        let Some(process) = this.begins.take() else { polled_again() };
        const {
            assert!(R::VERIFIED, "a session of this role was not verified, and no error says why");
        }
        this.guard.check()?;
        if this.guard.poll_begin(context).is_pending() {
            *this.begins = Some(process);
        } else {
            let begin = |state| this.process.set(Some(process.begin(R::begin(state)).itself()));
            this.guard.begin(begin);
        }
        Ok(())
    };
    let finish =
        |ended, guard: &mut SessionGuard<'s, R>| guard.end(ended, <Q as Ends<'s, V, T, W>>::split);
    Running { start, begins: Some(process), process: None, guard: SessionGuard::new(role), finish }
}

/// A process that has not begun.
pub trait Begins<S, F> {
    /// Begins the process in the first state of its session.
    fn begin(self, session: S) -> F;
}

impl<S, F, P: FnOnce(S) -> F> Begins<S, F> for P {
    #[inline]
    fn begin(self, session: S) -> F {
        self(session)
    }
}

/// The process that all members of a family run, for the member of an index. Used by the macro.
#[derive(Debug)]
pub struct Shared<P>(Arc<P>, usize);

impl<S, F, P: Fn(usize, S) -> F> Begins<S, F> for Shared<P> {
    fn begin(self, session: S) -> F {
        (self.0)(self.1, session)
    }
}

/// Runs the process of a family for each member. Used by the macro.
pub fn family<'s, R: Role, P, J: Future>(
    members: &'s mut [R],
    process: P,
    run: fn(&'s mut R, Shared<P>) -> J,
) -> RunningFamily<J, J::Output> {
    let process = Arc::new(process);
    let of = |(index, member)| Err(Box::pin(run(member, Shared(Arc::clone(&process), index))));
    RunningFamily { members: members.iter_mut().enumerate().map(of).collect() }
}

/// The futures of all members of a family, as one future of their values.
#[allow(missing_debug_implementations, reason = "only generated code has one")]
pub struct RunningFamily<J, O> {
    /// The value of each member, or its future while it runs.
    members: Vec<Result<O, Pin<Box<J>>>>,
}

impl<J, O> Unpin for RunningFamily<J, O> {}

impl<J: Future<Output = Result<T>>, T> Future for RunningFamily<J, Result<T>> {
    type Output = Result<Vec<T>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Vec<T>>> {
        let Self { members } = self.get_mut();
        for member in &mut *members {
            if let Err(running) = member
                && let Poll::Ready(done) = running.as_mut().poll(context)
            {
                *member = Ok(done);
            }
        }
        if members.iter().any(Result::is_err) {
            return Poll::Pending;
        }
        let (mut done, mut errors) = (Vec::new(), Vec::new());
        let results = members.drain(..).flatten();
        results.for_each(|it| it.map_or_else(|error| errors.push(Some(error)), |it| done.push(it)));
        Poll::Ready(if errors.is_empty() { Ok(done) } else { Err(root_cause(errors)) })
    }
}

pin_project! {
    /// The future of [`try_run`].
    ///
    /// Not an `async fn`, which would repeat its bounds at each use: rustc would report three times
    /// that a session was never verified, or that a process does not return its end.
    #[must_use = "no session begins unless you `await` the future"]
    pub struct Running<'s, R: Role, P, F: Future, T, E, W = Over> {
        // Called once per session, so kept out of the way of the polls.
        start: fn(Pin<&mut Running<'s, R, P, F, T, E, W>>, &Context<'_>) -> Result<(), E>,
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
        // No shared reference to the pinned process, which may borrow from itself.
        if self.as_mut().project().process.as_pin_mut().is_none() {
            (self.start)(self.as_mut(), context)?;
        }
        let mut this = self.project();
        // `None` while the session may not begin yet.
        let Some(process) = this.process.as_mut().as_pin_mut() else { return Poll::Pending };
        let ended = ready!(this.guard.poll(process, context));
        this.process.set(None);
        Poll::Ready((this.finish)(ended, this.guard))
    }
}

impl_debug!([R: Role, P, F: Future, T, E, W] Running<'_, R, P, F, T, E, W>, "role": |_| R::NAME);

pin_project! {
    /// The future of the method `run` of a set of roles, which runs one process per role.
    ///
    /// Its output has the values of all processes, or the first error that no other one caused.
    #[must_use = "no session begins unless you `await` the future"]
    pub struct RunningAll<J: Future, T, W = Over> {
        error: Option<ErrorKind>,
        #[pin]
        processes: J,
        finish: fn(J::Output) -> Result<T>,
        ends: PhantomData<fn() -> W>,
    }
}

impl<J: Future, T, W> RunningAll<J, T, W> {
    /// An error, or else the processes and what combines their results. Used by the macro.
    #[doc(hidden)]
    #[inline]
    pub fn new(error: Option<ErrorKind>, processes: J, finish: fn(J::Output) -> Result<T>) -> Self {
        Self { error, processes, finish, ends: PhantomData }
    }
}

/// An error if a route is from another set in this process than the first one. Used by the macro.
#[inline]
pub fn other_set<R: Role>(role: &R, first: &mut Option<usize>) -> Option<ErrorKind> {
    let mut other = None;
    role.for_each_mark(|route, mark| {
        let set = mark.place().map(|(set, _)| set).filter(|set| *set <= isize::MAX as usize);
        if set.is_some_and(|set| *first.get_or_insert(set) != set) {
            other = Some(route);
        }
    });
    Some(ErrorKind::Misplaced { role: R::NAME, route: other?, belongs: None })
}

/// [`other_set`] of a member, or an error if its index was another one. Used by the macro.
pub fn other_member<R: Role>(at: usize, it: &R, first: &mut Option<usize>) -> Option<ErrorKind> {
    let mut error = other_set(it, first);
    it.for_each_mark(|route, mark| {
        if ![0, at + 1].contains(&mark.member.load(Relaxed).into()) {
            let belongs = Some((R::NAME, ""));
            error.get_or_insert(ErrorKind::Misplaced { role: R::NAME, route, belongs });
        }
    });
    error
}

/// Returns the first error that is not the consequence of another one: an [`ErrorKind::Closed`] is
/// a consequence if there is another error.
#[cold]
pub fn root_cause(errors: impl IntoIterator<Item = Option<Error>>) -> Error {
    let is_cause = |error: &Error| !matches!(error.kind(), ErrorKind::Closed { .. });
    let mut all: Vec<_> = errors.into_iter().flatten().collect();
    let cause = all.iter().position(is_cause).unwrap_or(0);
    assert!(!all.is_empty(), "one of the processes has failed");
    all.swap_remove(cause)
}

impl<J: Future, T> Future for RunningAll<J, T> {
    type Output = Result<T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let this = self.project();
        if let Some(error) = this.error.take() {
            return Poll::Ready(Err(error.into()));
        }
        Poll::Ready((this.finish)(ready!(this.processes.poll(context))))
    }
}

impl_debug!([J: Future, T, W] RunningAll<J, T, W>);
