//! Refused sessions that go on as a wrong part, namely as a part of another session.
//!
//! ```text
//! #[session(Desk)]    type DeskSession = Select<Scanner, Incoming>;
//!                                                        ^^^^^^^^ should be `Shift`
//! #[session(Scanner)] type ScannerSession = Branch<Desk, Incoming>;
//!                     enum Incoming { Check(Check, ScannerSession), Close(Close, End) }
//! ```
//!
//! Sessions may share parts. So this is only considered for a mistake inside a part that is right
//! in another session.

use crate::fault::{Cause, Fault};
use crate::judge::Root;
use crate::judge::subtype::name;
use crate::scope::{ItemId, Place, Scope};
use crate::settings::Settings;

/// The fault of a session that goes on as another role's session: the one that is right there, or
/// whose names do not suit its role.
pub(super) fn fault(
    scope: &Scope<'_>,
    roots: &[Root],
    index: usize,
    settings: &Settings,
) -> Option<Fault> {
    let root = &roots[index];
    let is_wrong_in = |theirs: &Root| match &root.refusal {
        Some((blamed, _)) => !settings.accepts_closed_system && theirs.items.contains(&blamed.item),
        None => root.faults.iter().any(|fault| fault.cause.is_of_role()),
    };
    let is_part = |theirs: &&Root| {
        let is_other = !theirs.refused && theirs.role != root.role;
        is_other && root.items.contains(&theirs.item) && is_wrong_in(theirs)
    };
    let theirs = roots.iter().find(is_part)?;
    let (place, part) = entry(scope, root, theirs)?;
    let names = Box::new([root.item, part, theirs.item].map(|id| scope.name_of(id)));
    // A session that names the other one instead of itself.
    let meant = (part == theirs.item && place.item != root.item).then(|| names[0].clone());
    Some(Cause::OtherSession { names, meant }.at(place.span))
}

/// Moves a refusal inside a part that is right in another session to the token that names the part.
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

/// The token with which a session goes on as a part that another session also has.
fn entry(scope: &Scope<'_>, root: &Root, other: &Root) -> Option<(Place, ItemId)> {
    let mut own = root.items.iter().filter(|item| !other.items.contains(item));
    own.find_map(|&item| {
        let mut parts = scope.parts(item).filter(|(part, _)| other.items.contains(part));
        let (part, name) = parts.next()?;
        Some((Place { item, span: name.span() }, part))
    })
}
