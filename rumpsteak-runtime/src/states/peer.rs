//! Hearing whoever is first of several peers.

use std::ops::ControlFlow;
use std::task::{Context, Poll, Waker};

use super::action::{failed, poll_accept_if, polled_again, unexpected};
use super::choice::{AnyPeer, Choice, Peer as _};
use super::state::State;
use crate::error::{Action, Result};
use crate::role::{Role, Route};
use crate::transport::{Incoming, Link as _, RouteError};

/// The peers from which the options of a choice receive, made by `#[session]`: `(A, (B, ()))`.
///
/// They are numbered from 0. A role that the source names by two paths is there twice, which costs
/// a look and nothing else.
pub trait Peers<R: Role> {
    /// How many there are.
    #[doc(hidden)]
    const COUNT: usize;

    /// The name of a peer.
    #[doc(hidden)]
    fn name(index: usize) -> &'static str;

    /// Looks, from the peer with this number on, for the one that was not asked first for longest.
    #[doc(hidden)]
    fn find_first(role: &mut R, index: usize, found: &mut Turns);

    /// Whether the error of a route says that the peer has left in order: [`Incoming::has_left`].
    #[doc(hidden)]
    fn has_left(role: &mut R, index: usize, error: &RouteError) -> bool;

    /// Whether the route to a peer need not be polled: [`Incoming::is_idle`].
    #[doc(hidden)]
    fn is_idle(role: &mut R, index: usize, waker: &Waker) -> bool;

    /// Receives a label of the choice `C` from a peer, if one is there. Gives the state back if
    /// there is none, and says why.
    #[doc(hidden)]
    fn hear<'s, C>(
        state: State<'s, R>,
        index: usize,
        how: Hearing,
        context: &mut Context<'_>,
    ) -> ControlFlow<Result<C>, (State<'s, R>, Silence)>
    where
        R: 's,
        C: Choice<State = State<'s, R>, Message = R::Message>;
}

/// How a peer is asked.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Hearing {
    /// As the first of all, at this turn.
    First(usize),
    /// As one of the others.
    Looks,
    /// As a poll does: what comes later wakes the task.
    Waits,
    /// For whatever it has sent.
    Takes,
}

/// Why a peer is not heard.
#[doc(hidden)]
#[derive(Debug)]
pub enum Silence {
    /// It has sent nothing.
    Empty,
    /// It is ahead: what it has sent is received later, and stays where it is.
    Ahead,
    /// The route fails.
    Lost(RouteError),
}

/// When peers were asked first.
#[doc(hidden)]
#[derive(Debug)]
pub struct Turns {
    /// The one that was not for longest.
    index: usize,
    /// When it was.
    first: usize,
    /// When any was last.
    last: usize,
}

impl<R: Role> Peers<R> for () {
    const COUNT: usize = 0;

    fn name(_: usize) -> &'static str {
        AnyPeer::NAME
    }

    #[inline(always)]
    fn find_first(_: &mut R, _: usize, _: &mut Turns) {}

    fn has_left(_: &mut R, _: usize, _: &RouteError) -> bool {
        false
    }

    #[inline(always)]
    fn is_idle(_: &mut R, _: usize, _: &Waker) -> bool {
        true
    }

    #[inline(always)]
    fn hear<'s, C>(
        state: State<'s, R>,
        _: usize,
        _: Hearing,
        _: &mut Context<'_>,
    ) -> ControlFlow<Result<C>, (State<'s, R>, Silence)>
    where
        R: 's,
        C: Choice<State = State<'s, R>, Message = R::Message>,
    {
        ControlFlow::Continue((state, Silence::Empty))
    }
}

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
    fn find_first(role: &mut R, index: usize, found: &mut Turns) {
        let turn = role.route().mark().turn();
        found.last = found.last.max(turn);
        if turn < found.first {
            (found.index, found.first) = (index, turn);
        }
        Others::find_first(role, index + 1, found);
    }

    fn has_left(role: &mut R, index: usize, error: &RouteError) -> bool {
        match index {
            0 => role.route().has_left(error),
            _ => Others::has_left(role, index - 1, error),
        }
    }

    #[inline(always)]
    fn is_idle(role: &mut R, index: usize, waker: &Waker) -> bool {
        match index {
            0 => role.route().is_idle(waker),
            _ => Others::is_idle(role, index - 1, waker),
        }
    }

    #[inline(always)]
    fn hear<'s, C>(
        state: State<'s, R>,
        index: usize,
        how: Hearing,
        context: &mut Context<'_>,
    ) -> ControlFlow<Result<C>, (State<'s, R>, Silence)>
    where
        R: 's,
        C: Choice<State = State<'s, R>, Message = R::Message>,
    {
        // The last one need not be told apart.
        if index > 0 && Others::COUNT > 0 {
            return Others::hear(state, index - 1, how, context);
        }
        if let Hearing::First(turn) = how {
            Route::<P>::route(state.role).mark().set_turn(turn);
        }
        let (waits, takes) = (matches!(how, Hearing::Waits), matches!(how, Hearing::Takes));
        let is_wanted = |message: &R::Message| takes || C::takes(message, P::NUMBER.0);
        let silence = match poll_accept_if::<R, P>(state.role, waits, is_wanted, context) {
            Poll::Ready(Ok(Some(message))) => {
                let decided = C::decide(state, message, P::NUMBER.0);
                return ControlFlow::Break(decided.map_err(|(state, message)| {
                    unexpected(state, <P as Role>::NAME, message, C::LABELS)
                }));
            }
            Poll::Ready(Ok(None)) => Silence::Ahead,
            Poll::Ready(Err(error)) => Silence::Lost(error),
            Poll::Pending => Silence::Empty,
        };
        ControlFlow::Continue((state, silence))
    }
}

/// Receives whatever comes first from one of the peers of the choice `C`.
///
/// Looks at one peer after the other until one has sent something, and begins with the one with
/// which it has not begun for longest. So nobody starves, in whatever choices of the role: while a
/// peer waits, each choice that has it and hears another one has begun with another one, which from
/// then on has its turn later than the one that waits. That happens once at most for each of the
/// others. What is usual, to begin behind the peer that was heard last, would not do: a role may
/// hear `A` or `B` and `B` or `C` in turn, and so `A` and `B` for ever.
///
/// A peer may be ahead, and have sent what the role receives once another one was heard. That stays
/// where it is. It is an error where all are ahead and the role can do nothing but `hears`.
///
/// Only where nobody has sent anything, the peers are waited for. An error counts only then, and
/// that a peer has left in order only if all have.
#[inline]
pub(super) fn hear_any<'s, R, C>(
    slot: &mut Option<State<'s, R>>,
    hears: bool,
    context: &mut Context<'_>,
) -> Poll<Result<C>>
where
    R: Role,
    C: Choice<State = State<'s, R>, Message = R::Message, Peers: Peers<R>>,
{
    const {
        assert!(C::Peers::COUNT > 0, "no option of this choice receives");
        assert!(C::Peers::COUNT < usize::BITS as usize, "a choice has at most 63 peers");
    }
    let Some(mut state) = slot.take() else {
        polled_again();
    };
    let (mut index, turn) = first::<R, C::Peers>(state.role);
    let mut how = Hearing::First(turn);
    // Bits by peer.
    let mut ahead: usize = 0;
    for _ in 0..C::Peers::COUNT {
        state = match C::Peers::hear(state, index, how, context) {
            ControlFlow::Break(heard) => return Poll::Ready(heard),
            ControlFlow::Continue((state, Silence::Lost(error))) => {
                return without(slot, state, (index, error), context);
            }
            ControlFlow::Continue((state, silence)) => {
                ahead |= usize::from(matches!(silence, Silence::Ahead)) << index;
                state
            }
        };
        index = if index + 1 == C::Peers::COUNT { 0 } else { index + 1 };
        how = Hearing::Looks;
    }
    for index in 0..C::Peers::COUNT {
        if C::Peers::is_idle(state.role, index, context.waker()) {
            continue;
        }
        state = match C::Peers::hear(state, index, Hearing::Waits, context) {
            ControlFlow::Break(heard) => return Poll::Ready(heard),
            ControlFlow::Continue((state, Silence::Lost(error))) => {
                return without(slot, state, (index, error), context);
            }
            ControlFlow::Continue((state, silence)) => {
                ahead |= usize::from(matches!(silence, Silence::Ahead)) << index;
                state
            }
        };
    }
    if hears && ahead.count_ones() as usize == C::Peers::COUNT {
        state = match C::Peers::hear(state, index, Hearing::Takes, context) {
            ControlFlow::Break(heard) => return Poll::Ready(heard),
            ControlFlow::Continue((state, _)) => state,
        };
    }
    *slot = Some(state);
    Poll::Pending
}

/// Polls all peers but one, of which a poll has found that it is gone.
#[cold]
#[inline(never)]
fn without<'s, R, C>(
    slot: &mut Option<State<'s, R>>,
    mut state: State<'s, R>,
    lost: (usize, RouteError),
    context: &mut Context<'_>,
) -> Poll<Result<C>>
where
    R: Role,
    C: Choice<State = State<'s, R>, Message = R::Message, Peers: Peers<R>>,
{
    let others = (0..C::Peers::COUNT).filter(|&index| index != lost.0);
    // How many have left in order; the first that has not, or the last if all have.
    let (mut left, mut first) = (0, None);
    let mut judge = |role: &mut R, index, error| {
        let has_left = C::Peers::has_left(role, index, &error);
        left += usize::from(has_left);
        if !has_left || left == C::Peers::COUNT {
            first.get_or_insert((index, error));
        }
    };
    judge(state.role, lost.0, lost.1);
    for index in others {
        state = match C::Peers::hear(state, index, Hearing::Waits, context) {
            ControlFlow::Break(heard) => return Poll::Ready(heard),
            ControlFlow::Continue((state, silence)) => {
                if let Silence::Lost(error) = silence {
                    judge(state.role, index, error);
                }
                state
            }
        };
    }
    let Some((index, error)) = first else {
        *slot = Some(state);
        return Poll::Pending;
    };
    let action = Action::Receive(C::LABELS);
    Poll::Ready(Err(failed(state, C::Peers::name(index), error, action)))
}

/// The peer with which a search begins, and the turn that this is.
#[inline(always)]
fn first<R: Role, L: Peers<R>>(role: &mut R) -> (usize, usize) {
    let mut found = Turns { index: 0, first: usize::MAX, last: 0 };
    L::find_first(role, 0, &mut found);
    (found.index, found.last.wrapping_add(1))
}
