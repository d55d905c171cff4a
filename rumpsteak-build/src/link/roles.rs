//! Role structs, and what they are linked to.

use std::collections::BTreeMap;
use std::rc::Rc;

use rumpsteak_contract::RoleItem;
use rumpsteak_contract::role::Link;
use rumpsteak_contract::verdict::RoleName;

use crate::fault::Cause;
use crate::link::closed_sets::{self, ClosedSet};
use crate::link::labels::{LabelPair, labels};
use crate::protocols::{Lookup, ProtocolRole, Protocols};
use crate::source::conditions::CfgValue;
use crate::source::crate_tree::{CrateId, ItemId, Tree};
use crate::source::names;

/// The Rust side of the roles of a package.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    /// The sets of roles that are verified as a whole.
    pub(crate) sets: Vec<ClosedSet>,
    /// Every role struct with a link to a protocol, or in a set that is verified as a whole.
    pub(crate) roles: BTreeMap<ItemId, RolePair>,
}

/// A role struct with what it stands for.
#[derive(Debug)]
pub(crate) struct RolePair {
    /// The names in the protocol, or as written if there is none. rustc sees them as constants.
    pub(crate) name: RoleName,
    /// What is linked to, or why nothing is.
    pub(crate) link: Result<ProtocolRole, LinkError>,
    /// The labels of the role's message enum.
    pub(crate) labels: Rc<Vec<LabelPair>>,
}

impl RolePair {
    /// The names that the role has in proofs.
    pub(crate) fn sealed_name(&self) -> RoleName {
        match self.link {
            Err(LinkError::Wrong { .. }) => RoleName::refused(&self.name.protocol, &self.name.role),
            Ok(_) | Err(LinkError::Broken { .. } | LinkError::Set { .. }) => self.name.clone(),
        }
    }

    /// The set that the role is verified with, by position.
    pub(crate) fn set(&self) -> Option<usize> {
        match self.link {
            Err(LinkError::Set { set }) => Some(set),
            _ => None,
        }
    }
}

/// Why a role struct is linked to no protocol.
#[derive(Clone, Debug)]
pub(crate) enum LinkError {
    /// The file at this position has errors.
    Broken { file: usize },
    /// There is no protocol: it is verified with all roles of the set at this position.
    Set { set: usize },
    /// The link itself is wrong, at this token of the struct.
    Wrong { token: usize, cause: Cause },
}

impl Pairs {
    pub(crate) fn new(tree: &Tree, protocols: &Protocols) -> Self {
        let (sets, members) = closed_sets::find(tree);
        let mut roles = BTreeMap::new();
        let mut last = None;
        let mut looked_up: Option<(String, Lookup)> = None;
        let plays = |role: &RoleItem| {
            let link = role.link.as_ref()?;
            let lookup = protocols.lookup(&link.protocol.to_string());
            let played = follow_link(link, lookup, protocols).ok()?;
            let protocol = &protocols.protocols[played.protocol];
            Some(format!("{}@{}", protocol.name(), protocol.role_at(played.role)))
        };
        let mut follow = |link: &Link| {
            // Roles of one protocol follow each other.
            let lookup = match &looked_up {
                Some((name, lookup)) if link.protocol == name.as_str() => *lookup,
                _ => protocols.lookup(&link.protocol.to_string()),
            };
            looked_up = Some((link.protocol.to_string(), lookup));
            let followed = follow_link(link, lookup, protocols);
            let (protocol, role) = match &followed {
                Ok(linked) => {
                    let protocol = &protocols.protocols[linked.protocol];
                    (protocol.name().to_owned(), protocol.role_at(linked.role).to_string())
                }
                Err(_) => (link.protocol.to_string(), link.role.clone()),
            };
            (RoleName { protocol, role }, followed)
        };
        for id in tree.item_ids() {
            let Some(role) = tree.role(id) else { continue };
            let (name, link) = match (members.get(&id), &role.link) {
                (Some((set, name)), _) => (name.clone(), Err(LinkError::Set { set: *set })),
                (None, Some(link)) => follow(link),
                (None, None) => continue,
            };
            let labels = labels(tree, tree.item(id).module, role, &plays, &mut last);
            roles.insert(id, RolePair { name, link, labels });
        }
        let linked = roles.iter().filter(|(_, pair)| pair.link.is_ok());
        let second = linked.flat_map(|(&id, _)| second_route(tree, protocols, &roles, id));
        let mut second: Vec<_> = second.collect();
        second.sort_by_key(|(_, _, cause)| !matches!(cause, Cause::SaidOf { .. }));
        for (id, token, cause) in second {
            if let Some(pair) = roles.get_mut(&id) {
                pair.link = Err(LinkError::Wrong { token, cause });
            }
        }
        Self { sets, roles }
    }

    /// Two structs of a crate each of which has the name of the role of a protocol that the other
    /// one plays.
    pub(crate) fn exchanged(
        &self,
        tree: &Tree,
        protocols: &Protocols,
        krate: CrateId,
        position: usize,
    ) -> Option<[ItemId; 2]> {
        let protocol = &protocols.protocols[position];
        let misnamed = self.roles.iter().filter_map(|(&id, pair)| {
            let linked = pair.link.as_ref().ok().filter(|linked| linked.protocol == position)?;
            let [named] = protocol.roles(&tree.item(id).name)[..] else { return None };
            let is_other = named != linked.role && tree.crate_id(id) == krate;
            is_other.then_some((id, linked.role, named))
        });
        let misnamed: Vec<_> = misnamed.collect();
        misnamed.iter().find_map(|&(first, plays, named)| {
            let mut others = misnamed.iter();
            let (second, ..) = others.find(|&&(_, other, of)| (other, of) == (named, plays))?;
            Some([first, *second])
        })
    }
}

fn follow_link(
    link: &Link,
    lookup: Lookup,
    protocols: &Protocols,
) -> Result<ProtocolRole, LinkError> {
    let wrong = |token, cause| LinkError::Wrong { token, cause };
    if let Lookup::Broken(file) = lookup {
        return Err(LinkError::Broken { file });
    }
    let protocol = Cause::unless_found(protocols, lookup, &link.protocol.to_string())
        .map_err(|cause| wrong(link.protocol_token, cause))?;
    match protocols.protocols[protocol].roles(&link.role)[..] {
        [role] => Ok(ProtocolRole { protocol, role }),
        _ => {
            let wanted = link.role.clone();
            Err(wrong(link.role_token, Cause::UnknownRole { wanted, protocol }))
        }
    }
}

/// The items that the routes of a role name, each with its token.
pub(crate) fn peers(tree: &Tree, role: ItemId) -> impl Iterator<Item = (usize, Option<ItemId>)> {
    let module = tree.item(role).module;
    let routes = tree.role(role).into_iter().flat_map(|role| &role.routes);
    routes.map(move |route| (route.peer.last_token(), names::item(tree, module, &route.peer)))
}

/// What is wrong with a role that has routes to different structs of one role: its sessions would
/// take the two for one peer; or with one that has a route to another struct of its own role, which
/// one of the two says. It is said at the link of the second of them, or of that whose name is not
/// the role's; or at the second route, if the build may leave one of the three out.
fn second_route(
    tree: &Tree,
    protocols: &Protocols,
    roles: &BTreeMap<ItemId, RolePair>,
    id: ItemId,
) -> Vec<(ItemId, usize, Cause)> {
    let own = roles[&id].link.as_ref().ok();
    let mut seen: Vec<(ProtocolRole, ItemId)> = own.map(|&role| (role, id)).into_iter().collect();
    for (token, peer) in peers(tree, id) {
        let Some(peer) = peer else { continue };
        let Some(Ok(role)) = roles.get(&peer).map(|pair| &pair.link) else { continue };
        match seen.iter().find(|(other, _)| other == role) {
            Some((_, first)) if *first != peer && (*first != id || id < peer) => {
                let protocol = &protocols.protocols[role.protocol];
                let misnamed = |id| protocol.roles(&tree.item(id).name) != [role.role];
                let mut both = [*first, peer];
                both.sort_by_key(|&id| (misnamed(id), id));
                let [_, second] = both;
                let structs = Box::new(both.map(|id| tree.item(id).name.clone()));
                let played = |name: &String| roles.values().any(|of| of.name.to_string() == *name);
                let all = protocol.protocol.roles().iter();
                let all = all.map(|role| format!("{}::{role}", protocol.name()));
                let idle = all.filter(|name| !played(name)).collect();
                let cause = Cause::TwoStructs { role: roles[&peer].name.clone(), structs, idle };
                let is_beside = |other: ItemId| {
                    tree.crate_id(other) == tree.crate_id(id)
                        && tree.item(other).condition == CfgValue::True
                };
                let link = tree.role(second).and_then(|role| role.link.as_ref());
                let echo = Cause::SaidOf { name: tree.item(second).name.clone() };
                return match link.filter(|_| [id, *first, peer].into_iter().all(is_beside)) {
                    Some(link) => vec![(id, token, echo), (second, link.role_token, cause)],
                    None => vec![(id, token, cause)],
                };
            }
            Some(_) => {}
            None => seen.push((*role, peer)),
        }
    }
    Vec::new()
}
