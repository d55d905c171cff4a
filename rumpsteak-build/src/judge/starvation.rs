//! Who waits for ever although every session is safe by itself.
//!
//! A session may leave out options of a choice that is its own. A role that is told of the choice
//! goes on; but a third role that hears only of an option that is never taken waits for ever:
//!
//! ```text
//! rec loop {
//!   choice at a { more() from a to b; continue loop; }
//!   or { stop() from a to b; done() from b to c; }
//! }
//!
//! a as written: rec X. b!more. X         c waits for `done`, which never comes
//! ```
//!
//! No session is to blame for this, and it may be meant; so it is a warning. It is found by
//! exploring the sessions of all roles together, at the cost of one exploration for each protocol
//! in which some role may leave something out.

use rumpsteak_fsm::run::{Failure, Run};
use rumpsteak_fsm::{Direction, Fsm, Limits, System, system};

use crate::protocols::Loaded;

/// The run to where a role of the protocol waits for ever, if there is one. `written` has for each
/// role the machine of its only session; a role without one, or with several, does what the
/// protocol says.
pub(crate) fn find(protocol: &Loaded, written: &[Option<&Fsm>], limits: &Limits) -> Option<Run> {
    let projected = protocol
        .projections
        .iter()
        .map(|projection| &projection.fsm);
    // Without a choice of one's own there is nothing to leave out.
    let may_narrow = |(written, projected): (&Option<&Fsm>, &Fsm)| {
        written.is_some()
            && projected.states().any(|state| {
                let sends = projected
                    .transitions_from(state)
                    .filter(|transition| transition.action.direction == Direction::Send);
                sends.count() > 1
            })
    };
    if !written.iter().zip(projected.clone()).any(may_narrow) {
        return None;
    }
    let pairs = written.iter().zip(projected);
    let machines = pairs.map(|(written, projected)| written.unwrap_or(projected).clone());
    // Machines that make no system were refused before.
    let system = System::new(machines.collect()).ok()?;
    system::explore(&system, limits).starvation
}

/// Who waits at the end of the run, and for what: "`c`", "done(i32) from b".
pub(crate) fn describe(run: &Run) -> Option<(String, String)> {
    let Failure::Starvation { role } = &run.failure else {
        return None;
    };
    let wait = run.waits.iter().find(|wait| wait.role == *role)?;
    let awaited: Vec<String> = wait
        .transitions
        .iter()
        .map(|(_, action)| format!("{} from {}", action.message, action.peer))
        .collect();
    Some((role.to_string(), awaited.join(" or ")))
}
