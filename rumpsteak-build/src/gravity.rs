//! How grave it is that something is wrong.

/// What a fault means for the question whether the package holds; the graver one is the greater.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Gravity {
    /// It is not known: a limit ended a proof, or an error that is reported elsewhere is in the
    /// way.
    Undecided,
    /// It does not hold.
    Fails,
    /// Something cannot be read, so there is nothing to judge.
    BadInput,
}
