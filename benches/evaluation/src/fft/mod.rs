//! The fast Fourier transform of an eight by n matrix (PPoPP'22, Fig. 6, right), by eight
//! processes.
//!
//! The processes over this project's runtime are in [`rumpsteak_examples::fft`]. The processes over
//! the peers work like its `plain` ones: the process that asks gives its row away, and the process
//! that answers does the arithmetic of both in place.

mod butterfly;
mod ferrite;
mod finished;
mod mpst;
mod original;

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use rumpsteak_examples::fft::{self as ours, Matrix, Order};
use rumpsteak_runtime::try_run;
use rustfft::algorithm::butterflies::Butterfly8;
use rustfft::num_complex::Complex32;
use rustfft::{Fft, FftDirection, FftPlanner};
use tokio::runtime::Runtime;

use self::butterfly::turn;
pub(crate) use self::butterfly::{butterfly, factor};
use self::finished::finished;
use crate::figure::{ours as ours_series, published};
use crate::tasks::{Second, empty_tasks, one_thread, two_threads};
use crate::{Case, Error, Figure, Mode, Of, Result, Series, XAxis, YAxis, queues};

const NAME: &str = "fig6-fft";

/// PPoPP'22, full version, App. C.1: values per microsecond.
const PUBLISHED: [(&str, [f64; 5]); 5] = [
    ("Sesh (published)", [0.551154, 1.050958, 1.510567, 1.935263, 2.303627]),
    ("MultiCrusty (published)", [0.810134, 1.515538, 2.163629, 2.783617, 3.261020]),
    ("Ferrite (published)", [1.458279, 2.513855, 3.496405, 4.198723, 4.811375]),
    ("RustFFT (published)", [9.320778, 9.313359, 9.333569, 9.336939, 9.323199]),
    ("Rumpsteak (published)", [5.038554, 7.206404, 8.421026, 9.262763, 9.316716]),
];

/// The figure.
#[must_use]
pub fn figures() -> Vec<Figure> {
    let series = |name, of, about| Series { name, of, about };
    let same = "the same; both sides of each exchange send before they receive";
    vec![Figure {
        name: NAME,
        title: "Fast Fourier transform",
        about: "PPoPP'22, Fig. 6, right: so many columns of eight values, by eight processes that hold a row each. Each run has fresh roles and channels and a copy of \
                its input, as in the paper.",
        x: XAxis {
            label: "columns",
            log: false,
            names: &[],
        },
        y: YAxis {
            label: "throughput (columns/µs)",
            log: true,
            scale: 1e-6,
        },
        series: [
            ours_series(same),
            vec![
            series(
                "plain, join, kept",
                Of::Ours,
                "the processes in one task; the roles are kept from run to run, as what the planner makes is",
            ),
            series(
                "plain, kept, two threads",
                Of::Ours,
                "the same, for each half of the columns on a thread of its own; both wait awake",
            ),
            series(
                "arithmetic alone",
                Of::Floor,
                "the butterflies of the processes, one after the other, without messages",
            ),
            series(
                "bare queues, join",
                Of::Floor,
                "eight processes without sessions, in one task: an atomic exchange for each message",
            ),
            series(
                "bare queues, two threads",
                Of::Floor,
                "the same, for each half of the columns on a thread of its own; both wait awake",
            ),
            series(
                "planner, two threads",
                Of::Floor,
                "`rustfft`, planner, for each half of the columns on a thread of its own; both wait awake",
            ),
            series(
                "empty tasks, tokio 2",
                Of::Floor,
                "two tasks that end at once, as if they had transformed so many columns",
            ),
            series(
                "rumpsteak 0.1, tokio 1",
                Of::Peer,
                "a task for each process, one thread",
            ),
            series(
                "rumpsteak 0.1, tokio 2",
                Of::Peer,
                "a task for each process, two threads",
            ),
            series(
                "ferrite-session, tokio 1",
                Of::Peer,
                "binary sessions, stage after stage; one thread",
            ),
            series(
                "ferrite-session, tokio 2",
                Of::Peer,
                "the same; two threads",
            ),
            series("mpstthree", Of::Peer, "it starts a thread for each role"),
            series(
                "rustfft, as in the paper",
                Of::Peer,
                "`Butterfly8` over one column after the other, one thread, without messages",
            ),
            series(
                "rustfft, planner",
                Of::Peer,
                "the algorithm that `FftPlanner` chooses for this processor, one thread, without messages",
            ),
            ],
        ]
        .concat()
        .into_iter()
        .chain(published([1_000, 2_000, 3_000, 4_000, 5_000], &PUBLISHED))
        .collect(),
        points: |mode| match mode {
            Mode::Quick => vec![1_000, 3_000, 5_000, 20_000],
            Mode::Full => vec![1_000, 2_000, 3_000, 4_000, 5_000, 20_000],
        },
        cases,
        notes: "`rustfft` has each column's values side by side, the processes each row's. All processes, over the peers too, do their arithmetic by one function, with the \
                vectors of the processor at hand, as `rustfft` does. `ferrite-session` has no sessions of more than two: all processes wait for \
                one another between the three stages, and nothing checks that this is free of deadlocks. Neither it nor `mpstthree` can express the optimised order.",
    }]
}

/// The number in row `row` and column `column` of the input.
fn element(row: usize, column: usize) -> Complex32 {
    let number = (row * 31 + column * 17) % 101;
    Complex32::new(number as f32 - 50.0, (number * number % 97) as f32 - 48.0)
}

/// The input by rows.
fn rows(columns: usize) -> Arc<Matrix> {
    Arc::new(std::array::from_fn(|row| (0..columns).map(|column| element(row, column)).collect()))
}

/// The input by columns, one after the other.
fn columns(columns: usize) -> Arc<[Complex32]> {
    (0..columns).flat_map(|column| (0..8).map(move |row| element(row, column))).collect()
}

/// Checks the transform of some columns, or of all of them, by the definition of the transform.
fn check(columns: usize, is_first: bool, output: impl Fn(usize, usize) -> Complex32) -> Result<()> {
    let step = if is_first { 1 } else { (columns / 4).max(1) };
    for column in (0..columns).step_by(step) {
        for row in 0..8 {
            let expected: Complex32 =
                (0..8).map(|from| element(from, column) * turn(row * from % 8, 4)).sum();
            if (output(row, column) - expected).norm() > 1e-2 {
                return Err(Error::wrong(format!("row {row} of column {column} is another")));
            }
        }
    }
    Ok(())
}

/// The processes of this project as tasks of a runtime.
macro_rules! in_tasks {
    ($runtime:expr, $rows:expr, $processes:ident) => {{
        use ours::$processes::{processes::Roles, *};
        let [x0, x1, x2, x3, x4, x5, x6, x7] = ours::begin($rows);
        let Roles { p0, p1, p2, p3, p4, p5, p6, p7 } = Default::default();
        macro_rules! start {
            ($process:ident, $role:ident, $row:ident) => {
                tokio::spawn(async move {
                    let mut role = $role;
                    try_run(&mut role, |s| $process(s, $row)).await.map_err(Error::wrong)
                })
            };
        }
        $runtime.block_on(async move {
            let tasks = [
                start!(process0, p0, x0),
                start!(process1, p1, x1),
                start!(process2, p2, x2),
                start!(process3, p3, x3),
                start!(process4, p4, x4),
                start!(process5, p5, x5),
                start!(process6, p6, x6),
                start!(process7, p7, x7),
            ];
            finished(tasks).await
        })
    }};
}

/// Half of the columns on each of two threads, each with its own worker; `element` is the number in
/// a row and a column of a half.
fn in_halves<O: Send + 'static>(
    series: &'static str,
    x: u64,
    mode: Mode,
    [first, mut second]: [impl FnMut(Range<usize>) -> Result<O> + Send + 'static; 2],
    element: fn(&O, usize, usize) -> Complex32,
) -> Result<Case> {
    let count = usize::try_from(x).map_err(Error::wrong)?;
    let half = count.div_ceil(2);
    let (thread, mut is_first) = (Second::new(first), true);
    Ok(Case::throughput(NAME, series, x, mode, x, move || {
        let (lower, upper) = thread.beside(0..half, || second(half..count))?;
        let output = black_box([lower?, upper?]);
        check(count, std::mem::take(&mut is_first), |row, column| {
            element(&output[column / half], row, column % half)
        })
    }))
}

/// Some columns of the rows.
fn part(rows: &Matrix, columns: Range<usize>) -> Matrix {
    black_box(rows).each_ref().map(|row| row[columns.clone()].to_vec())
}

/// The results of the processes, from their first rows.
fn arithmetic(mut rows: Matrix) -> Matrix {
    for stage in 0..3 {
        let distance = 1 << stage;
        for asks in (0..8).filter(|number| number & distance == 0) {
            let (before, after) = rows.split_at_mut(asks + distance);
            butterfly(&mut before[asks], &mut after[0], factor(asks + distance, stage));
        }
    }
    rows
}

fn cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    type OnRuntime = Box<dyn FnMut(&Runtime, Matrix) -> Result<Matrix>>;

    let count = usize::try_from(x).map_err(Error::wrong)?;
    let (by_rows, by_columns) = (rows(count), columns(count));
    let processes = |series, mut run: Box<dyn FnMut(Matrix) -> Result<Matrix>>| {
        let (rows, mut is_first) = (by_rows.clone(), true);
        Case::throughput(NAME, series, x, mode, x, move || {
            let output = black_box(run(black_box(&*rows).clone())?);
            if output.iter().any(|row| row.len() != count) {
                return Err(Error::wrong("a row has another length"));
            }
            check(count, std::mem::take(&mut is_first), |row, column| output[row][column])
        })
    };
    let on = |series, runtime: Result<Runtime>, mut run: OnRuntime| {
        let runtime = runtime?;
        Ok::<_, Error>(processes(series, Box::new(move |rows| run(&runtime, rows))))
    };
    let alone = |series, algorithm: Arc<dyn Fft<f32>>| {
        let (values, mut is_first) = (by_columns.clone(), true);
        let mut scratch = vec![Complex32::ZERO; algorithm.get_inplace_scratch_len()];
        Case::throughput(NAME, series, x, mode, x, move || {
            let mut output = black_box(&*values).to_vec();
            algorithm.process_with_scratch(&mut output, &mut scratch);
            let output = black_box(output);
            check(count, std::mem::take(&mut is_first), |row, column| output[8 * column + row])
        })
    };
    let kept_half = || {
        let (rows, runtime, mut roles) = (by_rows.clone(), one_thread()?, ours::Roles::default());
        Ok::<_, Error>(move |columns| {
            let run = ours::run(&mut roles, part(&rows, columns), Order::Plain);
            runtime.block_on(run).map_err(Error::wrong)
        })
    };
    let bare_half = || {
        let (rows, runtime) = (by_rows.clone(), one_thread()?);
        Ok::<_, Error>(move |columns| {
            Ok(runtime.block_on(queues::transform(ours::begin(part(&rows, columns)))))
        })
    };
    let planner_half = || {
        let (values, algorithm) = (by_columns.clone(), FftPlanner::new().plan_fft_forward(8));
        let mut scratch = vec![Complex32::ZERO; algorithm.get_inplace_scratch_len()];
        move |columns: Range<usize>| {
            let mut half = black_box(&*values)[8 * columns.start..8 * columns.end].to_vec();
            algorithm.process_with_scratch(&mut half, &mut scratch);
            Ok(half)
        }
    };
    let run = |runtime: &Runtime, rows, order| {
        let mut roles = ours::Roles::default();
        runtime.block_on(ours::run(&mut roles, rows, order)).map_err(Error::wrong)
    };
    Ok(vec![
        on(
            "plain, join",
            one_thread(),
            Box::new(move |runtime, rows| run(runtime, rows, Order::Plain)),
        )?,
        on(
            "optimised, join",
            one_thread(),
            Box::new(move |runtime, rows| run(runtime, rows, Order::Optimised)),
        )?,
        on(
            "plain, tokio 1",
            one_thread(),
            Box::new(|runtime, rows| in_tasks!(runtime, rows, plain)),
        )?,
        on(
            "optimised, tokio 1",
            one_thread(),
            Box::new(|runtime, rows| in_tasks!(runtime, rows, optimised)),
        )?,
        on(
            "plain, tokio 2",
            two_threads(),
            Box::new(|runtime, rows| in_tasks!(runtime, rows, plain)),
        )?,
        on(
            "optimised, tokio 2",
            two_threads(),
            Box::new(|runtime, rows| in_tasks!(runtime, rows, optimised)),
        )?,
        on(
            "plain, join, kept",
            one_thread(),
            Box::new({
                let mut roles = ours::Roles::default();
                move |runtime, rows| {
                    let run = ours::run(&mut roles, rows, Order::Plain);
                    runtime.block_on(run).map_err(Error::wrong)
                }
            }),
        )?,
        in_halves(
            "plain, kept, two threads",
            x,
            mode,
            [kept_half()?, kept_half()?],
            |half, row, column| half[row][column],
        )?,
        processes("arithmetic alone", Box::new(|rows| Ok(arithmetic(ours::begin(rows))))),
        on(
            "bare queues, join",
            one_thread(),
            Box::new(|runtime, rows| Ok(runtime.block_on(queues::transform(ours::begin(rows))))),
        )?,
        in_halves(
            "bare queues, two threads",
            x,
            mode,
            [bare_half()?, bare_half()?],
            |half, row, column| half[row][column],
        )?,
        in_halves(
            "planner, two threads",
            x,
            mode,
            [planner_half(), planner_half()],
            |half, row, column| half[8 * column + row],
        )?,
        {
            let runtime = two_threads()?;
            Case::throughput(NAME, "empty tasks, tokio 2", x, mode, x, move || {
                empty_tasks(&runtime)
            })
        },
        on(
            "rumpsteak 0.1, tokio 1",
            one_thread(),
            Box::new(|runtime, rows| runtime.block_on(original::run(ours::begin(rows)))),
        )?,
        on(
            "rumpsteak 0.1, tokio 2",
            two_threads(),
            Box::new(|runtime, rows| runtime.block_on(original::run(ours::begin(rows)))),
        )?,
        on(
            "ferrite-session, tokio 1",
            one_thread(),
            Box::new(|runtime, rows| runtime.block_on(ferrite::run(ours::begin(rows)))),
        )?,
        on(
            "ferrite-session, tokio 2",
            two_threads(),
            Box::new(|runtime, rows| runtime.block_on(ferrite::run(ours::begin(rows)))),
        )?,
        processes("mpstthree", Box::new(|rows| mpst::run(ours::begin(rows)))),
        alone("rustfft, as in the paper", Arc::new(Butterfly8::new(FftDirection::Forward))),
        alone("rustfft, planner", FftPlanner::new().plan_fft_forward(8)),
    ])
}
