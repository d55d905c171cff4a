use futures_channel::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::bidirectional::{Bidirectional, Half, Nil};
use super::capacity::Queue;
use crate::seal::ByMacro;

/// A route whose other end is an `Other`. Sets of roles create both ends.
#[diagnostic::on_unimplemented(
    message = "routes of type `{Self}` and `{Other}` do not fit together",
    label = "cannot be created as the two ends of one route",
    note = "both ends of a route are of one kind, with one message type: `Channel<M>` at both, or `Net<M>` at both; a \
            `Sender<M>` faces a `Receiver<M>`; for your own transport, implement `Pair` or build the roles by hand"
)]
pub trait Pair<Other>: Sized {
    /// Creates both ends of a route between two roles. This end sends into a queue like `sent` and
    /// receives from one like `received`.
    ///
    /// A set of roles calls this with the proven capacities. A transport may ignore them.
    fn pair_as(sent: Queue, received: Queue) -> (Self, Other);

    /// Creates both ends, with queues that grow.
    fn pair() -> (Self, Other) {
        Self::pair_as(Queue::default(), Queue::default())
    }

    /// Combines the routes to the members of a family with the route to the next one.
    #[doc(hidden)]
    fn unite(_: Option<Other>, next: Other) -> Other {
        next
    }

    /// The abilities of the ends as halves of a `Bidirectional`.
    #[doc(hidden)]
    const HALVES: (Half<Self>, Half<Other>) = (Half::PLAIN, Half::PLAIN);
}

impl<M> Pair<UnboundedReceiver<M>> for UnboundedSender<M> {
    fn pair_as(_: Queue, _: Queue) -> (Self, UnboundedReceiver<M>) {
        mpsc::unbounded()
    }
}

impl<M> Pair<UnboundedSender<M>> for UnboundedReceiver<M> {
    fn pair_as(_: Queue, _: Queue) -> (Self, UnboundedSender<M>) {
        let (tx, rx) = mpsc::unbounded();
        (rx, tx)
    }
}

impl Pair<Nil> for Nil {
    fn pair_as(_: Queue, _: Queue) -> (Self, Nil) {
        (Nil, Nil)
    }
}

#[diagnostic::do_not_recommend]
impl<Tx, Rx, FarTx, FarRx> Pair<Bidirectional<FarTx, FarRx>> for Bidirectional<Tx, Rx>
where
    Tx: Pair<FarRx>,
    Rx: Pair<FarTx>,
{
    fn pair_as(sent: Queue, received: Queue) -> (Self, Bidirectional<FarTx, FarRx>) {
        let (tx, far_rx) = Tx::pair_as(sent, received);
        let (rx, far_tx) = Rx::pair_as(sent, received);
        let (near, far) = (Some((tx, rx)), Some((far_tx, far_rx)));
        (
            Self::of_halves(near, || (Tx::HALVES.0, Rx::HALVES.0), ByMacro(())),
            Bidirectional::of_halves(far, || (Rx::HALVES.1, Tx::HALVES.1), ByMacro(())),
        )
    }
}
