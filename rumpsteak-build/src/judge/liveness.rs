//! Which liveness is asked of a role, and which its protocol promises it.
//!
//! What a session promises is judged in [`subtype`](crate::judge::subtype). Here is what no session
//! can mend: a protocol in which the others may choose so that a role waits for ever.
//!
//! ```text
//! rec loop {
//!   choice at a { more() from a to b; continue loop; }
//!   or { stop() from a to b; done() from b to c; }
//! }
//! ```

use rumpsteak_fsm::system::{self, EveryRun, Neglected};
use rumpsteak_fsm::verify::together::Part;
use rumpsteak_fsm::{Role, System};

use crate::configuration::{Configuration, Liveness};
use crate::protocols::{Loaded, Lookup, ProtocolRole, Protocols};
use crate::words::{did_you_mean, meant};

/// What build.rs asks for a role: by its own name, or else by that of its protocol.
pub(crate) fn asked(
    configuration: &Configuration,
    protocols: &Protocols,
    linked: ProtocolRole,
) -> Option<Liveness> {
    let named = configuration.liveness.iter().filter_map(|(name, liveness)| {
        let (protocol, role) = meaning(protocols, name)?;
        let is_it = protocol == linked.protocol && role.is_none_or(|role| role == linked.role);
        is_it.then_some((role.is_some(), *liveness))
    });
    named.max_by_key(|(is_role, _)| *is_role).map(|(_, liveness)| liveness)
}

/// The liveness that build.rs asks for, for each role of a protocol.
pub(crate) fn asked_of_all(
    configuration: &Configuration,
    protocols: &Protocols,
    protocol: usize,
) -> Vec<Option<Liveness>> {
    let roles = 0..protocols.protocols[protocol].projections.len();
    roles.map(|role| asked(configuration, protocols, ProtocolRole { protocol, role })).collect()
}

/// A role of which build.rs asks that much.
pub(crate) fn part(part: Part<'_>, asked: Option<Liveness>) -> Part<'_> {
    match asked {
        Some(Liveness::Fair) => part.fair(),
        Some(Liveness::EveryRun) => part.strict(),
        None => part,
    }
}

/// The protocol that a name in build.rs stands for, `Hospital`, or its role, `Hospital::p`.
fn meaning(protocols: &Protocols, name: &str) -> Option<(usize, Option<usize>)> {
    if let Lookup::Found(protocol) = protocols.lookup(name) {
        return Some((protocol, None));
    }
    let (protocol, role) = name.rsplit_once("::")?;
    let Lookup::Found(protocol) = protocols.lookup(protocol) else { return None };
    match protocols.protocols[protocol].roles(role)[..] {
        [role] => Some((protocol, Some(role))),
        _ => None,
    }
}

/// One line for each name in build.rs that stands for nothing.
pub(crate) fn unknown<'a>(
    configuration: &'a Configuration,
    protocols: &'a Protocols,
) -> impl Iterator<Item = String> + 'a {
    let broken = |name: &str| {
        let names = [Some(name), name.rsplit_once("::").map(|(protocol, _)| protocol)];
        names.into_iter().flatten().any(|name| matches!(protocols.lookup(name), Lookup::Broken(_)))
    };
    let names = configuration.liveness.keys();
    let unknown = names.filter(move |name| meaning(protocols, name).is_none() && !broken(name));
    unknown.map(move |name| {
        let (protocol, role) = name.rsplit_once("::").unwrap_or((name, ""));
        let meant = match protocols.lookup(protocol) {
            Lookup::Found(found) => {
                let roles = protocols.protocols[found].protocol.roles();
                let roles: Vec<&str> = roles.iter().map(Role::as_str).collect();
                meant(role, &roles, "the roles are")
            }
            _ => did_you_mean(protocol, protocols.protocols.iter().map(Loaded::name))
                .unwrap_or_else(|| "`Protocol::role`".to_owned()),
        };
        format!("build.rs: `liveness({name:?}, …)` names no protocol that roles can play, and no role of one: {meant}")
    })
}

/// The roles of a protocol that may be neglected and may not be, as build.rs has it, and those for
/// which it says nothing.
#[derive(Debug, Default)]
pub(crate) struct Neglects {
    pub(crate) refused: Vec<(usize, String)>,
    pub(crate) warned: Vec<Neglected>,
}

/// Looks at the protocol at a position.
pub(crate) fn neglects(
    configuration: &Configuration,
    protocols: &Protocols,
    position: usize,
) -> Neglects {
    let protocol = &protocols.protocols[position];
    let roles = 0..protocol.projections.len();
    let asked = |role| asked(configuration, protocols, ProtocolRole { protocol: position, role });
    let mut found = Neglects::default();
    let strict: Vec<usize> =
        roles.clone().filter(|&role| asked(role) == Some(Liveness::EveryRun)).collect();
    if roles.clone().all(|role| asked(role) == Some(Liveness::Fair)) {
        return found;
    }
    let mut limits = configuration.limits.verifier;
    if strict.is_empty() {
        limits = limits.for_a_warning(protocol.projections.len());
    }
    let machines = protocol.projections.iter().map(|projection| projection.fsm.clone());
    let Ok(system) = System::new(machines.collect()) else { return found };
    let explore = || system::explore(&system, &limits);
    let EveryRun { neglected, limit } = system::live_in_every_run(&system, explore, &limits);
    let of = |one: &Neglected| protocol.protocol.roles().iter().position(|role| *role == one.role);
    for one in &neglected {
        let Some(role) = of(one) else { continue };
        match asked(role) {
            Some(Liveness::EveryRun) => found.refused.push((role, one.to_string())),
            Some(Liveness::Fair) => {}
            None => found.warned.push(one.clone()),
        }
    }
    if let Some(limit) = limit {
        let is_unknown = |role: &usize| neglected.iter().all(|one| of(one) != Some(*role));
        let unknown = strict.into_iter().filter(is_unknown);
        found.refused.extend(unknown.map(|role| (role, limit.to_string())));
    }
    found
}
