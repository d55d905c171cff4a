//! Parts of other sessions in a session that is refused: it goes on there as the wrong part.
//!
//! ```text
//! #[session(Desk)]    type DeskSession = Select<Scanner, Incoming>;
//!                                                        ^^^^^^^^ meant is `Shift`
//! #[session(Scanner)] type ScannerSession = Branch<Desk, Incoming>;
//!                     enum Incoming { Check(Check, ScannerSession), Close(Close, End) }
//! ```
//!
//! Sessions may have parts in common. So this is only asked of a session that is refused for
//! something in a part that is right in another session.

use std::collections::BTreeMap;

use crate::fault::{Cause, Fault};
use crate::judge::root::Root;
use crate::judge::subtype::name;
use crate::scope::{ItemId, Place, Scope};
use crate::settings::Settings;

/// The faults of sessions that go on as the session of another role. Each has only that fault, and
/// no refusal, unless the module is accepted as a closed system.
pub(super) fn faults(scope: &Scope<'_>, roots: &mut [Root], settings: &Settings) -> Vec<Fault> {
    if settings.accepts_closed_system {
        return Vec::new();
    }
    let by_item: BTreeMap<ItemId, &Root> = roots.iter().map(|root| (root.item, root)).collect();
    let wrong = roots.iter().enumerate().filter_map(|(index, root)| {
        let (blamed, _) = root.refusal.as_ref()?;
        let is_other = |theirs: &&&Root| {
            !theirs.refused && theirs.role != root.role && theirs.items.contains(&blamed.item)
        };
        let theirs = root.items.iter().filter_map(|item| by_item.get(item)).find(is_other)?;
        Some((index, other_session(scope, root, theirs)?))
    });
    let wrong: Vec<(usize, Fault)> = wrong.collect();
    let faults = wrong.into_iter().map(|(index, fault)| {
        roots[index].refusal = None;
        fault
    });
    faults.collect()
}

/// The fault of a session that goes on as one of another role, which holds, and so has names that
/// mean nothing for this role.
pub(super) fn of_other(scope: &Scope<'_>, roots: &[Root], index: usize) -> Option<Fault> {
    let root = &roots[index];
    let is_other = |theirs: &&Root| {
        !theirs.refused && theirs.role != root.role && root.items.contains(&theirs.item)
    };
    other_session(scope, root, roots.iter().find(is_other)?)
}

fn other_session(scope: &Scope<'_>, root: &Root, theirs: &Root) -> Option<Fault> {
    let (place, part) = entry(scope, root, theirs)?;
    let names = Box::new([root.item, part, theirs.item].map(|id| scope.name_of(id)));
    // A session that names another one instead of itself.
    let is_itself = part == theirs.item && place.item != root.item;
    let meant = is_itself.then(|| names[0].clone());
    Some(Cause::OtherSession { names, meant }.at(place.span))
}

/// The place of a refusal: the token that names a part, if it is in one that is right in another
/// session.
pub(super) fn leave_part(
    scope: &Scope<'_>,
    roots: &[Root],
    index: usize,
    place: Place,
    cause: &mut Cause,
) -> Place {
    let (own, part) = (&roots[index], place.item);
    if part == own.item {
        return place;
    }
    let is_right =
        |root: &&Root| root.accepted.is_some() && !root.refused && root.items.contains(&part);
    let right = roots.iter().find(is_right);
    let (Cause::Refused(refusal), Some(right)) = (cause, right) else { return place };
    let line = format!("line {}", place.span.start().line);
    refusal.part = Some([scope.name_of(part), line, scope.name_of(right.item)]);
    entry(scope, own, right).map_or_else(|| name(scope, own.item), |(place, _)| place)
}

/// The token with which a session goes on as a part that another session has, too.
fn entry(scope: &Scope<'_>, root: &Root, other: &Root) -> Option<(Place, ItemId)> {
    let mut own = root.items.iter().filter(|item| !other.items.contains(item));
    own.find_map(|&item| {
        let mut parts = scope.parts(item).filter(|(part, _)| other.items.contains(part));
        let (part, name) = parts.next()?;
        Some((Place { item, span: name.span() }, part))
    })
}
