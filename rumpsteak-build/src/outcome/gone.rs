//! Names that modules import from generated code and that it does not have: most likely the
//! protocol calls something otherwise now. Said once, at `protocol!(…)`, by an error in its module,
//! of which rustc then says nothing more.

use std::collections::{BTreeMap, BTreeSet};

use rumpsteak_scribble::similar;

use crate::fault::{Cause, NameProblem};
use crate::judge::judgement::Judgement;
use crate::source::crate_tree::{Import, ItemKind, Meaning, ModuleId, Tree};
use crate::source::names::{is_known, module};

/// Adds a fault for each module of generated code that lacks names, which takes the place of those
/// of sessions with these names.
pub(crate) fn gone(tree: &Tree, judgement: &mut Judgement) {
    let mut gone: BTreeMap<ModuleId, BTreeSet<&str>> = BTreeMap::new();
    let mut importing: BTreeMap<(ModuleId, &str), ModuleId> = BTreeMap::new();
    let generated = generated(tree);
    for id in (0..tree.modules.len()).map(ModuleId) {
        for Import { path, .. } in &tree.module(id).imports {
            let Some((name, within)) = path.split_last() else { continue };
            let found = module(tree, id, within).filter(|found| generated.contains_key(found));
            let Some(found) = found else { continue };
            importing.insert((id, name), found);
            if !is_known(tree, found, name) {
                gone.entry(found).or_default().insert(name);
            }
        }
    }
    let is_gone =
        |within: ModuleId, name: &str| gone.get(&within).is_some_and(|of| of.contains(name));
    for (item, faults) in judgement.faults.all_mut() {
        let module = tree.item(item).module;
        for fault in faults {
            let (Cause::NoLabel { path, .. }
            | Cause::UndeclaredRole { path, .. }
            | Cause::Name { path, problem: NameProblem::Unresolved, .. }) = &fault.cause
            else {
                continue;
            };
            let Some(&within) = importing.get(&(module, path.as_str())) else { continue };
            if is_gone(within, path) {
                let (parent, module) = (tree.module(within).parent, &tree.module(within).name);
                let within = tree.path_in(parent.unwrap_or(within), module);
                fault.cause = Cause::SaidBefore { name: path.clone() };
                fault.stub = Some(format!("nothing {within}"));
            }
        }
    }
    for (within, names) in gone {
        let others = tree.module(within).names.iter().filter(|(name, items)| {
            let is_imported =
                importing.iter().any(|((_, other), of)| other == name && *of == within);
            let is_one = items.iter().any(|item| is_role_or_label(tree, item.meaning));
            is_one && !is_imported && *name != "Roles"
        });
        let all: Vec<&str> = tree.module(within).names.keys().map(String::as_str).collect();
        let meant = names.iter().filter_map(|name| Some((*name, similar(name, &all)?)));
        let cause = Cause::Gone {
            module: tree.module(within).name.clone(),
            meant: meant.map(|(name, meant)| [name, meant].map(str::to_owned)).collect(),
            others: others.map(|(name, _)| name.clone()).collect(),
            names: names.into_iter().map(str::to_owned).collect(),
        };
        judgement.inclusions[generated[&within]].push((cause, None));
    }
}

/// The modules of generated code, with the positions of what includes them.
fn generated(tree: &Tree) -> BTreeMap<ModuleId, usize> {
    let inclusions = tree.inclusions.iter().enumerate().filter(|(_, of)| of.included.is_some());
    let modules = inclusions.filter_map(|(position, inclusion)| {
        let declared = tree.module(inclusion.module).names.get(&inclusion.item.module())?;
        let module = declared.iter().find_map(|found| match found.meaning {
            Meaning::Module(module) => Some(module),
            Meaning::Item(_) => None,
        });
        Some((module?, position))
    });
    modules.collect()
}

/// Whether the protocol has a name for it.
fn is_role_or_label(tree: &Tree, meaning: Meaning) -> bool {
    let Meaning::Item(id) = meaning else { return false };
    matches!(*tree.item(id).kind, ItemKind::Role(_) | ItemKind::Other(Some(_)))
}
