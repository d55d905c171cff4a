//! Verification of a module's sessions.

pub(crate) mod capacities;
pub(crate) mod closed_system;
pub(crate) mod declared;
mod machines;
pub(crate) mod sessions;
pub(crate) mod subtype;
pub(crate) mod together;
mod wrong_part;

use std::collections::BTreeSet;

use rumpsteak_fsm::verify::Accepted;

use crate::fault::{Cause, Fault};
use crate::scope::session::SessionMachine;
use crate::scope::{ItemId, Place};

/// A session with a role, `#[session(K)]`, and the result for it.
#[derive(Default)]
pub(crate) struct Root {
    pub(crate) item: ItemId,
    /// The position of the role in the module.
    pub(crate) role: usize,
    /// The items that the session reaches, including itself.
    pub(crate) items: BTreeSet<ItemId>,
    pub(crate) refused: bool,
    /// The mistakes in the names of the session.
    faults: Vec<Fault>,
    pub(crate) machine: Option<SessionMachine>,
    /// The evidence that the session is a subtype of its projection, and true if parts come in any
    /// order there.
    accepted: Option<(Accepted, bool)>,
    /// The mistake that makes it none.
    refusal: Option<(Place, Cause)>,
}
