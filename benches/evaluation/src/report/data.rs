//! Medians and ratios.

use std::collections::BTreeSet;

use crate::{Environment, Figure, Mode, Of, Quartiles, Row, Store, Unit};

/// The stored results in the report: for each figure the full measurement, or else the quick one.
#[derive(Clone, Debug)]
pub struct Data<'a> {
    store: &'a Store,
    figures: &'a [Figure],
}

/// How many times better one series is than another at one x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Of the medians: more than one if the first is better.
    pub factor: f64,
    /// True if the quartiles overlap.
    pub is_noise: bool,
}

impl<'a> Data<'a> {
    /// The results of these figures.
    #[must_use]
    pub fn new(store: &'a Store, figures: &'a [Figure]) -> Self {
        Self { store, figures }
    }

    /// The figures with measurements.
    pub fn measured(&self) -> impl Iterator<Item = &'a Figure> {
        self.figures.iter().filter(|figure| self.mode(figure.name).is_some())
    }

    /// The figures without measurements.
    pub fn missing(&self) -> impl Iterator<Item = &'a Figure> {
        self.figures.iter().filter(|figure| self.mode(figure.name).is_none())
    }

    /// The figure of this name.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<&'a Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// How long the figure was measured.
    #[must_use]
    pub fn mode(&self, figure: &'a str) -> Option<Mode> {
        [Mode::Full, Mode::Quick]
            .into_iter()
            .find(|&mode| self.store.rows(figure, mode).next().is_some())
    }

    /// The rows of a figure that are shown.
    pub fn rows(&self, figure: &'a str) -> impl Iterator<Item = &'a Row> {
        self.mode(figure).into_iter().flat_map(move |mode| self.store.rows(figure, mode))
    }

    /// The row of a series at x.
    #[must_use]
    pub fn row(&self, figure: &'a str, series: &str, x: u64) -> Option<&'a Row> {
        self.store.row(figure, series, x, self.mode(figure)?)
    }

    /// The measured values of the x axis, from left to right.
    #[must_use]
    pub fn xs(&self, figure: &'a str) -> Vec<u64> {
        let xs: BTreeSet<u64> = self.rows(figure).map(|row| row.x).collect();
        xs.into_iter().collect()
    }

    /// The median and quartiles of a series at x; `None` without samples, or if it took too long.
    #[must_use]
    pub fn quartiles(&self, figure: &'a str, series: &str, x: u64) -> Option<Quartiles> {
        Quartiles::of(&self.row(figure, series, x)?.samples)
    }

    /// How many times better `series` is than `than` at x. `None` if one was not measured, or if
    /// they were not measured together.
    #[must_use]
    pub fn ratio(&self, figure: &'a str, x: u64, series: &str, than: &str) -> Option<Ratio> {
        let (one, other) = (self.row(figure, series, x)?, self.row(figure, than, x)?);
        if one.environment != other.environment || one.date != other.date || one.unit != other.unit
        {
            return None;
        }
        let (a, b) = (Quartiles::of(&one.samples)?, Quartiles::of(&other.samples)?);
        let factor =
            if one.unit.more_is_better() { a.median / b.median } else { b.median / a.median };
        factor.is_finite().then(|| Ratio { factor, is_noise: a.overlaps(&b) })
    }

    /// The series with the best median at x.
    #[must_use]
    pub fn best<'s>(
        &self,
        figure: &'a str,
        x: u64,
        series: impl IntoIterator<Item = &'s str>,
    ) -> Option<&'s str> {
        series
            .into_iter()
            .filter_map(|series| {
                let row = self.row(figure, series, x)?;
                let median = Quartiles::of(&row.samples)?.median;
                let rank = if row.unit.more_is_better() { -median } else { median };
                Some((rank, series))
            })
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
            .map(|(_, series)| series)
    }

    /// The unit of a figure's samples.
    #[must_use]
    pub fn unit(&self, figure: &'a str) -> Option<Unit> {
        self.rows(figure).next().map(|row| row.unit)
    }

    /// The environments of the shown results, each once.
    #[must_use]
    pub fn environments(&self) -> Vec<(&'a str, &'a Environment)> {
        let ids: BTreeSet<&str> = self
            .measured()
            .flat_map(|figure| self.rows(figure.name))
            .map(|row| row.environment.as_str())
            .collect();
        ids.into_iter().filter_map(|id| Some((id, self.store.environment(id)?))).collect()
    }
}

/// The names of the series of this kind.
pub fn names_of<'f>(figure: &'f Figure, of: &'f Of) -> impl Iterator<Item = &'static str> + 'f {
    figure.series.iter().filter(move |series| series.of == *of).map(|series| series.name)
}

/// A number with three significant digits.
#[must_use]
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !size.is_finite() {
        return format!("{value}");
    }
    let power = size.log10().floor() as i32;
    if !(-4..9).contains(&power) {
        return format!("{value:.2e}");
    }
    format!("{value:.*}", usize::try_from(2 - power).unwrap_or(0))
}
