//! The common parts of the randomised tests: the numbers of systems, the seeds, and random
//! protocols with their projections.

use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{fs, panic, process, thread};

use fastrand::Rng;
use rumpsteak_fsm::Fsm;
use rumpsteak_oracle::{Bounded, Coverage, Global, Hangs, Limits, Report, Shape, System, sample};
use rumpsteak_scribble::{Code, Diagnostic, Projection, Protocol, check, parse};

/// How long a tool under test may take for one system, all its calls together. In time on a
/// processor, so that a busy machine changes nothing.
const TOOLS: Duration = Duration::from_secs(10);

/// How long the naive algorithms may take that it is compared with. They have limits of their own,
/// so this is far more than they take.
const ORACLE: Duration = Duration::from_secs(60);

/// The number of checks, one per second, after which a seed counts as hanging.
/// A stopped process is not checked.
const HANG: u32 = 300;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Tool {
    /// `verify::verify` or `verify::certified`.
    Verify,
    /// `system::explore`.
    Explore,
    /// `kmc::check`.
    Kmc,
    /// `capacity::find`.
    Capacities,
    /// Parsing and projection.
    Project,
}

impl Tool {
    const ALL: [Self; 5] =
        [Self::Verify, Self::Explore, Self::Kmc, Self::Capacities, Self::Project];
}

/// The time of each tool under test for one seed. The other time belongs to the oracle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    /// By tool: of all calls together, and of the longest.
    times: [(Duration, Duration); Tool::ALL.len()],
}

impl Watch {
    pub(crate) fn time<T>(&mut self, tool: Tool, call: impl FnOnce() -> T) -> T {
        let start = Start::now();
        let result = call();
        let took = start.elapsed();
        let (all, longest) = &mut self.times[tool as usize];
        *all += took;
        *longest = took.max(*longest);
        result
    }

    fn tools(&self) -> Duration {
        self.times.iter().map(|(all, _)| *all).sum()
    }
}

/// A moment of this thread, in time on a processor.
struct Start {
    processor: Option<Duration>,
    wall: Instant,
}

impl Start {
    fn now() -> Self {
        Self { processor: processor(), wall: Instant::now() }
    }

    /// To the tick of the kernel's clock, which is some milliseconds. Where the kernel does not
    /// tell, by the clock on the wall.
    fn elapsed(&self) -> Duration {
        match (self.processor, processor()) {
            (Some(start), Some(end)) => end.saturating_sub(start),
            _ => self.wall.elapsed(),
        }
    }
}

/// How long this thread has run, as Linux tells.
fn processor() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// The limits of the verifier, below the default because thousands of systems are tried.
pub(crate) fn limits() -> rumpsteak_fsm::Limits {
    rumpsteak_fsm::Limits::default().configurations(8_000).steps(200_000)
}

pub(crate) struct Outcome<T> {
    /// The counts of the tests, in the order of the seeds, without failed ones.
    pub(crate) tallies: Vec<T>,
    failures: Vec<String>,
}

/// Runs `test` for every seed, on all cores. A panic of `test` is a failure too, and so is a seed
/// for which the tools take longer than [`TOOLS`], or the oracle longer than [`ORACLE`]. Prints the
/// longest call of each tool.
///
/// A seed that hangs ends the process, since no test could end then.
pub(crate) fn for_each_seed<T: Send>(
    name: &str,
    test: impl Fn(u64, &mut Watch) -> Result<T, String> + Sync,
) -> Outcome<T> {
    for_each_of(150, name, test)
}

pub(crate) fn for_each_of<T: Send>(
    all: u64,
    name: &str,
    test: impl Fn(u64, &mut Watch) -> Result<T, String> + Sync,
) -> Outcome<T> {
    let seeds = sample(all);
    let workers = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    // What each worker tries, and how often it was seen at it.
    let running: Vec<Mutex<Option<(u64, u32)>>> = (0..workers).map(|_| Mutex::new(None)).collect();
    let (done, is_done) = mpsc::channel::<()>();
    let mut results: Vec<(u64, Watch, Result<T, String>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers)
            .zip(&running)
            .map(|(worker, running)| {
                let (seeds, test) = (seeds.clone(), &test);
                let worker = move || -> Vec<_> {
                    let own = seeds.filter(|seed| seed % workers == worker);
                    own.map(|seed| {
                        *running.lock().expect("no holder panics") = Some((seed, 0));
                        let (watch, result) = attempt(seed, test);
                        *running.lock().expect("no holder panics") = None;
                        (seed, watch, result)
                    })
                    .collect()
                };
                // The naive algorithms recurse.
                thread::Builder::new()
                    .stack_size(256 << 20)
                    .spawn_scoped(scope, worker)
                    .expect("a thread starts")
            })
            .collect();
        let running = &running;
        scope.spawn(move || end_if_one_hangs(name, running, &is_done));
        let results = workers.into_iter().map(|w| w.join().expect("panics are caught"));
        let results = results.flatten().collect();
        drop(done);
        results
    });
    results.sort_by_key(|(seed, ..)| *seed);

    for tool in Tool::ALL {
        let longest = |(_, watch, _): &&(u64, Watch, _)| watch.times[tool as usize].1;
        if let Some(slowest) = results.iter().max_by_key(longest)
            && !longest(&slowest).is_zero()
        {
            println!(
                "{tool:?} takes {} ms at most, of seed {}",
                longest(&slowest).as_millis(),
                slowest.0
            );
        }
    }
    let mut tallies = vec![];
    let mut failures = vec![];
    for (seed, _, result) in results {
        match result {
            Ok(tally) => tallies.push(tally),
            Err(failure) => {
                failures.push(format!("seed {seed} ({}):\n{failure}", again(name, seed)))
            }
        }
    }
    Outcome { tallies, failures }
}

fn again(name: &str, seed: u64) -> String {
    format!("RUMPSTEAK_FUZZ={seed}..{} cargo test -p rumpsteak-oracle {name}", seed + 1)
}

/// Waits until all is done; ends the process if a seed hangs before.
fn end_if_one_hangs(
    name: &str,
    running: &[Mutex<Option<(u64, u32)>>],
    is_done: &mpsc::Receiver<()>,
) {
    while is_done.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
        for running in running {
            let mut running = running.lock().expect("no holder panics");
            let Some((seed, looks)) = &mut *running else { continue };
            *looks += 1;
            if *looks > HANG {
                // Past what the test harness keeps back.
                let _ = writeln!(io::stderr(), "seed {seed} hangs ({})", again(name, *seed));
                process::exit(1);
            }
        }
    }
}

impl<T> Outcome<T> {
    /// # Panics
    /// If a seed failed, with the failures of the smallest seeds and how to reproduce them.
    pub(crate) fn assert(&self) {
        assert!(
            self.failures.is_empty(),
            "{} of {} systems fail; the first:\n\n{}",
            self.failures.len(),
            self.failures.len() + self.tallies.len(),
            self.failures[..self.failures.len().min(5)].join("\n\n")
        );
    }
}

fn attempt<T>(
    seed: u64,
    test: &(impl Fn(u64, &mut Watch) -> Result<T, String> + Sync),
) -> (Watch, Result<T, String>) {
    let mut watch = Watch::default();
    let start = Start::now();
    let result = panic::catch_unwind(panic::AssertUnwindSafe(|| test(seed, &mut watch)));
    let result = result.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|&s| s.to_owned()));
        Err(format!("panicked: {}", text.unwrap_or_default()))
    });
    let tools = watch.tools();
    let oracle = start.elapsed().saturating_sub(tools);
    let result = match result {
        Ok(_) if tools >= TOOLS => Err(format!("took the tools {tools:?}: {:?}", watch.times)),
        Ok(_) if oracle >= ORACLE => Err(format!("took the oracle {oracle:?}")),
        result => result,
    };
    (watch, result)
}

pub(crate) struct Sample {
    /// For further random decisions.
    pub(crate) rng: Rng,
    /// The protocol.
    pub(crate) global: Global,
    /// How many roles it has.
    pub(crate) roles: usize,
    /// Its text.
    pub(crate) text: String,
}

impl Sample {
    pub(crate) fn new(seed: u64, shape: fn(&mut Rng) -> Shape) -> Self {
        Self::next(Rng::with_seed(seed), shape)
    }

    pub(crate) fn next(mut rng: Rng, shape: fn(&mut Rng) -> Shape) -> Self {
        let shape = shape(&mut rng);
        let global = Global::random(&mut rng, &shape);
        let text = global.scribble("P", shape.roles);
        Self { rng, global, roles: shape.roles, text }
    }

    /// The first protocol from `seed` on that projects onto directed machines with a few
    /// transitions, and these machines.
    pub(crate) fn projected(
        seed: u64,
        shape: fn(&mut Rng) -> Shape,
        watch: &mut Watch,
    ) -> (Self, Vec<Fsm>) {
        let all_directed = |machines: &[Fsm]| machines.iter().all(|m| m.check_directed().is_ok());
        Self::projected_where(seed, shape, all_directed, watch)
    }

    /// The first protocol from `seed` on that projects onto machines of this kind, with a few
    /// transitions.
    pub(crate) fn projected_where(
        seed: u64,
        shape: fn(&mut Rng) -> Shape,
        is_kind: impl Fn(&[Fsm]) -> bool,
        watch: &mut Watch,
    ) -> (Self, Vec<Fsm>) {
        let mut sample = Self::new(seed, shape);
        loop {
            if let Ok(machines) = watch.time(Tool::Project, || sample.project())
                && is_kind(&machines)
                && machines.iter().map(Fsm::transition_count).sum::<usize>() >= 4
            {
                return (sample, machines);
            }
            sample = Self::next(sample.rng, shape);
        }
    }

    /// The machines of all roles as `rumpsteak-scribble` projects them, or the first diagnostic.
    pub(crate) fn project(&self) -> Result<Vec<Fsm>, String> {
        match project(&self.text) {
            Ok((_, projections)) => Ok(projections.into_iter().map(|found| found.fsm).collect()),
            Err(errors) => Err(errors[0].message.clone()),
        }
    }
}

/// The only protocol of a text, with the projections of all roles, or the errors.
pub(crate) fn project(text: &str) -> Result<(Protocol, Vec<Projection>), Vec<Diagnostic>> {
    let parsed = parse(text);
    let is_known = |found: &Diagnostic| found.code == Code::Unsupported;
    assert!(parsed.diagnostics.iter().all(is_known), "{:?}\n{text}", parsed.diagnostics);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let mut checked = check(&parsed.module);
    checked.diagnostics.retain(|found| found.is_error);
    match checked.protocols.pop() {
        Some(protocol) if checked.diagnostics.is_empty() => {
            protocol.project_all().map(|projections| (protocol, projections))
        }
        _ => Err(checked.diagnostics),
    }
}

/// Explores machines that were accepted. Returns true if all of it was seen.
pub(crate) fn safe(machines: Vec<Fsm>, text: &str, configurations: usize) -> Result<bool, String> {
    let system = System::new(machines).map_err(|error| error.to_string())?;
    let report = explore(&system, configurations);
    match report.findings.first() {
        None => Ok(report.coverage > Coverage::Partial),
        Some(found) => {
            let run = system.describe(&found.run);
            Err(format!("accepted, but {:?}:\n{text}\n{run}", found.fault))
        }
    }
}

/// The end of all runs if each queue has this capacity.
pub(crate) fn hangs(machines: Vec<Fsm>, capacity: usize, configurations: usize) -> Option<Hangs> {
    let count = machines.len();
    let capacities = vec![vec![capacity; count]; count];
    let (mailboxes, drops, races) = (vec![None; count], vec![false; count], vec![false; count]);
    Bounded { machines, capacities, mailboxes, drops, races }.explore(configurations)
}

/// Explores with longer and longer queues, until something is wrong or everything is known or
/// `configurations` are not enough.
pub(crate) fn explore(system: &System, configurations: usize) -> Report {
    let with = |queue| system.explore(&Limits { queue, configurations, steps: usize::MAX });
    let mut report = with(1);
    for queue in [2, 4, 8] {
        let decided = report.immediate().is_some() || report.coverage > Coverage::Partial;
        if decided || report.configurations >= configurations {
            break;
        }
        let longer = with(queue);
        // Findings are right, even if a search with longer queues ends before them.
        if longer.findings.is_empty() && !report.findings.is_empty() {
            break;
        }
        report = longer;
    }
    report
}

/// A description of an endless run of a balanced protocol that neglects a role.
pub(crate) fn neglect(global: &Global, system: &System, configurations: usize) -> Option<String> {
    if !global.is_balanced() {
        return None;
    }
    let neglect = system.neglect(&Limits { queue: 2, configurations, steps: usize::MAX })?;
    let again: Vec<String> = neglect
        .steps
        .iter()
        .map(|step| {
            let machine = &system.machines()[step.machine];
            let action = machine.transition(step.transition).action;
            format!("{} {action}", machine.role())
        })
        .collect();
    Some(format!(
        "{} is neglected:\n{}      and for ever {}\n",
        system.machines()[neglect.machine].role(),
        system.describe(&neglect.run),
        again.join(", ")
    ))
}
