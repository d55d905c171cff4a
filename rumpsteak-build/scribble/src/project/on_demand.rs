//! The machines of roles in a protocol that connects them: some roles need not take part.
//!
//! ```text
//!   choice at A {                                  C:  0 ─A?connect─▶ 1 ─A?job─▶ 2
//!       connect A to C; job() from A to C;
//!   } or {                                         and 0 is also an end: on demand
//!       stop() from A to B;
//!   }
//! ```
//!
//! A role that learns in every run how the protocol goes on has an ordinary machine. Another role
//! may still have a machine *[on demand](rumpsteak_fsm::Fsm::on_demand)*, if another role connects
//! it whenever it is without connections. Its session begins when the first role connects to it. It
//! ends when its last connection ends, or the protocol. So the session runs once for each time that
//! the role is connected: never, once, or again and again. Its machine is the
//! [projection](super::projection) of the automaton, cut in all states in which the role is alone,
//! and beginning with all edges that connect it.
//!
//! # Why it is sound
//! The theorem about projection speaks of roles that take part from the beginning to the end. So it
//! proves nothing here: if some role plays on demand, the machines are [judged](super::blocks) as a
//! system. A role that waits to be connected is not a deadlock there, and it begins again when it
//! has finished.
//!
//! Its sessions come in the order of the protocol. If first one peer connects to it and then
//! another one, the second connection must not overtake the first: this is receive validity of the
//! first state, where the others go on to the end of the protocol.

use fixedbitset::FixedBitSet;

use super::blocks::{Together, judge};
use super::projection::{overtaken_at_first, project};
use crate::diagnostics::{Name, all};
use crate::global::automaton::{Edge, Global};
use crate::index::index;
use crate::limits::Limits;

/// The machines of all roles, judged together; `None` if no role plays on demand. `alone` has the
/// roles without connections by state.
pub(crate) fn project_all(
    global: &Global,
    alone: &[FixedBitSet],
    protocol: &Name,
    names: &[Name],
    limits: &Limits,
) -> Option<Together> {
    let roles = (0..).zip(names);
    let demands = roles.map(|(role, name)| match project(global, role, name.span, limits) {
        Ok(_) => None,
        Err(_) => on_demand(global, alone, role),
    });
    let demands: Vec<Option<Demand>> = demands.collect();
    let (_, first) = demands.iter().zip(names).find(|(demand, _)| demand.is_some())?;
    let projections = all((0..).zip(names).zip(&demands).map(|((role, name), demand)| {
        let Some(Demand { session, whole }) = demand else {
            return project(global, role, name.span, limits);
        };
        let mut wrong = overtaken_at_first(whole, role, name.span, limits);
        let found = project(session, role, name.span, limits);
        let mut found = found.map_err(|more| [std::mem::take(&mut wrong), more].concat())?;
        found.fsm = found.fsm.on_demand(true);
        if wrong.is_empty() { Ok(found) } else { Err(wrong) }
    }));
    Some(projections.and_then(|projections| {
        judge(&projections, protocol, (first.span, "this role"), &limits.verifier)?;
        Ok((projections, false))
    }))
}

/// The protocol from the point where a role is connected.
struct Demand {
    /// Up to the point where the role is alone again: its session.
    session: Global,
    /// Up to the end.
    whole: Global,
}

/// The protocol from the point where the role is connected. `None` if the role takes part from the
/// beginning, or connects to others itself while it is alone.
fn on_demand(global: &Global, alone: &[FixedBitSet], role: u32) -> Option<Demand> {
    let is_alone = |state: u32| alone[state as usize].contains(role as usize);
    let states = || 0..index(global.len());
    let mut asked = Vec::new();
    for edge in states().filter(|&state| is_alone(state)).flat_map(|state| global.edges(state)) {
        let letter = global.letter(edge);
        if letter.from == role {
            return None;
        }
        if letter.to == role {
            asked.push(edge.clone());
        }
    }
    let from_there = |is_kept: &dyn Fn(u32) -> bool| {
        let kept = |state| if is_kept(state) { global.edges(state) } else { &[] };
        let states = states().map(|state| kept(state).to_vec());
        // The new state comes first.
        let shift = |edge: Edge| Edge { target: edge.target + 1, ..edge };
        let states = std::iter::once(asked.clone()).chain(states);
        let states = states.map(|edges| edges.into_iter().map(shift).collect());
        global.with_states(states.collect(), global.letters.clone())
    };
    is_alone(0).then(|| Demand {
        session: from_there(&|state| !is_alone(state)),
        whole: from_there(&|_| true),
    })
}
