//! What all states have in common: the session in progress.

use std::marker::PhantomData;
use std::mem;
use std::num::NonZero;

use crate::error::{Error, ErrorKind, Result};
use crate::lent;
use crate::private::ByMacro;
use crate::role::Role;

/// A state of a session, such as [`Send`](super::Send) or [`End`](super::End), or a type that
/// `#[session]` made of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state of a session",
    label = "not a state of a session",
    note = "sessions are built from `Send`, `Receive`, `Select`, `Branch` and `End`; a type alias, struct or enum \
            of them needs the attribute `#[session]`"
)]
pub trait Session {
    /// The session in progress, as every state of it owns it: `State<'s, R>` in a session of the
    /// role `R`.
    ///
    /// The lifetime is here and no parameter of the trait, because the `Send` check of a future
    /// that holds a state forgets which lifetimes are equal: it would ask for a state of one
    /// session that is a state of another.
    type State;

    /// Does not compile unless a struct is what the build script verified.
    #[doc(hidden)]
    const BY_MACRO: ByMacro;

    /// Enters the state.
    #[doc(hidden)]
    fn from_state(state: Self::State) -> Self;

    /// Leaves the state. Only [`Detached`](crate::Detached) does.
    #[doc(hidden)]
    fn into_state(self, by: ByMacro) -> Self::State;
}

/// A session in progress: the exclusive right to use the routes of a role, which is
/// lent to it while its process is polled (`lent.rs`).
///
/// Invariant: between `try_run` and the end there is exactly one per session, because it can be
/// neither cloned nor constructed outside this crate.
pub struct State<'s, R: Role> {
    /// The address of the role.
    role: NonZero<usize>,
    session: PhantomData<&'s mut R>,
}

impl<'s, R: Role> State<'s, R> {
    /// The role. Only as long as an action is polled.
    ///
    /// Two roles without a size could have one address. They do not compile:
    ///
    /// ```compile_fail,E0080
    /// # mod ping { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/guide/ping.rs")); } use ping::*;
    /// # use std::task::{Context, Poll};
    /// # use rumpsteak_runtime::transport::{Link, Mark, Outgoing, RouteError};
    /// /// A route that keeps its mark, and all else, elsewhere.
    /// struct Elsewhere;
    /// impl Link for Elsewhere {
    ///     fn mark(&self) -> &Mark {
    ///         static MARK: Mark = Mark::new();
    ///         &MARK
    ///     }
    ///     fn close(&mut self) {}
    /// }
    /// # impl Outgoing<Label> for Elsewhere {
    /// #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), RouteError>> {
    /// #         Poll::Ready(Ok(()))
    /// #     }
    /// #     fn start_send(&mut self, _: Label) -> Result<(), RouteError> { Ok(()) }
    /// #     fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), RouteError>> {
    /// #         Poll::Ready(Ok(()))
    /// #     }
    /// # }
    /// #[derive(Role)]
    /// #[message(Label)]
    /// struct A(#[route(S)] Elsewhere);
    /// type Asks<'s, R = A> = Send<'s, R, S, Ping, End<'s, R>>;
    /// # rumpsteak_runtime::private::plays!(A: Asks);
    /// let mut role = A(Elsewhere);
    /// let asks = async |s: Asks<'_>| Ok::<_, Error>(((), s.send(Ping(1)).await?));
    /// let _ = futures::executor::block_on(try_run(&mut role, asks));
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Outside`] if nobody who runs the process of the session is polling it.
    ///
    /// # Panics
    ///
    /// If the state was [taken](Self::take).
    #[allow(unsafe_code, reason = "the role is with whoever runs the process")]
    #[inline(always)]
    pub(crate) fn role(&mut self) -> Result<&mut R> {
        const {
            assert!(
                size_of::<R>() > 0,
                "a role without a size has no session: its routes keep their marks elsewhere, and not in themselves"
            );
        }
        match lent::find(self.role) {
            // SAFETY: at this address there is the role of this session, borrowed for `'s`, and so,
            // as long as this state exists, no other role that could be lent: roles with a size do
            // not overlap. `SessionGuard` lends it and does not touch it before the poll returns,
            // in which the reference is used up. It is the only one: there is one state for a
            // session, and it is borrowed exclusively.
            Some(role) => Ok(unsafe { &mut *role.cast() }),
            None => Err(self.outside()),
        }
    }

    #[cold]
    #[inline(never)]
    fn outside(&self) -> Error {
        if self.is_taken() {
            polled_again()
        }
        ErrorKind::Outside { role: R::NAME }.into()
    }

    /// Takes the state out of the future of an action, which so has completed.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Self {
        mem::replace(self, Self { role: TAKEN, session: PhantomData })
    }

    /// Whether it was taken.
    pub(super) fn is_taken(&self) -> bool {
        self.role == TAKEN
    }

    /// Whether this is a state of the session of the role with this [`address`](lent::address).
    pub(crate) fn is_of(&self, role: NonZero<usize>) -> bool {
        self.role == role
    }
}

/// The state of a session of the role at this place, which is borrowed for `'s`.
///
/// No function of the type: rustc would propose it to whoever makes a state by hand.
pub(crate) fn state_of<'s, R: Role>(role: &R) -> State<'s, R> {
    State { role: lent::address(role), session: PhantomData }
}

/// In place of an address: no role begins at the last byte of all.
const TAKEN: NonZero<usize> = NonZero::<usize>::MAX;

/// A future of an action, or of a session, was polled after it had given its result.
#[cold]
#[inline(never)]
pub(crate) fn polled_again() -> ! {
    panic!("the future of an action was polled after it had completed")
}

/// The types that a state mentions. A function returns them, because the state has none of their
/// values: only its role decides whether it can move between threads.
pub(super) type Names<T> = PhantomData<fn() -> T>;

impl<R: Role> std::fmt::Debug for State<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(R::NAME, f)
    }
}
