//! Runs that go wrong, in words.

use rumpsteak_fsm::Run;
use rumpsteak_fsm::run::Failure;

/// A run, drawn below its introduction.
pub fn shortest(run: &Run) -> String {
    let chart = run.chart();
    format!("the shortest run that leads there:\n{}", chart.trim_end())
}

/// What is wrong with roles that play one session after the other, and what to do.
pub const NEXT_SESSION: [&str; 2] = [
    "may begin its next session while others are still in the last one, and where a role hears \
     several peers at once, the one may be taken for the other",
    "at the end of the session, let the role that hears several peers tell them that it is done",
];

/// What happens at the end of a run: "gets stuck".
pub(super) fn failure(run: &Run) -> String {
    match &run.failure {
        Failure::Deadlock => "gets stuck".to_owned(),
        Failure::Orphan { from, to } => format!("leaves a message from `{from}` to `{to}` behind"),
        Failure::Starvation { role } => format!("leaves `{role}` waiting for ever"),
        Failure::UnspecifiedReception { from, to } => {
            format!("brings `{to}` a message from `{from}` that it cannot take")
        }
    }
}
