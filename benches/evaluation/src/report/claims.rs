//! The claims about the results.

use std::fmt;

use super::data::{Data, Ratio, digits, names_of};
use crate::{Of, Quartiles, channels};

/// One line at the top of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The compared series: Markdown.
    pub what: String,
    /// The wanted ratio.
    pub wanted: String,
    /// The measured ratio.
    pub measured: String,
    /// The ratio for a bare program in the place of ours.
    pub bare: String,
    /// The verdict.
    pub verdict: Verdict,
}

/// The verdict on a claim. Of several verdicts, the last one here counts, or the first one if no
/// ratio is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It was not measured.
    Unmeasured,
    /// No ratio is wanted.
    Told,
    /// It holds wherever it was measured.
    Pass,
    /// The difference is within the noise: the quartiles overlap.
    Noise,
    /// It does not hold, nor would it for a bare program in the place of ours.
    Bare,
    /// It does not.
    Short,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unmeasured => "not measured",
            Self::Told => "told",
            Self::Pass => "**pass**",
            Self::Noise => "**within noise**",
            Self::Bare => "**out of reach**",
            Self::Short => "**short**",
        })
    }
}

/// All of them.
#[must_use]
pub fn claims(data: &Data<'_>) -> Vec<Claim> {
    let of_sessions = [streaming(data), double_buffering(data), fft(data), delays(data)];
    let beside = [channels(data), transports(data), servers(data), building(data)];
    [of_sessions.concat(), beside.concat()].concat()
}

fn streaming(data: &Data<'_>) -> Vec<Claim> {
    let figure = "fig6-streaming";
    let one_thread = ["plain, join", "optimised, join", "plain, tokio 1", "optimised, tokio 1"];
    let original =
        ["rumpsteak 0.1, one task", "rumpsteak 0.1, tokio 1", "rumpsteak 0.1 optimised, tokio 1"];
    let ferrite = ["ferrite-session, tokio 1", "ferrite-session, tokio 2"];
    let best = |of: &str, theirs: &[&str], wanted| {
        let what =
            format!("streaming of 50 values, our best on one thread against the best of {of}");
        let floor = &["bare queues ahead, join"];
        Comparison { figure, what, ours: &one_thread, theirs, floor, wanted, from: 50 }.claim(data)
    };
    let mut claims = vec![
        best("`rumpsteak` 0.1 on one thread", &original, Some(3.0)),
        best("`ferrite-session`", &ferrite, Some(10.0)),
        best("`mpstthree`", &["mpstthree"], Some(20.0)),
    ];
    let floors = ["bare queues ahead, join", "bare queues, join"];
    let cells = ["cells ahead, tokio 1", "cells, tokio 1"];
    let empty = ["empty tasks, tokio 2"];
    for (ours, theirs, floor, wanted) in [
        ("plain, join", "rumpsteak 0.1, tokio 1", &floors[1..], None),
        ("optimised, join", "rumpsteak 0.1, tokio 1", &floors[..1], None),
        ("plain, tokio 1", "rumpsteak 0.1, tokio 1", &cells[1..], Some(2.0)),
        ("optimised, tokio 1", "rumpsteak 0.1 optimised, tokio 1", &cells[..1], Some(2.0)),
        ("plain, tokio 2", "rumpsteak 0.1, tokio 2", &empty, Some(2.0)),
        ("optimised, join", "plain, join", &floors, Some(1.5)),
        ("optimised, tokio 1", "plain, tokio 1", &cells, Some(1.5)),
        ("optimised, tokio 2", "plain, tokio 2", &empty, Some(1.5)),
    ] {
        let what = format!("streaming of 50 values, `{ours}` against `{theirs}`");
        let (ours, theirs) = (&[ours], &[theirs]);
        claims.push(Comparison { figure, what, ours, theirs, floor, wanted, from: 50 }.claim(data));
    }
    claims
}

fn double_buffering(data: &Data<'_>) -> Vec<Claim> {
    let figure = "fig6-double-buffering";
    let claim = |ours: &[&str], theirs: &[&str], floor, wanted| {
        let what = match ours {
            [series] => format!("`{series}`"),
            _ => "our best on one thread".to_owned(),
        };
        let what = format!("double buffering without delays, {what} against `{}`", theirs[0]);
        Comparison { figure, what, ours, theirs, floor, wanted, from: 0 }.claim(data)
    };
    let best: &[&str] = &["plain, join", "optimised, join"];
    let original = ["rumpsteak 0.1, one task", "rumpsteak 0.1 optimised, one task"];
    let floor: &[&str] = &["bare queues, join"];
    vec![
        claim(&["optimised, join"], &["plain, join"], &[], None),
        claim(&["optimised, tokio 1"], &["plain, tokio 1"], &[], None),
        claim(&["optimised, tokio 2"], &["plain, tokio 2"], &[], None),
        claim(&["optimised, threads"], &["plain, threads"], &[], None),
        claim(best, &original, floor, Some(1.3)),
        claim(best, &["copies alone"], floor, Some(0.7)),
    ]
}

fn fft(data: &Data<'_>) -> Vec<Claim> {
    let figure = "fig6-fft";
    let ours =
        data.figure(figure).map_or_else(Vec::new, |figure| names_of(figure, &Of::Ours).collect());
    let (on_two, on_one): (Vec<_>, Vec<_>) = ours.into_iter().partition(|series: &&str| {
        ["tokio 2", "two threads"].iter().any(|two| series.ends_with(two))
    });
    let (one, two) = ("bare queues, join", "bare queues, two threads");
    let claim = |what: &str, ours: &[&str], theirs, floor, wanted, from| {
        let (what, theirs, floor) = (format!("FFT, {what}"), &[theirs], &[floor]);
        Comparison { figure, what, ours, theirs, floor, wanted, from }.claim(data)
    };
    vec![
        claim(
            "5000 columns and more, our best on one thread against `rustfft` as the paper uses it",
            &on_one,
            "rustfft, as in the paper",
            one,
            Some(1.0),
            5_000,
        ),
        claim(
            "our best on one thread against its planner",
            &on_one,
            "rustfft, planner",
            one,
            Some(0.9),
            0,
        ),
        claim(
            "our best on two threads against its planner",
            &on_two,
            "rustfft, planner",
            two,
            Some(1.5),
            0,
        ),
        claim(
            "our best on one thread against the arithmetic of its processes alone",
            &on_one,
            "arithmetic alone",
            one,
            None,
            0,
        ),
    ]
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

/// One line for each cell, with the factor by which our best is ahead of each peer's best.
fn channels(data: &Data<'_>) -> Vec<Claim> {
    let figure = channels::NAME;
    let cell = |(x, cell): (u64, &str)| {
        let ratios = channels::PEERS.into_iter().filter_map(|(peer, series)| {
            let ours = data.best(figure, x, channels::OURS)?;
            let theirs = data.best(figure, x, series)?;
            Some((peer, data.ratio(figure, x, ours, theirs)?))
        });
        let ratios: Vec<_> = ratios.collect();
        let measured =
            ratios.iter().map(|(peer, ratio)| format!("`{peer}` {}×", digits(ratio.factor)));
        let verdict = ratios.iter().map(|(_, ratio)| verdict(*ratio, None, Some(1.0))).max();
        Claim {
            what: format!("{cell}: our best against the best of each of the usual channels"),
            wanted: "≥ 1× each".to_owned(),
            measured: measured.collect::<Vec<_>>().join(", "),
            bare: String::new(),
            verdict: verdict.unwrap_or(Verdict::Unmeasured),
        }
    };
    (0..).zip(channels::CELLS).map(cell).collect()
}

fn transports(data: &Data<'_>) -> Vec<Claim> {
    let delegation = "sj-fig14-delegation";
    let given = "sessions between processes, `delegated` against `forwarded`";
    let to_memory = "sessions between processes, `delegated, to memory` against `delegated`";
    let (jacobi, tree) = ("sj-fig15-jacobi", "1,000 exchanges of a tree, moved against copied");
    let layer = "100 exchanges over TCP against a bare socket with a frame for each message";
    vec![
        at_least(data, delegation, given, &["delegated"], &["forwarded"], Some(1.0)),
        at_least(data, delegation, to_memory, &["delegated, to memory"], &["delegated"], Some(1.0)),
        at_least(data, "sj-fig14-objects", layer, &["TCP"], &["bare TCP"], None),
        at_least(data, "sj-fig14-trees", tree, &["moved"], &["copied"], None),
        at_least(
            data,
            jacobi,
            "Jacobi, moved against copied",
            &["threads"],
            &["threads, copied"],
            None,
        ),
        at_least(
            data,
            jacobi,
            "Jacobi over TCP against MPI over TCP",
            &["processes"],
            &["MPI, TCP"],
            None,
        ),
        at_least(
            data,
            jacobi,
            "Jacobi over TCP, multicast against a line",
            &["processes"],
            &["line, processes"],
            None,
        ),
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
            Comparison {
                figure,
                what: plain,
                ours: &["pipelined"],
                theirs: &["in order"],
                floor: &[],
                wanted: Some(10.0),
                from: 1,
            }
            .claim(data),
        ]
    };
    beside.into_iter().flat_map(of_server).collect()
}

fn building(data: &Data<'_>) -> Vec<Claim> {
    let (figure, ours) = ("build-actions", &["by hand", "generated"]);
    let against = |theirs: &'static str, wanted| {
        let what =
            format!("building processes of many actions, the best of ours against `{theirs}`");
        let theirs = &[theirs];
        Comparison { figure, what, ours, theirs, floor: &[], wanted, from: 60 }.claim(data)
    };
    vec![against("rumpsteak 0.1", Some(10.0)), against("bare", None), against("bare, linear", None)]
}

/// The part of the time at 0 that is saved at `x`, with true if it reaches the wanted minimum.
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
        bare: String::new(),
        verdict,
    }
}

/// At each x the best of `ours` is so many times better than the best of `theirs`.
fn at_least<'a>(
    data: &Data<'a>,
    figure: &'a str,
    what: &str,
    ours: &[&str],
    theirs: &[&str],
    wanted: Option<f64>,
) -> Claim {
    let what = what.to_owned();
    Comparison { figure, what, ours, theirs, floor: &[], wanted, from: 0 }.claim(data)
}

/// How many times better our series are than others.
struct Comparison<'a, 's> {
    figure: &'a str,
    what: String,
    ours: &'s [&'s str],
    theirs: &'s [&'s str],
    /// A bare program that does what ours do; and one that does what theirs do, where these are
    /// sessions of ours, too.
    floor: &'s [&'s str],
    wanted: Option<f64>,
    /// The first x that counts.
    from: u64,
}

impl<'a, 's> Comparison<'a, 's> {
    fn claim(self, data: &Data<'a>) -> Claim {
        let ours = self.ratios(data, self.ours, self.theirs);
        let (bare, bare_theirs) = self.floor.split_at(self.floor.len().min(1));
        let bare_theirs = if bare_theirs.is_empty() { self.theirs } else { bare_theirs };
        let bare = self.ratios(data, bare, bare_theirs);
        let counts = ours.iter().filter(|(x, ..)| *x >= self.from);
        let verdict = counts.map(|&(x, _, ratio)| {
            let bare = bare.iter().find(|(at, ..)| *at == x).map(|(.., bare)| bare.factor);
            verdict(ratio, bare, self.wanted)
        });
        // Without a wanted ratio, a single difference beyond the noise is told.
        let verdict = if self.wanted.is_some() { verdict.max() } else { verdict.min() };
        Claim {
            verdict: verdict.unwrap_or(Verdict::Unmeasured),
            wanted: self.wanted.map_or_else(String::new, |wanted| format!("≥ {wanted}×")),
            measured: last_and_least(&ours, self.ours.len() > 1),
            bare: last_and_least(&bare, true),
            what: self.what,
        }
    }

    /// How many times better the best of these is than the best of those, at each x.
    fn ratios(
        &self,
        data: &Data<'a>,
        these: &[&'s str],
        those: &[&str],
    ) -> Vec<(u64, &'s str, Ratio)> {
        let ratio = |x| {
            let one = data.best(self.figure, x, these.iter().copied())?;
            let other = data.best(self.figure, x, those.iter().copied())?;
            Some((x, one, data.ratio(self.figure, x, one, other)?))
        };
        data.xs(self.figure).into_iter().filter_map(ratio).collect()
    }
}

/// The ratio at the last x, and the least one.
fn last_and_least(ratios: &[(u64, &str, Ratio)], is_named: bool) -> String {
    let least = ratios.iter().min_by(|(.., a), (.., b)| a.factor.total_cmp(&b.factor));
    let (Some((at, _, least)), Some((last, series, ratio))) = (least, ratios.last()) else {
        return String::new();
    };
    let mut text = format!("{}× at {last}", digits(ratio.factor));
    if is_named {
        text.push_str(&format!(" (`{series}`)"));
    }
    if at != last {
        text.push_str(&format!(", least {}× at {at}", digits(least.factor)));
    }
    text
}

/// The verdict on a ratio, given the ratio of a bare program.
fn verdict(ratio: Ratio, bare: Option<f64>, wanted: Option<f64>) -> Verdict {
    match wanted {
        None if ratio.is_noise => Verdict::Noise,
        None => Verdict::Told,
        Some(wanted) if ratio.factor < wanted => match bare {
            Some(bare) if bare < wanted => Verdict::Bare,
            _ => Verdict::Short,
        },
        Some(_) if ratio.is_noise => Verdict::Noise,
        Some(_) => Verdict::Pass,
    }
}
