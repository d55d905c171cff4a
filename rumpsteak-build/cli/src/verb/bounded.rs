//! `kmc --capacity`: can a system hang at these capacities?

use clap::Args;
use rumpsteak_build::command::{Notice, count, list, visible};
use rumpsteak_fsm::bounded::{Bounded, Hang, Queue, Safe, Topology, TopologyError};
use rumpsteak_fsm::run::fold;
use rumpsteak_fsm::{Fsm, Limit, Limits, Role, Verdict};
use serde_json::{Value, json};

use crate::machines::{Machine, mark, no_system};
use crate::{Answer, Outcome, Reply, Terminal, json, raise};

/// The options about queues.
#[derive(Debug, Args)]
#[group(multiple = true, conflicts_with_all = ["k", "unreduced"])]
pub(crate) struct Queues {
    /// Tell whether the system can hang at these capacities: `64` for all queues, `least` to search
    /// for that number, `a->b=1` for one queue, `b=8` for the mailbox of `b`
    #[arg(long, value_name = "N|QUEUE=N", value_parser = capacity)]
    capacity: Vec<Capacity>,
    /// Give a role one queue for all of its senders, as `tokio::sync::mpsc` does
    #[arg(long, value_name = "ROLE")]
    mailbox: Vec<String>,
    /// Drop what is sent while this queue is full, as `try_send` does
    #[arg(long, value_name = "QUEUE", value_parser = str::parse::<Queue>)]
    drop: Vec<Queue>,
    /// Let a role do whichever is possible first if it can send or receive. Without this, it may
    /// choose to send before there is room
    #[arg(long, value_name = "ROLE")]
    race: Vec<String>,
}

#[derive(Clone, Debug)]
enum Capacity {
    All(usize),
    Least,
    Of(Queue, usize),
}

fn capacity(text: &str) -> Result<Capacity, String> {
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number"));
    match text.split_once('=') {
        Some((queue, capacity)) => Ok(Capacity::Of(queue.parse()?, number(capacity)?)),
        None if text == "least" => Ok(Capacity::Least),
        None if text.contains("->") => Err(format!("give it a number, as in `{text}=1`")),
        None => Ok(Capacity::All(number(text)?)),
    }
}

impl Queues {
    fn topology(&self) -> Topology {
        let topology = self.capacity.iter().fold(Topology::default(), |all, given| match given {
            Capacity::All(capacity) => all.capacity(*capacity),
            // The search replaces it.
            Capacity::Least => all.capacity(1),
            Capacity::Of(queue, capacity) => all.bound(queue.clone(), *capacity),
        });
        let topology = self.mailbox.iter().fold(topology, |all, role| all.mailbox(role.as_str()));
        let topology = self.drop.iter().fold(topology, |all, queue| all.drops(queue.clone()));
        self.race.iter().fold(topology, |all, role| all.race(role.as_str()))
    }
}

pub(super) fn run(
    queues: &Queues,
    machines: &[Machine],
    fsms: Vec<Fsm>,
    limits: &Limits,
    terminal: &mut Terminal,
) -> Reply {
    let bounded = Bounded::new(fsms, &queues.topology()).map_err(|error| match &error {
        TopologyError::System(error) => no_system(machines, error),
        error => Notice::of_error(error),
    })?;
    let names = list(machines.iter().map(|machine| machine.fsm.role().as_str()));
    let is_least = queues.capacity.iter().any(|given| matches!(given, Capacity::Least));
    let (least, verdict) = match is_least {
        false => (None, bounded.check(limits)),
        true => {
            let (least, verdict) = bounded.least(limits);
            (Some(least).filter(|_| verdict.is_safe()), verdict)
        }
    };
    let answer = match &verdict {
        Verdict::Safe(safe) => {
            let at = match least {
                Some(least) => format!("with a capacity of {least}, the least that is enough"),
                None => "at these capacities".to_owned(),
            };
            let how = match safe {
                Safe::AndLarger => ", nor at any larger ones".to_owned(),
                Safe::Explored(met) => format!(": {}", count(*met, "configuration")),
            };
            let answer = format!("the system of {names} cannot hang {at}{how}\n");
            terminal.say(&visible(&answer));
            Answer::new(Outcome::Holds).with("larger", *safe == Safe::AndLarger)
        }
        Verdict::Unsafe(hang) => {
            terminal.say_notice(&hangs(machines, hang, is_least, &bounded.committing()));
            hanging(hang)
        }
        Verdict::Undecided(limit) => {
            let message = format!("undecided whether the system can hang: {limit}");
            let help = match limit {
                Limit::Queue(_) => "raise the limit with `--max-k`, or give every queue a capacity",
                limit => &raise(*limit),
            };
            terminal.say_notice(&Notice::error(message).help(help));
            Answer::undecided(*limit)
        }
    };
    Ok(answer.with("least", least))
}

fn hangs(machines: &[Machine], hang: &Hang, is_least: bool, committing: &[Role]) -> Notice {
    let at = if is_least { "at every capacity" } else { "at these capacities" };
    let mut notice = Notice::error(format!("the system hangs {at}: {hang}"));
    for (number, wait) in hang.waits.iter().enumerate() {
        for (transition, action) in &wait.actions {
            let label = match wait.full {
                Some(_) => format!("`{}` waits for room for `{}`", wait.role, action.message),
                None => format!("`{}` waits for `{action}`", wait.role),
            };
            notice = mark(notice, machines, &wait.role, *transition, &label);
        }
        let is_last = number + 1 == hang.cycle && hang.cycle > 1;
        notice = notice
            .remark(format!("{wait}{}", if is_last { ": this closes the cycle" } else { "" }));
    }
    let receives =
        |role: &Role| hang.waits.iter().any(|wait| wait.role == *role && wait.full.is_none());
    for (queue, from, message) in hang.heads.iter().filter(|(queue, ..)| receives(&queue.to)) {
        notice = notice.remark(format!("at the head of {queue} is {message} from {from}"));
    }
    let (length, steps) = (count(hang.steps.len(), "step"), fold(&hang.steps));
    notice = notice.remark(match (hang.steps.is_empty(), hang.is_shortest) {
        (true, _) => "this is so from the start".to_owned(),
        (_, true) => format!("a shortest run that leads there, {length}: {steps}"),
        (_, false) => format!("a run that leads there, {length}: {steps}"),
    });
    if let Some(from) = hang.every_capacity_from {
        let from = if from == 0 { String::new() } else { format!(" from {from} on") };
        notice = notice.remark(format!("proven for every capacity{from}: more room does not help"));
    }
    if committing.is_empty() {
        return notice;
    }
    notice.help(format!(
        "{} may choose to send before there is room; \
         if such a role receives while it waits to send, say so with `--race`",
        list(committing)
    ))
}

fn hanging(hang: &Hang) -> Answer {
    let waits = hang.waits.iter().map(|wait| {
        let actions = wait.actions.iter().map(|(_, action)| action.to_string());
        let full = wait.full.as_ref();
        let full = full.map(|(queue, most)| json!({"queue": queue.to_string(), "capacity": most}));
        json!({"role": wait.role.as_str(), "for": actions.collect::<Vec<_>>(), "full": full})
    });
    Answer::because(Outcome::Fails, hang.to_string())
        .with("run", json::steps(&hang.steps))
        .with("waits", waits.collect::<Value>())
        .with("cycle", hang.cycle)
        .with("shortest", hang.is_shortest)
        .with("every_capacity_from", hang.every_capacity_from)
}
