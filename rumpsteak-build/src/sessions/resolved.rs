//! A session with all names resolved.

use std::collections::BTreeMap;

use rumpsteak_contract::session::{Direction, Form};
use rumpsteak_contract::verdict::RoleName;
use rumpsteak_fsm::Message;

use crate::source::crate_tree::{ItemId, Tree};

#[derive(Debug)]
pub(crate) struct ResolvedSession {
    /// The items that the root reaches, itself among them, with their chains: one for a `type` or a
    /// `struct`, one for each option of an `enum`; none for an item that has a fault.
    pub(crate) items: BTreeMap<ItemId, Vec<ResolvedChain>>,
    /// Whether all roles are linked to the protocol. If not, then there is no machine, but each
    /// name is known to the proof: under the name of a role whose link is wrong, which holds only
    /// together with that role's own error.
    pub(crate) linked: bool,
}

#[derive(Debug)]
pub(crate) struct ResolvedChain {
    pub(crate) option: Option<ResolvedOption>,
    pub(crate) actions: Vec<ResolvedAction>,
    pub(crate) tail: ResolvedTail,
}

/// How an option of a choice begins.
#[derive(Debug)]
pub(crate) struct ResolvedOption {
    /// The token that is its name.
    pub(crate) token: usize,
    pub(crate) label: ResolvedLabel,
    /// In a choice among peers: which way the label goes, and with whom.
    pub(crate) end: Option<(Direction, Peer)>,
}

#[derive(Debug)]
pub(crate) struct ResolvedAction {
    pub(crate) direction: Direction,
    pub(crate) token: usize,
    pub(crate) peer: Peer,
    pub(crate) label: ResolvedLabel,
}

#[derive(Clone, Debug)]
pub(crate) struct ResolvedLabel {
    /// The position among the labels of the role.
    pub(crate) index: usize,
    /// The name on the Rust side.
    pub(crate) name: String,
    pub(crate) message: Message,
}

#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// The struct.
    pub(crate) item: ItemId,
    /// The names on the Rust side.
    pub(crate) name: RoleName,
    pub(crate) role: rumpsteak_fsm::Role,
}

#[derive(Debug)]
pub(crate) enum ResolvedTail {
    Choice {
        /// `None` if messages may go both ways.
        direction: Option<Direction>,
        token: usize,
        /// Unless the options name it.
        peer: Option<Peer>,
        choice: ItemId,
    },
    End {
        token: usize,
    },
    /// A `type` or a `struct`, and the token that names it.
    Named {
        item: ItemId,
        token: usize,
    },
}

impl ResolvedSession {
    /// What a root reaches that was not read.
    pub(crate) fn nothing(root: ItemId) -> Self {
        Self { items: BTreeMap::from([(root, Vec::new())]), linked: false }
    }

    /// The chain that an item begins with, through items that only name another one, and its item.
    ///
    /// This ends, because there are no cycles: they are faults.
    pub(crate) fn first(&self, mut item: ItemId) -> Option<(ItemId, &ResolvedChain)> {
        loop {
            let chain = self.items.get(&item)?.first()?;
            match chain.tail {
                ResolvedTail::Named { item: next, .. } if chain.actions.is_empty() => item = next,
                _ => return Some((item, chain)),
            }
        }
    }
}

/// Whether an item has an identity of its own, as `struct` and `enum` have.
pub(crate) fn is_nominal(tree: &Tree, item: ItemId) -> bool {
    tree.session(item).is_some_and(|session| !matches!(session.form, Form::Alias(_)))
}
