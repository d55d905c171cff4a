//! How long queues get and how short they may be made, against the explorer with blocking sends.

use std::collections::BTreeMap;

use fastrand::Rng;
use rumpsteak_fsm::bounded::{Bounded, Topology};
use rumpsteak_fsm::capacity::{self, Occupancy};
use rumpsteak_fsm::{Fsm, Limits, system};
use rumpsteak_oracle::{
    Bounded as Naive, Hangs, Limits as Bounds, Mutation, Shape, System, mutate,
};

use crate::fuzz::{self, Sample, Tool, Watch};

const CONFIGURATIONS: usize = 4_000;

#[derive(Debug, Default)]
struct Tally {
    /// Systems that are not known to be safe.
    unsafe_or_undecided: usize,
    enough: usize,
    minimal: usize,
    unknown: usize,
    occupancies: usize,
    beyond_the_budget: usize,
}

#[test]
fn capacities_are_enough_and_minimal() {
    let outcome = fuzz::for_each_seed("capacities", |seed, watch| {
        let (mut sample, mut machines) = Sample::projected(seed, Shape::random, watch);
        // Some run ahead, and some hold others up.
        mutate_gently(&mut machines, 3, &mut sample.rng);
        let composed = system::System::new(machines.clone()).map_err(|e| e.to_string())?;
        // Half of them session after session.
        let composed = if sample.rng.bool() { capacity::repeated(&composed) } else { composed };
        judge(&composed, watch).map_err(|what| {
            let machines: Vec<String> =
                composed.machines().iter().map(|m| format!("{m:?}")).collect();
            format!("{what}\n{}\n{}", machines.join("\n"), sample.text)
        })
    });

    let sum = |count: fn(&Tally) -> usize| outcome.tallies.iter().map(count).sum::<usize>();
    println!(
        "{} systems: {} not safe or not decided; capacities of {} enough, of {} minimal, of {} not known; {} occupancies equal",
        outcome.tallies.len(),
        sum(|t| t.unsafe_or_undecided),
        sum(|t| t.enough),
        sum(|t| t.minimal),
        sum(|t| t.unknown),
        sum(|t| t.occupancies),
    );
    outcome.assert();
    assert!(sum(|t| t.beyond_the_budget) * 10_000 <= sum(|t| t.occupancies));
}

/// Changes each machine in fewer than `most` places.
fn mutate_gently(machines: &mut [Fsm], most: usize, rng: &mut Rng) {
    for machine in machines {
        for _ in 0..rng.usize(..most) {
            if let Some(mutated) = mutate(machine, Mutation::gentle(rng), rng) {
                *machine = mutated;
            }
        }
    }
}

/// The build accepts directed sessions at declared capacities if they do not hang there. It relies
/// on two claims: they do not hang in larger queues, nor one session after the other.
#[test]
fn declared_capacities_are_enough_in_larger_queues_and_in_successive_sessions() {
    let outcome = fuzz::for_each_seed("declared", |seed, watch| {
        let (mut sample, mut machines) = Sample::projected(seed, Shape::random, watch);
        mutate_gently(&mut machines, 9, &mut sample.rng);
        let composed = system::System::new(machines.clone()).map_err(|e| e.to_string())?;
        let limits = Limits::default().configurations(8_000);
        let Ok(found) = capacity::find(&composed, &limits) else { return Ok([0; 3]) };
        if machines.iter().any(|machine| machine.check_directed().is_err()) {
            return Ok([0; 3]);
        }
        let (mut topology, mut declared) =
            (Topology::default(), vec![vec![None; machines.len()]; machines.len()]);
        for channel in &found.channels {
            if sample.rng.usize(..4) > 0 {
                let most = sample.rng.usize(1..=2);
                let ends = [&channel.from, &channel.to].map(|role| composed.index_of(role));
                let [Some(from), Some(to)] = ends else { return Err("a role is no role".into()) };
                declared[from][to] = Some(most);
                let queue = format!("{}->{}", channel.from, channel.to).parse()?;
                topology = topology.bound(queue, most);
            }
        }
        let bounded = Bounded::new(machines.clone(), &topology).map_err(|e| e.to_string())?;
        if !bounded.check(&limits).is_safe() {
            return Ok([1, 0, 0]);
        }
        let mut naive = |machines: &[Fsm], more: usize| Naive {
            machines: machines.to_vec(),
            capacities: declared
                .iter()
                .map(|from| {
                    from.iter()
                        .map(|most| most.map_or(9, |most| most + sample.rng.usize(..=more)))
                        .collect()
                })
                .collect(),
            mailboxes: vec![None; machines.len()],
            drops: vec![false; machines.len()],
            races: vec![false; machines.len()],
        };
        let repeated = capacity::repeated(&composed);
        let (plain, larger) = (naive(&machines, 0), naive(&machines, 2));
        let mut explored = [1, 1, 0];
        for (system, is_repeated) in
            [(plain, false), (larger, false), (naive(repeated.machines(), 0), true)]
        {
            match system.explore(CONFIGURATIONS / 4) {
                None => {}
                Some(Hangs::Never) => explored[2] += 1,
                // A role waits for its next session, and another one never ends the first.
                Some(Hangs::Lost) if is_repeated => {}
                Some(hangs) => return Err(format!("{hangs:?}: {system:?}\n{}", sample.text)),
            }
        }
        Ok(explored)
    });
    let sum = |at: usize| outcome.tallies.iter().map(|tally| tally[at]).sum::<usize>();
    println!("{} judged, {} accepted, {} explored to the end", sum(0), sum(1), sum(2));
    outcome.assert();
}

fn judge(composed: &system::System, watch: &mut Watch) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let limits = Limits::default().configurations(8_000);
    let Ok(found) = watch.time(Tool::Capacities, || capacity::find(composed, &limits)) else {
        tally.unsafe_or_undecided += 1;
        return Ok(tally);
    };
    let system = System::new(composed.machines().to_vec()).map_err(|e| e.to_string())?;
    let mut capacities = BTreeMap::new();
    let mut occupancies = BTreeMap::new();
    for channel in &found.channels {
        let position = |role| composed.index_of(role).ok_or("a role is no role");
        let ends = (position(&channel.from)?, position(&channel.to)?);
        capacities.insert(ends, channel.capacity);
        occupancies.insert(ends, channel.occupancy);
    }

    match system.gets_along_with(&capacities, CONFIGURATIONS) {
        Some(true) => tally.enough += 1,
        Some(false) => return Err(format!("not enough: {:?}", found.channels)),
        None => tally.unknown += 1,
    }
    if found.is_minimal {
        let mut known = true;
        for (&ends, &capacity) in &capacities {
            if capacity == 0 {
                continue;
            }
            let mut shorter = capacities.clone();
            shorter.insert(ends, capacity - 1);
            match system.gets_along_with(&shorter, CONFIGURATIONS) {
                Some(true) => {
                    return Err(format!("{ends:?} can be shorter: {:?}", found.channels));
                }
                Some(false) => {}
                None => known = false,
            }
        }
        tally.minimal += usize::from(known);
    }

    let bounds = Bounds { queue: 12, configurations: CONFIGURATIONS, steps: usize::MAX };
    if let Some(most) = system.occupancies(&bounds) {
        for (ends, most) in most {
            match occupancies.get(&ends) {
                Some(&Occupancy::AtMost(known)) if known == most => tally.occupancies += 1,
                Some(Occupancy::Unknown(_)) => tally.beyond_the_budget += 1,
                other => return Err(format!("{ends:?} holds up to {most}, not {other:?}")),
            }
        }
    }
    Ok(tally)
}
