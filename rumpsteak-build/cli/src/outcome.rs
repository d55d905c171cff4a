//! The answer to a call, with its outcome, and its exit status.

use std::process::ExitCode;

use rumpsteak_build::command::Notice;
pub(crate) use rumpsteak_build::command::Outcome;
use rumpsteak_fsm::Limit;
use serde_json::{Value, json};

/// The answer of a verb. An error is about the call or its input.
pub(crate) type Reply = Result<Answer, Notice>;

/// The answer of a verb. The object has first `verdict`, `bound` (which sufficed), `limit` (which
/// ended the search), `run` (to the error) and `reason`, `null` if they do not apply.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    pub(crate) object: Value,
}

impl Answer {
    pub(crate) fn new(outcome: Outcome) -> Self {
        let verdict = outcome.verdict();
        let object =
            json!({"verdict": verdict, "bound": null, "limit": null, "run": null, "reason": null});
        Self { outcome, object }
    }

    pub(crate) fn holds(bound: Option<usize>) -> Self {
        Self::new(Outcome::Holds).with("bound", bound)
    }

    pub(crate) fn because(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self::new(outcome).with("reason", reason.into())
    }

    pub(crate) fn undecided(limit: Limit) -> Self {
        let named = json!({"setting": limit.setting(), "value": limit.value()});
        Self::because(Outcome::Undecided, limit.to_string()).with("limit", named)
    }

    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.object[field] = value.into();
        self
    }
}

pub(crate) fn status(outcome: Outcome) -> ExitCode {
    ExitCode::from(match outcome {
        Outcome::Holds => 0,
        Outcome::Fails => 1,
        Outcome::BadInput => 2,
        Outcome::Undecided => 3,
    })
}
