//! The picture of a figure: lines over numbers, bars over names.
//!
//! Text is placed with estimated widths, so that no fonts are needed to draw it.

use std::fmt::Display;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::data::{Data, digits};
use crate::{Error, Figure, Of, Quartiles, Result};

const SIZE: (u32, u32) = (960, 480);
const LEGEND: u32 = 290;

/// Distinguishable colours, for one series after another.
const COLOURS: [RGBColor; 12] = [
    RGBColor(0x1f, 0x77, 0xb4),
    RGBColor(0x17, 0x3f, 0x8a),
    RGBColor(0x2c, 0xa0, 0x2c),
    RGBColor(0x0b, 0x5d, 0x1e),
    RGBColor(0x17, 0xbe, 0xcf),
    RGBColor(0x00, 0x7a, 0x87),
    RGBColor(0x7f, 0x7f, 0x7f),
    RGBColor(0xd6, 0x27, 0x28),
    RGBColor(0xff, 0x7f, 0x0e),
    RGBColor(0x94, 0x67, 0xbd),
    RGBColor(0xe3, 0x77, 0xc2),
    RGBColor(0x8c, 0x56, 0x4b),
];

/// One line, or one colour of bars.
struct Line {
    name: String,
    of: Of,
    colour: RGBColor,
    points: Vec<(f64, Quartiles)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// An SVG picture of a figure.
///
/// # Errors
///
/// [`Error::Plot`].
pub fn draw(figure: &Figure, data: &Data<'_>) -> Result<String> {
    let lines = lines(figure, data);
    let mut picture = String::new();
    {
        let area = SVGBackend::with_string(&mut picture, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(plot)?;
        let (chart, legend) = area.split_horizontally(SIZE.0 - LEGEND);
        draw_legend(&legend, &lines)?;
        if let Some(bounds) = bounds(figure, &lines) {
            draw_chart(&chart, figure, &lines, bounds)?;
        }
        area.present().map_err(plot)?;
    }
    Ok(picture)
}

fn plot(error: impl Display) -> Error {
    Error::Plot(error.to_string())
}

/// The shown points of each series.
fn lines(figure: &Figure, data: &Data<'_>) -> Vec<Line> {
    let scaled = |quartiles: Quartiles| Quartiles {
        low: quartiles.low * figure.y.scale,
        median: quartiles.median * figure.y.scale,
        high: quartiles.high * figure.y.scale,
    };
    figure
        .series
        .iter()
        .zip(COLOURS.iter().cycle())
        .map(|(series, &colour)| {
            let points = match &series.of {
                Of::Published(points) => points
                    .iter()
                    .filter_map(|&(x, y)| Some((x as f64, scaled(Quartiles::of(&[y])?))))
                    .collect(),
                _ => data
                    .figure(figure.name)
                    .into_iter()
                    .flat_map(|figure| data.rows(figure.name))
                    .filter(|row| row.series == series.name)
                    .filter_map(|row| Some((row.x as f64, scaled(Quartiles::of(&row.samples)?))))
                    .collect(),
            };
            Line { name: series.name.to_owned(), of: series.of.clone(), colour, points }
        })
        .filter(|line: &Line| !line.points.is_empty())
        .collect()
}

/// The values of both axes; `None` if there is nothing to show.
fn bounds(figure: &Figure, lines: &[Line]) -> Option<(Range<f64>, Range<f64>)> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let least = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::min);
    let most = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::max);
    let x = least(&mut points().map(|(x, _)| *x))?..most(&mut points().map(|(x, _)| *x))?;
    let y = least(&mut points().map(|(_, y)| y.low))?..most(&mut points().map(|(_, y)| y.high))?;
    let x = if !figure.x.names.is_empty() {
        -0.5..x.end + 0.5
    } else if figure.x.log {
        // A logarithmic axis has no zero.
        x.start.max(0.5)..x.end.max(1.0) * 1.2
    } else {
        let margin = ((x.end - x.start) * 0.04).max(0.5);
        (x.start - margin)..(x.end + margin)
    };
    let y = if figure.y.log {
        let low = y.start.max(y.end * 1e-9);
        low / 1.5..y.end * 1.5
    } else {
        0.0..y.end * 1.08
    };
    (y.end > y.start).then_some((x, y))
}

fn draw_chart(
    area: &Area<'_>,
    figure: &Figure,
    lines: &[Line],
    (x, y): (Range<f64>, Range<f64>),
) -> Result<()> {
    match (figure.x.log, figure.y.log) {
        (false, false) => draw_axes(area, figure, lines, x, y.clone(), y),
        (false, true) => draw_axes(area, figure, lines, x, y.clone().log_scale(), y),
        (true, false) => draw_axes(area, figure, lines, x.log_scale(), y.clone(), y),
        (true, true) => draw_axes(area, figure, lines, x.log_scale(), y.clone().log_scale(), y),
    }
}

fn draw_axes<X, Y>(
    area: &Area<'_>,
    figure: &Figure,
    lines: &[Line],
    x: X,
    y: Y,
    range: Range<f64>,
) -> Result<()>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .caption(figure.title, ("sans-serif", 20))
        .margin(10)
        .x_label_area_size(45)
        .y_label_area_size(70)
        .build_cartesian_2d(x, y)
        .map_err(plot)?;
    let names = figure.x.names;
    let x_name = |x: &f64| {
        if names.is_empty() {
            return digits_short(*x);
        }
        let near = x.round();
        let name = names.get(near.max(0.0) as usize);
        match name {
            Some(name) if (x - near).abs() < 1e-6 && near >= 0.0 => (*name).to_owned(),
            _ => String::new(),
        }
    };
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(figure.x.label)
        .y_desc(figure.y.label)
        .x_label_formatter(&x_name)
        .y_label_formatter(&|y| digits_short(*y))
        .axis_desc_style(("sans-serif", 15))
        .label_style(("sans-serif", 13))
        .light_line_style(WHITE);
    if !names.is_empty() {
        mesh.x_labels(2 * names.len() + 1).disable_x_mesh();
    }
    mesh.draw().map_err(plot)?;

    if names.is_empty() {
        for line in lines {
            let colour = line.colour;
            let width = if matches!(line.of, Of::Ours) { 2 } else { 1 };
            let style = colour.stroke_width(width);
            let middle = || line.points.iter().map(|(x, y)| (*x, y.median));
            chart.draw_series(LineSeries::new(middle(), style)).map_err(plot)?;
            let spreads = line.points.iter().map(|(x, y)| {
                PathElement::new(vec![(*x, y.low), (*x, y.high)], colour.stroke_width(1))
            });
            chart.draw_series(spreads).map_err(plot)?;
            match line.of {
                Of::Ours => chart
                    .draw_series(middle().map(|at| Circle::new(at, 4, colour.filled())))
                    .map(|_| ()),
                Of::Peer => chart
                    .draw_series(middle().map(|at| TriangleMarker::new(at, 5, colour.filled())))
                    .map(|_| ()),
                Of::Floor | Of::Published(_) => {
                    chart.draw_series(middle().map(|at| Cross::new(at, 4, colour))).map(|_| ())
                }
            }
            .map_err(plot)?;
        }
        return Ok(());
    }
    let width = 0.8 / lines.len().max(1) as f64;
    for (index, line) in lines.iter().enumerate() {
        let left = |x: f64| x - 0.4 + width * index as f64;
        let bars = line.points.iter().map(|(x, y)| {
            let corners = [(left(*x), range.start), (left(*x) + 0.9 * width, y.median)];
            Rectangle::new(corners, line.colour.filled())
        });
        chart.draw_series(bars).map_err(plot)?;
        let spreads = line.points.iter().map(|(x, y)| {
            let middle = left(*x) + 0.45 * width;
            PathElement::new(vec![(middle, y.low), (middle, y.high)], BLACK)
        });
        chart.draw_series(spreads).map_err(plot)?;
    }
    Ok(())
}

fn draw_legend(area: &Area<'_>, lines: &[Line]) -> Result<()> {
    for (index, line) in lines.iter().enumerate() {
        let y = 45 + 22 * i32::try_from(index).unwrap_or(0);
        let colour = line.colour;
        let stroke = PathElement::new(vec![(5, y), (35, y)], colour.stroke_width(2));
        area.draw(&stroke).map_err(plot)?;
        match line.of {
            Of::Ours => area.draw(&Circle::new((20, y), 4, colour.filled())),
            Of::Peer => area.draw(&TriangleMarker::new((20, y), 5, colour.filled())),
            Of::Floor | Of::Published(_) => area.draw(&Cross::new((20, y), 4, colour)),
        }
        .map_err(plot)?;
        let text = Text::new(line.name.clone(), (42, y - 7), ("sans-serif", 14));
        area.draw(&text).map_err(plot)?;
    }
    Ok(())
}

/// A number on an axis.
fn digits_short(value: f64) -> String {
    let text = digits(value);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}
