//! Everything that judges, on the same systems: what one accepts, no other refuses with a run. Half
//! of the protocols have a role that hears several roles at once.

use std::fmt;

use fastrand::Rng;
use rumpsteak_fsm::optimise::{Costs, Options, propose, propose_together};
use rumpsteak_fsm::run::Failure;
use rumpsteak_fsm::system::{self, explore};
use rumpsteak_fsm::verify::together::{Part, together};
use rumpsteak_fsm::verify::{Accepted, verify};
use rumpsteak_fsm::{Fsm, Limits, Verdict, kmc};
use rumpsteak_oracle::{Coverage, FaultKind, Mutation, Report, Shape, System, mutate};

use crate::fuzz::{self, Sample, Tool, Watch};

/// How many configurations the oracle's explorer may visit.
const CONFIGURATIONS: usize = 4_000;

fn limits() -> Limits {
    Limits::default().configurations(8_000).steps(200_000)
}

/// Who accepts a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judge {
    /// Each role by itself, and then all of them together: the gate.
    Together,
    Exploration,
    Kmc,
    /// Each role by itself, among the projections of the others: `compat`.
    Alone,
    /// One role among the projections of the others, or all: `optimise`.
    Optimise,
}

#[derive(Debug, Default)]
struct Tally {
    undirected: bool,
    /// Nothing goes wrong, and all of the system was seen.
    is_safe: bool,
    accepted: Vec<Judge>,
    alone: usize,
    proposals: usize,
}

/// What the oracle says of a system.
struct Known {
    system: System,
    report: Report,
}

impl Known {
    fn of(machines: Vec<Fsm>) -> Result<Self, String> {
        let system = System::new(machines).map_err(|error| error.to_string())?;
        let report = fuzz::explore(&system, CONFIGURATIONS);
        Ok(Self { system, report })
    }

    /// The disagreement, if somebody accepts the system and it goes wrong. That a role waits for
    /// ever is no fault of a role that leaves out an option.
    fn check(&self, judge: Judge, may_starve: bool, text: impl fmt::Display) -> Result<(), String> {
        let counts = |kind: FaultKind| kind != FaultKind::Starvation || !may_starve;
        let mut faults = self.report.findings.iter();
        match faults.find(|finding| counts(finding.fault.kind())) {
            None => Ok(()),
            Some(finding) => Err(format!(
                "{judge:?} accepts, but {:?}:\n{}{text}{:#?}",
                finding.fault,
                self.system.describe(&finding.run),
                self.system.machines()
            )),
        }
    }
}

#[test]
fn judgements_agree() {
    let outcome = fuzz::for_each_seed("judgements_agree", |seed, watch| {
        let is_undirected = |machines: &[Fsm]| machines.iter().any(|m| !is_directed(m));
        let (mut sample, projected) = match seed % 2 {
            0 => Sample::projected(seed, Shape::dense, watch),
            _ => Sample::projected_where(seed, Shape::untold, is_undirected, watch),
        };
        let written = rewrite(&projected, &mut sample.rng);
        let mut tally = Tally { undirected: seed % 2 == 1, ..Tally::default() };
        judge_written(&mut tally, &sample.text, &projected, &written, watch)?;
        // They are many, and most are alike.
        if seed % 8 < 2 {
            judge_proposals(&mut tally, &sample, &projected)?;
        }
        Ok(tally)
    });
    report(&outcome.tallies);
    outcome.assert();
}

fn is_directed(machine: &Fsm) -> bool {
    machine.check_directed().is_ok()
}

/// Some of the directed machines, changed a little.
fn rewrite(projected: &[Fsm], rng: &mut Rng) -> Vec<Fsm> {
    let mut written = projected.to_vec();
    for machine in &mut written {
        if !is_directed(machine) || rng.bool() {
            continue;
        }
        for _ in 0..=rng.usize(..3) {
            let mutation = Mutation::daring(rng);
            if let Some(mutated) = mutate(machine, mutation, rng)
                && mutated.len() <= 30
                && is_directed(&mutated)
            {
                *machine = mutated;
            }
        }
    }
    written
}

fn judge_written(
    tally: &mut Tally,
    text: &str,
    projected: &[Fsm],
    written: &[Fsm],
    watch: &mut Watch,
) -> Result<(), String> {
    let mut proofs = Vec::new();
    for (role, machine) in written.iter().enumerate() {
        if machine == &projected[role] {
            proofs.push(None);
            continue;
        }
        let mut peers = projected.to_vec();
        let own = peers.remove(role);
        let judged = watch.time(Tool::Verify, || verify(machine, &own, &peers, &limits()));
        let Verdict::Safe(Accepted { proof, .. }) = judged.map_err(|e| e.to_string())? else {
            continue;
        };
        proofs.push(Some(proof));
        tally.alone += 1;
        peers.insert(role, machine.clone());
        Known::of(peers)?.check(Judge::Alone, true, text)?;
    }

    let Ok(composed) = system::System::new(written.to_vec()) else {
        return Ok(());
    };
    let known = Known::of(written.to_vec())?;
    tally.is_safe = known.report.findings.is_empty() && known.report.coverage > Coverage::Partial;
    if proofs.len() == written.len() {
        let machines = written.iter().zip(projected).zip(&proofs);
        let parts = machines.map(|((written, projected), proof)| match proof {
            Some(proof) => Part::new(written, projected, proof),
            None => Part::projection(projected),
        });
        let found = together(&parts.collect::<Vec<_>>(), &limits()).map_err(|e| e.to_string())?;
        if found.verdict.is_safe() {
            known.check(Judge::Together, true, text)?;
            tally.accepted.push(Judge::Together);
        }
    }
    let explored = watch.time(Tool::Explore, || explore(&composed, &limits()));
    if explored.verdict.is_safe() {
        known.check(Judge::Exploration, explored.starvation.is_some(), text)?;
        tally.accepted.push(Judge::Exploration);
    }
    let judged = watch.time(Tool::Kmc, || kmc::check(&composed, &limits()));
    if let kmc::Verdict::Safe { .. } = judged.verdict {
        known.check(Judge::Kmc, false, text)?;
        tally.accepted.push(Judge::Kmc);
    }
    let is_unsafe = match &judged.verdict {
        kmc::Verdict::Unsafe(run) => !matches!(run.failure, Failure::Starvation { .. }),
        _ => false,
    };
    let refused = is_unsafe || explored.verdict.refusal().is_some();
    match tally.accepted.first() {
        Some(judge) if refused => {
            Err(format!("{judge:?} accepts what another refuses:\n{text}{written:#?}"))
        }
        _ => Ok(()),
    }
}

fn judge_proposals(tally: &mut Tally, sample: &Sample, projected: &[Fsm]) -> Result<(), String> {
    let options = Options { window: 2, candidates: 6, states: 60, limits: limits() };
    let equal = Costs { latency: &|_, _| 1, work: 1 };
    let free = |_: &_, _: &_| false;
    for (role, machine) in projected.iter().enumerate() {
        if !is_directed(machine) {
            continue;
        }
        let found = propose(projected, machine.role(), &free, &equal, &options);
        for proposal in found.map_err(|error| error.to_string())?.proposals {
            let mut machines = projected.to_vec();
            machines[role] = proposal.fsm;
            Known::of(machines)?.check(Judge::Optimise, false, &sample.text)?;
            tally.proposals += 1;
        }
    }
    if projected.iter().all(is_directed) {
        let found = propose_together(projected, &|_, _, _| false, &equal, &options);
        let proposals = found.map_err(|error| error.to_string())?.proposals;
        let pairs = proposals.into_iter().zip(projected);
        let machines = pairs.map(|(found, own)| found.map_or_else(|| own.clone(), |p| p.fsm));
        Known::of(machines.collect())?.check(Judge::Optimise, false, &sample.text)?;
    }
    Ok(())
}

fn report(tallies: &[Tally]) {
    for undirected in [false, true] {
        let of_kind = || tallies.iter().filter(|tally| tally.undirected == undirected);
        let count = |is: &dyn Fn(&Tally) -> bool| of_kind().filter(|tally| is(tally)).count();
        let by = |judge| count(&|tally| tally.accepted.contains(&judge));
        let safe = count(&|tally| tally.is_safe);
        let accepted = count(&|tally| tally.is_safe && !tally.accepted.is_empty());
        println!(
            "{} systems with {}: {safe} safe, {accepted} of them accepted by somebody; accepted {} \
             together, {} by exploration, {} by k-MC; {} roles alone; {} proposals",
            of_kind().count(),
            if undirected { "a role that hears several" } else { "directed roles" },
            by(Judge::Together),
            by(Judge::Exploration),
            by(Judge::Kmc),
            of_kind().map(|tally| tally.alone).sum::<usize>(),
            of_kind().map(|tally| tally.proposals).sum::<usize>(),
        );
        assert!(accepted * 10 >= safe * 9, "{accepted} of {safe}");
    }
}
