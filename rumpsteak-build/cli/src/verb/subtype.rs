//! `subtype`: may one machine take the place of another?

use std::path::PathBuf;

use clap::Args;
use rumpsteak_build::command::{Notice, count, visible};
use rumpsteak_fsm::{
    Fsm, Limits, Run, System, TransitionId, Verdict,
    subtype::{InputError, Proof, Refusal, Rule, Side},
    system::explore,
    verify,
    verify::{Evidence, VerifyError, certified},
};
use serde_json::{Value, json};

use crate::{
    input::Reader,
    json::{self, Answer},
    machines::{self, Machine},
    options::{Output, Scribble},
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

    let (object, outcome) = match &verdict {
        Verdict::Safe(proof) => {
            let starvation = comparison.starvation(&limits);
            if let Some(run) = &starvation {
                let note = Notice::note(format!("among these peers, {}", run.failure));
                terminal.report(&note.remark(drawn(run)));
            }
            if !arguments.output.json() {
                terminal.print(&comparison.accepted(proof));
            }
            let answer = Answer {
                bound: proof.anticipation,
                ..Answer::default()
            };
            let mut object = answer.object(Outcome::Holds);
            object["situations"] = proof.situations.into();
            object["starvation"] = starvation.as_ref().map(json::run).into();
            (object, Outcome::Holds)
        }
        Verdict::Unsafe(refused) => {
            let report = comparison.refused(refused);
            if !arguments.output.json() {
                terminal.print_report(&report);
            }
            (comparison.object(refused, &report), Outcome::Fails)
        }
        Verdict::Undecided(limit) => {
            let option = match limit.setting() {
                "anticipation" => "bound",
                setting => setting,
            };
            if !arguments.output.json() {
                let title = format!("undecided whether {}: {limit}", comparison.claim());
                let report = Notice::error(title);
                let help = format!("raise the limit with `--{option}`");
                terminal.print_report(&report.help(help));
            }
            let answer = Answer {
                limit: Some(*limit),
                reason: Some(limit.to_string()),
                ..Answer::default()
            };
            (answer.object(Outcome::Undecided), Outcome::Undecided)
        }
    };
    if arguments.output.json() {
        terminal.print(&json::text(&object));
    }
    Ok(outcome)
}

/// The two machines, and the others in the file of the second.
struct Comparison {
    sub: Machine,
    sup: Machine,
    peers: Vec<Fsm>,
}

/// Why not: what subtyping says, and what happens among the peers if there are any.
struct Refused {
    refusal: Option<Refusal>,
    evidence: Option<Evidence>,
}

impl Comparison {
    /// Judges with the peers, if they and the supertype make a system; without them otherwise, and says why.
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

    /// A machine that is no local type.
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

    /// What is asked.
    fn claim(&self) -> String {
        let (sub, sup) = (&self.sub.file, &self.sup.file);
        format!("`{sub}` may take the place of `{sup}`")
    }

    fn accepted(&self, proof: &Proof) -> String {
        format!(
            "{}: {} compared, {}\n",
            visible(&self.claim()),
            count(proof.situations, "situation"),
            match proof.anticipation {
                Some(0) => "nothing is done early".to_owned(),
                Some(pending) => format!("at most {} pending", count(pending, "action")),
                None => "more and more actions may be pending".to_owned(),
            },
        )
    }

    fn refused(&self, Refused { refusal, evidence }: &Refused) -> Notice {
        let title = format!(
            "`{}` may not take the place of `{}`",
            self.sub.file, self.sup.file
        );
        let mut report = match refusal {
            Some(refusal) => self.explained(title, refusal),
            None => Notice::error(title)
                .remark("whether it is a subtype is undecided, but this run decides it"),
        };
        match evidence {
            Some(Evidence::Run(run)) => {
                report = report.remark(format!(
                    "among these peers, {}; {}",
                    run.failure,
                    drawn(run)
                ));
            }
            Some(Evidence::NoRun(coverage)) => {
                let how_far = match coverage.exhaustive {
                    true => String::new(),
                    false => format!(
                        " as long as no queue holds more than {}",
                        count(coverage.bound, "message")
                    ),
                };
                report = report.remark(format!(
                    "among these very peers nothing goes wrong{how_far}, but others may follow the same protocol"
                ));
            }
            Some(Evidence::NoSystem(error)) => report = report.remark(error.to_string()),
            None => {}
        }
        report
    }

    /// The two actions that may not change places.
    fn explained(&self, title: String, refusal: &Refusal) -> Notice {
        let wording = Wording::of(refusal.rule);
        let mut report = Notice::error(format!("{title}: {}", refusal.rule)).help(wording.help);
        let (sub, sup) = (&self.sub, &self.sup);
        let own = refusal.sub.map(|id| (id, wording.sub));
        // Where the subtype does nothing, what it does last.
        let last = || {
            refusal
                .path
                .last()
                .map(|&id| (id, "nothing more is done behind this"))
        };
        let own = match refusal.rule {
            Rule::Forgotten => {
                let in_loop = refusal.cycle.first().map(|&id| (id, wording.sub));
                in_loop.or_else(last)
            }
            Rule::InputNotHandled => {
                let mut offered = sub.fsm.transitions_from(refusal.sub_state);
                own.or_else(|| offered.next().map(|other| (other.id, wording.sub)))
            }
            _ => own.or_else(last),
        };
        if let Some((id, label)) = own {
            report = sub.mark(report, id, label);
        }
        match refusal.sup {
            Some(id) => report = sup.mark(report, id, wording.sup),
            None => report = report.remark("the protocol may be over then"),
        }

        if !refusal.path.is_empty() {
            report = report.remark(format!("this is after {}", self.actions(&refusal.path)));
        }
        if !refusal.cycle.is_empty() {
            report = report.remark(format!("the loop is {}", self.actions(&refusal.cycle)));
        }
        report
    }

    /// `` `s!ready`, `t?value` ``, the last ones if they are many.
    fn actions(&self, path: &[TransitionId]) -> String {
        const MOST: usize = 12;
        let skipped = path.len().saturating_sub(MOST);
        let action = |&id: &TransitionId| format!("`{}`", self.sub.fsm.transition(id).action);
        let shown = path[skipped..]
            .iter()
            .map(action)
            .collect::<Vec<_>>()
            .join(", ");
        match skipped {
            0 => shown,
            _ => format!("{} and {shown}", count(skipped, "other action")),
        }
    }

    /// What `--json` prints of a refusal. Its run is what the subtype does until the rule is broken.
    fn object(&self, Refused { refusal, evidence }: &Refused, report: &Notice) -> Value {
        let own = |id: &TransitionId| json::action(self.sub.fsm.transition(*id).action);
        let path = refusal
            .as_ref()
            .map(|refusal| refusal.path.iter().map(own).collect());
        let run = match evidence {
            Some(Evidence::Run(run)) => Some(run),
            _ => None,
        };
        let reason = match (refusal, run) {
            (Some(refusal), _) => Some(refusal.rule.to_string()),
            (None, Some(run)) => Some(run.failure.to_string()),
            (None, None) => None,
        };
        let answer = Answer {
            run: path,
            reason,
            ..Answer::default()
        };
        let mut object = answer.object(Outcome::Fails);
        object["refusal"] = match refusal {
            Some(refusal) => json!({
                "rule": Wording::of(refusal.rule).code,
                "sub": refusal.sub.as_ref().map(own),
                "sub_state": refusal.sub_state.index(),
                "sup": refusal.sup.map(|id| json::action(self.sup.fsm.transition(id).action)),
                "sup_state": refusal.sup_state.index(),
                "cycle": refusal.cycle.iter().map(own).collect::<Vec<_>>(),
            }),
            None => Value::Null,
        };
        object["system"] = run.map(|run| json::run(run)).into();
        object["rendered"] = paragraph(report, false).into();
        object
    }
}

fn drawn(run: &Run) -> String {
    format!(
        "the shortest run that leads there:\n{}",
        run.chart().trim_end()
    )
}

/// How a rule is told.
pub(super) struct Wording {
    /// What JSON calls it.
    pub(super) code: &'static str,
    /// What is written at the subtype's action.
    pub(super) sub: &'static str,
    /// What is written at the supertype's action.
    pub(super) sup: &'static str,
    /// The way out.
    pub(super) help: &'static str,
}

impl Wording {
    pub(super) fn of(rule: Rule) -> Self {
        let (code, sub, sup, help) = match rule {
            Rule::Forgotten => (
                "forgotten",
                "goes on for ever without it",
                "never done",
                "do the action, or take it out of the protocol",
            ),
            Rule::InputBeforeOutput => (
                "input-before-output",
                "received before …",
                "… this is sent",
                "send first",
            ),
            Rule::InputNotHandled => (
                "input-not-handled",
                "not received in this state",
                "the peer may send this",
                "receive this message here too",
            ),
            Rule::InputNotReached => (
                "input-not-reached",
                "waits for this",
                "the protocol may go on with this instead",
                "receive it only where the protocol has decided that it comes",
            ),
            Rule::InputsFromOnePeer => (
                "inputs-from-one-peer",
                "received before …",
                "… this, which comes first from the same peer",
                "receive them in the order of the protocol",
            ),
            Rule::OutputNotOffered => (
                "output-not-offered",
                "this is sent",
                "the protocol offers this",
                "send a message that the protocol offers",
            ),
            Rule::OutputNotReached => (
                "output-not-reached",
                "this is sent",
                "the protocol may go on with this instead",
                "send it only where the protocol has decided on it",
            ),
            Rule::OutputsToOnePeer => (
                "outputs-to-one-peer",
                "sent before …",
                "… this, which goes first to the same peer",
                "send them in the order of the protocol",
            ),
            Rule::PayloadDiffers => (
                "payload-differs",
                "this payload",
                "the protocol has this one",
                "make the payloads equal",
            ),
            // A rule of a later version of the library.
            _ => (
                "other",
                "this",
                "against this",
                "keep to the order of the protocol",
            ),
        };
        Self {
            code,
            sub,
            sup,
            help,
        }
    }
}
