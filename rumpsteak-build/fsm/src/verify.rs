//! One role against its protocol: subtyping, and the run that shows what a refusal means.

use std::{borrow::Borrow, error::Error, fmt};

use crate::{
    certificate::{self, Invalid},
    machine::Fsm,
    run::Run,
    subtype::{self, InputError, Proof, Refusal},
    system::{Coverage, System, SystemError, explore},
    verdict::{Limits, Verdict},
};

/// Why a written machine is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What subtyping says. `None` if subtyping is undecided, and a run decides.
    pub refusal: Option<Refusal>,
    /// What happens with these very peers.
    pub evidence: Evidence,
}

/// What happens when a refused machine runs with the projections of its peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Something goes wrong: the shortest run that shows it. If all that goes wrong is that a role
    /// starves, the run leads there.
    Run(Box<Run>),
    /// No run was found in which something goes wrong. About a quarter of refusals are so: the
    /// machine is safe with peers that do exactly what the protocol says, but not with all that the
    /// peers may be replaced by.
    NoRun(Coverage),
    /// The machine names a role that has no part in the protocol, so nothing runs.
    NoSystem(SystemError),
}

/// Judges the machine that was written for a role against its projection.
///
/// `peers` are the projections onto all other roles. Safe: `written ≤ projected`, so any peers that
/// are safe with the projection are safe with the machine. Unsafe: it is not; with the actions that
/// may not change places, and the shortest run of the written machine with `peers` that goes wrong.
/// Subtyping that is undecided is unsafe if such a run is found, and undecided otherwise.
///
/// A narrowed choice is a subtype even if a third role then waits for ever; that is found by
/// [exploring](explore) the written machines of all roles together.
///
/// A "safe" of subtyping is believed only if its [certificate] is valid.
///
/// # Errors
/// If one of the two machines is not directed, and if the projections make no system. A certificate
/// that is not valid is an error too; it would be a fault of this crate.
pub fn verify<P: Borrow<Fsm>>(
    written: &Fsm,
    projected: &Fsm,
    peers: &[P],
    limits: &Limits,
) -> Result<Verdict<Proof, Refused>, VerifyError> {
    let peers: Vec<&Fsm> = peers.iter().map(P::borrow).collect();
    verify_among(written, projected, &peers, limits)
}

fn verify_among(
    written: &Fsm,
    projected: &Fsm,
    peers: &[&Fsm],
    limits: &Limits,
) -> Result<Verdict<Proof, Refused>, VerifyError> {
    let (refusal, undecided) = match certified(written, projected, limits)? {
        Verdict::Safe(proof) => return Ok(Verdict::Safe(proof)),
        Verdict::Unsafe(refusal) => (Some(refusal), None),
        Verdict::Undecided(limit) => (None, Some(limit)),
    };

    let compose = |machine| {
        let machines = std::iter::once(machine).chain(peers.iter().copied());
        System::new(machines.cloned().collect())
    };
    compose(projected).map_err(VerifyError::System)?;
    let evidence = match compose(written) {
        Err(error) => Evidence::NoSystem(error),
        Ok(system) => {
            let exploration = explore(&system, limits);
            match (exploration.verdict, exploration.starvation) {
                (Verdict::Unsafe(run), _) | (_, Some(run)) => Evidence::Run(Box::new(run)),
                _ => Evidence::NoRun(exploration.coverage),
            }
        }
    };
    match (undecided, &evidence) {
        (Some(limit), Evidence::NoRun(_)) => Ok(Verdict::Undecided(limit)),
        _ => Ok(Verdict::Unsafe(Refused { refusal, evidence })),
    }
}

/// [Subtyping](subtype::check) whose "safe" is believed only if its [certificate] is valid.
///
/// # Errors
/// If one of the two machines is not directed, or the certificate is not valid.
pub fn certified(
    sub: &Fsm,
    sup: &Fsm,
    limits: &Limits,
) -> Result<Verdict<Proof, Refusal>, VerifyError> {
    match subtype::check(sub, sup, limits)? {
        Verdict::Safe(proof) => Ok(Verdict::Safe(believed(proof, sub, sup)?)),
        verdict => Ok(verdict),
    }
}

/// A proof whose certificate is valid for these machines.
fn believed(proof: Proof, sub: &Fsm, sup: &Fsm) -> Result<Proof, Invalid> {
    certificate::check(&proof.certificate(), sub, sup)?;
    Ok(proof)
}

/// What [`verify`] cannot answer.
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap in a test is an assertion")]
mod tests {
    use super::*;
    use crate::machine::Action;

    fn cycle(actions: &[Action]) -> Fsm {
        let mut builder = Fsm::builder("m");
        let states: Vec<_> = actions.iter().map(|_| builder.add_state()).collect();
        for (at, action) in actions.iter().enumerate() {
            let next = states[(at + 1) % states.len()];
            builder.add_transition(states[at], action.clone(), next);
        }
        builder.build(states[0])
    }

    /// What would happen if an engine were wrong, which none is known to be: its proof is of
    /// something else.
    #[test]
    fn a_proof_of_something_else_is_not_believed() {
        let (ask, answer) = (
            Action::receive("p", "ask", &[]),
            Action::send("p", "ok", &[]),
        );
        let sup = cycle(&[ask.clone(), answer.clone()]);
        let ahead = cycle(&[answer.clone(), ask.clone()]);
        let twice = cycle(&[answer.clone(), answer, ask]);
        // With a bound, and without.
        for sub in [ahead, twice] {
            let Verdict::Safe(proof) = certified(&sub, &sup, &Limits::default()).unwrap() else {
                panic!("{sub:?}");
            };
            assert_eq!(believed(proof.clone(), &sub, &sup), Ok(proof.clone()));
            let error = VerifyError::from(believed(proof, &sup, &sub).unwrap_err());
            let text = error.to_string();
            let expected = "the verifier's answer is not believed, because its evidence is wrong: the certificate is not valid at rule ";
            assert!(text.starts_with(expected), "{text}");
        }
    }
}
