//! How much room the queues between the roles of a module need.
//!
//! The sessions of the module are composed as they are written. [`rumpsteak_fsm::capacity`] says
//! how long the queues of one session get. That is enough for session after session: a role that is
//! a session ahead of a peer sends into a queue of its own for that session, and a role that would
//! be two sessions ahead waits. Only the queues of a role that plays on demand are shared by
//! several sessions of its peer; there each role starts again when it has finished.
//!
//! # What is believed
//!
//! * *At most n*: no run of the composed sessions ever has more than n messages in the queue. A set
//!   of roles runs some of these runs, whatever the executor does and wherever a session is
//!   cancelled.
//! * *Waits*: the queue may hold any number of messages, but capacities are known with which
//!   senders may wait. Believed only of a *directed* system: in one, what is enough stays enough
//!   for longer queues, so that every queue may have as much as the least that is enough or more.
//!   It gets room for [`ROOM`] messages at least, so that a sender goes on for a while.
//! * *Growable* otherwise: nothing was proven, and nothing is lost but the bound on memory.
//!
//! All queues grow if a role has no session, or two sessions that differ: which of them runs is
//! decided while they run, and a machine that may do either is none that k-MC speaks of.
//!
//! # Cost
//!
//! One search for each module, within [`CONFIGURATIONS`]: a build should not get longer for a queue
//! that may be a bit shorter. A search that needs more leaves the queues growable; it never makes a
//! build fail.

use rumpsteak_fsm::capacity::{self, ChannelCapacity, Occupancy};
use rumpsteak_fsm::{Fsm, Limits, Role};

use crate::judge::sessions::Judgement;
use crate::scope::Scope;

/// How many configurations are visited for one system at most.
const CONFIGURATIONS: usize = 5_000;

/// How many messages a queue whose senders wait has room for at least.
const ROOM: usize = 16;

/// The largest ring, which takes its memory when the roles are made. A queue that may hold more
/// grows to it instead.
const LARGEST: usize = 1_024;

/// The queues of each role of the module, in the order of the roles: the struct of each peer, and
/// the capacity as the runtime has it, `AtMost(2)`.
pub(crate) fn find(
    scope: &Scope<'_>,
    judgement: &Judgement,
    limits: &Limits,
) -> Vec<Vec<(String, String)>> {
    let limits = limits.configurations(limits.configurations.min(CONFIGURATIONS));
    let machine = |role: usize| {
        let own = judgement.roots.iter().filter(|root| root.role == role);
        let mut own = own.map(|root| root.machine.as_ref().map(|machine| &machine.fsm));
        let first = own.next()??;
        // The same session under two names is one session.
        own.all(|other| other == Some(first)).then(|| first.clone())
    };
    let machines: Option<Vec<Fsm>> = (0..scope.roles.len()).map(machine).collect();
    let channels = machines.filter(|of| of.len() > 1).and_then(|of| prove(of, &limits));
    let queues = scope.roles.iter().map(|own| {
        let peers = own.item.routes.iter().filter_map(|route| scope.role(&route.peer));
        let queues = peers.map(|peer| {
            let capacity = match &channels {
                Some(channels) => {
                    let mut found = channels.iter();
                    let found = found.find(|(from, to, _)| (from, to) == (&own.role, &peer.role));
                    // Between roles that never talk to each other there is no channel.
                    found.map_or_else(|| "AtMost(0)".to_owned(), |(.., found)| found.clone())
                }
                None => "Growable".to_owned(),
            };
            (peer.item.name.to_string(), capacity)
        });
        queues.collect()
    });
    queues.collect()
}

/// The capacities of the queues of these sessions, as the runtime has them: `AtMost(2)`. `None` if
/// the sessions are not known to be safe.
fn prove(machines: Vec<Fsm>, limits: &Limits) -> Option<Vec<(Role, Role, String)>> {
    let mut system = rumpsteak_fsm::System::new(machines).ok()?;
    if system.machines().iter().any(Fsm::is_on_demand) {
        // A queue of a role on demand may have messages of several sessions of its peer.
        system = capacity::repeated(&system);
    }
    let found = capacity::find(&system, limits).ok()?;
    // Minimal capacities are only claimed of directed systems, in which longer queues are enough,
    // too.
    let may_wait = found.is_minimal;
    let choose = |channel: ChannelCapacity| {
        let room = channel.capacity.max(ROOM);
        let capacity = match channel.occupancy {
            Occupancy::AtMost(most) if most <= LARGEST => format!("AtMost({most})"),
            Occupancy::Unbounded if may_wait && room <= LARGEST => format!("Waits({room})"),
            _ => "Growable".to_owned(),
        };
        (channel.from, channel.to, capacity)
    };
    Some(found.channels.into_iter().map(choose).collect())
}
