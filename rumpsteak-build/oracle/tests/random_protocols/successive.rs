//! Random protocols and rewritten roles, session after session: what is accepted is safe, whichever
//! session each role plays next.

use std::collections::BTreeSet;

use rumpsteak_fsm::verify::together::{Part, together};
use rumpsteak_fsm::verify::{certified, verify};
use rumpsteak_fsm::{Action, Fsm, Limits, Role, Verdict};
use rumpsteak_oracle::{FaultKind, Mutation, Shape, Successive, local, mutate};
use rumpsteak_scribble::{check, parse};

use crate::fuzz::{self, Sample, Tool, Watch};

const SESSIONS: usize = 3;

const CONFIGURATIONS: usize = 3_000;

#[derive(Debug, Default)]
struct Tally {
    accepted: bool,
    /// Explored to the end.
    complete: bool,
    on_demand: bool,
    /// Some role has several sessions.
    alternates: bool,
}

/// The machines of a protocol of the shape, or `None` if it is refused.
fn projected(sample: &mut Sample, is_explicit: bool, watch: &mut Watch) -> Option<Vec<Fsm>> {
    if is_explicit {
        sample.text = sample.global.explicit(&mut sample.rng, "P", sample.roles);
    }
    let parsed = parse(&sample.text);
    assert_eq!(parsed.diagnostics, [], "{}", sample.text);
    watch.time(Tool::Project, || {
        let checked = check(&parsed.module);
        let is_wrong = checked.diagnostics.iter().any(|found| found.is_error);
        let protocol = checked.protocols.first().filter(|_| !is_wrong)?;
        let projections = protocol.project_all().ok()?;
        Some(projections.into_iter().map(|found| found.fsm).collect())
    })
}

/// Plays the machines of each role in turn, as often as the runtime lets them.
fn play(machines: Vec<Vec<&Fsm>>, text: &str) -> Result<bool, String> {
    let peers = |fsm: &Fsm| {
        let peers = fsm.transitions().map(|found| &found.action.peer);
        peers.collect::<BTreeSet<_>>().len()
    };
    let is_crowded = |of: &Vec<&Fsm>| of[0].is_on_demand() && peers(of[0]) > 1;
    let sessions = if machines.iter().any(is_crowded) { 1 } else { SESSIONS };
    let shown: Vec<String> = machines.iter().flatten().map(|fsm| format!("{fsm:?}")).collect();
    let successive = Successive { machines, sessions };
    successive
        .explore(CONFIGURATIONS, 6)
        .map_err(|fault| format!("accepted, but {fault:?}:\n{text}\n{}", shown.join("\n")))
}

fn report(tallies: &[Tally]) {
    let count = |is: &dyn Fn(&Tally) -> bool| tallies.iter().filter(|tally| is(tally)).count();
    println!(
        "{} tried: {} accepted, {} of them explored to the end, {} with roles on demand, {} with several sessions of a role",
        tallies.len(),
        count(&|tally| tally.accepted),
        count(&|tally| tally.complete),
        count(&|tally| tally.on_demand),
        count(&|tally| tally.alternates),
    );
}

#[test]
fn protocols_are_safe_session_after_session() {
    let outcome = fuzz::for_each_seed("protocols_are_safe_session", |seed, watch| {
        let shapes = [Shape::random, Shape::blocks, Shape::dense, Shape::absent];
        let is_explicit = seed % 4 == 3;
        let mut sample = Sample::new(seed, shapes[seed as usize % 4]);
        let Some(machines) = projected(&mut sample, is_explicit, watch) else {
            return Ok(Tally::default());
        };
        let complete = play(machines.iter().map(|fsm| vec![fsm]).collect(), &sample.text)?;
        let on_demand = machines.iter().any(Fsm::is_on_demand);
        Ok(Tally { accepted: true, complete, on_demand, alternates: false })
    });
    report(&outcome.tallies);
    outcome.assert();
    assert!(outcome.tallies.iter().any(|tally| tally.complete), "nothing is explored");
}

#[test]
fn rewritten_roles_are_safe_session_after_session() {
    let outcome = fuzz::for_each_seed("rewritten_roles_are_safe_session", |seed, watch| {
        let shape = [Shape::random, Shape::blocks, Shape::dense][seed as usize % 3];
        let (mut sample, machines) = Sample::projected_where(seed, shape, |_| true, watch);
        let mut sessions: Vec<Vec<Fsm>> = machines.iter().map(|fsm| vec![fsm.clone()]).collect();
        for _ in 0..8 {
            let role = sample.rng.usize(..machines.len());
            let mutation = Mutation::daring(&mut sample.rng);
            let written = mutate(&machines[role], mutation, &mut sample.rng);
            let Some(written) = written.filter(|fsm| fsm.len() <= 40) else { continue };
            let mut others = machines.clone();
            let projection = others.remove(role);
            let verdict = watch
                .time(Tool::Verify, || verify(&written, &projection, &others, &limits()))
                .map_err(|error| error.to_string())?;
            if verdict.is_safe() && sessions[role].len() < 3 {
                sessions[role].push(written);
            }
        }
        keep_safe_together(&machines, &mut sessions, watch)?;
        let alternates = sessions.iter().any(|of| of.len() > 1);
        let all = sessions.iter().map(|of| of.iter().collect()).collect();
        let complete = play(all, &sample.text)?;
        Ok(Tally { accepted: true, complete, on_demand: false, alternates })
    });
    report(&outcome.tallies);
    outcome.assert();
    assert!(outcome.tallies.iter().any(|tally| tally.complete && tally.alternates));
}

fn limits() -> Limits {
    Limits::default().configurations(8_000).steps(200_000)
}

/// Removes sessions until each combination of one session of each role is safe, as the build asks.
fn keep_safe_together(
    projections: &[Fsm],
    sessions: &mut [Vec<Fsm>],
    watch: &mut Watch,
) -> Result<(), String> {
    loop {
        let count: usize = sessions.iter().map(Vec::len).product();
        let mut is_wrong = count > 27;
        for mut number in 0..count.min(27) {
            let chosen: Vec<&Fsm> = sessions
                .iter()
                .map(|of| {
                    let chosen = &of[number % of.len()];
                    number /= of.len();
                    chosen
                })
                .collect();
            let proofs = chosen.iter().zip(projections).map(|(written, projection)| {
                match watch.time(Tool::Verify, || certified(written, projection, &limits())) {
                    Ok(Verdict::Safe(proof)) => Some(proof),
                    _ => None,
                }
            });
            let proofs: Vec<_> = proofs.collect();
            let parts = chosen.iter().zip(projections).zip(&proofs);
            let parts: Vec<Part<'_>> = parts
                .map(|((written, projection), proof)| {
                    Part::new(written, projection, proof.as_ref())
                })
                .collect();
            let found = watch.time(Tool::Explore, || together(&parts, &limits()));
            if !found.map_err(|error| error.to_string())?.verdict.is_safe() {
                is_wrong = true;
                break;
            }
        }
        if !is_wrong {
            return Ok(());
        }
        match sessions.iter_mut().rev().find(|of| of.len() > 1) {
            Some(of) => drop(of.pop()),
            None => return Ok(()),
        }
    }
}

/// A role that receives a message from `a` or another from `b`.
fn hears_either() -> Fsm {
    let mut builder = Fsm::builder(Role::from("c"));
    let [first, end] = [(); 2].map(|()| builder.add_state());
    builder.add_transition(first, Action::receive(Role::from("a"), "x", &[]), end);
    builder.add_transition(first, Action::receive(Role::from("b"), "y", &[]), end);
    builder.build(first)
}

#[test]
fn a_message_of_the_next_session_stays_where_it_is() {
    let explored = |b: &str, c: Fsm, sessions| {
        let of = |role, text| local(role, text).expect("it is a local type");
        let a = of("a", "b!{direct.c!x.end, go.end}");
        let machines = [a, of("b", b), c];
        let machines = machines.iter().map(|fsm| vec![fsm]).collect();
        Successive { machines, sessions }.explore(100_000, 6)
    };
    let tells = "a?{direct.end, go.c!y.end}";
    assert_eq!(explored(tells, hears_either(), SESSIONS), Ok(true));
    assert_eq!(explored("a?{direct.end, go.end}", hears_either(), 1), Err(FaultKind::Deadlock));
    let hears_one = local("c", "a?x.end").expect("it is a local type");
    assert_eq!(explored(tells, hears_one, SESSIONS), Err(FaultKind::Deadlock));
}
