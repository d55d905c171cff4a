//! Sessions that change hands.

use std::fmt;
use std::marker::PhantomData;

use crate::error::{Error, ErrorKind, Result};
use crate::guard::SessionGuard;
use crate::role::Role;
use crate::role::fingerprint::Structure;
use crate::role::participant::{self, Leaves};
use crate::seal::ByMacro;
use crate::states::proof::InRole;
use crate::states::{End, Session, State};

/// A session that was taken from its process, from the state `S` on: whoever has it goes on with
/// it. It owns the routes of its role, so that it can be sent to another role as (part of) a
/// payload; in Scribble, `Protocol@role` is the sort of such a payload. In the literature this is
/// *delegation*.
///
/// `S` is a state of a verified session, of whatever lifetime: `Detached<Rest<'static, K>>` for a
/// session of the role `K` that goes on with `type Rest = …;`. The types guarantee that
/// the session is in that state, so what is done with it was verified with the session as a whole:
/// its peers cannot tell.
///
/// The process that gives a session away has its [`End`] instead, and returns that. Its role has no
/// routes then and is [poisoned](Role::is_poisoned) until it is reset.
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
/// // … and another one goes on with it.
/// let asked = taken.run(async |s: Client<'_>| {
///     let (Pong(answer), end) = s.send(Ping(1)).await?.receive().await?;
///     Ok::<_, Error>((answer, end))
/// });
/// assert_eq!(block_on(try_join(asked, try_run(&mut s, server)))?, (2, ()));
/// assert!(c.is_poisoned());
/// # Ok::<(), Error>(())
/// ```
///
/// Dropping it ends the session: its peers wake with [`ErrorKind::Closed`].
#[must_use = "the session ends here unless somebody goes on with it"]
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
    /// Takes a session away. The second value ends the process that had it.
    ///
    /// `N` is the same state as `S`, with the lifetime of the process: anything else does not
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

    /// Goes on with the session, to its end: as [`try_run`](crate::try_run), from the state `N` on,
    /// which is `S` with another lifetime.
    ///
    /// # Errors
    ///
    /// What the process returns; [`ErrorKind::ForeignEnd`] if that is the end of another session;
    /// [`ErrorKind::Poisoned`] if the session was gone on with before.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: dropping the future in the middle of the session ends it.
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
        let ended = guard.run(|state| process(N::from_state(state))).await;
        let ended = guard.end(ended);
        if ended.is_ok() {
            // The role was there for this session only.
            guard.role().close();
        }
        ended
    }

    /// For `rumpsteak-net`: the role in the middle of its session, unless that was gone on with.
    #[doc(hidden)]
    pub fn into_role(self, _: ByMacro) -> Option<R> {
        (!self.has_begun).then_some(self.role)
    }

    /// For `rumpsteak-net`: the opposite. The routes are taken from the role.
    #[doc(hidden)]
    pub fn from_role(role: &mut R, _: ByMacro) -> Self
    where
        R: Leaves<()>,
    {
        let role = role.take();
        participant::begin(&role);
        Self { role, has_begun: false, session: PhantomData }
    }
}

/// Does not compile unless both are one state.
const fn assert_same<N: Structure, S: Structure>() {
    assert!(
        N::FINGERPRINT == S::FINGERPRINT,
        "a session goes on from the state in which it was taken away, and from no other"
    );
}

impl<S: Session<State: InRole>> fmt::Debug for Detached<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = <<S::State as InRole>::Role as Role>::NAME;
        f.debug_struct("Detached").field("role", &role).finish_non_exhaustive()
    }
}
