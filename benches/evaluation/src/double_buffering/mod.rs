//! Double buffering (PPoPP'22, Fig. 6, middle): a kernel passes two buffers from a source to a
//! sink.

mod ferrite;
mod kernels;
pub(crate) mod mpst;
pub(crate) mod oneshot;
mod original;
pub mod ours;
mod work;

use std::hint::black_box;
use std::sync::Arc;

use futures::future::try_join3;
use futures::{SinkExt as _, StreamExt as _};
use rumpsteak_benches::original::double_buffering as theirs;
use rumpsteak_runtime::channel::QueueSender;
use rumpsteak_runtime::transport::Pair as _;
use tokio::runtime::Runtime;

pub(crate) use self::kernels::{Kernel, check, halves, pass_on_in_threads, values};
use crate::figure::{ours as ours_series, published};
use crate::tasks::{no_pause, one_thread, two_threads};
use crate::{Case, Error, Figure, Mode, Of, Result, Series, XAxis, YAxis, queues};

const NAME: &str = "fig6-double-buffering";

/// PPoPP'22, full version, App. C.1: values per microsecond.
const PUBLISHED: [(&str, [f64; 5]); 5] = [
    ("Sesh (published)", [6.929567, 13.138401, 18.739983, 24.103215, 28.609966]),
    ("MultiCrusty (published)", [5.675414, 11.254181, 16.187341, 20.481378, 25.050058]),
    ("Ferrite (published)", [7.617643, 14.649028, 20.429845, 25.506427, 29.629025]),
    ("Rumpsteak (published)", [27.704354, 44.154722, 56.813002, 67.595301, 75.848611]),
    ("Rumpsteak, optimised (published)", [32.340989, 50.126532, 67.884430, 82.039366, 96.010424]),
];

/// Both.
#[must_use]
pub fn figures() -> Vec<Figure> {
    vec![without_work(), work::figure()]
}

fn without_work() -> Figure {
    let series = |name, of, about| Series { name, of, about };
    let same = "the same; the kernel asks for both buffers at once";
    Figure {
        name: NAME,
        title: "Double buffering",
        about: "PPoPP'22, Fig. 6, middle: so many values in two buffers, which the source copies. Each run has fresh roles and channels, as in the paper.",
        x: XAxis { label: "values in both buffers", log: false, names: &[] },
        y: YAxis { label: "throughput (values/µs)", log: true, scale: 1e-6 },
        series: [
            ours_series(same),
            vec![
                series("plain, threads", Of::Ours, "a thread for each role, which each run starts"),
                series("optimised, threads", Of::Ours, same),
                series(
                    "copies alone",
                    Of::Floor,
                    "both buffers are copied and dropped, without messages",
                ),
                series(
                    "bare queues, join",
                    Of::Floor,
                    "the processes without sessions, in one task: an atomic exchange for each message",
                ),
                series(
                    "the runtime's queues, join",
                    Of::Floor,
                    "the same processes over fresh queues of the kind that our routes have: no roles, sessions or labels",
                ),
                series(
                    "rumpsteak 0.1, one task",
                    Of::Peer,
                    "the processes in one task, by `try_join`, as in the paper",
                ),
                series("rumpsteak 0.1 optimised, one task", Of::Peer, same),
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
        .chain(published([5_000, 10_000, 15_000, 20_000, 25_000], &PUBLISHED))
        .collect(),
        points: |mode| match mode {
            Mode::Quick => vec![5_000, 15_000, 25_000],
            Mode::Full => vec![5_000, 10_000, 15_000, 20_000, 25_000],
        },
        cases,
        notes: "Neither `ferrite-session` nor `mpstthree` can express the optimised kernel: the session between kernel and source would have to receive in \
                another order than its dual sends. `ferrite-session` does not check that the kernel's two sessions together are free of deadlocks.",
    }
}

/// The processes as tasks of a runtime.
macro_rules! in_tasks {
    ($runtime:expr, $roles:expr, |$s:ident, $k:ident, $t:ident| $source:expr, $kernel:expr, $sink:expr) => {{
        let (mut $s, mut $k, mut $t) = $roles;
        $runtime.block_on(async move {
            let source = tokio::spawn(async move { $source.await.map_err(Error::wrong) });
            let kernel = tokio::spawn(async move { $kernel.await.map_err(Error::wrong) });
            let sink = tokio::spawn(async move { $sink.await.map_err(Error::wrong) });
            source.await.map_err(Error::wrong)??;
            kernel.await.map_err(Error::wrong)??;
            sink.await.map_err(Error::wrong)?
        })
    }};
}

fn our_roles() -> (ours::S, ours::K, ours::T) {
    let ours::Roles { s, k, t } = Default::default();
    (s, k, t)
}

fn theirs() -> (theirs::S, theirs::K, theirs::T) {
    let theirs::Roles(s, k, t) = Default::default();
    (s, k, t)
}

/// Passes copies of both buffers on as the roles do, but only by the queues of their routes.
async fn over_the_queues_of_roles(buffers: [&[i32]; 2]) -> Option<[Vec<i32>; 2]> {
    let (mut ask_s, mut asked_s) = QueueSender::pair();
    let (mut ask_k, mut asked_k) = QueueSender::pair();
    let (mut to_k, mut from_s) = QueueSender::pair();
    let (mut to_t, mut from_k) = QueueSender::pair();
    let source = async {
        for buffer in buffers {
            asked_s.next().await?;
            to_k.feed(buffer.to_vec()).await.ok()?;
        }
        Some(())
    };
    let kernel = async {
        for _ in buffers {
            ask_s.feed(()).await.ok()?;
            let copy = from_s.next().await?;
            asked_k.next().await?;
            to_t.feed(copy).await.ok()?;
        }
        Some(())
    };
    let sink = async {
        ask_k.feed(()).await.ok()?;
        let first = from_k.next().await?;
        ask_k.feed(()).await.ok()?;
        Some([first, from_k.next().await?])
    };
    let (sent, passed, received) = rumpsteak_runtime::join((source, kernel, sink)).await;
    sent.and(passed).and(received)
}

fn in_threads(values: &[i32], kernel: Kernel) -> Result<Vec<Vec<i32>>> {
    let mut roles = ours::Roles::default();
    pass_on_in_threads(&mut roles, halves(values), kernel, no_pause).map(Vec::from)
}

fn cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let values = values(usize::try_from(x).map_err(Error::wrong)?);
    type Run = Box<dyn FnMut(&Arc<[i32]>) -> Result<Vec<Vec<i32>>>>;
    type OnRuntime = Box<dyn FnMut(&Runtime, &Arc<[i32]>) -> Result<[Vec<i32>; 2]>>;
    let case = |series, mut run: Run| {
        let values = values.clone();
        let mut is_first = true;
        Case::throughput(NAME, series, x, mode, x, move || {
            let received = black_box(run(black_box(&values))?);
            check(&received, &values, std::mem::take(&mut is_first))
        })
    };
    let one = || one_thread();
    let on = |series, runtime: Result<Runtime>, mut run: OnRuntime| {
        let runtime = runtime?;
        let run: Run = Box::new(move |values| Ok(run(&runtime, values)?.into()));
        Ok::<_, Error>(case(series, run))
    };
    Ok(vec![
        on(
            "plain, join",
            one(),
            Box::new(|runtime, values| {
                let (mut s, mut k, mut t) = our_roles();
                let (source, kernel) = (
                    ours::source(&mut s, halves(values), no_pause),
                    ours::kernel(&mut k, no_pause),
                );
                let (sent, passed, received) =
                    runtime.block_on(rumpsteak_runtime::join((source, kernel, ours::sink(&mut t))));
                sent.and(passed).and(received).map_err(Error::wrong)
            }),
        )?,
        on(
            "optimised, join",
            one(),
            Box::new(|runtime, values| {
                let (mut s, mut k, mut t) = our_roles();
                let (source, kernel) = (
                    ours::source(&mut s, halves(values), no_pause),
                    ours::optimised_kernel(&mut k, no_pause),
                );
                let (sent, passed, received) =
                    runtime.block_on(rumpsteak_runtime::join((source, kernel, ours::sink(&mut t))));
                sent.and(passed).and(received).map_err(Error::wrong)
            }),
        )?,
        on(
            "plain, tokio 1",
            one(),
            Box::new(|runtime, values| {
                let values = values.clone();
                in_tasks!(
                    runtime,
                    our_roles(),
                    |s, k, t| ours::source(&mut s, halves(&values), no_pause),
                    ours::kernel(&mut k, no_pause),
                    ours::sink(&mut t)
                )
            }),
        )?,
        on(
            "optimised, tokio 1",
            one(),
            Box::new(|runtime, values| {
                let values = values.clone();
                in_tasks!(
                    runtime,
                    our_roles(),
                    |s, k, t| ours::source(&mut s, halves(&values), no_pause),
                    ours::optimised_kernel(&mut k, no_pause),
                    ours::sink(&mut t)
                )
            }),
        )?,
        on(
            "plain, tokio 2",
            two_threads(),
            Box::new(|runtime, values| {
                let values = values.clone();
                in_tasks!(
                    runtime,
                    our_roles(),
                    |s, k, t| ours::source(&mut s, halves(&values), no_pause),
                    ours::kernel(&mut k, no_pause),
                    ours::sink(&mut t)
                )
            }),
        )?,
        on(
            "optimised, tokio 2",
            two_threads(),
            Box::new(|runtime, values| {
                let values = values.clone();
                in_tasks!(
                    runtime,
                    our_roles(),
                    |s, k, t| ours::source(&mut s, halves(&values), no_pause),
                    ours::optimised_kernel(&mut k, no_pause),
                    ours::sink(&mut t)
                )
            }),
        )?,
        case("plain, threads", Box::new(|values| in_threads(values, Kernel::Plain))),
        case("optimised, threads", Box::new(|values| in_threads(values, Kernel::Optimised))),
        case(
            "copies alone",
            Box::new(|values| Ok(halves(values).map(|half| black_box(half.to_vec())).into())),
        ),
        on(
            "bare queues, join",
            one(),
            Box::new(|runtime, values| {
                Ok(runtime.block_on(queues::double_buffering(halves(values))))
            }),
        )?,
        on(
            "the runtime's queues, join",
            one(),
            Box::new(|runtime, values| {
                let received = runtime.block_on(over_the_queues_of_roles(halves(values)));
                received.ok_or_else(|| Error::wrong("a peer left"))
            }),
        )?,
        on(
            "rumpsteak 0.1, one task",
            one(),
            Box::new(|runtime, values| {
                let (mut s, mut k, mut t) = theirs();
                let (source, kernel) =
                    (theirs::source(&mut s, halves(values)), theirs::kernel(&mut k));
                let all = runtime.block_on(try_join3(source, kernel, theirs::sink(&mut t)));
                all.map(|((), (), received)| received).map_err(Error::wrong)
            }),
        )?,
        on(
            "rumpsteak 0.1 optimised, one task",
            one(),
            Box::new(|runtime, values| {
                let (mut s, mut k, mut t) = theirs();
                let (source, kernel) =
                    (theirs::source(&mut s, halves(values)), original::optimised_kernel(&mut k));
                let all = runtime.block_on(try_join3(source, kernel, theirs::sink(&mut t)));
                all.map(|((), (), received)| received).map_err(Error::wrong)
            }),
        )?,
        on(
            "rumpsteak 0.1, tokio 2",
            two_threads(),
            Box::new(|runtime, values| {
                let values = values.clone();
                in_tasks!(
                    runtime,
                    theirs(),
                    |s, k, t| theirs::source(&mut s, halves(&values)),
                    theirs::kernel(&mut k),
                    theirs::sink(&mut t)
                )
            }),
        )?,
        {
            let runtime = one()?;
            case(
                "ferrite-session, tokio 1",
                Box::new(move |values| Ok(runtime.block_on(ferrite::run(values.clone())))),
            )
        },
        {
            let runtime = two_threads()?;
            case(
                "ferrite-session, tokio 2",
                Box::new(move |values| Ok(runtime.block_on(ferrite::run(values.clone())))),
            )
        },
        case("mpstthree", Box::new(|values| mpst::run(values, false, None))),
    ])
}
