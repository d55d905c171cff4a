//! What travels over a connection once its ends have agreed.
//!
//! ```text
//! frame ::= 0 payload           a message
//!         | 1                   the role has left: no message follows
//!         | 2 received limit    all before `received` has come; all before `limit` may be sent
//!         | 3                   nothing to say, but still here
//! ```
//!
//! Messages and the end are numbered from 0 in each direction. The numbers are not sent: frames
//! arrive in order, and a new connection goes on where the old one broke. Numbers are of 64 bits,
//! the least significant byte first.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

pub(crate) const MESSAGE: u8 = 0;
const END: u8 = 1;
const GRANT: u8 = 2;
const BEAT: u8 = 3;

/// A frame that was received.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Frame {
    Message(BytesMut),
    End,
    Grant { received: u64, limit: u64 },
    Beat,
}

impl Frame {
    /// The frame that bytes are. `None` if they are none.
    pub(crate) fn read(mut bytes: BytesMut) -> Option<Self> {
        match *bytes.first()? {
            MESSAGE => {
                bytes.advance(1);
                Some(Self::Message(bytes))
            }
            END if bytes.len() == 1 => Some(Self::End),
            BEAT if bytes.len() == 1 => Some(Self::Beat),
            GRANT => {
                let (received, limit) = bytes[1..].split_at_checked(8)?;
                let number = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes);
                Some(Self::Grant { received: number(received)?, limit: number(limit)? })
            }
            _ => None,
        }
    }
}

pub(crate) fn end() -> Bytes {
    Bytes::from_static(&[END])
}

pub(crate) fn beat() -> Bytes {
    Bytes::from_static(&[BEAT])
}

pub(crate) fn grant(received: u64, limit: u64) -> Bytes {
    let mut bytes = BytesMut::with_capacity(17);
    bytes.put_u8(GRANT);
    bytes.put_u64_le(received);
    bytes.put_u64_le(limit);
    bytes.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let read = |bytes: &[u8]| Frame::read(bytes.into());
        assert_eq!(read(&end()), Some(Frame::End));
        assert_eq!(read(&beat()), Some(Frame::Beat));
        assert_eq!(read(&grant(3, u64::MAX)), Some(Frame::Grant { received: 3, limit: u64::MAX }));
        assert_eq!(read(&[MESSAGE, 7, 8]), Some(Frame::Message((&[7, 8][..]).into())));
        assert_eq!(read(&[MESSAGE]), Some(Frame::Message(BytesMut::new())));
        for bytes in
            [&[][..], &[4], &[END, 0], &[BEAT, 0], &[GRANT], &grant(1, 2)[..16], &[GRANT; 18]]
        {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
    }
}
