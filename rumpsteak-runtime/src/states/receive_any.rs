//! Receiving from whichever of several peers is first.

use std::ops::ControlFlow;
use std::task::{Context, Poll};

use super::action::{failed, unexpected};
use super::choice::{AnyPeer, Choice, Peer as _};
use super::state::State;
use crate::error::{Action, Result};
use crate::role::{Role, Route};
use crate::transport::{Incoming, Link as _, RouteError};
use crate::watch::Way;

/// The peers that the options of a choice receive from, made by the macro: `(A, (B, ()))`.
///
/// They are numbered from 0, and the defaults are for no peers, `()`. A role that the source names
/// by two paths is listed twice, which is harmless.
#[diagnostic::on_unimplemented(
    message = "`{R}` cannot receive from all peers of this choice with this call",
    label = "if one of them is a family, call `branch_each` or `until_each`"
)]
pub trait Peers<R: Role> {
    /// The number of peers.
    #[doc(hidden)]
    const COUNT: usize;

    /// The name of a peer.
    #[doc(hidden)]
    fn name(_index: usize) -> &'static str {
        AnyPeer::NAME
    }

    /// The rounds of the peers, which are numbered from `index` on.
    #[doc(hidden)]
    fn turns(role: &mut R, index: usize) -> Turns;

    /// Returns true if the route's error means that the peer has left: [`Incoming::has_left`].
    #[doc(hidden)]
    fn has_left(_role: &mut R, _index: usize, _error: &RouteError) -> bool {
        false
    }

    /// Returns true if none of the `due` peers, a bit set, has sent a label that the choice `C`
    /// takes, for a watched role.
    #[doc(hidden)]
    fn are_empty<C: Choice<Message = R::Message>>(_: &mut R, _: u64, _: &mut Context<'_>) -> bool {
        true
    }

    /// Receives from the first of the `due` peers, a bit set, that has sent something. `waits` is
    /// true as long as the task has to wait for those that have not: it becomes false once the task
    /// will be woken in any case.
    #[doc(hidden)]
    #[inline(always)]
    fn poll_due(_: &mut R, _due: u64, _waits: &mut bool, _: &mut Context<'_>) -> Polled<R> {
        None
    }

    /// Receives a label of the choice `C` from a peer if there is one. If not, returns the reason
    /// and leaves the state in place.
    #[doc(hidden)]
    #[inline(always)]
    fn receive<'s, C: Of<'s, R>>(
        _state: &mut State<'s, R>,
        _index: usize,
        _how: Attempt,
        _context: &mut Context<'_>,
    ) -> ControlFlow<Result<C>, NotReceived> {
        ControlFlow::Continue(NotReceived::Empty)
    }
}

/// The result of polling the peers of a gather: the position and the number of the sender, and its
/// message or the error of its route.
type Polled<R> = Option<(u32, u64, Result<<R as Role>::Message, RouteError>)>;

/// A choice of a session of the role `R`.
#[doc(hidden)]
pub trait Of<'s, R: Role + 's>: Choice<State = State<'s, R>, Message = R::Message> {}

impl<'s, R: Role + 's, C: Choice<State = State<'s, R>, Message = R::Message>> Of<'s, R> for C {}

/// The way to poll a peer.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Attempt {
    /// Poll this peer first in this round.
    First(usize),
    /// Poll without registering a waker.
    Peek,
    /// Register the waker, too.
    Wait,
    /// Register the waker only if it is not registered.
    WaitOnce,
    /// Take whatever the peer has sent.
    TakeAny,
}

/// The reason why nothing was received from a peer.
#[doc(hidden)]
#[derive(Debug)]
pub enum NotReceived {
    /// The peer has sent nothing.
    Empty,
    /// The peer has sent nothing, and the task will be woken in any case.
    Woken,
    /// The peer is ahead: its message stays in the queue for a later receive.
    Ahead,
    /// The route has failed.
    Lost(RouteError),
}

/// The rounds in which peers were polled first.
#[doc(hidden)]
#[derive(Debug)]
pub struct Turns {
    /// The peer that has waited longest to be polled first, and the last round in which it was.
    index: usize,
    first: usize,
    /// The last round.
    last: usize,
}

#[diagnostic::do_not_recommend]
impl<R: Role> Peers<R> for () {
    const COUNT: usize = 0;

    #[inline(always)]
    fn turns(_: &mut R, index: usize) -> Turns {
        Turns { index, first: usize::MAX, last: 0 }
    }
}

#[diagnostic::do_not_recommend]
impl<R, P, Others> Peers<R> for (P, Others)
where
    R: Route<P, Link: Incoming<R::Message>>,
    P: Role,
    Others: Peers<R>,
{
    const COUNT: usize = 1 + Others::COUNT;

    fn name(index: usize) -> &'static str {
        match index {
            0 => <P as Role>::NAME,
            _ => Others::name(index - 1),
        }
    }

    #[inline(always)]
    fn turns(role: &mut R, index: usize) -> Turns {
        let turn = role.route().mark().turn();
        let others = Others::turns(role, index + 1);
        if turn <= others.first {
            Turns { index, first: turn, last: if Others::COUNT == 0 { turn } else { others.last } }
        } else {
            Turns { last: others.last.max(turn), ..others }
        }
    }

    fn are_empty<C: Choice<Message = R::Message>>(
        role: &mut R,
        due: u64,
        context: &mut Context<'_>,
    ) -> bool {
        let is_wanted = |message: &R::Message| C::takes(message, P::NUMBER.0);
        (due & 1 == 0 || Route::<P>::route(role).is_empty(is_wanted, context))
            && Others::are_empty::<C>(role, due >> 1, context)
    }

    #[inline(always)]
    fn poll_due(role: &mut R, due: u64, waits: &mut bool, context: &mut Context<'_>) -> Polled<R> {
        let route = Route::<P>::route(role);
        if due & 1 == 1 && !route.is_known_idle(context.waker()) {
            match route.receive_if(*waits, |_| true, context) {
                Poll::Ready(received) => {
                    let received = received.transpose()?;
                    #[cfg(feature = "tracing")]
                    if let Ok(message) = &received {
                        let label = crate::message::Labelled::label(message);
                        crate::watch::trace::<R>("receive", <P as Role>::NAME, label);
                    }
                    return Some((0, P::NUMBER.0, received));
                }
                Poll::Pending => *waits = *waits && route.is_idle(context.waker()),
            }
        }
        if Others::COUNT == 0 {
            return None;
        }
        let (index, number, received) = Others::poll_due(role, due >> 1, waits, context)?;
        Some((index + 1, number, received))
    }

    fn has_left(role: &mut R, index: usize, error: &RouteError) -> bool {
        match index {
            0 => role.route().has_left(error),
            _ => Others::has_left(role, index - 1, error),
        }
    }

    #[inline(always)]
    fn receive<'s, C: Of<'s, R>>(
        state: &mut State<'s, R>,
        index: usize,
        how: Attempt,
        context: &mut Context<'_>,
    ) -> ControlFlow<Result<C>, NotReceived> {
        // The last peer needs no comparison.
        if index > 0 && Others::COUNT > 0 {
            return Others::receive(state, index - 1, how, context);
        }
        let role = match state.role() {
            Ok(role) => role,
            Err(error) => return ControlFlow::Break(Err(error)),
        };
        let waker = context.waker();
        let is_idle = |role: &mut R| Route::<P>::route(role).is_idle(waker);
        match how {
            Attempt::First(turn) => Route::<P>::route(role).mark().set_turn(turn),
            Attempt::WaitOnce if is_idle(role) => return ControlFlow::Continue(NotReceived::Empty),
            _ => {}
        }
        let waits = matches!(how, Attempt::Wait | Attempt::WaitOnce);
        let takes = matches!(how, Attempt::TakeAny);
        let is_wanted = |message: &R::Message| takes || C::takes(message, P::NUMBER.0);
        let message = match Route::<P>::route(role).receive_if(waits, is_wanted, context) {
            Poll::Ready(Ok(Some(message))) => message,
            Poll::Ready(Ok(None)) => return ControlFlow::Continue(NotReceived::Ahead),
            Poll::Ready(Err(error)) => return ControlFlow::Continue(NotReceived::Lost(error)),
            Poll::Pending if waits && !is_idle(role) => {
                return ControlFlow::Continue(NotReceived::Woken);
            }
            Poll::Pending => return ControlFlow::Continue(NotReceived::Empty),
        };
        #[cfg(feature = "tracing")]
        crate::watch::trace::<R>("receive", P::NAME, crate::message::Labelled::label(&message));
        let state = state.take();
        let decided = C::decide(state, message, P::NUMBER.0)
            .map_err(|(state, message)| unexpected(state, <P as Role>::NAME, message, C::HEARD.0));
        ControlFlow::Break(decided)
    }
}

/// Receives whatever comes first from one of the peers `O` of the choice `C`.
///
/// Polls the peers in turn until one has sent something. It begins with the peer that has waited
/// longest to be polled first, so no peer starves in any sequence of choices: each choice that
/// receives from another peer has first polled another peer, which thereby moves behind the waiting
/// one. That happens at most once per other peer. (Beginning after the last sender would not
/// suffice: a role that alternates between `A` or `B` and `B` or `C` could receive from `A` and `B`
/// forever.)
///
/// A peer may be ahead: its message is due only after a message of another peer, and stays in the
/// queue. If all peers are ahead and the role must receive (`must_receive`), that is an error.
///
/// The role waits only if no peer has sent anything. Only then does an error count. That a peer has
/// left in order counts only if all have, and the role must receive.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn receive_any<'s, R: Role, O: Peers<R>, C: Of<'s, R>>(
    state: &mut State<'s, R>,
    must_receive: bool,
    context: &mut Context<'_>,
) -> Poll<Result<C>> {
    const { assert!(O::COUNT < usize::BITS as usize, "a choice has at most 63 peers") };
    let way = if must_receive { Way::Receive } else { Way::Race };
    state.acts(way, C::HEARD.0, |role| {
        (O::are_empty::<C>(role, u64::MAX, context), (0..O::COUNT).map(O::name).collect())
    })?;
    let Turns { index, last, .. } = O::turns(state.role()?, 0);
    let others = match O::receive(state, index, Attempt::First(last.wrapping_add(1)), context) {
        ControlFlow::Break(received) => return Poll::Ready(received),
        ControlFlow::Continue(NotReceived::Lost(error)) => {
            without::<R, O, C>(state, (index, error), must_receive, context)
        }
        ControlFlow::Continue(reason) => {
            let ahead = usize::from(matches!(reason, NotReceived::Ahead)) << index;
            poll_others::<R, O, C>(state, index, ahead, must_receive, context)
        }
    };
    // Separate from the common path, which so needs no memory for the result.
    others.map_or(Poll::Pending, Poll::Ready)
}

/// Polls the peers behind this one, and waits for the last one at once, which is usually enough.
/// Then it waits for all of them. `ahead` is a bit set of the peers that are ahead.
///
/// Out of line: the first peer has usually sent something, and its path is shorter alone.
#[inline(never)]
fn poll_others<'s, R: Role, O: Peers<R>, C: Of<'s, R>>(
    state: &mut State<'s, R>,
    mut index: usize,
    mut ahead: usize,
    must_receive: bool,
    context: &mut Context<'_>,
) -> Option<Result<C>> {
    let count = O::COUNT;
    for step in 1..=2 * count {
        let how = match step {
            _ if step + 1 < count => Attempt::Peek,
            _ if step + 1 == count => Attempt::Wait,
            _ if step < 2 * count => Attempt::WaitOnce,
            _ if must_receive && ahead.count_ones() as usize == count => Attempt::TakeAny,
            _ => break,
        };
        index = if index + 1 == count { 0 } else { index + 1 };
        match O::receive(state, index, how, context) {
            ControlFlow::Break(received) => return Some(received),
            ControlFlow::Continue(NotReceived::Empty) => {}
            ControlFlow::Continue(NotReceived::Woken) => return None,
            ControlFlow::Continue(NotReceived::Ahead) => ahead |= 1 << index,
            ControlFlow::Continue(NotReceived::Lost(error)) => {
                return without::<R, O, C>(state, (index, error), must_receive, context);
            }
        }
    }
    None
}

/// Polls all peers except one, which a poll has found gone.
#[cold]
#[inline(never)]
fn without<'s, R: Role, O: Peers<R>, C: Of<'s, R>>(
    state: &mut State<'s, R>,
    lost: (usize, RouteError),
    must_receive: bool,
    context: &mut Context<'_>,
) -> Option<Result<C>> {
    let others = (0..O::COUNT).filter(|&index| index != lost.0);
    // The number of peers that have left in order, and the first error that counts.
    let (mut left, mut first) = (0, None);
    let mut judge = |state: &mut State<'s, R>, index, error| {
        let role = state.role().ok();
        let has_left = role.is_some_and(|role| O::has_left(role, index, &error));
        left += usize::from(has_left);
        if !has_left || must_receive && left == O::COUNT {
            first.get_or_insert((index, error));
        }
    };
    judge(state, lost.0, lost.1);
    for index in others {
        match O::receive(state, index, Attempt::Wait, context) {
            ControlFlow::Break(received) => return Some(received),
            ControlFlow::Continue(NotReceived::Lost(error)) => judge(state, index, error),
            ControlFlow::Continue(_) => {}
        }
    }
    let (index, error) = first?;
    Some(Err(failed(state.take(), O::name(index), error, Action::Receive(C::HEARD.0))))
}
