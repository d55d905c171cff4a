//! The states of a session: the generic primitives of PPoPP'22 §2.1 from which each session type is
//! built.
//!
//! A state owns the right to perform one action. Performing it consumes the state and returns the
//! next, so that Rust's affine types enforce the order; a state cannot be made, copied or used
//! twice. All states of a session share one [`State`], which borrows the role. Where it is dropped
//! before the session ends, the role is poisoned.

mod branch;
mod end;
mod receive;
mod select;
mod send;

pub use branch::{Branch, Branching};
pub use end::End;
pub use receive::{Receive, Receiving};
pub use select::Select;
pub use send::{Returning, Send, Sending};

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::task::{Context, Poll, ready};

use crate::error::{Action, Error, ErrorKind};
use crate::message::Message;
use crate::role::{Role, Route};
use crate::route::{Incoming, Outgoing, RouteError};

/// A state of a session, such as [`Send`] or [`End`], or a type that `#[session]` made of them.
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

    /// Enters the state.
    #[doc(hidden)]
    fn from_state(state: Self::State) -> Self;
}

/// The alternatives of a [`Select`] or [`Branch`]. Implemented by `#[session]` on an enum.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a choice",
    label = "not a choice",
    note = "a choice is an enum with `#[session]`, with a label and what follows in each variant: `Stop(Stop, End)`"
)]
pub trait Choice: Sized {
    /// The message type of the role that selects or branches.
    type Message;

    /// The session in progress, as in [`Session::State`].
    type State;

    /// The names of the labels in the protocol.
    const LABELS: &'static [&'static str];

    /// Does not compile unless the choice is what the build script verified: see
    /// `private::fingerprint`.
    #[doc(hidden)]
    const VERIFIED: ();

    /// Enters the alternative that `message` names.
    ///
    /// # Errors
    ///
    /// What it was given, where no alternative has the label of the message.
    #[doc(hidden)]
    fn decide(
        state: Self::State,
        message: Self::Message,
    ) -> Result<Self, (Self::State, Self::Message)>;
}

/// A choice that offers the label `L`. Implemented by `#[session]` on an enum, once per variant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not offer the label `{L}`",
    label = "`{L}` cannot be selected here",
    note = "select one of the labels in the variants of `{Self}`"
)]
pub trait Offers<L>: Choice {
    /// What follows the label.
    type Then: Session<State = Self::State>;
}

/// A session in progress: the exclusive right to use the routes of a role.
///
/// Invariant: between `try_run` and the end there is exactly one per session, because it can be
/// neither cloned nor constructed outside this crate. It is never stored in the role, so a session
/// that leaks it (`mem::forget`) leaves the role marked as in a session.
pub struct State<'s, R: Role> {
    role: &'s mut R,
}

impl<'s, R: Role> State<'s, R> {
    /// Begins a session.
    pub(crate) fn new(role: &'s mut R) -> Self {
        role.begin();
        Self { role }
    }

    /// Ends the session if it is the one of the role at `address`.
    fn end(self, address: usize) -> Result<(), Error> {
        if address_of(&*self.role) == address {
            // Not dropped: that would be the end of a session in the middle.
            ManuallyDrop::new(self).role.finish();
            Ok(())
        } else {
            // Dropping `self` poisons the other role. The session's own role is poisoned by its own
            // state, wherever that is.
            Err(ErrorKind::ForeignEnd { role: R::NAME }.into())
        }
    }
}

/// The types that a state mentions. A function returns them, because the state has none of their
/// values: only its role decides whether it can move between threads.
type Names<T> = PhantomData<fn() -> T>;

/// The address of a role identifies it among all roles that sessions borrow at the same time.
///
/// Two roles can only share an address if their type has no size. A role of no size has no routes,
/// hence no session but the empty one.
pub(crate) fn address_of<R>(role: &R) -> usize {
    std::ptr::from_ref(role).addr()
}

impl<R: Role> Drop for State<'_, R> {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        self.role.abort();
    }
}

impl<R: Role> std::fmt::Debug for State<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(R::NAME, f)
    }
}

// An action is one hand-written future, whose `poll` goes straight to the route: nested `async`
// functions would each keep a state machine and move the result through it. What goes wrong is made
// into an `Error` out of line, so that nothing but the channel and a match on the message is left
// in the process.

/// Sends `label` from the role to `P`, and flushes: the next action may wait for the answer. The
/// label is taken out once the route is ready for it.
#[inline(always)]
fn poll_transmit<R, P, L>(
    role: &mut R,
    label: &mut Option<L>,
    context: &mut Context<'_>,
) -> Poll<Result<(), RouteError>>
where
    R: Route<P, Link: Outgoing<R::Message>, Message: Message<L>>,
    P: Role,
{
    ready!(role.route().poll_send(label, R::Message::upcast, context))?;
    #[cfg(feature = "tracing")]
    trace::<R, P>("send", R::Message::NAME);
    Poll::Ready(Ok(()))
}

/// Receives a message of the role from `P`.
#[inline(always)]
fn poll_accept<R, P>(
    role: &mut R,
    context: &mut Context<'_>,
) -> Poll<Result<R::Message, RouteError>>
where
    R: Route<P, Link: Incoming<R::Message>>,
    P: Role,
{
    let message = ready!(role.route().poll_receive(context))?;
    #[cfg(feature = "tracing")]
    trace::<R, P>("receive", crate::message::Labelled::label(&message));
    Poll::Ready(Ok(message))
}

/// One event for each action that was performed.
#[cfg(feature = "tracing")]
fn trace<R: Role, P: Role>(action: &'static str, label: &'static str) {
    tracing::trace!(
        target: "rumpsteak",
        protocol = R::PROTOCOL,
        role = R::NAME,
        peer = P::NAME,
        label,
        "{action}"
    );
}

/// The error of an action that failed. Drops the state, so that the role is poisoned and its peers
/// wake before the process learns of it.
#[cold]
#[inline(never)]
fn failed<R: Role, P: Role>(state: State<'_, R>, error: RouteError, action: Action) -> Error {
    drop(state);
    let (role, peer) = (R::NAME, P::NAME);
    match error {
        RouteError::Closed => ErrorKind::Closed { role, peer, action },
        RouteError::Transport(source) => ErrorKind::Transport {
            role,
            peer,
            action,
            source,
        },
    }
    .into()
}

/// The error of a message that is not legal here. Drops the state, as `failed` does.
#[cold]
#[inline(never)]
fn unexpected<R: Role, P: Role>(
    state: State<'_, R>,
    message: R::Message,
    legal: &'static [&'static str],
) -> Error {
    use crate::message::Labelled as _;
    drop(state);
    ErrorKind::Unexpected {
        role: R::NAME,
        peer: P::NAME,
        legal,
        came: message.label(),
    }
    .into()
}

/// A future of an action was polled after it had given its result.
#[cold]
#[inline(never)]
fn polled_again() -> ! {
    panic!("the future of an action was polled after it had completed")
}
