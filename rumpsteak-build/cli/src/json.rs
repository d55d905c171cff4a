//! The object that `--json` prints.

use serde_json::{Value, json};

use crate::report::Report;

/// `verdict`, `bound`, `limit`, `run` and `reason`, in this order and always all of them: what does not apply is
/// `null`. Verbs append what else they know.
pub(crate) fn verdict(
    verdict: Option<&str>,
    bound: Option<usize>,
    limit: Option<Value>,
    run: Option<Vec<Value>>,
    reason: Option<String>,
) -> Value {
    json!({
        "verdict": verdict,
        "bound": bound,
        "limit": limit,
        "run": run,
        "reason": reason,
    })
}

/// Pretty-printed, with a line break at the end.
pub(crate) fn text(value: &Value) -> String {
    format!("{value:#}\n")
}

/// The object for an input or a call that is bad: there is no verdict.
pub(crate) fn bad_input(report: &Report) -> Value {
    let mut object = verdict(None, None, None, None, Some(report.message().to_owned()));
    object["error"] = report.to_json();
    object
}
