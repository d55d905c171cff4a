//! A host: the roles that a process plays, and the addresses at which others reach them.

mod absence;
mod dial;
mod gate;
mod negotiation;
mod reception;
mod registry;
mod shared;

use std::sync::{Arc, Mutex};
use std::{fmt, io};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use self::gate::Gate;
pub(crate) use self::reception::dismiss;
use self::reception::hear_greeting;
pub(crate) use self::registry::{
    Arrival, Call, FIRST_PAUSE, Greeted, LONGEST_PAUSE, LaneTask, Leaving,
};
use self::registry::{Moved, Registry, Slot, SlotPeer};
pub(crate) use self::shared::Shared;
use self::shared::{Listened, MOMENT, lock};
use crate::transport::{Listener, Transports};
use crate::{Address, Limits, NetError};

/// The part of a process that others see: the addresses at which it listens, and the roles that it
/// plays in sessions.
///
/// Roles of one session that join it at one host are wired in memory, whatever addresses they have.
/// A clone is the same host. When the last clone is dropped, the host stops listening. Sessions
/// that were joined go on as long as their connections do.
#[derive(Clone)]
pub struct Host {
    pub(crate) shared: Arc<Shared>,
    /// The tasks that listen: they end with the last clone.
    listening: Arc<Mutex<JoinSet<()>>>,
}

impl Host {
    /// A host that does not listen: its roles call their peers, or have them beside them.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Transports::default(), Limits::default())
    }

    /// A host with these transports and limits.
    #[must_use]
    pub fn with(transports: Transports, limits: Limits) -> Self {
        let shared = Shared::new(transports, limits);
        Self { shared: Arc::new(shared), listening: Arc::default() }
    }

    /// Listens at an address, and returns the address by which others reach it: another one if a
    /// part was left open, as by port 0. A host may listen at several addresses. It waits for a
    /// broker that is not there yet as long as [for peers](Limits::join).
    ///
    /// # Errors
    ///
    /// If the address is invalid, or the host cannot listen there.
    pub async fn listen(&self, address: &str) -> Result<Address, NetError> {
        self.listen_for(address, true).await
    }

    /// Listens at an address only to say where sessions run: at the addresses at which the host
    /// [listens](Self::listen), whichever suits the peer best.
    pub async fn meet(&self, address: &str) -> Result<Address, NetError> {
        self.listen_for(address, false).await
    }

    /// Waits until the peers of all sessions that have [moved](crate::Joined::pack) to other hosts
    /// know the new address, or no longer ask. A program that ends earlier may leave a peer without
    /// the address.
    pub async fn told(&self) {
        loop {
            let mut changed = std::pin::pin!(self.shared.changed.notified());
            changed.as_mut().enable();
            let until = self.shared.registry().asks_until();
            let Some(until) = until.filter(|until| *until > Instant::now()) else { return };
            let _ = timeout_at(until, changed).await;
        }
    }

    async fn listen_for(&self, address: &str, has_sessions: bool) -> Result<Address, NetError> {
        let address: Address = address.parse()?;
        let Shared { transports, limits, .. } = &*self.shared;
        let transport = transports.of(&address)?;
        let (until, mut pause) = (Instant::now() + limits.join, FIRST_PAUSE);
        let (listener, place) = loop {
            match transport.listen(address.place(), limits.frame).await {
                Ok(listens) => break listens,
                Err(error)
                    if error.kind() == io::ErrorKind::ConnectionRefused
                        && Instant::now() < until => {}
                Err(error) => return Err(NetError::Listen { address, source: Arc::new(error) }),
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
        let reached = Address::new(address.scheme(), &place);
        let listened = Listened { address: reached.clone(), has_sessions };
        lock(&self.shared.listened).push(listened.clone());
        lock(&self.listening).spawn(accept(Arc::clone(&self.shared), listener, listened));
        Ok(reached)
    }

    /// The names of the sessions in which others expect this role here: those of roles that wait
    /// already, and new ones.
    pub(crate) fn announce(&self, protocol: &str, role: &str) -> UnboundedReceiver<String> {
        let announced = self.shared.registry().serve(protocol, role, &self.shared.limits);
        self.shared.changed.notify_waiters();
        announced
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listened = lock(&self.shared.listened);
        let addresses: Vec<_> = listened.iter().map(|at| at.address.to_string()).collect();
        f.debug_struct("Host")
            .field("listens", &addresses)
            .field("plays", &self.shared.registry().endpoints())
            .finish()
    }
}

/// Accepts connections for as long as the host listens.
async fn accept(shared: Arc<Shared>, mut listener: Box<dyn Listener>, at: Listened) {
    loop {
        match listener.accept().await {
            Ok((opening, caller)) => shared.admit(caller, opening, at.clone()),
            Err(_) => {
                // Too many open files, mostly.
                lock(&shared.gate).give_up_oldest(|_| true);
                sleep(FIRST_PAUSE).await;
            }
        }
    }
}
