//! The answer to a call, its outcome, and its exit status.

use std::process::ExitCode;

use rumpsteak_build::command::{Gravity, Notice};
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

/// In order of severity, so that the outcome of several files is their maximum. A file that cannot
/// be read outweighs all verdicts, and a refusal outweighs an undecided search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// It holds: status 0.
    Holds,
    /// Undecided within the bounds: status 3.
    Undecided,
    /// It does not hold: status 1.
    Fails,
    /// The input or the call is bad: status 2.
    BadInput,
}

impl Outcome {
    /// The word in JSON; `None` for bad input.
    pub(crate) fn verdict(self) -> Option<&'static str> {
        match self {
            Self::Holds => Some("safe"),
            Self::Fails => Some("unsafe"),
            Self::Undecided => Some("undecided"),
            Self::BadInput => None,
        }
    }
}

impl From<Option<Gravity>> for Outcome {
    fn from(gravest: Option<Gravity>) -> Self {
        match gravest {
            None => Self::Holds,
            Some(Gravity::Undecided) => Self::Undecided,
            Some(Gravity::BadInput) => Self::BadInput,
            Some(_) => Self::Fails,
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Holds => 0,
            Outcome::Fails => 1,
            Outcome::BadInput => 2,
            Outcome::Undecided => 3,
        })
    }
}
