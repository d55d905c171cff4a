//! The search for proposals.

use indexmap::IndexSet;
use rumpsteak_fsm::subtype::{InputError, Side};
use rumpsteak_fsm::verdict::{Limits, Verdict};
use rumpsteak_fsm::verify::together::{Part, together};
use rumpsteak_fsm::verify::{VerifyError, certified};
use rumpsteak_fsm::{Action, Defect, Fsm, Role};

use super::cost::{Costs, Work};
use super::reorder::{Depends, anticipate};

/// Options of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The largest window.
    pub window: usize,
    /// The number of candidates.
    pub candidates: usize,
    /// How many states a candidate may have.
    pub states: usize,
    /// The limits of each proof.
    pub limits: Limits,
}

impl Default for Options {
    /// Windows of up to 4, 64 candidates of up to 1,000 states.
    fn default() -> Self {
        Self { window: 4, candidates: 64, states: 1_000, limits: Limits::default() }
    }
}

/// A proven reordering.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The machine, in place of the projection.
    pub fsm: Fsm,
    /// For each peer, up to how many messages are sent before their turn.
    pub windows: Vec<(Role, usize)>,
    /// The time that the work takes with it.
    pub time: u64,
    /// How many actions of the projection are pending at most; see
    /// [`Proof::anticipation`](rumpsteak_fsm::subtype::Proof::anticipation).
    pub pending: Option<usize>,
}

/// The proposals for a role.
#[derive(Clone, Debug, Default)]
pub struct Proposals {
    /// The time that the work takes as the protocol is written.
    pub time: u64,
    /// The proposals, best first, none slower than the projection. Empty if nothing helps.
    pub proposals: Vec<Proposal>,
    /// The number of candidates.
    pub candidates: usize,
    /// The number of candidates that are not subtypes.
    pub refused: usize,
    /// The number of candidates whose proof a limit ended.
    pub undecided: usize,
    /// True if there were more than [`Options::candidates`].
    pub cut: bool,
}

/// Proposes orders for `role` among `machines`.
///
/// # Errors
/// If the machine of the role is not directed. An invalid certificate is an error too, and a fault
/// of this crate.
pub fn propose(
    machines: &[Fsm],
    role: &Role,
    depends: Depends<'_>,
    costs: &Costs<'_>,
    options: &Options,
) -> Result<Proposals, VerifyError> {
    let Some(position) = machines.iter().position(|fsm| fsm.role() == role) else {
        return Ok(Proposals::default());
    };
    let work = Work::new(machines);
    let mut changed = machines.to_vec();
    search(&work, &mut changed, position, machines, depends, costs, options)
}

/// The proposals for all roles of a system.
#[derive(Clone, Debug)]
pub struct Together {
    /// How long the work takes as the protocol is written.
    pub before: u64,
    /// How long it takes with the proposals.
    pub after: u64,
    /// For each role its proposal, if it has one.
    pub proposals: Vec<Option<Proposal>>,
    /// For each role its proposals beside the proposals of the others, or the defect of its
    /// machine.
    pub roles: Vec<Result<Proposals, Defect>>,
    /// The number of candidates.
    pub candidates: usize,
}

const PASSES: usize = 3;

/// Proposes orders for all roles: one role after the other gets its best order, given the orders of
/// the others, until nothing gets faster. `depends` also gets the position of the role. Each
/// subtype takes its role's place whatever the others do, so the proposals hold together.
///
/// # Errors
/// As [`propose`], except that roles that are not directed are left as they are.
pub fn propose_together(
    machines: &[Fsm],
    depends: &dyn Fn(usize, &Action, &Action) -> bool,
    costs: &Costs<'_>,
    options: &Options,
) -> Result<Together, VerifyError> {
    let work = Work::new(machines);
    let before = work.time(machines, costs);
    let mut current = machines.to_vec();
    let roles = machines.iter().map(|fsm| fsm.check_directed().map(|()| Proposals::default()));
    let mut found = Together {
        before,
        after: before,
        proposals: vec![None; machines.len()],
        roles: roles.collect(),
        candidates: 0,
    };
    for _ in 0..PASSES {
        let start = found.after;
        for position in 0..machines.len() {
            if found.roles[position].is_err() {
                continue;
            }
            let depends = |send: &Action, receive: &Action| depends(position, send, receive);
            let mut changed = current.clone();
            let proposals =
                search(&work, &mut changed, position, machines, &depends, costs, options)?;
            found.candidates += proposals.candidates;
            let best = proposals.proposals.first();
            if let Some(best) = best.filter(|best| best.time < found.after) {
                found.after = best.time;
                current[position] = best.fsm.clone();
                found.proposals[position] = Some(best.clone());
            }
            found.roles[position] = Ok(proposals);
        }
        if found.after == start {
            break;
        }
    }
    Ok(found)
}

/// The proposals for the role at `position`, which runs with the others of `changed`. `machines`
/// are the projections onto all roles.
fn search(
    work: &Work,
    changed: &mut [Fsm],
    position: usize,
    machines: &[Fsm],
    depends: Depends<'_>,
    costs: &Costs<'_>,
    options: &Options,
) -> Result<Proposals, VerifyError> {
    let projection = &machines[position];
    let error = |defect| VerifyError::Machine(InputError { side: Side::Sup, defect });
    projection.check_directed().map_err(error)?;
    let mut found = Proposals { time: work.time(changed, costs), ..Proposals::default() };
    let sends = projection.transitions().map(|by| by.action).filter(|action| action.is_send());
    let receivers: IndexSet<&Role> = sends.map(|action| &action.peer).collect();

    for windows in windows(receivers.len(), options.window) {
        if found.candidates >= options.candidates {
            found.cut = true;
            break;
        }
        let windows = receivers.iter().zip(windows).filter(|(_, window)| *window > 0);
        let windows: Vec<(Role, usize)> =
            windows.map(|(&receiver, window)| (receiver.clone(), window)).collect();
        let Some(fsm) = anticipate(projection, &windows, depends, options.states) else {
            continue;
        };
        if fsm == *projection || found.proposals.iter().any(|known| known.fsm == fsm) {
            // The window is never used, or not all of it.
            continue;
        }
        found.candidates += 1;
        match judge(&fsm, position, changed, machines, &options.limits)? {
            Verdict::Safe(pending) => {
                changed[position] = fsm.clone();
                let time = work.time(changed, costs);
                if time <= found.time {
                    found.proposals.push(Proposal { fsm, windows, time, pending });
                }
            }
            Verdict::Unsafe(()) => found.refused += 1,
            Verdict::Undecided(_) => found.undecided += 1,
        }
    }
    found.proposals.sort_by_key(|proposal| {
        let ahead: usize = proposal.windows.iter().map(|(_, window)| window).sum();
        (proposal.time, ahead, proposal.fsm.len())
    });
    Ok(found)
}

/// Judges a candidate for the role at `position`, which runs with the others of `changed`. Safe:
/// with how many actions are pending.
fn judge(
    fsm: &Fsm,
    position: usize,
    changed: &[Fsm],
    machines: &[Fsm],
    limits: &Limits,
) -> Result<Verdict<Option<usize>, ()>, VerifyError> {
    let proof = match certified(fsm, &machines[position], limits)? {
        Verdict::Safe(proof) => proof,
        Verdict::Unsafe(_) => return Ok(Verdict::Unsafe(())),
        Verdict::Undecided(limit) => return Ok(Verdict::Undecided(limit)),
    };
    let pending = proof.anticipation;
    if machines.iter().all(|machine| machine.check_directed().is_ok()) {
        return Ok(Verdict::Safe(pending));
    }
    let mut system: Vec<&Fsm> = changed.iter().collect();
    system[position] = fsm;
    let mut proofs = Vec::new();
    for (at, (&written, projected)) in system.iter().zip(machines).enumerate() {
        // The order of a peer was proven when it was chosen. The proof is not kept.
        let is_reordered = at != position && written != projected;
        let judged = is_reordered.then(|| certified(written, projected, limits)).transpose()?;
        proofs.push(if let Some(Verdict::Safe(proof)) = judged { Some(proof) } else { None });
    }
    proofs[position] = Some(proof);
    let parts = system.iter().zip(machines).zip(&proofs);
    let parts = parts.map(|((&written, projected), proof)| match proof {
        None if written == projected => Part::projection(projected),
        proof => Part::new(written, projected, proof.as_ref()),
    });
    let parts: Vec<Part<'_>> = parts.collect();
    Ok(match together(&parts, limits)?.verdict {
        Verdict::Safe(()) => Verdict::Safe(pending),
        Verdict::Unsafe(_) => Verdict::Unsafe(()),
        Verdict::Undecided(limit) => Verdict::Undecided(limit),
    })
}

/// All ways to give each of `peers` peers a window of up to `most`, with small sums first.
fn windows(peers: usize, most: usize) -> impl Iterator<Item = Vec<usize>> {
    (1..=peers.saturating_mul(most)).flat_map(move |sum| {
        let mut all = Vec::new();
        // Each entry: the windows so far.
        let mut work = vec![Vec::with_capacity(peers)];
        while let Some(windows) = work.pop() {
            let left = sum - windows.iter().sum::<usize>();
            if windows.len() == peers {
                if left == 0 {
                    all.push(windows);
                }
                continue;
            }
            let behind = (peers - windows.len() - 1) * most;
            // Larger windows for the first peers come first.
            for window in left.saturating_sub(behind)..=left.min(most) {
                let mut longer = windows.clone();
                longer.push(window);
                work.push(longer);
            }
        }
        all.truncate(MOST_WINDOWS);
        all
    })
}

/// With many peers there are more ways than anybody looks at.
const MOST_WINDOWS: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::windows;

    #[test]
    fn windows_grow() {
        let all: Vec<_> = windows(2, 2).collect();
        let expected: [[usize; 2]; 8] =
            [[1, 0], [0, 1], [2, 0], [1, 1], [0, 2], [2, 1], [1, 2], [2, 2]];
        assert_eq!(all, expected);
        assert_eq!(windows(0, 4).count(), 0);
        assert_eq!(windows(1, 0).count(), 0);
    }
}
