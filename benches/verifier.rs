//! What the verifier costs: subtyping, certificates and k-MC on the workloads of PPoPP'22, Fig. 7, and beyond.
//!
//! `cargo bench -p rumpsteak-benches --bench verifier`
//!
//! Machines are built beforehand. Each growth curve is one group: compare its sizes with each other. `subtype` is the answer, with a proof that may be written
//! down; `certificate` writes it down, and `check` checks it.

use std::{hint::black_box, time::Duration};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rumpsteak_fsm::{
    Action, Direction, Fsm, Limits, StateId, System, Verdict, certificate, kmc, subtype, text,
};

/// Enough for 1,000 actions that are done early, and for trees of 100,000 states.
fn limits() -> Limits {
    Limits {
        anticipation: 10_000,
        steps: 50_000_000,
        configurations: 10_000_000,
        ..Limits::default()
    }
}

fn receive(peer: &str, label: &str) -> Action {
    Action::receive(peer, label, &[])
}

fn send(peer: &str, label: &str) -> Action {
    Action::send(peer, label, &[])
}

/// A machine that does `first`, and then `again` for ever.
fn lasso(role: &str, first: &[Action], again: &[Action]) -> Fsm {
    let mut builder = Fsm::builder(role);
    let states: Vec<StateId> = (0..first.len() + again.len())
        .map(|_| builder.add_state())
        .collect();
    for (index, action) in first.iter().chain(again).enumerate() {
        let next = states.get(index + 1).unwrap_or(&states[first.len()]);
        builder.add_transition(states[index], action.clone(), *next);
    }
    builder.build(states[0])
}

/// The source of `rec x. t?ready. t!{value. x, stop}`, which sends `ahead` values before it is asked for them.
fn source(ahead: usize) -> Fsm {
    let mut builder = Fsm::builder("s");
    let states: Vec<StateId> = (0..=ahead).map(|_| builder.add_state()).collect();
    for pair in states.windows(2) {
        builder.add_transition(pair[0], send("t", "value"), pair[1]);
    }
    let (asked, mut stopped) = (builder.add_state(), builder.add_state());
    builder.add_transition(states[ahead], receive("t", "ready"), asked);
    builder.add_transition(asked, send("t", "value"), states[ahead]);
    builder.add_transition(asked, send("t", "stop"), stopped);
    for _ in 0..ahead {
        let next = builder.add_state();
        builder.add_transition(stopped, receive("t", "ready"), next);
        stopped = next;
    }
    builder.build(states[0])
}

fn kernel(ahead: usize) -> Fsm {
    lasso(
        "k",
        &vec![send("s", "ready"); ahead],
        &[
            send("s", "ready"),
            receive("s", "value"),
            receive("t", "ready"),
            send("t", "value"),
        ],
    )
}

/// Role `index` of a ring of `count`, which receives first or sends first.
fn ring(index: usize, count: usize, sends_first: bool) -> Fsm {
    let before = format!("r{}", (index + count - 1) % count);
    let after = format!("r{}", (index + 1) % count);
    let mut actions = [receive(&before, "v"), send(&after, "v")];
    if sends_first {
        actions.reverse();
    }
    lasso(&format!("r{index}"), &[], &actions)
}

/// T_n or T'_n, by what is done in two steps; as a tree, or with one state for all equal subtrees.
fn nested(depth: usize, tree: bool, sub: bool) -> Fsm {
    // What is done first, what may follow, each leading to the next level.
    let level: &[(Action, &[&str])] = match sub {
        true => &[
            (send("b", "m"), &["r", "s", "u"]),
            (send("b", "p"), &["r", "s"]),
        ],
        false => &[
            (receive("b", "r"), &["m", "p", "q"]),
            (receive("b", "s"), &["m", "p"]),
        ],
    };
    let mut builder = Fsm::builder("a");
    let initial = builder.add_state();
    let mut states = vec![initial];
    for _ in 0..depth {
        let mut next = vec![];
        let shared = builder.add_state();
        for state in states {
            for (first, then) in level {
                let middle = builder.add_state();
                builder.add_transition(state, first.clone(), middle);
                for &label in *then {
                    let end = if tree { builder.add_state() } else { shared };
                    if tree {
                        next.push(end);
                    }
                    let action = if sub {
                        receive("b", label)
                    } else {
                        send("b", label)
                    };
                    builder.add_transition(middle, action, end);
                }
            }
        }
        states = if tree { next } else { vec![shared] };
    }
    builder.build(initial)
}

/// What the other of two roles does.
fn dual(machine: &Fsm, role: &str) -> Fsm {
    let mut builder = Fsm::builder(role);
    let states: Vec<StateId> = machine.states().map(|_| builder.add_state()).collect();
    for transition in machine.transitions() {
        let mut action = transition.action.clone();
        action.peer = machine.role().clone();
        action.direction = match action.direction {
            Direction::Send => Direction::Receive,
            Direction::Receive => Direction::Send,
        };
        let (from, to) = (transition.source, transition.target);
        builder.add_transition(states[from.index()], action, states[to.index()]);
    }
    builder.build(states[machine.initial().index()])
}

/// Subtyping of one pair, which holds, and its certificate.
fn pair(criterion: &mut Criterion, name: &str, size: usize, sub: &Fsm, sup: &Fsm, whole: bool) {
    let limits = limits();
    let mut group = criterion.benchmark_group(name);
    let id = |what: &str| BenchmarkId::new(what, size);
    group.bench_function(id("subtype"), |bencher| {
        bencher.iter(|| match subtype::check(black_box(sub), sup, &limits) {
            Ok(Verdict::Safe(proof)) => proof,
            other => panic!("{name} {size} holds, but {other:?}"),
        });
    });
    if let (true, Ok(Verdict::Safe(proof))) = (whole, subtype::check(sub, sup, &limits)) {
        let evidence = proof.certificate();
        group.bench_function(id("certificate"), |bencher| {
            bencher.iter(|| proof.certificate());
        });
        group.bench_function(id("check"), |bencher| {
            bencher.iter(
                || match certificate::check(black_box(&evidence), sub, sup) {
                    Ok(()) => {}
                    Err(invalid) => panic!("{name} {size}: {invalid}"),
                },
            );
        });
    }
    group.finish();
}

fn subtyping(criterion: &mut Criterion) {
    for ahead in [10, 30, 100, 300, 1_000] {
        pair(
            criterion,
            "streaming",
            ahead,
            &source(ahead),
            &source(0),
            true,
        );
    }
    for ahead in [10, 30, 100, 300, 1_000] {
        pair(
            criterion,
            "k-buffering",
            ahead,
            &kernel(ahead),
            &kernel(0),
            true,
        );
    }
    pair(
        criterion,
        "ring, one role",
        30,
        &ring(7, 30, true),
        &ring(7, 30, false),
        true,
    );
    for depth in [3, 4, 5, 6, 7] {
        let machine = |sub| nested(depth, true, sub);
        pair(
            criterion,
            "nested choice, trees",
            depth,
            &machine(true),
            &machine(false),
            depth < 7,
        );
    }
    for depth in [10, 100] {
        let machine = |sub| nested(depth, false, sub);
        pair(
            criterion,
            "nested choice, shared",
            depth,
            &machine(true),
            &machine(false),
            true,
        );
    }
}

/// k-MC of a system that is safe.
fn safe(criterion: &mut Criterion, name: &str, size: usize, machines: Vec<Fsm>) {
    let limits = limits();
    let system = match System::new(machines) {
        Ok(system) => system,
        Err(error) => panic!("{name}: {error}"),
    };
    let mut group = criterion.benchmark_group(format!("k-MC, {name}"));
    group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
        bencher.iter(|| {
            let report = kmc::check(black_box(&system), &limits);
            assert!(
                matches!(report.verdict, kmc::Verdict::Safe { .. }),
                "{name} {size} is safe"
            );
        });
    });
    group.finish();
}

fn model_checking(criterion: &mut Criterion) {
    let sink = dual(&source(0), "t");
    safe(criterion, "streaming", 100, vec![source(100), sink]);
    let buffers = vec![
        kernel(100),
        lasso("s", &[], &[receive("k", "ready"), send("k", "value")]),
        lasso("t", &[], &[send("k", "ready"), receive("k", "value")]),
    ];
    safe(criterion, "k-buffering", 100, buffers);
    // The first role begins.
    let roles = (0..30).map(|index| ring(index, 30, index == 0)).collect();
    safe(criterion, "ring", 30, roles);
    let others = dual(&nested(5, true, false), "b");
    safe(
        criterion,
        "nested choice",
        5,
        vec![nested(5, true, true), others],
    );

    // Where the corpora are at hand.
    let large = std::env::var_os("RUMPSTEAK_CORPORA")
        .map(|corpora| std::path::PathBuf::from(corpora).join("kmc/large/8peers-30msg-k30.txt"));
    if let Some(Ok(source)) = large.map(std::fs::read_to_string)
        && let Ok(machines) = text::parse(&source)
    {
        safe(criterion, "8peers-30msg-k30", 30, machines);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = subtyping, model_checking
}
criterion_main!(benches);
