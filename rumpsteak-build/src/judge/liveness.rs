//! Which liveness a protocol promises its roles.
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

use rumpsteak_front::arguments::Liveness;
use rumpsteak_fsm::System;
use rumpsteak_fsm::system::{self, EveryRun, Neglected};

use crate::protocols::Loaded;
use crate::settings::Settings;

/// The roles of a protocol that may be neglected and may not be, as the attribute has it, and those
/// of which it says nothing.
#[derive(Debug, Default)]
pub(crate) struct Neglects {
    pub(crate) refused: Vec<(usize, String)>,
    pub(crate) warned: Vec<Neglected>,
}

/// Looks for neglected roles of a protocol.
pub(crate) fn neglects(settings: &Settings, protocol: &Loaded) -> Neglects {
    let roles = 0..protocol.projections.len();
    let mut found = Neglects::default();
    let strict = roles.clone().filter(|&role| settings.asked(role) == Some(Liveness::EveryRun));
    let strict: Vec<usize> = strict.collect();
    if roles.clone().all(|role| settings.asked(role) == Some(Liveness::Fair)) {
        return found;
    }
    let mut limits = settings.limits.verifier;
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
        match settings.asked(role) {
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
