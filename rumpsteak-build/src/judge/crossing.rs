//! Where a session goes on as one of another role.
//!
//! ```text
//! #[session(Desk)]    type DeskSession = Select<Scanner, Incoming>;
//!                                                        ^^^^^^^^ meant is `Shift`
//! #[session(Scanner)] type ScannerSession = Branch<Desk, Incoming>;
//! #[session]          enum Incoming { Check(Check, ScannerSession), Close(Close, End) }
//! ```
//!
//! Roles may have parts in common. So this is only asked of a session that is refused for what a
//! part of another role's session has in it, while that other session holds.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_contract::SessionItem;
use rumpsteak_contract::session::{Form, Tail};

use crate::fault::{Cause, Fault};
use crate::judge::root::Root;
use crate::link::context::Context;
use crate::source::crate_tree::{ItemId, Tree};
use crate::source::names;

/// Sessions, with the items that each reaches: itself among them.
type Reached = BTreeMap<ItemId, BTreeSet<ItemId>>;

/// What is wrong with the names of the sessions, each by itself. One that goes on as a session of
/// another role has that instead, and no refusal, unless its protocol is one of those that
/// are accepted as a closed system.
pub(super) fn faults(
    context: Context<'_>,
    roots: &mut BTreeMap<ItemId, Root>,
    closed: &BTreeSet<usize>,
) -> Vec<Fault> {
    let Context { tree, pairs, .. } = context;
    if roots.values().all(|root| !root.refused) {
        return Vec::new();
    }
    let reached: Reached = roots.keys().map(|&id| (id, reach(tree, id))).collect();
    let holding = roots.iter().filter(|(_, root)| !root.refused);
    let holding: Vec<(ItemId, ItemId)> = holding.map(|(&id, root)| (root.role, id)).collect();
    let mut found = Vec::new();
    for (&id, root) in roots.iter_mut().filter(|(_, root)| root.refused) {
        let others = holding
            .iter()
            .filter(|(role, other)| *role != root.role && reached[&id].contains(other));
        let others: Vec<ItemId> = others.map(|(_, other)| *other).collect();
        let link = pairs.roles.get(&root.role).and_then(|pair| pair.link.as_ref().ok());
        let is_final = link.is_none_or(|link| !closed.contains(&link.protocol));
        let blamed = root.faults.iter().chain(root.refusal.as_ref().filter(|_| is_final));
        let mut crossings = blamed.filter_map(|fault| {
            let is_theirs = |other: &&ItemId| reached[other].contains(&fault.place.item);
            let other = others.iter().find(is_theirs)?;
            Some((&reached[other], crossing(tree, id, *other, &reached)?))
        });
        if let Some((theirs, fault)) = crossings.next() {
            root.refusal = None;
            root.faults.retain(|fault| !theirs.contains(&fault.place.item));
            root.faults.push(fault);
            root.session.items.retain(|item, _| !theirs.contains(item));
        }
        found.append(&mut root.faults);
    }
    found
}

/// Where a session goes on as a part of one of another role, which it reaches.
fn crossing(tree: &Tree, id: ItemId, other: ItemId, reached: &Reached) -> Option<Fault> {
    let theirs = &reached[&other];
    let own = reached[&id].iter().filter(|item| !theirs.contains(item));
    let mut steps = own.flat_map(|&item| steps(tree, item).map(move |step| (item, step)));
    let (item, (token, part)) = steps.find(|(_, (_, part))| theirs.contains(part))?;
    let name = |id: ItemId| tree.item(id).name.clone();
    let is_choice = |id| Some(matches!(tree.session(id)?.form, Form::Choice(_)));
    let unused = tree.item_ids().filter(|&unused| {
        tree.crate_id(unused) == tree.crate_id(id)
            && is_choice(unused) == is_choice(part)
            && reached.values().all(|items| !items.contains(&unused))
    });
    let meant = match unused.collect::<Vec<_>>()[..] {
        [only] => Some(name(only)),
        [] if is_choice(part) == Some(false) && item != id => Some(name(id)),
        _ => None,
    };
    Some(
        Cause::OtherSession { names: Box::new([id, part, other].map(name)), meant }.at(item, token),
    )
}

/// All items that a session reaches.
fn reach(tree: &Tree, root: ItemId) -> BTreeSet<ItemId> {
    let mut reached = BTreeSet::from([root]);
    let mut pending = vec![root];
    while let Some(item) = pending.pop() {
        pending
            .extend(steps(tree, item).map(|(_, next)| next).filter(|&next| reached.insert(next)));
    }
    reached
}

/// The items with which an item goes on, each with the token that names it.
fn steps(tree: &Tree, item: ItemId) -> impl Iterator<Item = (usize, ItemId)> {
    let chains = tree.session(item).into_iter().flat_map(SessionItem::chains);
    chains.filter_map(move |chain| {
        let (Tail::Choice { choice: path, .. } | Tail::Named(path)) = &chain.tail else {
            return None;
        };
        Some((path.last_token(), names::item(tree, tree.item(item).module, path)?))
    })
}
