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
//! notices. Bytes that are no piece, or a number that does not exist, end the connection. So do a
//! cut and silence. The roles call again, and share the next connection.
//!
//! *`yamux`* has streams of bytes: each needs buffers for the frames in it, where 10,000 sessions
//! have 16 KiB each, and a frame is copied once more. Here a stream at rest has no buffer.

use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use futures_core::Stream;
use futures_sink::Sink;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::time::{Instant, Sleep, sleep_until};

use super::connection::*;
use super::copied;
use crate::limits::{FOR_EVER, SILENT_BEATS};

const FRAME: u32 = 0;
const PART: u32 = 1;
const GRANT: u32 = 2;
const END: u32 = 3;
const ASK: u32 = 4;
const ANSWER: u32 = 5;

/// The bytes before the payload of a piece.
const HEAD: usize = 8;

/// The largest payload of a piece: longer than the frames of small messages, and short enough that
/// the other streams need not wait long.
const PIECE: usize = 128 << 10;

/// The number of bytes that a stream may send before the first grant, which is enough to greet; and
/// the largest window. Each grant doubles the window.
const FIRST_WINDOW: i64 = 64 << 10;
const LARGEST_WINDOW: i64 = 4 << 20;

/// Payloads up to this length are copied, so that many of them need one buffer.
const SMALL: usize = 4 << 10;

/// The largest number of streams that a connection ever has, and that may wait for a moment until
/// the host has accepted them.
const STREAMS: u32 = 1 << 29;
const OPENED: usize = 256;

/// The number of bytes without frames that wait to be written, beyond which the other end reads
/// nothing.
const LONGEST_CONTROLS: usize = 1 << 20;

/// A connection that streams share, seen from one of its ends.
pub(super) struct Multiplexer {
    state: Mutex<State>,
    /// The largest frame.
    frame: usize,
}

struct State {
    is_caller: bool,
    /// The streams that have not ended at both ends, by number.
    streams: HashMap<u32, StreamState>,
    /// The number of the next stream that is opened.
    next: u32,
    /// The number of streams in use at this end, including those that have no number yet, and when
    /// one was last dropped.
    users: usize,
    used: Instant,
    /// True while the host may open or accept further streams.
    has_owner: bool,
    /// The interval of heartbeats, once a session runs over the connection. Until then, the end
    /// that was called closes a connection without streams at once.
    beat: Option<Duration>,
    /// The streams with a frame that may be sent.
    ready: VecDeque<u32>,
    /// Pieces without a frame, which are sent first.
    controls: BytesMut,
    /// New streams of the other end.
    opened: VecDeque<u32>,
    acceptor: Option<Waker>,
    /// The waker of the task that reads and writes.
    task: Option<Waker>,
    /// The number of bytes that have been taken to be written, and that were written.
    taken: u64,
    written: u64,
    flushes: Vec<Waker>,
    /// The reason why the connection has ended.
    ended: Option<io::Error>,
}

#[derive(Default)]
struct StreamState {
    incoming: VecDeque<BytesMut>,
    /// The parts of a frame whose end has not come.
    partial: BytesMut,
    /// The number of bytes that the other end may still send, and of bytes that wait in `incoming`.
    granted: i64,
    waiting: i64,
    window: i64,
    largest: Option<Largest>,
    reader: Option<Waker>,
    outgoing: VecDeque<Bytes>,
    /// The number of bytes in `outgoing`, and of bytes that may be sent.
    queued: usize,
    credit: i64,
    is_ready: bool,
    writer: Option<Waker>,
    /// The last byte that was taken to be written, as `State::taken` counts.
    taken: u64,
    /// True if this end has dropped the stream, which still has frames to send.
    is_dropped: bool,
    has_ended: bool,
    /// The other end has broken the rules of the stream.
    is_wrong: bool,
}

/// The first stream of a new connection over a stream of bytes. A task of the runtime serves the
/// connection.
pub(super) async fn multiplexed(
    io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    frame: usize,
    is_caller: bool,
) -> io::Result<Connection> {
    let state = State {
        is_caller,
        streams: HashMap::new(),
        next: 0,
        users: 0,
        used: Instant::now(),
        has_owner: true,
        beat: None,
        ready: VecDeque::new(),
        controls: BytesMut::new(),
        opened: VecDeque::new(),
        acceptor: None,
        task: None,
        taken: 0,
        written: 0,
        flushes: Vec::new(),
        ended: None,
    };
    let shared = Arc::new(Multiplexer { state: Mutex::new(state), frame: frame.max(GREETING) });
    tokio::spawn(Driver {
        io,
        shared: Arc::clone(&shared),
        input: BytesMut::with_capacity(BUFFER),
        output: VecDeque::new(),
        tail: BytesMut::new(),
        has_greeted: false,
        heard: Instant::now(),
        beats: None,
    });
    Streams::first(shared, is_caller).await
}

impl Multiplexer {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stream(self: Arc<Self>, number: Option<u32>) -> Connection {
        Connection::of(Arc::clone(&self) as _, StreamEnd { shared: self, number })
    }
}

impl Line for Multiplexer {
    fn open(self: Arc<Self>) -> IoFuture<'static, Connection> {
        Box::pin(async {
            {
                let mut state = self.state();
                state.check()?;
                if state.users + state.next as usize >= STREAMS as usize {
                    return Err(io::ErrorKind::NotConnected.into());
                }
                state.users += 1;
            }
            Ok(self.stream(None))
        })
    }

    fn accept(self: Arc<Self>) -> IoFuture<'static, Connection> {
        Box::pin(poll_fn(move |context| {
            let mut state = self.state();
            if let Some(number) = state.opened.pop_front() {
                if state.opened.is_empty() {
                    // It may have stopped to read.
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
        state.has_owner = false;
        for number in std::mem::take(&mut state.opened) {
            state.users -= 1;
            state.drop_stream(number);
        }
        state.wake_task();
    }
}

impl State {
    fn check(&self) -> io::Result<()> {
        self.ended.as_ref().map_or(Ok(()), |error| Err(copied(error)))
    }

    fn wake_task(&self) {
        self.task.iter().for_each(Waker::wake_by_ref);
    }

    fn control(&mut self, number: u32, kind: u32, payload: &[u8]) {
        head(&mut self.controls, payload.len(), number, kind);
        self.controls.extend_from_slice(payload);
    }

    /// Adds a stream, and the number of the next one.
    fn add_stream(&mut self, frame: usize) -> u32 {
        let stream = StreamState {
            granted: FIRST_WINDOW,
            window: FIRST_WINDOW,
            credit: FIRST_WINDOW,
            largest: Some(Largest::new(frame)),
            ..StreamState::default()
        };
        let number = self.next;
        self.streams.insert(number, stream);
        self.next += 1;
        number
    }

    /// Takes a piece from the other end. Fails if the connection is to end.
    fn take(&mut self, number: u32, kind: u32, payload: BytesMut, frame: usize) -> io::Result<()> {
        if self.controls.len() > LONGEST_CONTROLS {
            return Err(invalid("pieces, and reads none"));
        }
        match kind {
            ASK => self.control(0, ANSWER, &[]),
            ANSWER => {}
            FRAME | PART | GRANT | END if number < self.next => {
                self.take_of_stream(number, kind, payload)?;
            }
            FRAME if number == self.next && !self.is_caller && number < STREAMS => {
                if !self.has_owner {
                    self.next += 1;
                    self.control(number, END, &[]);
                    return Ok(());
                }
                self.add_stream(frame);
                self.users += 1;
                self.opened.push_back(number);
                self.acceptor.take().into_iter().for_each(Waker::wake);
                self.take_of_stream(number, kind, payload)?;
            }
            // Its end was dropped before its first frame was sent.
            END if number == self.next && !self.is_caller => self.next += 1,
            _ => return Err(invalid("a piece of a stream that does not exist")),
        }
        Ok(())
    }

    fn take_of_stream(&mut self, number: u32, kind: u32, payload: BytesMut) -> io::Result<()> {
        // This end may have dropped the stream.
        let Some(stream) = self.streams.get_mut(&number).filter(|it| !it.has_ended) else {
            return Ok(());
        };
        match kind {
            GRANT => {
                let more = <[u8; 4]>::try_from(&*payload).map_err(|_| invalid("a wrong grant"))?;
                stream.credit += i64::from(u32::from_be_bytes(more));
                self.schedule(number);
            }
            END => {
                (stream.has_ended, stream.queued) = (true, 0);
                stream.outgoing.clear();
                stream.reader.take().into_iter().for_each(Waker::wake);
                stream.writer.take().into_iter().for_each(Waker::wake);
                if stream.is_dropped {
                    self.streams.remove(&number);
                }
            }
            _ if stream.is_dropped => {}
            _ => {
                let (size, largest) = (payload.len(), stream.largest.as_mut());
                let is_fit = largest.is_some_and(|largest| {
                    let fits = stream.partial.len() + size <= largest.next();
                    if kind == FRAME {
                        largest.count();
                    }
                    fits
                });
                if !is_fit || stream.granted <= 0 {
                    stream.is_wrong = true;
                    stream.has_ended = true;
                    stream.reader.take().into_iter().for_each(Waker::wake);
                    self.control(number, END, &[]);
                    return Ok(());
                }
                stream.granted -= size as i64;
                if kind == PART || !stream.partial.is_empty() {
                    stream.partial.extend_from_slice(&payload);
                }
                if kind == FRAME {
                    let whole = std::mem::take(&mut stream.partial);
                    let frame = if whole.is_empty() { payload } else { whole };
                    stream.waiting += frame.len() as i64;
                    stream.incoming.push_back(frame);
                    stream.reader.take().into_iter().for_each(Waker::wake);
                } else {
                    self.grant(number);
                }
            }
        }
        Ok(())
    }

    /// Grants the other end more bytes, if it has used half of the window.
    fn grant(&mut self, number: u32) {
        let Some(stream) = self.streams.get_mut(&number) else { return };
        // The parts of a frame count as taken until all have come: the limit of a frame bounds them.
        let used = stream.waiting + stream.granted;
        if used > stream.window / 2 || stream.has_ended {
            return;
        }
        stream.window = (2 * stream.window).min(LARGEST_WINDOW);
        let more = stream.window - used;
        stream.granted += more;
        // A window fits into 32 bits.
        self.control(number, GRANT, &(more as u32).to_be_bytes());
        self.wake_task();
    }

    /// Notes that a stream has something to send, if it may send it.
    fn schedule(&mut self, number: u32) {
        let Some(stream) = self.streams.get_mut(&number) else { return };
        if !stream.is_ready && stream.credit > 0 && !stream.outgoing.is_empty() {
            stream.is_ready = true;
            self.ready.push_back(number);
        }
    }

    /// Ends a stream that this end does not use any more. The frames that may be sent still are.
    fn drop_stream(&mut self, number: u32) {
        let Some(stream) = self.streams.get_mut(&number) else { return };
        if stream.is_ready && !stream.has_ended {
            (stream.is_dropped, stream.incoming) = (true, VecDeque::new());
        } else if self.streams.remove(&number).is_some_and(|stream| !stream.has_ended) {
            self.control(number, END, &[]);
        }
        self.wake_task();
    }

    /// Ends the connection, and wakes all who wait.
    fn end(&mut self, error: &io::Error) {
        if self.ended.is_none() {
            self.ended = Some(copied(error));
        }
        for stream in self.streams.values_mut() {
            stream.reader.take().into_iter().for_each(Waker::wake);
            stream.writer.take().into_iter().for_each(Waker::wake);
        }
        self.acceptor.take().into_iter().for_each(Waker::wake);
        self.flushes.drain(..).for_each(Waker::wake);
    }
}

fn invalid(text: &str) -> io::Error {
    // Whoever is to blame, the roles call again.
    io::Error::new(io::ErrorKind::ConnectionAborted, format!("the other end sent {text}"))
}

fn head(bytes: &mut BytesMut, length: usize, number: u32, kind: u32) {
    // A payload is a piece at most.
    bytes.put_u32(length as u32);
    bytes.put_u32(number << 3 | kind);
}

/// An end of a stream.
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

fn register(waker: &mut Option<Waker>, context: &Context<'_>) {
    match waker {
        Some(waker) => waker.clone_from(context.waker()),
        None => *waker = Some(context.waker().clone()),
    }
}

impl Sink<Bytes> for StreamEnd {
    type Error = io::Error;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.state();
        state.check()?;
        let Some(stream) = self.number.and_then(|it| state.streams.get_mut(&it)) else {
            return Poll::Ready(Ok(()));
        };
        if stream.queued < BUFFER || stream.has_ended {
            return Poll::Ready(Ok(()));
        }
        register(&mut stream.writer, context);
        Poll::Pending
    }

    fn start_send(self: Pin<&mut Self>, frame: Bytes) -> io::Result<()> {
        let this = self.get_mut();
        let mut state = this.shared.state();
        state.check()?;
        if frame.len() > this.shared.frame {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let number = *this.number.get_or_insert_with(|| state.add_stream(this.shared.frame));
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

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

impl Drop for StreamEnd {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        (state.users, state.used) = (state.users - 1, Instant::now());
        match self.number {
            Some(number) => state.drop_stream(number),
            None => state.wake_task(),
        }
    }
}

/// The task that reads and writes the bytes of a connection.
struct Driver<T> {
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
        self.shared.state().end(&io::ErrorKind::ConnectionAborted.into());
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
        match moved {
            Ok(false) => Poll::Pending,
            Ok(true) => Poll::Ready(()),
            Err(error) => {
                this.shared.state().end(&error);
                Poll::Ready(())
            }
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Driver<T> {
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
                if length > if self.has_greeted { PIECE } else { GREETING } {
                    return Err(invalid("a piece that is larger than the limit"));
                }
                if self.input.len() >= HEAD + length {
                    self.input.advance(4);
                    let head = self.input.get_u32();
                    let payload = self.input.split_to(length);
                    state.take(head >> 3, head & 7, payload, self.shared.frame)?;
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
                let is_kept = state.has_owner && (state.next == 0 || state.beat.is_some());
                let is_done = state.users == 0 && !is_kept;
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
        self.tail.extend_from_slice(&state.controls.split());
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
            let is_dropped = stream.is_dropped;
            state.schedule(number);
            if is_dropped && state.streams.get(&number).is_some_and(|it| !it.is_ready) {
                state.streams.remove(&number);
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
            if now >= late || state.users == 0 && now >= state.used + idle {
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
