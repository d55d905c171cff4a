//! How serious a mistake is.

/// The consequence of a mistake for the package, the least serious first.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Gravity {
    /// The answer is unknown: a limit stopped the proof, or another error is in the way.
    Undecided,
    /// The package is wrong.
    Fails,
    /// An input cannot be read, so there is nothing to verify.
    BadInput,
}
