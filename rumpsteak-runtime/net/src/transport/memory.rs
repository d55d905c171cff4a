use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::task::{Context, Poll, ready};

use tokio::io::{DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

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
            listeners.retain(|_, listener| !listener.is_closed());
            if listeners.contains_key(place) {
                return Err(io::ErrorKind::AddrInUse.into());
            }
            let (sender, mut connections) = unbounded_channel();
            listeners.insert(place.to_owned(), sender);
            let accept = move |context: &mut Context<'_>| {
                let stream = ready!(connections.poll_recv(context));
                let connection = framed(stream.ok_or(io::ErrorKind::NotConnected)?, frame);
                Poll::Ready(Ok((Box::pin(async { Ok(connection) }) as Opening, None)))
            };
            Ok((Box::new(accept) as _, place.to_owned()))
        })
    }
}
