//! The state of a connection that streams share.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Waker};
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};

use crate::platform::lock;
use crate::platform::time::Instant;
use crate::transport::connection::*;
use crate::transport::framing::Largest;

pub(super) const FRAME: u32 = 0;
pub(super) const PART: u32 = 1;
pub(super) const GRANT: u32 = 2;
pub(super) const END: u32 = 3;
pub(super) const ASK: u32 = 4;
pub(super) const ANSWER: u32 = 5;

/// The bytes before the payload of a piece.
pub(super) const HEAD: usize = 8;

/// The largest payload of a piece: longer than the frames of small messages, and short enough that
/// the other streams need not wait long.
pub(super) const PIECE: usize = 128 << 10;

/// The number of bytes that a stream may send before the first grant, which is enough to greet; and
/// the largest window. Each grant doubles the window.
pub(super) const FIRST_WINDOW: i64 = 64 << 10;
pub(super) const LARGEST_WINDOW: i64 = 4 << 20;

/// Payloads up to this length are copied, so that many of them need one buffer.
pub(super) const SMALL: usize = 4 << 10;

/// The largest number of streams that a connection ever has, and that may wait for a moment until
/// the host has accepted them.
pub(super) const STREAMS: u32 = 1 << 29;
pub(super) const OPENED: usize = 256;

/// The number of bytes without frames that wait to be written, beyond which the other end reads
/// nothing.
pub(super) const LONGEST_CONTROLS: usize = 1 << 20;

/// A connection that streams share, seen from one of its ends.
pub(super) struct Multiplexer(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    pub(super) is_caller: bool,
    /// The size of the largest frame, in bytes.
    pub(super) frame: usize,
    /// The streams that have not ended at both ends, by number.
    pub(super) streams: BTreeMap<u32, Box<StreamState>>,
    /// The number of the next stream that is opened.
    pub(super) next: u32,
    /// The number of streams in use at this end, including those that have no number yet, and when
    /// one was last dropped.
    pub(super) users: usize,
    pub(super) used: Option<Instant>,
    /// True once the host neither opens nor accepts further streams.
    pub(super) is_released: bool,
    /// The interval of heartbeats, once a session runs over the connection. Until then, the end
    /// that was called closes a connection without streams at once.
    pub(super) beat: Option<Duration>,
    /// The streams with a frame that may be sent.
    pub(super) ready: VecDeque<u32>,
    /// Pieces without a frame, which are sent first.
    pub(super) controls: BytesMut,
    /// New streams of the other end.
    pub(super) opened: VecDeque<u32>,
    pub(super) acceptor: Option<Waker>,
    /// The waker of the task that reads and writes.
    pub(super) task: Option<Waker>,
    /// The number of bytes that have been taken to be written, and that were written.
    pub(super) taken: u64,
    pub(super) written: u64,
    pub(super) flushes: Vec<Waker>,
    /// The reason why the connection has ended.
    pub(super) ended: Option<Arc<io::Error>>,
}

#[derive(Default)]
pub(super) struct StreamState {
    pub(super) incoming: VecDeque<BytesMut>,
    /// The parts of a frame whose end has not come.
    pub(super) partial: BytesMut,
    /// The number of bytes that the other end may still send, and of bytes that wait in `incoming`.
    pub(super) granted: i64,
    pub(super) waiting: i64,
    pub(super) window: i64,
    pub(super) largest: Largest,
    pub(super) reader: Option<Waker>,
    pub(super) outgoing: VecDeque<Bytes>,
    /// The number of bytes in `outgoing`, and of bytes that may be sent.
    pub(super) queued: usize,
    pub(super) credit: i64,
    pub(super) is_ready: bool,
    pub(super) writer: Option<Waker>,
    /// The last byte that was taken to be written, as `State::taken` counts.
    pub(super) taken: u64,
    /// True if this end has dropped the stream, which still has frames to send.
    pub(super) is_dropped: bool,
    /// True if the last frame is to be followed by the end.
    pub(super) is_closing: bool,
    pub(super) has_ended: bool,
    /// The other end has broken the rules of the stream.
    pub(super) is_wrong: bool,
}

impl Multiplexer {
    pub(super) fn new(frame: usize, is_caller: bool) -> Self {
        let (frame, used) = (frame.max(GREETING), Some(Instant::now()));
        Self(Mutex::new(State { is_caller, frame, used, ..State::default() }))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl State {
    pub(super) fn check(&self) -> io::Result<()> {
        self.ended.as_ref().map_or(Ok(()), |error| Err(copied(error)))
    }

    pub(super) fn wake_task(&self) {
        self.task.iter().for_each(Waker::wake_by_ref);
    }

    pub(super) fn control(&mut self, number: u32, kind: u32, payload: &[u8]) {
        head(&mut self.controls, payload.len(), number, kind);
        self.controls.extend_from_slice(payload);
    }

    /// Adds a stream, and the number of the next one.
    pub(super) fn add_stream(&mut self) -> u32 {
        let stream = StreamState {
            granted: FIRST_WINDOW,
            window: FIRST_WINDOW,
            credit: FIRST_WINDOW,
            largest: Largest::new(self.frame),
            ..StreamState::default()
        };
        let number = self.next;
        self.streams.insert(number, Box::new(stream));
        self.next += 1;
        number
    }

    /// Takes a piece from the other end. Fails if the connection is to end.
    pub(super) fn take(&mut self, number: u32, kind: u32, payload: BytesMut) -> io::Result<()> {
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
                if self.is_released {
                    self.next += 1;
                    self.control(number, END, &[]);
                    return Ok(());
                }
                self.add_stream();
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
                let size = payload.len();
                let is_fit = stream.partial.len() + size <= stream.largest.next();
                if kind == FRAME {
                    stream.largest.count();
                }
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
    pub(super) fn grant(&mut self, number: u32) {
        let Some(stream) = self.streams.get_mut(&number) else { return };
        // The parts of a frame count as taken until all have come: its limit bounds them.
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
    pub(super) fn schedule(&mut self, number: u32) {
        let Some(stream) = self.streams.get_mut(&number) else { return };
        if !stream.is_ready && stream.credit > 0 && !stream.outgoing.is_empty() {
            stream.is_ready = true;
            self.ready.push_back(number);
        }
    }

    /// Ends a stream that this end does not use any more. The frames that may be sent still are.
    pub(super) fn drop_stream(&mut self, number: u32) {
        let Some(stream) = self.streams.get_mut(&number) else { return };
        if stream.is_ready && !stream.has_ended {
            (stream.is_dropped, stream.incoming) = (true, VecDeque::new());
        } else if self.streams.remove(&number).is_some_and(|stream| !stream.has_ended) {
            self.control(number, END, &[]);
            self.wake_task();
        }
    }

    /// Returns true if no stream will be used.
    pub(super) fn is_done(&self) -> bool {
        self.users == 0 && (self.is_released || (self.next > 0 && self.beat.is_none()))
    }

    /// Ends the connection, and wakes all who wait.
    pub(super) fn end(&mut self, error: io::Error) {
        self.ended.get_or_insert_with(|| Arc::new(error));
        for stream in self.streams.values_mut() {
            stream.reader.take().into_iter().for_each(Waker::wake);
            stream.writer.take().into_iter().for_each(Waker::wake);
        }
        self.acceptor.take().into_iter().for_each(Waker::wake);
        self.flushes.drain(..).for_each(Waker::wake);
    }
}

pub(super) fn invalid(text: &str) -> io::Error {
    // Whoever is to blame, the roles call again.
    io::Error::new(io::ErrorKind::ConnectionAborted, format!("the other end sent {text}"))
}

pub(super) fn head(bytes: &mut BytesMut, length: usize, number: u32, kind: u32) {
    // A payload is a piece at most.
    bytes.put_u64((length as u64) << 32 | u64::from(number << 3 | kind));
}

pub(super) fn register(waker: &mut Option<Waker>, context: &Context<'_>) {
    waker.get_or_insert_with(|| context.waker().clone()).clone_from(context.waker());
}
