use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;

use bytes::Bytes;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes, as a payload or a part of one. They are written and read as a whole, while serde takes a
/// `Vec<u8>` byte by byte. A role receives them without a copy, as a part of the memory into which
/// the connection was read, if they are large and the codec borrows from its input as
/// [`Postcard`](crate::Postcard) does.
///
/// ```
/// use rumpsteak_net::{Blob, Codec, Postcard};
///
/// let mut bytes = Vec::new();
/// Postcard.encode(&Blob::from(vec![7; 1_000]), &mut bytes)?;
/// let blob: Blob = Postcard.decode(&bytes)?;
/// assert_eq!(blob[..], [7; 1_000]);
/// # Ok::<(), rumpsteak_net::CodecError>(())
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Blob(pub Bytes);

impl Deref for Blob {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<T: Into<Bytes>> From<T> for Blob {
    fn from(bytes: T) -> Self {
        Self(bytes.into())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Bytewise)
    }
}

thread_local! {
    /// The message that is being read.
    static MESSAGE: RefCell<Bytes> = const { RefCell::new(Bytes::new()) };
}

/// Reads a message, whose blobs may keep its memory.
pub(crate) fn reading<T>(message: Bytes, read: impl FnOnce() -> T) -> T {
    MESSAGE.set(message);
    let value = read();
    MESSAGE.take();
    value
}

struct Bytewise;

impl<'de> Visitor<'de> for Bytewise {
    type Value = Blob;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Blob, E> {
        let shared = MESSAGE.with_borrow(|message| {
            let (all, part) = (message.as_ptr_range(), bytes.as_ptr_range());
            let is_part = all.start <= part.start && part.end <= all.end;
            (is_part && !bytes.is_empty()).then(|| message.slice_ref(bytes))
        });
        Ok(Blob(shared.unwrap_or_else(|| Bytes::copy_from_slice(bytes))))
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Blob, E> {
        Ok(bytes.into())
    }

    /// From a format that has no bytes.
    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Blob, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(sequence)).map(Blob::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Codec as _, Postcard};

    #[test]
    fn a_blob_is_a_part_of_the_message_that_is_read() {
        let mut bytes = Vec::new();
        let written = (1_u8, Blob::from(vec![7; 10_000]), "text", Blob::default());
        Postcard.encode(&written, &mut bytes).unwrap();
        let message = Bytes::from(bytes);
        let decode = || Postcard.decode::<(u8, Blob, String, Blob)>(&message).unwrap();
        let (_, shared, _, empty) = reading(message.clone(), decode);
        let (_, copied, ..) = decode();
        assert_eq!((&shared, &empty), (&written.1, &written.3));
        assert_eq!(copied, shared);
        let is_part = |blob: &Blob| message.as_ptr_range().contains(&blob.as_ptr());
        assert_eq!([is_part(&shared), is_part(&copied)], [true, false]);
    }
}
