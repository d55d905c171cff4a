//! Names of the runtime that a module uses without a path and does not import: said once, by a
//! macro that is imported, which imports the others beside its error, so that rustc has no more to
//! say.

use crate::fault::Cause;
use crate::judge::judgement::Judgement;
use crate::source::bare_names::{MACROS, RUNTIME};
use crate::source::conditions::CfgValue;
use crate::source::crate_tree::{ItemId, ItemKind, ModuleId, Tree};
use crate::source::names::is_known;
use crate::source::package_root::PackageRoot;

/// Adds a fault for each module to one of its items, or to its `protocol!(…)`. Returns what no
/// macro can say, because none of the module is imported, as far as every build compiles it.
pub(crate) fn unimported(base: &PackageRoot, tree: &Tree, judgement: &mut Judgement) -> Vec<Cause> {
    let mut unsaid = Vec::new();
    for module in (0..tree.modules.len()).map(ModuleId) {
        let is_unknown = |path: &str| {
            let (_, name) = path.rsplit_once(':').unwrap_or(("", path));
            path != RUNTIME && !is_known(tree, module, name)
        };
        let used = tree.module(module).bare_names.iter().filter(|(path, _)| is_unknown(path));
        let Some((file, line)) = used.clone().map(|(_, place)| *place).min() else { continue };
        let place = format!("{}:{line}", base.show(&tree.files[file.0].path));
        let names: Vec<&str> = used.map(|(path, _)| *path).collect();
        let is_here = |id: &ItemId| tree.item(*id).module == module;
        let mut places = tree.item_ids().filter(is_here).filter_map(|id| {
            let is_certain = tree.item(id).condition == CfgValue::True;
            let (name, token) = match &*tree.item(id).kind {
                ItemKind::Role(role) => ("Role", role.name_token),
                ItemKind::Session(session) => ("session", session.name_token),
                _ => return None,
            };
            (is_certain && !names.contains(&name)).then_some((id, token))
        });
        let cause = Cause::Unimported { names: names.clone(), place };
        if let Some((id, token)) = places.next() {
            judgement.faults.add(cause.at(id, token));
        } else if let Some(position) =
            tree.inclusions.iter().position(|inclusion| inclusion.module == module)
        {
            judgement.inclusions[position].push((cause, None));
        } else if let Some(id) = tree.item_ids().find(is_here)
            && tree.is_always_compiled(tree.crate_of(id))
            && names.iter().any(|name| MACROS.contains(name))
        {
            unsaid.push(cause);
        }
    }
    unsaid
}

/// Whether some module that every build compiles has a path into the runtime, which is no item of
/// the package itself.
pub(crate) fn names_runtime(tree: &Tree) -> bool {
    let mut modules = (0..tree.modules.len()).map(ModuleId);
    modules.any(|id| {
        let module = tree.module(id);
        let krate = &tree.crates[module.krate.0];
        module.bare_names.contains_key(RUNTIME)
            && tree.is_always_compiled(krate)
            && ![id, krate.root].iter().any(|&module| is_known(tree, module, RUNTIME))
    }) && tree.crates.iter().all(|krate| krate.name != RUNTIME)
}
