//! Runs that go wrong, in words.

use std::collections::BTreeSet;

use rumpsteak_fsm::run::{Failure, Queue};
use rumpsteak_fsm::verify::again::{Early, Overlap};
use rumpsteak_fsm::{Limit, Run};

use crate::words::list;

/// A run, drawn below its introduction.
pub fn shortest(run: &Run) -> String {
    let chart = run.chart();
    format!("the shortest run that leads there:\n{}", chart.trim_end())
}

/// What is said of roles of which one may begin its next session while others are in this one.
#[derive(Debug)]
pub struct NextSession {
    /// What may happen.
    pub headline: String,
    /// Who may have finished, while who still waits for what, if that is known.
    pub early: Option<String>,
    /// What to do.
    pub help: String,
}

impl NextSession {
    /// What to say of a protocol of this name.
    #[must_use]
    pub fn of(protocol: &str, overlap: &Overlap) -> Self {
        let again = format!("where `{protocol}` is played again,");
        let Some(Early { role, awaited, finished }) = &overlap.early else {
            return Self {
                headline: format!("{again} a message of the next session may be taken for one of this"),
                early: None,
                help: "at the end of the session, let the role that hears several peers tell them that it is done"
                    .to_owned(),
            };
        };
        let messages = awaited.iter().map(|due| format!("`{}` from `{}`", due.message, due.peer));
        let messages: Vec<String> = messages.collect();
        let peers: BTreeSet<&str> = awaited.iter().map(|due| due.peer.as_str()).collect();
        Self {
            headline: format!(
                "{again} `{role}` may take a message of the next session for one of this"
            ),
            early: Some(format!(
                "roles may play again, which the build does not see: `{finished}` may have finished, and begin the next \
                 session, while `{role}` still waits for {}",
                messages.join(" or ")
            )),
            help: format!(
                "at the end of the session, let `{role}` tell {} that it is done; \
                 or let one role tell `{role}` first which of these messages comes",
                list(peers)
            ),
        }
    }
}

/// That this limit ended the search for a run in which it does harm that sessions are confused.
#[must_use]
pub fn undecided_next_session(limit: &Limit, overlap: &Overlap) -> String {
    let full = overlap.full.as_ref().filter(|_| matches!(limit, Limit::Queue(_)));
    let full = full.map_or(String::new(), |Queue { from, to, messages }| {
        let messages = list(messages.iter().map(ToString::to_string));
        format!(": that from `{from}` to `{to}`, of {messages}")
    });
    format!("a run in which that does harm was not found, and is not excluded: {limit}{full}")
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
