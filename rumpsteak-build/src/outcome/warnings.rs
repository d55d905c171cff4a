//! What was not verified because nothing asks for it: one line each.

use std::collections::BTreeSet;

use rumpsteak_fsm::Fsm;

use crate::judge::judgement::Judgement;
use crate::judge::starvation;
use crate::limits::Limits;
use crate::link::context::Context;
use crate::link::roles::RolePair;
use crate::protocols::{Loaded, Lookup, ScrFile};
use crate::source::crate_tree::{ItemId, ItemKind, Meaning};
use crate::source::names::{Resolution, resolve};
use crate::source::package_root::PackageRoot;

/// What to warn of, in the order of the texts.
pub(crate) fn warnings(
    context: Context<'_>,
    judgement: &Judgement,
    base: &PackageRoot,
    limits: &Limits,
) -> Vec<String> {
    let Context {
        tree,
        protocols,
        pairs,
    } = context;
    let mut warnings = Vec::new();
    for (position, protocol) in protocols.protocols.iter().enumerate() {
        let plays = |role: &RolePair| role.link.as_ref().is_ok_and(|l| l.protocol == position);
        if !pairs.roles.values().any(plays) {
            let file = protocols.files[protocol.file].shown();
            warnings.push(format!(
                "{file}: no role plays the protocol `{}`",
                protocol.name()
            ));
        }
    }
    warnings.extend(protocols.files.iter().flat_map(ScrFile::warning_lines));
    warnings.extend(starving(context, judgement, limits));
    let with_session: BTreeSet<ItemId> = judgement.roots.values().map(|root| root.role).collect();
    for (&id, role) in &pairs.roles {
        let is_linked = role.link.is_ok();
        if is_linked && !with_session.contains(&id) && !has_failed_root(context, judgement, id) {
            let item = tree.item(id);
            let file = base.show(&tree.files[item.file.0].path);
            warnings.push(format!(
                "{file}:{}: no session of the role `{1}` ({2}): `#[session({1})] type … = …;`",
                item.line, item.name, role.name
            ));
        }
    }
    warnings.sort();
    warnings.dedup();
    warnings
}

/// One line for each name in build.rs that stands for no protocol.
pub(crate) fn unknown_closed_systems<'a>(
    context: Context<'a>,
    accepted: &'a BTreeSet<String>,
) -> impl Iterator<Item = String> + 'a {
    let is_unknown = move |name: &&String| {
        let found = context.protocols.lookup(name);
        !matches!(found, Lookup::Broken(_) | Lookup::Found(_))
    };
    accepted.iter().filter(is_unknown).map(|name| {
        format!("build.rs: `accept_closed_system({name:?})` names no protocol that roles can play")
    })
}

/// One line for each protocol whose sessions all passed and leave a role waiting.
fn starving(context: Context<'_>, judgement: &Judgement, limits: &Limits) -> Vec<String> {
    let Context {
        protocols, pairs, ..
    } = context;
    if judgement.faults.items().next().is_some() {
        return Vec::new();
    }
    // By protocol and role.
    let none = |protocol: &Loaded| vec![Vec::new(); protocol.projections.len()];
    let mut machines: Vec<Vec<Vec<&Fsm>>> = protocols.protocols.iter().map(none).collect();
    for root in judgement.roots.values() {
        if let Some(machine) = &root.machine
            && let Some(Ok(linked)) = pairs.roles.get(&root.role).map(|role| &role.link)
        {
            machines[linked.protocol][linked.role].push(&machine.fsm);
        }
    }
    let waits = |(position, protocol): (usize, &Loaded)| {
        let only = |of: &Vec<_>| match of[..] {
            [machine] => Some(machine),
            _ => None,
        };
        let written: Vec<Option<&Fsm>> = machines[position].iter().map(only).collect();
        let run = starvation::find(protocol, &written, &limits.verifier)?;
        let (role, awaited) = starvation::describe(&run)?;
        Some(format!(
            "{}: with the sessions as they are, the role `{role}` of `{}` may wait for ever for \
             {awaited}",
            protocols.files[protocol.file].shown(),
            protocol.name()
        ))
    };
    protocols
        .protocols
        .iter()
        .enumerate()
        .filter_map(waits)
        .collect()
}

/// Whether some session that could not be read further names the role.
fn has_failed_root(context: Context<'_>, judgement: &Judgement, role: ItemId) -> bool {
    let tree = context.tree;
    judgement
        .faults
        .items()
        .any(|id| match &*tree.item(id).kind {
            ItemKind::Session(session) => session.role.as_ref().is_some_and(|path| {
                let found = resolve(tree, tree.item(id).module, path);
                found == Resolution::Found(Meaning::Item(role))
            }),
            _ => false,
        })
}
