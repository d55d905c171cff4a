//! Certificates: the evidence for a "yes" of subtyping, checked without the engine that found it.
//!
//! ```text
//!   T ≤ T′      if   check(certificate, T, T′) = Ok(())
//! ```
//!
//! Each form is a set of claims about *situations*: the subtype is in a state, and the supertype's
//! actions before some point are pending, because the subtype does other actions first.
//!
//! | form | pending actions are known | for |
//! |---|---|---|
//! | [`derivation`] | one by one, with open choices | pairs with a bound |
//! | [`invariant`] | as a set of words for each peer and direction | anticipation without bound |
//! | [`fair`](invariant::fair) | as in an invariant | the fair relation |
//! | [`steps`] | nothing is pending | machines that are not directed |
//!
//! [`drained`] is another kind of evidence: that a whole system is safe with queues of any length.
//!
//! Each module opens with its argument: why a certificate that is accepted proves the relation. The
//! checkers share no code with the engines, nor with each other.

pub mod derivation;
pub mod drained;
mod fault;
pub mod invariant;
pub mod steps;

use crate::machine::Fsm;

pub use self::derivation::Derivation;
pub use self::fault::{Fault, Invalid};
pub use self::invariant::Invariant;
pub use self::invariant::fair::FairInvariant;
pub use self::steps::Steps;

/// The evidence for `sub ≤ sup`, in the ids of the two machines, if [`check`] accepts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// The pending actions are known.
    Derivation(Derivation),
    /// The pending actions are in a known set.
    Invariant(Invariant),
    /// An invariant of the fair relation.
    Fair(FairInvariant),
    /// Nothing is ever pending.
    Steps(Steps),
}

/// Checks that `certificate` proves `sub ≤ sup`, in the relation that it is about.
///
/// ```
/// use rumpsteak_fsm::{Limits, Verdict, certificate, dot, subtype};
///
/// let sup = dot::parse(r#"digraph b { 0 -> 1 [label="a?v"]; 1 -> 0 [label="c!v"] }"#)?.remove(0);
/// let sub = dot::parse(r#"digraph b { 0 -> 1 [label="c!v"]; 1 -> 0 [label="a?v"] }"#)?.remove(0);
///
/// let Verdict::Safe(proof) = subtype::check(&sub, &sup, &Limits::default())? else {
///     return Err("sending first is safe".into());
/// };
/// let certificate = proof.certificate();
/// assert_eq!(certificate::check(&certificate, &sub, &sup), Ok(()));
/// // It does not prove the opposite.
/// assert!(certificate::check(&certificate, &sup, &sub).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first [`Invalid`] claim, in the order of the certificate.
pub fn check(certificate: &Certificate, sub: &Fsm, sup: &Fsm) -> Result<(), Invalid> {
    let are_directed = || sub.check_directed().is_ok() && sup.check_directed().is_ok();
    match certificate {
        Certificate::Steps(steps) => steps::check(steps, sub, sup),
        _ if !are_directed() => Err(Invalid::at(0, 0, Fault::NotDirected)),
        Certificate::Derivation(derivation) => derivation::check::check(derivation, sub, sup),
        Certificate::Invariant(invariant) => invariant::check::check(invariant, None, sub, sup),
        Certificate::Fair(fair) => invariant::check::check(&fair.invariant, Some(fair), sub, sup),
    }
}
