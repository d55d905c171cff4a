//! Parts of other sessions in a session that is refused: it goes on there as the wrong part.
//!
//! ```text
//! #[session(Desk)]    type DeskSession = Select<Scanner, Incoming>;
//!                                                        ^^^^^^^^ meant is `Shift`
//! #[session(Scanner)] type ScannerSession = Branch<Desk, Incoming>;
//! #[session]          enum Incoming { Check(Check, ScannerSession), Close(Close, End) }
//! ```
//!
//! Sessions may have parts in common. So this is only asked of a session that is refused for
//! something in a part that is right in another session.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_contract::SessionItem;
use rumpsteak_contract::session::Tail;

use crate::fault::{Cause, Fault, Place};
use crate::judge::root::Root;
use crate::judge::subtype::name;
use crate::link::context::Context;
use crate::source::conditions::CfgValue;
use crate::source::crate_tree::{ItemId, Tree};
use crate::source::names;

/// The faults in the names of the sessions, each by itself. A session that goes on as the
/// session of another role has only that fault, and no refusal, unless its protocol is one of those
/// that are accepted as a closed system.
pub(super) fn faults(
    context: Context<'_>,
    roots: &mut BTreeMap<ItemId, Root>,
    closed: &BTreeSet<usize>,
) -> Vec<Fault> {
    let Context { tree, pairs, .. } = context;
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for (&id, root) in roots.iter().filter(|(_, root)| root.refused) {
        let link = pairs.roles.get(&root.role).and_then(|pair| pair.link.as_ref().ok());
        let is_final = link.is_none_or(|link| !closed.contains(&link.protocol));
        let blamed = || root.faults.iter().chain(root.refusal.as_ref().filter(|_| is_final));
        let is_other = |(other, theirs): &(&ItemId, &Root)| {
            let is_blamed = |fault: &Fault| theirs.session.items.contains_key(&fault.place.item);
            let is_reached = root.session.items.contains_key(other);
            is_reached && !theirs.refused && theirs.role != root.role && blamed().any(is_blamed)
        };
        let entered = roots.iter().filter(is_other).find_map(|(&other, theirs)| {
            let (place, part) = entry(tree, root, theirs)?;
            let names = Box::new([id, part, other].map(|id| tree.item(id).name.clone()));
            // A session that names another one instead of itself.
            let meant = (part == other && place.item != id).then(|| names[0].clone());
            let fault = Cause::OtherSession { names, meant }.at(place.item, place.token);
            Some((theirs.session.items.keys().copied().collect::<BTreeSet<_>>(), fault))
        });
        wrong.extend(entered.map(|(theirs, fault)| (id, theirs, fault)));
    }
    for (id, theirs, fault) in wrong {
        let Some(root) = roots.get_mut(&id) else { continue };
        root.refusal = None;
        root.faults.retain(|fault| !theirs.contains(&fault.place.item));
        root.faults.push(fault);
        root.session.items.retain(|item, _| !theirs.contains(item));
    }
    roots.values_mut().for_each(|root| found.append(&mut root.faults));
    found
}

/// Moves a refusal to the token that names a part, if it is in one that is right in another
/// session.
pub(super) fn leave_part(
    context: Context<'_>,
    roots: &BTreeMap<ItemId, Root>,
    id: ItemId,
    fault: &mut Fault,
) {
    let (tree, part, line) = (context.tree, fault.place.item, context.line(fault.place));
    let is_right = |root: &Root| {
        let holds = root.accepted.is_some() && !root.refused;
        holds && part != id && root.session.items.contains_key(&part)
    };
    let right = roots.iter().find(|(_, root)| is_right(root));
    let (Cause::Refused(refusal), Some((&other, right))) = (&mut fault.cause, right) else {
        return;
    };
    let entry = roots.get(&id).and_then(|root| entry(tree, root, right));
    let place = entry.map_or_else(|| name(tree, id), |(place, _)| place);
    // The part is in builds without the session, where nothing would be said.
    let is_compiled = tree.item(place.item).condition == CfgValue::True;
    if is_compiled && tree.crate_id(place.item) == tree.crate_id(part) {
        let name_of = |item: ItemId| tree.item(item).name.clone();
        refusal.part = Some([name_of(part), line, name_of(other)]);
        fault.place = place;
    }
}

/// The token with which a session goes on as a part that another session has, too.
fn entry(tree: &Tree, root: &Root, other: &Root) -> Option<(Place, ItemId)> {
    let theirs = &other.session.items;
    let mut own = root.session.items.keys().filter(|item| !theirs.contains_key(item));
    own.find_map(|&item| {
        let mut chains = tree.session(item).into_iter().flat_map(SessionItem::chains);
        chains.find_map(|chain| {
            let (Tail::Choice { choice: path, .. } | Tail::Named(path)) = &chain.tail else {
                return None;
            };
            let part = names::item(tree, tree.item(item).module, path)?;
            let place = Place::new(item, path.last_token());
            theirs.contains_key(&part).then_some((place, part))
        })
    })
}
