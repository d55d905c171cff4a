//! What rustc sees of a session's type: `type`s replaced by what they stand for.

use rumpsteak_contract::session::Direction;
use rumpsteak_contract::verdict::{self, RoleName};

use crate::sessions::resolved::{
    Peer, ResolvedChain, ResolvedLabel, ResolvedSession, ResolvedTail, is_nominal,
};
use crate::source::crate_tree::{ItemId, Tree};

/// What tells the types of two roots of one role apart.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Outline {
    actions: Vec<(Direction, ItemId, usize)>,
    choice: Option<(Option<Direction>, Option<ItemId>)>,
    then: Option<ItemId>,
}

impl ResolvedSession {
    /// The type that `root` is to rustc: two roots of one role with equal outlines are one type.
    pub(crate) fn outline(&self, tree: &Tree, root: ItemId) -> Option<Outline> {
        let mut outline = Outline::default();
        let mut item = root;
        while !is_nominal(tree, item) {
            let chain = self.items.get(&item)?.first()?;
            outline.actions.extend(
                chain
                    .actions
                    .iter()
                    .map(|action| (action.direction, action.peer.item, action.label.index)),
            );
            match &chain.tail {
                ResolvedTail::Choice { direction, peer, choice, .. } => {
                    outline.choice = Some((*direction, peer.as_ref().map(|peer| peer.item)));
                    item = *choice;
                }
                ResolvedTail::End { .. } => return Some(outline),
                ResolvedTail::Named { item: next, .. } => item = *next,
            }
        }
        outline.then = Some(item);
        Some(outline)
    }

    /// The structure of an item for its proof: `type`s replaced by what they stand for, other items
    /// by their identity.
    pub(crate) fn body(
        &self,
        tree: &Tree,
        item: ItemId,
        identity: &impl Fn(ItemId) -> u64,
    ) -> Option<Vec<(Option<String>, verdict::Chain)>> {
        let chains = self.items.get(&item)?.iter().map(|chain| {
            let mut steps = self.expand(tree, chain, identity)?;
            let label = chain.option.as_ref().and_then(|option| match &option.end {
                Some((direction, peer)) => {
                    steps.insert(0, action(*direction, peer, &option.label));
                    None
                }
                None => Some(option.label.name.clone()),
            });
            Some((label, steps))
        });
        chains.collect()
    }

    fn expand(
        &self,
        tree: &Tree,
        chain: &ResolvedChain,
        identity: &impl Fn(ItemId) -> u64,
    ) -> Option<verdict::Chain> {
        let mut steps = verdict::Chain::new();
        let mut chain = chain;
        loop {
            let actions = chain.actions.iter();
            steps.extend(actions.map(|it| action(it.direction, &it.peer, &it.label)));
            steps.push(match &chain.tail {
                ResolvedTail::Choice { direction, peer, choice, .. } => {
                    let constructor = match direction {
                        Some(Direction::Receive) => "branch",
                        Some(Direction::Send) => "select",
                        None => "race",
                    };
                    step(constructor, peer.as_ref(), None, Some(identity(*choice)))
                }
                ResolvedTail::End { .. } => ("end".to_owned(), Vec::new(), None),
                ResolvedTail::Named { item, .. } if is_nominal(tree, *item) => {
                    (String::new(), Vec::new(), Some(identity(*item)))
                }
                // This ends, because there are no cycles.
                ResolvedTail::Named { item, .. } => {
                    chain = self.items.get(item)?.first()?;
                    continue;
                }
            });
            return Some(steps);
        }
    }
}

/// `Send<P, L, …>` or `Receive<P, L, …>`.
fn action(direction: Direction, peer: &Peer, label: &ResolvedLabel) -> verdict::Step {
    let constructor = match direction {
        Direction::Receive => "receive",
        Direction::Send => "send",
    };
    step(constructor, Some(peer), Some(&label.name), None)
}

fn step(
    constructor: &str,
    peer: Option<&Peer>,
    label: Option<&String>,
    id: Option<u64>,
) -> verdict::Step {
    let names = peer.map(|Peer { name: RoleName { protocol, role }, .. }| [protocol, role]);
    let names = names.into_iter().flatten().chain(label);
    (constructor.to_owned(), names.cloned().collect(), id)
}
