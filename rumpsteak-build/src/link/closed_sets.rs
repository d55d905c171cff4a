//! Sets of roles without a protocol, which are verified as closed systems.

use std::collections::{BTreeMap, btree_map};

use rumpsteak_contract::verdict::RoleName;

use crate::fault::{Cause, Fault, NameProblem};
use crate::source::crate_tree::{ItemId, ItemKind, Tree};
use crate::source::names;

/// A set of roles that is verified as a closed system.
#[derive(Debug)]
pub(crate) struct ClosedSet {
    /// The struct.
    pub(crate) item: ItemId,
    /// Its roles, in the order of the fields. `None` if the field is no role of the set.
    pub(crate) roles: Vec<Option<ItemId>>,
    /// What is wrong with the fields.
    pub(crate) faults: Vec<Fault>,
}

/// The sets of a package, and for each role in one the position of that set and the names that
/// proofs have for it.
pub(crate) fn find(tree: &Tree) -> (Vec<ClosedSet>, BTreeMap<ItemId, (usize, RoleName)>) {
    let mut sets = Vec::new();
    let mut members: BTreeMap<ItemId, (usize, RoleName)> = BTreeMap::new();
    for id in tree.item_ids() {
        let item = tree.item(id);
        let ItemKind::Set(set) = &*item.kind else { continue };
        let krate = tree.crate_id(id);
        let target = &tree.crate_of(id).target;
        let path = tree.module_path(item.module);
        // The blank keeps the name apart from those of protocols.
        let name = format!("{} {}: {path}::{}", target.kind, target.name, item.name);
        let mut faults = Vec::new();
        let mut roles = Vec::new();
        for path in set.roles() {
            let found = names::item(tree, item.module, path);
            let problem = match found.map(|found| (found, &*tree.item(found).kind)) {
                Some((found, ItemKind::Role(role))) => match members.entry(found) {
                    _ if role.link.is_some() => Some(NameProblem::HasProtocol),
                    _ if tree.crate_id(found) != krate => Some(NameProblem::OtherCrate),
                    btree_map::Entry::Occupied(_) => Some(NameProblem::InAnotherSet),
                    btree_map::Entry::Vacant(member) => {
                        let (protocol, role) = (name.clone(), tree.item(found).name.clone());
                        member.insert((sets.len(), RoleName { protocol, role }));
                        None
                    }
                },
                Some((_, ItemKind::Broken)) => Some(NameProblem::Broken),
                _ => Some(NameProblem::NoRoleForSet),
            };
            roles.push(found.filter(|_| problem.is_none()));
            // Whether a set has a protocol is said once.
            let is_told = |fault: &Fault| {
                let said = NameProblem::HasProtocol;
                matches!(fault.cause, Cause::Name { problem, .. } if problem == said)
            };
            let is_first = |problem: &NameProblem| {
                *problem != NameProblem::HasProtocol || !faults.iter().any(is_told)
            };
            let news = problem.filter(is_first);
            faults.extend(news.map(|problem| {
                let token = path.last_token();
                let path = path.to_string();
                Cause::Name { path, problem, meant: None }.at(id, token)
            }));
        }
        sets.push(ClosedSet { item: id, roles, faults });
    }
    (sets, members)
}
