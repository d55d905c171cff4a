//! What rustc sees of a session's type: `type`s replaced by what they stand for.

use rumpsteak_contract::session::Direction;
use rumpsteak_contract::verdict;

use crate::sessions::resolved::{
    ResolvedChain, ResolvedSession, ResolvedTail, is_choice, is_nominal,
};
use crate::source::crate_tree::{ItemId, Tree};

/// What tells the types of two roots of one role apart.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Outline {
    actions: Vec<(Direction, ItemId, usize)>,
    choice: Option<(Direction, ItemId)>,
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
                ResolvedTail::Choice {
                    direction,
                    peer,
                    choice,
                    ..
                } => {
                    outline.choice = Some((*direction, peer.item));
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
    ) -> Option<verdict::Body> {
        let chains = self.items.get(&item)?;
        let expand = |chain| self.expand(tree, chain, identity);
        if is_choice(tree, item) {
            let options = chains.iter().map(|chain| {
                let label = chain.option.as_ref().map(|(label, _)| label.name.clone());
                Some((label?, expand(chain)?))
            });
            return options.collect::<Option<_>>().map(verdict::Body::Choice);
        }
        Some(verdict::Body::Chain(expand(chains.first()?)?))
    }

    fn expand(
        &self,
        tree: &Tree,
        chain: &ResolvedChain,
        identity: &impl Fn(ItemId) -> u64,
    ) -> Option<verdict::Chain> {
        let mut actions = Vec::new();
        let mut chain = chain;
        loop {
            actions.extend(chain.actions.iter().map(|action| verdict::Action {
                direction: action.direction,
                peer: action.peer.name.clone(),
                label: action.label.name.clone(),
            }));
            let tail = match &chain.tail {
                ResolvedTail::Choice {
                    direction,
                    peer,
                    choice,
                    ..
                } => verdict::Tail::Choice {
                    direction: *direction,
                    peer: peer.name.clone(),
                    id: identity(*choice),
                },
                ResolvedTail::End { .. } => verdict::Tail::End,
                ResolvedTail::Named { item, .. } if is_nominal(tree, *item) => {
                    verdict::Tail::Named(identity(*item))
                }
                // This ends, because there are no cycles.
                ResolvedTail::Named { item, .. } => {
                    chain = self.items.get(item)?.first()?;
                    continue;
                }
            };
            return Some(verdict::Chain { actions, tail });
        }
    }
}
