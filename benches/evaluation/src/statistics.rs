//! Medians, quartiles and ratios.

/// The middle of a set of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// A quarter of the samples is below.
    pub low: f64,
    /// Half of them are.
    pub median: f64,
    /// Three quarters are.
    pub high: f64,
}

impl Quartiles {
    /// The quartiles of these samples, with linear interpolation; `None` without samples, or if one
    /// of them is not a number.
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() || samples.iter().any(|sample| sample.is_nan()) {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |fraction: f64| {
            let place = fraction * (sorted.len() - 1) as f64;
            let (below, above) = (place.floor() as usize, place.ceil() as usize);
            sorted[below] + (sorted[above] - sorted[below]) * place.fract()
        };
        Some(Self { low: at(0.25), median: at(0.5), high: at(0.75) })
    }

    /// Returns true if the middle halves overlap: then a difference of the medians is within the
    /// noise.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// The width of the middle half, relative to the median.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.high - self.low) / self.median
    }
}
