//! `subtype`: may one machine take the place of another?

use std::iter;
use std::path::PathBuf;

use clap::Args;
use rumpsteak_build::command::{Notice, fair_among, proven, shortest, visible};
use rumpsteak_fsm::subtype::Refusal;
use rumpsteak_fsm::system::explore;
use rumpsteak_fsm::verify::{
    Accepted, Refused, VerifyError, certified, certified_fair, verify_fair,
};
use rumpsteak_fsm::{Fsm, Limits, System, Verdict, verify};
use serde_json::{Value, json};

use crate::comparison::{Comparison, undecided};
use crate::terminal::paragraph;
use crate::{Answer, Outcome, Output, Reader, Reply, Scribble, Terminal, json, machines};

/// Tells whether SUB may take the place of SUP: asynchronous subtyping of two machines
#[derive(Debug, Args)]
#[command(after_help = include_str!("subtype.txt").trim_ascii_end())]
pub(crate) struct Arguments {
    /// The machine that takes the place; `-` is standard input
    sub: PathBuf,
    /// The machine whose place it takes
    sup: PathBuf,
    /// Which machine, if a file holds several
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Let SUB run at most N actions ahead of SUP, for each hundred states
    #[arg(long, value_name = "N", default_value_t = Limits::default().anticipation)]
    bound: usize,
    /// Let SUB overtake at most N open choices in a loop
    #[arg(long, value_name = "N", default_value_t = Limits::default().branching)]
    branching: usize,
    /// Accept also a SUB that is right only if choices are fair: an action that it puts off can
    /// always still be done, but need not be done in every run
    #[arg(long)]
    fair: bool,
    /// Compare at most N actions
    #[arg(long, value_name = "N", default_value_t = Limits::default().steps)]
    steps: usize,
    #[command(flatten)]
    scribble: Scribble,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    terminal.is_json = arguments.output.json();
    let mut reader = Reader::default();
    let role = arguments.role.as_deref();
    let mut read = |path| machines::read(&mut reader, path, &arguments.scribble, terminal);
    let sub = machines::pick(read(&arguments.sub)?, role)?;
    let system = read(&arguments.sup)?;
    let sup = machines::pick(system.clone(), role)?;

    let Arguments { bound, branching, steps, .. } = *arguments;
    let limits = arguments.scribble.reading.limits.verifier();
    let mut limits = limits.anticipation(bound).branching(branching).steps(steps);
    // A lowered bound is not to be widened.
    if bound < Limits::default().anticipation {
        limits.widening = 0;
    }
    let others = system.iter().map(|machine| &machine.fsm);
    let peers: Vec<Fsm> = others.filter(|fsm| fsm.role() != sup.fsm.role()).cloned().collect();
    let comparison = Comparison { sub, sup };
    let verdict = judge(&comparison, &peers, &limits, terminal)?;
    let fair = if verdict.is_safe() { None } else { judge_fair(&comparison, &peers, &limits)? };
    let Comparison { sub, sup } = &comparison;
    let (role, place) = (sub.fsm.role(), sup.fsm.role());
    if role != place {
        terminal.report(&Notice::note(format!("SUB is a machine of `{role}` and SUP one of `{place}`; only the names of their peers are compared")));
    }

    let claim = format!("`{}` may take the place of `{}`", sub.file, sup.file);
    let among = fair.as_ref().map(|(_, among)| among.clone());
    let verdict = match fair {
        Some((accepted, _)) if arguments.fair => Verdict::Safe(accepted),
        _ => verdict,
    };
    let hint = |notice: Notice| match &among {
        None => notice,
        Some(among) => {
            notice.remark(format!("it holds if choices are fair, and `--fair` accepts that{among}"))
        }
    };
    let answer = match &verdict {
        Verdict::Safe(accepted) => {
            // A machine without its peers is not a system.
            let system = System::new(iter::once(&sub.fsm).chain(&peers).cloned().collect()).ok();
            let starvation = system.and_then(|system| explore(&system, &limits).starvation);
            if let Some(run) = &starvation {
                let note = Notice::note(format!("among these peers, {}", run.failure));
                terminal.report(&note.remark(shortest(run)));
            }
            let proof = accepted.proof.as_ref();
            let words = proven(accepted) + among.as_deref().unwrap_or_default();
            terminal.say(&format!("{}: {}\n", visible(&claim), visible(&words)));
            Answer::holds(proof.and_then(|proof| proof.anticipation))
                .with("situations", proof.map(|proof| proof.situations))
                .with("starvation", starvation.as_ref().map(json::run))
        }
        Verdict::Unsafe(refused) => {
            let (notice, answer) = refusal(&comparison, refused, hint);
            terminal.say_notice(&notice);
            answer
        }
        Verdict::Undecided(limit) => {
            let (notice, answer) = undecided(&claim, *limit);
            terminal.say_notice(&hint(notice));
            answer
        }
    };
    let liveness = match (&among, answer.outcome) {
        (Some(_), _) => Some("fair"),
        (None, Outcome::Holds) => Some("every-run"),
        (None, _) => None,
    };
    Ok(answer.with("liveness", liveness))
}

/// Judges SUB as [`among`] does. If that refuses, SUP's parts may come in any order.
fn judge(
    comparison: &Comparison,
    peers: &[Fsm],
    limits: &Limits,
    terminal: &mut Terminal,
) -> Result<Verdict<Accepted, Result<Refused, Refusal>>, Notice> {
    let verdict = among(comparison, peers, limits, terminal)?;
    let Some(other) = comparison.sup.in_any_order.as_ref().filter(|_| !verdict.is_safe()) else {
        return Ok(verdict);
    };
    let mut sup = comparison.sup.clone();
    sup.fsm = other.clone();
    let found = among(&Comparison { sub: comparison.sub.clone(), sup }, peers, limits, terminal)?;
    Ok(if found.is_safe() { found } else { verdict })
}

/// Judges SUB among the peers, if they and SUP make a system. If not, judges it without them, and
/// a note says why. The refusal tells these cases apart.
fn among(
    comparison: &Comparison,
    peers: &[Fsm],
    limits: &Limits,
    terminal: &mut Terminal,
) -> Result<Verdict<Accepted, Result<Refused, Refusal>>, Notice> {
    let (sub, sup) = (&comparison.sub.fsm, &comparison.sup.fsm);
    let bad = |error| match error {
        VerifyError::Machine(error) => {
            let (machine, defect) = (comparison.machine(error.side), &error.defect);
            let text = format!("the machine of `{}`: {defect}", machine.fsm.role());
            machine.mark_defect(Notice::of_error(&text), defect)
        }
        error => Notice::error(error.to_string()),
    };
    if !peers.is_empty() {
        match verify(sub, sup, peers, limits) {
            Ok(Verdict::Safe(accepted)) => return Ok(Verdict::Safe(accepted)),
            Ok(Verdict::Unsafe(refused)) => return Ok(Verdict::Unsafe(Ok(refused))),
            Ok(Verdict::Undecided(limit)) => return Ok(Verdict::Undecided(limit)),
            Err(error @ (VerifyError::Machine(_) | VerifyError::Certificate(_))) => {
                return Err(bad(error));
            }
            Err(error) => terminal.report(&Notice::note(format!(
                "the machines in `{}` are not tried together: {error}",
                comparison.sup.file
            ))),
        }
    }
    Ok(match certified(sub, sup, limits).map_err(bad)? {
        Verdict::Safe(proof) => Verdict::Safe(Accepted { proof: Some(proof), condition: None }),
        Verdict::Unsafe(refusal) => Verdict::Unsafe(Err(refusal)),
        Verdict::Undecided(limit) => Verdict::Undecided(limit),
    })
}

/// Judges SUB as [`among`] does, by the fair relation. Without the peers, a remark is about them.
fn judge_fair(
    comparison: &Comparison,
    peers: &[Fsm],
    limits: &Limits,
) -> Result<Option<(Accepted, String)>, Notice> {
    let (sub, sup) = (&comparison.sub.fsm, &comparison.sup.fsm);
    let broken = |error: VerifyError| Notice::error(error.to_string());
    let judged = (!peers.is_empty()).then(|| verify_fair(sub, sup, peers, limits));
    if let Some(judged) = judged.filter(|of| !matches!(of, Err(VerifyError::System(_)))) {
        return Ok(judged.map_err(broken)?.map(|accepted| (accepted, String::new())));
    }
    let proof = certified_fair(sub, sup, limits).map_err(broken)?;
    Ok(proof.map(|proof| {
        let among = fair_among(&proof, sup);
        (Accepted { proof: Some(proof), condition: None }, among)
    }))
}

fn refusal(
    comparison: &Comparison,
    refused: &Result<Refused, Refusal>,
    hint: impl Fn(Notice) -> Notice,
) -> (Notice, Answer) {
    let Comparison { sub, sup } = comparison;
    let title = format!("`{}` may not take the place of `{}`", sub.file, sup.file);
    let refusal = refused.as_ref().map_or_else(Some, |among| among.refusal.as_ref());
    let (explanation, notice, answer) = comparison.refused(title, refusal, refused.as_ref().ok());
    let (mut notice, mut answer) = (hint(notice), answer.with("refusal", Value::Null));
    if let (Some(refusal), Some(explanation)) = (refusal, explanation) {
        let own = |id| comparison.action(id);
        answer.object["refusal"] = json!({
            "rule": explanation.rule,
            "sub": refusal.sub.as_ref().map(own),
            "sub_state": refusal.sub_state.index(),
            "sup": refusal.sup.map(|id| json::action(sup.fsm.transition(id).action)),
            "sup_state": refusal.sup_state.index(),
            "cycle": refusal.cycle.iter().map(own).collect::<Vec<_>>(),
        });
        notice = notice.help(explanation.help);
    }
    let rendered = paragraph(&notice, false);
    (notice, answer.with("rendered", rendered))
}
