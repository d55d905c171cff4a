//! Subtyping whose certificate is checked.

use std::error::Error;
use std::fmt;

use crate::certificate::{self, Invalid};
use crate::machine::Fsm;
use crate::subtype::{self, InputError, Proof, Refusal};
use crate::system::SystemError;
use crate::verdict::{Limit, Limits, Verdict};

/// [Subtyping](subtype::check), with a "safe" only if its [certificate] is valid.
///
/// Subtyping assumes that the supertype's messages come. The first message to a role [on
/// demand](Fsm::on_demand) may not, so no send may overtake it: a subtype that does not wait for it
/// is undecided.
///
/// # Errors
/// If one of the machines is not directed, or the certificate is not valid.
pub fn certified(
    sub: &Fsm,
    sup: &Fsm,
    limits: &Limits,
) -> Result<Verdict<Proof, Refusal>, VerifyError> {
    match subtype::check(sub, sup, limits).map_err(VerifyError::Machine)? {
        Verdict::Safe(_) if sup.is_on_demand() && !sub.waits_to_be_asked() => {
            Ok(Verdict::Undecided(Limit::Queue(limits.queue)))
        }
        Verdict::Safe(proof) => Ok(Verdict::Safe(believed(proof, sub, sup)?)),
        verdict => Ok(verdict),
    }
}

/// The [fair relation](subtype::check_fair), with its certificate checked.
///
/// # Errors
/// As [`certified`].
pub fn certified_fair(sub: &Fsm, sup: &Fsm, limits: &Limits) -> Result<Option<Proof>, VerifyError> {
    if sup.is_on_demand() {
        return Ok(None);
    }
    let proof = subtype::check_fair(sub, sup, limits).map_err(VerifyError::Machine)?;
    proof.map(|proof| believed(proof, sub, sup)).transpose()
}

/// Returns the proof if its certificate is valid for these machines.
///
/// # Errors
/// If it is not valid.
pub fn believed(proof: Proof, sub: &Fsm, sup: &Fsm) -> Result<Proof, VerifyError> {
    let checked = certificate::check(&proof.certificate(), sub, sup);
    checked.map(|()| proof).map_err(VerifyError::Certificate)
}

/// Why [`verify`](super::verify()) has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// One of the two machines is invalid.
    Machine(InputError),
    /// The projections make no system.
    System(SystemError),
    /// Subtyping says "safe" and its certificate is invalid: a fault of the verifier.
    Certificate(Invalid),
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(error) => error.fmt(f),
            Self::System(error) => write!(f, "the projections make no system: {error}"),
            Self::Certificate(invalid) => write!(
                f,
                "the verifier's answer is not believed, because its evidence is wrong: {invalid}; this is a fault of the verifier, please report it"
            ),
        }
    }
}

impl Error for VerifyError {}
