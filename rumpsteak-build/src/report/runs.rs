//! Runs that go wrong, in words.

use rumpsteak_fsm::Run;
use rumpsteak_fsm::run::Failure;

/// A run as a chart.
pub fn shortest(run: &Run) -> String {
    let chart = run.chart();
    format!("the shortest run that leads there:\n{}", chart.trim_end())
}

/// The end of a run: "gets stuck".
pub(super) fn failure(run: &Run) -> String {
    match &run.failure {
        Failure::Deadlock => "gets stuck".to_owned(),
        Failure::Orphan { from, to } => format!("leaves a message from `{from}` to `{to}` behind"),
        Failure::Starvation { role } => format!("leaves `{role}` waiting for ever"),
        Failure::UnspecifiedReception { from, to } => {
            format!("brings `{to}` a message from `{from}` that it cannot take")
        }
        Failure::Never { .. } => format!("leads to where {}", run.failure),
        Failure::Neglect(neglected) => format!("leads to where {neglected}"),
    }
}
