//! Connections within the process.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::Mutex;

use tokio::io::{DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::connection::*;
use crate::platform::lock;

/// Connections within the process: `memory://name`. Messages become bytes as on any other
/// transport. Roles of one [`Host`](crate::Host) are wired directly, without a transport.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory;

impl Memory {
    pub(crate) fn pair(frame: usize) -> [Connection; 2] {
        let (near, far) = duplex(WINDOW);
        [framed(near, frame), framed(far, frame)]
    }
}

/// The listeners, by name.
static LISTENERS: Mutex<BTreeMap<String, UnboundedSender<DuplexStream>>> =
    Mutex::new(BTreeMap::new());

/// The largest number of bytes under way in each direction.
const WINDOW: usize = 64 << 10;

impl Transport for Memory {
    fn connect<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Connection> {
        Box::pin(async move {
            let (near, far) = duplex(WINDOW);
            let taken = lock(&LISTENERS).get(place).map(|listener| listener.send(far));
            match taken {
                Some(Ok(())) => Ok(framed(near, frame)),
                _ => Err(io::ErrorKind::ConnectionRefused.into()),
            }
        })
    }

    fn listen<'a>(&'a self, place: &'a str, frame: usize) -> IoFuture<'a, Listens> {
        Box::pin(async move {
            let mut listeners = lock(&LISTENERS);
            if listeners.contains_key(place) {
                return Err(io::ErrorKind::AddrInUse.into());
            }
            let (sender, connections) = unbounded_channel();
            listeners.insert(place.to_owned(), sender);
            let name = place.to_owned();
            Ok((Box::new(Listening { connections, name, frame }) as _, place.to_owned()))
        })
    }
}

struct Listening {
    connections: UnboundedReceiver<DuplexStream>,
    name: String,
    frame: usize,
}

impl Listener for Listening {
    fn accept(&mut self) -> IoFuture<'_, (Opening, Option<IpAddr>)> {
        Box::pin(async {
            let stream = self.connections.recv().await.ok_or(io::ErrorKind::NotConnected)?;
            let connection = framed(stream, self.frame);
            Ok((Box::pin(async { Ok(connection) }) as _, None))
        })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        lock(&LISTENERS).remove(&self.name);
    }
}
