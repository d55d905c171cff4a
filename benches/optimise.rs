//! The proposals of `cargo rumpsteak optimise`, predicted and measured.
//!
//! `cargo bench -p rumpsteak-benches --bench optimise`
//!
//! Each protocol is played twice: as it is written, and with the best proposal for one role. A role
//! is a thread, a message takes 1 ms, and in some protocols an action takes 1 ms as well. The
//! choices and the work are the same in both. The prediction is printed first; compare it with the
//! times of `before` and `after` within a group.
//!
//! Compare ratios only: a thread that sleeps wakes up a little late.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use rumpsteak_fsm::{Action, Direction, Fsm, Message, Role};
use rumpsteak_optimise::cost::Work;
use rumpsteak_optimise::{Costs, Event, Options, propose};
use rumpsteak_scribble::{check, parse};

const MILLISECOND: Duration = Duration::from_millis(1);

/// A protocol, the role whose order is changed, the labels of its sends that depend on received
/// labels, with these labels, and the duration of an action.
struct Case {
    name: &'static str,
    source: &'static str,
    role: &'static str,
    depends: (&'static str, &'static [&'static str]),
    work: u64,
}

macro_rules! source {
    ($name:literal) => {
        include_str!(concat!("../protocols/", $name, ".scr"))
    };
}

const CASES: [Case; 6] = [
    Case {
        name: "double_buffering",
        source: source!("double_buffering"),
        role: "k",
        depends: ("value", &["value", "ready"]),
        work: 1,
    },
    Case { name: "ring", source: source!("ring"), role: "b", depends: ("", &[]), work: 0 },
    Case {
        name: "streaming",
        source: source!("streaming"),
        role: "s",
        depends: ("", &[]),
        work: 0,
    },
    Case {
        name: "chain_sync",
        source: source!("chain_sync"),
        role: "consumer",
        depends: ("", &[]),
        work: 0,
    },
    Case { name: "hospital", source: source!("hospital"), role: "p", depends: ("", &[]), work: 0 },
    Case {
        name: "kafka_fetch",
        source: source!("kafka_fetch"),
        role: "consumer",
        depends: ("", &[]),
        work: 0,
    },
];

/// The actions of each role: its share of the work, and a few more that others may need for theirs.
struct Play(Vec<(Role, Vec<Action>, usize)>);

impl Play {
    fn new(work: &Work, machines: &[Fsm], costs: &Costs<'_>) -> Self {
        let events = work.events(machines, costs, usize::MAX);
        let of = |(machine, &share): (&Fsm, &usize)| {
            let own = |event: &&Event| event.role == *machine.role();
            let actions = events.iter().filter(own).map(|event| event.action.clone());
            (machine.role().clone(), actions.collect(), share)
        };
        Self(machines.iter().zip(&work.share).map(of).collect())
    }

    /// Plays the protocol once, each role on its own thread. Returns the time until all have done
    /// their share.
    fn run(&self, work: Duration) -> Duration {
        let mut outgoing: BTreeMap<(Role, Role), Sender<(Instant, Message)>> = BTreeMap::new();
        let mut incoming: BTreeMap<(Role, Role), Receiver<(Instant, Message)>> = BTreeMap::new();
        for (from, ..) in &self.0 {
            for (to, ..) in &self.0 {
                let (sender, receiver) = channel();
                outgoing.insert((from.clone(), to.clone()), sender);
                incoming.insert((from.clone(), to.clone()), receiver);
            }
        }
        let start = Instant::now();
        thread::scope(|scope| {
            let mut roles = vec![];
            for (role, actions, share) in &self.0 {
                let mut sends = BTreeMap::new();
                let mut receives = BTreeMap::new();
                for (peer, ..) in &self.0 {
                    sends.extend(
                        outgoing.remove(&(role.clone(), peer.clone())).map(|end| (peer, end)),
                    );
                    receives.extend(
                        incoming.remove(&(peer.clone(), role.clone())).map(|end| (peer, end)),
                    );
                }
                roles.push(scope.spawn(move || {
                    let mut done = start;
                    for (position, action) in (1..).zip(actions) {
                        match action.direction {
                            Direction::Send => {
                                thread::sleep(work);
                                let arrival = Instant::now() + MILLISECOND;
                                // A peer that has done its share receives no more.
                                let _ = sends[&action.peer].send((arrival, action.message.clone()));
                            }
                            Direction::Receive => {
                                let Ok((arrival, message)) = receives[&action.peer].recv() else {
                                    // The peer is done.
                                    assert!(position > *share, "`{role}` waits for `{action}`");
                                    return done;
                                };
                                assert_eq!(message, action.message);
                                thread::sleep(arrival.saturating_duration_since(Instant::now()));
                                thread::sleep(work);
                            }
                        }
                        if position <= *share {
                            done = Instant::now();
                        }
                    }
                    done
                }));
            }
            let ends = roles.into_iter().map(|role| match role.join() {
                Ok(end) => end,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            let last = ends.max().unwrap_or(start);
            last - start
        })
    }
}

/// The machines of the only protocol of a source.
fn machines(source: &str) -> Vec<Fsm> {
    let parsed = parse(source);
    let checked = check(&parsed.module);
    let protocol = &checked.protocols[0];
    let project = |role: &Role| match protocol.project(role) {
        Ok(projection) => projection.fsm,
        Err(errors) => panic!("{role}: {errors:?}"),
    };
    protocol.roles().iter().map(project).collect()
}

#[expect(clippy::print_stdout, reason = "the prediction belongs beside the figures")]
fn optimise(criterion: &mut Criterion) {
    for case in CASES {
        let machines = machines(case.source);
        let role = Role::from(case.role);
        let depends = |send: &Action, receive: &Action| {
            let (sent, received) = case.depends;
            send.message.label.as_str() == sent
                && received.contains(&receive.message.label.as_str())
        };
        let costs = Costs { latency: &|_, _| 1, work: case.work };
        let options = Options::default();
        let found = match propose(&machines, &role, &depends, &costs, &options) {
            Ok(found) => found,
            Err(error) => panic!("{}: {error}", case.name),
        };
        let Some(best) = found.proposals.first() else {
            panic!("{}: no order is faster", case.name);
        };
        let percent = 100 - best.time * 100 / found.time;
        println!(
            "optimise/{}: predicted {} ms before, {} ms after: {percent} % less",
            case.name, found.time, best.time
        );
        let changed: Vec<Fsm> = machines
            .iter()
            .map(|fsm| match *fsm.role() == role {
                true => best.fsm.clone(),
                false => fsm.clone(),
            })
            .collect();
        let work = Work::new(&machines);
        let time = MILLISECOND * u32::try_from(case.work).unwrap_or(u32::MAX);
        let mut group = criterion.benchmark_group(format!("optimise/{}", case.name));
        group.sample_size(10);
        for (name, machines) in [("before", &machines), ("after", &changed)] {
            let play = Play::new(&work, machines, &costs);
            group.bench_function(name, |bencher| {
                bencher.iter_custom(|rounds| (0..rounds).map(|_| play.run(time)).sum());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, optimise);
criterion_main!(benches);
