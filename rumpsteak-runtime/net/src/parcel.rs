//! Sessions that go to another host.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use rumpsteak_runtime::private::{ByMacro, ChangesHands, Leaves, Structure};
use rumpsteak_runtime::states::{Session, State};
use rumpsteak_runtime::transport::Link as _;
use rumpsteak_runtime::{Detached, Role};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::address::addresses_of;
use crate::codec::{Codec, Postcard};
use crate::demand::Awaited;
use crate::error::NetError;
use crate::guard::Guard;
use crate::handshake::{Hello, random};
use crate::host::{Arrival, Host, Leaving, texts};
use crate::join::{Joined, Joins, Tie, hellos, lane, queues, role_of};
use crate::lane::Packed;
use crate::link::{Net, Outbox, queues as queues_of};
use crate::reach::{Reach, run};

/// A session on its way to another host, from the state `S` on: made by [`Joined::pack`], sent as
/// (part of) a payload, as a [`Detached`] is, and gone on with where it is
/// [unpacked](Self::unpack).
///
/// Its peers see nothing but a pause: their connections break, and they resume them with the new
/// host. That has to happen within [`Limits::resume`](crate::Limits::resume); after that, or if it
/// is dropped, they find that the role is lost.
///
/// Whoever has a parcel can play the role to its end. It is as secret as the connection over which
/// it is sent.
#[derive(Deserialize, Serialize)]
#[serde(bound = "")]
#[must_use = "the session is lost unless it is unpacked"]
pub struct Parcel<S> {
    /// The fingerprint of the state.
    state: u64,
    routes: Vec<Packed>,
    #[serde(skip)]
    session: PhantomData<fn() -> S>,
}

impl<R: Role, S: Session<State = State<'static, R>>> ChangesHands for Parcel<S> {
    type Role = R;
}

impl<R: Joins + Leaves<()>> Joined<R> {
    /// Takes a session of the role away, to another host that listens at these addresses: there
    /// those peers call it that have called this host. Other peers are called from there, where
    /// this host has called them.
    ///
    /// # Errors
    ///
    /// If an address is none; if the session is another one, or was gone on with; if a peer is
    /// lost. The session ends then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the session.
    pub async fn pack<S, A>(
        self,
        session: Detached<S>,
        to: impl IntoIterator<Item = A>,
    ) -> Result<Parcel<S>, NetError>
    where
        S: Session<State = State<'static, R>> + Structure,
        A: AsRef<str>,
    {
        let to = addresses_of(to)?;
        let Self { ties, guard, writes, .. } = self;
        let mut links: Vec<Net<R::Message>> = Vec::new();
        if let Some(role) = session.into_role(ByMacro(())) {
            role.into_routes(|route| links.extend(route.downcast().map(|link| *link)));
        }
        let completed = links.first().map_or(0, |link| link.mark().completed() as u64);
        let halves = links.into_iter().map(|link| link.into_halves(ByMacro(())));
        let halves: Vec<_> = halves.flatten().collect();
        let is_own = |((outbox, _), tie): (&(Outbox<_>, _), &Tie)| {
            outbox.fate.as_ref().is_some_and(|own| Arc::ptr_eq(own, &tie.fate))
        };
        if halves.len() != ties.len() || !halves.iter().zip(&ties).all(is_own) {
            return Err(NetError::NotHere { role: R::NAME });
        }
        let names = texts(&to);
        let mut halves: Vec<_> = halves.into_iter().map(Some).collect();
        let stay = |own: &Hello, peer: Hello, arrivals| {
            let at = ties.iter().position(|tie| tie.own.peer == own.peer)?;
            let reach = Reach {
                shared: Arc::clone(&guard.shared),
                own: Hello { known: Some(own.instance), ..peer },
                theirs: own.clone(),
                addresses: to.clone(),
                arrivals,
                guard: None,
            };
            let queues = halves[at].take().and_then(queues_of)?;
            Some(writes.lane(queues, reach, Arc::clone(&ties[at].fate)))
        };
        let mut lanes = guard.shared.leave(&guard.place, names, stay);
        let mut routes = Vec::new();
        for (halves, Tie { own, lane, .. }) in halves.into_iter().zip(ties) {
            let leaving = lanes.remove(&own.peer);
            let packed = match leaving {
                Some(Leaving { peer: Some(peer), .. }) => Some(Packed::fresh(own.clone(), peer)),
                Some(Leaving { arrivals, lane: stayed, .. }) => {
                    let (reply, packed) = oneshot::channel();
                    // A lane that is not there any more does not reply.
                    let _ = arrivals.send(Arrival::Leave(reply));
                    drop(arrivals);
                    let packed = packed.await.ok().transpose()?;
                    if packed.as_ref().is_some_and(|packed| packed.addresses.is_empty()) {
                        guard.shared.calls(&guard.place, &own.peer);
                    }
                    if let Some(task) = lane.or(stayed) {
                        task.await.unwrap_or(Ok(()))?;
                    }
                    packed
                }
                None => None,
            };
            let unread = halves.map(|(_, inbox)| inbox.into_unread()).transpose()?;
            let (unread, left_after) = unread.unwrap_or_default();
            let unread = writes.bytes_of(&own.peer, unread)?;
            let mut packed =
                packed.unwrap_or_else(|| Packed::departed(own, left_after, unread.len()));
            packed.luggage.state.completed += completed;
            packed.luggage.unread.splice(..0, unread);
            routes.push(packed);
        }
        Ok(Parcel { state: S::FINGERPRINT, routes, session: PhantomData })
    }
}

impl<R, S> Parcel<S>
where
    R: Joins + Leaves<()>,
    S: Session<State = State<'static, R>> + Structure,
{
    /// Goes on with the session at this host. What is joined has a role without routes, since the
    /// session has these; it is there to [leave](Joined::leave), or to go on to a further host.
    ///
    /// # Errors
    ///
    /// If the session is in another state, or was begun by another version of the program; if the
    /// role takes part in it here already.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time.
    pub fn unpack(self, host: &Host) -> Result<(Joined<R>, Detached<S>), NetError> {
        self.unpack_by(host, Postcard)
    }

    /// As [`unpack`](Self::unpack), for messages that are written by another codec.
    ///
    /// # Errors
    ///
    /// As `unpack`.
    ///
    /// # Panics
    ///
    /// As `unpack`.
    pub fn unpack_by<C: Codec>(
        self,
        host: &Host,
        codec: C,
    ) -> Result<(Joined<R>, Detached<S>), NetError> {
        let session = self.routes.first().map_or_else(String::new, |it| it.own.session.clone());
        let queues = queues::<R>()?;
        let mut hellos = hellos::<R, C>(&session, &queues)?;
        for (hello, Packed { own, .. }) in hellos.iter_mut().zip(&self.routes) {
            (hello.instance, hello.known) = (own.instance, own.known);
            hello.transports.clone_from(&own.transports);
        }
        let plain = |own: &Hello| Hello { moves: Vec::new(), received: 0, ..own.clone() };
        let packed = self.routes.iter().map(|packed| plain(&packed.own));
        let on_demand = R::PLAYED.0.on_demand;
        let may_miss = |own: &Hello| [R::NAME, &own.peer].iter().any(|it| on_demand.contains(it));
        let are_there = |packed: &Packed| packed.theirs.is_some() || may_miss(&packed.own);
        let is_same = self.state == S::FINGERPRINT && packed.eq(hellos.iter().cloned());
        if !is_same || !self.routes.iter().all(are_there) {
            return Err(NetError::OtherSession { role: R::NAME });
        }
        let shared = &host.shared;
        let place = (R::PROTOCOL.to_owned(), session, R::NAME.to_owned());
        // Who has not come yet calls, or is called.
        let wires = |_: &Hello, _: &Hello| None;
        let arrivals = shared.sit(place.clone(), &hellos, wires)?;
        let guard = Guard::new(shared, place, on_demand);
        let (mut ends, mut ties) = (Vec::new(), Vec::new());
        let (meets, _) = mpsc::unbounded_channel();
        let number = random().map_err(|error| NetError::Random(Arc::new(error)))?;
        for (packed, arrivals) in self.routes.into_iter().zip(arrivals) {
            let Packed { own, theirs, addresses, luggage } = packed;
            let own = own.moved(number);
            let addresses = addresses_of(addresses)?;
            let (end, lane, fate) = lane(&own, theirs.as_ref(), codec.clone(), shared);
            let lane = lane.unpack(luggage, !may_miss(&own))?;
            ends.push(end);
            let greeting = Hello { known: None, ..own.clone() };
            let (shared, guard) = (Arc::clone(shared), Arc::clone(&guard));
            let task = if let Some(theirs) = theirs {
                let guard = Some(guard);
                let reach = Reach { shared, own, theirs, addresses, arrivals, guard };
                tokio::spawn(run(lane, reach, None))
            } else {
                let peer = Awaited { shared, own, addresses, arrivals, guard };
                tokio::spawn(peer.meet_on_demand(lane, meets.clone()))
            };
            ties.push(Tie { own: greeting, fate, lane: Some(task) });
        }
        let mut role = role_of::<R>(ends);
        let session = Detached::from_role(&mut role, ByMacro(()));
        Ok((Joined { role, ties, guard, writes: Box::new(codec) }, session))
    }
}

impl<S> fmt::Debug for Parcel<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Parcel");
        if let Some(Packed { own, .. }) = self.routes.first() {
            shown.field("role", &own.role).field("session", &own.session);
        }
        shown.finish_non_exhaustive()
    }
}
