//! Sessions that change hands.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::pin;

use crate::error::{Error, ErrorKind, Result};
use crate::guard::SessionGuard;
use crate::held::{Held, held, into_role};
use crate::role::fingerprint::Structure;
use crate::role::participant::Leaves;
use crate::role::{Role, poisoning};
use crate::seal::ByMacro;
use crate::states::proof::InRole;
use crate::states::{End, Session, State};
use crate::watch::Watching;

/// A session that was taken from its process in the state `S`. Its owner can continue it.
///
/// It owns the routes of its role, so it can be sent to another role as (part of) a payload, whose
/// sort in Scribble is `Protocol@role`. The literature calls this *delegation*.
///
/// `S` is a state of a verified session with the lifetime `'static`: `Detached<Rest<'static, K>>`
/// for a session of the role `K` that continues as `type Rest = …;`. The types guarantee that the
/// session is in that state, so its continuation was verified with the whole session, and its peers
/// cannot tell the difference.
///
/// The process that gives a session away returns its [`End`]. Its role then has no routes and is
/// [poisoned](Role::is_poisoned) until it is reset.
///
/// ```
/// # use rumpsteak_doctests::*;
/// # use futures::{executor::block_on, future::try_join};
/// use rumpsteak::{Detached, Role as _};
///
/// let Roles { mut c, mut s } = Roles::default();
/// // One process begins the session of the client …
/// let taken: Result<Detached<Client<'static>>> =
///     block_on(try_run(&mut c, async |s: Client<'_>| Ok(Detached::new(s))));
/// let mut taken = taken?;
/// // … and another one continues it.
/// let asked = taken.run(async |s: Client<'_>| {
///     let (Pong(answer), end) = s.send(Ping(1)).await?.receive().await?;
///     Ok::<_, Error>((answer, end))
/// });
/// assert_eq!(block_on(try_join(asked, try_run(&mut s, server)))?, (2, ()));
/// assert!(c.is_poisoned());
/// # Ok::<(), Error>(())
/// ```
///
/// Dropping it aborts the session: its peers wake with [`ErrorKind::Closed`].
#[must_use = "the session is aborted here unless you `run` it or give it away"]
pub struct Detached<S: Session<State: InRole>> {
    role: <S::State as InRole>::Role,
    has_begun: bool,
    session: PhantomData<fn() -> S>,
}

impl<S, R> Detached<S>
where
    S: Session<State = State<'static, R>> + Structure,
    R: Role,
{
    /// Takes a session away. The second value ends the process.
    ///
    /// `N` is the same state as `S`, with the lifetime of the process. Any other state does not
    /// compile.
    ///
    /// ```compile_fail,E0080
    /// # use rumpsteak_doctests::*;
    /// # use rumpsteak::{Detached, states::End};
    /// # let mut roles = Roles::default();
    /// let taken = try_run(&mut roles.c, async |s: Client<'_>| {
    ///     let ended: (Detached<End<'static, C>>, _) = Detached::new(s);
    ///     Ok::<_, Error>(ended)
    /// });
    /// # let _ = futures::executor::block_on(taken);
    /// ```
    /// Panics if the session is [used outside of its process](ErrorKind::Outside).
    pub fn new<'s, N>(session: N) -> (Self, End<'s, R>)
    where
        N: Session<State = State<'s, R>> + Structure,
        R: Leaves<()>,
    {
        const { assert_same::<N, S>() };
        let mut state = session.into_state(ByMacro(()));
        let role = match state.role() {
            Ok(role) => role.take(),
            Err(error) => panic!("{error}"),
        };
        (Self { role, has_begun: false, session: PhantomData }, End::from_state(state))
    }

    /// Continues the session to its end, as [`try_run`](crate::try_run) runs one. `N` is the state
    /// `S` with another lifetime.
    ///
    /// # Errors
    ///
    /// The error of the process; [`ErrorKind::ForeignEnd`] if it returned the end of another
    /// session; [`ErrorKind::Poisoned`] if the session was already continued.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: dropping the future in the middle of the session aborts it.
    pub async fn run<'s, N, T, E, F, P>(&'s mut self, process: P) -> Result<T, E>
    where
        N: Session<State = State<'s, R>> + Structure,
        P: FnOnce(N) -> F,
        F: Future<Output = Result<(T, End<'s, R>), E>>,
        E: From<Error>,
    {
        const { assert_same::<N, S>() };
        if std::mem::replace(&mut self.has_begun, true) {
            return Err(Error::from(ErrorKind::Poisoned { role: R::NAME }).into());
        }
        let mut guard = SessionGuard::new(&mut self.role);
        guard.watch();
        let ended = {
            let mut process = pin!(guard.begin(|state| process(N::from_state(state))));
            poll_fn(|context| guard.poll(process.as_mut(), context)).await
        };
        let ended = guard.end(ended, |returned| returned);
        if ended.is_ok() {
            // The role existed for this session only.
            guard.role().close();
        }
        ended
    }

    /// Continues the session as a state that owns its role: `N` is the state `S` of the role
    /// [`Held<R>`](Held).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Poisoned`] if the session was already continued.
    pub fn hold<N>(self) -> Result<N>
    where
        N: Session<State = State<'static, Held<R>>> + Structure,
    {
        const { assert_same::<N, S>() };
        let role = self.into_role(ByMacro(())).ok_or(ErrorKind::Poisoned { role: R::NAME })?;
        let watching = Watching::new(&role);
        Ok(N::from_state(held(role, watching)))
    }

    /// The session of a state that owns its role: `N` is the state `S` of the role
    /// [`Held<R>`](Held).
    pub fn from_held<N>(session: N) -> Self
    where
        N: Session<State = State<'static, Held<R>>> + Structure,
    {
        const { assert_same::<N, S>() };
        let role = into_role(session.into_state(ByMacro(())));
        Self { role, has_begun: false, session: PhantomData }
    }

    /// The role in the middle of its session, unless the session was continued. Used by
    /// `rumpsteak-net`.
    #[doc(hidden)]
    pub fn into_role(self, _: ByMacro) -> Option<R> {
        (!self.has_begun).then_some(self.role)
    }

    /// Takes the routes from a role, in the middle of its session. Used by `rumpsteak-net`.
    #[doc(hidden)]
    pub fn from_role(role: &mut R, _: ByMacro) -> Self
    where
        R: Leaves<()>,
    {
        let role = role.take();
        poisoning::enter(&role);
        Self { role, has_begun: false, session: PhantomData }
    }
}

const fn assert_same<N: Structure, S: Structure>() {
    assert!(
        N::FINGERPRINT == S::FINGERPRINT,
        "a session continues in the state in which it was taken, and in no other"
    );
}

impl_debug!([S: Session<State: InRole>] Detached<S>, "role": |_| <<S::State as InRole>::Role as Role>::NAME);
