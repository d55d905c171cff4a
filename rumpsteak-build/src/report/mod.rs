//! The texts that users read.
//!
//! The text of a `compile_error!` is plain, because it appears in JSON and in editors. rustc draws
//! the user's line above it, so it only shows the `.scr` file and the run. A report on stderr is
//! complete and may have colours.

pub(crate) mod code;
#[cfg(feature = "command")]
pub(crate) mod comparison;
pub(crate) mod excerpt;
pub(crate) mod notice;
pub(crate) mod refusal;
mod reordering;
pub(crate) mod wording;

use rumpsteak_fsm::run::{Failure, Step};
use rumpsteak_fsm::verify::together::Condition;
use rumpsteak_fsm::{Role, Run, StateId};

/// A run as a chart.
pub fn shortest(run: &Run) -> String {
    format!("the shortest run that leads there:\n{}", run.chart().trim_end())
}

/// Steps as a chart. `states` has all roles.
pub fn chart(steps: Vec<Step>, states: Vec<(Role, StateId)>) -> String {
    let (failure, queues, waits) = (Failure::Deadlock, Vec::new(), Vec::new());
    let chart = Run { failure, steps, states, queues, waits }.chart();
    // The last line is the failure.
    chart.trim_end().rsplit_once('\n').map_or_else(String::new, |(steps, _)| steps.to_owned())
}

/// The end of a run: "gets stuck".
fn failure(run: &Run) -> String {
    match &run.failure {
        Failure::Deadlock => "gets stuck".to_owned(),
        Failure::Orphan { from, to } => format!("leaves a message from `{from}` to `{to}` behind"),
        Failure::Starvation(role) => format!("leaves `{role}` waiting for ever"),
        Failure::UnspecifiedReception { from, to } => {
            format!("brings `{to}` a message from `{from}` that it cannot take")
        }
        Failure::Never { .. } => format!("leads to where {}", run.failure),
        Failure::Neglect(neglected) => format!("leads to where {neglected}"),
    }
}

/// The reason why subtyping is not enough.
pub(crate) fn beyond_subtyping(condition: &Condition) -> String {
    match condition {
        Condition::NarrowedChoice(_, option) => {
            format!("it leaves out an option of a choice, `{option}`")
        }
        Condition::UndirectedPeer(peer, _) => {
            format!("it does something early, and `{peer}` hears several roles at once")
        }
        Condition::Undirected(_) => {
            "its order is another one, and it chooses among several peers, or between sending \
             and receiving, where subtyping is not proven"
                .to_owned()
        }
    }
}
