//! Proposals for random protocols: each of them passes the naive explorer, alone and with the
//! proposals for the other roles.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

use fastrand::Rng;
use rumpsteak_fsm::{Action, Fsm, Limits as Budget, Verdict, system};
use rumpsteak_optimise::{Costs, Options, propose, propose_together};
use rumpsteak_oracle::{Coverage, Global, Limits, Shape, System, sample};

const EQUAL: Costs<'static> = Costs { latency: &|_, _| 1, work: 1 };

/// Asserts that there is no fault. Returns true if the exploration was complete.
fn explore(machines: Vec<Fsm>, what: &str) -> bool {
    let limits = Limits { queue: 8, configurations: 3_000, steps: 1_000 };
    let found = System::new(machines).unwrap().explore(&limits);
    assert_eq!(found.immediate(), None, "{what}");
    found.coverage != Coverage::Partial
}

#[test]
fn every_proposal_passes_the_explorer() {
    let options =
        Options { window: 2, candidates: 12, states: 200, limits: Budget::default().steps(50_000) };
    let (mut systems, mut proposals, mut all, mut together, mut refused) = (0, 0, 0, 0, 0);
    let seeds = sample(150);
    for seed in seeds.clone() {
        let mut rng = Rng::with_seed(seed);
        let shape = if rng.bool() { Shape::dense(&mut rng) } else { Shape::random(&mut rng) };
        let global = Global::random(&mut rng, &shape);
        let machines: Option<Vec<Fsm>> =
            (0..shape.roles).map(|role| global.project(role)).collect();
        let Some(machines) = machines else { continue };
        if machines.iter().any(|fsm| fsm.check_directed().is_err()) {
            continue;
        }
        // This projection accepts more than is safe.
        let search = Budget::default().configurations(3_000);
        let found = system::explore(&system::System::new(machines.clone()).unwrap(), &search);
        if !matches!(found.verdict, Verdict::Safe(_)) || found.starvation.is_some() {
            continue;
        }
        systems += 1;
        // Some messages are made from others.
        let modulus = 2 + rng.usize(..3);
        let depends = |send: &Action, receive: &Action| {
            let letters = send.message.label.as_str().len()
                + receive.message.label.as_str().len()
                + receive.peer.as_str().len();
            letters.is_multiple_of(modulus)
        };
        for (position, machine) in machines.iter().enumerate() {
            let found = propose(&machines, machine.role(), &depends, &EQUAL, &options).unwrap();
            refused += found.refused;
            for proposal in found.proposals {
                assert!(proposal.time <= found.time);
                let mut changed = machines.clone();
                changed[position] = proposal.fsm;
                proposals += 1;
                let what = format!("seed {seed}, {}", machine.role());
                all += usize::from(explore(changed, &what));
            }
        }
        let depends = |_: usize, send: &Action, receive: &Action| depends(send, receive);
        let found = propose_together(&machines, &depends, &EQUAL, &options).unwrap();
        assert!(found.after <= found.before);
        if found.after < found.before {
            together += 1;
            let changed = machines.iter().zip(found.proposals);
            let changed = changed.map(|(own, proposal)| proposal.map_or(own.clone(), |p| p.fsm));
            explore(changed.collect(), &format!("seed {seed}, together"));
        }
    }
    println!(
        "{systems} safe systems: {proposals} proposals, {all} of them explored to the end; {together} systems faster together; \
         {refused} candidates are no subtypes"
    );
    assert!(proposals > seeds.count() / 4, "{proposals}");
}
