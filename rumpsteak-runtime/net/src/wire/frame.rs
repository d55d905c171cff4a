//! The frames of a connection after the handshake.
//!
//! ```text
//! frame ::= 0 count (length payload)*    messages
//!         | 1 sessions received          the role has left after so many sessions, 0 if it left in
//!                                        the middle of one; all before `received` has come
//!         | 2 received limit sessions    all before `received` has come; all before `limit` may
//!             taken bytes receive send   be sent; the role has completed so many sessions, and
//!                                        has taken so many messages and bytes; the windows of this
//!                                        end for what it receives and sends, in bytes
//!         | 3                            a heartbeat
//! ```
//!
//! Messages and the end are numbered from 0 in each direction. The numbers are not sent: frames
//! arrive in order, and a new connection continues where the old one broke. Numbers have 64 bits,
//! counts and lengths 32, the least significant byte first.
//!
//! A frame costs as much as several messages. So one frame has all messages that a role has sent
//! since its task last ran.

use bytes::{Buf as _, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use crate::CodecError;

const MESSAGES: u8 = 0;
const END: u8 = 1;
const GRANT: u8 = 2;
const BEAT: u8 = 3;

#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Frame {
    Messages(Messages),
    End { sessions: u64, received: u64 },
    Grant(Grant),
    Beat,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Grant {
    pub(crate) received: u64,
    pub(crate) limit: u64,
    pub(crate) sessions: u64,
    pub(crate) taken: Amount,
    pub(crate) windows: [u64; 2],
}

/// A number of messages, and their size in bytes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Amount {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

impl Amount {
    pub(crate) fn add(&mut self, more: Self) {
        self.messages += more.messages;
        self.bytes += more.bytes;
    }

    /// The difference to an earlier amount. Both may be counted from a later start, modulo 2⁶⁴.
    pub(crate) fn since(self, earlier: Self) -> Self {
        let messages = self.messages.wrapping_sub(earlier.messages);
        Self { messages, bytes: self.bytes.wrapping_sub(earlier.bytes) }
    }

    pub(crate) fn max(self, other: Self) -> Self {
        Self { messages: self.messages.max(other.messages), bytes: self.bytes.max(other.bytes) }
    }
}

impl Frame {
    pub(crate) fn read(bytes: BytesMut) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        let mut number = || rest.try_get_u64_le().ok();
        let frame = match *kind {
            MESSAGES => return Messages::read(bytes.freeze()).map(Self::Messages),
            END => Self::End { sessions: number()?, received: number()? },
            GRANT => Self::Grant(Grant {
                received: number()?,
                limit: number()?,
                sessions: number()?,
                taken: Amount { messages: number()?, bytes: number()? },
                windows: [number()?, number()?],
            }),
            BEAT => Self::Beat,
            _ => return None,
        };
        rest.is_empty().then_some(frame)
    }
}

#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Messages {
    bytes: Bytes,
    /// The start of the next message.
    at: usize,
    /// The size of the last message.
    last: usize,
}

impl Messages {
    /// Reads a frame whose count is right, with at least one message.
    pub(crate) fn read(bytes: Bytes) -> Option<Self> {
        // An empty frame would need no credit.
        let left = count(&bytes).filter(|count| *count > 0)?;
        let mut messages = Self { bytes, at: HEAD, last: 0 };
        for _ in 0..left {
            messages.last = messages.next()?.len();
        }
        (messages.at == messages.bytes.len()).then_some(Self { at: HEAD, ..messages })
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<&[u8]> {
        let (length, rest) = self.bytes[self.at..].split_first_chunk()?;
        let length = u32::from_le_bytes(*length) as usize;
        let message = rest.get(..length)?;
        self.at += LENGTH + length;
        Some(message)
    }

    /// As [`next`](Self::next), but shares the memory.
    pub(crate) fn next_shared(&mut self) -> Option<Bytes> {
        let size = self.next()?.len();
        Some(self.bytes.slice(self.at - size..self.at))
    }

    /// Returns true if sharing the memory of the messages costs less than copying them.
    pub(crate) fn are_large(&self) -> bool {
        self.last >= LARGE
    }

    /// All messages of the frame, and all but the last.
    pub(crate) fn amounts(&self) -> [Amount; 2] {
        let all = amount(&self.bytes);
        [all, Amount { messages: all.messages - 1, bytes: all.bytes - size_of(self.last) }]
    }
}

pub(crate) fn amount(frame: &[u8]) -> Amount {
    Amount { messages: count(frame).unwrap_or(0), bytes: frame.len().saturating_sub(HEAD) as u64 }
}

/// The bytes of a message of this size in a frame.
pub(crate) fn size_of(message: usize) -> u64 {
    (LENGTH + message) as u64
}

/// The bytes before the messages of a frame, and before each message.
const HEAD: usize = 5;
const LENGTH: usize = 4;

/// The length beyond which the next message goes into another frame. A fraction of the bytes that a
/// connection reads at a time, because a frame that comes in parts is copied.
const FULL: usize = 8 << 10;

/// The size of a message that has a frame of its own, in bytes.
pub(crate) const LARGE: usize = 4 << 10;

/// The number of acknowledged frames whose memory is kept.
const SPARE: usize = 32;

/// A frame of messages that is being made.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    /// The end of the last message.
    end: usize,
    count: u32,
    spare: Vec<Vec<u8>>,
}

impl Batch {
    /// Keeps the memory of an acknowledged frame.
    pub(crate) fn reuse(&mut self, mut frame: Bytes) {
        if self.spare.len() < SPARE && frame.len() <= 2 * FULL && frame.is_unique() {
            frame.clear();
            self.spare.push(frame.into());
        }
    }

    /// Adds the message that `write` writes. If the frame is full, moves it to `frames` and begins
    /// another one. Returns the size of the message. Fails if it cannot be written or is too large,
    /// and keeps the others.
    pub(crate) fn add(
        &mut self,
        largest: usize,
        frames: &mut impl Extend<Bytes>,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), CodecError>,
    ) -> Result<usize, CodecError> {
        if self.bytes.len() >= FULL {
            frames.extend(self.take());
        }
        if self.bytes.is_empty() {
            self.bytes.reserve(128);
            self.bytes.extend([MESSAGES, 0, 0, 0, 0]);
        }
        let at = self.bytes.len();
        self.bytes.extend([0; LENGTH]);
        let written = write(&mut self.bytes);
        let size = self.bytes.len() - at - LENGTH;
        let fits = HEAD + LENGTH + size <= largest;
        let length = written.and_then(|()| match u32::try_from(size) {
            Ok(length) if fits => Ok(length),
            _ => Err(too_large(size, largest)),
        });
        let length = length.inspect_err(|_| self.bytes.truncate(at))?;
        self.bytes[at..at + LENGTH].copy_from_slice(&length.to_le_bytes());
        if self.bytes.len() <= largest {
            (self.count, self.end) = (self.count + 1, self.bytes.len());
            return Ok(size);
        }
        let mut alone = self.bytes[..HEAD].to_vec();
        alone.extend(self.bytes.drain(at..));
        frames.extend(self.take());
        (self.end, self.count) = (alone.len(), 1);
        self.bytes = alone;
        Ok(size)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A batch with room for a message of this size.
    pub(crate) fn with_capacity(size: usize) -> Self {
        Self { bytes: Vec::with_capacity(HEAD + LENGTH + size), ..Self::default() }
    }

    /// The frame with all messages that were added, if there are any.
    pub(crate) fn take(&mut self) -> Option<Bytes> {
        if self.count == 0 {
            self.bytes.clear();
            return None;
        }
        let mut bytes = std::mem::replace(&mut self.bytes, self.spare.pop().unwrap_or_default());
        // The window does not count memory that is not used.
        if bytes.capacity() - bytes.len() > FULL.max(bytes.len() / 8) {
            bytes.shrink_to_fit();
        }
        let count = std::mem::take(&mut self.count);
        // A codec may have panicked in the middle of the next message.
        bytes.truncate(self.end);
        bytes[1..HEAD].copy_from_slice(&count.to_le_bytes());
        Some(bytes.into())
    }
}

/// The error of a message that is too large for a frame.
pub(crate) fn too_large(size: usize, largest: usize) -> CodecError {
    let most = largest.saturating_sub(HEAD + LENGTH);
    format!("it has {size} bytes, and the limit there is {most}").into()
}

/// The number of messages and ends in a frame; `None` for other frames.
pub(crate) fn count(frame: &[u8]) -> Option<u64> {
    match *frame.first()? {
        MESSAGES => Some(u32::from_le_bytes(frame.get(1..HEAD)?.try_into().ok()?).into()),
        END => Some(1),
        _ => None,
    }
}

pub(crate) fn end(sessions: u64, received: u64) -> Bytes {
    numbers(END, [sessions, received])
}

pub(crate) fn beat() -> Bytes {
    Bytes::from_static(&[BEAT])
}

pub(crate) fn grant(grant: Grant) -> Bytes {
    let Grant { received, limit, sessions, taken, windows: [receive, send] } = grant;
    numbers(GRANT, [received, limit, sessions, taken.messages, taken.bytes, receive, send])
}

fn numbers<const N: usize>(kind: u8, numbers: [u64; N]) -> Bytes {
    let mut bytes = Vec::with_capacity(1 + 8 * N);
    bytes.push(kind);
    numbers.into_iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let read = |bytes: &[u8]| Frame::read(bytes.into());
        assert_eq!(read(&end(3, 4)), Some(Frame::End { sessions: 3, received: 4 }));
        assert_eq!(read(&beat()), Some(Frame::Beat));
        let taken = Amount { messages: 1, bytes: 10 };
        let granted = Grant { received: 3, limit: u64::MAX, sessions: 2, taken, windows: [4, 5] };
        assert_eq!(read(&grant(granted)), Some(Frame::Grant(granted)));
        for bytes in [
            &[][..],
            &[4],
            &[MESSAGES, 0, 0, 0],
            &[END],
            &end(1, 1)[..16],
            &[END; 18],
            &[BEAT, 0],
            &[GRANT],
            &grant(granted)[..56],
            &[GRANT; 58],
        ] {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
    }

    fn messages(frame: &[u8]) -> Result<Vec<Vec<u8>>, ()> {
        let Some(Frame::Messages(mut messages)) = Frame::read(frame.into()) else {
            return Err(());
        };
        let mut read = Vec::new();
        while let Some(message) = messages.next() {
            read.push(message.to_vec());
        }
        Ok(read)
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let mut batch = Batch::default();
        assert_eq!(batch.take(), None);
        let mut frames = Vec::new();
        let mut add = |message: &[u8]| {
            batch.add(20, &mut frames, |bytes| {
                bytes.extend(message);
                Ok(())
            })
        };
        // Together they would be too large, and one of them is so by itself.
        let added = [&[1, 2][..], &[], &[3; 12], &[3; 11]].map(|message| add(message).is_ok());
        assert_eq!(added, [true, true, false, true]);
        frames.extend(batch.take());
        assert_eq!(frames.len(), 2);
        let amounts = Messages::read(frames[0].clone()).map(|messages| messages.amounts());
        let amount = |messages, bytes| Amount { messages, bytes };
        assert_eq!(amounts, Some([amount(2, 10), amount(1, 6)]));
        assert_eq!(messages(&frames[0]), Ok(vec![vec![1, 2], vec![]]));
        assert_eq!(messages(&frames[1]), Ok(vec![vec![3; 11]]));
        assert_eq!([&frames[0], &end(1, 1), &beat()].map(|it| count(it)), [Some(2), Some(1), None]);
        let frame = &[MESSAGES, 2, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0][..];
        assert_eq!(messages(frame), Ok(vec![vec![7], vec![]]));
        for wrong in [&frame[..13], &frame[..8], &[frame, &[0]].concat(), &[MESSAGES, 0, 0, 0, 0]] {
            assert_eq!(messages(wrong), Err(()), "{wrong:?}");
        }
    }

    #[test]
    fn a_frame_ends_when_it_is_long_enough() {
        let mut batch = Batch::default();
        let write = |bytes: &mut Vec<u8>| {
            bytes.extend([0; 1_000]);
            Ok(())
        };
        let mut frames = Vec::new();
        for _ in 0..100 {
            assert!(batch.add(1 << 20, &mut frames, write).is_ok());
        }
        frames.extend(batch.take());
        let counts: Vec<_> = frames.iter().map(|frame| count(frame)).collect();
        assert_eq!(counts, [[Some(9); 11].as_slice(), &[Some(1)]].concat());
    }
}
