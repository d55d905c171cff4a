use std::marker::PhantomData;
use std::sync::Arc;

use rumpsteak_runtime::private::{ByMacro, ChangesHands, Leaves, Structure};
use rumpsteak_runtime::states::{Session, State};
use rumpsteak_runtime::transport::Link as _;
use rumpsteak_runtime::{Detached, Role};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::join::RouteTask;
use super::wiring::{Facts, Families, lane, plays_on_demand, role_of, token};
use crate::address::addresses_of;
use crate::host::{Arrival, Leaving};
use crate::route::{Remote, begin, queues as queues_of, run};
use crate::wire::{Hello, PackedLane};
use crate::{Codec, Host, Joined, Joins, Net, NetError, Outbox, Postcard};

/// A session that moves to another host in the state `S`. [`Joined::pack`] makes it. It is sent as
/// (part of) a payload, like a [`Detached`], and [unpacked](Self::unpack) at the new host.
///
/// Its peers see only a pause: their connections break, and they resume with the new host. If that
/// takes longer than [`Limits::resume`](crate::Limits::resume), or if the parcel is dropped, they
/// lose the role.
///
/// A parcel is a secret: its owner can play the role to the end.
#[derive(Deserialize, Serialize)]
#[serde(bound = "")]
#[must_use = "the session is lost unless it is unpacked"]
pub struct Parcel<S> {
    state: u64,
    routes: Vec<PackedLane>,
    #[serde(skip)]
    session: PhantomData<fn() -> S>,
}

impl<R: Role, S: Session<State = State<'static, R>>> ChangesHands for Parcel<S> {
    type Role = R;
}

impl<R: Joins + Leaves<()>> Joined<R> {
    /// Moves a session of the role to another host, which listens at these addresses. The peers
    /// that have called this host call there. The new host calls the other peers, at the addresses
    /// where this host has called them. Dropping the future ends the session. So does a
    /// failure: if an address is invalid, if the session belongs to another role or was already
    /// continued, or if a peer is lost.
    pub async fn pack<S: Session<State = State<'static, R>> + Structure>(
        self,
        session: Detached<S>,
        to: impl IntoIterator<Item: AsRef<str>>,
    ) -> Result<Parcel<S>, NetError> {
        let to = addresses_of(to)?;
        let Self { routes, guard, codec, .. } = self;
        let mut links: Vec<Net<R::Message>> = Vec::new();
        if let Some(role) = session.into_role(ByMacro(())) {
            role.into_routes(|route| links.extend(route.downcast().map(|link| *link)));
        }
        let completed = links.first().map_or(0, |link| link.mark().completed() as u64);
        let halves = links.into_iter().filter_map(|link| link.into_halves(ByMacro(())));
        let mut halves: Vec<_> = halves.map(Some).collect();
        let is_own = |(halves, route): (&Option<(Outbox<_>, _)>, &RouteTask)| {
            halves.as_ref().is_some_and(|(outbox, _)| Arc::ptr_eq(&outbox.status, &route.status))
        };
        if halves.len() != routes.len() || !halves.iter().zip(&routes).all(is_own) {
            return Err(NetError::NotHere { role: R::NAME });
        }
        let stay = |own: &Hello, peer: &Hello, arrivals| {
            let at = routes.iter().position(|route| route.own.route == own.route)?;
            let queues = halves[at].take().and_then(queues_of)?;
            let (shared, addresses) = (Arc::clone(&guard.shared), to.clone());
            let peer = peer.clone().knowing(own.lane.own).into();
            let remote = Box::new(Remote { shared, own: peer, addresses, arrivals, guard: None });
            Some(codec.lane(queues, remote, own.clone().into(), Arc::clone(&routes[at].status)))
        };
        let mut lanes = guard.shared.leave(&guard.endpoint, to.clone(), stay);
        let mut packed = Vec::new();
        for (halves, RouteTask { own, lane, .. }) in halves.into_iter().zip(routes) {
            let peer = own.route.peer.clone();
            let fresh_or_packed = match lanes.remove(&peer) {
                Some(Leaving::Local(theirs)) => Some(PackedLane::fresh(&own, &theirs)),
                Some(Leaving::Lane(arrivals, left)) => {
                    let (reply, packed) = oneshot::channel();
                    // If this fails, the lane has ended, and does not reply.
                    let _ = arrivals.unbounded_send(Box::new(Arrival::Leave(reply)));
                    drop(arrivals);
                    let packed = packed.await.ok().transpose()?;
                    if packed.as_ref().is_some_and(|packed| packed.addresses.is_empty()) {
                        guard.shared.expects_call(&guard.endpoint, &peer);
                    }
                    if let Some(task) = lane.or(left) {
                        task.await.unwrap_or(Ok(()))?;
                    }
                    packed
                }
                None => None,
            };
            let unread = halves.map(|(_, inbox)| inbox.into_unread()).transpose()?;
            let (unread, left_after) = unread.unwrap_or_default();
            let unread = codec.bytes_of(&peer, unread)?;
            let departed = || PackedLane::departed(&own, left_after, unread.len());
            let mut route = fresh_or_packed.unwrap_or_else(departed);
            route.snapshot.state.completed += completed;
            route.snapshot.unread.splice(..0, unread);
            packed.push(route);
        }
        Ok(Parcel { state: S::FINGERPRINT, routes: packed, session: PhantomData })
    }
}

impl<R: Joins + Leaves<()>, S: Session<State = State<'static, R>> + Structure> Parcel<S> {
    /// Continues the session at this host. The session has the routes, so the returned role can
    /// only [leave](Joined::leave), or move to a further host. Fails if the session is in another
    /// state, or was begun by another version of the program, if the role has already joined it
    /// here.
    pub fn unpack(self, host: &Host) -> Result<(Joined<R>, Detached<S>), NetError> {
        self.unpack_by(host, Postcard)
    }

    /// As [`unpack`](Self::unpack), for another codec.
    pub fn unpack_by<C: Codec>(
        self,
        host: &Host,
        codec: C,
    ) -> Result<(Joined<R>, Detached<S>), NetError> {
        let first = self.routes.first();
        let session = first.map_or_else(|| "".into(), |it| it.own.route.session.clone());
        // A role with routes to a family never moves.
        let families = Families::new();
        let endpoint = (session, R::PROTOCOL.into(), R::NAME.into());
        let facts = Facts::of::<R, C>();
        let expected = facts.hellos(&endpoint, &facts.queues(&families)?, &[])?;
        let on_demand = R::PLAYED.0.on_demand;
        let is_expected = |(packed, hello): (&PackedLane, &Arc<Hello>)| {
            let PackedLane { own, theirs, .. } = packed;
            (&own.route, &own.contract, &own.format)
                == (&hello.route, &hello.contract, &hello.format)
                && (theirs.is_some() || plays_on_demand(on_demand, &own.route))
        };
        if self.state != S::FINGERPRINT
            || self.routes.len() != expected.len()
            || !self.routes.iter().zip(&expected).all(is_expected)
        {
            return Err(NetError::OtherSession { role: R::NAME });
        }
        let shared = &host.shared;
        let number = token()?;
        let owns = self.routes.iter().map(|packed| packed.own.clone().moved(number).into());
        let owns: Vec<Arc<Hello>> = owns.collect();
        // A peer that has not joined calls, or is called.
        let (guard, arrivals) = shared.register(endpoint, on_demand, &owns, &|_, _| None)?;
        let (mut ends, mut routes) = (Vec::new(), Vec::new());
        for ((packed, own), arrivals) in self.routes.into_iter().zip(owns).zip(arrivals) {
            let PackedLane { theirs, addresses, snapshot, .. } = packed;
            let is_on_demand = plays_on_demand(on_demand, &own.route);
            let (end, lane, status) =
                lane(&own, theirs.as_ref(), codec.clone(), shared, is_on_demand);
            let lane = lane.unpack(snapshot, !is_on_demand)?;
            ends.push(end);
            let mut greeting = Hello::clone(&own);
            greeting.lane.known = None;
            let (shared, guard) = (Arc::clone(shared), Some(Arc::clone(&guard)));
            let remote = Box::new(Remote { shared, own, addresses, arrivals, guard });
            let task = match theirs {
                Some(theirs) => begin(Box::pin(run(lane, remote, theirs.into(), None))),
                None => begin(Box::pin(remote.meet_on_demand(lane, None))),
            };
            routes.push(RouteTask { own: greeting.into(), status, lane: Some(task) });
        }
        let mut role = role_of::<R>(ends, &families);
        let session = Detached::from_role(&mut role, ByMacro(()));
        Ok((Joined { role, routes, guard, codec: Box::new(codec) }, session))
    }
}

impl_debug!([S] Parcel<S>, "role": |it| it.routes.first().map(|packed| packed.own.route.near()));
