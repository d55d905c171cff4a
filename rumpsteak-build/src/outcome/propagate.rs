//! The items that fail because a `type` that they contain does.

use std::collections::{BTreeMap, BTreeSet};

use crate::fault::{Cause, Place};
use crate::judge::judgement::Judgement;
use crate::sessions::resolved::{ResolvedTail, is_nominal};
use crate::source::crate_tree::{ItemId, Tree};

/// Adds a fault to the items that contain a `type` with one, as far as a refused root has no error
/// of its own yet.
pub(crate) fn propagate(tree: &Tree, judgement: &mut Judgement) {
    let faults = &mut judgement.faults;
    // The items that name an item at the end of a chain, and the token that does.
    let mut users: BTreeMap<ItemId, BTreeSet<Place>> = BTreeMap::new();
    let roots = judgement.roots.iter();
    for (_, root) in roots.filter(|(id, root)| root.refused && !faults.contains(**id)) {
        for (&item, chains) in &root.session.items {
            for chain in chains {
                if let ResolvedTail::Named { item: named, token } = chain.tail {
                    users.entry(named).or_default().insert(Place::new(item, token));
                }
            }
        }
    }
    let mut pending: Vec<ItemId> = faults.items().collect();
    while let Some(failed) = pending.pop() {
        let Some(session) = tree.session(failed) else { continue };
        if is_nominal(tree, failed) {
            continue;
        }
        for &Place { item, token } in users.get(&failed).into_iter().flatten() {
            if !faults.contains(item) {
                let name = session.name.to_string();
                faults.add(Cause::SaidOf { name }.at(item, token));
                pending.push(item);
            }
        }
    }
}
