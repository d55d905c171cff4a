//! Messages about liveness in every run.

use rumpsteak_build::command::Notice;
use rumpsteak_fsm::system::EveryRun;
use serde_json::Value;

use crate::options::raise;
use crate::outcome::Outcome;

/// Reports the roles that some run neglects, or the limit that ended the search for them, as
/// `notice`s about a protocol of this name or about the system. Adds the roles to the answer.
pub(crate) fn tell(
    EveryRun { neglected, limit }: &EveryRun,
    protocol: Option<&str>,
    notice: fn(String) -> Notice,
    object: &mut Value,
    mut report: impl FnMut(Notice),
) -> Outcome {
    for found in neglected {
        let told = notice(match protocol {
            Some(name) => format!("in `{name}`, {found}"),
            None => found.to_string(),
        });
        let told = told.with_code(Some("V0413")).remark(found.meaning());
        report(told.help("`--liveness fair` accepts that"));
    }
    let outcome = match limit {
        _ if !neglected.is_empty() => Outcome::Fails,
        None => return Outcome::Holds,
        Some(limit) => {
            let what = protocol.map_or("the system".to_owned(), |name| format!("`{name}`"));
            let title = format!("undecided whether {what} is live in every run: {limit}");
            report(notice(title).help(raise(*limit)));
            Outcome::Undecided
        }
    };
    object["neglected"] = neglected.iter().map(|found| found.role.as_str()).collect();
    object["verdict"] = outcome.verdict().into();
    outcome
}
