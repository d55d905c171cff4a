//! The answers of `subtype` and `compat` about one machine in the place of another.

use rumpsteak_build::command::{self, Explanation, Notice, among_peers};
use rumpsteak_fsm::subtype::{Refusal, Side};
use rumpsteak_fsm::verify::{Evidence, Refused};
use rumpsteak_fsm::{Limit, Role, TransitionId};
use serde_json::Value;

use crate::machines::Machine;
use crate::{Answer, Outcome, json, raise};

/// The machine that takes the place, and the one whose place it takes.
pub(crate) struct Comparison {
    pub(crate) sub: Machine,
    pub(crate) sup: Machine,
}

impl Comparison {
    pub(crate) fn machine(&self, side: Side) -> &Machine {
        match side {
            Side::Sub => &self.sub,
            Side::Sup => &self.sup,
        }
    }

    /// The peers of the actions that an explanation shows.
    pub(crate) fn peers<'a>(&'a self, found: &'a Explanation) -> impl Iterator<Item = &'a Role> {
        found.marks.iter().map(|(side, id, _)| &self.machine(*side).fsm.transition(*id).action.peer)
    }

    /// Explains a refusal by subtyping, by a run among the peers, or by both. `title` says that the
    /// one may not take the place of the other. Also returns the rule that is broken, in words, if
    /// subtyping refuses. The answer's run is the actions of the subtype until then, and its system
    /// the run among the peers.
    pub(crate) fn refused(
        &self,
        title: String,
        refusal: Option<&Refusal>,
        among: Option<&Refused>,
    ) -> (Option<Explanation>, Notice, Answer) {
        let sup = (&self.sup.fsm, &*self.sup.file);
        let explanation = refusal.map(|refusal| command::explain(&self.sub.fsm, sup, refusal));
        let mut notice = match &explanation {
            Some(found) => {
                let notice = Notice::error(format!("{title}: {}", found.sentence));
                let mut notice = notice.with_code(Some(found.code));
                for (side, id, label) in &found.marks {
                    notice = self.machine(*side).mark(notice, *id, label);
                }
                found.notes.iter().fold(notice, Notice::remark)
            }
            None => {
                let condition = among.and_then(|among| among.condition.as_ref());
                Notice::error(title).remark(command::decided_by_run(condition))
            }
        };
        if let Some(among) = among {
            notice = notice.remark(among_peers(&among.evidence));
        }
        let run = among.and_then(|among| match &among.evidence {
            Evidence::Run(run) => Some(run),
            _ => None,
        });
        let sentence = explanation.as_ref().map(|found| found.sentence.clone());
        let reason = sentence.or_else(|| run.map(|run| run.failure.to_string()));
        let path = refusal.map(|of| of.path.iter().map(|id| self.action(id)).collect::<Value>());
        let answer = Answer::new(Outcome::Fails).with("run", path).with("reason", reason);
        (explanation, notice, answer.with("system", run.map(|run| json::run(run))))
    }

    pub(crate) fn action(&self, id: &TransitionId) -> Value {
        json::action(self.sub.fsm.transition(*id).action)
    }
}

/// The answer after a limit ended the search. `claim` says that the one may take the place of the
/// other.
pub(crate) fn undecided(claim: &str, limit: Limit) -> (Notice, Answer) {
    let notice = Notice::error(format!("undecided whether {claim}: {limit}")).help(raise(limit));
    (notice, Answer::undecided(limit))
}
