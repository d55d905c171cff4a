//! SJ framework, Figs. 15 and 16: Jacobi's method and n-body, with their workers in several places.

use std::cell::LazyCell;
use std::rc::Rc;
use std::time::Duration;

use rumpsteak_examples::{jacobi, n_body};
use rumpsteak_net::{Host, Join, Joined, Joins};
use tokio::runtime::{Builder, Runtime};

use crate::processes::{Processes, delayed};
use crate::tasks::expect;
use crate::{
    Case, Error, Figure, Mode, Of, Result, Sample, Series, Unit, XAxis, YAxis, jacobi_line, mpi,
};

const JACOBI: &str = "sj-fig15-jacobi";
const N_BODY: &str = "sj-fig16-n-body";

/// The accuracy of the temperatures: some hundred rounds.
const ACCURACY: f64 = 0.05;

/// How many steps bodies make.
const STEPS: usize = 20;

/// The name of the session.
const SESSION: &str = "1";

/// How many samples each case has: some take seconds.
const SAMPLES: usize = 15;

/// The place of the workers.
#[derive(Clone, Copy)]
enum Place {
    Here,
    OtherHosts,
    Processes,
    FarProcesses,
}

const PLACES: [(&str, Place); 3] = [
    ("threads", Place::Here),
    ("processes", Place::Processes),
    ("processes, 1 ms", Place::FarProcesses),
];

const LINE: [(&str, Place); 3] = [
    ("line, threads", Place::Here),
    ("line, processes", Place::Processes),
    ("line, processes, 1 ms", Place::FarProcesses),
];

/// The MPI program, and the byte transfer layer that it uses.
const MPI: [(&str, &str); 2] = [("MPI", "vader"), ("MPI, TCP", "tcp")];

/// Both.
#[must_use]
pub fn figures() -> Vec<Figure> {
    let series = |name, of, about| Series { name, of, about };
    let places = || {
        vec![
            series("threads", Of::Ours, "all roles at one host: messages are moved in memory"),
            series("processes", Of::Ours, "the workers are processes, over TCP on the loopback"),
            series(
                "processes, 1 ms",
                Of::Ours,
                "the same, and each connection goes through a proxy that passes everything on 1 ms later, in both directions: the other machines of the paper",
            ),
        ]
    };
    let line = "the same by roles in a line, where changes and decisions go from neighbour to neighbour: the paper's pipeline";
    let beside = [
        series(
            "threads, copied",
            Of::Ours,
            "each worker at a host of its own in this process: messages are written and read",
        ),
        series("line, threads", Of::Ours, line),
        series("line, processes", Of::Ours, line),
        series("line, processes, 1 ms", Of::Ours, line),
        series(
            "MPI",
            Of::Peer,
            "a program in C over Open MPI, each rank a process, through shared memory; if it is installed",
        ),
        series("MPI, TCP", Of::Peer, "the same program over TCP on the loopback"),
    ];
    let figure = |name, title, about, label, points, cases, series, notes| Figure {
        name,
        title,
        about,
        x: XAxis { label, log: true, names: &[] },
        y: YAxis { label: "time (ms)", log: true, scale: 1e3 },
        series,
        points,
        cases,
        notes,
    };
    vec![
        figure(
            JACOBI,
            "Jacobi's method: threads, processes, far processes",
            "SJ framework, Fig. 15: a master and two workers, who exchange the rows along their borders in each round. A session that was joined, until no point changes by \
             more than 0.05 of 100.",
            "rows and columns",
            |mode| if mode == Mode::Quick { vec![30] } else { vec![30, 100, 300] },
            jacobi_cases,
            [places(), beside.into()].concat(),
            "Fig. 15 a is *threads* against *threads, copied*, Fig. 15 b is *processes* against *MPI, TCP*. Ranks of Open MPI spin while they wait, three of them on the cores \
             of this machine.",
        ),
        figure(
            N_BODY,
            "n-body: threads, processes, far processes",
            "SJ framework, Fig. 16: a ring of three workers with so many bodies each, which go round the ring in each of 20 steps. A session that was joined.",
            "bodies of each worker",
            |mode| if mode == Mode::Quick { vec![100] } else { vec![100, 300, 1_000] },
            n_body_cases,
            places(),
            "",
        ),
    ]
}

/// The first role of an application, joined with its workers.
struct Running<R: Joins> {
    first: Joined<R>,
    _workers: Processes,
    runtime: Runtime,
}

impl<R: Joins> Running<R> {
    /// Starts the workers, the last one first: each gets the address of the next one.
    fn start(workers: &[&'static str], size: u64, place: Place) -> Result<Self> {
        let runtime = Builder::new_multi_thread().enable_all().build().map_err(Error::wrong)?;
        let (host, mut processes) = (Host::new(), Processes::default());
        let (mut first, mut next) = (host.join::<R>(SESSION), None);
        for &worker in workers.iter().rev() {
            let at = match place {
                Place::Here => {
                    runtime.spawn(work(host.clone(), worker, size as usize, None));
                    continue;
                }
                Place::OtherHosts => {
                    let (host, at) = (Host::new(), format!("memory://{worker} {size}"));
                    runtime.block_on(host.listen(&at)).map_err(Error::wrong)?;
                    runtime.spawn(work(host, worker, size as usize, next));
                    at
                }
                Place::Processes | Place::FarProcesses => {
                    let size = size.to_string();
                    let mut arguments = vec!["work", worker, &size];
                    arguments.extend(next.as_deref());
                    let at = processes.start(&arguments)?;
                    if let Place::FarProcesses = place {
                        let near = at.replace("tcp://", "").parse().map_err(Error::wrong)?;
                        format!("tcp://{}", delayed(near, Duration::from_millis(1))?)
                    } else {
                        at
                    }
                }
            };
            let role = worker.split(' ').next_back().unwrap_or(worker);
            // The end of a line has no route to its beginning.
            if worker != "line b" {
                first = first.peer(role, [&at]);
            }
            next = Some(at);
        }
        let first = runtime.block_on(join(first))?;
        Ok(Self { first, _workers: processes, runtime })
    }
}

/// A case for each place. `run` runs the first role; each run is a session of its own.
fn cases<R: Joins + 'static>(
    figure: &'static str,
    workers: &'static [&'static str],
    places: &[(&'static str, Place)],
    (x, mode): (u64, Mode),
    run: impl Fn(&mut Running<R>) -> Result<()> + Clone + 'static,
) -> Vec<Case> {
    let case = |&(series, place)| {
        let (mut running, run) = (None, run.clone());
        let run = move || {
            let running = match &mut running {
                Some(running) => running,
                none => none.insert(Running::start(workers, x, place)?),
            };
            run(running)
        };
        Case::timed(figure, series, x, mode, run).samples(SAMPLES)
    };
    places.iter().map(case).collect()
}

type Expected = Rc<LazyCell<jacobi::Solution, Box<dyn FnOnce() -> jacobi::Solution>>>;

fn jacobi_cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let task = jacobi::Task { size: x as usize, accuracy: ACCURACY };
    let star: Expected = Rc::new(LazyCell::new(Box::new(move || jacobi::sequential(task))));
    let (line, mpi) = (Rc::clone(&star), Rc::clone(&star));
    let star = move |Running { first, runtime, .. }: &mut Running<jacobi::roles::M>| {
        let solution = runtime.block_on(jacobi::master(&mut first.role, task));
        expect(&solution.map_err(Error::wrong)?, &**star)
    };
    let line = move |Running { first, runtime, .. }: &mut Running<jacobi_line::roles::M>| {
        let solution = runtime.block_on(jacobi_line::first(&mut first.role, task));
        expect(&solution.map_err(Error::wrong)?, &**line)
    };
    let at = (x, mode);
    let beside = [PLACES.as_slice(), &[("threads, copied", Place::OtherHosts)]].concat();
    let mut all = cases(JACOBI, &["jacobi a", "jacobi b"], &beside, at, star);
    all.extend(cases(JACOBI, &["line a", "line b"], &LINE, at, line));
    if mpi::is_installed() {
        all.extend(MPI.map(|(series, over)| mpi_case(series, x, over, Rc::clone(&mpi))));
    }
    Ok(all)
}

/// The program in C, which measures itself.
fn mpi_case(series: &'static str, x: u64, over: &'static str, expected: Expected) -> Case {
    let mut running = None;
    let measure = move || {
        let running = match &mut running {
            Some(running) => running,
            none => none.insert(mpi::Jacobi::start(x, ACCURACY, over)?),
        };
        let (seconds, rounds, sum) = running.solve()?;
        let (rows, expected) = &**expected;
        expect(&(rounds, sum), &(*expected, rows.iter().flatten().sum()))?;
        Ok(Sample::of(seconds))
    };
    Case::new(JACOBI, series, x, Unit::Seconds, measure).samples(SAMPLES)
}

fn n_body_cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let expected = Rc::new(LazyCell::new(move || {
        let [first, ..] = n_body::sequential(x as usize, STEPS);
        first
    }));
    let run = move |Running { first, runtime, .. }: &mut Running<n_body::roles::A>| {
        let worker = n_body::Worker::new(0, x as usize);
        let worker = runtime.block_on(n_body::first(&mut first.role, worker, STEPS));
        expect(&worker.map_err(Error::wrong)?, &**expected)
    };
    Ok(cases(N_BODY, &["n-body b", "n-body c"], &PLACES, (x, mode), run))
}

/// Plays a worker at a host, in one session after the other, until the first role leaves. It calls
/// the worker behind it, if there is one.
///
/// # Errors
///
/// [`Error::Usage`] if the worker is unknown; if its peers do not come.
pub(crate) async fn work(
    host: Host,
    worker: &str,
    size: usize,
    next: Option<String>,
) -> Result<()> {
    // A session cannot begin once the first role has left.
    match worker {
        "jacobi a" => {
            let mut a = join(host.join::<jacobi::roles::A>(SESSION)).await?;
            while jacobi::above(&mut a.role).await.is_ok() {}
        }
        "jacobi b" => {
            let mut b = join(host.join::<jacobi::roles::B>(SESSION)).await?;
            while jacobi::below(&mut b.role).await.is_ok() {}
        }
        "line a" => {
            let mut a = join(host.join::<jacobi_line::roles::A>(SESSION).peer("b", next)).await?;
            while jacobi_line::second(&mut a.role).await.is_ok() {}
        }
        "line b" => {
            let mut b = join(host.join::<jacobi_line::roles::B>(SESSION)).await?;
            while jacobi_line::third(&mut b.role).await.is_ok() {}
        }
        "n-body b" => {
            let mut b = join(host.join::<n_body::roles::B>(SESSION).peer("c", next)).await?;
            let worker = n_body::Worker::new(1, size);
            while n_body::second(&mut b.role, worker.clone()).await.is_ok() {}
        }
        "n-body c" => {
            let mut c = join(host.join::<n_body::roles::C>(SESSION)).await?;
            let worker = n_body::Worker::new(2, size);
            while n_body::third(&mut c.role, worker.clone()).await.is_ok() {}
        }
        _ => return Err(Error::Usage("`play` is for this program alone".to_owned())),
    }
    Ok(())
}

async fn join<R: Joins>(join: Join<R>) -> Result<Joined<R>> {
    join.connect().await.map_err(Error::wrong)
}
