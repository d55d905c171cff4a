//! What was found out about one session.

use rumpsteak_contract::verdict::RoleName;
use rumpsteak_fsm::verify::Accepted;

use crate::fault::Fault;
use crate::sessions::machine::SessionMachine;
use crate::sessions::resolved::ResolvedSession;
use crate::source::crate_tree::ItemId;

/// A session with a role, `#[session(K)]`, whose role is known.
#[derive(Debug)]
pub(crate) struct Root {
    /// The struct that plays it.
    pub(crate) role: ItemId,
    pub(crate) plays: RoleName,
    pub(crate) session: ResolvedSession,
    /// Whether something is wrong with it, wherever that is reported.
    pub(crate) refused: bool,
    /// Its machine, if all that it reaches was read.
    pub(crate) machine: Option<SessionMachine>,
    /// The bound for which the closed system that it is in is safe, if the proof is that one.
    pub(crate) bound: Option<usize>,
    /// What its projection says of it.
    pub(super) accepted: Option<Accepted>,
    /// Why its projection refuses it.
    pub(super) refusal: Option<Fault>,
    /// What is wrong with its names.
    pub(super) faults: Vec<Fault>,
}

impl Root {
    /// The session `id` of a role, of which nothing is known.
    pub(super) fn refused(id: ItemId, role: ItemId, plays: RoleName) -> Self {
        Self {
            role,
            plays,
            session: ResolvedSession::nothing(id),
            refused: true,
            machine: None,
            bound: None,
            accepted: None,
            refusal: None,
            faults: Vec::new(),
        }
    }
}
