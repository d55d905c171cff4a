//! What was not verified because nothing asks for it: one line each.

use std::collections::BTreeSet;

use rumpsteak_fsm::Run;
use rumpsteak_fsm::run::Failure;

use crate::configuration::fairness;
use crate::judge::judgement::Judgement;
use crate::link::context::Context;
use crate::protocols::{DoneOnce, Loaded, Lookup, ScrFile};
use crate::source::crate_tree::ItemId;
use crate::words::did_you_mean;

/// What to warn of, in the order of the texts. What nobody plays or has a session of counts only if
/// the package is right: with an error, that is mostly what the error leads to.
pub(crate) fn warnings(context: Context<'_>, judgement: &Judgement, is_right: bool) -> Vec<String> {
    let Context { base, tree, protocols, pairs } = context;
    let mut warnings = Vec::new();
    let linked = pairs.roles.values().flat_map(|role| &role.link);
    let played: BTreeSet<usize> = linked.map(|linked| linked.protocol).collect();
    for (position, protocol) in protocols.protocols.iter().enumerate() {
        if is_right && !played.contains(&position) {
            let file = protocols.files[protocol.file].shown();
            warnings.push(format!("{file}: no role plays the protocol `{}`", protocol.name()));
        }
    }
    for protocol in &protocols.protocols {
        let (file, name) = (protocols.files[protocol.file].shown(), protocol.name());
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
    for file in protocols.files.iter().filter(|_| is_right) {
        warnings.extend(file.done_once().iter().map(|DoneOnce { variable, line, .. }| {
            let file = file.shown();
            format!("{file}:{line}: `rec {variable}` is done once: write `continue {variable};` where it begins again")
        }));
    }
    warnings.extend(together(context, judgement));
    let starves = |position: &usize| {
        let mut combined = judgement.combined.iter();
        combined.any(|(of, combined)| of == position && combined.starvation.is_some())
    };
    // Where the sessions leave somebody waiting, that is told instead.
    let neglected = judgement.neglected.iter().filter(|(position, _)| !starves(position));
    warnings.extend(neglected.map(|(position, neglected)| {
        let protocol = &protocols.protocols[*position];
        let (file, name) = (protocols.files[protocol.file].shown(), protocol.name());
        let mut shown = neglected.clone();
        shown.meanwhile.truncate(1);
        let more = if shown == *neglected { "" } else { " and more" };
        format!(
            "{file}: in `{name}`, {shown}{more}; \
             `{}` in build.rs accepts that, `EveryRun` refuses it",
            protocols.script(&fairness(name, &neglected.role))
        )
    }));
    let with_session: BTreeSet<ItemId> = judgement.roots.values().map(|root| root.role).collect();
    for (&id, role) in &pairs.roles {
        if is_right && role.link.is_ok() && !with_session.contains(&id) {
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
    accepted.iter().filter(is_unknown).map(move |name| {
        let known = context.protocols.protocols.iter().map(Loaded::name);
        let meant = did_you_mean(name, known);
        let meant = meant.map_or(String::new(), |meant| format!("; {meant}"));
        format!("build.rs: `accept_closed_system({name:?})` names no protocol that roles can play{meant}")
    })
}

/// What is worth knowing of sessions that all passed: who may wait for ever, and what holds for
/// these sessions only.
fn together(context: Context<'_>, judgement: &Judgement) -> Vec<String> {
    let Context { tree, protocols, .. } = context;
    let mut warnings = Vec::new();
    if judgement.faults.items().next().is_some() {
        return warnings;
    }
    for (position, combined) in &judgement.combined {
        let protocol = &protocols.protocols[*position];
        let (file, name) = (protocols.files[protocol.file].shown(), protocol.name());
        if let Some((role, awaited)) = combined.starvation.as_ref().and_then(starving) {
            warnings.push(format!(
                "{file}: with the sessions as they are, the role `{role}` of `{name}` may wait \
                 for ever for {awaited}"
            ));
        }
        if let Some((root, peer)) = &combined.closed {
            let session = &tree.item(*root).name;
            let why = match peer {
                Some(peer) => {
                    format!("it does something early, and `{peer}` hears several roles at once")
                }
                None => "its order is another one, and it chooses among several peers, or between \
                         sending and receiving"
                    .to_owned(),
            };
            warnings.push(format!(
                "{file}: `{session}` is proven beside this package's sessions and roles that do \
                 exactly what `{name}` says: {why}; with those it is safe as it is, with others it \
                 is not proven; `{}` in build.rs accepts that, without this warning",
                protocols.script(&format!("accept_closed_system({name:?})"))
            ));
        }
    }
    warnings
}

/// Who waits at the end of a run, and for what: "`c`", "done(i32) from b".
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
