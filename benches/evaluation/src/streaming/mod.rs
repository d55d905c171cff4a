//! Streaming (PPoPP'22, Fig. 6, left): a sink asks for each value, and a source sends one or stops.

mod ferrite;
mod mpst;

use futures::future::try_join;
use rumpsteak_benches::{bare, cells, original, standard};
use rumpsteak_runtime::join;
use std::hint::black_box;
use tokio::runtime::Runtime;

use crate::figure::{ours as ours_series, published};
use crate::tasks::{empty_tasks, expect, one_thread, two_threads};
use crate::{Case, Error, Figure, Mode, Of, Result, Series, XAxis, YAxis, queues};

const NAME: &str = "fig6-streaming";

/// PPoPP'22, full version, App. C.1: values per microsecond.
const PUBLISHED: [(&str, [f64; 5]); 5] = [
    ("Sesh (published)", [0.019389, 0.028142, 0.034193, 0.036566, 0.040315]),
    ("MultiCrusty (published)", [0.011678, 0.014325, 0.015160, 0.016072, 0.016577]),
    ("Ferrite (published)", [0.011386, 0.012994, 0.013463, 0.013671, 0.014126]),
    ("Rumpsteak (published)", [0.202587, 0.336988, 0.427489, 0.488886, 0.545378]),
    ("Rumpsteak, optimised (published)", [0.215583, 0.356978, 0.437795, 0.517468, 0.583366]),
];

/// The figure.
#[must_use]
pub fn figures() -> Vec<Figure> {
    let series = |name, of, about| Series { name, of, about };
    vec![Figure {
        name: NAME,
        title: "Streaming",
        about: "PPoPP'22, Fig. 6, left. Each run has fresh roles and channels, as in the paper.",
        x: XAxis { label: "values", log: false, names: &[] },
        y: YAxis { label: "throughput (values/µs)", log: true, scale: 1e-6 },
        series: [
            ours_series("the same; the source is five values ahead"),
            vec![
                series(
                    "bare channel, tokio 1",
                    Of::Floor,
                    "futures' unbounded channel without sessions",
                ),
                series(
                    "bare queues, join",
                    Of::Floor,
                    "both processes without sessions, in one task: an atomic exchange for each message",
                ),
                series(
                    "bare queues ahead, join",
                    Of::Floor,
                    "the same; the source is five values ahead",
                ),
                series(
                    "cells, tokio 1",
                    Of::Floor,
                    "as little as two tasks can do that wait for each other: a number and a waker in each direction",
                ),
                series(
                    "cells ahead, tokio 1",
                    Of::Floor,
                    "the same, with room for several numbers; the source is five values ahead",
                ),
                series(
                    "empty tasks, tokio 2",
                    Of::Floor,
                    "two tasks that end at once, as if they had streamed so many values",
                ),
                series(
                    "rumpsteak 0.1, one task",
                    Of::Peer,
                    "both processes in one task, by `try_join`, as in the paper",
                ),
                series("rumpsteak 0.1, tokio 1", Of::Peer, "a task for each process, one thread"),
                series(
                    "rumpsteak 0.1 optimised, tokio 1",
                    Of::Peer,
                    "the same; the source is five values ahead",
                ),
                series("rumpsteak 0.1, tokio 2", Of::Peer, "a task for each process, two threads"),
                series("ferrite-session, tokio 1", Of::Peer, "it starts its own tasks; one thread"),
                series(
                    "ferrite-session, tokio 2",
                    Of::Peer,
                    "it starts its own tasks; two threads",
                ),
                series("mpstthree", Of::Peer, "it starts a thread for each role"),
            ],
        ]
        .concat()
        .into_iter()
        .chain(published([10, 20, 30, 40, 50], &PUBLISHED))
        .collect(),
        points: |mode| match mode {
            Mode::Quick => vec![10, 30, 50],
            Mode::Full => vec![10, 20, 30, 40, 50],
        },
        cases,
        notes: "Neither `ferrite-session` nor `mpstthree` can express the optimised source.",
    }]
}

/// Both processes as tasks of a runtime. Each task owns its role.
macro_rules! in_tasks {
    ($runtime:expr, $roles:expr, $source:path, $sink:path, $count:expr) => {{
        let (mut s, mut t) = $roles;
        let count = $count;
        $runtime.block_on(async move {
            let source =
                tokio::spawn(async move { $source(&mut s, count).await.map_err(Error::wrong) });
            let sink = tokio::spawn(async move { $sink(&mut t).await.map_err(Error::wrong) });
            source.await.map_err(Error::wrong)??;
            sink.await.map_err(Error::wrong)?
        })
    }};
}

fn ours() -> (standard::streaming::S, standard::streaming::T) {
    let standard::streaming::Roles { s, t } = Default::default();
    (s, t)
}

fn theirs() -> (original::streaming::S, original::streaming::T) {
    let original::streaming::Roles(s, t) = Default::default();
    (s, t)
}

/// The sum of the streamed values, which the sink must have computed.
fn total(count: i32) -> i32 {
    (0..count).sum()
}

fn cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    type OnRuntime = Box<dyn FnMut(&Runtime) -> Result<i32>>;

    let count = i32::try_from(x).map_err(Error::wrong)?;
    let case = |series, mut run: Box<dyn FnMut() -> Result<i32>>| {
        Case::throughput(NAME, series, x, mode, x, move || {
            expect(&black_box(run()?), &total(count))
        })
    };
    let on = |series, runtime: Result<Runtime>, mut run: OnRuntime| {
        let runtime = runtime?;
        Ok::<_, Error>(case(series, Box::new(move || run(&runtime))))
    };
    use original::streaming as theirs_;
    use standard::streaming as ours_;
    Ok(vec![
        on(
            "plain, join",
            one_thread(),
            Box::new(move |runtime| {
                let (mut s, mut t) = ours();
                let both = join((ours_::source(&mut s, black_box(count)), ours_::sink(&mut t)));
                let (sent, sum) = runtime.block_on(both);
                sent.and(sum).map_err(Error::wrong)
            }),
        )?,
        on(
            "optimised, join",
            one_thread(),
            Box::new(move |runtime| {
                let (mut s, mut t) = ours();
                let both =
                    join((ours_::windowed_source(&mut s, black_box(count)), ours_::sink(&mut t)));
                let (sent, sum) = runtime.block_on(both);
                sent.and(sum).map_err(Error::wrong)
            }),
        )?,
        on(
            "plain, tokio 1",
            one_thread(),
            Box::new(move |runtime| {
                in_tasks!(runtime, ours(), ours_::source, ours_::sink, black_box(count))
            }),
        )?,
        on(
            "optimised, tokio 1",
            one_thread(),
            Box::new(move |runtime| {
                in_tasks!(runtime, ours(), ours_::windowed_source, ours_::sink, black_box(count))
            }),
        )?,
        on(
            "plain, tokio 2",
            two_threads(),
            Box::new(move |runtime| {
                in_tasks!(runtime, ours(), ours_::source, ours_::sink, black_box(count))
            }),
        )?,
        on(
            "optimised, tokio 2",
            two_threads(),
            Box::new(move |runtime| {
                in_tasks!(runtime, ours(), ours_::windowed_source, ours_::sink, black_box(count))
            }),
        )?,
        on(
            "bare channel, tokio 1",
            one_thread(),
            Box::new(move |runtime| {
                let (mut s, mut t) = bare::streaming::pair();
                let count = black_box(count);
                runtime.block_on(async move {
                    let source =
                        tokio::spawn(
                            async move { bare::streaming::source(&mut s, count, 0).await },
                        );
                    let sink = tokio::spawn(async move { bare::streaming::sink(&mut t).await });
                    let broken = |_| Error::wrong("a channel broke");
                    source.await.map_err(Error::wrong)?.map_err(broken)?;
                    sink.await.map_err(Error::wrong)?.map_err(broken)
                })
            }),
        )?,
        on(
            "bare queues, join",
            one_thread(),
            Box::new(move |runtime| Ok(runtime.block_on(queues::stream(black_box(count), 0)))),
        )?,
        on(
            "bare queues ahead, join",
            one_thread(),
            Box::new(move |runtime| Ok(runtime.block_on(queues::stream(black_box(count), 5)))),
        )?,
        on(
            "cells, tokio 1",
            one_thread(),
            Box::new(move |runtime| {
                use cells::streaming::{pair, sink, source};
                in_tasks!(runtime, pair(), source, sink, black_box(count))
            }),
        )?,
        on(
            "cells ahead, tokio 1",
            one_thread(),
            Box::new(move |runtime| {
                use cells::streaming::{pair, sink, windowed_source};
                in_tasks!(runtime, pair(), windowed_source, sink, black_box(count))
            }),
        )?,
        on(
            "empty tasks, tokio 2",
            two_threads(),
            Box::new(move |runtime| empty_tasks(runtime).map(|()| total(count))),
        )?,
        on(
            "rumpsteak 0.1, one task",
            one_thread(),
            Box::new(move |runtime| {
                let (mut s, mut t) = theirs();
                let both =
                    try_join(theirs_::source(&mut s, black_box(count)), theirs_::sink(&mut t));
                runtime.block_on(both).map(|((), sum)| sum).map_err(Error::wrong)
            }),
        )?,
        on(
            "rumpsteak 0.1, tokio 1",
            one_thread(),
            Box::new(move |runtime| {
                in_tasks!(runtime, theirs(), theirs_::source, theirs_::sink, black_box(count))
            }),
        )?,
        on(
            "rumpsteak 0.1 optimised, tokio 1",
            one_thread(),
            Box::new(move |runtime| {
                in_tasks!(
                    runtime,
                    theirs(),
                    theirs_::windowed_source,
                    theirs_::sink,
                    black_box(count)
                )
            }),
        )?,
        on(
            "rumpsteak 0.1, tokio 2",
            two_threads(),
            Box::new(move |runtime| {
                in_tasks!(runtime, theirs(), theirs_::source, theirs_::sink, black_box(count))
            }),
        )?,
        on(
            "ferrite-session, tokio 1",
            one_thread(),
            Box::new(move |runtime| {
                Ok(runtime.block_on(ferrite::stream(black_box(count))).iter().sum())
            }),
        )?,
        on(
            "ferrite-session, tokio 2",
            two_threads(),
            Box::new(move |runtime| {
                Ok(runtime.block_on(ferrite::stream(black_box(count))).iter().sum())
            }),
        )?,
        case("mpstthree", Box::new(move || Ok(mpst::stream(black_box(count))?.iter().sum()))),
    ])
}
