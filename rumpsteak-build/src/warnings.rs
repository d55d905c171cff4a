//! Warnings: one line each for correct code that may surprise.

use rumpsteak_fsm::Run;
use rumpsteak_fsm::run::Failure;

use crate::codegen::machines::Machine;
use crate::judge::sessions::Judgement;
use crate::protocols::Protocols;
use crate::scope::Scope;
use crate::settings::{self, attribute};

/// The warnings about machines beside a protocol.
pub(crate) fn of_machines(machines: &[Machine], protocols: &Protocols) -> Vec<String> {
    let told = |machine: &Machine| machine.cut_off().into_iter().chain(machine.raced(protocols));
    machines.iter().flat_map(told).collect()
}

/// The warnings about a module without a mistake.
pub(crate) fn of_module(scope: &Scope<'_>, judgement: &Judgement) -> Vec<String> {
    let Some((protocol, file)) = scope.loaded() else { return Vec::new() };
    let (file, name) = (file.shown(), protocol.name());
    let mut warnings = Vec::new();
    let combined = judgement.combined.as_ref();
    let starvation = combined.and_then(|combined| combined.starvation.as_ref());
    if let Some((role, awaited)) = starvation.and_then(starving) {
        warnings.push(format!(
            "{file}: with the sessions as they are, the role `{role}` of `{name}` may wait for ever for {awaited}"
        ));
    } else {
        // The warning about waiting roles would repeat this one.
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

/// The role that waits at the end of a run, and the messages it waits for: "`c`", "done(i32) from b".
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
