//! A "safe" of subtyping that is believed.

use std::error::Error;
use std::fmt;

use crate::certificate::{self, Invalid};
use crate::machine::Fsm;
use crate::subtype::{self, InputError, Proof, Refusal};
use crate::system::SystemError;
use crate::verdict::{Limit, Limits, Verdict};

/// [Subtyping](subtype::check) whose "safe" is believed only if its [certificate] is valid.
///
/// It takes for granted that what the supertype waits for comes. The message that asks a role which
/// plays [on demand](Fsm::on_demand) need not: no send may be moved ahead of it, so a subtype that
/// does not wait for it is undecided.
///
/// # Errors
/// If one of the two machines is not directed, or the certificate is not valid.
pub fn certified(
    sub: &Fsm,
    sup: &Fsm,
    limits: &Limits,
) -> Result<Verdict<Proof, Refusal>, VerifyError> {
    match subtype::check(sub, sup, limits)? {
        Verdict::Safe(_) if sup.is_on_demand() && !sub.waits_to_be_asked() => {
            Ok(Verdict::Undecided(Limit::Queue(limits.queue)))
        }
        Verdict::Safe(proof) => Ok(Verdict::Safe(believed(proof, sub, sup)?)),
        verdict => Ok(verdict),
    }
}

/// The [fair relation](subtype::check_fair), likewise.
///
/// # Errors
/// As [`certified`].
pub fn certified_fair(sub: &Fsm, sup: &Fsm, limits: &Limits) -> Result<Option<Proof>, VerifyError> {
    if sup.is_on_demand() {
        return Ok(None);
    }
    let proof = subtype::check_fair(sub, sup, limits)?;
    Ok(proof.map(|proof| believed(proof, sub, sup)).transpose()?)
}

/// A proof whose certificate is valid for these machines.
///
/// # Errors
///
/// If it is not.
pub fn believed(proof: Proof, sub: &Fsm, sup: &Fsm) -> Result<Proof, Invalid> {
    certificate::check(&proof.certificate(), sub, sup)?;
    Ok(proof)
}

/// What [`verify`](super::verify()) cannot answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// One of the two machines.
    Machine(InputError),
    /// The projections together.
    System(SystemError),
    /// Subtyping says "safe", and its evidence does not show it. So nothing is known. This is a
    /// fault of the verifier.
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

impl From<InputError> for VerifyError {
    fn from(error: InputError) -> Self {
        Self::Machine(error)
    }
}

impl From<Invalid> for VerifyError {
    fn from(invalid: Invalid) -> Self {
        Self::Certificate(invalid)
    }
}
