//! The steps that the actions of all states share: using the route, and making errors.
//!
//! An action is one hand-written future whose `poll` goes straight to the route. Nested `async`
//! functions would each keep a state machine and move the result through it. Errors are made out of
//! line, so that only the channel and a match on the message remain in the process.
//!
//! In optimised builds everything is inlined into the process, which saves a stream 7 % to 12 % of
//! its instructions. In debug builds these functions are compiled once per label, and an action
//! only makes the next state from their result: this saves 29 % of the LLVM code of a process with
//! 200 actions in a row.

use std::task::{Context, Poll, ready};

use super::state::State;
use crate::error::{Action, Error, ErrorKind, Result};
use crate::message::{Labelled as _, Message};
use crate::role::{Role, Route, poisoning};
use crate::transport::{Incoming, Left, Link, Outgoing, RouteError};
use crate::watch::{self, Doing, Way};

/// Sends `label` from the role to `P`, and flushes, because the next action may wait for the
/// answer. Takes `label` out once the route is ready, and the state once the label is sent.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn poll_transmit<'s, R, P, L>(
    state: &mut State<'s, R>,
    label: &mut Option<L>,
    context: &mut Context<'_>,
) -> Poll<Result<State<'s, R>>>
where
    R: Route<P, Link: Outgoing<R::Message>, Message: Message<L>>,
    P: Role,
{
    state.acts(Way::Send, const { &[<R::Message as Message<L>>::NAME] }, |role| {
        (role.route().poll_ready(context).is_pending(), vec![P::NAME])
    })?;
    let role = state.role()?;
    let sent = ready!(role.route().poll_send(label, R::Message::upcast, context));
    let sent = sent.or_else(|error| unless_late::<R::Message, _>(role.route(), error));
    Poll::Ready(match sent {
        Ok(()) => {
            #[cfg(feature = "tracing")]
            watch::trace::<R>("send", P::NAME, R::Message::NAME);
            Ok(state.take())
        }
        Err(error) => Err(failed(state.take(), P::NAME, error, Action::Send(R::Message::NAME))),
    })
}

/// The error of a send, unless the peer has ended this session: then the late message is dropped.
#[cold]
#[inline(never)]
fn unless_late<M: 'static, L: Link>(link: &L, error: RouteError) -> Result<(), RouteError> {
    if link.peer_completed::<M>() > link.mark().completed() { Ok(()) } else { Err(error) }
}

/// Receives the label `L` of the role from `P`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn poll_label<'s, R, P, L>(
    state: &mut State<'s, R>,
    context: &mut Context<'_>,
) -> Poll<Result<(L, State<'s, R>)>>
where
    R: Route<P, Link: Incoming<R::Message>, Message: Message<L>>,
    P: Role,
{
    let labels = const { &[<R::Message as Message<L>>::NAME] };
    let (message, state) = ready!(poll_accept::<R, P>(state, labels, context))?;
    Poll::Ready(match message.downcast() {
        Ok(label) => Ok((label, state)),
        Err(message) => Err(unexpected(state, P::NAME, message, labels)),
    })
}

/// Receives a message of the role from `P`. `labels` are the expected labels, for errors.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn poll_accept<'s, R, P>(
    state: &mut State<'s, R>,
    labels: &'static [&'static str],
    context: &mut Context<'_>,
) -> Poll<Result<(R::Message, State<'s, R>)>>
where
    R: Route<P, Link: Incoming<R::Message>>,
    P: Role,
{
    let is_empty = |role: &mut R| (role.route().is_empty(|_| true, context), vec![P::NAME]);
    state.acts(Way::Receive, labels, is_empty)?;
    let role = state.role()?;
    let received = ready!(role.route().poll_receive(context));
    Poll::Ready(match received {
        Ok(message) => {
            #[cfg(feature = "tracing")]
            watch::trace::<R>("receive", P::NAME, message.label());
            Ok((message, state.take()))
        }
        Err(error) => Err(failed(state.take(), P::NAME, error, Action::Receive(labels))),
    })
}

/// Makes the error of an action that failed. Aborts the session first, so the role is poisoned and
/// its peers wake before the process sees the error.
#[cold]
#[inline(never)]
pub(super) fn failed<R: Role>(
    state: State<'_, R>,
    peer: &'static str,
    error: RouteError,
    action: Action,
) -> Error {
    abort(state);
    let role = R::NAME;
    match error {
        RouteError::Transport(source) if !source.is::<Left>() => {
            ErrorKind::Transport { role, peer, action, source }
        }
        _ => ErrorKind::Closed { role, peer, action },
    }
    .into()
}

/// Makes the error of a message that is not legal here. Aborts the session, as `failed` does.
#[cold]
#[inline(never)]
pub(super) fn unexpected<R: Role>(
    state: State<'_, R>,
    peer: &'static str,
    message: R::Message,
    legal: &'static [&'static str],
) -> Error {
    abort(state);
    ErrorKind::Unexpected { role: R::NAME, peer, legal, came: message.label() }.into()
}

pub(super) fn abort<R: Role>(mut state: State<'_, R>) {
    // The role is lent: an action has just used it.
    if let Ok(role) = state.role() {
        poisoning::abort(role);
        watch::changes(role, Doing::Aborted);
    }
}
