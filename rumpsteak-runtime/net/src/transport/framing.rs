//! Frames over a stream of bytes, each with its length before it: 32 bits, the most significant
//! byte first.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::codec::{Decoder, Encoder, Framed, LengthDelimitedCodec};

/// The largest frame before the greeting is done, in bytes.
pub(crate) const GREETING: usize = 64 << 10;

/// The size of the largest frame that may come next. The first two frames of a connection are
/// small: a greeting or its answer, then a grant, the end or small messages. A stranger gets no
/// further.
#[derive(Default)]
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

    /// Counts a received frame.
    pub(crate) fn count(&mut self) {
        self.received = self.received.saturating_add(1);
    }
}

/// The number of bytes that are collected before they are written.
pub(crate) const BUFFER: usize = 64 << 10;

/// The frames of a stream of bytes, with buffers that are so large at first.
pub(super) fn frames<T>(stream: T, frame: usize, capacity: usize) -> Framed<T, Lengths>
where
    T: AsyncRead + AsyncWrite,
{
    let codec = Lengths { codec: LengthDelimitedCodec::new(), largest: Largest::new(frame) };
    let mut framed = Framed::with_capacity(stream, codec, capacity);
    framed.set_backpressure_boundary(BUFFER);
    framed
}

/// Lengths of frames, which are limited.
pub(super) struct Lengths {
    codec: LengthDelimitedCodec,
    largest: Largest,
}

impl Decoder for Lengths {
    type Item = BytesMut;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> io::Result<Option<BytesMut>> {
        let most = self.largest.next();
        self.codec.set_max_frame_length(most);
        let frame = self.codec.decode(bytes).map_err(|error| {
            let text = format!("the other end announced a frame of more than {most} bytes");
            io::Error::new(error.kind(), text)
        })?;
        if frame.is_some() {
            self.largest.count();
        }
        Ok(frame)
    }
}

impl Encoder<Bytes> for Lengths {
    type Error = io::Error;

    fn encode(&mut self, frame: Bytes, bytes: &mut BytesMut) -> io::Result<()> {
        self.codec.set_max_frame_length(self.largest.frame.max(GREETING));
        self.codec.encode(frame, bytes)
    }
}
