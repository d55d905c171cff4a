//! The state that a role and the task of its lane share.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use atomic_waker::AtomicWaker;
use rumpsteak_runtime::channel::Disconnected;
use rumpsteak_runtime::error::BoxError;

use crate::platform::lock;
use crate::platform::time::Instant;
use crate::transport::Connection;
use crate::wire::Amount;
use crate::{Address, NetError};

#[derive(Debug, Default)]
pub(crate) struct RouteStatus {
    failed: OnceLock<NetError>,
    /// The number of messages and bytes that the role of the peer has taken, and the window, as the
    /// task of the lane knows them.
    taken: [AtomicU64; 3],
    /// The role, if it waits for room.
    pub(super) room: AtomicWaker,
    /// The number of messages that were sent to the peer, that have come from it, and that its role
    /// has taken.
    progress: [AtomicU64; 3],
    connection: Mutex<Option<Connected>>,
    /// Of a stored role.
    pub(crate) unsaved: OnceLock<Unsaved>,
}

/// True if a stored role has sent messages since it was saved. They only leave when it is saved, so
/// it must not wait for an answer.
pub(crate) type Unsaved = Arc<AtomicBool>;

/// The last connection.
#[derive(Debug)]
struct Connected {
    at: Option<Address>,
    caller: Option<IpAddr>,
    scheme: Option<Arc<str>>,
    /// The time of the last frame from the peer.
    heard: Instant,
}

impl Connected {
    fn address(&self) -> Option<String> {
        let called = self.at.as_ref().map(Address::to_string);
        called.or_else(|| self.caller.map(|address| address.to_string()))
    }
}

pub(crate) type SharedStatus = Arc<RouteStatus>;

impl RouteStatus {
    /// Sets the error that the role gets, unless there is an earlier one.
    pub(crate) fn fail(&self, error: NetError) {
        let _ = self.failed.set(error);
    }

    pub(crate) fn check(&self) -> Result<(), NetError> {
        self.failed.get().cloned().map_or(Ok(()), Err)
    }

    #[inline]
    pub(super) fn note_sent(&self) {
        if let Some(unsaved) = self.unsaved.get() {
            unsaved.store(true, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn is_unsaved(&self) -> bool {
        self.unsaved.get().is_some_and(|unsaved| unsaved.load(Ordering::Relaxed))
    }

    /// The role has a connection with its peer.
    pub(crate) fn connected(&self, Connection { at, caller, scheme, .. }: &Connection) {
        let (at, caller, scheme) = (at.clone(), *caller, scheme.clone());
        *lock(&self.connection) = Some(Connected { at, caller, scheme, heard: Instant::now() });
    }

    /// A frame has come from the peer.
    pub(crate) fn heard(&self) {
        if let Some(connected) = &mut *lock(&self.connection) {
            connected.heard = Instant::now();
        }
    }

    /// Describes the connection, for the report of a watch.
    pub(crate) fn describe(&self) -> String {
        match &*lock(&self.connection) {
            Some(connected) => {
                let address = connected.address().unwrap_or_else(|| "an unknown address".into());
                let heard = connected.heard.elapsed();
                format!("at {address}, the connection is silent for {heard:.1?}")
            }
            None => "no connection yet".to_owned(),
        }
    }

    pub(super) fn note_progress(&self, progress: [u64; 3]) {
        for (to, number) in self.progress.iter().zip(progress) {
            to.store(number, Ordering::Relaxed);
        }
    }

    /// The error of a process that finds the other end of a queue gone.
    pub(super) fn reason(&self) -> BoxError {
        self.check().map_or_else(Into::into, |()| Disconnected.into())
    }

    /// The role of the peer has taken so much, and the window has so many bytes. Wakes the role.
    pub(super) fn note_taken(&self, taken: Amount, window: u64) {
        for (to, number) in self.taken.iter().zip([taken.messages, taken.bytes, window]) {
            to.store(number, Ordering::Release);
        }
        self.room.wake();
    }

    pub(super) fn taken_by_peer(&self) -> (Amount, u64) {
        let [messages, bytes, window] =
            self.taken.each_ref().map(|number| number.load(Ordering::Acquire));
        (Amount { messages, bytes }, window)
    }
}

/// A peer of a role that has joined a session: see [`Joined::peer`](crate::Joined::peer). It may be
/// kept, and asked while the role plays.
///
/// Over a connection that breaks, the numbers go on. They are 0 for a peer on the same host, which
/// has no connection.
#[derive(Clone, Debug)]
pub struct Peer(pub(crate) SharedStatus);

impl Peer {
    /// The scheme of the transport of the last connection, such as `tcp`. `None` for a peer on the
    /// same host, and for one that has not come yet.
    pub fn transport(&self) -> Option<String> {
        let connection = lock(&self.0.connection);
        let Connected { at, scheme, .. } = connection.as_ref()?;
        at.as_ref().map(Address::scheme).or(scheme.as_deref()).map(str::to_owned)
    }

    /// The address at which the peer was called, or from which it has called, if that is known.
    pub fn address(&self) -> Option<String> {
        lock(&self.0.connection).as_ref()?.address()
    }

    /// The number of messages that were sent to the peer.
    pub fn sent(&self) -> u64 {
        self.progress(0)
    }

    /// The number of messages that have come from the peer.
    pub fn received(&self) -> u64 {
        self.progress(1)
    }

    /// The number of sent messages that the role of the peer is known to have taken. It is told
    /// from time to time.
    pub fn taken(&self) -> u64 {
        self.progress(2)
    }

    fn progress(&self, which: usize) -> u64 {
        self.0.progress[which].load(Ordering::Relaxed)
    }
}
