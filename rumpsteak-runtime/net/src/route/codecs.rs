//! How the messages of a role become bytes, and the other way round.

use std::sync::Arc;

use rumpsteak_runtime::transport::Labelled;

use super::{Read, Write};
use crate::wire::Numbers;
use crate::{Codec, CodecError, NetError, Portable};

pub(crate) fn unwritten<M: Labelled>(peer: &str, message: &M, error: CodecError) -> NetError {
    NetError::Encode { peer: peer.to_owned(), label: message.label(), source: Arc::new(error) }
}

/// The error of a message that was written before, and does not fit the connection.
pub(super) fn encode_error<M: Labelled + Portable, C: Codec>(
    peer: &str,
    codec: &C,
    message: &[u8],
    error: CodecError,
) -> NetError {
    let label = codec.decode::<M>(message).map_or("", |message| message.label());
    NetError::Encode { peer: peer.to_owned(), label, source: Arc::new(error) }
}

pub(crate) fn reader<M: Portable, C: Codec>(peer: &str, codec: C) -> Read<M> {
    let peer = peer.to_owned();
    Box::new(move |bytes, numbers| {
        let read = match numbers {
            None => codec.decode(bytes),
            Some(numbers) => renumber(&codec, bytes, numbers).and_then(|it| codec.decode(&it)),
        };
        read.map_err(|error| NetError::Decode { peer: peer.clone(), source: Arc::new(error) })
    })
}

/// Writes a message to frames of at most so many bytes.
pub(crate) fn writer<M: Labelled + Portable, C: Codec>(
    peer: &str,
    codec: C,
    largest: usize,
) -> Write<M> {
    let peer = peer.to_owned();
    Box::new(move |batch, frames, message| {
        let written = batch.add(largest, frames, |bytes| codec.encode(message, bytes));
        written.map_err(|error| unwritten(&peer, message, error))
    })
}

/// The bytes of a message with the number that its label has here.
pub(super) fn renumber<C: Codec>(
    codec: &C,
    bytes: &[u8],
    numbers: &Numbers,
) -> Result<Vec<u8>, CodecError> {
    codec.renumber(bytes.to_vec(), |theirs| *numbers.get(theirs as usize)?)
}
