//! One error for a mistake that several items meet: a name without a meaning, a struct that is no
//! role, a label that the message type lacks.

use std::collections::BTreeSet;

use rumpsteak_scribble::similar;

use crate::fault::{Cause, NameProblem, Place};
use crate::judge::judgement::Judgement;
use crate::link::roles::peers;
use crate::source::crate_tree::{CrateId, ItemId, ModuleId, Tree};
use crate::source::names::{is_known, module};
use crate::words::list;

/// Leaves each mistake to the first item of a crate that meets it; a role without a protocol to its
/// own macro; and a struct that is no role to a role with a route to it, whose macro knows what to
/// put in its place.
pub(crate) fn once(tree: &Tree, judgement: &mut Judgement) {
    let mut said: Vec<(ItemId, Cause)> = Vec::new();
    let mut moved = Vec::new();
    unmarked_once(tree, judgement);
    let foreign = named(tree, judgement, |cause| match cause {
        Cause::Name { path, problem: NameProblem::ForeignRole, .. } => Some(path),
        _ => None,
    });
    for (item, faults) in judgement.faults.all_mut() {
        let krate = tree.crate_id(item);
        faults.retain_mut(|fault| {
            if let Some(path) = shared(&fault.cause).filter(|path| is_twice(tree, item, path)) {
                (fault.cause, fault.stub) = (Cause::SaidOf { name: path.to_owned() }, None);
            }
            if is_gone(tree, tree.item(item).module, &fault.cause) {
                let name = format!("use …::{}", shared(&fault.cause).unwrap_or_default());
                (fault.cause, fault.stub) = (Cause::SaidOf { name }, None);
            }
            if let Cause::Undeclared { path, .. } | Cause::UndeclaredRole { path, .. } =
                &fault.cause
                && elsewhere(tree, item, path).or_else(|| near(tree, krate, path)).is_some()
            {
                let (path, problem) = (path.clone(), NameProblem::Unresolved);
                fault.cause = Cause::Name { path, problem, meant: None };
                fault.stub = None;
            }
            let left_out = left_out(&fault.cause);
            fault.stub = left_out.map(str::to_owned).or(fault.stub.take());
            let Some(name) = shared(&fault.cause) else { return true };
            let echo = Cause::SaidOf { name: name.to_owned() };
            // Where a session is left out, its module needs an error: see `left_out`.
            let is_near = |other: ItemId| match left_out {
                Some(_) => tree.item(other).module == tree.item(item).module,
                None => tree.crate_id(other) == krate,
            };
            let mut known = said.iter();
            let is_same = |cause: &Cause| is_same(cause, &fault.cause);
            if let Some((other, _)) = known.find(|(of, cause)| is_near(*of) && is_same(cause)) {
                let is_elsewhere = *other != item;
                fault.cause = echo;
                fault.stub = left_out.map(str::to_owned);
                return is_elsewhere;
            }
            said.push((item, fault.cause.clone()));
            let Cause::Name { path, problem, meant } = &mut fault.cause else { return true };
            if *problem == NameProblem::Unresolved {
                *meant = elsewhere(tree, item, path).or_else(|| near(tree, krate, path));
            }
            if *problem == NameProblem::ForeignRole {
                let others = foreign.iter().filter(|(of, name)| *of == krate && name != path);
                let others: BTreeSet<&str> = others.map(|(_, name)| name.as_str()).collect();
                *meant = (!others.is_empty()).then(|| list(others));
            }
            let better = match problem {
                NameProblem::PlainStruct(found) => route_to(tree, krate, *found),
                NameProblem::RoleWithoutLink(found) => declared(tree, krate, *found),
                _ => None,
            };
            if let Some((place, stub)) = better {
                let cause = std::mem::replace(&mut fault.cause, echo);
                let mut fault = cause.at(place.item, place.token);
                fault.stub = stub;
                moved.push(fault);
            }
            true
        });
    }
    for fault in moved {
        judgement.faults.add(fault);
    }
}

/// Leaves a type that lacks `#[session]` to a session that names it; or, if generated code is left
/// out for that, to the `protocol!(…)`.
fn unmarked_once(tree: &Tree, judgement: &mut Judgement) {
    let told = named(tree, judgement, |cause| match cause {
        Cause::Name { path, problem: NameProblem::NoSession, .. } => Some(path),
        _ => None,
    });
    let leave_out = named(tree, judgement, |cause| match cause {
        Cause::Unmarked { name, leaves_out: true, .. } => Some(name),
        _ => None,
    });
    for (item, faults) in judgement.faults.all_mut() {
        let is_of = |all: &[_], name: &String| all.contains(&(tree.crate_id(item), name.clone()));
        for fault in faults {
            let name = match &fault.cause {
                Cause::Name { path, problem: NameProblem::NoSession, .. }
                    if is_of(&leave_out, path) =>
                {
                    path.clone()
                }
                Cause::Unmarked { name, leaves_out: false, .. } if is_of(&told, name) => {
                    name.clone()
                }
                _ => continue,
            };
            fault.cause = Cause::SaidOf { name };
            // Generated code is all there, or not at all.
            fault.stub = (!tree.is_generated(item)).then(|| "unmarked".to_owned());
        }
    }
}

/// The names that faults are about, as far as they count.
fn named(
    tree: &Tree,
    judgement: &Judgement,
    name: impl Fn(&Cause) -> Option<&String>,
) -> Vec<(CrateId, String)> {
    let all = judgement.faults.items().flat_map(|item| judgement.faults.of(item));
    all.filter_map(|of| Some((tree.crate_id(of.place.item), name(&of.cause)?.clone()))).collect()
}

/// Whether a name is imported from a module that does not have it or does not show it, which rustc
/// says there.
fn is_gone(tree: &Tree, from: ModuleId, cause: &Cause) -> bool {
    let (Cause::NoLabel { path, .. }
    | Cause::UndeclaredRole { path, .. }
    | Cause::Name { path, problem: NameProblem::Unresolved, .. }) = cause
    else {
        return false;
    };
    let mut imports = tree.module(from).imports.iter();
    let import = imports.find(|import| import.name.as_deref() == Some(path));
    let within = import.and_then(|import| module(tree, from, import.path.split_last()?.1));
    within.is_some_and(|within| {
        let is_it = |id| tree.item(id).module == within && tree.item(id).name == *path;
        !is_known(tree, within, path) || tree.item_ids().any(is_it)
    })
}

/// Whether a path ends with a name that two items of a module have in every build: rustc says so.
fn is_twice(tree: &Tree, item: ItemId, path: &str) -> bool {
    let name = path.rsplit("::").next();
    let mut seconds = tree.item_ids().map(|id| tree.item(id)).filter(|item| item.is_second);
    seconds.any(|second| Some(&*second.name) == name && second.module == tree.item(item).module)
}

/// What a mistake is about that several items may meet.
fn shared(cause: &Cause) -> Option<&str> {
    match cause {
        Cause::Name {
            path,
            problem:
                NameProblem::ForeignRole
                | NameProblem::NoRole
                | NameProblem::NoSession
                | NameProblem::OtherPackage
                | NameProblem::OwnRole
                | NameProblem::PlainStruct(_)
                | NameProblem::RoleWithoutLink(_)
                | NameProblem::Unresolved,
            ..
        } => Some(path),
        Cause::Unmarked { name: path, .. }
        | Cause::GenericLabel { path, .. }
        | Cause::NoLabel { path, .. }
        | Cause::NoMessage { path }
        | Cause::OtherProtocol { path, .. }
        | Cause::OtherPayload { path, .. }
        | Cause::Undeclared { path, .. }
        | Cause::UndeclaredRole { path, .. }
        | Cause::UnknownLabel { path, .. } => Some(path),
        _ => None,
    }
}

/// The stub beside the error of a session item that has this wrong, if the item is left out:
/// whatever it expanded to, rustc would have more to say of it. A name without a meaning takes its
/// place, of which rustc says nothing in a module with a `compile_error!`.
fn left_out(cause: &Cause) -> Option<&'static str> {
    match cause {
        Cause::Name { problem: NameProblem::NoSession, .. } => Some("unmarked"),
        // Something stands in for these.
        Cause::Name {
            problem: NameProblem::PlainStruct(_) | NameProblem::RoleWithoutLink(_),
            ..
        } => None,
        Cause::Name { .. }
        | Cause::GenericLabel { .. }
        | Cause::NoLabel { .. }
        | Cause::OtherSession { .. }
        | Cause::RecursiveAlias { .. }
        | Cause::UndeclaredRole { .. } => Some("nothing"),
        _ => None,
    }
}

fn is_same(left: &Cause, right: &Cause) -> bool {
    match (left, right) {
        (Cause::Name { path: left, problem: of, .. }, Cause::Name { path: right, problem, .. }) => {
            match of {
                // Several without are one set without: a protocol, or `#[closed_system]`.
                NameProblem::RoleWithoutLink(_) => {
                    matches!(problem, NameProblem::RoleWithoutLink(_))
                }
                // The roles of a target have their sessions in another one.
                NameProblem::ForeignRole => of == problem,
                _ => left == right && of == problem,
            }
        }
        // The set is mixed, or the session has the wrong role.
        (Cause::OtherProtocol { role: left, .. }, Cause::OtherProtocol { role, .. }) => {
            left == role
        }
        // Roles of one protocol mostly have one message type.
        (Cause::NoLabel { path: left, role: of, .. }, Cause::NoLabel { path: right, role, .. }) => {
            left == right && of.protocol == role.protocol
        }
        _ => left == right,
    }
}

/// The path of the only item of a crate that has a name which another item does not see.
fn elsewhere(tree: &Tree, item: ItemId, name: &str) -> Option<String> {
    let module = tree.item(item).module;
    let is_it = |id: &ItemId| {
        let found = tree.item(*id);
        found.name == name && found.module != module && tree.crate_id(*id) == tree.crate_id(item)
    };
    let mut found = tree.item_ids().filter(is_it);
    let only = found.next().filter(|_| found.next().is_none())?;
    Some(tree.path(only))
}

/// A name of a crate, or the end of a session, that is nearly the one at the end of a path.
fn near(tree: &Tree, krate: CrateId, path: &str) -> Option<String> {
    let ids = tree.item_ids().filter(|&id| tree.crate_id(id) == krate);
    let names: Vec<&str> = ids.map(|id| tree.item(id).name.as_str()).chain(["End"]).collect();
    similar(path.rsplit("::").next()?, &names).map(str::to_owned)
}

/// The name of a role of a crate.
fn declared(tree: &Tree, krate: CrateId, role: ItemId) -> Option<(Place, Option<String>)> {
    let item = tree.role(role).filter(|_| tree.crate_id(role) == krate)?;
    Some((Place::new(role, item.name_token), None))
}

/// The route of a role in a crate that leads to a struct, and what stands in for that struct as a
/// role.
fn route_to(tree: &Tree, krate: CrateId, wanted: ItemId) -> Option<(Place, Option<String>)> {
    let roles = tree.item_ids().filter(|&id| tree.crate_id(id) == krate);
    let mut routes = roles.filter_map(|id| {
        let role = tree.role(id)?;
        let message = role.message.as_ref()?;
        let index = peers(tree, id).position(|(_, peer)| peer == Some(wanted))?;
        let peer = &role.routes.get(index)?.peer;
        Some((Place::new(id, peer.last_token()), Some(format!("plain {peer}, {message}"))))
    });
    routes.next()
}
