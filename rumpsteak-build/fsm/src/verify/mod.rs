//! One role against its protocol: subtyping, and the run that shows what a refusal means.
//!
//! ```text
//!   written ≤ projected      safe with whatever peers are safe with the projection
//! ```
//!
//! Some things subtyping does not see: a peer that is not directed, an option that is never taken,
//! and a machine that is not directed and does something early. Then the roles are judged
//! [together](mod@together).

mod certified;
mod dead_receives;
mod decide;
mod drain;
pub mod together;

use std::borrow::Borrow;

use self::together::{Condition, Part, Together, are_projections_safe, together, undirected};
use crate::machine::{Defect, Fsm, Role};
use crate::subtype::{InputError, Proof, Refusal, Side};
use crate::system::{Coverage, Failure, Neglected, Run, System, SystemError, explore};
use crate::verdict::{Limits, Verdict};

pub use self::certified::{VerifyError, believed, certified, certified_fair};
pub use self::dead_receives::dead_receives;
pub use self::decide::{Decision, Grounds, decide};
pub use self::drain::drain;

/// The reasons for a "safe".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The proof of subtyping. `None` if the machine does something early, and it or its projection
    /// is not directed: then only the [condition](Self::condition) counts.
    pub proof: Option<Proof>,
    /// Why subtyping alone was not enough, so that the machine was judged [together](mod@together)
    /// with its peers. Then the answer holds for these very peers only. If several machines were
    /// accepted so, ask again about all of them.
    pub condition: Option<Condition>,
}

/// Why a written machine is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The refusal of subtyping. `None` if a run decides, because subtyping is undecided or not
    /// enough.
    pub refusal: Option<Refusal>,
    /// Why subtyping is not enough, if it accepts the machine and a run refuses it.
    pub condition: Option<Condition>,
    /// The outcome with these very peers.
    pub evidence: Evidence,
}

impl Refused {
    /// The role that is not served in every run, if that is all that is wrong.
    pub fn neglected(&self) -> Option<&Role> {
        let Evidence::Run(run) = &self.evidence else { return None };
        let Failure::Neglect(Neglected { role, .. }) = &run.failure else { return None };
        Some(role)
    }
}

/// The outcome when a refused machine runs with the projections of its peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The shortest run that goes wrong, or a run to where a role starves if nothing else goes
    /// wrong.
    Run(Box<Run>),
    /// No run was found that goes wrong. The machine is safe with peers that do exactly what the
    /// protocol says, but not with all their subtypes.
    NoRun(Coverage),
    /// The machine names a role that is not in the protocol, so nothing runs.
    NoSystem(SystemError),
}

/// Judges the machine that was written for a role against its projection.
///
/// `peers` are the projections onto all other roles. Safe: `written ≤ projected`, so any peers that
/// are safe with the projection are safe with the machine, perhaps with a [`Condition`]. Unsafe:
/// the actions that may not change places, and the shortest run with `peers` that goes wrong. If
/// subtyping is undecided, the answer is unsafe if such a run is found, and undecided otherwise.
///
/// The machine is [played like](Fsm::played_like) the projection. A machine that leaves
/// out an option is a subtype even if a third role then waits for ever. To find that, judge the
/// machines of all roles [`together`](mod@together).
///
/// # Errors
/// If one of the two machines is not deterministic, if the projections make no system, or if a
/// [certificate](crate::certificate) is not valid, which is a fault of this crate.
pub fn verify<P: Borrow<Fsm>>(
    written: &Fsm,
    projected: &Fsm,
    peers: &[P],
    limits: &Limits,
) -> Result<Verdict<Accepted, Refused>, VerifyError> {
    let played = |fsm: &Fsm| (fsm.is_on_demand(), fsm.late().clone());
    if played(written) != played(projected) {
        return verify(&written.clone().played_like(projected), projected, peers, limits);
    }
    let peers: &[&Fsm] = &peers.iter().map(P::borrow).collect::<Vec<_>>();
    let compose =
        |machine: &Fsm| System::new([&[machine], peers].concat().into_iter().cloned().collect());
    let (refusal, undecided) = match certified(written, projected, limits) {
        Ok(Verdict::Safe(proof)) => {
            return among(Some(proof), written, projected, peers, |part| part, limits);
        }
        Ok(Verdict::Unsafe(refusal)) => (Some(refusal), None),
        Ok(Verdict::Undecided(limit)) => (None, Some(limit)),
        Err(VerifyError::Machine(InputError {
            defect: Defect::Mixed { .. } | Defect::Undirected { .. },
            ..
        })) => {
            for (side, fsm) in [(Side::Sub, written), (Side::Sup, projected)] {
                let error = |defect| VerifyError::Machine(InputError { side, defect });
                fsm.check_deterministic().map_err(error)?;
            }
            (None, None)
        }
        Err(error) => return Err(error),
    };

    compose(projected).map_err(VerifyError::System)?;
    let evidence = match compose(written) {
        Err(error) => Evidence::NoSystem(error),
        // Subtyping says nothing about these machines.
        Ok(_) if refusal.is_none() && undecided.is_none() => {
            return among(None, written, projected, peers, |part| part, limits);
        }
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
        _ => Ok(Verdict::Unsafe(Refused { refusal, condition: None, evidence })),
    }
}

/// Judges a machine as [`verify`] does, but asks only that everything that is put off can always
/// still be received. `None` if that is not known to hold.
///
/// Directed machines are judged by the [fair relation](crate::certificate::invariant::fair), others
/// [together](mod@together) with their peers. If it holds, it holds in all peers that are fair-safe
/// with the projection and let it leave its loops of receives. These peers are checked for that.
///
/// # Errors
/// As [`verify`].
pub fn verify_fair<P: Borrow<Fsm>>(
    written: &Fsm,
    projected: &Fsm,
    peers: &[P],
    limits: &Limits,
) -> Result<Option<Accepted>, VerifyError> {
    let written = &written.clone().played_like(projected);
    let peers: Vec<&Fsm> = peers.iter().map(P::borrow).collect();
    let is_directed = |fsm: &Fsm| fsm.check_directed().is_ok();
    let are_directed = is_directed(written) && is_directed(projected);
    let proof = if are_directed { certified_fair(written, projected, limits)? } else { None };
    let proof = match proof {
        Some(proof) => {
            let parts = parts(Some(&proof), written, projected, &peers);
            if undirected(&parts).is_none() && !are_projections_safe(&parts, limits)? {
                return Ok(None);
            }
            Some(proof)
        }
        None if are_directed && peers.iter().all(|peer| is_directed(peer)) => return Ok(None),
        None => match certified(written, projected, limits) {
            Ok(Verdict::Safe(proof)) => Some(proof),
            Err(VerifyError::Machine(_)) if written.check_deterministic().is_ok() => None,
            _ => return Ok(None),
        },
    };
    let is_proven = proof.is_some();
    match among(proof, written, projected, &peers, |part| part.fair(), limits) {
        Ok(Verdict::Safe(accepted)) => Ok(Some(accepted)),
        Ok(Verdict::Unsafe(_) | Verdict::Undecided(_)) => Ok(None),
        Err(VerifyError::System(_)) if !is_proven => Ok(None),
        Err(error) => Err(error),
    }
}

fn parts<'a>(
    proof: Option<&'a Proof>,
    written: &'a Fsm,
    projected: &'a Fsm,
    peers: &[&'a Fsm],
) -> Vec<Part<'a>> {
    let others = peers.iter().map(|peer| Part::projection(peer));
    std::iter::once(Part::new(written, projected, proof)).chain(others).collect()
}

/// Judges a machine among these peers, without a proof if nothing is known of it yet. `asked` sets
/// what is asked of each role.
fn among(
    proof: Option<Proof>,
    written: &Fsm,
    projected: &Fsm,
    peers: &[&Fsm],
    asked: impl Fn(Part<'_>) -> Part<'_>,
    limits: &Limits,
) -> Result<Verdict<Accepted, Refused>, VerifyError> {
    let parts = parts(proof.as_ref(), written, projected, peers).into_iter().map(asked);
    let parts: Vec<Part<'_>> = parts.collect();
    let Together { verdict, condition, starvation, .. } = together(&parts, limits)?;
    let condition = condition.map(|(_, condition)| condition);
    let starves =
        |run: &Run| matches!(&run.failure, Failure::Starvation(role) if role == written.role());
    let verdict = match (verdict, starvation.filter(starves)) {
        (Verdict::Safe(()), Some(run)) => Verdict::Unsafe(Box::new(run)),
        (unsafe_verdict @ Verdict::Unsafe(_), _) => unsafe_verdict,
        (other, _) => {
            let machines = std::iter::once(written).chain(peers.iter().copied()).cloned();
            let system = System::new(machines.collect()).map_err(VerifyError::System)?;
            match dead_receives(&system, 0, Some(projected), limits) {
                Verdict::Safe(()) => other,
                found => found,
            }
        }
    };
    Ok(match verdict {
        Verdict::Safe(()) => Verdict::Safe(Accepted { proof, condition }),
        Verdict::Unsafe(run) => {
            Verdict::Unsafe(Refused { refusal: None, condition, evidence: Evidence::Run(run) })
        }
        Verdict::Undecided(limit) => Verdict::Undecided(limit),
    })
}
