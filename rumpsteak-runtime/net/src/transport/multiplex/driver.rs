use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};

use super::state::*;
use crate::limits::{FOR_EVER, SILENT_BEATS};
use crate::platform::time::{Instant, Sleep, sleep_until};
use crate::transport::connection::*;

/// The task that reads and writes the bytes of a connection.
pub(super) struct Driver<T> {
    io: T,
    shared: Arc<Multiplexer>,
    input: BytesMut,
    /// The bytes that are being written, and those that will follow.
    output: VecDeque<Bytes>,
    tail: BytesMut,
    /// True after the first piece. It is a greeting.
    has_greeted: bool,
    heard: Instant,
    beats: Option<Pin<Box<Sleep>>>,
}

impl<T> Drop for Driver<T> {
    fn drop(&mut self) {
        self.shared.state().end(io::ErrorKind::ConnectionAborted.into());
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Future for Driver<T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let moved = this.poll_read(context).and_then(|()| {
            let is_done = this.poll_write(context)?;
            this.poll_beat(context)?;
            Ok(is_done)
        });
        let is_done = moved.unwrap_or_else(|error| {
            this.shared.state().end(error);
            true
        });
        if is_done { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Driver<T> {
    pub(super) fn new(io: T, shared: Arc<Multiplexer>) -> Self {
        Self {
            io,
            shared,
            input: BytesMut::with_capacity(BUFFER),
            output: VecDeque::new(),
            tail: BytesMut::new(),
            has_greeted: false,
            heard: Instant::now(),
            beats: None,
        }
    }

    /// Reads all pieces that have come.
    fn poll_read(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        while self.shared.state().opened.len() < OPENED {
            let read = std::pin::pin!(self.io.read_buf(&mut self.input)).poll(context);
            match read? {
                Poll::Pending => return Ok(()),
                Poll::Ready(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Poll::Ready(_) => self.heard = Instant::now(),
            }
            let mut state = self.shared.state();
            loop {
                let length = self.input.first_chunk().map(|length| u32::from_be_bytes(*length));
                let length = length.unwrap_or(0) as usize;
                let most = if self.has_greeted { PIECE } else { GREETING };
                if length > most {
                    return Err(invalid(&format!(
                        "the length {length}, and the limit is {most}; it may not be a host"
                    )));
                }
                if self.input.len() >= HEAD + length {
                    self.input.advance(4);
                    let head = self.input.get_u32();
                    state.take(head >> 3, head & 7, self.input.split_to(length))?;
                    self.has_greeted = true;
                    continue;
                }
                let missing = HEAD + length - self.input.len();
                self.input.reserve(missing.max(SMALL));
                break;
            }
        }
        Ok(())
    }

    /// Writes what may be written. Returns true if this end does not use the connection any more.
    fn poll_write(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        loop {
            let shared = Arc::clone(&self.shared);
            let mut state = shared.state();
            if self.output.is_empty() {
                self.fill(&mut state);
            }
            if self.output.is_empty() {
                register(&mut state.task, context);
                let is_done = state.is_done();
                drop(state);
                let _ = Pin::new(&mut self.io).poll_flush(context)?;
                return Ok(is_done);
            }
            drop(state);
            let mut slices = [io::IoSlice::new(&[]); 64];
            let parts = self.output.iter().zip(&mut slices);
            let count = parts.map(|(part, slice)| *slice = io::IoSlice::new(part)).count();
            let io = Pin::new(&mut self.io);
            let Poll::Ready(written) = io.poll_write_vectored(context, &slices[..count])? else {
                return Ok(false);
            };
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            let mut left = written;
            while let Some(part) = self.output.front_mut().filter(|_| left > 0) {
                let size = left.min(part.len());
                part.advance(size);
                left -= size;
                if part.is_empty() {
                    self.output.pop_front();
                }
            }
            let mut state = self.shared.state();
            state.written += written as u64;
            state.flushes.drain(..).for_each(Waker::wake);
        }
    }

    /// Takes pieces of the streams, in turns, as far as they may send.
    fn fill(&mut self, state: &mut State) {
        let mut size = state.controls.len();
        if size > 0 {
            self.tail.extend_from_slice(&state.controls.split());
        }
        while size < BUFFER
            && let Some(number) = state.ready.pop_front()
        {
            let Some(stream) = state.streams.get_mut(&number) else { continue };
            stream.is_ready = false;
            let (piece, kind) = match stream.outgoing.front_mut() {
                Some(frame) if frame.len() > PIECE => (frame.split_to(PIECE), PART),
                Some(_) => (stream.outgoing.pop_front().unwrap_or_default(), FRAME),
                None => continue,
            };
            stream.credit -= piece.len() as i64;
            stream.queued = stream.queued.saturating_sub(piece.len());
            size += HEAD + piece.len();
            stream.taken = state.taken + size as u64;
            if stream.queued < BUFFER {
                stream.writer.take().into_iter().for_each(Waker::wake);
            }
            head(&mut self.tail, piece.len(), number, kind);
            if piece.len() <= SMALL {
                self.tail.extend_from_slice(&piece);
            } else {
                self.output.extend([self.tail.split().freeze(), piece]);
            }
            let is_last = stream.outgoing.is_empty() && stream.is_closing;
            stream.has_ended |= is_last;
            let is_dropped = stream.is_dropped;
            state.schedule(number);
            let is_gone = is_dropped && state.streams.get(&number).is_some_and(|it| !it.is_ready);
            if is_gone {
                state.streams.remove(&number);
            }
            if is_gone || is_last {
                head(&mut self.tail, 0, number, END);
                size += HEAD;
            }
        }
        if !self.tail.is_empty() {
            self.output.push_back(self.tail.split().freeze());
        }
        state.taken += size as u64;
    }

    /// Asks a silent end if it is there, and fails if there is no answer. Ends a connection that
    /// nobody has used in a while.
    fn poll_beat(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let mut state = self.shared.state();
        let Some(beat) = state.beat else { return Ok(()) };
        let beat = beat.min(FOR_EVER / SILENT_BEATS);
        let beats = self.beats.get_or_insert_with(|| Box::pin(sleep_until(self.heard + beat)));
        while beats.as_mut().poll(context).is_ready() {
            let (now, late) = (Instant::now(), self.heard + beat * SILENT_BEATS);
            let idle = if state.is_caller { IDLE } else { 2 * IDLE };
            let is_idle = state.users == 0 && state.used.is_some_and(|used| now >= used + idle);
            if now >= late || is_idle {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if now >= self.heard + beat {
                state.control(0, ASK, &[]);
                state.wake_task();
            }
            beats.as_mut().reset((now + beat).min(late));
        }
        Ok(())
    }
}
