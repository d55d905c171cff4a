//! The state that a role and the task of its lane share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use atomic_waker::AtomicWaker;
use rumpsteak_runtime::channel::Disconnected;
use rumpsteak_runtime::error::BoxError;

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
    /// The address of the peer, and the time of the last frame from it, once there is a connection.
    connection: Mutex<Option<(String, Instant)>>,
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

    /// The role has a connection with its peer.
    pub(crate) fn connected(&self, Connection { at, caller, .. }: &Connection) {
        let address = at.as_ref().map(Address::to_string);
        let address = address.or_else(|| caller.map(|address| address.to_string()));
        let address = address.unwrap_or_else(|| "an unknown address".to_owned());
        *self.connection() = Some((address, Instant::now()));
    }

    /// A frame has come from the peer.
    pub(crate) fn heard(&self) {
        if let Some((_, last)) = &mut *self.connection() {
            *last = Instant::now();
        }
    }

    /// Describes the connection, for the report of a watch.
    pub(crate) fn describe(&self) -> String {
        match &*self.connection() {
            Some((address, last)) => {
                format!("at {address}, the connection is silent for {:.1?}", last.elapsed())
            }
            None => "no connection yet".to_owned(),
        }
    }

    fn connection(&self) -> MutexGuard<'_, Option<(String, Instant)>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
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
