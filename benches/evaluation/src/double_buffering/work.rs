//! Double buffering of roles that work: whether the faster order gains, and on what.

use std::time::Duration;

use tokio::runtime::Runtime;

use super::kernels::{Kernel, check, halves, pass_on_in_threads, values};
use super::ours::{Roles, sink, source};
use crate::tasks::{busy, two_threads};
use crate::{Case, Error, Figure, Mode, Of, Result, Series, XAxis, YAxis};

const NAME: &str = "fig6-double-buffering-work";

pub(super) fn figure() -> Figure {
    let series = |name, about| Series { name, of: Of::Ours, about };
    let same = "the same; the kernel asks for both buffers at once";
    Figure {
        name: NAME,
        title: "Double buffering, with work",
        about: "As in COORDINATION'21, Fig. 5, but the processor is busy: the source works so long on each buffer before it sends it, and the kernel when it has received \
                it. Without overlap, a run has four such times, one after the other; with the faster order, three. Waiting and waking come on top.",
        x: XAxis { label: "µs of work on a buffer", log: false, names: &[] },
        y: YAxis { label: "time (µs)", log: true, scale: 1e6 },
        series: vec![
            series("plain, tokio 2", "a task for each process, two threads"),
            series("optimised, tokio 2", same),
            series("plain, threads", "a thread for each role, which each run starts"),
            series("optimised, threads", same),
        ],
        points: |mode| match mode {
            Mode::Quick => vec![0, 30],
            Mode::Full => vec![0, 3, 10, 30, 100, 300],
        },
        cases,
        notes: "tokio gives a woken task to the thread that woke it, and no other thread takes it until that thread has finished its task. So roles that keep the processor \
                busy run one after the other in every order; roles that await meanwhile do not (COORDINATION'21, Fig. 5).",
    }
}

/// The processes as tasks of a runtime.
fn in_tasks(
    runtime: &Runtime,
    values: &[i32],
    order: Kernel,
    work: Duration,
) -> Result<[Vec<i32>; 2]> {
    let Roles { mut s, mut k, mut t } = Default::default();
    let pause = move || busy(work);
    let values = values.to_vec();
    runtime.block_on(async move {
        let sending = tokio::spawn(async move { source(&mut s, halves(&values), pause).await });
        let passing = tokio::spawn(async move { order.run(&mut k, pause).await });
        let receiving = tokio::spawn(async move { sink(&mut t).await });
        sending.await.map_err(Error::wrong)?.map_err(Error::wrong)?;
        passing.await.map_err(Error::wrong)?.map_err(Error::wrong)?;
        receiving.await.map_err(Error::wrong)?.map_err(Error::wrong)
    })
}

fn cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let (work, values) = (Duration::from_micros(x), values(2));
    let mut cases = Vec::new();
    for (series, kernel) in
        [("plain, tokio 2", Kernel::Plain), ("optimised, tokio 2", Kernel::Optimised)]
    {
        let (runtime, values) = (two_threads()?, values.clone());
        cases.push(Case::timed(NAME, series, x, mode, move || {
            check(&in_tasks(&runtime, &values, kernel, work)?, &values, true)
        }));
    }
    for (series, kernel) in
        [("plain, threads", Kernel::Plain), ("optimised, threads", Kernel::Optimised)]
    {
        let values = values.clone();
        cases.push(Case::timed(NAME, series, x, mode, move || {
            let mut roles = Roles::default();
            let received = pass_on_in_threads(&mut roles, halves(&values), kernel, || busy(work))?;
            check(&received, &values, true)
        }));
    }
    Ok(cases)
}
