//! Codecs, which write messages as bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::CodecError;

/// A format of messages. Both ends of a connection use the same codec.
pub trait Codec: Clone + Send + Sync + 'static {
    /// The name that the ends compare in their handshake.
    const NAME: &'static str;

    /// True if the codec writes the names of fields and variants. Then the fields and variants of a
    /// type may differ between the ends. Otherwise an end with another type is refused:
    /// [`Refusal::Type`](crate::Refusal::Type).
    const WRITES_NAMES: bool = false;

    /// Adds the bytes of a message. Fails if the message cannot be written.
    fn encode<M: Serialize>(&self, message: &M, bytes: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Reads a message that is all of these bytes. Fails if they are not a message.
    fn decode<M: DeserializeOwned>(&self, bytes: &[u8]) -> Result<M, CodecError>;

    /// Replaces the number that the label of a message has at the other end by the number that it
    /// has here. Called if the labels of the message types differ. `number` returns `None` for an
    /// unknown label. A codec that writes the names of labels has nothing to do. Fails if the label
    /// is missing or unknown.
    fn renumber(
        &self,
        bytes: Vec<u8>,
        number: impl FnOnce(u32) -> Option<u32>,
    ) -> Result<Vec<u8>, CodecError>;
}

/// A message type that can be written and read. Implemented for every type that is `Send` and
/// derives serde's `Serialize` and `Deserialize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot go to another process",
    label = "its messages are of type `{Self}`, which cannot be written and read",
    note = "add `#[derive(serde::Serialize, serde::Deserialize)]` to `{Self}`, or, if its module does not write it, \
            `derive(serde::Serialize, serde::Deserialize)` to the module's `#[protocol(…)]`; it has to be `Send`, too"
)]
pub trait Portable: Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<M: Serialize + DeserializeOwned + Send + 'static> Portable for M {}

/// The compact format of the crate `postcard`. It writes a label as the number of its variant.
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
