//! Peers that have not joined yet. A role waits for them, unless one of the two plays on demand.
//!
//! If one of two roles plays on demand, neither waits for the other. A task calls the peer, or
//! waits for its call, for as long as the role is there. The time limit of joining begins when the
//! role sends its first message, or loses another peer, which may have been the one to call this
//! peer.

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use futures_core::Stream as _;
use futures_core::future::BoxFuture;
use rumpsteak_runtime::transport::Labelled;
use tokio::sync::mpsc::UnboundedSender;

use super::{Lane, Remote, answered_at, run};
use crate::host::{Arrival, Call, LONGEST_PAUSE};
use crate::limits::FOR_EVER;
use crate::platform::task::JoinSet;
use crate::platform::time::{Instant, sleep_until, timeout_at};
use crate::transport::Connection;
use crate::wire::{Hello, RouteId};
use crate::{Address, Codec, NetError, Portable};

impl Remote {
    /// Waits for the peer, as long as it can still join, and makes the calls of the role.
    pub(crate) fn arrival<'a>(
        &'a mut self,
        until: Instant,
        calls: &'a mut Vec<BoxFuture<'static, ()>>,
    ) -> BoxFuture<'a, Arrival> {
        Box::pin(async move {
            loop {
                // The program may begin to listen after its roles have begun to join.
                let look = until.min(Instant::now() + LONGEST_PAUSE);
                let poll = |context: &mut Context<'_>| {
                    calls.retain_mut(|call| call.as_mut().poll(context).is_pending());
                    Pin::new(&mut self.arrivals).poll_next(context)
                };
                let arrival = timeout_at(look, poll_fn(poll)).await.ok().flatten();
                let is_cut_off = || self.addresses.is_empty() && self.shared.cuts_off(&self.own);
                if arrival.is_some() || look == until || is_cut_off() {
                    return arrival.map_or_else(|| Arrival::Failed(self.absent()), |it| *it);
                }
            }
        })
    }

    pub(crate) fn absent(&self) -> NetError {
        self.shared.absent(&self.own, &self.addresses, None)
    }

    /// Moves messages to and from the peer, which has come.
    pub(crate) async fn meet<M: Labelled + Portable, C: Codec>(
        mut self: Box<Self>,
        mut lane: Box<Lane<M, C>>,
        connection: Box<Connection>,
        theirs: Box<Hello>,
        call: Call,
    ) -> Result<(), NetError> {
        // The end that called first also calls again after a break.
        match call {
            Call::Own => answered_at(&mut self.addresses, &connection),
            Call::Theirs | Call::Again => self.addresses.clear(),
        }
        let connection = match call {
            // The first connection broke before it was used.
            Call::Again => Box::pin(self.answer(&mut lane, connection, &theirs)).await.ok(),
            Call::Own | Call::Theirs => Some(connection),
        };
        run(lane, self, theirs, connection).await
    }

    /// Moves messages to and from the peer, if it comes. Notifies `meets` when it does.
    pub(crate) async fn meet_on_demand<M: Labelled + Portable, C: Codec>(
        mut self: Box<Self>,
        mut lane: Box<Lane<M, C>>,
        meets: Option<UnboundedSender<()>>,
    ) -> Result<(), NetError> {
        let mut calls = JoinSet::default();
        if self.addresses.is_empty() && self.shared.hello_to(&self.own).is_some() {
            // The peer is on this host. The other addresses are for calls after it has moved.
            self.addresses = self.shared.listens();
            self.addresses.push(Address::new("memory", &self.own.route.peer));
        }
        self.call(Instant::now() + FOR_EVER).map(|call| calls.spawn(call));
        let (mut until, mut is_asked, mut refused) = (None, false, None);
        let failed = loop {
            // A failed call reports its reason a moment earlier.
            let late = until.map(|until: Instant| until + Duration::from_secs(1));
            tokio::select! {
                biased;
                Ok(arrival) = self.arrivals.recv() => match *arrival {
                    Arrival::Remote(connection, theirs, call) => {
                        lane.numbers = self.own.numbers(&theirs).map(Arc::new);
                        // Only a role that plays on demand itself waits for this.
                        let _ = meets.as_ref().map(|meets| meets.send(()));
                        drop((calls, meets));
                        return self.meet(lane, connection, theirs, call).await;
                    }
                    Arrival::Failed(error) if until.is_some() => break error,
                    Arrival::Failed(error) => {
                        refused = Some(error);
                        continue;
                    }
                    Arrival::Leave(packed) => {
                        // Without addresses, another host could not call the peer.
                        let result = if self.addresses.is_empty() {
                            let RouteId { role, peer, .. } = &*self.own.route;
                            Err(NetError::Expected { role: role.to_string(), peer: peer.to_string() })
                        } else {
                            lane.pack().map(|snapshot| self.pack(None, snapshot))
                        };
                        let _ = packed.send(result);
                        return Ok(());
                    }
                    // The role also calls a peer on this host.
                    Arrival::Local(_) => continue,
                },
                is_needed = poll_fn(|context| lane.poll_need(context)), if !is_asked => {
                    if !is_needed {
                        return Ok(());
                    }
                    is_asked = true;
                }
                () = async {
                    match &self.guard {
                        Some(guard) => guard.broken().await,
                        None => pending().await,
                    }
                }, if until.is_none() => {}
                () = sleep_until(late.unwrap_or_else(Instant::now)), if late.is_some() => {
                    break self.absent();
                }
            }
            if let Some(error) = refused {
                break error;
            }
            if until.is_none() {
                let soon = Instant::now() + self.shared.limits.join;
                calls.abort_all();
                self.call(soon).map(|call| calls.spawn(call));
                until = Some(soon);
            }
        };
        lane.status.fail(failed.clone());
        // Without a message for the peer, its absence is not an error.
        if is_asked { Err(failed) } else { Ok(()) }
    }

    /// The call of the peer, if this end has addresses of it.
    pub(crate) fn call(&self, until: Instant) -> Option<BoxFuture<'static, ()>> {
        let (own, addresses) = (&self.own, &self.addresses);
        let call = || Arc::clone(&self.shared).call(Arc::clone(own), addresses.clone(), until);
        (!addresses.is_empty()).then(|| Box::pin(call()) as _)
    }
}
