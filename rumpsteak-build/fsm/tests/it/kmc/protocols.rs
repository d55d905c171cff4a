//! Random protocols, projected and rewritten: k-MC against the explorer of `rumpsteak-oracle`,
//! which shares no code with it.

use fastrand::Rng;
use rumpsteak_fsm::kmc::{self, Verdict};
use rumpsteak_fsm::{Fsm, Limits, System};
use rumpsteak_oracle::{self as oracle, Coverage, Global, Mutation, Shape, mutate, seeds};

/// A random protocol's machines, if they are directed; rewritten now and then.
fn machines(rng: &mut Rng) -> Option<Vec<Fsm>> {
    let shape = Shape::random(rng);
    let global = Global::random(rng, &shape);
    let projected: Option<Vec<Fsm>> = (0..shape.roles).map(|role| global.project(role)).collect();
    let mut machines = projected?;
    for _ in 0..rng.usize(..4) {
        let role = rng.usize(..machines.len());
        let mutation = match rng.usize(..100) < 60 {
            true => Mutation::gentle(rng),
            false => Mutation::any(rng),
        };
        if let Some(mutated) = mutate(&machines[role], mutation, rng)
            && mutated.len() <= 40
        {
            machines[role] = mutated;
        }
    }
    let directed = machines.iter().all(|machine| machine.check_directed().is_ok());
    directed.then_some(machines)
}

/// Compares with the explorer, with longer and longer queues.
fn explore(system: &oracle::System) -> oracle::Report {
    let with =
        |queue| system.explore(&oracle::Limits { queue, configurations: 3_000, steps: usize::MAX });
    let mut report = with(1);
    for queue in [2, 4, 6] {
        if report.coverage > Coverage::Partial || report.immediate().is_some() {
            break;
        }
        report = with(queue);
    }
    report
}

#[test]
fn the_explorer_agrees() {
    // Safe, unsafe, undecided; and of the undecided, those that the explorer does not decide
    // either.
    let mut tally = [0; 3];
    let mut partial = 0;
    for seed in seeds(300) {
        let mut rng = Rng::with_seed(seed);
        let Some(machines) = machines(&mut rng) else { continue };
        let Ok(reference) = oracle::System::new(machines.clone()) else { continue };
        let Ok(system) = System::new(machines) else { continue };
        let report = explore(&reference);
        let limits = Limits::default().queue(8).configurations(20_000);
        let verdict = kmc::check(&system, &limits).verdict;
        let context = || format!("seed {seed}: {verdict:?} {report:?} {:#?}", system.machines());
        match &verdict {
            Verdict::Safe(_) => {
                tally[0] += 1;
                assert!(report.findings.is_empty(), "{}", context());
            }
            Verdict::Unsafe(run) => {
                tally[1] += 1;
                assert!(run.replay(&system), "{}", context());
                let nothing = report.findings.is_empty() && report.coverage > Coverage::Partial;
                assert!(!nothing, "{}", context());
            }
            Verdict::Undecided(_) => {
                tally[2] += 1;
                // What is fully explored is decided, and what is found is there.
                let decided = report.coverage > Coverage::Partial || report.immediate().is_some();
                assert!(!decided, "{}", context());
                partial += 1;
            }
        }
    }
    println!("safe, unsafe, undecided: {tally:?}, {partial} of the undecided not explored fully");
    assert!(tally[0] > 30 && tally[1] > 30, "{tally:?}");
}
