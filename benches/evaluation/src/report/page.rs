//! The page of the report.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::claims::{Claim, claims};
use super::data::{Data, digits, names_of};
use crate::{Figure, Mode, Of, Quartiles, Row};

/// The page in Markdown, with links to the pictures beside it.
#[must_use]
pub fn page(data: &Data<'_>) -> String {
    let mut page = String::from("# The evaluation\n\n");
    head(&mut page, data);
    claims_table(&mut page, data);
    losses(&mut page, data);
    for figure in data.measured() {
        section(&mut page, figure, data);
    }
    page
}

/// Writes a line. Writing to a string does not fail.
macro_rules! line {
    ($page:expr, $($text:tt)*) => {{
        let _ = writeln!($page, $($text)*);
    }};
}

fn head(page: &mut String, data: &Data<'_>) {
    line!(
        page,
        "Made by `cargo run --release -p rumpsteak-evaluation -- run`; `run --quick FIGURE` measures one figure roughly.\n"
    );
    let modes: BTreeSet<&str> =
        data.measured().filter_map(|figure| data.mode(figure.name)).map(Mode::name).collect();
    if modes.contains(Mode::Quick.name()) {
        line!(
            page,
            "> Some of these figures were measured in **quick** mode: few and short samples. Do not quote them.\n"
        );
    }
    let dates: BTreeSet<&str> = data
        .measured()
        .flat_map(|figure| data.rows(figure.name))
        .map(|row| row.date.as_str())
        .collect();
    let environments = data.environments();
    if environments.len() > 1 {
        line!(
            page,
            "> The figures come from {} environments; ratios are only ever of one.\n",
            environments.len()
        );
    }
    line!(page, "| | |\n|---|---|");
    for (_, environment) in environments {
        line!(page, "| processor | {}, {} cores |", environment.cpu, environment.cores);
        line!(page, "| memory | {} GB |", digits(environment.memory as f64 / 1e9));
        line!(page, "| system | {} |", environment.os);
        line!(page, "| compiler | {} |", environment.rustc);
        line!(page, "| peers | {} |", environment.peers);
        line!(page, "| this project | sources `{}` |", environment.sources);
    }
    if let (Some(first), Some(last)) = (dates.first(), dates.last()) {
        line!(page, "| measured | {first} to {last} |");
    }
    line!(page, "| mode | {} |", modes.into_iter().collect::<Vec<_>>().join(", "));
    line!(page, "| allocator | `GLIBC_TUNABLES={}` |\n", crate::runner::ALLOCATOR);
    line!(
        page,
        "The series of one x are sampled in turns. Tables have medians, with the quartiles in brackets; each run checks its\n\
         output. A difference is *within noise* if the quartiles overlap.\n"
    );
    let missing = data.missing().map(|figure| figure.name).collect::<Vec<_>>();
    if !missing.is_empty() {
        line!(page, "Not measured: {}.\n", missing.join(", "));
    }
}

fn claims_table(page: &mut String, data: &Data<'_>) {
    line!(page, "## Claims\n\n| | wanted | measured | a bare program | |\n|---|---|---|---|---|");
    for Claim { what, wanted, measured, bare, verdict } in claims(data) {
        line!(page, "| {what} | {wanted} | {measured} | {bare} | {verdict} |");
    }
    line!(
        page,
        "\nA bare program does the same work at the least cost: nothing is checked, and no role can leave. \
         A ratio that even a bare program misses is *out of reach*. \
         With a wanted ratio, *within noise* holds at one x or more, otherwise at every x.\n"
    );
}

/// The places at which a peer is better than the best of ours.
fn losses(page: &mut String, data: &Data<'_>) {
    line!(page, "## Where we lose\n");
    let mut any = false;
    for figure in data.measured() {
        for peer in names_of(figure, &Of::Peer) {
            let lost = data
                .xs(figure.name)
                .into_iter()
                .filter_map(|x| {
                    let best = data.best(figure.name, x, names_of(figure, &Of::Ours))?;
                    let ratio = data.ratio(figure.name, x, peer, best)?;
                    (ratio.factor > 1.0).then(|| {
                        let noise = if ratio.is_noise { ", within noise" } else { "" };
                        format!("{}× at {}{noise}", digits(ratio.factor), at(figure, x))
                    })
                })
                .collect::<Vec<_>>();
            if !lost.is_empty() {
                any = true;
                let code = if peer.contains('`') { "" } else { "`" };
                line!(
                    page,
                    "- [{}](#{}): {code}{peer}{code} is better than the best of ours: {}.",
                    figure.title,
                    figure.name,
                    lost.join("; ")
                );
            }
        }
    }
    if !any {
        let nowhere = match data.measured().next() {
            Some(_) => "Nowhere, among what was measured here.",
            None => "Nothing was measured.",
        };
        line!(page, "{nowhere}");
    }
    line!(page, "");
}

fn section(page: &mut String, figure: &Figure, data: &Data<'_>) {
    let name = figure.name;
    line!(page, "<a id=\"{name}\"></a>\n\n## {}\n\n{}\n", figure.title, figure.about);
    line!(page, "![{}]({name}.svg)\n", figure.title);
    let xs = data.xs(figure.name);
    line!(page, "{}:\n", figure.y.label);
    let mut head = format!("| {} |", figure.x.label);
    let mut rule = "|---|".to_owned();
    for &x in &xs {
        head.push_str(&format!(" {} |", at(figure, x)));
        rule.push_str("---:|");
    }
    line!(page, "{head}\n{rule}");
    for series in &figure.series {
        let mut row = format!("| {} |", series.name);
        for &x in &xs {
            row.push_str(&format!(" {} |", cell(figure, data, series.name, &series.of, x)));
        }
        line!(page, "{row}");
    }
    line!(page, "");
    peaks(page, figure, data, &xs);
    ratios(page, figure, data, &xs);
    if !figure.notes.is_empty() {
        line!(page, "{}\n", figure.notes);
    }
    line!(page, "The series:\n");
    for series in &figure.series {
        line!(page, "- **{}**: {}", series.name, series.about);
    }
    line!(page, "");
}

/// The name of a value of the x axis.
fn at(figure: &Figure, x: u64) -> String {
    usize::try_from(x)
        .ok()
        .and_then(|index| figure.x.names.get(index))
        .map_or_else(|| x.to_string(), |name| (*name).to_owned())
}

fn cell(figure: &Figure, data: &Data<'_>, series: &str, of: &Of, x: u64) -> String {
    if let Of::Published(points) = of {
        return points
            .iter()
            .find(|(at, _)| *at == x)
            .map_or_else(String::new, |(_, y)| format!("*{}*", digits(y * figure.y.scale)));
    }
    data.figure(figure.name)
        .and_then(|figure| data.row(figure.name, series, x))
        .map_or_else(String::new, |row| value(figure, row))
}

fn value(figure: &Figure, row: &Row) -> String {
    match (Quartiles::of(&row.samples), row.timed_out) {
        (Some(quartiles), _) => {
            let [low, median, high] = [quartiles.low, quartiles.median, quartiles.high]
                .map(|value| digits(value * figure.y.scale));
            if row.samples.len() == 1 { median } else { format!("{median} ({low}–{high})") }
        }
        (None, Some(time)) => format!("timed out after {time} s"),
        (None, None) => String::new(),
    }
}

/// The table of peak memory, if it was measured.
fn peaks(page: &mut String, figure: &Figure, data: &Data<'_>, xs: &[u64]) {
    let Some(figure) = data.figure(figure.name) else {
        return;
    };
    if data.rows(figure.name).all(|row| row.peak.is_none()) {
        return;
    }
    line!(page, "Peak memory of the process in MB:\n");
    let names = xs.iter().map(|&x| at(figure, x)).collect::<Vec<_>>();
    line!(page, "| {} | {} |", figure.x.label, names.join(" | "));
    line!(page, "|---|{}", "---:|".repeat(xs.len()));
    for series in &figure.series {
        let cells = xs.iter().map(|&x| {
            data.row(figure.name, series.name, x)
                .and_then(|row| row.peak)
                .map_or_else(String::new, |peak| digits(peak as f64 / 1e6))
        });
        let cells = cells.collect::<Vec<_>>();
        if cells.iter().any(|cell| !cell.is_empty()) {
            line!(page, "| {} | {} |", series.name, cells.join(" | "));
        }
    }
    line!(page, "");
}

/// How many times better each of ours is than each of the others, at the last x.
fn ratios(page: &mut String, figure: &Figure, data: &Data<'_>, xs: &[u64]) {
    let Some(figure) = data.figure(figure.name) else {
        return;
    };
    let others =
        names_of(figure, &Of::Peer).chain(names_of(figure, &Of::Floor)).collect::<Vec<_>>();
    if others.is_empty() {
        return;
    }
    let shown = if figure.x.names.is_empty() {
        xs.last().copied().into_iter().collect()
    } else {
        xs.to_vec()
    };
    for x in shown {
        line!(page, "How many times better ours are, at {} (≈: within noise):\n", at(figure, x));
        line!(page, "| | {} |", others.join(" | "));
        line!(page, "|---|{}", "---:|".repeat(others.len()));
        for ours in names_of(figure, &Of::Ours) {
            let cells = others.iter().map(|other| {
                data.ratio(figure.name, x, ours, other).map_or_else(String::new, |ratio| {
                    let noise = if ratio.is_noise { "≈ " } else { "" };
                    format!("{noise}{}", digits(ratio.factor))
                })
            });
            line!(page, "| {ours} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        line!(page, "");
    }
}
