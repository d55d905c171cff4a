//! Systems, by cases.
//!
//! `cases/systems.md` has prose and, in fences, systems with their answers:
//!
//! ```text
//! a: 0 b!x 1                  a machine, as transitions or as a local type
//! b: a?y; end
//! limit queue 6               a setting of `Limits`; otherwise 16, and 5,000 configurations
//! chart                       the run of the refusal is drawn, too
//! = explored: …               `explore`: verdict, starvation, coverage
//! = k-MC: …                   `kmc::check`: verdict, properties at the bound that decided
//! = at 1: …                   `kmc::check_at` that bound without reduction
//! = drained: …                if all queues can always be emptied: the situations of the certificate
//!                             and how often the first machine is written
//! = capacities: …             of a safe system: channel, occupancy, capacity
//! = repeated: …               the same of the system whose roles start again, if that differs
//! ```
//!
//! With `UPDATE_EXPECT=1` the answers are rewritten, to be read in the diff.

use std::fs;

use crate::common::pairs::{answers, limit, machine, path};
use expect_test::expect_file;
use rumpsteak_fsm::capacity::{self, Capacities, Occupancy};
use rumpsteak_fsm::certificate::drained::Drained;
use rumpsteak_fsm::kmc::{self, Obstacle, Properties, Property, Reduction};
use rumpsteak_fsm::run::Step;
use rumpsteak_fsm::system::explore;
use rumpsteak_fsm::verify::drain;
use rumpsteak_fsm::{Limits, Run, System, Verdict};

#[test]
fn each_system_has_its_answers() {
    let path = path("systems.md");
    let document = fs::read_to_string(&path).unwrap();
    expect_file![path].assert_eq(&answers(&document, "systems", answer));
}

fn answer(case: &str) -> String {
    let inputs: Vec<&str> = case.lines().filter(|line| !line.starts_with("= ")).collect();
    let mut machines = vec![];
    let mut limits = Limits::default().queue(16).configurations(5_000);
    let mut chart = false;
    for line in &inputs {
        match line.split_once(' ') {
            Some(("limit", setting)) => limits = limit(limits, setting),
            None if *line == "chart" => chart = true,
            _ => machines.push(machine(line)),
        }
    }
    let system = System::new(machines.clone()).unwrap();
    // Hundreds of roles that have nothing to do make no difference.
    let idle = (0..600).map(|number| machine(&format!("idle{number}: end")));
    let crowd = System::new(idle.chain(machines).collect()).unwrap();
    assert_eq!(explored(&crowd, &limits, false), explored(&system, &limits, false));
    let mut lines: Vec<String> = inputs.into_iter().map(str::to_owned).collect();
    lines.push(explored(&system, &limits, chart));
    let report = kmc::check(&system, &limits);
    lines.push(format!("= k-MC: {}", verdict(&system, &report)));
    lines.push(format!("= {}", properties(&report.properties)));
    let bound = report.properties.bound.min(2);
    let at = kmc::check_at(&system, bound, Reduction::None, &limits);
    lines.push(format!("= at {bound}: {}", properties(&at)));
    if let Some(Drained { machines, situations }) = drain(&system, &limits) {
        let copies = machines[0].len() / system.machines()[0].len();
        lines.push(format!("= drained: {} situations, {copies} of each state", situations.len()));
    }
    if let kmc::Verdict::Safe(_) = report.verdict {
        let once = capacities(&system, &limits);
        let repeated = capacities(&capacity::repeated(&system), &limits);
        lines.push(format!("= capacities: {once}"));
        if repeated != once {
            lines.push(format!("= repeated: {repeated}"));
        }
    }
    lines.join("\n")
}

fn explored(system: &System, limits: &Limits, chart: bool) -> String {
    let exploration = explore(system, limits);
    let mut text = match &exploration.verdict {
        Verdict::Safe(()) => "= explored: safe".to_owned(),
        Verdict::Unsafe(run) => format!("= explored: {}", failed(system, run)),
        Verdict::Undecided(limit) => format!("= explored: undecided: {limit}"),
    };
    if let Some(run) = &exploration.starvation {
        text += &format!("; {}", failed(system, run));
    }
    let coverage = exploration.coverage;
    let how = if coverage.exhaustive { "all" } else { "not all" };
    text +=
        &format!("; {how} at bound {}, {} configurations", coverage.bound, coverage.configurations);
    let run = exploration.verdict.refusal().or(exploration.starvation.as_ref());
    for line in run.filter(|_| chart).map(Run::chart).iter().flat_map(|c| c.lines()) {
        text += &format!("\n= {line}");
    }
    text
}

pub(crate) fn failed(system: &System, run: &Run) -> String {
    assert!(run.replay(system), "{run:?}");
    format!("{}{}", run.failure, after(&run.steps))
}

fn after(steps: &[Step]) -> String {
    if steps.len() > 6 {
        return format!(" after {} steps", steps.len());
    }
    let names = steps.iter().map(|step| format!(" {} {}", step.role, step.action));
    let names: Vec<_> = names.collect();
    if names.is_empty() { String::new() } else { format!(" after{}", names.join(",")) }
}

fn verdict(system: &System, report: &kmc::Report) -> String {
    match &report.verdict {
        Verdict::Safe(bound) => format!("safe at {bound}"),
        Verdict::Unsafe(run) => failed(system, run),
        Verdict::Undecided(limit) => match &report.obstacle {
            Some(obstacle @ Obstacle::Bound(witness)) => {
                format!("undecided: {limit}; {obstacle}{}", after(&witness.steps))
            }
            Some(obstacle) => format!("undecided: {limit}; {obstacle}"),
            None => format!("undecided: {limit}"),
        },
    }
}

fn properties(at: &Properties) -> String {
    let kind = match (at.mixed.is_none(), at.is_directed()) {
        (_, true) => "directed",
        (true, false) => "undirected",
        (false, false) => "mixed",
    };
    let determinism = at.nondeterministic.as_ref().map_or("", |_| ", nondeterministic");
    let mut text = format!("{kind}{determinism}, {} configurations", at.configurations);
    for (name, property) in [
        ("exhaustive", &at.exhaustive),
        ("progress", &at.progress),
        ("reception", &at.reception),
        ("OBI", &at.obi),
        ("IBI", &at.ibi),
        ("SIBI", &at.sibi),
        ("CIBI", &at.cibi),
    ] {
        text += &match property {
            Property::Holds => continue,
            Property::Fails(witness) => {
                format!("; not {name}: {}{}", witness.flaw, after(&witness.steps))
            }
            Property::Unknown(limit) => format!("; {name} unknown: {limit}"),
        };
    }
    text
}

fn capacities(system: &System, limits: &Limits) -> String {
    let capacities = match capacity::find(system, limits) {
        Ok(capacities) => capacities,
        Err(_) => return "none: the system is not known to be safe".to_owned(),
    };
    let mut text = channels(&capacities).collect::<Vec<_>>().join(", ");
    if !capacities.is_minimal {
        text += "; perhaps not minimal";
    }
    text
}

/// `from▶to occupancy capacity` for each channel.
pub(crate) fn channels(capacities: &Capacities) -> impl Iterator<Item = String> {
    capacities.channels.iter().map(|channel| {
        let occupancy = match channel.occupancy {
            Occupancy::AtMost(most) => most.to_string(),
            Occupancy::Unbounded => "∞".to_owned(),
            Occupancy::Unknown(_) => "?".to_owned(),
        };
        let (from, to) = (&channel.from, &channel.to);
        format!("{from}▶{to} {occupancy} {}", channel.capacity)
    })
}
