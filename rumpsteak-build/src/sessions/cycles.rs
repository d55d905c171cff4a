//! Items that lead back to themselves where a session cannot.

use std::collections::BTreeMap;

use crate::fault::{Cause, Fault};
use crate::sessions::resolved::{ResolvedChain, ResolvedSession, ResolvedTail, is_nominal};
use crate::source::crate_tree::{ItemId, Tree};

impl ResolvedSession {
    /// Items that lead back to themselves where a session cannot: without ever doing anything, or
    /// by `type`s alone.
    pub(crate) fn cycles(&self, tree: &Tree) -> Vec<Fault> {
        let mut faults = Vec::new();
        let idle = |_: ItemId, chain: &ResolvedChain| chain.actions.is_empty();
        for (item, token) in self.find_cycles(idle) {
            let name = tree.item(item).name.clone();
            faults.push(Cause::Idle { name }.at(item, token));
        }
        let alias = |item: ItemId, _: &ResolvedChain| !is_nominal(tree, item);
        for (item, token) in self.find_cycles(alias) {
            let name = tree.item(item).name.clone();
            faults.push(Cause::RecursiveAlias { name }.at(item, token));
        }
        faults
    }

    /// One item, with the token that names the next one, of each cycle of items that satisfy the
    /// predicate.
    ///
    /// Every item names at most one other at its end, so each is visited once.
    fn find_cycles(&self, follow: impl Fn(ItemId, &ResolvedChain) -> bool) -> Vec<(ItemId, usize)> {
        let mut rounds: BTreeMap<ItemId, ItemId> = BTreeMap::new();
        let mut found = Vec::new();
        for &start in self.items.keys() {
            let mut next = start;
            while !rounds.contains_key(&next) {
                rounds.insert(next, start);
                let Some([chain]) = self.items.get(&next).map(Vec::as_slice) else { break };
                let ResolvedTail::Named { item, token } = chain.tail else { break };
                if chain.option.is_some() || !follow(next, chain) {
                    break;
                }
                if rounds.get(&item) == Some(&start) {
                    found.push((next, token));
                }
                next = item;
            }
        }
        found
    }
}
