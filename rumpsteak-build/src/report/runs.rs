//! Runs that go wrong, in words.

use std::collections::BTreeSet;

use rumpsteak_fsm::Run;
use rumpsteak_fsm::run::{Failure, Queue};
use rumpsteak_fsm::verify::again::{Early, Overlap};

use crate::words::list;

/// A run, drawn below its introduction.
pub fn shortest(run: &Run) -> String {
    let chart = run.chart();
    format!("the shortest run that leads there:\n{}", chart.trim_end())
}

/// What is wrong with roles that play one session after the other.
pub const NEXT_SESSION: &str = "may begin its next session while others are still in the last one, and \
     where a role hears several peers at once, the one may be taken for the other";

/// Which queue ends the search, behind the limit that does.
pub fn full_queue(overlap: &Overlap) -> String {
    overlap.full.as_ref().map_or(String::new(), |Queue { from, to, messages }| {
        format!(
            ": that from `{from}` to `{to}`, of {}",
            list(messages.iter().map(ToString::to_string))
        )
    })
}

/// Where one session may be taken for the next, if that is known, and what to do.
pub fn next_session(overlap: &Overlap) -> (Option<String>, String) {
    let Some(Early { role, awaited, finished }) = &overlap.early else {
        let help = "at the end of the session, let the role that hears several peers tell them that it is done";
        return (None, help.to_owned());
    };
    let messages = awaited.iter().map(|due| format!("`{}` from `{}`", due.message, due.peer));
    let messages: Vec<String> = messages.collect();
    let peers: BTreeSet<&str> = awaited.iter().map(|due| due.peer.as_str()).collect();
    (
        Some(format!(
            "`{finished}` may have finished, and begin the next session, while `{role}` still waits for {}",
            messages.join(" or ")
        )),
        format!("at the end of the session, let `{role}` tell {} that it is done", list(peers)),
    )
}

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
