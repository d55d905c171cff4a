//! How many instructions the session layer costs, counted by callgrind: exact and repeatable where
//! times drown in the noise of the machine.
//!
//! `cargo bench -p rumpsteak-benches --bench instructions`
//!
//! The program runs itself under `valgrind --tool=callgrind`, each workload twice: once, and twice
//! as often. The difference is the cost of the workload without starting and warming up. Without
//! valgrind it says so.

#![allow(clippy::print_stdout, reason = "the report of a benchmark")]

use std::env;
use std::hint::black_box;
use std::process::{Command, ExitCode};

use futures::executor::block_on;
use futures::future::{try_join, try_join3};
use rumpsteak_benches::{bare, cells, original, standard, unbounded};
use rumpsteak_runtime::join;
use tokio::runtime::{Builder, Runtime};

/// How many values a session streams.
const VALUES: i32 = 50;

/// How often a workload runs, less the warm-up.
const TIMES: i32 = 500;

/// A table: its name, its unit, and its rows. The other rows are compared with the first.
const TABLE: [(&str, &str, Rows); 9] = [
    (
        "streaming of 50 values",
        "session",
        &[
            ("bare", bare_streaming),
            ("bare, exchangeable", exchangeable_streaming),
            ("bare, linear", linear_streaming),
            ("cells", cells_streaming),
            ("session", session_streaming),
            ("session, default channel", standard_streaming),
            ("rumpsteak 0.1", original_streaming),
        ],
    ),
    (
        "streaming of 50 values, window of 5",
        "session",
        &[
            ("bare", bare_windowed),
            ("bare, exchangeable", exchangeable_windowed),
            ("bare, linear", linear_windowed),
            ("session", session_windowed),
            ("session, default channel", standard_windowed),
            ("rumpsteak 0.1", original_windowed),
        ],
    ),
    (
        "streaming of 50 values on one thread of tokio",
        "session",
        &[
            ("rumpsteak 0.1, in tasks", original_tasks),
            ("cells, in tasks", cells_tasks),
            ("session, in tasks", standard_tasks),
            ("session, joined", standard_joined),
            ("session, by `run`", standard_run),
            ("window of 5, joined", standard_windowed_joined),
            ("the same, fresh roles", fresh_windowed_joined),
        ],
    ),
    (
        "roles of streaming, and of double buffering, made and dropped",
        "set",
        &[
            ("rumpsteak 0.1, streaming", original_roles),
            ("streaming", standard_roles),
            ("rumpsteak 0.1, buffers", original_buffers),
            ("buffers", standard_buffers),
        ],
    ),
    (
        "double buffering by fresh roles, two empty buffers",
        "session",
        &[("rumpsteak 0.1", original_buffering), ("session", standard_buffering)],
    ),
    (
        "the least session of three roles: begin, a message of each, end",
        "session",
        &[("reused", reused_lap), ("fresh", fresh_lap)],
    ),
    (
        "ring of three",
        "lap",
        &[
            ("bare", bare_ring),
            ("cells", cells_ring),
            ("session", session_ring),
            ("session, default channel", standard_ring),
            ("rumpsteak 0.1", original_ring),
        ],
    ),
    (
        "a line of one of two peers, joined",
        "8 lines",
        &[("in turn", in_turn_2), ("whoever is first", whoever_is_first_2)],
    ),
    (
        "a line of one of eight peers, joined",
        "8 lines",
        &[("in turn", in_turn_8), ("whoever is first", whoever_is_first_8)],
    ),
];

/// The name of a row, and its workload.
type Rows = &'static [(&'static str, Workload)];

/// Runs so often.
type Workload = fn(i32);

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    if let [_, command, table, row, times] = &arguments[..]
        && command == "run"
        && let (Ok(table), Ok(row), Ok(times)) = (table.parse(), row.parse(), times.parse())
    {
        return run(table, row, times);
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: there is no valgrind");
        return ExitCode::SUCCESS;
    }
    for (table, (name, unit, rows)) in TABLE.iter().enumerate() {
        println!("{name}: instructions for each {unit}");
        let mut floor = None;
        for (row, (name, _)) in rows.iter().enumerate() {
            let (Some(once), Some(twice)) =
                (count(table, row, TIMES), count(table, row, 2 * TIMES))
            else {
                println!("  {name:<26} valgrind failed");
                return ExitCode::FAILURE;
            };
            let cost = (twice - once) / f64::from(TIMES);
            let ratio = cost / *floor.get_or_insert(cost);
            println!("  {name:<26} {cost:>9.1}  {ratio:.3}");
        }
    }
    ExitCode::SUCCESS
}

fn run(table: usize, row: usize, times: i32) -> ExitCode {
    match TABLE.get(table).and_then(|(_, _, rows)| rows.get(row)) {
        Some((_, workload)) => {
            workload(times);
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    }
}

/// The instructions of a process that runs a workload so often.
fn count(table: usize, row: usize, times: i32) -> Option<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe().ok()?)
        .arg("run")
        .args([table.to_string(), row.to_string(), times.to_string()])
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let log = String::from_utf8(output.stderr).ok()?;
    let (_, count) = log.split_once("Collected : ")?;
    count.split_whitespace().next()?.parse().ok()
}

/// The expected sum of the sink: the count of a wrong answer is meaningless.
fn expected() -> i32 {
    (0..VALUES).sum()
}

/// Streams without sessions, so many values ahead.
macro_rules! bare_stream {
    ($name:ident, $module:ident, $ahead:literal) => {
        fn $name(times: i32) {
            let (mut s, mut t) = bare::$module::pair();
            for _ in 0..times {
                let source = bare::$module::source(&mut s, black_box(VALUES), $ahead);
                let sum = block_on(try_join(source, bare::$module::sink(&mut t)));
                assert_eq!(sum.map(|((), sum)| sum).ok(), Some(expected()));
            }
        }
    };
}

bare_stream!(bare_streaming, streaming, 0);
bare_stream!(bare_windowed, streaming, 5);
bare_stream!(exchangeable_streaming, exchangeable, 0);
bare_stream!(exchangeable_windowed, exchangeable, 5);
bare_stream!(linear_streaming, linear, 0);
bare_stream!(linear_windowed, linear, 5);

/// Streams with these roles and processes.
macro_rules! stream {
    ($times:ident, $roles:expr, $module:path, $source:ident) => {{
        use $module as workload;
        let (mut s, mut t) = $roles;
        for _ in 0..$times {
            let source = workload::$source(&mut s, black_box(VALUES));
            let sum = block_on(try_join(source, workload::sink(&mut t)));
            assert_eq!(sum.map(|((), sum)| sum).ok(), Some(expected()));
        }
    }};
}

/// The cost of waking one another, whatever the channel.
fn cells_streaming(times: i32) {
    stream!(times, cells::streaming::pair(), cells::streaming, source);
}

fn cells_ring(laps: i32) {
    let [mut a, mut b, mut c] = cells::ring::places();
    let stopped = block_on(try_join3(
        cells::ring::first(&mut a, laps),
        cells::ring::next(&mut b),
        cells::ring::next(&mut c),
    ));
    assert!(matches!(stopped, Err(bare::ring::Stopped::With(hops)) if hops == 3 * laps));
}

fn session_streaming(times: i32) {
    let unbounded::streaming::Roles { s, t } = Default::default();
    stream!(times, (s, t), unbounded::streaming, source);
}

fn session_windowed(times: i32) {
    let unbounded::streaming::Roles { s, t } = Default::default();
    stream!(times, (s, t), unbounded::streaming, windowed_source);
}

fn standard_streaming(times: i32) {
    let standard::streaming::Roles { s, t } = Default::default();
    stream!(times, (s, t), standard::streaming, source);
}

fn standard_windowed(times: i32) {
    let standard::streaming::Roles { s, t } = Default::default();
    stream!(times, (s, t), standard::streaming, windowed_source);
}

fn original_streaming(times: i32) {
    let original::streaming::Roles(s, t) = Default::default();
    stream!(times, (s, t), original::streaming, source);
}

fn original_windowed(times: i32) {
    let original::streaming::Roles(s, t) = Default::default();
    stream!(times, (s, t), original::streaming, windowed_source);
}

fn bare_ring(laps: i32) {
    let [mut a, mut b, mut c] = bare::ring::places();
    let stopped = block_on(try_join3(
        bare::ring::first(&mut a, laps),
        bare::ring::next(&mut b),
        bare::ring::next(&mut c),
    ));
    assert!(matches!(stopped, Err(bare::ring::Stopped::With(hops)) if hops == 3 * laps));
}

/// Goes round with these roles.
macro_rules! ring {
    ($laps:ident, $roles:expr, $module:path) => {{
        use $module as workload;
        let (mut a, mut b, mut c) = $roles;
        let stopped = block_on(try_join3(
            workload::first(&mut a, $laps),
            workload::second(&mut b),
            workload::third(&mut c),
        ));
        assert!(matches!(stopped, Err(workload::Stopped::With(hops)) if hops == 3 * $laps));
    }};
}

fn session_ring(laps: i32) {
    let unbounded::ring::Roles { a, b, c } = Default::default();
    ring!(laps, (a, b, c), unbounded::ring);
}

fn standard_ring(laps: i32) {
    let standard::ring::Roles { a, b, c } = Default::default();
    ring!(laps, (a, b, c), standard::ring);
}

fn original_ring(laps: i32) {
    let original::ring::Roles(a, b, c) = Default::default();
    ring!(laps, (a, b, c), original::ring);
}

/// Makes a set of roles so often.
macro_rules! roles {
    ($name:ident, $Roles:ty) => {
        fn $name(times: i32) {
            for _ in 0..times {
                drop(black_box(<$Roles>::default()));
            }
        }
    };
}

roles!(original_roles, original::streaming::Roles);
roles!(standard_roles, standard::streaming::Roles);
roles!(original_buffers, original::double_buffering::Roles);
roles!(standard_buffers, standard::double_buffering::Roles);

/// Passes two empty buffers on so often, each time by roles of their own.
fn original_buffering(times: i32) {
    use original::double_buffering::{Roles, kernel, sink, source};
    for _ in 0..times {
        let Roles(mut s, mut k, mut t) = Default::default();
        let source = source(&mut s, black_box([&[], &[]]));
        let received = block_on(try_join3(source, kernel(&mut k), sink(&mut t)));
        assert_eq!(received.ok().map(|(.., received)| received), Some(Default::default()));
    }
}

fn standard_buffering(times: i32) {
    use standard::double_buffering::{Roles, kernel, sink, source};
    for _ in 0..times {
        let Roles { mut s, mut k, mut t } = Default::default();
        let source = source(&mut s, black_box([&[], &[]]));
        let (.., received) = block_on(join((source, kernel(&mut k), sink(&mut t))));
        assert_eq!(received.ok(), Some(Default::default()));
    }
}

/// Begins a session of three roles, passes a message of each on, and ends it.
fn lap(standard::lap::Roles { a, b, c }: &mut standard::lap::Roles) {
    use standard::lap::{first, second, third};
    let done = block_on(try_join3(first(a, black_box(7)), second(b), third(c)));
    assert_eq!(done.ok(), Some((7, (), ())));
}

fn reused_lap(times: i32) {
    let mut roles = Default::default();
    (0..times).for_each(|_| lap(&mut roles));
}

fn fresh_lap(times: i32) {
    (0..times).for_each(|_| lap(&mut Default::default()));
}

/// Hears eight lines so often.
macro_rules! fan {
    ($name:ident, $module:ident, $is_in_turn:literal) => {
        fn $name(times: i32) {
            let mut roles = Default::default();
            let heard = standard::$module::hear(&mut roles, 8 * times, $is_in_turn);
            assert_eq!(block_on(heard), 8 * times);
        }
    };
}

fan!(in_turn_2, fan_2, true);
fan!(whoever_is_first_2, fan_2, false);
fan!(in_turn_8, fan_8, true);
fan!(whoever_is_first_8, fan_8, false);

/// Each process in a task of its own.
macro_rules! tasks {
    ($times:ident, $roles:expr, $module:path) => {{
        use $module as workload;
        let runtime = tokio_1();
        let (s, t) = $roles;
        // Tasks return their roles in a box, so that the size of a role does not matter.
        let (mut s, mut t) = (Box::new(s), Box::new(t));
        for _ in 0..$times {
            let source = runtime.spawn(async move {
                let sent = workload::source(&mut s, black_box(VALUES)).await.is_ok();
                (sent, s)
            });
            let sink = runtime.spawn(async move {
                let sum = workload::sink(&mut t).await.ok();
                (sum, t)
            });
            let Ok(((sent, s_), (sum, t_))) = runtime.block_on(try_join(source, sink)) else {
                panic!("a task panicked")
            };
            assert_eq!((sent, sum), (true, Some(expected())));
            (s, t) = (s_, t_);
        }
    }};
}

fn tokio_1() -> Runtime {
    Builder::new_current_thread().build().unwrap_or_else(|error| panic!("no runtime: {error}"))
}

fn cells_tasks(times: i32) {
    tasks!(times, cells::streaming::pair(), cells::streaming);
}

fn original_tasks(times: i32) {
    let original::streaming::Roles(s, t) = Default::default();
    tasks!(times, (s, t), original::streaming);
}

fn standard_tasks(times: i32) {
    let standard::streaming::Roles { s, t } = Default::default();
    tasks!(times, (s, t), standard::streaming);
}

fn standard_joined(times: i32) {
    let standard::streaming::Roles { mut s, mut t } = Default::default();
    let runtime = tokio_1();
    for _ in 0..times {
        let source = standard::streaming::source(&mut s, black_box(VALUES));
        let (sent, sum) = runtime.block_on(join((source, standard::streaming::sink(&mut t))));
        assert_eq!((sent.is_ok(), sum.ok()), (true, Some(expected())));
    }
}

/// The same as [`standard_joined`], by the method of the set.
fn standard_run(times: i32) {
    use standard::streaming::{Ready, Roles, Source, Stop, TSession, TValueChoice, Value};
    let (mut roles, runtime) = (Roles::default(), tokio_1());
    for _ in 0..times {
        let count = black_box(VALUES);
        let both = roles.run(
            async |mut s: Source<'_>| {
                for value in 0..count {
                    let (Ready, next) = s.receive().await?;
                    s = next.select(Value(value)).await?;
                }
                let (Ready, next) = s.receive().await?;
                next.select(Stop).await?.end(())
            },
            async |mut s: TSession<'_>| {
                let mut sum = 0;
                loop {
                    s = match s.send(Ready).await?.branch().await? {
                        TValueChoice::Value(Value(value), next) => {
                            sum += value;
                            next
                        }
                        TValueChoice::Stop(Stop, end) => return end.end(sum),
                    };
                }
            },
        );
        assert_eq!(runtime.block_on(both).ok(), Some(((), expected())));
    }
}

fn standard_windowed_joined(times: i32) {
    let mut roles = standard::streaming::Roles::default();
    let runtime = tokio_1();
    for _ in 0..times {
        windowed_joined(&runtime, &mut roles);
    }
}

fn fresh_windowed_joined(times: i32) {
    let runtime = tokio_1();
    for _ in 0..times {
        windowed_joined(&runtime, &mut Default::default());
    }
}

fn windowed_joined(runtime: &Runtime, roles: &mut standard::streaming::Roles) {
    let standard::streaming::Roles { s, t } = roles;
    let source = standard::streaming::windowed_source(s, black_box(VALUES));
    let (sent, sum) = runtime.block_on(join((source, standard::streaming::sink(t))));
    assert_eq!((sent.is_ok(), sum.ok()), (true, Some(expected())));
}
