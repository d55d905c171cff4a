//! What has to hold, computed from the results.

use std::fmt;

use super::data::{Data, Ratio, digits};

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
    streaming(data)
}

fn streaming(data: &Data<'_>) -> Vec<Claim> {
    let ours = [
        "plain, join",
        "optimised, join",
        "plain, tokio 1",
        "optimised, tokio 1",
    ];
    let original = [
        "rumpsteak 0.1, one task",
        "rumpsteak 0.1, tokio 1",
        "rumpsteak 0.1 optimised, tokio 1",
    ];
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
        claims.push(at_least(
            data,
            STREAMING,
            &what,
            &[series],
            &["rumpsteak 0.1, tokio 1"],
            None,
        ));
    }
    for runner in ["join", "tokio 1", "tokio 2"] {
        let (optimised, plain) = (format!("optimised, {runner}"), format!("plain, {runner}"));
        let what = format!("streaming, `{optimised}` (a window of five values) against `{plain}`");
        claims.push(at_least(
            data,
            STREAMING,
            &what,
            &[&optimised],
            &[&plain],
            Some(1.5),
        ));
    }
    claims
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
    let ratios = data
        .xs(figure)
        .into_iter()
        .filter_map(|x| {
            let one = data.best(figure, x, ours.iter().copied())?;
            let other = data.best(figure, x, theirs.iter().copied())?;
            Some((x, one, data.ratio(figure, x, one, other)?))
        })
        .collect::<Vec<_>>();
    let worst = ratios
        .iter()
        .min_by(|(_, _, a), (_, _, b)| a.factor.total_cmp(&b.factor));
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
