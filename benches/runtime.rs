//! The cost of sessions at run time, against `rumpsteak` 0.1 from the registry and against bare
//! channels, in one report.
//!
//! `cargo bench -p rumpsteak-benches --bench runtime`
//!
//! Each row of the table is a group of the report in `target/criterion/report/index.html`. The
//! table that follows the measurements has the medians of one run and their ratio, because times of
//! different runs cannot be compared. If the noise of the machine hides a ratio, the benchmark
//! `instructions` counts. Roles and channels are made once and serve every iteration, unless the
//! name says `fresh`.
//!
//! `cargo bench -p rumpsteak-benches --bench runtime -- ratios` only measures the ratios against
//! the original, in turns of a few milliseconds, so that a busy machine hits both sides alike. `--
//! stalls` only measures how long single streams take on two threads while all cores are busy with
//! something like a compiler. `-- memory` only measures the memory of sessions that wait.
//!
//! On Linux with glibc the thresholds of the allocator are fixed, or double buffering would measure
//! how often the heap is trimmed: the program starts itself again with them in its environment.

#![allow(clippy::print_stdout, reason = "the report of a benchmark")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use std::{env, fs};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use futures::executor::block_on;
use futures::future::{try_join, try_join3};
use rumpsteak_benches::{bare, cells, original, standard, unbounded};
use rumpsteak_runtime::join;
use tokio::runtime::{Builder, Runtime};

/// How many values a session streams.
const VALUES: i32 = 50;

/// How long the buffers are.
const BUFFER: usize = 5_000;

/// How many laps of the ring one iteration makes.
const LAPS: i32 = 100;

/// How many sessions run at once.
const CONCURRENT: [usize; 3] = [100, 1_000, 10_000];

/// The rows of the table: the group, the measured row, the row that it is compared with, and the
/// figure to reach.
const TABLE: [(&str, &str, &str, &str); 12] = [
    ("layer_streaming", "session", "bare", "instructions ≤ +3 %"),
    ("layer_ring", "session", "bare", "instructions ≤ +3 %"),
    ("streaming_tokio_1", "ours", "original", "≥ 2"),
    ("streaming_block_on", "ours", "original", "≥ 2.3"),
    ("window_tokio_1", "ours", "original", "≥ 3.5 with original_plain"),
    ("window_tokio_1", "ours", "original_plain", "≥ 3.5"),
    ("ring_block_on", "ours", "original", "≥ 2.3"),
    ("runner_streaming", "ours", "original_tokio_1", "≥ 5"),
    ("runner_streaming", "window", "original_tokio_1", "-"),
    ("streaming_tokio_2", "ours", "original", "≥ 2"),
    ("double_buffering_tokio_1", "ours", "original", "≥ 1.05"),
    ("setup", "reused", "fresh", "≤ 1 µs, ≤ 3 µs"),
];

fn main() -> ExitCode {
    if let Some(status) = pinned() {
        return status;
    }
    match env::args().nth(1).as_deref() {
        Some("memory") => {
            memory();
            return ExitCode::SUCCESS;
        }
        Some("ratios") => {
            ratios();
            return ExitCode::SUCCESS;
        }
        Some("stalls") => {
            stalls();
            return ExitCode::SUCCESS;
        }
        Some("load") => load(),
        _ => {}
    }
    let folder = folder();
    let mut criterion = Criterion::default()
        .output_directory(&folder)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    layer(&mut criterion);
    streaming(&mut criterion);
    ring(&mut criterion);
    runner(&mut criterion);
    double_buffering(&mut criterion);
    setup(&mut criterion);
    concurrent(&mut criterion);
    criterion.final_summary();
    table(&folder);
    // In their own processes: the one for memory has a small heap.
    for part in ["ratios", "stalls", "memory"] {
        let measured = env::current_exe().and_then(|this| Command::new(this).arg(part).status());
        if !measured.is_ok_and(|status| status.success()) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Runs this program again with a fixed allocator, unless this is that run.
fn pinned() -> Option<ExitCode> {
    const GIBIBYTE: &str = "1073741824";
    if env::var_os("MALLOC_TRIM_THRESHOLD_").is_some() {
        return None;
    }
    let status = Command::new(env::current_exe().ok()?)
        .args(env::args_os().skip(1))
        .env("MALLOC_TRIM_THRESHOLD_", GIBIBYTE)
        .env("MALLOC_MMAP_THRESHOLD_", GIBIBYTE)
        .env("MALLOC_TOP_PAD_", "16777216")
        .status()
        .ok()?;
    Some(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The folder of criterion's report.
fn folder() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"), PathBuf::from);
    target.join("criterion")
}

/// The expected sum of the sink: the time of a wrong answer is meaningless.
fn expected() -> i32 {
    (0..VALUES).sum()
}

fn tokio_1() -> Runtime {
    Builder::new_current_thread().build().unwrap_or_else(|error| panic!("no runtime: {error}"))
}

fn tokio_2() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap_or_else(|error| panic!("no runtime: {error}"))
}

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Both processes of a stream in one task.
macro_rules! stream_in_one_task {
    ($group:expr, $name:literal, $roles:expr, $source:path, $sink:path) => {
        $group.bench_function($name, |bencher| {
            let (mut s, mut t) = $roles;
            bencher.iter(|| {
                let source = $source(&mut s, black_box(VALUES));
                let sum = block_on(try_join(source, $sink(&mut t))).map(|((), sum)| sum);
                assert_eq!(sum.ok(), Some(expected()));
            });
        })
    };
}

/// Each process of a stream in a task of its own.
macro_rules! stream_in_tasks {
    ($group:expr, $name:literal, $runtime:expr, $roles:expr, $source:path, $sink:path) => {
        $group.bench_function($name, |bencher| {
            let runtime = $runtime;
            let (s, t) = $roles;
            // Tasks return their roles in a box, so that the size of a role does not matter.
            let mut roles = Some((Box::new(s), Box::new(t)));
            bencher.iter(|| {
                let Some((mut s, mut t)) = roles.take() else {
                    unreachable!("each iteration puts them back")
                };
                let done = runtime.block_on(async move {
                    let source = tokio::spawn(async move {
                        let sent = $source(&mut s, black_box(VALUES)).await.is_ok();
                        (sent, s)
                    });
                    let sink = tokio::spawn(async move {
                        let sum = $sink(&mut t).await.ok();
                        (sum, t)
                    });
                    tokio::try_join!(source, sink)
                });
                let Ok(((sent, s), (sum, t))) = done else { panic!("a task panicked") };
                assert_eq!((sent, sum), (true, Some(expected())));
                roles = Some((s, t));
            });
        })
    };
}

/// Goes round, with fresh roles in each iteration: a session without an end poisons them.
macro_rules! ring_of_sessions {
    ($group:expr, $name:literal, $module:path, $roles:expr) => {
        $group.bench_function($name, |bencher| {
            use $module as workload;
            bencher.iter_batched(
                || $roles,
                |(mut a, mut b, mut c)| {
                    let stopped = block_on(try_join3(
                        workload::first(&mut a, black_box(LAPS)),
                        workload::second(&mut b),
                        workload::third(&mut c),
                    ));
                    assert!(matches!(stopped, Err(workload::Stopped::With(hops)) if hops == 3 * LAPS));
                },
                criterion::BatchSize::SmallInput,
            );
        })
    };
}

fn ours() -> (standard::streaming::S, standard::streaming::T) {
    let standard::streaming::Roles { s, t } = Default::default();
    (s, t)
}

fn theirs() -> (original::streaming::S, original::streaming::T) {
    let original::streaming::Roles(s, t) = Default::default();
    (s, t)
}

/// The session layer over the channel of the floor.
fn layer(criterion: &mut Criterion) {
    use unbounded::streaming::{Roles, sink, source};

    let mut group = criterion.benchmark_group("layer_streaming");
    stream_in_one_task!(
        group,
        "session",
        {
            let Roles { s, t } = Default::default();
            (s, t)
        },
        source,
        sink
    );
    group.bench_function("bare", |bencher| {
        let (mut s, mut t) = bare::streaming::pair();
        bencher.iter(|| {
            let source = bare::streaming::source(&mut s, black_box(VALUES), 0);
            let sum = block_on(try_join(source, bare::streaming::sink(&mut t)));
            assert_eq!(sum.map(|((), sum)| sum).ok(), Some(expected()));
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group("layer_ring");
    group.throughput(Throughput::Elements(3 * LAPS.unsigned_abs() as u64));
    ring_of_sessions!(group, "session", unbounded::ring, {
        let unbounded::ring::Roles { a, b, c } = Default::default();
        (a, b, c)
    });
    group.bench_function("bare", |bencher| {
        bencher.iter_batched(
            bare::ring::places,
            |[mut a, mut b, mut c]| {
                let stopped = block_on(try_join3(
                    bare::ring::first(&mut a, black_box(LAPS)),
                    bare::ring::next(&mut b),
                    bare::ring::next(&mut c),
                ));
                assert!(
                    matches!(stopped, Err(bare::ring::Stopped::With(hops)) if hops == 3 * LAPS)
                );
            },
            criterion::BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn streaming(criterion: &mut Criterion) {
    use original::streaming as theirs_;
    use standard::streaming as ours_;

    let mut group = criterion.benchmark_group("streaming_tokio_1");
    stream_in_tasks!(group, "ours", tokio_1(), ours(), ours_::source, ours_::sink);
    stream_in_tasks!(group, "original", tokio_1(), theirs(), theirs_::source, theirs_::sink);
    group.finish();

    let mut group = criterion.benchmark_group("streaming_block_on");
    stream_in_one_task!(group, "ours", ours(), ours_::source, ours_::sink);
    stream_in_one_task!(group, "original", theirs(), theirs_::source, theirs_::sink);
    group.finish();

    let mut group = criterion.benchmark_group("window_tokio_1");
    stream_in_tasks!(group, "ours", tokio_1(), ours(), ours_::windowed_source, ours_::sink);
    stream_in_tasks!(
        group,
        "original",
        tokio_1(),
        theirs(),
        theirs_::windowed_source,
        theirs_::sink
    );
    stream_in_tasks!(group, "original_plain", tokio_1(), theirs(), theirs_::source, theirs_::sink);
    group.finish();

    let mut group = criterion.benchmark_group("streaming_tokio_2");
    stream_in_tasks!(group, "ours", tokio_2(), ours(), ours_::source, ours_::sink);
    stream_in_tasks!(group, "original", tokio_2(), theirs(), theirs_::source, theirs_::sink);
    group.finish();
}

fn ring(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ring_block_on");
    group.throughput(Throughput::Elements(3 * LAPS.unsigned_abs() as u64));
    ring_of_sessions!(group, "ours", standard::ring, {
        let standard::ring::Roles { a, b, c } = Default::default();
        (a, b, c)
    });
    ring_of_sessions!(group, "original", original::ring, {
        let original::ring::Roles(a, b, c) = Default::default();
        (a, b, c)
    });
    group.finish();
}

/// Both processes of a stream in `join`, in one task of tokio.
macro_rules! stream_in_runner {
    ($group:expr, $name:literal, $source:path) => {
        $group.bench_function($name, |bencher| {
            let runtime = tokio_1();
            let (mut s, mut t) = ours();
            bencher.iter(|| {
                let source = $source(&mut s, black_box(VALUES));
                let sink = standard::streaming::sink(&mut t);
                let (sent, sum) = runtime.block_on(join((source, sink)));
                assert_eq!((sent.is_ok(), sum.ok()), (true, Some(expected())));
            });
        })
    };
}

/// `join`, in one task of the same executor.
fn runner(criterion: &mut Criterion) {
    use standard::streaming::{source, windowed_source};

    let mut group = criterion.benchmark_group("runner_streaming");
    stream_in_runner!(group, "ours", source);
    stream_in_runner!(group, "window", windowed_source);
    stream_in_tasks!(
        group,
        "original_tokio_1",
        tokio_1(),
        theirs(),
        original::streaming::source,
        original::streaming::sink
    );
    group.finish();
}

/// Two buffers through three roles, all in one task of tokio.
macro_rules! buffers {
    ($group:expr, $name:literal, $module:path, $roles:expr) => {
        $group.bench_function($name, |bencher| {
            use $module as workload;
            let runtime = tokio_1();
            let (mut s, mut k, mut t) = $roles;
            let values: Vec<i32> = (0..).take(BUFFER).collect();
            bencher.iter(|| {
                let buffers = black_box([&values[..], &values[..]]);
                let copied = runtime.block_on(try_join3(
                    workload::source(&mut s, buffers),
                    workload::kernel(&mut k),
                    workload::sink(&mut t),
                ));
                let Ok(((), (), [first, second])) = copied else { panic!("the session failed") };
                assert_eq!((first.len(), second.last()), (BUFFER, values.last()));
            });
        })
    };
}

fn double_buffering(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("double_buffering_tokio_1");
    buffers!(group, "ours", standard::double_buffering, {
        let standard::double_buffering::Roles { s, k, t } = Default::default();
        (s, k, t)
    });
    buffers!(group, "original", original::double_buffering, {
        let original::double_buffering::Roles(s, k, t) = Default::default();
        (s, k, t)
    });
    group.finish();
}

/// The smallest session of three roles: begin, one message of each, end.
fn setup(criterion: &mut Criterion) {
    use standard::lap::{Roles, first, second, third};

    let lap = |Roles { a, b, c }: &mut Roles| {
        let done = block_on(try_join3(first(a, black_box(7)), second(b), third(c)));
        assert_eq!(done.ok(), Some((7, (), ())));
    };
    let mut group = criterion.benchmark_group("setup");
    group.bench_function("reused", |bencher| {
        let mut roles = Roles::default();
        bencher.iter(|| lap(&mut roles));
    });
    group.bench_function("fresh", |bencher| {
        bencher.iter(|| lap(&mut Roles::default()));
    });
    group.finish();
}

/// Starts so many sessions on the runtime: all wait for the first role of each.
fn idle(runtime: &Runtime, sessions: usize) -> Vec<standard::lap::A> {
    use standard::lap::{Roles, second, third};

    (0..sessions)
        .map(|_| {
            let Roles { a, mut b, mut c } = Roles::default();
            runtime.spawn(async move { second(&mut b).await });
            runtime.spawn(async move { third(&mut c).await });
            a
        })
        .collect()
}

/// Runs all of them to their end.
fn finish(runtime: &Runtime, waiting: Vec<standard::lap::A>) {
    let count = waiting.len();
    let done = runtime.block_on(async {
        let firsts: Vec<_> = waiting
            .into_iter()
            .map(|mut a| tokio::spawn(async move { standard::lap::first(&mut a, 7).await }))
            .collect();
        let mut done = 0;
        for first in firsts {
            if matches!(first.await, Ok(Ok(7))) {
                done += 1;
            }
        }
        done
    });
    assert_eq!(done, count);
}

/// Sessions of three roles, each in a task, all on one runtime of two threads.
fn concurrent(criterion: &mut Criterion) {
    let mut group: Group<'_> = criterion.benchmark_group("concurrent_tokio_2");
    group.sample_size(10);
    for sessions in CONCURRENT {
        group.throughput(Throughput::Elements(sessions as u64));
        group.bench_function(sessions.to_string(), |bencher| {
            let runtime = tokio_2();
            bencher.iter(|| finish(&runtime, idle(&runtime, sessions)));
        });
    }
    group.finish();
}

/// Prints the rows of the table for which there are measurements.
fn table(folder: &Path) {
    println!(
        "\n{:<26} {:<8} {:>22}   {:<17} {:>22}   {:>6}   wanted",
        "row", "", "median (95 %) in µs", "", "median (95 %) in µs", "ratio"
    );
    for (group, ours, theirs, wanted) in TABLE {
        let (Some(a), Some(b)) = (median(folder, group, ours), median(folder, group, theirs))
        else {
            continue;
        };
        let show = |[low, median, high]: [f64; 3]| {
            format!("{:.2} ({:.2}-{:.2})", median / 1e3, low / 1e3, high / 1e3)
        };
        println!(
            "{group:<26} {ours:<8} {:>22}   {theirs:<17} {:>22}   {:>6.2}   {wanted}",
            show(a),
            show(b),
            b[1] / a[1]
        );
    }
    for sessions in CONCURRENT {
        if let Some([_, median, _]) = median(folder, "concurrent_tokio_2", &sessions.to_string()) {
            let each = median / 1e3 / sessions as f64;
            println!("{sessions} sessions of 3 roles at once: {each:.2} µs for each");
        }
    }
    println!("ours: rumpsteak-runtime {}", env!("CARGO_PKG_VERSION"));
    println!("original: rumpsteak 0.1.0 over futures' unbounded mpsc");
}

/// The median of a benchmark in nanoseconds, between the bounds of its confidence interval.
fn median(folder: &Path, group: &str, name: &str) -> Option<[f64; 3]> {
    let path = folder.join(group).join(name).join("new/estimates.json");
    let estimates: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    let median = &estimates["median"];
    let interval = &median["confidence_interval"];
    Some([
        interval["lower_bound"].as_f64()?,
        median["point_estimate"].as_f64()?,
        interval["upper_bound"].as_f64()?,
    ])
}

/// How many turns each side of a ratio gets, and how long one is.
const TURNS: (usize, Duration) = (300, Duration::from_millis(2));

/// Benchmarks that take turns, each in its own thread. All threads but one wait.
struct Turns {
    row: &'static str,
    sides: Vec<(&'static str, Sender<u32>, Receiver<Duration>)>,
}

/// The counterpart of criterion's bencher: runs as often as it is told to, and returns the time.
struct Turn {
    orders: Receiver<u32>,
    times: Sender<Duration>,
}

impl Turns {
    fn new(row: &'static str) -> Self {
        Self { row, sides: vec![] }
    }

    fn bench_function(
        &mut self,
        name: &'static str,
        body: impl FnOnce(&mut Turn) + Send + 'static,
    ) {
        let (tell, orders) = channel();
        let (times, hear) = channel();
        std::thread::spawn(move || body(&mut Turn { orders, times }));
        self.sides.push((name, tell, hear));
    }

    /// Measures all sides, and prints how many times longer than the first the others take.
    fn finish(self, wanted: &str) {
        let once = |(_, tell, hear): &(_, Sender<u32>, Receiver<Duration>), count: u32| {
            // A side that has panicked has printed the reason.
            tell.send(count).ok()?;
            let time: Duration = hear.recv().ok()?;
            Some(time.as_secs_f64() / f64::from(count))
        };
        let mut sides = vec![];
        for side in &self.sides {
            // The first two warm it up.
            let warm = (0..3).fold(None, |_, _| once(side, 100));
            let Some(warm) = warm else { return };
            sides.push(((TURNS.1.as_secs_f64() / warm) as u32 + 1, vec![]));
        }
        for _ in 0..TURNS.0 {
            for (side, (count, times)) in self.sides.iter().zip(&mut sides) {
                times.extend(once(side, *count));
            }
        }
        for (_, times) in &mut sides {
            times.sort_by(f64::total_cmp);
        }
        let quartiles = |times: &[f64]| [1, 2, 3].map(|part| times[times.len() * part / 4] * 1e6);
        let Some((_, first)) = sides.first() else {
            return;
        };
        let [low, median, high] = quartiles(first);
        println!("{:<20} {:<10} {median:>8.2} ({low:.2}-{high:.2}) µs", self.row, self.sides[0].0);
        for ((name, ..), (_, times)) in self.sides.iter().zip(&sides).skip(1) {
            let [other_low, other, other_high] = quartiles(times);
            println!(
                "{:<20} {name:<10} {other:>8.2} ({other_low:.2}-{other_high:.2}) µs   ratio {:.2}, of the fastest quarters {:.2}   {wanted}",
                "",
                other / median,
                other_low / low,
            );
        }
    }
}

impl Turn {
    fn iter<T>(&mut self, mut run: impl FnMut() -> T) {
        self.iter_batched(|| (), |()| run(), criterion::BatchSize::SmallInput);
    }

    fn iter_batched<I, T>(
        &mut self,
        setup: impl FnMut() -> I,
        mut run: impl FnMut(I) -> T,
        _: criterion::BatchSize,
    ) {
        let mut inputs = std::iter::repeat_with(setup);
        while let Ok(count) = self.orders.recv() {
            let inputs: Vec<I> = inputs.by_ref().take(count as usize).collect();
            let start = Instant::now();
            for input in inputs {
                black_box(run(input));
            }
            if self.times.send(start.elapsed()).is_err() {
                return;
            }
        }
    }
}

/// The ring over cells. All places but the first do the same.
mod cells_ring {
    pub(super) use rumpsteak_benches::bare::ring::Stopped;
    pub(super) use rumpsteak_benches::cells::ring::{first, next as second, next as third};
}

/// The ratios against the original, in turns.
fn ratios() {
    use cells::streaming as bare_;
    use original::streaming as theirs_;
    use standard::streaming as ours_;

    println!(
        "in turns: median (quartiles); cells: two tasks that pass numbers through a word and a waker; \
         empty: two tasks that end at once"
    );
    let mut turns = Turns::new("streaming_tokio_1");
    stream_in_tasks!(turns, "ours", tokio_1(), ours(), ours_::source, ours_::sink);
    stream_in_tasks!(turns, "original", tokio_1(), theirs(), theirs_::source, theirs_::sink);
    stream_in_tasks!(turns, "cells", tokio_1(), bare_::pair(), bare_::source, bare_::sink);
    turns.finish("≥ 2");

    let mut turns = Turns::new("streaming_block_on");
    stream_in_one_task!(turns, "ours", ours(), ours_::source, ours_::sink);
    stream_in_one_task!(turns, "original", theirs(), theirs_::source, theirs_::sink);
    stream_in_one_task!(turns, "cells", bare_::pair(), bare_::source, bare_::sink);
    turns.finish("≥ 2.3");

    let mut turns = Turns::new("window_tokio_1");
    stream_in_tasks!(turns, "ours", tokio_1(), ours(), ours_::windowed_source, ours_::sink);
    stream_in_tasks!(turns, "plain", tokio_1(), theirs(), theirs_::source, theirs_::sink);
    stream_in_tasks!(
        turns,
        "original",
        tokio_1(),
        theirs(),
        theirs_::windowed_source,
        theirs_::sink
    );
    stream_in_tasks!(turns, "cells", tokio_1(), bare_::pair(), bare_::windowed_source, bare_::sink);
    turns.finish("of plain ≥ 3.5, of original ≥ 2");

    let mut turns = Turns::new("ring_block_on");
    ring_of_sessions!(turns, "ours", standard::ring, {
        let standard::ring::Roles { a, b, c } = Default::default();
        (a, b, c)
    });
    ring_of_sessions!(turns, "original", original::ring, {
        let original::ring::Roles(a, b, c) = Default::default();
        (a, b, c)
    });
    ring_of_sessions!(turns, "cells", cells_ring, cells::ring::places().into());
    turns.finish("≥ 2.3");

    let mut turns = Turns::new("runner_streaming");
    stream_in_runner!(turns, "ours", ours_::source);
    stream_in_tasks!(
        turns,
        "tasks of original",
        tokio_1(),
        theirs(),
        theirs_::source,
        theirs_::sink
    );
    turns.finish("≥ 5");

    let mut turns = Turns::new("streaming_tokio_2");
    stream_in_tasks!(turns, "ours", tokio_2(), ours(), ours_::source, ours_::sink);
    stream_in_tasks!(turns, "original", tokio_2(), theirs(), theirs_::source, theirs_::sink);
    stream_in_tasks!(turns, "cells", tokio_2(), bare_::pair(), bare_::source, bare_::sink);
    stream_in_tasks!(turns, "window", tokio_2(), ours(), ours_::windowed_source, ours_::sink);
    turns.bench_function("empty", |bencher| {
        let runtime = tokio_2();
        bencher.iter(|| {
            let done = runtime.block_on(async {
                tokio::try_join!(tokio::spawn(async {}), tokio::spawn(async {}))
            });
            assert!(done.is_ok());
        });
    });
    turns.finish("≥ 2");
}

/// For how long streams are measured under load, for each of the two.
const STALLS: Duration = Duration::from_secs(10);

/// Streams on two threads, one session after the other.
struct Streams<S, T> {
    runtime: Runtime,
    roles: Option<(Box<S>, Box<T>)>,
    times: Vec<Duration>,
}

/// Runs sessions for so long, and notes how long each takes.
macro_rules! stream_for {
    ($streams:expr, $duration:expr, $source:path, $sink:path) => {{
        let streams = &mut $streams;
        let until = Instant::now() + $duration;
        while Instant::now() < until {
            let Some((mut s, mut t)) = streams.roles.take() else {
                unreachable!("each session puts them back")
            };
            let start = Instant::now();
            let done = streams.runtime.block_on(async move {
                let source =
                    tokio::spawn(async move { ($source(&mut s, VALUES).await.is_ok(), s) });
                let sink = tokio::spawn(async move { ($sink(&mut t).await.ok(), t) });
                tokio::try_join!(source, sink)
            });
            streams.times.push(start.elapsed());
            let Ok(((sent, s), (sum, t))) = done else { panic!("a task panicked") };
            assert_eq!((sent, sum), (true, Some(expected())));
            streams.roles = Some((s, t));
        }
    }};
}

/// Prints how long single streams take on two threads while all cores are busy. The operating
/// system then interrupts all of them, so the question is if ours stall longer or more often than
/// the original's.
fn stalls() {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let Ok(this) = env::current_exe() else {
        println!("stalls: skipped, this program does not find itself");
        return;
    };
    for busy in [0, cores] {
        let mut loads: Vec<Child> =
            (0..busy).filter_map(|_| Command::new(&this).arg("load").spawn().ok()).collect();
        let (s, t) = ours();
        let mut our_streams =
            Streams { runtime: tokio_2(), roles: Some((Box::new(s), Box::new(t))), times: vec![] };
        let (s, t) = theirs();
        let mut their_streams =
            Streams { runtime: tokio_2(), roles: Some((Box::new(s), Box::new(t))), times: vec![] };
        // In turns, so that the noise of the machine hits both.
        let turns = 50;
        for _ in 0..turns {
            use original::streaming as theirs_;
            use standard::streaming as ours_;
            stream_for!(our_streams, STALLS / turns, ours_::source, ours_::sink);
            stream_for!(their_streams, STALLS / turns, theirs_::source, theirs_::sink);
        }
        for load in &mut loads {
            // It may have ended by itself.
            let _ = load.kill();
            let _ = load.wait();
        }
        println!("streams on two threads, {busy} busy processes beside them:");
        print_stalls("ours", our_streams.times);
        print_stalls("original", their_streams.times);
    }
}

fn print_stalls(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let (Some(&longest), Some(&median)) = (times.last(), times.get(times.len() / 2)) else {
        return;
    };
    let stalled = times.iter().filter(|&&time| time > 10 * median).count();
    println!(
        "  {name:<9} {:>7} sessions, median {:.1} µs, {stalled} above ten times the median ({:.3} %), longest {:.1} µs ({:.0} medians)",
        times.len(),
        median.as_secs_f64() * 1e6,
        100.0 * stalled as f64 / times.len() as f64,
        longest.as_secs_f64() * 1e6,
        longest.as_secs_f64() / median.as_secs_f64(),
    );
}

/// Works like a compiler: makes many small strings, sorts and drops them. Ends by itself after a
/// minute.
fn load() -> ! {
    let until = Instant::now() + Duration::from_secs(60);
    let mut seed = std::process::id();
    while Instant::now() < until {
        let mut names: Vec<String> = (0..20_000)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                format!("{seed:x}")
            })
            .collect();
        names.sort();
        black_box(names);
    }
    std::process::exit(0);
}

/// Prints the memory of a waiting session.
fn memory() {
    let sessions = CONCURRENT[CONCURRENT.len() - 1];
    let runtime = tokio_2();
    // Once before, so that the heap includes the runtime itself.
    finish(&runtime, idle(&runtime, 1));
    let Some(before) = resident() else {
        println!("memory of a session: skipped, there is no /proc/self/status");
        return;
    };
    let waiting = idle(&runtime, sessions);
    let after = resident().unwrap_or(before);
    println!(
        "{sessions} sessions that wait: {} bytes of resident memory for each, with its roles, channels and two tasks",
        after.saturating_sub(before) / sessions
    );
    finish(&runtime, waiting);
}

/// The resident memory of this process in bytes.
fn resident() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kibibytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}
