//! Hearing whoever is first of several peers.

use std::ops::ControlFlow;
use std::task::{Context, Poll};

use super::action::{abort, failed, poll_accept_if, unexpected};
use super::choice::{AnyPeer, Choice, Peer as _};
use super::state::State;
use crate::error::{Action, ErrorKind, Result};
use crate::role::{Role, Route};
use crate::transport::{Incoming, Link as _, RouteError};

/// The peers from which the options of a choice receive, made by the macro: `(A, (B, ()))`.
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

    /// Of the peers, numbered from `index` on.
    #[doc(hidden)]
    fn turns(role: &mut R, index: usize) -> Turns;

    /// The first of the peers that is heard in a second session over a route that does not [keep
    /// sessions apart](crate::transport::Link::keeps_sessions_apart).
    #[doc(hidden)]
    fn confused(role: &mut R) -> Option<&'static str>;

    /// Whether the error of a route says that the peer has left in order: [`Incoming::has_left`].
    #[doc(hidden)]
    fn has_left(role: &mut R, index: usize, error: &RouteError) -> bool;

    /// Receives a label of the choice `C` from a peer, if one is there. Leaves the state where it
    /// is if there is none, and says why.
    #[doc(hidden)]
    fn hear<'s, C>(
        state: &mut State<'s, R>,
        index: usize,
        how: Hearing,
        context: &mut Context<'_>,
    ) -> ControlFlow<Result<C>, Silence>
    where
        R: 's,
        C: Choice<State = State<'s, R>, Message = R::Message>;
}

/// How to poll a peer.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Hearing {
    /// Poll this peer first in this round.
    First(usize),
    /// Poll without registering a waker.
    Looks,
    /// Register the waker, too.
    Waits,
    /// Register the waker only if it is not registered.
    Stays,
    /// Take whatever the peer has sent.
    Takes,
}

/// The reason why a peer is not heard.
#[doc(hidden)]
#[derive(Debug)]
pub enum Silence {
    /// The peer has sent nothing.
    Empty,
    /// The peer has sent nothing, and the task is woken in any case.
    Woken,
    /// The peer is ahead: its message stays in the queue for a later receive.
    Ahead,
    /// The route fails.
    Lost(RouteError),
}

/// The rounds in which peers were polled first.
#[doc(hidden)]
#[derive(Debug)]
pub struct Turns {
    /// The peer that was not polled first for longest, and its round.
    index: usize,
    first: usize,
    /// The last round.
    last: usize,
}

impl<R: Role> Peers<R> for () {
    const COUNT: usize = 0;

    fn name(_: usize) -> &'static str {
        AnyPeer::NAME
    }

    #[inline(always)]
    fn turns(_: &mut R, index: usize) -> Turns {
        Turns { index, first: usize::MAX, last: 0 }
    }

    #[inline(always)]
    fn confused(_: &mut R) -> Option<&'static str> {
        None
    }

    fn has_left(_: &mut R, _: usize, _: &RouteError) -> bool {
        false
    }

    #[inline(always)]
    fn hear<'s, C>(
        _: &mut State<'s, R>,
        _: usize,
        _: Hearing,
        _: &mut Context<'_>,
    ) -> ControlFlow<Result<C>, Silence>
    where
        R: 's,
        C: Choice<State = State<'s, R>, Message = R::Message>,
    {
        ControlFlow::Continue(Silence::Empty)
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
    fn turns(role: &mut R, index: usize) -> Turns {
        let turn = role.route().mark().turn();
        let others = Others::turns(role, index + 1);
        if turn <= others.first {
            Turns { index, first: turn, last: if Others::COUNT == 0 { turn } else { others.last } }
        } else {
            Turns { last: others.last.max(turn), ..others }
        }
    }

    #[inline(always)]
    fn confused(role: &mut R) -> Option<&'static str> {
        let link = role.route();
        if !link.keeps_sessions_apart::<R::Message>() && link.mark().completed() > 0 {
            return Some(<P as Role>::NAME);
        }
        Others::confused(role)
    }

    fn has_left(role: &mut R, index: usize, error: &RouteError) -> bool {
        match index {
            0 => role.route().has_left(error),
            _ => Others::has_left(role, index - 1, error),
        }
    }

    #[inline(always)]
    fn hear<'s, C>(
        state: &mut State<'s, R>,
        index: usize,
        how: Hearing,
        context: &mut Context<'_>,
    ) -> ControlFlow<Result<C>, Silence>
    where
        R: 's,
        C: Choice<State = State<'s, R>, Message = R::Message>,
    {
        // The last one need not be told apart.
        if index > 0 && Others::COUNT > 0 {
            return Others::hear(state, index - 1, how, context);
        }
        let role = match state.role() {
            Ok(role) => role,
            Err(error) => return ControlFlow::Break(Err(error)),
        };
        let waker = context.waker();
        let is_idle = |role: &mut R| Route::<P>::route(role).is_idle(waker);
        match how {
            Hearing::First(turn) => Route::<P>::route(role).mark().set_turn(turn),
            Hearing::Stays if is_idle(role) => return ControlFlow::Continue(Silence::Empty),
            _ => {}
        }
        let waits = matches!(how, Hearing::Waits | Hearing::Stays);
        let takes = matches!(how, Hearing::Takes);
        let is_wanted = |message: &R::Message| takes || C::takes(message, P::NUMBER.0);
        let message = match poll_accept_if::<R, P>(role, waits, is_wanted, context) {
            Poll::Ready(Ok(Some(message))) => message,
            Poll::Ready(Ok(None)) => return ControlFlow::Continue(Silence::Ahead),
            Poll::Ready(Err(error)) => return ControlFlow::Continue(Silence::Lost(error)),
            Poll::Pending if waits && !is_idle(role) => {
                return ControlFlow::Continue(Silence::Woken);
            }
            Poll::Pending => return ControlFlow::Continue(Silence::Empty),
        };
        let state = state.take();
        let decided = C::decide(state, message, P::NUMBER.0)
            .map_err(|(state, message)| unexpected(state, <P as Role>::NAME, message, C::LABELS));
        ControlFlow::Break(decided)
    }
}

/// Receives whatever comes first from one of the peers of the choice `C`.
///
/// Polls one peer after the other until one has sent something. It begins with the peer that was
/// not polled first for longest, so no peer starves in any sequence of choices: while a peer waits,
/// each choice that hears another peer has begun with another peer, whose next turn is then later
/// than that of the waiting peer. That happens at most once for each of the others. To begin behind
/// the peer that was heard last would not do: a role that hears `A` or `B`, and `B` or `C`, in turn
/// could hear `A` and `B` for ever.
///
/// A peer may be ahead: its message is to be received after one of another peer, and stays in the
/// queue. That all peers are ahead is an error if the role can do nothing else (`hears`).
///
/// The role waits only if no peer has sent anything. Only then does an error count; that a peer has
/// left in order counts only if all have.
#[cfg_attr(debug_assertions, inline)]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn hear_any<'s, R, C>(
    state: &mut State<'s, R>,
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
    let role = state.role()?;
    // `None` for channels, as is known when this is compiled.
    if let Some(peer) = C::Peers::confused(role) {
        abort(state.take());
        return Poll::Ready(Err(ErrorKind::SecondSession { role: R::NAME, peer }.into()));
    }
    let Turns { index, last, .. } = C::Peers::turns(role, 0);
    let others = match C::Peers::hear(state, index, Hearing::First(last.wrapping_add(1)), context) {
        ControlFlow::Break(heard) => return Poll::Ready(heard),
        ControlFlow::Continue(Silence::Lost(error)) => without(state, (index, error), context),
        ControlFlow::Continue(silence) => {
            let ahead = usize::from(matches!(silence, Silence::Ahead)) << index;
            hear_others(state, index, ahead, hears, context)
        }
    };
    // Not in one place with what is mostly heard, which so needs none in memory.
    others.map_or(Poll::Pending, Poll::Ready)
}

/// Looks at the peers behind this one, of which the last one is waited for at once: mostly it will
/// do to wait for that one. Those that are `ahead` are bits.
///
/// Out of line: the first one has mostly sent something, and what takes its message is short if it
/// stands alone.
#[inline(never)]
fn hear_others<'s, R, C>(
    state: &mut State<'s, R>,
    mut index: usize,
    mut ahead: usize,
    hears: bool,
    context: &mut Context<'_>,
) -> Option<Result<C>>
where
    R: Role,
    C: Choice<State = State<'s, R>, Message = R::Message, Peers: Peers<R>>,
{
    for step in 1..C::Peers::COUNT {
        let is_last = step + 1 == C::Peers::COUNT;
        let how = if is_last { Hearing::Waits } else { Hearing::Looks };
        if let ControlFlow::Break(heard) = hear_next(state, &mut index, how, &mut ahead, context) {
            return heard;
        }
    }
    wait(state, index, ahead, hears, context)
}

/// Waits for all peers, from the one behind this one on.
#[inline(never)]
fn wait<'s, R, C>(
    state: &mut State<'s, R>,
    mut index: usize,
    mut ahead: usize,
    hears: bool,
    context: &mut Context<'_>,
) -> Option<Result<C>>
where
    R: Role,
    C: Choice<State = State<'s, R>, Message = R::Message, Peers: Peers<R>>,
{
    for step in 0..=C::Peers::COUNT {
        let how = if step < C::Peers::COUNT {
            Hearing::Stays
        } else if hears && ahead.count_ones() as usize == C::Peers::COUNT {
            Hearing::Takes
        } else {
            break;
        };
        if let ControlFlow::Break(heard) = hear_next(state, &mut index, how, &mut ahead, context) {
            return heard;
        }
    }
    None
}

/// Asks the peer behind this one. Breaks if that is all, with what was heard.
#[inline(always)]
fn hear_next<'s, R, C>(
    state: &mut State<'s, R>,
    index: &mut usize,
    how: Hearing,
    ahead: &mut usize,
    context: &mut Context<'_>,
) -> ControlFlow<Option<Result<C>>>
where
    R: Role,
    C: Choice<State = State<'s, R>, Message = R::Message, Peers: Peers<R>>,
{
    *index = if *index + 1 == C::Peers::COUNT { 0 } else { *index + 1 };
    match C::Peers::hear(state, *index, how, context) {
        ControlFlow::Break(heard) => ControlFlow::Break(Some(heard)),
        ControlFlow::Continue(Silence::Empty) => ControlFlow::Continue(()),
        ControlFlow::Continue(Silence::Woken) => ControlFlow::Break(None),
        ControlFlow::Continue(Silence::Ahead) => {
            *ahead |= 1 << *index;
            ControlFlow::Continue(())
        }
        ControlFlow::Continue(Silence::Lost(error)) => {
            ControlFlow::Break(without(state, (*index, error), context))
        }
    }
}

/// Polls all peers but one, of which a poll has found that it is gone.
#[cold]
#[inline(never)]
fn without<'s, R, C>(
    state: &mut State<'s, R>,
    lost: (usize, RouteError),
    context: &mut Context<'_>,
) -> Option<Result<C>>
where
    R: Role,
    C: Choice<State = State<'s, R>, Message = R::Message, Peers: Peers<R>>,
{
    let others = (0..C::Peers::COUNT).filter(|&index| index != lost.0);
    // How many have left in order; the first that has not, or the last if all have.
    let (mut left, mut first) = (0, None);
    let mut judge = |state: &mut State<'s, R>, index, error| {
        let role = state.role().ok();
        let has_left = role.is_some_and(|role| C::Peers::has_left(role, index, &error));
        left += usize::from(has_left);
        if !has_left || left == C::Peers::COUNT {
            first.get_or_insert((index, error));
        }
    };
    judge(state, lost.0, lost.1);
    for index in others {
        match C::Peers::hear(state, index, Hearing::Waits, context) {
            ControlFlow::Break(heard) => return Some(heard),
            ControlFlow::Continue(Silence::Lost(error)) => judge(state, index, error),
            ControlFlow::Continue(_) => {}
        }
    }
    let (index, error) = first?;
    let action = Action::Receive(C::LABELS);
    Some(Err(failed(state.take(), C::Peers::name(index), error, action)))
}
