//! Verification (PPoPP'22, Fig. 7): streaming, nested choice, ring and k-buffering, by subtyping
//! and by k-MC.
//!
//! The workloads are in [`rumpsteak_benches::workloads`]. Each sample has its own process, for its
//! peak of memory, which includes the program and the machines. Each answer is checked: all hold.
//!
//! The paper times whole processes, which read files. Here only the verification is timed, with or
//! without reading. The published results, from the tables of App. C.2 of the full version, are
//! drawn beside it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use rumpsteak_benches::workloads::{
    buffering_roles, kernel, limits, nested, nested_roles, ring, ring_roles, source,
    streaming_roles,
};
use rumpsteak_fsm::verify::certified;
use rumpsteak_fsm::{Fsm, System, Verdict, dot, kmc};
use rumpsteak_oracle::paper::{self, Answer};

use crate::{Case, Error, Figure, Mode, Of, Result, Sample, Series, Unit, XAxis, YAxis};

const STREAMING: &str = "fig7-streaming";
const NESTED: &str = "fig7-nested-choice";
const RING: &str = "fig7-ring";
const BUFFERING: &str = "fig7-k-buffering";

const FIRST: &str = "subtyping";
const AGAIN: &str = "subtyping, again";
const READ: &str = "subtyping, from text";
const PRINTED: &str = "Fig. 5 as printed";
const KMC: &str = "k-MC";
const SHARED: &str = "subtyping, shared";
const SHARED_KMC: &str = "k-MC, shared";

/// The four pictures of the figure.
#[must_use]
pub fn figures() -> Vec<Figure> {
    vec![
        figure(
            STREAMING,
            "Fig. 7: verifying streaming",
            "The source sends n values before it is asked for them: is it a subtype of its projection, and by k-MC, does it get along with the sink? \
             (PPoPP'22, Fig. 7, first.)",
            "values sent ahead",
            ours(&[]),
            streaming_points,
            streaming_cases,
            &[
                ("SoundBinary (published)", &SOUND_BINARY_STREAMING),
                ("k-MC (published)", &KMC_STREAMING),
                ("Rumpsteak (published)", &RUMPSTEAK_STREAMING),
            ],
            "",
        ),
        figure(
            NESTED,
            "Fig. 7: verifying nested choice",
            "T<sub>n</sub> ≤ T′<sub>n</sub> as PPoPP'22, §4.2, defines them, after Chen et al. (Fig. 7, second). Written out as trees they have \
             (5ⁿ⁺¹ − 1) / 4 states between choices; *shared* has one state for all equal subtrees, which the paper's tools cannot be given.",
            "levels",
            ours(&[
                Series {
                    name: SHARED,
                    of: Of::Ours,
                    about: "subtyping of the machines in which equal subtrees are one state",
                },
                Series { name: SHARED_KMC, of: Of::Ours, about: "k-MC of these machines" },
            ]),
            nested_points,
            nested_cases,
            &[
                ("SoundBinary (published)", &SOUND_BINARY_NESTED),
                ("k-MC (published)", &KMC_NESTED),
                ("Rumpsteak (published)", &RUMPSTEAK_NESTED),
            ],
            "As trees, beyond seven levels the machines alone are too large: each level is five times the one before. So ten times beyond the paper is measured \
             with shared subtrees only. The program that made the published figures of Rumpsteak builds another family of types than the \
             paper's text, so that series is not of the same question. On trees, *Fig. 5 as printed* is faster than ours: at most one action is \
             pending, so its lists are short, and it keeps no situations. Ours keeps all of them, makes a certificate of them, and checks it.",
        ),
        figure(
            RING,
            "Fig. 7: verifying the ring",
            "Each role but the first sends before it receives. Subtyping judges all of them, one after the other; k-MC judges the whole ring, with all \
             roles sending first (PPoPP'22, Fig. 7, third).",
            "roles",
            ours(&[]),
            ring_points,
            ring_cases,
            &[("k-MC (published)", &KMC_RING), ("Rumpsteak (published)", &RUMPSTEAK_RING)],
            "The ring has more than two roles, so SoundBinary cannot express it. *Fig. 5 as printed* is faster than ours, as on trees: each role has at most one action \
             pending, and a loop of two.",
        ),
        figure(
            BUFFERING,
            "Fig. 7: verifying k-buffering",
            "The kernel asks for n values more than it has room for in double buffering: is it a subtype of its projection, and by k-MC, does it get along with \
             source and sink? (PPoPP'22, Fig. 7, fourth.)",
            "values asked for ahead",
            ours(&[]),
            buffering_points,
            buffering_cases,
            &[
                ("k-MC (published)", &KMC_BUFFERING),
                ("Rumpsteak (published)", &RUMPSTEAK_BUFFERING),
            ],
            "Three roles, so SoundBinary cannot express it.",
        ),
    ]
}

/// The series of this project in each figure.
fn ours(more: &[Series]) -> Vec<Series> {
    let series = |name, about| Series { name, of: Of::Ours, about };
    let mut all = vec![
        series(FIRST, "subtyping of machines that no algorithm has seen before"),
        series(
            AGAIN,
            "the same question once more, as a build script compares one projection with several types",
        ),
        series(READ, "reading both machines from DOT, then subtyping"),
        series(
            PRINTED,
            "the rules of PPoPP'22, Fig. 5, with the least bound on visits that is enough, which its user has to know. It stands for \
             the paper's own program. Finding the bound is not in its time, but counts for a timeout",
        ),
        series(KMC, "k-MC of all roles; the least k is searched for"),
    ];
    all.extend_from_slice(more);
    all
}

#[expect(
    clippy::too_many_arguments,
    reason = "a figure has so many parts, and four figures share the others"
)]
fn figure(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    x: &'static str,
    mut series: Vec<Series>,
    points: fn(Mode) -> Vec<u64>,
    cases: fn(u64, Mode) -> Result<Vec<Case>>,
    published: &[(&'static str, &[(u64, f64)])],
    notes: &'static str,
) -> Figure {
    for &(name, values) in published {
        series.push(Series {
            name,
            of: Of::Published(values.to_vec()),
            about: "PPoPP'22, full version, App. C.2: user time of a whole process, which starts and reads its files, on a 16-core AMD Opteron 6200 at \
                    2.6 GHz; not measured here, so it has no ratio",
        });
    }
    Figure {
        name,
        title,
        about,
        x: XAxis { label: x, log: false, names: &[] },
        y: YAxis { label: "running time in seconds", log: true, scale: 1.0 },
        series,
        points,
        cases,
        notes,
    }
}

/// The paper's points and further ones, or a few of them.
fn points(mode: Mode, paper: impl Iterator<Item = u64>, beyond: &[u64], quick: &[u64]) -> Vec<u64> {
    match mode {
        Mode::Quick => quick.to_vec(),
        Mode::Full => paper.chain(beyond.iter().copied()).collect(),
    }
}

fn streaming_points(mode: Mode) -> Vec<u64> {
    let paper = (0..=100).step_by(10);
    points(mode, paper, &[200, 300, 500, 1_000], &[0, 50, 100, 1_000])
}

fn nested_points(mode: Mode) -> Vec<u64> {
    points(mode, 1..=5, &[6, 7, 10, 20, 30, 50], &[1, 3, 5, 50])
}

fn ring_points(mode: Mode) -> Vec<u64> {
    let paper = (2..=30).step_by(2);
    points(mode, paper, &[60, 100, 200, 300], &[2, 10, 30, 300])
}

fn buffering_points(mode: Mode) -> Vec<u64> {
    let paper = (0..=100).step_by(5);
    points(mode, paper, &[200, 300, 500, 1_000], &[0, 50, 100, 1_000])
}

/// Subtypes with their supertypes. All pairs are judged.
type Pairs = Vec<(Fsm, Fsm)>;

fn streaming_cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let question = Question { figure: STREAMING, x, mode };
    let mut cases = question.subtyping(|x| vec![(source(x), source(0))]);
    cases.push(question.kmc(KMC, streaming_roles));
    Ok(cases)
}

fn nested_cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let question = Question { figure: NESTED, x, mode };
    let pairs = |tree| move |x| vec![(nested(x, tree, true), nested(x, tree, false))];
    let mut cases = vec![];
    if x <= 7 {
        cases.extend(question.subtyping(pairs(true)));
        cases.push(question.kmc(KMC, |x| nested_roles(x, true)));
    }
    cases.push(question.first(SHARED, pairs(false)));
    cases.push(question.kmc(SHARED_KMC, |x| nested_roles(x, false)));
    Ok(cases)
}

fn ring_cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let question = Question { figure: RING, x, mode };
    let mut cases = question.subtyping(|roles| {
        (1..roles).map(|role| (ring(role, roles, true), ring(role, roles, false))).collect()
    });
    cases.push(question.kmc(KMC, |roles| ring_roles(roles, true)));
    Ok(cases)
}

fn buffering_cases(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let question = Question { figure: BUFFERING, x, mode };
    let mut cases = question.subtyping(|x| vec![(kernel(x), kernel(0))]);
    cases.push(question.kmc(KMC, buffering_roles));
    Ok(cases)
}

/// The question at one value of the x axis.
#[derive(Clone, Copy)]
struct Question {
    figure: &'static str,
    x: u64,
    mode: Mode,
}

impl Question {
    /// Subtyping in the three ways of [`ours`].
    fn subtyping(self, pairs: impl Fn(usize) -> Pairs + Copy + 'static) -> Vec<Case> {
        let least = self.mode.sample_time();
        let again = self.case(AGAIN, move |x| {
            let pairs = pairs(x);
            judge(&pairs)?;
            mean(least, || (), |()| judge(&pairs))
        });
        let read = self.case(READ, move |x| {
            let text = |machine: &Fsm| dot::print(machine);
            let texts: Vec<_> = pairs(x).iter().map(|(sub, sup)| (text(sub), text(sup))).collect();
            mean(
                least,
                || (),
                |()| {
                    let read: Result<Pairs> =
                        texts.iter().map(|(sub, sup)| Ok((parsed(sub)?, parsed(sup)?))).collect();
                    judge(&read?)
                },
            )
        });
        let printed = self.case(PRINTED, move |x| {
            let pairs = pairs(x);
            let holds = |sub: &Fsm, sup: &Fsm, visits| {
                paper::subtype(black_box(sub), sup, visits, usize::MAX) == Answer::Subtype
            };
            let mut visits = Vec::new();
            for (sub, sup) in &pairs {
                visits.extend((1..).find(|&visits| holds(sub, sup, visits)));
            }
            let check = |&(): &()| {
                let mut all = pairs.iter().zip(&visits);
                let found = all.all(|((sub, sup), &visits)| holds(sub, sup, visits));
                if found { Ok(()) } else { Err(Error::wrong("no derivation")) }
            };
            mean(least, || (), check)
        });
        vec![self.first(FIRST, pairs), again, read, printed]
    }

    /// Subtyping of machines that no algorithm has seen: a copy of a machine that was never
    /// compared has been compared as little.
    fn first(self, series: &'static str, pairs: impl Fn(usize) -> Pairs + 'static) -> Case {
        let least = self.mode.sample_time();
        self.case(series, move |x| {
            let pairs = pairs(x);
            mean(least, || pairs.clone(), judge)
        })
    }

    fn kmc(self, series: &'static str, roles: impl Fn(usize) -> Vec<Fsm> + 'static) -> Case {
        let least = self.mode.sample_time();
        self.case(series, move |x| {
            let system = System::new(roles(x)).map_err(Error::wrong)?;
            // The least k is at most this.
            let limits = limits().queue(x + 2);
            let check = |&(): &()| {
                let why = match kmc::check(black_box(&system), &limits).verdict {
                    kmc::Verdict::Safe(_) => return Ok(()),
                    kmc::Verdict::Unsafe(run) => format!("unsafe: {:?}", run.failure),
                    kmc::Verdict::Undecided(limit) => format!("undecided: {limit}"),
                };
                Err(Error::wrong(format!("it is safe, but k-MC says {why}")))
            };
            mean(least, || (), check)
        })
    }

    /// A case of this question. Machines are built in the process that takes the sample.
    fn case(self, series: &'static str, seconds: impl Fn(usize) -> Result<f64> + 'static) -> Case {
        let Self { figure, x, mode } = self;
        let (samples, timeout) = match mode {
            Mode::Quick => (2, 10),
            Mode::Full => (5, 60),
        };
        // A machine can hold every number that it can count.
        let size = x as usize;
        Case::new(figure, series, x, Unit::Seconds, move || Ok(Sample::of(seconds(size)?)))
            .samples(samples)
            .isolated(Duration::from_secs(timeout))
    }
}

/// All of them hold.
fn judge(pairs: &Pairs) -> Result<()> {
    for (sub, sup) in pairs {
        match certified(black_box(sub), sup, &limits()) {
            Ok(Verdict::Safe(_)) => {}
            Ok(Verdict::Unsafe(refusal)) => {
                let why = format!("it is a subtype, but refused: {}", refusal.rule);
                return Err(Error::wrong(why));
            }
            Ok(Verdict::Undecided(limit)) => {
                let why = format!("it is a subtype, but undecided: {limit}");
                return Err(Error::wrong(why));
            }
            Err(error) => return Err(Error::wrong(error)),
        }
    }
    Ok(())
}

fn parsed(text: &str) -> Result<Fsm> {
    let machines = dot::parse(black_box(text)).map_err(Error::wrong)?;
    machines.into_iter().next().ok_or_else(|| Error::wrong("a text without a machine"))
}

/// The seconds of one run, on average over as many runs as take `least` together. The preparation
/// of a run and dropping its result are not timed. If the first run is shorter than `least`, it
/// only warms up the caches.
fn mean<I>(
    least: Duration,
    mut make: impl FnMut() -> I,
    run: impl Fn(&I) -> Result<()>,
) -> Result<f64> {
    let mut once = || {
        let input = make();
        let start = Instant::now();
        run(&input)?;
        Ok(start.elapsed())
    };
    let first = once()?;
    if first >= least {
        return Ok(first.as_secs_f64());
    }
    let (mut total, mut runs) = (Duration::ZERO, 0_u32);
    while total < least {
        total += once()?;
        runs += 1;
    }
    Ok(total.as_secs_f64() / f64::from(runs))
}

// PPoPP'22, full version, App. C.2, "Verifying Asynchronous Message Reordering": the tables
// "Results for the … benchmark", running time in seconds.

/// Streaming, column SoundBinary.
const SOUND_BINARY_STREAMING: [(u64, f64); 11] = [
    (0, 0.003476),
    (10, 0.008556),
    (20, 0.020673),
    (30, 0.041673),
    (40, 0.076425),
    (50, 0.127865),
    (60, 0.198541),
    (70, 0.292471),
    (80, 0.422571),
    (90, 0.583863),
    (100, 0.767426),
];

/// Streaming, column k-MC.
const KMC_STREAMING: [(u64, f64); 11] = [
    (0, 0.005504),
    (10, 0.019316),
    (20, 0.057417),
    (30, 0.142145),
    (40, 0.276446),
    (50, 0.496929),
    (60, 0.805577),
    (70, 1.233327),
    (80, 1.780778),
    (90, 2.475443),
    (100, 3.349204),
];

/// Streaming, column Rumpsteak.
const RUMPSTEAK_STREAMING: [(u64, f64); 11] = [
    (0, 0.001872),
    (10, 0.001899),
    (20, 0.001848),
    (30, 0.001906),
    (40, 0.001874),
    (50, 0.002080),
    (60, 0.002083),
    (70, 0.002064),
    (80, 0.002178),
    (90, 0.002190),
    (100, 0.002249),
];

/// Nested choice, column SoundBinary.
const SOUND_BINARY_NESTED: [(u64, f64); 5] =
    [(1, 0.002295), (2, 0.004504), (3, 0.016347), (4, 0.224858), (5, 4.692525)];

/// Nested choice, column k-MC.
const KMC_NESTED: [(u64, f64); 5] =
    [(1, 0.006554), (2, 0.014901), (3, 0.072423), (4, 1.515528), (5, 41.688068)];

/// Nested choice, column Rumpsteak.
const RUMPSTEAK_NESTED: [(u64, f64); 5] =
    [(1, 0.000702), (2, 0.000755), (3, 0.001745), (4, 0.007656), (5, 0.157548)];

/// Ring, column k-MC.
const KMC_RING: [(u64, f64); 15] = [
    (2, 0.004007),
    (4, 0.007239),
    (6, 0.011806),
    (8, 0.018822),
    (10, 0.024842),
    (12, 0.049232),
    (14, 0.102257),
    (16, 0.191078),
    (18, 0.340262),
    (20, 0.570656),
    (22, 0.913412),
    (24, 1.391075),
    (26, 2.042452),
    (28, 2.918943),
    (30, 4.099072),
];

/// Ring, column Rumpsteak.
const RUMPSTEAK_RING: [(u64, f64); 15] = [
    (2, 0.000675),
    (4, 0.000731),
    (6, 0.000701),
    (8, 0.000835),
    (10, 0.000757),
    (12, 0.000777),
    (14, 0.000744),
    (16, 0.000813),
    (18, 0.000817),
    (20, 0.000766),
    (22, 0.000911),
    (24, 0.000737),
    (26, 0.000752),
    (28, 0.000732),
    (30, 0.000769),
];

/// k-buffering, column k-MC.
const KMC_BUFFERING: [(u64, f64); 21] = [
    (0, 0.004825),
    (5, 0.007668),
    (10, 0.013613),
    (15, 0.018770),
    (20, 0.031376),
    (25, 0.054910),
    (30, 0.080879),
    (35, 0.122315),
    (40, 0.170533),
    (45, 0.236354),
    (50, 0.305749),
    (55, 0.406071),
    (60, 0.506069),
    (65, 0.639521),
    (70, 0.773931),
    (75, 0.954399),
    (80, 1.127240),
    (85, 1.359600),
    (90, 1.571745),
    (95, 1.869339),
    (100, 2.111687),
];

/// k-buffering, column Rumpsteak.
const RUMPSTEAK_BUFFERING: [(u64, f64); 21] = [
    (0, 0.000630),
    (5, 0.000747),
    (10, 0.000705),
    (15, 0.000667),
    (20, 0.000825),
    (25, 0.000718),
    (30, 0.000760),
    (35, 0.000853),
    (40, 0.000802),
    (45, 0.000792),
    (50, 0.000916),
    (55, 0.000882),
    (60, 0.000959),
    (65, 0.001028),
    (70, 0.001057),
    (75, 0.001045),
    (80, 0.001125),
    (85, 0.001120),
    (90, 0.001164),
    (95, 0.001156),
    (100, 0.001234),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A wrong answer is an error, not a sample.
    #[test]
    fn a_wrong_answer_is_an_error() {
        let question = Question { figure: STREAMING, x: 3, mode: Mode::Quick };
        // The source that sends ahead is not a supertype …
        let mut swapped = question.first(FIRST, |x| vec![(source(0), source(x))]);
        let error = (swapped.measure)().map(drop);
        assert!(
            matches!(&error, Err(Error::Wrong(why)) if why.starts_with("it is a subtype, but refused: ")),
            "{error:?}"
        );
        // … and two sources are not a safe system.
        let mut alike = question.kmc(KMC, |x| {
            let twice = rumpsteak_benches::workloads::dual(&source(x), "t");
            vec![source(0), twice]
        });
        let error = (alike.measure)().map(drop);
        assert!(
            matches!(&error, Err(Error::Wrong(why)) if why.starts_with("it is safe, but k-MC says unsafe: ")),
            "{error:?}"
        );
    }
}
