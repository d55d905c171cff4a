//! What the randomised tests share: how many systems, which seeds, and random protocols with their projections.

use std::{env, fmt::Debug, panic, thread, time::Instant};

use rumpsteak_fsm::Fsm;
use rumpsteak_oracle::{Coverage, Global, Limits, Report, Rng, Shape, System};
use rumpsteak_scribble::{check, parse};

/// How many systems are tried unless `RUMPSTEAK_FUZZ` says otherwise.
const SYSTEMS: u64 = 2_000;

/// The seeds to try: those below `RUMPSTEAK_FUZZ`, or those that it names as `FROM..TO`, or the one that
/// `RUMPSTEAK_FUZZ_SEED` names.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str, text: &str| -> u64 {
        let number = text.parse();
        number.unwrap_or_else(|_| panic!("{name} must be a number, not `{text}`"))
    };
    if let Ok(seed) = env::var("RUMPSTEAK_FUZZ_SEED") {
        let seed = number("RUMPSTEAK_FUZZ_SEED", &seed);
        return seed..seed + 1;
    }
    let name = "RUMPSTEAK_FUZZ";
    match env::var(name) {
        Ok(range) => match range.split_once("..") {
            Some((from, to)) => number(name, from)..number(name, to),
            None => 0..number(name, &range),
        },
        Err(_) => 0..SYSTEMS,
    }
}

/// How long one system may take, in seconds: far longer than any does, because the machine may be busy.
const SECONDS: u64 = 60;

/// What came of all seeds.
pub(crate) struct Outcome<T> {
    /// What the tests counted, in the order of the seeds; nothing of those that failed.
    pub(crate) tallies: Vec<T>,
    failures: Vec<String>,
}

/// Runs `test` for every seed, on all cores. A panic of `test` is a failure too, and so is a seed that takes longer
/// than [`SECONDS`].
pub(crate) fn for_each_seed<T: Send>(
    name: &str,
    test: impl Fn(u64) -> Result<T, String> + Sync,
) -> Outcome<T> {
    let seeds = seeds();
    let workers = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let mut results: Vec<(u64, Result<T, String>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers)
            .map(|worker| {
                let (seeds, test) = (seeds.clone(), &test);
                // The naive algorithms recurse.
                let worker = move || -> Vec<_> {
                    let own = seeds.filter(|seed| seed % workers == worker);
                    own.map(|seed| (seed, attempt(seed, test))).collect()
                };
                thread::Builder::new()
                    .stack_size(256 << 20)
                    .spawn_scoped(scope, worker)
                    .expect("a thread starts")
            })
            .collect();
        let results = workers
            .into_iter()
            .map(|w| w.join().expect("panics are caught"));
        results.flatten().collect()
    });
    results.sort_by_key(|(seed, _)| *seed);

    let mut tallies = vec![];
    let mut failures = vec![];
    for (seed, result) in results {
        match result {
            Ok(tally) => tallies.push(tally),
            Err(failure) => failures.push(format!(
                "seed {seed} (RUMPSTEAK_FUZZ_SEED={seed} cargo test -p rumpsteak-oracle {name}):\n{failure}"
            )),
        }
    }
    Outcome { tallies, failures }
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

fn attempt<T>(seed: u64, test: &(impl Fn(u64) -> Result<T, String> + Sync)) -> Result<T, String> {
    let start = Instant::now();
    let result = panic::catch_unwind(panic::AssertUnwindSafe(|| test(seed)));
    let result = result.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|&s| s.to_owned()));
        Err(format!("panicked: {}", text.unwrap_or_default()))
    });
    let seconds = start.elapsed().as_secs();
    match result {
        Ok(_) if seconds >= SECONDS => Err(format!("took {seconds} s")),
        result => result,
    }
}

/// A random protocol.
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
    /// The protocol of a seed, of a shape that `shape` gives.
    pub(crate) fn new(seed: u64, shape: fn(&mut Rng) -> Shape) -> Self {
        Self::next(Rng::new(seed), shape)
    }

    fn next(mut rng: Rng, shape: fn(&mut Rng) -> Shape) -> Self {
        let shape = shape(&mut rng);
        let global = Global::random(&mut rng, &shape);
        let text = global.scribble("P", shape.roles);
        Self {
            rng,
            global,
            roles: shape.roles,
            text,
        }
    }

    /// The first protocol from `seed` on that projects onto directed machines with a few transitions, and these
    /// machines.
    pub(crate) fn projected(seed: u64, shape: fn(&mut Rng) -> Shape) -> (Self, Vec<Fsm>) {
        let mut sample = Self::new(seed, shape);
        loop {
            if let Ok(machines) = sample.project()
                && machines.iter().all(|m| m.check_directed().is_ok())
                && machines.iter().map(Fsm::transition_count).sum::<usize>() >= 4
            {
                return (sample, machines);
            }
            sample = Self::next(sample.rng, shape);
        }
    }

    /// The machines of all roles as `rumpsteak-scribble` projects them, or the first diagnostic.
    pub(crate) fn project(&self) -> Result<Vec<Fsm>, String> {
        let parsed = parse(&self.text);
        assert_none(&parsed.diagnostics, &self.text);
        let checked = check(&parsed.module);
        if let Some(diagnostic) = checked.diagnostics.first() {
            return Err(diagnostic.message.clone());
        }
        let protocol = &checked.protocols[0];
        let machine = |role| match protocol.project(role) {
            Ok(projection) => Ok(projection.fsm),
            Err(diagnostics) => Err(diagnostics[0].message.clone()),
        };
        protocol.roles().iter().map(machine).collect()
    }
}

fn assert_none<T: Debug>(diagnostics: &[T], text: &str) {
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
}

/// Explores with longer and longer queues, until something is wrong or everything is known or `configurations`
/// are not enough.
pub(crate) fn explore(system: &System, configurations: usize) -> Report {
    let with = |queue| {
        system.explore(&Limits {
            queue,
            configurations,
            steps: usize::MAX,
        })
    };
    let mut report = with(1);
    for queue in [2, 4, 8] {
        let decided = report.immediate().is_some() || report.coverage > Coverage::Partial;
        if decided || report.configurations >= configurations {
            break;
        }
        let longer = with(queue);
        // What was found is there, even if with longer queues the search ends before it.
        if longer.findings.is_empty() && !report.findings.is_empty() {
            break;
        }
        report = longer;
    }
    report
}

/// An endless run of a balanced protocol in which somebody is neglected, described.
pub(crate) fn neglect(global: &Global, system: &System, configurations: usize) -> Option<String> {
    if !global.is_balanced() {
        return None;
    }
    let neglect = system.neglect(&Limits {
        queue: 2,
        configurations,
        steps: usize::MAX,
    })?;
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
