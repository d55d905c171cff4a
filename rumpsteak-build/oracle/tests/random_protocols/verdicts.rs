//! Roles rewritten at random: what the verifier accepts and refuses, against the explorer.

use std::fmt::Write;

use rumpsteak_fsm::Fsm;
use rumpsteak_oracle::{
    Coverage, FaultKind, Finding, Mutation, Rewritten, Rng, System, mutate,
    paper::{self, Answer},
    shrink,
};

use crate::fuzz::{self, Sample};

/// How many configurations the explorer may visit.
const CONFIGURATIONS: usize = 4_000;

#[derive(Debug, Default)]
struct Tally {
    accepted: usize,
    /// Accepted, but not fully explored.
    accepted_partial: usize,
    /// Accepted, and a role may wait for ever because another never chooses what it waits for.
    accepted_starving: usize,
    refused: usize,
    /// Refused, but nothing goes wrong among these peers.
    refused_safe: usize,
    undecided: usize,
    /// Undecided, but nothing goes wrong.
    undecided_safe: usize,
    roles_accepted: usize,
    roles_refused: usize,
    roles_undecided: usize,
    /// Accepted by the paper's algorithm and not by ours.
    missed: usize,
    /// Accepted by ours and not by the paper's algorithm.
    gained: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Decision {
    Accepted,
    Undecided,
    Refused,
}

fn verify(written: &Fsm, projected: &Fsm) -> Decision {
    match paper::subtype(written, projected, 3, 20_000) {
        Answer::Subtype => Decision::Accepted,
        Answer::NoDerivation => Decision::Refused,
        Answer::GaveUp => Decision::Undecided,
    }
}

/// Rewrites some roles; says which mutations took place.
fn rewrite(projected: &[Fsm], rng: &mut Rng) -> (Vec<Fsm>, Vec<Mutation>) {
    let gentle = rng.chance(65);
    let certain = rng.below(projected.len());
    let mut mutations = vec![];
    let mut written = projected.to_vec();
    // Some machines have no place for most mutations.
    while mutations.is_empty() {
        for (role, machine) in written.iter_mut().enumerate() {
            if role != certain && rng.chance(70) {
                continue;
            }
            for _ in 0..1 + rng.below(4) {
                let mutation = match gentle {
                    true => Mutation::gentle(rng),
                    false => Mutation::any(rng),
                };
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
    let tallies = fuzz::for_each_seed("accepted_roles", |seed| {
        let (mut sample, projected) = Sample::projected(seed);
        let (written, mutations) = rewrite(&projected, &mut sample.rng);
        // Narrowed, a role may never choose what another waits for. In a balanced protocol nobody waits for a
        // choice that need not come, so there nothing may be lost; nor where no mutation drops a branch.
        let may_starve = !sample.global.is_balanced()
            && mutations
                .iter()
                .any(|m| matches!(m, Mutation::Narrow | Mutation::Hoist | Mutation::Redirect));
        judge(&sample.text, Rewritten { projected, written }, may_starve)
    });
    report(&tallies);
}

fn judge(text: &str, rewritten: Rewritten, may_starve: bool) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let Rewritten { projected, written } = &rewritten;
    let mut worst = Decision::Accepted;
    for (projected, written) in projected.iter().zip(written) {
        let decision = verify(written, projected);
        worst = worst.max(decision);
        match decision {
            Decision::Accepted => tally.roles_accepted += 1,
            Decision::Refused => tally.roles_refused += 1,
            Decision::Undecided => tally.roles_undecided += 1,
        }
        let derived = paper::subtype(written, projected, 3, 20_000) == Answer::Subtype;
        tally.missed += usize::from(derived && decision != Decision::Accepted);
        tally.gained += usize::from(!derived && decision == Decision::Accepted);
    }

    let Ok(system) = System::new(written.clone()) else {
        return match worst {
            Decision::Accepted => Err(format!("accepted, but no system:\n{}", show(&rewritten))),
            _ => Ok(tally),
        };
    };
    let explored = fuzz::explore(&system, CONFIGURATIONS);
    let partial = explored.coverage == Coverage::Partial;
    let is_safe = explored.findings.is_empty() && !partial;
    match worst {
        Decision::Accepted => {
            tally.accepted += 1;
            tally.accepted_partial += usize::from(partial);
            match first_fault(&explored.findings) {
                Some(finding) if finding.fault.kind().is_immediate() || !may_starve => {
                    return Err(unsound(text, rewritten, finding.fault.kind()));
                }
                found => tally.accepted_starving += usize::from(found.is_some()),
            }
        }
        Decision::Undecided => {
            tally.undecided += 1;
            tally.undecided_safe += usize::from(is_safe);
        }
        Decision::Refused => {
            tally.refused += 1;
            tally.refused_safe += usize::from(is_safe);
        }
    }
    Ok(tally)
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
        let (_, before) = explore(&candidate.projected)?;
        let safe = before.findings.is_empty() && before.coverage > Coverage::Partial;
        let accepted = candidate
            .projected
            .iter()
            .zip(&candidate.written)
            .all(|(projected, written)| verify(written, projected) == Decision::Accepted);
        if !safe || !accepted {
            return None;
        }
        let (system, after) = explore(&candidate.written)?;
        let finding = after.finding(kind)?.clone();
        Some((system, finding))
    };
    let small = shrink(rewritten.clone(), |candidate| found(candidate).is_some());
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
    let sum = |count: fn(&Tally) -> usize| tallies.iter().map(count).sum::<usize>();
    println!(
        "{} systems\n\
         accepted   {:6}  ({} not fully explored, {} starving by choice)\n\
         refused    {:6}  ({} safe among these peers)\n\
         undecided  {:6}  ({} safe)\n\
         roles: {} accepted, {} refused, {} undecided\n\
         against the paper's algorithm: {} more accepted, {} fewer",
        tallies.len(),
        sum(|t| t.accepted),
        sum(|t| t.accepted_partial),
        sum(|t| t.accepted_starving),
        sum(|t| t.refused),
        sum(|t| t.refused_safe),
        sum(|t| t.undecided),
        sum(|t| t.undecided_safe),
        sum(|t| t.roles_accepted),
        sum(|t| t.roles_refused),
        sum(|t| t.roles_undecided),
        sum(|t| t.gained),
        sum(|t| t.missed),
    );
}
