//! What the verifier costs: subtyping, certificates and k-MC on the workloads of PPoPP'22, Fig. 7
//! and Table 1, and beyond.
//!
//! `cargo bench -p rumpsteak-benches --bench verifier`
//!
//! Each row of the table of figures is one group, and each group has a page in
//! `target/criterion/report/index.html`, with a growth curve where it has several sizes. Machines
//! are built beforehand, as a parser would leave them; nothing else is. In a group,
//!
//! * `prepared` is the answer for machines that were compared before, as a build script compares a
//!   projection with several types: their actions have numbers, and they are known to be directed.
//!   The certificate of the answer is written and checked, too;
//! * `unprepared` is the answer for machines that no algorithm has seen, which are prepared first;
//! * `certificate` writes the evidence of an answer down, and `check` checks it, which needs both
//!   machines and nothing of the engine.
//!
//! What `rumpsteak-fsm` 0.1 was measured at is to be compared with `prepared`. Its machines leave
//! nothing to prepare: adding a transition checks that the state stays directed, and the generator
//! of its ring and its other workloads makes roles and labels numbers from the start
//! (`comparison/subtyping` in its repository). Its own benchmark makes the machines outside of the
//! loop that is timed.
//!
//! k-MC is timed with all that it does with a system. Instructions, which do not depend on what
//! else the machine does, and memory are counted by `cargo bench -p rumpsteak-benches --bench
//! counts`.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main,
};
use rumpsteak_benches::workloads::{
    buffering_roles, client, eager_client, eager_hospital, hospital, kernel, limits, nested,
    nested_roles, pairs, ring, ring_roles, source, streaming_roles,
};
use rumpsteak_fsm::verify::certified;
use rumpsteak_fsm::{Fsm, System, Verdict, certificate, kmc, subtype};

/// The sizes of the growth curves.
const SIZES: [usize; 5] = [10, 30, 100, 300, 1_000];

/// Subtyping of one pair, which holds; its certificate is checked, as in a build.
fn answer(group: &mut BenchmarkGroup<'_, WallTime>, size: usize, sub: &Fsm, sup: &Fsm) {
    let limits = limits();
    let check = |sub: &Fsm, sup: &Fsm| match certified(sub, sup, &limits) {
        Ok(Verdict::Safe(proof)) => proof,
        other => panic!("of size {size}, it holds, but {other:?}"),
    };
    let id = |what: &str| BenchmarkId::new(what, size);
    group.bench_function(id("unprepared"), |bencher| {
        // A copy of a machine that was never compared has been compared as little. What comes back
        // is dropped outside.
        bencher.iter_batched(
            || (sub.clone(), sup.clone()),
            |(sub, sup)| (check(black_box(&sub), &sup), sub, sup),
            BatchSize::LargeInput,
        );
    });
    check(sub, sup);
    group.bench_function(id("prepared"), |bencher| {
        bencher.iter(|| check(black_box(sub), sup));
    });
}

/// The certificate of one pair, which holds.
fn evidence(group: &mut BenchmarkGroup<'_, WallTime>, size: usize, sub: &Fsm, sup: &Fsm) {
    let proof = match subtype::check(sub, sup, &limits()) {
        Ok(Verdict::Safe(proof)) => proof,
        other => panic!("of size {size}, it holds, but {other:?}"),
    };
    let evidence = proof.certificate();
    group.bench_function(BenchmarkId::new("certificate", size), |bencher| {
        bencher.iter(|| proof.certificate());
    });
    group.bench_function(BenchmarkId::new("check", size), |bencher| {
        bencher.iter(|| match certificate::check(black_box(&evidence), sub, sup) {
            Ok(()) => {}
            Err(invalid) => panic!("of size {size}: {invalid}"),
        });
    });
}

/// A row of the table: pairs by size, with certificates up to a size.
fn row(
    criterion: &mut Criterion,
    name: &str,
    sizes: &[usize],
    certified: usize,
    pair: impl Fn(usize) -> (Fsm, Fsm),
) {
    let mut group = criterion.benchmark_group(name);
    for &size in sizes {
        let (sub, sup) = pair(size);
        answer(&mut group, size, &sub, &sup);
        if size <= certified {
            evidence(&mut group, size, &sub, &sup);
        }
    }
    group.finish();
}

fn subtyping(criterion: &mut Criterion) {
    row(criterion, "streaming", &SIZES, 1_000, |ahead| (source(ahead), source(0)));
    row(criterion, "k-buffering", &SIZES, 1_000, |ahead| (kernel(ahead), kernel(0)));
    row(criterion, "ring, one role", &[3, 30], 30, |roles| {
        (ring(1, roles, true), ring(1, roles, false))
    });
    let trees = |depth| (nested(depth, true, true), nested(depth, true, false));
    let depths = [1, 2, 3, 4, 5, 6, 7];
    row(criterion, "nested choice, trees", &depths, 6, trees);
    row(criterion, "nested choice, shared", &[10, 30, 100], 100, |depth| {
        (nested(depth, false, true), nested(depth, false, false))
    });
    row(criterion, "hospital", &[1], 1, |_| (eager_hospital(), hospital()));
    row(criterion, "hospital, CONCUR'19", &[1], 1, |_| (eager_client(), client()));
}

/// k-MC of systems that are safe, by size; the least k is searched for.
fn safe(
    criterion: &mut Criterion,
    name: &str,
    sizes: &[usize],
    machines: impl Fn(usize) -> Vec<Fsm>,
) {
    let limits = limits();
    let mut group = criterion.benchmark_group(format!("k-MC, {name}"));
    for &size in sizes {
        let system = match System::new(machines(size)) {
            Ok(system) => system,
            Err(error) => panic!("{name}: {error}"),
        };
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter(|| {
                let report = kmc::check(black_box(&system), &limits);
                assert!(matches!(report.verdict, kmc::Verdict::Safe(_)), "{name} {size} is safe");
            });
        });
    }
    group.finish();
}

fn model_checking(criterion: &mut Criterion) {
    safe(criterion, "streaming", &[10, 30, 100], streaming_roles);
    safe(criterion, "k-buffering", &[10, 30, 100], buffering_roles);
    safe(criterion, "ring", &[10, 30], |roles| ring_roles(roles, false));
    safe(criterion, "nested choice", &[3, 4, 5], |depth| nested_roles(depth, true));
    // Eight roles whose least k is the size.
    safe(criterion, "8peers-30msg-k30", &[10, 20, 30], |messages| pairs(4, messages));
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
