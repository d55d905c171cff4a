use std::task::{Poll, Waker};

use super::bidirectional::Bidirectional;
use super::capacity::{KnownRoom, Queue};
use super::link::Link;
use super::mark::Mark;
use super::pair::Pair;

/// The routes from a role to all members of a family, `role worker[N]` in Scribble: a field
/// `#[route(Worker)] worker: Members<Channel<Label>>`.
#[derive(Debug)]
pub struct Members<L> {
    links: Vec<L>,
    mark: Mark,
    /// See [`Each::last_asked`].
    last_asked: usize,
}

impl<L> Members<L> {
    /// The number of members.
    #[expect(clippy::len_without_is_empty, reason = "a family has a member")]
    pub fn len(&self) -> usize {
        self.links.len()
    }
}

impl<L> FromIterator<L> for Members<L> {
    /// Combines the routes to the members, in their order.
    fn from_iter<I: IntoIterator<Item = L>>(links: I) -> Self {
        Self { links: links.into_iter().collect(), mark: Mark::new(), last_asked: 0 }
    }
}

/// A route to a family: its routes to the members.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is a route to one role, and the peer is a family",
    label = "write `Members<…>` around this type",
    note = "a family is a `role worker[N]` of the protocol"
)]
pub trait Each: Link {
    /// The route to one member.
    type Link: Link;

    /// The routes, in the order of the members.
    fn links(&mut self) -> &mut [Self::Link];

    /// The index of the member to which the role has sent alone last.
    #[doc(hidden)]
    fn last_asked(&mut self) -> &mut usize;
}

#[diagnostic::do_not_recommend]
impl<L: KnownRoom<P>, P> KnownRoom<P> for Members<L> {}

/// Compiles if this is a route to a family. Used by the macro.
pub const fn to_family<L: Each>() {}

#[diagnostic::do_not_recommend]
impl<L: Link> Each for Members<L> {
    type Link = L;

    fn links(&mut self) -> &mut [L] {
        &mut self.links
    }

    fn last_asked(&mut self) -> &mut usize {
        &mut self.last_asked
    }
}

impl<L: Link> Link for Members<L> {
    const MEMBERS: Option<fn(&Self) -> usize> = Some(Self::len);

    fn mark(&self) -> &Mark {
        &self.mark
    }

    fn close(&mut self) {
        self.links.iter_mut().for_each(Link::close);
    }

    fn capacity<M: 'static>(&self) -> Option<usize> {
        self.links.iter().filter_map(Link::capacity::<M>).min()
    }

    fn poll_begin<M: 'static>(&mut self, session: usize, waker: &Waker) -> Poll<()> {
        let polls = self.links.iter_mut().map(|link| link.poll_begin::<M>(session, waker));
        // Each of them registers the waker.
        polls.fold(Poll::Ready(()), |all, one| if one.is_pending() { one } else { all })
    }

    fn complete<M: 'static>(&mut self, sessions: usize) {
        for link in &mut self.links {
            // By this the end of a member knows that its peer has left in order.
            link.mark().complete();
            link.complete::<M>(sessions);
        }
    }

    fn keeps_sessions_apart<M: 'static>(&self) -> bool {
        self.links.iter().all(Link::keeps_sessions_apart::<M>)
    }
}

#[diagnostic::do_not_recommend]
impl<Tx, Rx, Far> Pair<Far> for Members<Bidirectional<Tx, Rx>>
where
    Bidirectional<Tx, Rx>: Pair<Far>,
{
    fn pair_as(sent: Queue, received: Queue) -> (Self, Far) {
        let (link, far) = Pair::pair_as(sent, received);
        (Self::from_iter([link]), far)
    }
}

#[diagnostic::do_not_recommend]
impl<Tx, Rx, FarTx, FarRx> Pair<Members<Bidirectional<FarTx, FarRx>>> for Bidirectional<Tx, Rx>
where
    Self: Pair<Bidirectional<FarTx, FarRx>>,
{
    fn pair_as(sent: Queue, received: Queue) -> (Self, Members<Bidirectional<FarTx, FarRx>>) {
        let (link, far) = Pair::pair_as(sent, received);
        (link, Members::from_iter([far]))
    }

    fn unite(
        all: Option<Members<Bidirectional<FarTx, FarRx>>>,
        next: Members<Bidirectional<FarTx, FarRx>>,
    ) -> Members<Bidirectional<FarTx, FarRx>> {
        let Some(mut all) = all else { return next };
        all.links.extend(next.links);
        all
    }
}

/// A route to the ring of a family, `role next[worker]` in Scribble.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a route to a ring",
    label = "a ring connects members in one process: each has a `Channel<M>`"
)]
pub trait JoinsRing: Sized {
    /// Connects the routes of all members: each sends to the next one.
    fn join(routes: Vec<&mut Self>);
}

impl<Tx: Pair<Rx>, Rx> JoinsRing for Bidirectional<Tx, Rx> {
    fn join(routes: Vec<&mut Self>) {
        let (senders, mut receivers): (Vec<_>, Vec<_>) = routes.iter().map(|_| Tx::pair()).unzip();
        receivers.rotate_right(1);
        for (route, halves) in routes.into_iter().zip(senders.into_iter().zip(receivers)) {
            route.replace(halves, || Tx::HALVES);
        }
    }
}
