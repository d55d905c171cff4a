//! `subtype`: may one machine take the place of another?

use std::path::PathBuf;

use clap::Args;
use rumpsteak_build::command::{self, Explanation, Notice, among_peers, proven, shortest, visible};
use rumpsteak_fsm::{
    Fsm, Limit, Limits, Run, System, TransitionId, Verdict,
    subtype::{InputError, Proof, Refusal, Side},
    system::explore,
    verify,
    verify::{Evidence, VerifyError, certified},
};
use serde_json::{Value, json};

use crate::{
    input::Reader,
    json::{self, Answer},
    machines::{self, Machine},
    options::{Output, Scribble, raise},
    outcome::Outcome,
    terminal::{Terminal, paragraph},
};

/// Tells whether SUB may take the place of SUP: asynchronous subtyping of two machines
#[derive(Debug, Args)]
#[command(after_help = "\
Machines are digraphs in DOT, local types, CFSM text or binary types, or the projections of a Scribble file; the file's
content tells which. Where SUP is in a file with its peers, SUB is also tried among them: a refusal then shows the shortest run that goes
wrong, and a role that may wait for ever is noted.

  cargo rumpsteak subtype kernel.dot protocols/double_buffering.scr --role k")]
pub(crate) struct Arguments {
    /// The machine that takes the place; `-` is standard input
    sub: PathBuf,
    /// The machine whose place it takes
    sup: PathBuf,
    /// Which machine, where a file holds several
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Let at most N actions of SUP be pending because SUB does others first
    #[arg(long, value_name = "N", default_value_t = Limits::default().anticipation)]
    bound: usize,
    /// Keep at most N open choices that SUB overtakes in a loop
    #[arg(long, value_name = "N", default_value_t = Limits::default().branching)]
    branching: usize,
    /// Compare at most N actions
    #[arg(long, value_name = "N", default_value_t = Limits::default().steps)]
    steps: usize,
    #[command(flatten)]
    scribble: Scribble,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Compares the two machines.
///
/// # Errors
/// A file that cannot be read, or a machine that is no local type.
pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Notice> {
    let mut reader = Reader::default();
    let role = arguments.role.as_deref();
    let mut read = |path| machines::read(&mut reader, path, &arguments.scribble, terminal);
    let sub = machines::pick(read(&arguments.sub)?, role)?;
    let system = read(&arguments.sup)?;
    let sup = machines::pick(system.clone(), role)?;

    let mut limits = Limits::default()
        .anticipation(arguments.bound)
        .branching(arguments.branching)
        .steps(arguments.steps);
    // A bound that is lowered is meant as one.
    if arguments.bound < Limits::default().anticipation {
        limits.widening = 0;
    }
    let others = system.iter().map(|machine| &machine.fsm);
    let peers = others
        .filter(|fsm| fsm.role() != sup.fsm.role())
        .cloned()
        .collect();
    let comparison = Comparison { sub, sup, peers };
    let verdict = comparison.judge(&limits, terminal)?;
    let (sub, sup) = (&comparison.sub, &comparison.sup);
    if sub.fsm.role() != sup.fsm.role() {
        let roles = (sub.fsm.role(), sup.fsm.role());
        terminal.report(&Notice::note(format!(
            "SUB is a machine of `{}` and SUP one of `{}`; only the names of their peers are compared",
            roles.0, roles.1
        )));
    }

    let (answer, outcome) = match &verdict {
        Verdict::Safe(proof) => {
            let starvation = comparison.starvation(&limits);
            if let Some(run) = &starvation {
                let note = Notice::note(format!("among these peers, {}", run.failure));
                terminal.report(&note.remark(shortest(run)));
            }
            (
                comparison.accepted(proof, starvation.as_ref()),
                Outcome::Holds,
            )
        }
        Verdict::Unsafe(refused) => (comparison.refused(refused), Outcome::Fails),
        Verdict::Undecided(limit) => (comparison.undecided(*limit), Outcome::Undecided),
    };
    match answer {
        (_, object) if arguments.output.json() => terminal.print(&json::text(&object)),
        (Told::Line(line), _) => terminal.print(&line),
        (Told::Notice(notice), _) => terminal.print_report(&notice),
    }
    Ok(outcome)
}

/// The answer for people.
enum Told {
    Line(String),
    Notice(Notice),
}

/// The two machines, and the others in the file of the second.
struct Comparison {
    sub: Machine,
    sup: Machine,
    peers: Vec<Fsm>,
}

/// A refusal by subtyping, by a run among the peers, or by both.
struct Refused {
    refusal: Option<Refusal>,
    evidence: Option<Evidence>,
}

impl Comparison {
    /// Judges with the peers, if they and the supertype make a system. Otherwise without them, with
    /// a note that says why.
    fn judge(
        &self,
        limits: &Limits,
        terminal: &mut Terminal,
    ) -> Result<Verdict<Proof, Refused>, Notice> {
        let (sub, sup) = (&self.sub.fsm, &self.sup.fsm);
        if !self.peers.is_empty() {
            match verify(sub, sup, &self.peers, limits) {
                Ok(Verdict::Safe(proof)) => return Ok(Verdict::Safe(proof)),
                Ok(Verdict::Unsafe(refused)) => {
                    let (refusal, evidence) = (refused.refusal, Some(refused.evidence));
                    return Ok(Verdict::Unsafe(Refused { refusal, evidence }));
                }
                Ok(Verdict::Undecided(limit)) => return Ok(Verdict::Undecided(limit)),
                Err(VerifyError::Machine(error)) => return Err(self.bad(&error)),
                Err(error @ VerifyError::Certificate(_)) => {
                    return Err(Notice::error(error.to_string()));
                }
                Err(error) => terminal.report(&Notice::note(format!(
                    "the machines in `{}` are not tried together: {error}",
                    self.sup.file
                ))),
            }
        }
        Ok(
            match certified(sub, sup, limits).map_err(|error| match error {
                VerifyError::Machine(error) => self.bad(&error),
                error => Notice::error(error.to_string()),
            })? {
                Verdict::Safe(proof) => Verdict::Safe(proof),
                Verdict::Unsafe(refusal) => Verdict::Unsafe(Refused {
                    refusal: Some(refusal),
                    evidence: None,
                }),
                Verdict::Undecided(limit) => Verdict::Undecided(limit),
            },
        )
    }

    /// The error for a machine that is no local type.
    fn bad(&self, error: &InputError) -> Notice {
        let machine = match error.side {
            Side::Sub => &self.sub,
            Side::Sup => &self.sup,
        };
        machines::defect(machine, &error.defect)
    }

    /// A run to where a role waits for ever, if there is one once the subtype has taken its place.
    fn starvation(&self, limits: &Limits) -> Option<Run> {
        if self.peers.is_empty() {
            return None;
        }
        let mut machines = vec![self.sub.fsm.clone()];
        machines.extend(self.peers.iter().cloned());
        explore(&System::new(machines).ok()?, limits).starvation
    }

    /// The question, as a claim.
    fn claim(&self) -> String {
        let (sub, sup) = (&self.sub.file, &self.sup.file);
        format!("`{sub}` may take the place of `{sup}`")
    }

    /// The refusal in words, if subtyping is what refuses.
    fn explained(&self, refused: &Refused) -> Option<Explanation> {
        let comparison = command::Comparison {
            sub: &self.sub.fsm,
            sup: &self.sup.fsm,
            sup_name: &self.sup.file,
        };
        Some(comparison.explain(refused.refusal.as_ref()?))
    }

    fn accepted(&self, proof: &Proof, starvation: Option<&Run>) -> (Told, Value) {
        let line = format!("{}: {}\n", visible(&self.claim()), proven(proof));
        let answer = Answer {
            bound: proof.anticipation,
            ..Answer::default()
        };
        let mut object = answer.object(Outcome::Holds);
        object["situations"] = proof.situations.into();
        object["starvation"] = starvation.map(json::run).into();
        (Told::Line(line), object)
    }

    fn undecided(&self, limit: Limit) -> (Told, Value) {
        let title = format!("undecided whether {}: {limit}", self.claim());
        let notice = Notice::error(title).help(raise(limit));
        let object = Answer::limited(limit).object(Outcome::Undecided);
        (Told::Notice(notice), object)
    }

    fn refused(&self, refused: &Refused) -> (Told, Value) {
        let explanation = self.explained(refused);
        let notice = self.notice(refused, explanation.as_ref());
        let object = self.object(refused, explanation.as_ref(), &notice);
        (Told::Notice(notice), object)
    }

    fn notice(&self, refused: &Refused, explanation: Option<&Explanation>) -> Notice {
        let title = format!(
            "`{}` may not take the place of `{}`",
            self.sub.file, self.sup.file
        );
        let mut notice = match explanation {
            Some(found) => {
                let notice = Notice::error(format!("{title}: {}", found.sentence)).help(found.help);
                let blamed = [(&self.sub, found.own), (&self.sup, found.due)];
                let notice =
                    blamed
                        .into_iter()
                        .fold(notice, |notice, (machine, mark)| match mark {
                            Some((id, label)) => machine.mark(notice, id, label),
                            None => notice,
                        });
                found.notes.iter().fold(notice, Notice::remark)
            }
            None => Notice::error(title).remark(command::DECIDED_BY_RUN),
        };
        if let Some(evidence) = &refused.evidence {
            notice = notice.remark(among_peers(evidence));
        }
        notice
    }

    /// What `--format json` prints of a refusal. Its run is what the subtype does until the rule is
    /// broken.
    fn object(
        &self,
        refused: &Refused,
        explanation: Option<&Explanation>,
        notice: &Notice,
    ) -> Value {
        let own = |id: &TransitionId| json::action(self.sub.fsm.transition(*id).action);
        let refusal = refused.refusal.as_ref();
        let run = match &refused.evidence {
            Some(Evidence::Run(run)) => Some(run),
            _ => None,
        };
        let sentence = explanation.map(|found| found.sentence.clone());
        let answer = Answer {
            run: refusal.map(|refusal| refusal.path.iter().map(own).collect()),
            reason: sentence.or_else(|| run.map(|run| run.failure.to_string())),
            ..Answer::default()
        };
        let mut object = answer.object(Outcome::Fails);
        object["refusal"] = match (refusal, explanation) {
            (Some(refusal), Some(explanation)) => json!({
                "rule": explanation.code,
                "sub": refusal.sub.as_ref().map(own),
                "sub_state": refusal.sub_state.index(),
                "sup": refusal.sup.map(|id| json::action(self.sup.fsm.transition(id).action)),
                "sup_state": refusal.sup_state.index(),
                "cycle": refusal.cycle.iter().map(own).collect::<Vec<_>>(),
            }),
            _ => Value::Null,
        };
        object["system"] = run.map(|run| json::run(run)).into();
        object["rendered"] = paragraph(notice, false).into();
        object
    }
}
