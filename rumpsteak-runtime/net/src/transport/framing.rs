//! Frames over a stream of bytes, each with its length before it: 32 bits, the most significant
//! byte first.
//!
//! Small frames are collected in a buffer. A large one is written from where it is, together with
//! the buffer before it, and read into memory of its own size.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use futures_core::Stream;
use futures_sink::Sink;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};

/// The largest frame before the greeting is done, in bytes.
pub(crate) const GREETING: usize = 64 << 10;

/// The size of the largest frame that may come next. The first two frames of a connection are
/// small: a greeting or its answer, then a grant or the end. A stranger gets no further.
pub(crate) struct Largest {
    frame: usize,
    received: u8,
}

impl Largest {
    pub(crate) fn new(frame: usize) -> Self {
        Self { frame, received: 0 }
    }

    pub(crate) fn next(&self) -> usize {
        if self.received < 2 { GREETING } else { self.frame }
    }

    /// Counts a received frame. Returns true if the greeting is done.
    pub(crate) fn count(&mut self) -> bool {
        self.received = self.received.saturating_add(1);
        self.received >= 2
    }
}

/// The number of bytes that are collected before they are written.
pub(crate) const BUFFER: usize = 64 << 10;

/// The bytes before a frame.
const LENGTH: usize = 4;

/// The number of bytes that are read at first.
const FIRST: usize = 2 << 10;

/// The size of a frame that is not copied, in bytes.
const LARGE: usize = 16 << 10;

pub(super) struct Framing<T> {
    stream: T,
    largest: Largest,
    received: BytesMut,
    /// The number of bytes that are read at a time.
    room: usize,
    /// The parts that are written before the buffer.
    parts: VecDeque<Bytes>,
    buffer: BytesMut,
    /// The number of bytes in both.
    unwritten: usize,
}

impl<T> Framing<T> {
    pub(super) fn new(stream: T, frame: usize) -> Self {
        let (largest, parts) = (Largest::new(frame), VecDeque::new());
        let (received, buffer) = Default::default();
        Self { stream, largest, received, room: FIRST, parts, buffer, unwritten: 0 }
    }

    /// The next frame, if all of it has come.
    fn frame(&mut self) -> io::Result<Option<BytesMut>> {
        let Some(length) = self.received.first_chunk() else { return Ok(None) };
        let (length, most) = (u32::from_be_bytes(*length) as usize, self.largest.next());
        if length > most {
            let text = format!(
                "the other end announced a frame of {length} bytes, and the limit is {most}{}",
                if most == GREETING { " until both ends have greeted" } else { "" }
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let all = LENGTH + length;
        if self.received.len() < all {
            self.received.reserve(all - self.received.len());
            return Ok(None);
        }
        if all > self.room && all <= 4 * BUFFER {
            // The next one may be as large.
            self.room = all;
        }
        self.received.advance(LENGTH);
        self.largest.count();
        Ok(Some(self.received.split_to(length)))
    }
}

impl<T: AsyncRead + Unpin> Stream for Framing<T> {
    type Item = io::Result<BytesMut>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(frame) = this.frame().transpose() {
                return Poll::Ready(Some(frame));
            }
            if this.received.capacity() == this.received.len() {
                this.received.reserve(this.room);
            }
            let read = ready!(pin!(this.stream.read_buf(&mut this.received)).poll(context))?;
            if this.received.capacity() == this.received.len() {
                this.room = this.room.max(BUFFER);
            }
            if read == 0 {
                let is_whole = this.received.is_empty();
                let broken = || Some(Err(io::ErrorKind::UnexpectedEof.into()));
                return Poll::Ready(if is_whole { None } else { broken() });
            }
        }
    }
}

impl<T: AsyncWrite + Unpin> Framing<T> {
    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.unwritten > 0 {
            let mut slices = [IoSlice::new(&[]); 64];
            let parts = self.parts.iter().map(|part| &**part).chain([&*self.buffer]);
            let count = slices.iter_mut().zip(parts).fold(0, |count, (slice, part)| {
                *slice = IoSlice::new(part);
                count + 1
            });
            let stream = Pin::new(&mut self.stream);
            let mut written = ready!(stream.poll_write_vectored(context, &slices[..count]))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.unwritten -= written;
            while let Some(part) = self.parts.front_mut() {
                let size = written.min(part.len());
                part.advance(size);
                written -= size;
                if !part.is_empty() {
                    break;
                }
                self.parts.pop_front();
            }
            self.buffer.advance(written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> Sink<Bytes> for Framing<T> {
    type Error = io::Error;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.unwritten < BUFFER { Poll::Ready(Ok(())) } else { this.poll_write(context) }
    }

    fn start_send(self: Pin<&mut Self>, frame: Bytes) -> io::Result<()> {
        let (this, size) = (self.get_mut(), frame.len());
        let length = u32::try_from(size).map_err(io::Error::other)?;
        this.buffer.put_u32(length);
        this.unwritten += LENGTH + size;
        if size < LARGE {
            this.buffer.put_slice(&frame);
        } else {
            this.parts.extend([this.buffer.split().freeze(), frame]);
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_write(context))?;
        Pin::new(&mut this.stream).poll_flush(context)
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_write(context))?;
        Pin::new(&mut this.stream).poll_shutdown(context)
    }
}
