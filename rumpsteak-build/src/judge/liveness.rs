//! Liveness of the protocol itself.
//!
//! Whether a session keeps what its protocol promises is judged in
//! [`subtype`](crate::judge::subtype). This module finds protocols in which the choices of other roles
//! can make a role wait for ever, which no session can mend:
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

/// Finds the roles of a protocol that may wait for ever: the roles and reasons that the attribute
/// refuses, and the waits that it does not mention.
pub(crate) fn neglected(
    settings: &Settings,
    protocol: &Loaded,
) -> (Vec<(usize, String)>, Vec<Neglected>) {
    let (mut refused, mut warned) = (Vec::new(), Vec::new());
    let required = &settings.required;
    let is_strict = |role: &usize| required[*role] == Some(Liveness::EveryRun);
    let strict: Vec<usize> = (0..required.len()).filter(is_strict).collect();
    if required.iter().all(|required| *required == Some(Liveness::Fair)) {
        return (refused, warned);
    }
    let mut limits = settings.limits.verifier;
    if strict.is_empty() {
        limits = limits.for_a_warning(protocol.projections.len());
    }
    let machines = protocol.projections.iter().map(|projection| projection.fsm.clone());
    let Ok(system) = System::new(machines.collect()) else { return (refused, warned) };
    let explore = || system::explore(&system, &limits);
    let EveryRun { neglected, limit } = system::live_in_every_run(&system, explore, &limits);
    let of = |one: &Neglected| protocol.protocol.roles().iter().position(|role| *role == one.role);
    for one in &neglected {
        let Some(role) = of(one) else { continue };
        match required[role] {
            Some(Liveness::EveryRun) => refused.push((role, one.to_string())),
            Some(Liveness::Fair) => {}
            None => warned.push(one.clone()),
        }
    }
    if let Some(limit) = limit {
        let is_unknown = |role: &usize| neglected.iter().all(|one| of(one) != Some(*role));
        let unknown = strict.into_iter().filter(is_unknown);
        refused.extend(unknown.map(|role| (role, limit.to_string())));
    }
    (refused, warned)
}
