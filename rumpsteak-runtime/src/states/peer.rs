//! Who is at the other end of a choice: one role, or the roles that its options name.

use std::task::{Context, Poll, Waker};

use super::action::poll_accept;
use crate::private::ByMacro;
use crate::role::{Role, Route};
use crate::transport::{Incoming, Link as _, Mark, RouteError};

/// Stands in place of the peer in a choice whose options name their peers: `Select<C>` is
/// `Select<'s, R, AnyPeer, C>`.
#[derive(Clone, Copy, Debug)]
pub enum AnyPeer {}

/// The other end of a choice: a role, or [`AnyPeer`].
pub trait Peer {
    /// The name of the role.
    const NAME: &'static str;

    /// Its number in fingerprints. No role that was verified has that of [`AnyPeer`].
    #[doc(hidden)]
    const NUMBER: ByMacro<u64>;
}

#[diagnostic::do_not_recommend]
impl<P: Role> Peer for P {
    const NAME: &'static str = P::NAME;

    const NUMBER: ByMacro<u64> = ByMacro(P::PLAYED.0.number);
}

impl Peer for AnyPeer {
    const NAME: &'static str = "any peer";

    const NUMBER: ByMacro<u64> = ByMacro(0);
}

/// The peers from which the options of a choice receive, made by `#[session]`: `(A, (B, ()))`.
///
/// They are numbered from 0. A role that the source names by two paths is there twice, which costs
/// a poll and nothing else.
pub trait Peers<R: Role> {
    /// How many there are.
    #[doc(hidden)]
    const COUNT: usize;

    /// The name of a peer, and its number in fingerprints.
    #[doc(hidden)]
    fn peer(index: usize) -> (&'static str, u64);

    /// The mark of the route to a peer.
    #[doc(hidden)]
    fn mark(role: &mut R, index: usize) -> Option<&Mark>;

    /// The peers of which a poll with this waker may find something, as a set of bits.
    #[doc(hidden)]
    fn open(role: &mut R, waker: &Waker) -> usize;

    /// Polls the route to a peer.
    #[doc(hidden)]
    fn poll(
        role: &mut R,
        index: usize,
        context: &mut Context<'_>,
    ) -> Poll<Result<R::Message, RouteError>>;
}

impl<R: Role> Peers<R> for () {
    const COUNT: usize = 0;

    fn peer(_: usize) -> (&'static str, u64) {
        (AnyPeer::NAME, AnyPeer::NUMBER.0)
    }

    fn mark(_: &mut R, _: usize) -> Option<&Mark> {
        None
    }

    #[inline(always)]
    fn open(_: &mut R, _: &Waker) -> usize {
        0
    }

    #[inline(always)]
    fn poll(_: &mut R, _: usize, _: &mut Context<'_>) -> Poll<Result<R::Message, RouteError>> {
        Poll::Pending
    }
}

impl<R, P, Others> Peers<R> for (P, Others)
where
    R: Route<P, Link: Incoming<R::Message>>,
    P: Role,
    Others: Peers<R>,
{
    const COUNT: usize = 1 + Others::COUNT;

    fn peer(index: usize) -> (&'static str, u64) {
        match index {
            0 => (<P as Role>::NAME, P::NUMBER.0),
            _ => Others::peer(index - 1),
        }
    }

    fn mark(role: &mut R, index: usize) -> Option<&Mark> {
        match index {
            0 => Some(role.route().mark()),
            _ => Others::mark(role, index - 1),
        }
    }

    #[inline(always)]
    fn open(role: &mut R, waker: &Waker) -> usize {
        let is_open = !role.route().is_idle(waker);
        Others::open(role, waker) << 1 | usize::from(is_open)
    }

    #[inline(always)]
    fn poll(
        role: &mut R,
        index: usize,
        context: &mut Context<'_>,
    ) -> Poll<Result<R::Message, RouteError>> {
        match index {
            0 => poll_accept::<R, P>(role, context),
            _ => Others::poll(role, index - 1, context),
        }
    }
}

/// Receives whatever comes first from one of the peers, with the position of the peer.
///
/// Of several that have sent something, it is the one that was not heard for longest: so whoever
/// has sent something is heard after each of the others once at most. An error counts only if no
/// other peer has sent anything.
#[inline]
pub(super) fn poll_any<R: Role, L: Peers<R>>(
    role: &mut R,
    context: &mut Context<'_>,
) -> Poll<(usize, Result<R::Message, RouteError>)> {
    const {
        assert!(L::COUNT > 0, "no option of this choice receives");
        assert!(L::COUNT < usize::BITS as usize, "a choice has at most 63 peers");
    }
    let (mut open, mut failed) = (L::open(role, context.waker()), None);
    // Turns count only where there is a choice.
    let (mut latest, contended) = (0, open & open.wrapping_sub(1) != 0);
    while open != 0 {
        let mut index = open.trailing_zeros() as usize;
        if contended {
            (index, latest) = least_recent::<R, L>(role, open, latest);
        }
        match L::poll(role, index, context) {
            Poll::Ready(Ok(message)) => {
                if contended && let Some(mark) = L::mark(role, index) {
                    mark.set_turn(latest.wrapping_add(1));
                }
                return Poll::Ready((index, Ok(message)));
            }
            Poll::Ready(Err(error)) => failed = failed.or(Some((index, Err(error)))),
            Poll::Pending => {}
        }
        open &= !(1 << index);
    }
    failed.map_or(Poll::Pending, Poll::Ready)
}

/// The peer that was not heard for longest, and the latest turn of all.
fn least_recent<R: Role, L: Peers<R>>(
    role: &mut R,
    open: usize,
    mut latest: usize,
) -> (usize, usize) {
    let mut found = (L::COUNT, usize::MAX);
    let mut rest = open;
    while rest != 0 {
        let index = rest.trailing_zeros() as usize;
        let turn = L::mark(role, index).map_or(0, Mark::turn);
        latest = latest.max(turn);
        if turn < found.1 {
            found = (index, turn);
        }
        rest &= rest - 1;
    }
    (found.0, latest)
}
