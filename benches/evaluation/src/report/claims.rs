//! What has to hold, computed from the results.

use std::fmt;

use super::data::{Data, Ratio, digits, names_of};
use crate::{Of, Quartiles};

/// One line at the top of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What is compared with what: Markdown.
    pub what: String,
    /// What has to come out.
    pub wanted: String,
    /// What came out.
    pub measured: String,
    /// Whether that is enough.
    pub verdict: Verdict,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds everywhere that it was measured.
    Pass,
    /// It does not.
    Short,
    /// The difference is within the noise: the quartiles overlap.
    Noise,
    /// There is nothing that has to come out.
    Told,
    /// It was not measured.
    Unmeasured,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Pass => "**pass**",
            Self::Short => "**short**",
            Self::Noise => "**within noise**",
            Self::Told => "told",
            Self::Unmeasured => "not measured",
        })
    }
}

const STREAMING: &str = "fig6-streaming";

/// All of them.
#[must_use]
pub fn claims(data: &Data<'_>) -> Vec<Claim> {
    let of_sessions = [streaming(data), double_buffering(data), fft(data), delays(data)];
    [of_sessions.concat(), transports(data), servers(data)].concat()
}

fn streaming(data: &Data<'_>) -> Vec<Claim> {
    let ours = ["plain, join", "optimised, join", "plain, tokio 1", "optimised, tokio 1"];
    let original =
        ["rumpsteak 0.1, one task", "rumpsteak 0.1, tokio 1", "rumpsteak 0.1 optimised, tokio 1"];
    let ferrite = ["ferrite-session, tokio 1", "ferrite-session, tokio 2"];
    let best = "streaming, our best on one thread against the best of";
    let mut claims = vec![
        at_least(
            data,
            STREAMING,
            &format!("{best} `rumpsteak` 0.1 on one thread"),
            &ours,
            &original,
            Some(2.0),
        ),
        at_least(
            data,
            STREAMING,
            &format!("{best} `ferrite-session`"),
            &ours,
            &ferrite,
            Some(10.0),
        ),
        at_least(
            data,
            STREAMING,
            &format!("{best} `mpstthree`"),
            &ours,
            &["mpstthree"],
            Some(20.0),
        ),
    ];
    for series in ours {
        let what = format!("streaming, `{series}` against `rumpsteak 0.1, tokio 1`");
        claims.push(at_least(data, STREAMING, &what, &[series], &["rumpsteak 0.1, tokio 1"], None));
    }
    for runner in ["join", "tokio 1", "tokio 2"] {
        let (optimised, plain) = (format!("optimised, {runner}"), format!("plain, {runner}"));
        let what = format!("streaming, `{optimised}` (a window of five values) against `{plain}`");
        claims.push(at_least(data, STREAMING, &what, &[&optimised], &[&plain], Some(1.5)));
    }
    for (series, floor) in [
        ("plain, join", "bare queues, join"),
        ("optimised, join", "bare queues ahead, join"),
        ("bare queues ahead, join", "bare queues, join"),
        ("plain, tokio 1", "cells, tokio 1"),
        ("plain, tokio 2", "empty tasks, tokio 2"),
        ("rumpsteak 0.1, tokio 2", "empty tasks, tokio 2"),
    ] {
        let what = format!("streaming, `{series}` against `{floor}`");
        claims.push(at_least(data, STREAMING, &what, &[series], &[floor], None));
    }
    claims
}

fn double_buffering(data: &Data<'_>) -> Vec<Claim> {
    let figure = "fig6-double-buffering";
    let runners = ["join", "tokio 1", "tokio 2"].into_iter().map(|runner| {
        let (optimised, plain) = (format!("optimised, {runner}"), format!("plain, {runner}"));
        let what = format!("double buffering without delays, `{optimised}` against `{plain}`");
        at_least(data, figure, &what, &[&optimised], &[&plain], None)
    });
    let best = [
        (&["rumpsteak 0.1, one task", "rumpsteak 0.1 optimised, one task"][..], Some(1.3)),
        (&["copies alone"], Some(0.7)),
        (&["bare queues, join"], None),
    ];
    let best = best.into_iter().map(|(theirs, wanted)| {
        let what = format!("double buffering without delays, our best against `{}`", theirs[0]);
        at_least(data, figure, &what, &["plain, join", "optimised, join"], theirs, wanted)
    });
    runners.chain(best).collect()
}

fn fft(data: &Data<'_>) -> Vec<Claim> {
    let figure = "fig6-fft";
    let ours =
        data.figure(figure).map_or_else(Vec::new, |figure| names_of(figure, &Of::Ours).collect());
    let (on_two, on_one): (Vec<_>, Vec<_>) = ours.into_iter().partition(|series: &&str| {
        ["tokio 2", "two threads"].iter().any(|two| series.ends_with(two))
    });
    let at_each = |what: &str, ours: &[&str], theirs, wanted| {
        at_least(data, figure, what, ours, &[theirs], wanted)
    };
    let planner = "rustfft, planner";
    let mut claims = vec![
        at_least_from(
            data,
            figure,
            "FFT of 5000 columns, our best on one thread against `rustfft` as the paper uses it",
            &on_one,
            &["rustfft, as in the paper"],
            Some(1.0),
            5_000,
        ),
        at_each("FFT, our best on one thread against its planner", &on_one, planner, Some(0.9)),
        at_each("FFT, our best on two threads against its planner", &on_two, planner, Some(1.5)),
        at_each(
            "FFT, our best on one thread against the arithmetic of its processes alone",
            &on_one,
            "arithmetic alone",
            None,
        ),
    ];
    for floor in ["bare queues, join", "bare queues, two threads", "planner, two threads"] {
        let what = format!("FFT, `{floor}` against the planner of `rustfft`");
        claims.push(at_each(&what, &[floor], planner, None));
    }
    claims
}

fn delays(data: &Data<'_>) -> Vec<Claim> {
    vec![
        gain(
            data,
            "coordination-fig4",
            "ring with delays of 1 ms, `b` and `c` optimised: time saved",
            3,
            Some((0.6, "about 2/3")),
        ),
        gain(
            data,
            "coordination-fig5",
            "double buffering with delays of 1 ms, strong optimisation: time saved",
            2,
            Some((0.2, "about 1/4")),
        ),
        gain(
            data,
            "coordination-fig5",
            "double buffering with delays of 1 ms, weak optimisation: time saved",
            1,
            None,
        ),
        at_least(
            data,
            "coordination-fig5",
            "double buffering with delays of 1 ms, a thread for each role, against `mpstthree`",
            &["ours, threads"],
            &["mpstthree"],
            Some(1.0),
        ),
    ]
}

fn transports(data: &Data<'_>) -> Vec<Claim> {
    let delegation = "sj-fig14-delegation";
    let given = "sessions between processes, `delegated` against `forwarded`";
    let to_memory = "sessions between processes, `delegated, to memory` against `delegated`";
    let layer = "100 exchanges over TCP against a bare socket with a frame for each message";
    vec![
        at_least(data, delegation, given, &["delegated"], &["forwarded"], Some(1.0)),
        at_least(data, delegation, to_memory, &["delegated, to memory"], &["delegated"], Some(1.0)),
        at_least(data, "sj-fig14-objects", layer, &["TCP"], &["bare TCP"], None),
    ]
}

fn servers(data: &Data<'_>) -> Vec<Claim> {
    let beside = [
        ("servers-redis", "redis", "`redis`, pipelined"),
        ("servers-postgres", "PostgreSQL", "`tokio-postgres`, pipelined"),
    ];
    let of_server = |(figure, server, usual)| {
        let what = |other: &str| format!("{server}, our client pipelined against {other}");
        let (plain, theirs) = (what("the order of the protocol, 1 ms away"), what(usual));
        [
            at_least(data, figure, &theirs, &["pipelined"], &[usual], Some(0.95)),
            at_least_from(data, figure, &plain, &["pipelined"], &["in order"], Some(10.0), 1),
        ]
    };
    beside.into_iter().flat_map(of_server).collect()
}

/// How much of the time at 0 is saved at `x`, and whether that is the least that is wanted.
fn gain<'a>(
    data: &Data<'a>,
    figure: &'a str,
    what: &str,
    x: u64,
    wanted: Option<(f64, &str)>,
) -> Claim {
    let rows = data
        .row(figure, "ours", 0)
        .zip(data.row(figure, "ours", x))
        .filter(|(plain, optimised)| plain.environment == optimised.environment);
    let quartiles = rows.and_then(|(plain, optimised)| {
        Quartiles::of(&plain.samples).zip(Quartiles::of(&optimised.samples))
    });
    let (measured, verdict) = match quartiles {
        None => (String::new(), Verdict::Unmeasured),
        Some((plain, optimised)) => {
            let saved = 1.0 - optimised.median / plain.median;
            let verdict = match wanted {
                Some((least, _)) if saved < least => Verdict::Short,
                _ if plain.overlaps(&optimised) => Verdict::Noise,
                Some(_) => Verdict::Pass,
                None => Verdict::Told,
            };
            (format!("{:.0} %", 100.0 * saved), verdict)
        }
    };
    Claim {
        what: what.to_owned(),
        wanted: wanted.map_or_else(String::new, |(least, about)| {
            format!("{about} (≥ {:.0} %)", 100.0 * least)
        }),
        measured,
        verdict,
    }
}

/// At each x the best of `ours` is so many times better than the best of `theirs`.
pub fn at_least<'a>(
    data: &Data<'a>,
    figure: &'a str,
    what: &str,
    ours: &[&str],
    theirs: &[&str],
    wanted: Option<f64>,
) -> Claim {
    at_least_from(data, figure, what, ours, theirs, wanted, 0)
}

/// The same, at each x from `from` on.
fn at_least_from<'a>(
    data: &Data<'a>,
    figure: &'a str,
    what: &str,
    ours: &[&str],
    theirs: &[&str],
    wanted: Option<f64>,
    from: u64,
) -> Claim {
    let ratios = data
        .xs(figure)
        .into_iter()
        .filter(|&x| x >= from)
        .filter_map(|x| {
            let one = data.best(figure, x, ours.iter().copied())?;
            let other = data.best(figure, x, theirs.iter().copied())?;
            Some((x, one, data.ratio(figure, x, one, other)?))
        })
        .collect::<Vec<_>>();
    let worst = ratios.iter().min_by(|(_, _, a), (_, _, b)| a.factor.total_cmp(&b.factor));
    let (measured, verdict) = match (worst, ratios.last()) {
        (Some(&(at, _, worst)), Some(&(last, series, ratio))) => {
            let mut text = format!("{}× at {last}", digits(ratio.factor));
            if ours.len() > 1 {
                text.push_str(&format!(" (`{series}`)"));
            }
            if at != last {
                text.push_str(&format!(", least {}× at {at}", digits(worst.factor)));
            }
            (text, verdict(worst, wanted))
        }
        _ => (String::new(), Verdict::Unmeasured),
    };
    Claim {
        what: what.to_owned(),
        wanted: wanted.map_or_else(String::new, |wanted| format!("≥ {wanted}×")),
        measured,
        verdict,
    }
}

/// Whether the worst ratio is enough.
fn verdict(worst: Ratio, wanted: Option<f64>) -> Verdict {
    match wanted {
        None if worst.is_noise => Verdict::Noise,
        None => Verdict::Told,
        Some(wanted) if worst.factor < wanted => Verdict::Short,
        Some(_) if worst.is_noise => Verdict::Noise,
        Some(_) => Verdict::Pass,
    }
}
