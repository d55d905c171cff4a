//! How messages become bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why a message did not become bytes, or bytes no message.
pub type CodecError = Box<dyn std::error::Error + Send + Sync>;

/// How messages become bytes. Both ends of a connection use the same codec.
pub trait Codec: Clone + Send + Sync + 'static {
    /// What the ends compare in their handshake.
    const NAME: &'static str;

    /// Whether it writes the names of fields and variants, so that those of a type may have another
    /// order at the other end, and not all need be there. Otherwise both ends must have each type
    /// with the same ones, or they do not come together: [`Refusal::Type`](crate::Refusal::Type).
    const WRITES_NAMES: bool = false;

    /// Adds the bytes of a message.
    ///
    /// # Errors
    ///
    /// If the message cannot be written.
    fn encode<M: Serialize>(&self, message: &M, bytes: &mut Vec<u8>) -> Result<(), CodecError>;

    /// The message that bytes are; all of them, and nothing more.
    ///
    /// # Errors
    ///
    /// If they are none.
    fn decode<M: DeserializeOwned>(&self, bytes: &[u8]) -> Result<M, CodecError>;

    /// Changes the number of the label in the bytes of a message from what it is at the other end
    /// to what it is here. Called where the message types of the ends have their labels in another
    /// order, or have others; `number` is `None` for a label that is unknown here. A codec that
    /// writes labels by their names has nothing to do.
    ///
    /// # Errors
    ///
    /// If there is no label, or none that is known here.
    fn renumber(
        &self,
        bytes: Vec<u8>,
        number: impl FnOnce(u32) -> Option<u32>,
    ) -> Result<Vec<u8>, CodecError>;
}

/// The compact format of the crate `postcard`: a label is the number of its variant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Postcard;

impl Codec for Postcard {
    const NAME: &'static str = "postcard";

    fn encode<M: Serialize>(&self, message: &M, bytes: &mut Vec<u8>) -> Result<(), CodecError> {
        Ok(postcard::to_io(message, bytes).map(drop)?)
    }

    fn decode<M: DeserializeOwned>(&self, bytes: &[u8]) -> Result<M, CodecError> {
        let (message, rest) = postcard::take_from_bytes(bytes)?;
        if rest.is_empty() { Ok(message) } else { Err("bytes follow the message".into()) }
    }
    fn renumber(
        &self,
        bytes: Vec<u8>,
        number: impl FnOnce(u32) -> Option<u32>,
    ) -> Result<Vec<u8>, CodecError> {
        let (theirs, payload) = postcard::take_from_bytes(&bytes)?;
        let own = number(theirs).ok_or("its label is unknown here")?;
        let mut bytes = postcard::to_stdvec(&own)?;
        bytes.extend(payload);
        Ok(bytes)
    }
}
