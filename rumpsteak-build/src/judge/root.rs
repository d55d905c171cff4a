//! A session with a role, and what was found out about it.

use std::collections::BTreeSet;

use rumpsteak_fsm::verify::Accepted;

use crate::fault::Cause;
use crate::scope::machine::SessionMachine;
use crate::scope::{ItemId, Place};

/// A session with a role, `#[session(K)]`.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) item: ItemId,
    /// The position of the role among those of the module.
    pub(crate) role: usize,
    /// The items that it reaches, itself among them.
    pub(crate) items: BTreeSet<ItemId>,
    /// True if something is wrong with it.
    pub(crate) refused: bool,
    /// Its machine, if its names have a meaning.
    pub(crate) machine: Option<SessionMachine>,
    /// The evidence that its projection accepts it.
    pub(super) accepted: Option<Accepted>,
    /// Why its projection refuses it.
    pub(super) refusal: Option<(Place, Cause)>,
}
