//! Peers that have to come, and those that come when there is something to say to them: roles that
//! play on demand, in protocols that connect their roles.
//!
//! Where one of two roles plays on demand, nobody waits until both are there. The route between
//! them ends at a task, which calls the peer, or waits for its call, for as long as the role is
//! there. It is no mistake if nobody comes, until the role sends its first message, or misses one
//! of its other peers, which may have been the one that was to ask: then the peer has as much time
//! as others have to join.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use rumpsteak_runtime::transport::Labelled;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::address::Address;
use crate::codec::Codec;
use crate::error::NetError;
use crate::guard::Guard;
use crate::handshake::Hello;
use crate::host::{Arrival, Call, LONGEST_PAUSE, Shared, texts};
use crate::lane::{Lane, Packed};
use crate::limits::FOR_EVER;
use crate::reach::{Reach, answered_at, run};
use crate::transport::Connection;

/// A peer that has not come yet.
pub(crate) struct Awaited {
    pub(crate) shared: Arc<Shared>,
    /// How the role greets it.
    pub(crate) own: Hello,
    /// Where it is to be called.
    pub(crate) addresses: Vec<Address>,
    pub(crate) arrivals: UnboundedReceiver<Arrival>,
    pub(crate) guard: Arc<Guard>,
}

impl Awaited {
    /// Waits for the peer, as long as there is hope.
    pub(crate) async fn arrival(&mut self, until: Instant) -> Arrival {
        loop {
            // A program may listen a moment after its roles have begun to join.
            let look = until.min(Instant::now() + LONGEST_PAUSE);
            let arrival = timeout_at(look, self.arrivals.recv()).await.ok().flatten();
            let is_cut_off = || self.addresses.is_empty() && self.shared.cuts_off(&self.own);
            if arrival.is_some() || look == until || is_cut_off() {
                return arrival.unwrap_or_else(|| Arrival::Failed(self.absent()));
            }
        }
    }

    /// That it has not come.
    pub(crate) fn absent(&self) -> NetError {
        self.shared.absent(&self.own, &self.addresses, None)
    }

    /// Moves messages to and from the peer, which has come.
    pub(crate) async fn meet<M: Labelled + Serialize + DeserializeOwned, C: Codec>(
        self,
        mut lane: Lane<M, C>,
        connection: Connection,
        theirs: Hello,
        whose: Call,
    ) -> Result<(), NetError> {
        let Self { shared, own, mut addresses, arrivals, guard } = self;
        // Who has called calls again.
        match whose {
            Call::Own => answered_at(&mut addresses, &connection),
            Call::Theirs | Call::Again => addresses.clear(),
        }
        let own = Hello { known: Some(theirs.instance), ..own };
        let reach = Reach { shared, own, theirs, addresses, arrivals, guard: Some(guard) };
        let connection = match whose {
            // The first connection broke before it got here.
            Call::Again => reach.answer(&mut lane, connection, &reach.theirs).await.ok(),
            Call::Own | Call::Theirs => Some(connection),
        };
        run(lane, reach, connection).await
    }

    /// Moves messages to and from the peer, if it comes, and says that it has.
    pub(crate) async fn meet_on_demand<M: Labelled + Serialize + DeserializeOwned, C: Codec>(
        mut self,
        mut lane: Lane<M, C>,
        meets: UnboundedSender<()>,
    ) -> Result<(), NetError> {
        let mut calls = JoinSet::new();
        if self.addresses.is_empty() && self.shared.hello_to(&self.own).is_some() {
            // It is here. Where it is listened to, the role calls it again if it goes elsewhere.
            self.addresses = self.shared.listens();
            self.addresses.push(Address::new("memory", &self.own.peer));
        }
        self.call(&mut calls, Instant::now() + FOR_EVER);
        let (mut until, mut is_asked, mut refused) = (None, false, None);
        let failed = loop {
            // Who calls says itself when there is nobody.
            let late = until.map(|until: Instant| until + Duration::from_secs(1));
            let arrival = tokio::select! {
                biased;
                Some(arrival) = self.arrivals.recv() => Some(arrival),
                is_needed = poll_fn(|context| lane.poll_need(context)), if !is_asked => {
                    if !is_needed {
                        return Ok(());
                    }
                    is_asked = true;
                    None
                }
                () = self.guard.broken(), if until.is_none() => None,
                () = sleep_until(late.unwrap_or_else(Instant::now)), if late.is_some() => {
                    break self.absent();
                }
            };
            let Some(arrival) = arrival else {
                if let Some(error) = refused {
                    break error;
                }
                let soon = Instant::now() + self.shared.limits.join;
                if until.is_none() {
                    self.call(&mut calls, soon);
                    until = Some(soon);
                }
                continue;
            };
            match arrival {
                Arrival::Remote(connection, theirs, whose) => {
                    lane.know(self.own.numbers(&theirs));
                    // Only a role that plays on demand itself waits for that.
                    let _ = meets.send(());
                    drop((calls, meets));
                    return self.meet(lane, connection, *theirs, whose).await;
                }
                Arrival::Failed(error) if until.is_some() => break error,
                Arrival::Failed(error) => refused = Some(error),
                Arrival::Leave(packed) => {
                    // Who asked may have given up.
                    let _ = packed.send(self.pack(&mut lane));
                    return Ok(());
                }
                // It is called within a host, too.
                Arrival::Local(_) => {}
            }
        };
        lane.fail(failed.clone());
        // It may have been of no use to the role any more.
        if is_asked { Err(failed) } else { Ok(()) }
    }

    /// What another host needs to wait there.
    fn pack<M: Labelled + Serialize + DeserializeOwned, C: Codec>(
        self,
        lane: &mut Lane<M, C>,
    ) -> Result<Packed, NetError> {
        let Self { own, addresses, .. } = self;
        if addresses.is_empty() {
            let Hello { role, peer, .. } = own;
            return Err(NetError::Expected { role, peer });
        }
        let luggage = lane.pack()?;
        Ok(Packed { own, theirs: None, addresses: texts(&addresses), luggage })
    }

    /// Calls the peer, if this end is to call, in place of all earlier calls.
    fn call(&self, calls: &mut JoinSet<()>, until: Instant) {
        calls.abort_all();
        if !self.addresses.is_empty() {
            let (own, addresses) = (self.own.clone(), self.addresses.clone());
            calls.spawn(Arc::clone(&self.shared).call(own, addresses, until));
        }
    }
}
