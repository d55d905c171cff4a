//! What is right and may surprise: one line each.

use std::collections::BTreeSet;

use rumpsteak_fsm::Run;
use rumpsteak_fsm::run::Failure;

use crate::codegen::machines::{self, Machine};
use crate::configuration::Analysis;
use crate::judge::sessions::Judgement;
use crate::protocols::{DoneOnce, ScrFile};
use crate::scope::Scope;
use crate::settings::{self, attribute};

/// The warnings of a package, in the order of the texts. Those of protocols without a module count
/// only if the package is right: with an error, they mostly follow from it.
pub(crate) fn of_package(analysis: &Analysis) -> Vec<String> {
    let protocols = &analysis.protocols;
    let is_right = analysis.judged.iter().flatten().all(|judged| {
        judged
            .as_ref()
            .is_ok_and(|(module, findings)| module.errors.is_empty() && findings.told.is_empty())
    });
    let mut warnings = Vec::new();
    let names = analysis.modules().filter_map(|(module, _)| module.arguments.protocol.as_ref());
    let named: BTreeSet<usize> =
        names.filter_map(|name| protocols.find(&name.to_string()).ok()).collect();
    for (position, protocol) in protocols.protocols.iter().enumerate() {
        let (file, name) = (protocols.files[protocol.file].shown(), protocol.name());
        if is_right && !named.contains(&position) {
            warnings.push(format!(
                "{file}: no module is for the protocol `{name}`: `#[rumpsteak::protocol({name})] mod {} {{}}`",
                crate::module_name(name)
            ));
        }
        let projections = protocol.projections.iter().enumerate();
        let idle = projections.filter(|(_, of)| of.fsm.transitions().next().is_none());
        warnings.extend(idle.map(|(role, _)| {
            let role = protocol.role_at(role);
            format!(
                "{file}: the role `{role}` of `{name}` does nothing: no message is from it or to it"
            )
        }));
    }
    warnings.extend(protocols.files.iter().flat_map(ScrFile::warning_lines));
    for (position, file) in protocols.files.iter().enumerate() {
        let shown = file.shown();
        // The macro of a module that a `cfg` leaves out says nothing.
        if !file.diagnostics.is_empty() && analysis.is_named(position) {
            warnings.push(format!("{shown} has errors"));
        }
        if is_right {
            warnings.extend(file.done_once().iter().map(|DoneOnce { variable, line, .. }| {
                format!("{shown}:{line}: `rec {variable}` is done once: write `continue {variable};` where it begins again")
            }));
        }
    }
    for (path, line) in &analysis.source.unreadable {
        let shown = analysis.base.show(path);
        warnings.push(format!("{shown}:{line}: not read, since it is not Rust"));
    }
    let is_named = |protocol: usize| named.contains(&protocol);
    warnings.extend(machines::unused(protocols, &analysis.base, &is_named));
    warnings.extend(analysis.modules().flat_map(|(_, findings)| findings.warnings.iter().cloned()));
    warnings.sort();
    warnings.dedup();
    warnings
}

/// The warnings of a module without a mistake.
pub(crate) fn of_module(
    scope: &Scope<'_>,
    judgement: &Judgement,
    machines: &[Machine],
) -> Vec<String> {
    let Some((protocol, file)) = scope.loaded() else { return Vec::new() };
    let (file, name) = (file.shown(), protocol.name());
    let mut warnings = Vec::new();
    for machine in machines {
        warnings.extend(machine.cut_off());
        warnings.extend(machine.raced(scope.protocols()));
    }
    let combined = judgement.combined.as_ref();
    let starvation = combined.and_then(|combined| combined.starvation.as_ref());
    if let Some((role, awaited)) = starvation.and_then(starving) {
        warnings.push(format!(
            "{file}: with the sessions as they are, the role `{role}` of `{name}` may wait for ever for {awaited}"
        ));
    } else {
        // If the sessions leave a role waiting, that is said instead.
        warnings.extend(judgement.neglected.iter().map(|neglected| {
            let mut shown = neglected.clone();
            shown.meanwhile.truncate(1);
            let more = if shown == *neglected { "" } else { " and more" };
            format!(
                "{file}: in `{name}`, {shown}{more}; `{}` accepts that, `every_run` refuses it",
                attribute(name, &settings::fair(&neglected.role))
            )
        }));
    }
    if let Some((root, peer)) = combined.and_then(|combined| combined.closed.as_ref()) {
        let session = scope.name_of(judgement.roots[*root].item);
        let why = match peer {
            Some(peer) => {
                format!("it does something early, and `{peer}` hears several roles at once")
            }
            None => "its order is another one, and it chooses among several peers, or between \
                     sending and receiving"
                .to_owned(),
        };
        warnings.push(format!(
            "{file}: `{session}` is proven beside the sessions of this module and roles that do exactly what `{name}` \
             says: {why}; with those it is safe as it is, with others it is not proven; `{}` accepts that, without this \
             warning",
            attribute(name, "accept_closed_system")
        ));
    }
    warnings
}

/// The role that waits at the end of a run, and what it waits for: "`c`", "done(i32) from b".
fn starving(run: &Run) -> Option<(String, String)> {
    let Failure::Starvation { role } = &run.failure else { return None };
    let wait = run.waits.iter().find(|wait| wait.role == *role)?;
    let awaited: Vec<String> = wait
        .transitions
        .iter()
        .map(|(_, action)| format!("{} from {}", action.message, action.peer))
        .collect();
    Some((role.to_string(), awaited.join(" or ")))
}
