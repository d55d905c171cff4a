//! Sessions that own their role.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use crate::error::Result;
use crate::guard::SessionGuard;
use crate::lending::Claim;
use crate::role::participant::Participant;
use crate::role::{Role, Route, poisoning};
use crate::seal::{ByMacro, Played};
use crate::states::{End, Holds, Session, State};
use crate::transport::Mark;
use crate::transport::capacity::Capacity;
use crate::watch::Watching;

/// A role that its session owns.
///
/// In the place of the role, it turns a session type into a value without a process:
/// `Client<'static, Held<C>>` is the session `Client` of the role `C`, to be kept in a struct, in a
/// `Vec`, or between two requests. It has the same methods, and each returns the next state, which
/// owns the role in turn. [`hold`] begins such a session.
///
/// Dropping a state, or the future of an action, drops the role: the session is aborted, and its
/// peers wake with [`ErrorKind::Closed`](crate::ErrorKind::Closed). The end of the session gives
/// the role back: see [`End::into_role`].
///
/// See [`guide::server`](crate::guide::server) for a server, an actor, and an HTTP handler.
pub struct Held<R>(R, #[expect(dead_code, reason = "its destructor counts")] Watching);

/// Begins a session that owns its role, in the first state of a session type with
/// `#[session(Role)]`.
///
/// ```
/// # use rumpsteak_doctests::*;
/// # use futures::executor::block_on;
/// use rumpsteak::{Held, hold};
///
/// struct Asking {
///     question: i32,
///     session: Client<'static, Held<C>>,
/// }
///
/// # block_on(async {
/// let Roles { c, mut s } = Roles::default();
/// let asking = Asking { question: 1, session: hold(c).await? };
///
/// let asked = asking.session.send(Ping(asking.question)).await?;
/// try_run(&mut s, server).await?;
/// let (Pong(answer), end) = asked.receive().await?;
/// let c: C = end.into_role(); // for the next session
/// # drop(c);
/// assert_eq!(answer, 2);
/// # Ok::<(), Error>(())
/// # })?;
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// As [`try_run`](crate::try_run), before its process begins.
///
/// # Cancel safety
///
/// Not cancel safe: dropping the future drops the role, and its peers wake. It only waits if the
/// role is a session ahead of a peer.
pub async fn hold<R, S>(mut role: R) -> Result<S>
where
    R: Role + Holds<S>,
    S: Session<State = State<'static, Held<R>>>,
{
    const {
        assert!(R::VERIFIED, "a session of this role was not verified, and no error says why");
    }
    let mut guard = SessionGuard::new(&mut role);
    guard.check()?;
    let watching = Watching::new(guard.role());
    poll_fn(|context| guard.poll_begin(context)).await;
    drop(guard);
    poisoning::enter(&role);
    Ok(S::from_state(held(role, watching)))
}

/// The state of a session that is in progress.
pub(crate) fn held<R: Role>(role: R, watching: Watching) -> State<'static, Held<R>> {
    let is_watched = watching.set.is_some();
    let mut state = State { claim: Claim::none(), owned: Some(Box::new(Held(role, watching))) };
    if is_watched {
        state.claim.watch();
    }
    state
}

pub(crate) fn into_role<R: Role>(state: State<'_, Held<R>>) -> R {
    // Only a future gives its state away and remains, and nothing takes the state of a future.
    let Some(role) = state.owned else { unreachable!("the state owns its role") };
    role.0
}

impl<R: Role> End<'_, Held<R>> {
    /// The role of a session that has ended, for its next session.
    ///
    /// The session is complete in any case: dropping the end drops the role, which has left in
    /// order.
    #[must_use = "dropping the role closes its routes"]
    pub fn into_role(self) -> R {
        into_role(self.into_state(ByMacro(())))
    }
}

#[diagnostic::do_not_recommend]
impl<R: Role> Role for Held<R> {
    const PLAYED: ByMacro<Played> = R::PLAYED;

    type Message = R::Message;
}

#[diagnostic::do_not_recommend]
impl<R: Route<P>, P> Route<P> for Held<R> {
    type Link = R::Link;

    const CAPACITY: ByMacro<Capacity> = R::CAPACITY;

    #[inline]
    fn route(&mut self) -> &mut R::Link {
        self.0.route()
    }
}

#[diagnostic::do_not_recommend]
impl<R: Role> Participant for Held<R> {
    const ROUTES: usize = R::ROUTES;

    const ONCE: Option<&'static str> = R::ONCE;

    type Itself = Self;
    type Owned = Option<Box<Self>>;

    const NOT_OWNED: Self::Owned = None;

    #[inline]
    fn owned(owned: &mut Self::Owned) -> Option<&mut Self> {
        owned.as_deref_mut()
    }

    fn for_each_mark<'a>(&'a self, visit: impl FnMut(&'static str, &'a Mark)) {
        self.0.for_each_mark(visit);
    }

    fn poll_begin(&mut self, waker: &Waker) -> Poll<()> {
        self.0.poll_begin(waker)
    }

    fn complete(&mut self) {
        self.0.complete();
    }

    fn close(&mut self) {
        self.0.close();
    }
}

impl_debug!([R: Role] Held<R>, "role": |_| R::NAME);
