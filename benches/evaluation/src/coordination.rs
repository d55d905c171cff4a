//! COORDINATION'21, Figs. 2 to 5: sessions of three roles that end.

use std::hint::black_box;

use futures::future::try_join3;

use crate::double_buffering::{self, Kernel, ours as buffers, pass_on_in_threads};
use crate::tasks::{PAUSE, expect, no_pause, one_thread, pause};
use crate::{Case, Error, Figure, Mode, Of, Result, Series, XAxis, YAxis, adder, ring};

const FRAMEWORKS: &str = "coordination-fig2";
const ADDER: &str = "coordination-fig3-adder";
const RING: &str = "coordination-fig3-ring";
const BUFFERS: &str = "coordination-fig3-double-buffering";
const RING_ORDERS: &str = "coordination-fig4";
const KERNELS: &str = "coordination-fig5";

/// The numbers that the adder adds.
const NUMBERS: (i32, i32) = (20, 22);

/// The sum, at both roles.
const SUMS: (i32, i32) = (42, 42);

/// All four; the third has a picture for each protocol.
#[must_use]
pub fn figures() -> Vec<Figure> {
    let series = |name, of, about| Series { name, of, about };
    let reuse = |name, title, cases| Figure {
        name,
        title,
        about: "COORDINATION'21, Fig. 3: so many sessions one after the other. *Reused*: roles and channels are made once. *One-shot*: each message takes with it the \
                channel of what follows, as in sesh and mpstthree, but asynchronous. All roles in one task of tokio's runtime of one thread.",
        x: XAxis { label: "sessions", log: false, names: &[] },
        y: YAxis { label: "time (µs)", log: false, scale: 1e6 },
        series: vec![
            series("reused", Of::Ours, "fresh roles, then so many sessions"),
            series(
                "one-shot",
                Of::Peer,
                "fresh channels for each session and each message; no roles",
            ),
        ],
        points: |_| vec![1, 2, 3, 4, 5],
        cases,
        notes: "",
    };
    vec![
        Figure {
            name: FRAMEWORKS,
            title: "Three protocols beside mpstthree",
            about: "COORDINATION'21, Fig. 2: one session with fresh roles and channels.",
            x: XAxis {
                label: "protocol",
                log: false,
                names: &["adder", "ring", "double buffering"],
            },
            y: YAxis { label: "time (µs)", log: true, scale: 1e6 },
            series: vec![
                series(
                    "tokio 1",
                    Of::Ours,
                    "all roles in one task, by `try_join`, as in the paper",
                ),
                series("join", Of::Ours, "all roles in one task, by `rumpsteak_runtime::join`"),
                series("mpstthree", Of::Peer, "it starts a thread for each role"),
            ],
            points: |_| vec![0, 1, 2],
            cases: frameworks,
            notes: "Buffers have one value.",
        },
        reuse(ADDER, "One-shot and reused channels: adder", reused_adder),
        reuse(RING, "One-shot and reused channels: ring", reused_ring),
        reuse(BUFFERS, "One-shot and reused channels: double buffering", reused_buffers),
        Figure {
            name: RING_ORDERS,
            title: "Ring, with delays",
            about: "COORDINATION'21, Fig. 4: a delay of 1 ms stands before each send of a ring of three. Who is optimised sends before it receives.",
            x: XAxis {
                label: "optimised roles",
                log: false,
                names: &["none", "b", "c", "b and c"],
            },
            y: YAxis { label: "time (ms)", log: false, scale: 1e3 },
            series: vec![series(
                "ours",
                Of::Ours,
                "all roles in one task of tokio's runtime of one thread",
            )],
            points: |_| vec![0, 1, 2, 3],
            cases: ring_orders,
            notes: "tokio's timer has a resolution of 1 ms and never fires early: here each delay takes a little more than two.",
        },
        Figure {
            name: KERNELS,
            title: "Double buffering, with delays",
            about: "COORDINATION'21, Fig. 5: a delay of 1 ms stands before the source sends a buffer and after the kernel has received it. *Weak*: the kernel asks \
                    for the second buffer when it has worked on the first. *Strong*: it asks for both at once.",
            x: XAxis {
                label: "optimisation of the kernel",
                log: false,
                names: &["none", "weak", "strong"],
            },
            y: YAxis { label: "time (ms)", log: false, scale: 1e3 },
            series: vec![
                series(
                    "ours",
                    Of::Ours,
                    "all roles in one task of tokio's runtime of one thread; tokio's timer",
                ),
                series("ours, threads", Of::Ours, "a thread for each role; each sleeps"),
                series("mpstthree", Of::Peer, "a thread for each role; each sleeps"),
            ],
            points: |_| vec![0, 1, 2],
            cases: kernels,
            notes: "`mpstthree` cannot express the strong optimisation. Threads sleep for a little more than 1 ms, tokio's timer for a little more than two: compare \
                    `ours` with itself, and `mpstthree` with `ours, threads`.",
        },
    ]
}

fn frameworks(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let case =
        |series, run: Box<dyn FnMut() -> Result<()>>| Case::timed(FRAMEWORKS, series, x, mode, run);
    let (runtime, join) = (one_thread()?, one_thread()?);
    let numbers = || black_box(NUMBERS);
    Ok(match x {
        0 => vec![
            case(
                "tokio 1",
                Box::new(move || {
                    let mut roles = adder::ours::Roles::default();
                    let sums =
                        runtime.block_on(adder::ours::add(&mut roles, numbers().0, numbers().1));
                    expect(&sums.map_err(Error::wrong)?, &SUMS)
                }),
            ),
            case(
                "join",
                Box::new(move || {
                    let mut roles = adder::ours::Roles::default();
                    let sums =
                        join.block_on(adder::ours::join(&mut roles, numbers().0, numbers().1));
                    expect(&sums.map_err(Error::wrong)?, &SUMS)
                }),
            ),
            case(
                "mpstthree",
                Box::new(move || expect(&adder::mpst::add(numbers().0, numbers().1)?, &SUMS)),
            ),
        ],
        1 => vec![
            case(
                "tokio 1",
                Box::new(move || {
                    let mut roles = ring::ours::Roles::default();
                    let received = runtime.block_on(ring::ours::lap(
                        &mut roles,
                        ring::ours::Order::Plain,
                        no_pause,
                    ));
                    expect(&received.map_err(Error::wrong)?, &ring::EXPECTED)
                }),
            ),
            case(
                "join",
                Box::new(move || {
                    let mut roles = ring::ours::Roles::default();
                    let received = join.block_on(ring::ours::join(&mut roles));
                    expect(&received.map_err(Error::wrong)?, &ring::EXPECTED)
                }),
            ),
            case("mpstthree", Box::new(|| expect(&ring::mpst::lap()?, &ring::EXPECTED))),
        ],
        2 => {
            let values = [
                double_buffering::values(2),
                double_buffering::values(2),
                double_buffering::values(2),
            ];
            let [first, second, third] = values;
            vec![
                case(
                    "tokio 1",
                    Box::new(move || {
                        let received = runtime.block_on(pass_on(
                            &mut buffers::Roles::default(),
                            &first,
                            Kernel::Plain,
                            no_pause,
                        ))?;
                        double_buffering::check(&received, &first, true)
                    }),
                ),
                case(
                    "join",
                    Box::new(move || {
                        let buffers::Roles { mut s, mut k, mut t } = Default::default();
                        let source =
                            buffers::source(&mut s, double_buffering::halves(&second), no_pause);
                        let all =
                            (source, buffers::kernel(&mut k, no_pause), buffers::sink(&mut t));
                        let (sent, passed, received) = join.block_on(rumpsteak_runtime::join(all));
                        let received = sent.and(passed).and(received).map_err(Error::wrong)?;
                        double_buffering::check(&received, &second, true)
                    }),
                ),
                case(
                    "mpstthree",
                    Box::new(move || {
                        double_buffering::check(
                            &double_buffering::mpst::run(&third, false, None)?,
                            &third,
                            true,
                        )
                    }),
                ),
            ]
        }
        _ => Vec::new(),
    })
}

fn reused_adder(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let (runtime, other) = (one_thread()?, one_thread()?);
    let numbers = || black_box(NUMBERS);
    Ok(vec![
        Case::timed(ADDER, "reused", x, mode, move || {
            let mut roles = adder::ours::Roles::default();
            (0..x).try_for_each(|_| {
                let sums = runtime.block_on(adder::ours::add(&mut roles, numbers().0, numbers().1));
                expect(&sums.map_err(Error::wrong)?, &SUMS)
            })
        }),
        Case::timed(ADDER, "one-shot", x, mode, move || {
            (0..x).try_for_each(|_| {
                let sums = other.block_on(adder::oneshot::add(numbers().0, numbers().1));
                expect(&sums?, &SUMS)
            })
        }),
    ])
}

fn reused_ring(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let (runtime, other) = (one_thread()?, one_thread()?);
    Ok(vec![
        Case::timed(RING, "reused", x, mode, move || {
            let mut roles = ring::ours::Roles::default();
            (0..x).try_for_each(|_| {
                let received = runtime.block_on(ring::ours::lap(
                    &mut roles,
                    ring::ours::Order::Plain,
                    no_pause,
                ));
                expect(&black_box(received.map_err(Error::wrong)?), &ring::EXPECTED)
            })
        }),
        Case::timed(RING, "one-shot", x, mode, move || {
            (0..x).try_for_each(|_| {
                let received = other.block_on(ring::oneshot::lap());
                expect(&black_box(received?), &ring::EXPECTED)
            })
        }),
    ])
}

fn reused_buffers(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let (runtime, other) = (one_thread()?, one_thread()?);
    let (values, theirs) = (double_buffering::values(2), double_buffering::values(2));
    Ok(vec![
        Case::timed(BUFFERS, "reused", x, mode, move || {
            let mut roles = buffers::Roles::default();
            (0..x).try_for_each(|_| {
                let received =
                    runtime.block_on(pass_on(&mut roles, &values, Kernel::Plain, no_pause))?;
                double_buffering::check(&black_box(received), &values, true)
            })
        }),
        Case::timed(BUFFERS, "one-shot", x, mode, move || {
            (0..x).try_for_each(|_| {
                let received = other.block_on(double_buffering::oneshot::run(&theirs))?;
                double_buffering::check(&black_box(received), &theirs, true)
            })
        }),
    ])
}

fn ring_orders(x: u64, mode: Mode) -> Result<Vec<Case>> {
    use ring::ours::Order;

    let order = match x {
        0 => Order::Plain,
        1 => Order::B,
        2 => Order::C,
        _ => Order::Both,
    };
    let runtime = one_thread()?;
    let mut roles = ring::ours::Roles::default();
    Ok(vec![Case::timed(RING_ORDERS, "ours", x, mode, move || {
        let received = runtime.block_on(ring::ours::lap(&mut roles, order, pause));
        expect(&received.map_err(Error::wrong)?, &ring::EXPECTED)
    })])
}

fn kernels(x: u64, mode: Mode) -> Result<Vec<Case>> {
    let kernel = match x {
        0 => Kernel::Plain,
        1 => Kernel::Weak,
        _ => Kernel::Optimised,
    };
    let runtime = one_thread()?;
    let (mut roles, mut in_threads) = (buffers::Roles::default(), buffers::Roles::default());
    let values = double_buffering::values(2);
    let (slept, theirs) = (values.clone(), values.clone());
    let mut cases = vec![
        Case::timed(KERNELS, "ours", x, mode, move || {
            let received = runtime.block_on(pass_on(&mut roles, &values, kernel, pause))?;
            double_buffering::check(&received, &values, true)
        }),
        Case::timed(KERNELS, "ours, threads", x, mode, move || {
            let received = pass_on_in_threads(
                &mut in_threads,
                double_buffering::halves(&slept),
                kernel,
                pause,
            )?;
            double_buffering::check(&received, &slept, true)
        }),
    ];
    if kernel != Kernel::Optimised {
        cases.push(Case::timed(KERNELS, "mpstthree", x, mode, move || {
            let received =
                double_buffering::mpst::run(&theirs, kernel == Kernel::Weak, Some(PAUSE))?;
            double_buffering::check(&received, &theirs, true)
        }));
    }
    Ok(cases)
}

/// Double buffering in one task.
async fn pass_on<F: Future<Output = ()>>(
    roles: &mut buffers::Roles,
    values: &[i32],
    kernel: Kernel,
    pause: impl Fn() -> F + Copy,
) -> Result<[Vec<i32>; 2]> {
    let buffers::Roles { s, k, t } = roles;
    let source = buffers::source(s, double_buffering::halves(values), pause);
    let received = try_join3(source, kernel.run(k, pause), buffers::sink(t)).await;
    received.map(|((), (), received)| received).map_err(Error::wrong)
}
