//! All figures of the report.

use crate::{Error, Figure, Result};

/// All figures, in the order of the report.
#[must_use]
pub fn all() -> Vec<Figure> {
    [
        crate::streaming::figures(),
        crate::double_buffering::figures(),
        crate::fft::figures(),
        crate::coordination::figures(),
        crate::channels::figures(),
        crate::verification::figures(),
        crate::build_cost::figures(),
        crate::transports::figures(),
        crate::applications::figures(),
        crate::servers::figures(),
    ]
    .concat()
}

/// The figures of these names; all figures without a name.
///
/// # Errors
///
/// [`Error::UnknownFigure`].
pub fn named(names: &[String]) -> Result<Vec<Figure>> {
    let all = all();
    if let Some(unknown) =
        names.iter().find(|name| all.iter().all(|figure| figure.name != name.as_str()))
    {
        return Err(Error::UnknownFigure {
            name: unknown.clone(),
            known: all.iter().map(|figure| figure.name).collect(),
        });
    }
    Ok(all
        .into_iter()
        .filter(|figure| names.is_empty() || names.iter().any(|name| name == figure.name))
        .collect())
}
