//! Roles rewritten at random: what the verifier accepts and refuses, against the explorer.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use fastrand::Rng;
use rumpsteak_fsm::subtype::{Proof, check};
use rumpsteak_fsm::system::{self, explore};
use rumpsteak_fsm::verify::together::{Part, together};
use rumpsteak_fsm::verify::{Accepted, Evidence, Refused, certified, verify};
use rumpsteak_fsm::{Fsm, Run, Verdict, kmc};
use rumpsteak_oracle::paper::{self, Answer};
use rumpsteak_oracle::{
    Coverage, FaultKind, Finding, Mutation, Rewritten, Shape, System, mutate, shrink,
};

use crate::fuzz::{self, Sample, Tool, Watch, limits};
use crate::runs::confirm;

const CONFIGURATIONS: usize = 4_000;

type Tally = BTreeMap<String, usize>;

fn count(tally: &mut Tally, what: impl Into<String>, is_so: bool) {
    *tally.entry(what.into()).or_default() += usize::from(is_so);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Decision {
    Accepted,
    Undecided,
    Refused,
}

/// The verdict on one role among the projections of its peers, with the proof or the evidence of a
/// refusal. Each acceptance has a valid certificate; one that is not valid is an error.
fn decide(
    of: &Rewritten,
    role: usize,
    watch: &mut Watch,
) -> Result<(Decision, Option<Proof>, Option<Evidence>), String> {
    let mut peers = of.projected.clone();
    let projected = peers.remove(role);
    let written = &of.written[role];
    match watch.time(Tool::Verify, || verify(written, &projected, &peers, &limits())) {
        Ok(Verdict::Safe(Accepted { proof, .. })) => Ok((Decision::Accepted, proof, None)),
        Ok(Verdict::Unsafe(Refused { evidence, .. })) => {
            Ok((Decision::Refused, None, Some(evidence)))
        }
        Ok(Verdict::Undecided(_)) => Ok((Decision::Undecided, None, None)),
        Err(error) => Err(format!("cannot be judged: {error}")),
    }
}

/// The verdict on all roles together, each of which was accepted with its proof.
fn decide_together(of: &Rewritten, proofs: &[Proof]) -> Result<Decision, String> {
    let machines = of.written.iter().zip(&of.projected).zip(proofs);
    let parts =
        machines.map(|((written, projected), proof)| Part::new(written, projected, Some(proof)));
    let found = together(&parts.collect::<Vec<_>>(), &limits()).map_err(|e| e.to_string())?;
    Ok(match found.verdict {
        Verdict::Safe(()) => Decision::Accepted,
        Verdict::Unsafe(_) => Decision::Refused,
        Verdict::Undecided(_) => Decision::Undecided,
    })
}

fn rewrite(projected: &[Fsm], rng: &mut Rng) -> (Vec<Fsm>, Vec<Mutation>) {
    let gentle = rng.usize(..100) < 65;
    let certain = rng.usize(..projected.len());
    let mut mutations = vec![];
    let mut written = projected.to_vec();
    // Some machines have no place for most mutations, and some are so large that each makes them
    // too large: those stay as they are.
    for _ in 0..100 {
        if !mutations.is_empty() {
            break;
        }
        for (role, machine) in written.iter_mut().enumerate() {
            if role != certain && rng.usize(..100) < 70 {
                continue;
            }
            for _ in 0..1 + rng.usize(..4) {
                let mutation = if gentle { Mutation::gentle(rng) } else { Mutation::any(rng) };
                if let Some(mutated) = mutate(machine, mutation, rng)
                    && mutated.len() <= 40
                {
                    *machine = mutated;
                    mutations.push(mutation);
                }
            }
        }
    }
    (written, mutations)
}

#[test]
fn accepted_roles_are_safe_together() {
    let outcome = fuzz::for_each_seed("accepted_roles", |seed, watch| {
        let (mut sample, projected) = Sample::projected(seed, Shape::random, watch);
        let (written, mutations) = rewrite(&projected, &mut sample.rng);
        // A narrowed role may never choose what another role waits for. In a balanced protocol no
        // role waits for a choice that need not come, so there nothing may be lost; nor where no
        // mutation drops a branch.
        let may_starve = !sample.global.is_balanced()
            && mutations
                .iter()
                .any(|m| matches!(m, Mutation::Narrow | Mutation::Hoist | Mutation::Redirect));
        let rewritten = Rewritten { projected, written };
        judge(&sample, rewritten, may_starve, watch)
    });
    report(&outcome.tallies);
    outcome.assert();
}

fn judge(
    sample: &Sample,
    rewritten: Rewritten,
    may_starve: bool,
    watch: &mut Watch,
) -> Result<Tally, String> {
    let text = &sample.text;
    let mut tally = Tally::default();
    let mut worst = Decision::Accepted;
    let mut proofs = Vec::new();
    for role in 0..rewritten.projected.len() {
        let (decision, proof, evidence) = decide(&rewritten, role, watch)?;
        let is_unbounded = |proof: &Proof| proof.anticipation.is_none();
        let is_unbounded = proof.as_ref().is_some_and(is_unbounded);
        count(&mut tally, "role accepted without a bound", is_unbounded);
        proofs.extend(proof);
        worst = worst.max(decision);
        count(&mut tally, format!("role {decision:?}"), true);
        if let Some(evidence) = evidence {
            check_evidence(&mut tally, &rewritten, role, &evidence)?;
        }

        let (written, projected) = (&rewritten.written[role], &rewritten.projected[role]);
        let derived = paper::subtype(written, projected, 3, 20_000) == Answer::Subtype;
        let is_missed = derived && decision != Decision::Accepted;
        count(&mut tally, "accepted by the paper's algorithm only", is_missed);
        let is_gained = !derived && decision == Decision::Accepted;
        count(&mut tally, "not accepted by the paper's algorithm", is_gained);
    }

    let Ok(system) = System::new(rewritten.written.clone()) else {
        return match worst {
            Decision::Accepted => Err(format!("accepted, but no system:\n{}", show(&rewritten))),
            _ => Ok(tally),
        };
    };
    if worst == Decision::Accepted {
        worst = decide_together(&rewritten, &proofs)?;
        count(&mut tally, "not accepted only together", worst != Decision::Accepted);
    }
    let explored = fuzz::explore(&system, CONFIGURATIONS);
    let partial = explored.coverage == Coverage::Partial;
    let is_safe = explored.findings.is_empty() && !partial;
    match worst {
        Decision::Accepted => {
            count(&mut tally, "accepted", true);
            count(&mut tally, "accepted, not fully explored", partial);
            match first_fault(&explored.findings) {
                Some(finding) if !may_starve || finding.fault.kind() != FaultKind::Starvation => {
                    return Err(unsound(text, rewritten, finding.fault.kind()));
                }
                found => count(&mut tally, "accepted, starving by choice", found.is_some()),
            }
            if let Some(neglect) = fuzz::neglect(&sample.global, &system, 1_000) {
                return Err(format!("accepted, but {neglect}{text}{}", show(&rewritten)));
            }
        }
        Decision::Undecided => {
            count(&mut tally, "undecided", true);
            count(&mut tally, "undecided, but safe", is_safe);
        }
        Decision::Refused => {
            count(&mut tally, "refused", true);
            count(&mut tally, "refused, but safe", is_safe);
        }
    }

    let composed = system::System::new(rewritten.written.clone()).map_err(|e| e.to_string())?;
    let theirs = watch.time(Tool::Explore, || explore(&composed, &limits()));
    let disagree = |what: String| Err(format!("{what}\n{text}{}", show(&rewritten)));
    let run = theirs.verdict.refusal().or(theirs.starvation.as_ref());
    if let Some(run) = run {
        match confirm(&system, run) {
            Ok(confirmed) => count(&mut tally, format!("run {confirmed:?}"), true),
            Err(what) => return disagree(what),
        }
    } else if let Some(finding) = first_fault(&explored.findings) {
        if overlooks(finding, &theirs.coverage) {
            return disagree(format!(
                "the system's exploration does not see {:?}:\n{}",
                finding.fault,
                system.describe(&finding.run)
            ));
        }
        count(&mut tally, "fault for ever, unseen", true);
    }

    match watch.time(Tool::Kmc, || kmc::check(&composed, &limits())).verdict {
        kmc::Verdict::Safe(bound) => {
            count(&mut tally, "k-MC: safe", true);
            if let Some(finding) = first_fault(&explored.findings) {
                return disagree(format!(
                    "{bound}-MC, but {:?}:\n{}",
                    finding.fault,
                    system.describe(&finding.run)
                ));
            }
        }
        kmc::Verdict::Unsafe(run) => {
            count(&mut tally, "k-MC: refused", true);
            match confirm(&system, &run) {
                Ok(confirmed) => count(&mut tally, format!("run {confirmed:?}"), true),
                Err(what) => return disagree(format!("k-MC: {what}")),
            }
        }
        kmc::Verdict::Undecided(_) => {
            count(&mut tally, "k-MC: undecided", true);
            count(&mut tally, "k-MC: undecided, but safe", is_safe);
        }
    }
    Ok(tally)
}

/// Returns true if an exploration of this extent should have met `finding`. It need only report a
/// fault of all continuations if it knows all of them.
fn overlooks(finding: &Finding, coverage: &system::Coverage) -> bool {
    coverage.exhaustive
        || finding.fault.kind().is_immediate()
            && coverage.configurations < limits().configurations / 2
}

/// Roles are rewritten step by step, as long as each step is accepted: so the machines get far from
/// their projections, where an unsound rule would show.
#[test]
fn accepted_steps_lead_to_safe_systems() {
    let outcome = fuzz::for_each_seed("accepted_steps", |seed, watch| {
        let (mut sample, projected) = Sample::projected(seed, Shape::dense, watch);
        let mut written = projected.clone();
        let mut steps = 0;
        for (machine, projected) in written.iter_mut().zip(&projected) {
            for _ in 0..sample.rng.usize(..30) {
                let mutation = Mutation::daring(&mut sample.rng);
                let Some(mutated) = mutate(machine, mutation, &mut sample.rng) else {
                    continue;
                };
                if mutated.len() > 30 || mutated.check_directed().is_err() {
                    continue;
                }
                let verdict =
                    watch.time(Tool::Verify, || certified(&mutated, projected, &limits()));
                if verdict.map_err(|e| e.to_string())?.is_safe() {
                    *machine = mutated;
                    steps += 1;
                }
            }
        }

        let rewritten = Rewritten { projected, written };
        let Ok(system) = System::new(rewritten.written.clone()) else {
            return Err(format!("accepted, but no system:\n{}", show(&rewritten)));
        };
        let explored = fuzz::explore(&system, CONFIGURATIONS);
        let partial = explored.coverage == Coverage::Partial;
        // Which step dropped a branch is not known, so only a balanced protocol tells.
        let balanced = sample.global.is_balanced();
        if let Some(finding) = first_fault(&explored.findings)
            && (finding.fault.kind().is_immediate() || balanced)
        {
            return Err(unsound(&sample.text, rewritten, finding.fault.kind()));
        }
        match fuzz::neglect(&sample.global, &system, 1_000) {
            Some(neglect) => {
                Err(format!("accepted, but {neglect}{}{}", sample.text, show(&rewritten)))
            }
            None => Ok((steps, partial)),
        }
    });
    println!(
        "{} systems by {} accepted steps, {} not fully explored",
        outcome.tallies.len(),
        outcome.tallies.iter().map(|(steps, _)| steps).sum::<usize>(),
        outcome.tallies.iter().filter(|(_, partial)| *partial).count(),
    );
    outcome.assert();
}

fn check_evidence(
    tally: &mut Tally,
    rewritten: &Rewritten,
    role: usize,
    evidence: &Evidence,
) -> Result<(), String> {
    let mut machines = rewritten.projected.clone();
    machines[role] = rewritten.written[role].clone();
    let system = System::new(machines.clone());
    let disagree = |what: String| {
        let alone = Rewritten { projected: rewritten.projected.clone(), written: machines.clone() };
        Err(format!("{what}\n{}", show(&alone)))
    };
    let system = match (system, evidence) {
        (Err(_), Evidence::NoSystem(_)) => return Ok(()),
        (Ok(system), Evidence::Run(_) | Evidence::NoRun(_)) => system,
        (Err(error), _) => return disagree(format!("evidence of no system: {error}")),
        (Ok(_), Evidence::NoSystem(error)) => return disagree(format!("is a system: {error}")),
    };
    match evidence {
        Evidence::Run(run) => {
            let run: &Run = run;
            match confirm(&system, run) {
                Ok(confirmed) => count(tally, format!("run {confirmed:?}"), true),
                Err(what) => return disagree(what),
            }
        }
        Evidence::NoRun(coverage) => {
            count(tally, "role refused without a run", true);
            let explored = fuzz::explore(&system, CONFIGURATIONS);
            if let Some(finding) = first_fault(&explored.findings) {
                if overlooks(finding, coverage) {
                    return disagree(format!(
                        "no run was found to {:?}:\n{}",
                        finding.fault,
                        system.describe(&finding.run)
                    ));
                }
                count(tally, "fault for ever, unseen", true);
            }
        }
        Evidence::NoSystem(_) => {}
    }
    Ok(())
}

/// The finding that says most: what one configuration shows before what all runs from it show.
fn first_fault(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().min_by_key(|f| f.fault.kind())
}

/// Describes an unsound acceptance, as small as it gets.
fn unsound(text: &str, rewritten: Rewritten, kind: FaultKind) -> String {
    let found = |candidate: &Rewritten| {
        let explore = |machines: &[Fsm]| {
            let system = System::new(machines.to_vec()).ok()?;
            let report = fuzz::explore(&system, CONFIGURATIONS);
            Some((system, report))
        };
        let mut pairs = candidate.written.iter().zip(&candidate.projected);
        // Without the run that a refusal takes.
        if !pairs.all(|(written, projected)| {
            matches!(check(written, projected, &limits()), Ok(Verdict::Safe(_)))
        }) {
            return None;
        }
        let (_, before) = explore(&candidate.projected)?;
        if !before.findings.is_empty() || before.coverage == Coverage::Partial {
            return None;
        }
        let (system, after) = explore(&candidate.written)?;
        let finding = after.finding(kind)?.clone();
        Some((system, finding))
    };
    // Those that are printed, and not all if much is wrong: each takes its time.
    static SHRUNK: AtomicUsize = AtomicUsize::new(0);
    let small = match SHRUNK.fetch_add(1, Ordering::Relaxed) {
        0..5 => shrink(rewritten.clone(), |candidate| found(candidate).is_some()),
        _ => rewritten.clone(),
    };
    let mut message = format!("accepted, but {kind:?}:\n{text}");
    let _ = write!(message, "{}", show(&rewritten));
    if let Some((system, finding)) = found(&small) {
        let _ = write!(
            message,
            "smaller, {:?}:\n{}{}",
            finding.fault,
            show(&small),
            system.describe(&finding.run)
        );
    }
    message
}

fn show(rewritten: &Rewritten) -> String {
    let mut text = String::new();
    for (projected, written) in rewritten.projected.iter().zip(&rewritten.written) {
        let _ = writeln!(text, "projected {projected:?}");
        if written != projected {
            let _ = writeln!(text, "written   {written:?}");
        }
    }
    text
}

fn report(tallies: &[Tally]) {
    let mut all = Tally::new();
    for (what, number) in tallies.iter().flatten() {
        *all.entry(what.clone()).or_default() += number;
    }
    println!("{} systems: {all:#?}", tallies.len());
}
