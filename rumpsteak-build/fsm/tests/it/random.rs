//! Random machines: what subtyping accepts is safe with every peer that the supertype is safe with,
//! and what is refused goes wrong somewhere.
//!
//! The machines here are not projections of anything: a random machine, and for each of its peers
//! what the machine shows to it. So they reach corners that protocols do not. The explorer and the
//! mutations come from `rumpsteak-oracle`, which shares no code with the crate.

use fastrand::Rng;
use rumpsteak_fsm::system::{self, explore};
use rumpsteak_fsm::text::{Form, print};
use rumpsteak_fsm::verify::{Evidence, verify};
use rumpsteak_fsm::{Fsm, Limits, StateId, Verdict, dot};
use rumpsteak_oracle::{self as oracle, Coverage, FaultKind, Mutation, action, mutate, seeds};

use crate::peers::shown_to_all;

const PEERS: [&str; 3] = ["p", "q", "r"];
const LABELS: [&str; 3] = ["x", "y", "z"];

fn machine(rng: &mut Rng) -> Fsm {
    let peers = 1 + rng.usize(..3);
    let states = 2 + rng.usize(..5);
    let mut builder = Fsm::builder("m");
    let ids: Vec<StateId> = (0..states).map(|_| builder.add_state()).collect();
    for &state in &ids {
        if (rng.usize(..100) < 10) && state != ids[0] {
            continue;
        }
        let peer = PEERS[rng.usize(..peers)];
        let send = rng.bool();
        let choices = if rng.usize(..100) < 35 { 2 } else { 1 };
        let first = rng.usize(..LABELS.len());
        for choice in 0..choices {
            let action = action(send, peer, LABELS[(first + choice) % LABELS.len()], &[]);
            builder.add_transition(state, action, ids[rng.usize(..states)]);
        }
    }
    builder.build(ids[0])
}

/// Peers that do what a machine shows to them, if they are safe with it.
pub(crate) fn safe_peers(machine: &Fsm) -> Option<Vec<Fsm>> {
    let peers = shown_to_all(machine)?;
    let (_, report) = report(machine, &peers)?;
    (report.findings.is_empty() && report.coverage > Coverage::Partial).then_some(peers)
}

fn report(machine: &Fsm, peers: &[Fsm]) -> Option<(oracle::System, oracle::Report)> {
    let machines = std::iter::once(machine).chain(peers).cloned().collect();
    let system = oracle::System::new(machines).ok()?;
    let mut last = None;
    for queue in [1, 2, 4, 8] {
        let report =
            system.explore(&oracle::Limits { queue, configurations: 3_000, steps: usize::MAX });
        let done = report.immediate().is_some() || report.coverage > Coverage::Partial;
        last = Some(report);
        if done {
            break;
        }
    }
    last.map(|report| (system, report))
}

#[derive(Debug, Default)]
struct Figures {
    accepted: usize,
    accepted_unknown: usize,
    refused: usize,
    refused_with_run: usize,
    undecided: usize,
    paper_only: usize,
    ours_only: usize,
}

#[test]
fn accepted_machines_are_safe() {
    let systems = seeds(1_000).count();
    let mut rng = Rng::with_seed(22);
    let mut figures = Figures::default();
    let mut done = 0;
    while done < systems {
        let sup = machine(&mut rng);
        let Some(peers) = safe_peers(&sup) else { continue };
        if sup.transition_count() < 2 {
            continue;
        }
        for _ in 0..4 {
            let mut sub = sup.clone();
            let mut mutations = vec![];
            for _ in 0..1 + rng.usize(..4) {
                let gentle = rng.usize(..100) < 70;
                let mutation =
                    if gentle { Mutation::gentle(&mut rng) } else { Mutation::any(&mut rng) };
                if let Some(mutated) = mutate(&sub, mutation, &mut rng) {
                    sub = mutated;
                    mutations.push(mutation);
                }
            }
            if sub != sup && sub.len() <= 40 {
                judge(&sub, &sup, &peers, &mutations, &mut figures);
                done += 1;
            }
        }
    }
    println!("{figures:?}");
    assert!(figures.accepted > done / 10 && figures.refused > done / 10, "{figures:?}");
}

fn judge(sub: &Fsm, sup: &Fsm, peers: &[Fsm], mutations: &[Mutation], figures: &mut Figures) {
    let limits = Limits::default().configurations(4_000).steps(50_000);
    let verdict = verify(sub, sup, peers, &limits).unwrap();
    let shown = || {
        let peers = print(Form::Dot, peers).unwrap();
        format!("{mutations:?}\n{}{}{peers}", dot::print(sub), dot::print(sup))
    };
    let derived = oracle::paper::subtype(sub, sup, 3, 5_000) == oracle::paper::Answer::Subtype;
    match verdict {
        Verdict::Safe(_) => {
            figures.accepted += 1;
            figures.ours_only += usize::from(!derived);
            let (system, report) =
                report(sub, peers).expect("accepted machines have the same peers");
            figures.accepted_unknown += usize::from(report.coverage == Coverage::Partial);
            // A choice that is narrowed may leave others waiting.
            let narrowed = mutations.iter().any(|m| {
                matches!(
                    m,
                    Mutation::Narrow | Mutation::Hoist | Mutation::Redirect | Mutation::Drop
                )
            });
            let unsound = report
                .findings
                .iter()
                .find(|finding| finding.fault.kind().is_immediate() || !narrowed);
            if let Some(finding) = unsound {
                panic!(
                    "accepted, but {:?}\n{}\n{}",
                    finding.fault,
                    system.describe(&finding.run),
                    shown()
                );
            }
        }
        Verdict::Unsafe(refused) => {
            figures.refused += 1;
            figures.paper_only += usize::from(derived);
            assert!(
                !derived || refused.condition.is_some(),
                "the paper's algorithm accepts\n{:?}\n{}",
                refused.refusal,
                shown()
            );
            if let Evidence::Run(run) = &refused.evidence {
                figures.refused_with_run += 1;
                let machines = std::iter::once(sub).chain(peers).cloned().collect();
                assert!(run.replay(&system::System::new(machines).unwrap()), "{}", shown());
            }
        }
        Verdict::Undecided(_) => {
            figures.undecided += 1;
            figures.paper_only += usize::from(derived);
            assert!(!derived, "the paper's algorithm accepts\n{}", shown());
        }
    }
}

#[test]
fn the_exploration_agrees_with_the_naive_one() {
    let mut rng = Rng::with_seed(3);
    let (mut safe, mut bad, mut open) = (0, 0, 0);
    while safe + bad + open < 2_000 {
        let sup = machine(&mut rng);
        let Some(peers) = shown_to_all(&sup) else { continue };
        let sub = mutate(&sup, Mutation::any(&mut rng), &mut rng).unwrap_or(sup);
        let Some((naive, report)) = report(&sub, &peers) else { continue };
        let machines: Vec<Fsm> = std::iter::once(&sub).chain(&peers).cloned().collect();
        let system = system::System::new(machines.clone()).unwrap();
        let exploration = explore(&system, &Limits::default().configurations(8_000).queue(16));
        let machines = print(Form::Dot, &machines).unwrap();
        let shown = || format!("{exploration:?}\n{report:?}\n{machines}");
        match &exploration.verdict {
            Verdict::Safe(()) => {
                safe += 1;
                let faults =
                    report.findings.iter().filter(|f| f.fault.kind() != FaultKind::Starvation);
                assert_eq!(faults.count(), 0, "{}", shown());
                let starves = report.finding(FaultKind::Starvation).is_some();
                assert_eq!(exploration.starvation.is_some(), starves, "{}", shown());
            }
            Verdict::Unsafe(run) => {
                bad += 1;
                assert!(run.replay(&system), "{}", shown());
                let Some(finding) = report.immediate() else { continue };
                // The naive search had a bound, so it may have missed a shorter run, but ours must
                // not be longer.
                assert!(
                    run.steps.len() <= finding.run.len(),
                    "{}\n{}",
                    naive.describe(&finding.run),
                    shown()
                );
            }
            Verdict::Undecided(_) => {
                open += 1;
                assert_eq!(report.immediate(), None, "{}", shown());
            }
        }
    }
    println!("{safe} safe, {bad} bad, {open} undecided");
    assert!(safe > 200 && bad > 200 && open < 200, "{safe} safe, {bad} bad, {open} undecided");
}
