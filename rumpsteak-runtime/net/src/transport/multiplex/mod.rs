//! Connections that all sessions of two hosts share: streams of frames over one stream of bytes.
//!
//! ```text
//! piece ::= length number·8+kind payload    both numbers have 32 bits, the most significant first
//! kind  ::= 0  a frame, or its last part
//!         | 1  a part of a frame, and more parts follow
//!         | 2  so many more bytes may be sent over the stream (the payload: 32 bits)
//!         | 3  the end of the stream
//!         | 4  a question if the other end is there, and 5 its answer; of no stream
//! ```
//!
//! The end that has called opens streams: it numbers them from 0, in the order of their first
//! pieces. The first piece of a stream is a whole frame, the greeting of a role. A number is never
//! used again.
//!
//! # No stream blocks another
//!
//! A task reads all that comes, and puts it into the queues of the streams. A stream may send as
//! many bytes as the other end has granted, and its last piece may exceed them. The other end
//! grants more as frames are taken from its queue, so a queue has at most a window and a piece, and
//! a frame of which parts are missing. The window grows with its use. The streams with frames to
//! send take turns, a piece each.
//!
//! # Who breaks the rules
//!
//! A stream that sends too large a frame, or more than it was granted, ends, and no other stream
//! notices. Bytes that do not make a piece, or a number that does not exist, end the connection. So
//! do a cut and silence. The roles call again, and share the next connection.
//!
//! *`yamux`* has streams of bytes: each needs buffers for the frames in it, where 10,000 sessions
//! have 16 KiB each, and a frame is copied once more. Here a stream at rest has no buffer.

mod driver;
mod state;

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_sink::Sink;
use tokio::io::{AsyncRead, AsyncWrite};

use self::driver::Driver;
use self::state::{Multiplexer, OPENED, STREAMS, register};
use super::connection::*;
use crate::platform::spawn;
use crate::platform::time::Instant;

/// The first stream of a new connection over a stream of bytes. A task of the runtime serves the
/// connection.
pub(super) async fn multiplexed(
    io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    frame: usize,
    is_caller: bool,
) -> io::Result<Connection> {
    let shared = Arc::new(Multiplexer::new(frame, is_caller));
    spawn(Driver::new(io, Arc::clone(&shared)));
    Streams::first(shared, is_caller).await
}

impl Multiplexer {
    fn stream(self: Arc<Self>, number: Option<u32>) -> Connection {
        Connection::of(Arc::clone(&self) as _, StreamEnd { shared: self, number })
    }
}

impl Line for Multiplexer {
    fn open(self: Arc<Self>) -> IoFuture<'static, Connection> {
        Box::pin(async {
            let mut state = self.state();
            state.check()?;
            if state.users + state.next as usize >= STREAMS as usize {
                return Err(io::ErrorKind::NotConnected.into());
            }
            state.users += 1;
            drop(state);
            Ok(self.stream(None))
        })
    }

    fn accept(self: Arc<Self>) -> IoFuture<'static, Connection> {
        Box::pin(poll_fn(move |context| {
            let mut state = self.state();
            if let Some(number) = state.opened.pop_front() {
                if state.opened.len() + 1 == OPENED {
                    // It has stopped to read.
                    state.wake_task();
                }
                drop(state);
                return Poll::Ready(Ok(Arc::clone(&self).stream(Some(number))));
            }
            state.check()?;
            register(&mut state.acceptor, context);
            Poll::Pending
        }))
    }

    fn is_open(&self) -> bool {
        self.state().check().is_ok()
    }

    fn flushes_itself(&self) -> bool {
        true
    }

    fn keep(self: Arc<Self>, beat: Duration) {
        let mut state = self.state();
        if state.beat.replace(beat).is_none() {
            state.wake_task();
        }
    }

    fn release(&self) {
        let mut state = self.state();
        state.is_released = true;
        for number in std::mem::take(&mut state.opened) {
            state.users -= 1;
            state.drop_stream(number);
        }
        state.wake_task();
    }
}

struct StreamEnd {
    shared: Arc<Multiplexer>,
    /// `None` before the first frame of a stream that this end opens.
    number: Option<u32>,
}

impl Stream for StreamEnd {
    type Item = io::Result<BytesMut>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.shared.state();
        let Some(number) = self.number else { return Poll::Pending };
        let is_open = state.check();
        let Some(stream) = state.streams.get_mut(&number) else { return Poll::Ready(None) };
        if let Some(frame) = stream.incoming.pop_front() {
            stream.waiting -= frame.len() as i64;
            state.grant(number);
            return Poll::Ready(Some(Ok(frame)));
        }
        if stream.is_wrong {
            return Poll::Ready(Some(Err(io::ErrorKind::InvalidData.into())));
        }
        if stream.has_ended {
            return Poll::Ready(None);
        }
        is_open?;
        register(&mut stream.reader, context);
        Poll::Pending
    }
}

impl Sink<Bytes> for StreamEnd {
    type Error = io::Error;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.state();
        state.check()?;
        let stream = self.number.and_then(|it| state.streams.get_mut(&it));
        let full = stream.filter(|it| it.queued >= BUFFER && !it.has_ended);
        let Some(stream) = full else { return Poll::Ready(Ok(())) };
        register(&mut stream.writer, context);
        Poll::Pending
    }

    fn start_send(self: Pin<&mut Self>, frame: Bytes) -> io::Result<()> {
        let this = self.get_mut();
        let mut state = this.shared.state();
        state.check()?;
        if frame.len() > state.frame {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let number = *this.number.get_or_insert_with(|| state.add_stream());
        if let Some(stream) = state.streams.get_mut(&number).filter(|it| !it.has_ended) {
            stream.queued += frame.len();
            stream.outgoing.push_back(frame);
            state.schedule(number);
            state.wake_task();
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.state();
        state.check()?;
        let stream = self.number.and_then(|it| state.streams.get(&it));
        if stream.is_none_or(|it| it.outgoing.is_empty() && it.taken <= state.written) {
            return Poll::Ready(Ok(()));
        }
        state.flushes.push(context.waker().clone());
        Poll::Pending
    }

    /// Ends the stream, behind its last frame.
    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(number) = self.number
            && let Some(stream) = self.shared.state().streams.get_mut(&number)
        {
            stream.is_closing = true;
        }
        self.poll_flush(context)
    }
}

impl Drop for StreamEnd {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        (state.users, state.used) = (state.users - 1, Some(Instant::now()));
        self.number.iter().for_each(|number| state.drop_stream(*number));
        state.is_done().then(|| state.wake_task());
    }
}
