//! Sessions over futures' unbounded mpsc: the same channel as in [`bare`](crate::bare) and
//! [`original`](crate::original), used in the same way.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::{Sink, Stream};
use rumpsteak_runtime::channel::Queue;
use rumpsteak_runtime::transport::{Bidirectional, Nil, Pair};

/// A route in both directions.
pub type Both<M> = Bidirectional<Tx<M>, Rx<M>>;
/// A route that only sends.
pub type Out<M> = Bidirectional<Tx<M>, Nil>;
/// A route that only receives.
pub type In<M> = Bidirectional<Nil, Rx<M>>;

#[path = "sessions/ring.rs"]
pub mod ring;
#[path = "sessions/streaming.rs"]
pub mod streaming;

/// The sending half. It sends as the bare channel does: without asking first whether there is room.
#[derive(Debug)]
pub struct Tx<M>(UnboundedSender<M>);

/// The receiving half.
#[derive(Debug)]
pub struct Rx<M>(UnboundedReceiver<M>);

impl<M> Sink<M> for Tx<M> {
    type Error = mpsc::SendError;

    #[inline]
    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    #[inline]
    fn start_send(self: Pin<&mut Self>, message: M) -> Result<(), Self::Error> {
        self.0.unbounded_send(message).map_err(mpsc::TrySendError::into_send_error)
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.close_channel();
        Poll::Ready(Ok(()))
    }
}

impl<M> Stream for Rx<M> {
    type Item = M;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<M>> {
        Pin::new(&mut self.0).poll_next(context)
    }
}

impl<M> Pair<Rx<M>> for Tx<M> {
    fn pair_as(_: Queue, _: Queue) -> (Self, Rx<M>) {
        let (tx, rx) = mpsc::unbounded();
        (Self(tx), Rx(rx))
    }
}

impl<M> Pair<Tx<M>> for Rx<M> {
    fn pair_as(_: Queue, _: Queue) -> (Self, Tx<M>) {
        let (tx, rx) = Pair::pair();
        (rx, tx)
    }
}
