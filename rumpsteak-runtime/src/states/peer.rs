//! Who is at the other end of a choice: one role, or the roles that its options name.

use std::task::{Context, Poll, Waker};

use super::action::poll_accept;
use crate::private::ByMacro;
use crate::role::{Role, Route};
use crate::transport::{Incoming, Link as _, Mark, Outlook, RouteError};

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

    /// As sets of bits, the peers of which a poll with this waker may find something, and those for
    /// which it would wait.
    #[doc(hidden)]
    fn outlook(role: &mut R, waker: &Waker) -> (usize, usize);

    /// Of a set of peers, from `index` on, the one that was not heard for longest.
    #[doc(hidden)]
    fn least_recent(role: &mut R, set: usize, index: usize, found: &mut Turns);

    /// Whether a peer that is gone has left in order: [`Incoming::has_left`].
    #[doc(hidden)]
    fn has_left(role: &mut R, index: usize) -> bool;

    /// Polls the route to a peer.
    #[doc(hidden)]
    fn poll(
        role: &mut R,
        index: usize,
        context: &mut Context<'_>,
    ) -> Poll<Result<R::Message, RouteError>>;
}

/// When peers were heard.
#[doc(hidden)]
#[derive(Debug)]
pub struct Turns {
    /// The one that was not heard for longest.
    index: usize,
    /// When it was heard.
    first: usize,
    /// When any was heard last.
    last: usize,
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
    fn outlook(_: &mut R, _: &Waker) -> (usize, usize) {
        (0, 0)
    }

    fn has_left(_: &mut R, _: usize) -> bool {
        false
    }

    #[inline(always)]
    fn least_recent(_: &mut R, _: usize, _: usize, _: &mut Turns) {}

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
    fn outlook(role: &mut R, waker: &Waker) -> (usize, usize) {
        let outlook = role.route().outlook(waker);
        let (ready, empty) = Others::outlook(role, waker);
        let is = |wanted| usize::from(outlook == wanted);
        (ready << 1 | is(Outlook::Ready), empty << 1 | is(Outlook::Empty))
    }

    #[inline(always)]
    fn least_recent(role: &mut R, set: usize, index: usize, found: &mut Turns) {
        if set & 1 != 0 {
            let turn = role.route().mark().turn();
            found.last = found.last.max(turn);
            if turn < found.first {
                (found.index, found.first) = (index, turn);
            }
        }
        Others::least_recent(role, set >> 1, index + 1, found);
    }

    fn has_left(role: &mut R, index: usize) -> bool {
        match index {
            0 => role.route().has_left(),
            _ => Others::has_left(role, index - 1),
        }
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
/// other peer has sent anything; that a peer has left in order, only if all have.
#[inline]
pub(super) fn poll_any<R: Role, L: Peers<R>>(
    role: &mut R,
    context: &mut Context<'_>,
) -> Poll<(usize, Result<R::Message, RouteError>)> {
    const {
        assert!(L::COUNT > 0, "no option of this choice receives");
        assert!(L::COUNT < usize::BITS as usize, "a choice has at most 63 peers");
    }
    let (mut ready, mut empty) = L::outlook(role, context.waker());
    let (mut last, mut gone) = (0, Gone::default());
    // Turns count only where there is a choice.
    let is_contended = ready & ready.wrapping_sub(1) != 0;
    while ready | empty != 0 {
        let set = if ready == 0 { &mut empty } else { &mut ready };
        let mut index = set.trailing_zeros() as usize;
        if *set & (*set - 1) != 0 && is_contended {
            let mut found = Turns { index, first: usize::MAX, last };
            L::least_recent(role, *set, 0, &mut found);
            (index, last) = (found.index, found.last);
        }
        *set &= !(1 << index);
        match L::poll(role, index, context) {
            Poll::Ready(Ok(message)) => {
                if is_contended && let Some(mark) = L::mark(role, index) {
                    mark.set_turn(last.wrapping_add(1));
                }
                return Poll::Ready((index, Ok(message)));
            }
            Poll::Ready(Err(error)) => gone.add::<R, L>(role, index, error),
            Poll::Pending => {}
        }
    }
    gone.failed.map_or(Poll::Pending, |(index, error)| Poll::Ready((index, Err(error))))
}

/// The peers of which a poll has found that they are gone.
#[derive(Default)]
struct Gone {
    /// How many have left in order.
    left: usize,
    /// The first that has not, or the last if all have left.
    failed: Option<(usize, RouteError)>,
}

impl Gone {
    #[cold]
    #[inline(never)]
    fn add<R: Role, L: Peers<R>>(&mut self, role: &mut R, index: usize, error: RouteError) {
        let has_left = matches!(error, RouteError::Closed) && L::has_left(role, index);
        self.left += usize::from(has_left);
        if !has_left || self.left == L::COUNT {
            self.failed.get_or_insert((index, error));
        }
    }
}
