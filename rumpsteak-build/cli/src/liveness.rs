//! Messages about liveness in every run.

use rumpsteak_build::command::Notice;
use rumpsteak_fsm::system::EveryRun;

use crate::{Answer, Outcome, raise};

/// Reports the roles that some run neglects, or the limit that ended the search for them, about a
/// protocol of this name or about the system. Adds the roles to the answer, and the verdict if this
/// liveness is asked for. If not, the reports are warnings.
pub(crate) fn tell(
    EveryRun { neglected, limit }: &EveryRun,
    protocol: Option<&str>,
    is_asked: bool,
    answer: &mut Answer,
    mut report: impl FnMut(Notice),
) {
    let notice = if is_asked { Notice::error } else { Notice::warning };
    for found in neglected {
        let told = notice(match protocol {
            Some(name) => format!("in `{name}`, {found}"),
            None => found.to_string(),
        });
        let told = told.with_code(Some("V0413")).remark(found.meaning());
        report(told.help("`--liveness fair` accepts that"));
    }
    let told = match limit {
        _ if !neglected.is_empty() => Outcome::Fails,
        None => return,
        Some(limit) => {
            let what = protocol.map_or("the system".to_owned(), |name| format!("`{name}`"));
            let title = format!("undecided whether {what} is live in every run: {limit}");
            report(notice(title).help(raise(*limit)));
            Outcome::Undecided
        }
    };
    answer.object["neglected"] = neglected.iter().map(|found| found.role.as_str()).collect();
    if is_asked {
        answer.outcome = answer.outcome.max(told);
        answer.object["verdict"] = answer.outcome.verdict().into();
    }
}
