//! The routes of a role: the greetings to its peers, and its lanes.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rumpsteak_runtime::Role;
use rumpsteak_runtime::channel::{Capacity, Queue};
use rumpsteak_runtime::private::wiring::{Give, Seats, Wire, Wiring};
use rumpsteak_runtime::private::{ByMacro, Played};
use rumpsteak_runtime::transport::{Labelled, Members, Pair};

use crate::error::LONGEST_NAME;
use crate::host::{Arrival, Shared};
use crate::platform::lock;
use crate::route::{Lane, SharedStatus, capacity, net, reader, windows, wired, writer};
use crate::transport::random;
use crate::wire::{Contract, Endpoint, Format, Hello, LaneId, Room, RouteId, schema};
use crate::{Codec, Net, NetError, Portable, Refusal};

/// A role that can join a session over [`Net`]. Implemented for every role whose messages are
/// [`Portable`] and whose routes are all [`Net`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has a route that stays in its process",
    label = "a role that joins a session of a `Host` has routes of type `Net`",
    note = "write `routes = rumpsteak_net::Net` in the `#[protocol(…)]` of the module, or `Net<Label>` as the type of each \
            route if the module writes `{Self}`"
)]
pub trait Joins: Role<Message: Portable> + AllNets {}

impl<R: Role<Message: Portable> + AllNets> Joins for R {}

/// A role whose routes are all [`Net`]s.
pub trait AllNets: Role + Wire<Elsewhere<<Self as Role>::Message>> {}

#[diagnostic::do_not_recommend]
impl<R: Role + Wire<Elsewhere<<R as Role>::Message>>> AllNets for R {}

/// The set of a role whose peers may be in other processes, and the far end of each of its routes.
#[derive(Debug)]
pub struct Elsewhere<M>(pub Net<M>);

impl<P, M: 'static> Seats<P> for Elsewhere<M> {
    type Far<Far: 'static> = Self;

    const BY_MACRO: ByMacro = ByMacro(());
}

#[diagnostic::do_not_recommend]
impl<M: 'static> Pair<Elsewhere<M>> for Net<M> {
    fn pair_as(sent: Queue, received: Queue) -> (Self, Elsewhere<M>) {
        let (near, far) = Pair::pair_as(sent, received);
        (near, Elsewhere(far))
    }
}

/// Returns true if the role, or its peer, plays on demand.
pub(super) fn plays_on_demand(on_demand: &[&str], route: &RouteId) -> bool {
    [&*route.role, &route.peer].iter().any(|it| on_demand.contains(it))
}

/// The end of a route within the host, from its erased type.
pub(super) fn local<M: 'static>(
    end: Box<dyn Any>,
    peer: &str,
) -> Result<(Net<M>, SharedStatus), NetError> {
    end.downcast().map(|end| *end).map_err(|_| {
        let refusal = Refusal::Type(schema::name::<M>().to_owned());
        NetError::Refused { peer: peer.to_owned(), refusal }
    })
}

/// A role with these ends of its routes, and the numbers of members of families.
pub(super) fn role_of<R: Joins>(ends: Vec<Net<R::Message>>, members: &Families) -> R {
    let mut ends = ends.into_iter();
    let mut give = |queue: Queue, is_family: bool| -> Option<Box<dyn Any>> {
        if !is_family {
            return Some(Box::new(ends.next()?));
        }
        let number = members.get(queue.to).map_or(0, |&number| number as usize);
        Some(Box::new(ends.by_ref().take(number).collect::<Members<_>>()))
    };
    R::wire(&mut Wiring::elsewhere(&mut give))
}

/// The numbers of members of families, by their names.
pub(super) type Families = BTreeMap<String, u32>;

/// A queue into which a role sends.
pub(super) struct Sends {
    /// The peer, or a member of the peer.
    pub(super) peer: Arc<str>,
    queue: Queue,
    members: u32,
}

/// The name of a member of a family.
pub(super) fn member(family: &str, index: u32) -> Arc<str> {
    format!("{family}[{index}]").into()
}

/// The facts that the types of a role and its codec say. What works on them is compiled here. What
/// is generic is compiled in the package of the user, for each role.
pub(super) struct Facts {
    role: TypeId,
    pub(super) played: &'static Played,
    message: TypeId,
    labels: &'static str,
    types: fn() -> schema::Types,
    codec: &'static str,
    writes_names: bool,
    wire: fn(&mut Give<'_>),
}

impl Facts {
    pub(super) fn of<R: Joins, C: Codec>() -> Self {
        const { assert!(!R::PLAYED.0.is_in_ring, "a ring connects members in one process") };
        Self {
            role: TypeId::of::<R>(),
            played: &R::PLAYED.0,
            message: TypeId::of::<R::Message>(),
            labels: R::Message::LABELS,
            types: schema::of::<R::Message>,
            codec: C::NAME,
            writes_names: C::WRITES_NAMES,
            wire: |note| drop(R::wire(&mut Wiring::elsewhere(note))),
        }
    }

    /// The queues into which the role sends, in the order of its routes: found once, by an unused
    /// role.
    pub(super) fn queues(&self, families: &Families) -> Result<Vec<Sends>, NetError> {
        static FOUND: Mutex<BTreeMap<TypeId, Vec<(Queue, bool)>>> = Mutex::new(BTreeMap::new());
        let find = || {
            let mut found = Vec::new();
            (self.wire)(&mut |queue, is_family| {
                found.push((queue, is_family));
                None
            });
            found
        };
        let &Played { role, is_family, .. } = self.played;
        let own = if is_family { families.get(role).copied() } else { None };
        let mut queues = Vec::new();
        for &(queue, is_family) in lock(&FOUND).entry(self.role).or_insert_with(find).iter() {
            let peer = queue.to;
            if !is_family {
                queues.push(Sends { peer: peer.into(), queue, members: own.unwrap_or_default() });
            } else if let Some(&members) = families.get(peer).filter(|&&members| members > 0) {
                let sends = |index| Sends { peer: member(peer, index), queue, members };
                queues.extend((0..members).map(sends));
            } else {
                return Err(NetError::Family { role, family: peer });
            }
        }
        Ok(queues)
    }

    /// The greetings of the role to its peers, each with its own token. Fails with
    /// [`NetError::Ambiguous`], [`NetError::SessionName`] or [`NetError::Random`].
    pub(super) fn hellos(
        &self,
        endpoint @ (session, ..): &Endpoint,
        queues: &[Sends],
        transports: &[String],
    ) -> Result<Vec<Arc<Hello>>, NetError> {
        if session.len() > LONGEST_NAME {
            let (start, bytes) = (session.chars().take(40).collect(), session.len());
            return Err(NetError::SessionName { start, bytes });
        }
        let (system, (fingerprint, format)) = (self.played.system, self.told()?);
        let hello = |Sends { peer, queue, members }: &Sends| {
            let ((session, protocol, role), peer) = (endpoint.clone(), Arc::clone(peer));
            let route = Arc::new(RouteId { protocol, session, role, peer });
            let (capacity, members) = (queue.capacity.into(), *members);
            let contract = Contract { fingerprint, system, capacity, members };
            let lane = LaneId { own: token()?, ..LaneId::default() };
            let (format, transports) = (Arc::clone(&format), transports.to_vec());
            Ok(Arc::new(Hello { route, contract, format, lane, transports }))
        };
        queues.iter().map(hello).collect()
    }

    /// The parts of a greeting that the role always says: the fingerprint of its protocol, the
    /// format with the projections. They are found once, because that takes long.
    pub(super) fn told(&self) -> Result<Told, NetError> {
        type Key = (TypeId, &'static str, bool, &'static str, u64);
        static FOUND: Mutex<BTreeMap<Key, Told>> = Mutex::new(BTreeMap::new());
        let Self { codec, writes_names, played: Played { projections, closed, .. }, .. } = *self;
        let key = (self.message, codec, writes_names, *projections, *closed);
        if let Some(told) = lock(&FOUND).get(&key) {
            return Ok(told.clone());
        }
        let types = if writes_names { Ok(BTreeMap::new()) } else { (self.types)() };
        let types = types.map_err(|name| NetError::Ambiguous { name })?;
        // Another version compares them.
        let is_told = cfg!(feature = "compat") && projections.len() <= LONGEST && *closed == 0;
        let fingerprint = schema::fingerprint(projections.bytes().chain(closed.to_be_bytes()));
        let projections = if is_told { projections } else { "" };
        let told = (fingerprint, Format::new([projections, codec, self.labels], types));
        lock(&FOUND).insert(key, told.clone());
        Ok(told)
    }
}

type Told = (u64, Arc<Format>);

/// A random number of this host.
pub(super) fn token() -> Result<u128, NetError> {
    random().map_err(|error| NetError::Random(Arc::new(error)))
}

/// The longest projections in a greeting, in bytes.
const LONGEST: usize = 48 << 10;

/// The two ends of a route within the host: for `near`, and for `far`.
pub(super) fn wire<M: Send + 'static>(near: &Hello, far: &Hello) -> [Arrival; 2] {
    let [sent, received] = [(near, far), (far, near)].map(|(from, to)| sending(from, to, 0));
    wired::<M>(sent, received).map(|end| Arrival::Local(Box::new(end)))
}

/// The queue that a role sends into, with at least this much room if waiting is safe. It grows even
/// if a maximum was proven: a third role may be of another build, and exceed it.
fn sending(from: &Hello, to: &Hello, least: u32) -> Queue {
    Queue::new(match capacity(from, to) {
        Room::Waits(room) => Capacity::Waits(room.max(least) as usize),
        _ => Capacity::Growable,
    })
}

/// The number of frames that a role may send before its task takes them.
const FRAMES: u32 = 16;

/// A route to another host: the end of the role, its lane and their status. The capacities of a
/// peer that has not come yet are unknown, and stay so.
pub(super) fn lane<M: Labelled + Portable, C: Codec>(
    own: &Hello,
    theirs: Option<&Hello>,
    codec: C,
    shared: &Shared,
    is_on_demand: bool,
) -> (Net<M>, Box<Lane<M, C>>, SharedStatus) {
    let mut known = Cow::Borrowed(theirs.unwrap_or(own));
    if is_on_demand {
        known.to_mut().contract.system = 0;
    }
    let (peer, ends, limits) = (&own.route.peer, [own, &*known], &shared.limits);
    let [_, window] = windows(ends, limits);
    let codecs = (reader(peer, codec.clone()), writer(peer, codec.clone(), limits.frame));
    let (end, far) = net(sending(own, &known, FRAMES), window, codecs);
    let status = Arc::clone(&far.status);
    (end, Lane::new(ends, codec, far, limits), status)
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use futures_core::Stream as _;
    use futures_sink::Sink as _;
    use rumpsteak_runtime::private::Label;
    use rumpsteak_runtime::transport::{Incoming as _, Labelled};
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::transport::Memory;
    use crate::wire::{Batch, Frame};
    use crate::{Host, Postcard, route::WINDOW};

    #[derive(Serialize, Deserialize)]
    enum Message {
        Number(Number),
    }

    #[derive(Serialize, Deserialize)]
    struct Number(u64);

    impl Labelled for Message {
        const LABELS: &'static str = "Number";

        fn labelled(&self) -> Label {
            Label { name: "Number", tag: 0 }
        }
    }

    #[tokio::test]
    async fn where_nothing_is_proven_the_sender_keeps_what_nobody_receives() {
        let [protocol, session, role, peer] = ["P", "1", "a", "b"].map(Into::into);
        let own = Hello {
            route: RouteId { protocol, session, role, peer }.into(),
            contract: Contract { fingerprint: 1, system: 0, capacity: Room::Growable, members: 0 },
            format: Format::new(["", Postcard::NAME, ""], BTreeMap::new()),
            lane: LaneId { own: 1, ..LaneId::default() },
            transports: Vec::new(),
        };
        let host = Host::new();
        let (mut end, mut lane, _) =
            lane::<Message, _>(&own, Some(&own), Postcard, &host.shared, false);
        let [mut near, mut far] = Memory::pair(1 << 16);
        let mut context = Context::from_waker(Waker::noop());
        let (mut sent, mut granted) = (0, 0);
        loop {
            assert!(lane.poll(&mut near, &mut context).is_pending());
            while let Poll::Ready(Some(frame)) = Pin::new(&mut far).poll_next(&mut context) {
                if let Some(Frame::Grant(grant)) = frame.ok().and_then(Frame::read) {
                    granted = grant.limit;
                }
            }
            if sent == granted {
                break;
            }
            // No more than the connection has room for.
            for _ in 0..(granted - sent).min(1_000) {
                let mut batch = Batch::default();
                let message = Message::Number(Number(sent));
                let write = |bytes: &mut Vec<u8>| Postcard.encode(&message, bytes);
                assert!(batch.add(1 << 16, &mut Vec::new(), write).is_ok());
                let frame = batch.take().unwrap_or_default();
                assert!(Pin::new(&mut far).start_send(frame).is_ok());
                sent += 1;
            }
            assert!(Pin::new(&mut far).poll_flush(&mut context).is_ready());
        }
        assert_eq!(sent, (WINDOW + WINDOW / 4) as u64);
        for number in 0..sent {
            let received: Poll<Result<Message, _>> = end.poll_receive(&mut context);
            let Poll::Ready(Ok(Message::Number(Number(came)))) = received else { panic!() };
            assert_eq!(came, number);
            let _ = lane.poll(&mut near, &mut context);
        }
    }
}
