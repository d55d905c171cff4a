//! Parts of sessions that no role runs, as functions take them. To rustc, each use of one is wrong
//! that names something else than a label; nothing says so of the part.

use std::collections::BTreeSet;

use crate::fault::{Cause, Fault, NameProblem};
use crate::link::context::Context;
use crate::link::roles::LinkError;
use crate::sessions::resolve::resolve_session;
use crate::source::crate_tree::ItemId;

/// What is wrong with the labels that they name, if something is with whatever role of the crate
/// they are read as sessions of; and that they name a type which lacks `#[session]`, if generated
/// code is left out for that. `run` are the items that roles run.
pub(crate) fn parts(
    context: Context<'_>,
    run: &BTreeSet<ItemId>,
    unmarked: &[Fault],
    most_items: usize,
) -> Vec<Fault> {
    let Context { tree, pairs, .. } = context;
    let no_session = |fault: &Fault| match &fault.cause {
        Cause::Name { path, problem: NameProblem::NoSession, .. } => Some(path.clone()),
        _ => None,
    };
    let is_no_label = |fault: &Fault| matches!(fault.cause, Cause::NoLabel { .. });
    let leave_out = unmarked.iter().filter_map(|fault| match &fault.cause {
        Cause::Unmarked { name, leaves_out: true, .. } => Some(name),
        _ => None,
    });
    let leave_out: BTreeSet<&String> = leave_out.collect();
    let mut found = Vec::new();
    for id in tree.item_ids().filter(|id| !run.contains(id) && !tree.item(*id).is_second) {
        if tree.session(id).is_none_or(|session| session.role.is_some()) {
            continue;
        }
        let is_here = |role: ItemId| tree.crate_id(role) == tree.crate_id(id);
        let roles = pairs.roles.iter().filter(|(role, _)| is_here(**role));
        let read = roles.filter_map(|(&role_id, role)| {
            let linked = match role.link {
                Ok(linked) => Some(linked),
                Err(LinkError::Set { .. }) => None,
                Err(_) => return None,
            };
            let (_, faults) = resolve_session(context, (id, role_id), role, linked, most_items);
            let mut all = faults.iter();
            all.all(|fault| is_no_label(fault) || no_session(fault).is_some()).then_some(faults)
        });
        let faults = read.min_by_key(Vec::len).unwrap_or_default().into_iter();
        found.extend(faults.filter(|fault| {
            let leaves_out = no_session(fault).is_some_and(|path| leave_out.contains(&path));
            !run.contains(&fault.place.item) && (is_no_label(fault) || leaves_out)
        }));
    }
    found
}
