//! A host: the roles that a process plays, and the addresses at which others reach them.

mod dial;
mod negotiation;
mod reception;
mod shared;

use std::io;
use std::sync::{Arc, Mutex};

use futures_core::future::BoxFuture;

pub(crate) use self::reception::dismiss;
pub(crate) use self::shared::*;
use crate::platform::task::JoinSet;
use crate::platform::time::{Instant, sleep, timeout_at};
use crate::transport::{Listener, Transports};
use crate::{Address, Limits, NetError};

/// The addresses at which a process listens, and the roles that it plays in sessions.
///
/// Roles that join a session at the same host are wired in memory, whatever addresses they have. A
/// clone is the same host. When the last clone is dropped, the host stops listening. Its sessions
/// go on as long as their connections do.
#[derive(Clone)]
pub struct Host {
    pub(crate) shared: Arc<Shared>,
    /// The tasks that listen. They end with the last clone.
    listening: Arc<Mutex<JoinSet<()>>>,
}

impl Host {
    /// A host that does not listen yet: its roles call their peers, or join with them here.
    pub fn new() -> Self {
        Self::with(Transports::default(), Limits::default())
    }

    /// A host with these transports and limits.
    pub fn with(transports: Transports, limits: Limits) -> Self {
        Self { shared: Arc::new(Shared::new(transports, limits)), listening: Arc::default() }
    }

    /// Listens at an address, and returns the address by which others reach the host. It differs if
    /// a part was left open, such as port 0. A host may listen at several addresses. It waits for
    /// an absent broker as long as [for peers](Limits::join). Fails if the address is invalid, or
    /// the host cannot listen there.
    pub async fn listen(&self, address: &str) -> Result<Address, NetError> {
        self.listen_for(address, true).await
    }

    /// Listens at an address where no session runs. Callers are redirected to the best address at
    /// which the host [listens](Self::listen).
    pub async fn meet(&self, address: &str) -> Result<Address, NetError> {
        self.listen_for(address, false).await
    }

    /// Waits until the peers of all sessions that have [moved](crate::Joined::pack) to other hosts
    /// know the new address, or no longer ask. If the program ends earlier, a peer may never learn
    /// the address.
    pub async fn told(&self) {
        loop {
            let mut changed = std::pin::pin!(self.shared.changed.notified());
            changed.as_mut().enable();
            let last = {
                let moved = &lock(&self.shared.registry).moved;
                moved.values().flat_map(|moved| moved.asks.values()).max().copied()
            };
            let Some(until) = last.filter(|until| *until > Instant::now()) else { return };
            let _ = timeout_at(until, changed).await;
        }
    }

    /// Passes errors that end no session to `tell`: [`NetError::Accept`], if the process is out of
    /// files, and [`NetError::Full`]. It is told the same error at most every 10 s. By default, the
    /// host prints them to stderr.
    pub fn tell(&self, tell: impl FnMut(&NetError) + Send + 'static) {
        lock(&self.shared.told).tell = Box::new(tell);
    }

    fn listen_for<'a>(
        &'a self,
        address: &'a str,
        has_sessions: bool,
    ) -> BoxFuture<'a, Result<Address, NetError>> {
        Box::pin(async move {
            let address: Address = address.parse()?;
            let Shared { transports, limits, .. } = &*self.shared;
            let transport = transports.of(&address)?;
            let (until, mut pause) = (Instant::now() + limits.join, FIRST_PAUSE);
            let is_absent = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
            let (listener, place) = loop {
                match transport.listen(address.place(), limits.frame).await {
                    Ok(listens) => break listens,
                    Err(error) if is_absent(&error) && Instant::now() < until => sleep(pause).await,
                    Err(error) => {
                        return Err(NetError::Listen { address, source: Arc::new(error) });
                    }
                }
                pause = (pause * 2).min(LONGEST_PAUSE);
            };
            let reached = Address::new(address.scheme(), &place);
            let listening = Arc::downgrade(&self.listening);
            let listened = Listened { listening, address: reached.clone(), has_sessions };
            lock(&self.shared.listened).push(listened.clone());
            lock(&self.listening).spawn(accept(Arc::clone(&self.shared), listener, listened));
            Ok(reached)
        })
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!([] Host, "listens": |it| it.shared.listens());

/// Accepts connections for as long as the host listens.
async fn accept(shared: Arc<Shared>, mut listener: Box<dyn Listener>, at: Listened) {
    loop {
        match listener.accept().await {
            Ok((opening, caller)) => shared.admit(caller, opening, at.clone()),
            Err(error) => {
                let (address, source) = (at.address.clone(), Arc::new(error));
                shared.tell(NetError::Accept { address, source });
                lock(&shared.gate).drop_oldest(|_| true);
                sleep(FIRST_PAUSE).await;
            }
        }
    }
}
