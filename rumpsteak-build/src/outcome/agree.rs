//! Items that mean different things to different roots.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_contract::verdict::Chain;

use crate::fault::Cause;
use crate::judge::judgement::Judgement;
use crate::sessions::resolved::is_nominal;
use crate::source::crate_tree::{ItemId, Tree};

/// Adds a fault to each item on whose meaning the roots that reach it do not agree: its type has
/// one fingerprint only.
pub(crate) fn agree(tree: &Tree, judgement: &mut Judgement) {
    let identity = |item: ItemId| item.0 as u64;
    let mut bodies: BTreeMap<ItemId, Vec<(Option<String>, Chain)>> = BTreeMap::new();
    let mut differing = BTreeSet::new();
    for root in judgement.roots.values() {
        let session = &root.session;
        for &item in session.items.keys().filter(|&&item| is_nominal(tree, item)) {
            // One with a fault has none.
            let body = session.body(tree, item, &identity).filter(|body| !body.is_empty());
            let Some(body) = body else { continue };
            if *bodies.entry(item).or_insert_with(|| body.clone()) != body {
                differing.insert(item);
            }
        }
    }
    for item in differing {
        if let Some(session) = tree.session(item) {
            let name = tree.item(item).name.clone();
            let fault = Cause::TwoMeanings { name }.at(item, session.name_token);
            judgement.faults.add(fault);
        }
    }
}
