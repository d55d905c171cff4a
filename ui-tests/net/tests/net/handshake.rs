//! The greeting of a caller, as a stranger may read and change it.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::meddling::Hands;

/// The first bytes of a connection.
pub(crate) const MAGIC: &[u8] = b"rumpsteak\x08";

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Room {
    AtMost(u32),
    Growable,
    Waits(u32),
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Greeting {
    pub(crate) protocol: String,
    pub(crate) session: String,
    pub(crate) role: String,
    pub(crate) peer: String,
    pub(crate) contract: u64,
    pub(crate) system: u64,
    pub(crate) capacity: Room,
    pub(crate) members: u32,
    #[serde(with = "whole")]
    pub(crate) format: Format,
    pub(crate) instance: u128,
    pub(crate) known: Option<u128>,
    pub(crate) moves: Vec<u128>,
    pub(crate) received: u64,
    pub(crate) transports: Vec<String>,
}

/// It travels as bytes.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Format {
    pub(crate) projections: String,
    pub(crate) codec: String,
    pub(crate) labels: Vec<String>,
    pub(crate) types: BTreeMap<String, u64>,
}

mod whole {
    use rumpsteak_net::Blob;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::Format;

    pub(super) fn serialize<S: Serializer>(it: &Format, serializer: S) -> Result<S::Ok, S::Error> {
        Blob::from(postcard::to_stdvec(it).unwrap()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Format, D::Error> {
        Ok(postcard::from_bytes(&Blob::deserialize(from)?).unwrap())
    }
}

impl Greeting {
    pub(crate) fn read(frame: &[u8]) -> Self {
        postcard::from_bytes(frame.strip_prefix(MAGIC).unwrap()).unwrap()
    }

    /// This greeting, with another codec.
    pub(crate) fn codec(mut self, codec: &str) -> Self {
        codec.clone_into(&mut self.format.codec);
        self
    }

    pub(crate) fn frame(&self) -> Bytes {
        postcard::to_extend(self, MAGIC.to_vec()).unwrap().into()
    }
}

/// An answer to a greeting.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "shown where a test fails")]
pub(crate) enum Answer {
    Welcome(
        u64,
        u64,
        Room,
        u32,
        #[serde(with = "whole")] Format,
        u128,
        Option<u128>,
        Vec<u128>,
        u64,
        Vec<String>,
    ),
    Refused(rumpsteak_net::Refusal),
    Moved(Vec<String>),
    Offers(Vec<String>),
}

impl Answer {
    pub(crate) fn read(frame: &[u8]) -> Self {
        postcard::from_bytes(frame.strip_prefix(MAGIC).unwrap()).unwrap()
    }
}

/// The frames that callers have sent first.
pub(crate) type Greetings = Arc<Mutex<Vec<Greeting>>>;

/// Notes the first frame of a connection, and breaks it before it has more than so many.
pub(crate) struct Listening {
    pub(crate) heard: Greetings,
    pub(crate) sent: u32,
    pub(crate) most: u32,
}

impl Hands for Listening {
    fn send(&mut self, frame: Bytes) -> io::Result<Bytes> {
        if self.sent == 0 {
            self.heard.lock().unwrap().push(Greeting::read(&frame));
        }
        self.sent += 1;
        if self.sent > self.most { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(frame) }
    }
}
