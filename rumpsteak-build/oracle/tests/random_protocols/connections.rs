//! Random protocols that connect their roles: what is accepted is safe, also where a role is
//! rewritten.

use rumpsteak_fsm::verify::verify;
use rumpsteak_fsm::{Fsm, Limits, Verdict};
use rumpsteak_oracle::{Mutation, Shape, mutate};

use crate::fuzz::{self, Sample, Tool};

#[derive(Debug, Default)]
struct Tally {
    accepted: bool,
    on_demand: bool,
    /// Explored to the end.
    complete: bool,
    /// Of the rewritten roles: how many there are, and how many are accepted.
    rewritten: [usize; 2],
}

#[test]
fn roles_on_demand_are_safe() {
    let outcome = fuzz::for_each_of(400, "roles_on_demand", |seed, watch| {
        let mut sample = Sample::new(seed, Shape::absent);
        let text = sample.global.explicit(&mut sample.rng, "P", sample.roles);
        let projected = watch.time(Tool::Project, || fuzz::project(&text));
        let Ok((_, projections)) = projected else { return Ok(Tally::default()) };
        let machines: Vec<Fsm> = projections.into_iter().map(|found| found.fsm).collect();
        let explored = |machines: &[Fsm]| fuzz::safe(machines.to_vec(), &text, 5_000);
        let on_demand = machines.iter().any(Fsm::is_on_demand);
        let complete = explored(&machines)?;
        let mut tally = Tally { accepted: true, on_demand, complete, rewritten: [0; 2] };
        for _ in 0..if on_demand { 4 } else { 0 } {
            let role = sample.rng.usize(..machines.len());
            let mutation = Mutation::daring(&mut sample.rng);
            let written = mutate(&machines[role], mutation, &mut sample.rng);
            let Some(written) = written else { continue };
            let mut others = machines.clone();
            let projected = others.remove(role);
            let limits = Limits::default();
            let verdict =
                watch.time(Tool::Verify, || verify(&written, &projected, &others, &limits));
            tally.rewritten[0] += 1;
            if let Ok(Verdict::Safe(accepted)) = verdict {
                tally.rewritten[1] += 1;
                others.insert(role, written.on_demand(projected.is_on_demand()));
                explored(&others).map_err(|error| format!("{accepted:?}\n{error}"))?;
            }
        }
        Ok(tally)
    });
    let tallies = &outcome.tallies;
    let count = |is: &dyn Fn(&Tally) -> bool| tallies.iter().filter(|tally| is(tally)).count();
    let rewritten =
        |which: usize| tallies.iter().map(|tally| tally.rewritten[which]).sum::<usize>();
    println!(
        "{} protocols: {} accepted, {} of them explored to the end, {} with roles on demand; of {} roles rewritten there {} are accepted",
        tallies.len(),
        count(&|tally| tally.accepted),
        count(&|tally| tally.complete),
        count(&|tally| tally.on_demand),
        rewritten(0),
        rewritten(1),
    );
    outcome.assert();
    assert!(count(&|tally| tally.on_demand) * 100 > tallies.len(), "few are on demand");
    assert!(rewritten(1) > 0, "no role is rewritten");
}
