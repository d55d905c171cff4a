//! `kmc`: is a whole system safe?

use std::path::PathBuf;

use clap::Args;
use rumpsteak_build::command::{Notice, count, list, split_way_out, visible};
use rumpsteak_fsm::bounded::Growth;
use rumpsteak_fsm::capacity::{self, Capacities, ChannelCapacity, Occupancy};
use rumpsteak_fsm::kmc::{self, Flaw, Obstacle, Properties, Property, Reduction, Verdict, Witness};
use rumpsteak_fsm::run::fold;
use rumpsteak_fsm::system::{explore, live_in_every_run};
use rumpsteak_fsm::{Defect, Fsm, Limit, Limits, Role, System};
use serde_json::{Value, json};

use super::bounded::{self, Queues};
use crate::liveness::tell;
use crate::machines::{self, Machine, mark, mark_waits, no_system};
use crate::{
    Answer, Liveness, Outcome, Output, Reader, Reply, Scribble, Terminal, json, positive, raise,
};

/// Tells whether a system of machines is safe: k-multiparty compatibility
#[derive(Debug, Args)]
#[command(after_help = include_str!("kmc.txt").trim_ascii_end())]
pub(crate) struct Arguments {
    /// Files with machines; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Show the properties at k = N, and search no further
    #[arg(short = 'k', value_name = "N", conflicts_with = "max_k", value_parser = positive)]
    k: Option<usize>,
    /// Search for the least bound up to N
    #[arg(long, value_name = "N", default_value_t = Limits::default().queue, value_parser = positive)]
    max_k: usize,
    /// With -k, explore every configuration, without partial-order reduction
    #[arg(long, requires = "k")]
    unreduced: bool,
    /// Let every role start again when it is finished, without keeping its sessions apart
    #[arg(long)]
    repeated: bool,
    /// Which liveness the system must have
    #[arg(long, value_enum, value_name = "WHICH", default_value = "fair")]
    liveness: Liveness,
    #[command(flatten)]
    queues: Option<Queues>,
    #[command(flatten)]
    scribble: Scribble,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    terminal.is_json = arguments.output.json();
    let mut reader = Reader::default();
    let mut machines = vec![];
    for file in &arguments.files {
        machines.extend(machines::read(&mut reader, file, &arguments.scribble, terminal)?);
    }
    let mut fsms: Vec<Fsm> = machines.iter().map(|machine| machine.fsm.clone()).collect();
    let system_of = |fsms| System::new(fsms).map_err(|error| no_system(&machines, &error));
    if arguments.repeated {
        fsms = capacity::repeated(&system_of(fsms)?).machines().to_vec();
    }
    let given = &arguments.scribble.reading.limits;
    let limits = given.verifier().queue(arguments.k.unwrap_or(arguments.max_k));
    if let Some(queues) = &arguments.queues {
        // The runs that count are long.
        let limits = limits.configurations(given.configurations.unwrap_or(4_000_000));
        return bounded::run(queues, &machines, fsms, &limits, terminal);
    }
    let system = system_of(fsms)?;
    let kmc::Report { verdict, obstacle, properties } = kmc::check(&system, &limits);
    let reduction = if arguments.unreduced { Reduction::None } else { Reduction::PartialOrder };
    let properties = match arguments.k {
        Some(k) => kmc::check_at(&system, k, reduction, &limits),
        None => properties,
    };

    // Only safe systems have capacities.
    let capacities = capacity::find(&system, &limits).ok();
    let findings = findings(&properties);
    let mut answer = answer(&verdict, obstacle.as_ref(), &properties, &findings);
    match &verdict {
        Verdict::Safe(bound) => {
            let names = list(machines.iter().map(|machine| machine.fsm.role().as_str()));
            terminal.say(&format!("the system of {} is safe: {bound}-MC\n", visible(&names)));
        }
        Verdict::Unsafe(run) => {
            let notice = Notice::error(format!("the system is not safe: {}", run.failure));
            let chart = format!("a run that leads there:\n{}", run.chart().trim_end());
            terminal.say_notice(&mark_waits(notice, &machines, run).remark(chart));
        }
        Verdict::Undecided(limit) => {
            let notice = undecided(&machines, *limit, obstacle.as_ref());
            let growth = rumpsteak_fsm::bounded::growth(&system);
            answer = answer.with("growth", growth.as_ref().map(json::growth));
            terminal.say_notice(&match &growth {
                Some(growth) => grows(notice, growth, obstacle.as_ref()),
                None => notice,
            });
        }
    }
    let configurations = count(properties.configurations, "configuration");
    terminal.say(&format!("at k = {}, {configurations}:\n", properties.bound));
    for (_, name, (_, value, _)) in &findings {
        terminal.say(&format!("  {name:<14} {}\n", visible(value)));
    }
    let channels = capacities.as_ref().map(|capacities| channels(capacities, terminal));
    let minimal = capacities.map(|capacities| capacities.is_minimal);
    let mut answer = answer.with("channels", channels).with("minimal", minimal);
    if arguments.liveness == Liveness::EveryRun && answer.outcome == Outcome::Holds {
        let live = live_in_every_run(&system, || explore(&system, &limits), &limits);
        tell(&live, None, true, &mut answer, |error| terminal.report(&error));
    }
    Ok(answer)
}

fn undecided(machines: &[Machine], limit: Limit, obstacle: Option<&Obstacle>) -> Notice {
    let report = Notice::error(format!("undecided whether the system is safe: {limit}"));
    let Some(obstacle) = obstacle else {
        return report.help(match limit {
            Limit::Queue(_) => "raise the limit with `--max-k`".to_owned(),
            limit => raise(limit),
        });
    };
    let text = obstacle.to_string();
    let (what, way_out) = split_way_out(&text);
    let report = report.remark(format!("the bound matters, because {what}")).maybe_help(way_out);
    match obstacle {
        Obstacle::Bound(witness) => witnessed(report, machines, witness),
        Obstacle::Machine(role, defect) => {
            let own = machines.iter().filter(|machine| machine.fsm.role() == role);
            own.fold(report, |report, machine| machine.mark_defect(report, defect))
        }
        _ => report,
    }
}

/// Names the queue that grows, and the role that fills it.
fn grows(report: Notice, growth: &Growth, obstacle: Option<&Obstacle>) -> Notice {
    let Growth { queue, before, again } = growth;
    let by = queue.from.as_ref().map_or("", Role::as_str);
    let after = if before.is_empty() { "" } else { &format!("after {}, ", fold(before)) };
    let again = fold(again);
    let report = report.remark(format!(
        "{queue} grows without bound: {after}{by} fills it by {again}, again and again"
    ));
    if let Some(Obstacle::Machine(..)) = obstacle {
        return report.remark("`--capacity` tells whether it can hang with queues of a given size");
    }
    report.help(format!(
        "let {by} wait for an answer before it sends on, \
         or ask about queues of a given size with `--capacity`"
    ))
}

fn witnessed(report: Notice, machines: &[Machine], witness: &Witness) -> Notice {
    let report = match &witness.flaw {
        Flaw::Blocked(role, send) => mark(report, machines, role, *send, "blocked by the bound"),
        Flaw::Competing(role, first, second) => {
            let report = mark(report, machines, role, *first, "can be received");
            mark(report, machines, role, *second, "and so can this")
        }
        Flaw::Partial(role, possible, blocked) => {
            let report = mark(report, machines, role, *blocked, "blocked by the bound");
            mark(report, machines, role, *possible, "possible")
        }
        Flaw::Lost(..) | Flaw::Waits(_) => report,
    };
    match witness.steps.is_empty() {
        true => report.remark("this is so from the start"),
        false => report.remark(format!("this is after {}", fold(&witness.steps))),
    }
}

/// The answer about a property, if it is known; its text; and the run that refutes the property.
type Finding<'a> = (Option<bool>, String, Option<&'a Witness>);

/// The answer about a property of single machines, from the first machine that lacks it.
fn form(found: Option<&(Role, Defect)>) -> Finding<'_> {
    let Some((role, defect)) = found else { return (Some(true), "yes".to_owned(), None) };
    let defect = defect.to_string();
    (Some(false), format!("no: in the machine of `{role}`, {}", split_way_out(&defect).0), None)
}

fn behaviour(property: &Property) -> Finding<'_> {
    let (text, witness) = match property {
        Property::Holds => ("yes".to_owned(), None),
        Property::Fails(witness) => (format!("no: {}", witness.flaw), Some(witness)),
        Property::Unknown(_) => ("unknown within the limits".to_owned(), None),
    };
    (property.holds(), text, witness)
}

/// The names of the properties in JSON and in text, and the answers.
type Findings<'a> = [(&'static str, &'static str, Finding<'a>); 11];

fn findings(properties: &Properties) -> Findings<'_> {
    // A directed machine is neither mixed nor undirected. A k-safe system has both properties.
    let mixed = properties.mixed.as_ref();
    let safe = match (&properties.progress, &properties.reception) {
        (Property::Holds, reception) => reception,
        (Property::Unknown(_), reception @ Property::Fails(_)) => reception,
        (progress, _) => progress,
    };
    [
        ("csa", "CSA", form(mixed)),
        ("deterministic", "deterministic", form(properties.nondeterministic.as_ref())),
        ("directed", "directed", form(mixed.or(properties.undirected.as_ref()))),
        ("k_exhaustive", "k-exhaustive", behaviour(&properties.exhaustive)),
        ("k_safe", "k-safe", behaviour(safe)),
        ("progress", "  progress", behaviour(&properties.progress)),
        ("reception", "  reception", behaviour(&properties.reception)),
        ("obi", "k-OBI", behaviour(&properties.obi)),
        ("ibi", "k-IBI", behaviour(&properties.ibi)),
        ("sibi", "k-SIBI", behaviour(&properties.sibi)),
        ("cibi", "k-CIBI", behaviour(&properties.cibi)),
    ]
}

/// Prints the capacities of the channels, and returns their objects.
fn channels(capacities: &Capacities, terminal: &mut Terminal) -> Vec<Value> {
    let least = if capacities.is_minimal { "the least " } else { "" };
    terminal.say(&format!("channels, with {least}capacities that are enough:\n"));
    let object = |channel: &ChannelCapacity| {
        let (words, occupancy) = match channel.occupancy {
            Occupancy::AtMost(most) => {
                (format!("holds at most {}", count(most, "message")), json!(most))
            }
            Occupancy::Unbounded => {
                ("may hold any number of messages".to_owned(), json!("unbounded"))
            }
            Occupancy::Unknown(limit) => {
                (format!("how much it holds is unknown: {limit}"), Value::Null)
            }
        };
        let (from, to, capacity) = (channel.from.as_str(), channel.to.as_str(), channel.capacity);
        terminal.say(&visible(&format!("  {from} to {to}: capacity {capacity}, {words}\n")));
        json!({"from": from, "to": to, "capacity": capacity, "occupancy": occupancy})
    };
    capacities.channels.iter().map(object).collect()
}

fn answer(
    verdict: &Verdict,
    obstacle: Option<&Obstacle>,
    properties: &Properties,
    findings: &Findings<'_>,
) -> Answer {
    let answer = match (verdict, obstacle) {
        (Verdict::Safe(bound), _) => Answer::holds(Some(*bound)),
        (Verdict::Unsafe(run), _) => json::unsafe_run(run),
        (Verdict::Undecided(limit), None) => Answer::undecided(*limit),
        (Verdict::Undecided(limit), Some(obstacle)) => {
            Answer::undecided(*limit).with("reason", obstacle.to_string())
        }
    };
    let values = findings.iter().map(|(key, _, (holds, ..))| ((*key).to_owned(), json!(holds)));
    let witnesses = findings.iter().filter_map(|(key, _, (.., witness))| {
        let Witness { steps, flaw } = (*witness)?;
        Some(((*key).to_owned(), json!({"run": json::steps(steps), "flaw": flaw.to_string()})))
    });
    answer
        .with("k", properties.bound)
        .with("configurations", properties.configurations)
        .with("properties", Value::Object(values.collect()))
        .with("witnesses", Value::Object(witnesses.collect()))
}
