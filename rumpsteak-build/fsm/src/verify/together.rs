#![doc = include_str!("together.md")]

use fixedbitset::FixedBitSet;
use litemap::LiteMap;

use super::{Decision, VerifyError, certified, decide};
use crate::machine::{Action, Defect, Fsm, IndexSet, Role, StateId, Transition, sorted};
use crate::subtype::Proof;
use crate::system::{
    EveryRun, Exploration, Run, System, can_leave, explore, keeps_promises, live_in_every_run,
};
use crate::verdict::{Limits, Verdict};

/// One role of a protocol.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    written: &'a Fsm,
    projected: &'a Fsm,
    /// True if the machine may do actions before their turn.
    runs_ahead: bool,
    is_subtype: bool,
    /// True if it is a subtype in the fair relation only.
    is_fair: bool,
    /// True if the role has to be served in every run in which the projections serve it.
    in_every_run: bool,
    /// True if that has to be known; otherwise a limit does not refuse.
    is_strict: bool,
    /// For the fair relation, the states of the projection that its peers must let it leave.
    left: &'a [StateId],
}

impl<'a> Part<'a> {
    /// A machine with its proof of subtyping. `None` if the machine or its projection is not
    /// directed.
    pub fn new(written: &'a Fsm, projected: &'a Fsm, proof: Option<&'a Proof>) -> Self {
        let part = Self::unproven(written, projected);
        let Some(proof) = proof else {
            return Self { runs_ahead: true, is_subtype: false, ..part };
        };
        let (runs_ahead, is_fair) = (proof.anticipation != Some(0), proof.is_fair());
        Self { runs_ahead, is_fair, in_every_run: !is_fair, left: proof.left(), ..part }
    }

    /// A machine that is a subtype of its projection, without the proof.
    fn unproven(written: &'a Fsm, projected: &'a Fsm) -> Self {
        let runs_ahead = written != projected;
        Self {
            written,
            projected,
            runs_ahead,
            is_subtype: true,
            is_fair: false,
            in_every_run: true,
            is_strict: false,
            left: &[],
        }
    }

    /// Asks for a proof that the role is served in every run in which the projections serve it. For
    /// other roles, only a run that neglects them refuses.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { is_strict: true, ..self }
    }

    /// Asks that the role is served if choices are fair.
    #[must_use]
    pub fn fair(self) -> Self {
        Self { in_every_run: false, ..self }
    }

    /// A role that does what the protocol says.
    pub fn projection(projected: &'a Fsm) -> Self {
        Self::unproven(projected, projected)
    }

    fn left_out(&self) -> Option<(StateId, Action)> {
        if self.is_fair { None } else { left_out(self.written, self.projected) }
    }
}

/// Why subtyping alone is not enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The machine does actions before their turn, and this peer is not directed: the defect is of
    /// its projection.
    UndirectedPeer(Role, Defect),
    /// The machine does actions before their turn, and it or its projection is not directed.
    Undirected(Defect),
    /// The machine leaves out options of a choice in this state. The action is the first of them.
    NarrowedChoice(StateId, Action),
}

/// The result of [`together`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    /// Unsafe: a run to any failure except starvation.
    pub verdict: Verdict<(), Box<Run>>,
    /// A run to a starving role, if one was found and the machines are not unsafe. Only if an
    /// option is left out.
    pub starvation: Option<Run>,
    /// Why subtyping was not enough: the position of the first such part, and the reason.
    pub condition: Option<(usize, Condition)>,
    /// True if that is known of these machines only, and not of their subtypes.
    pub alone: bool,
}

/// Judges machines together; each is a subtype of its projection if that is known. The parts are
/// all roles of a protocol.
///
/// # Errors
/// If the machines make no system, and as [`verify`](super::verify()).
pub fn together(parts: &[Part<'_>], limits: &Limits) -> Result<Together, VerifyError> {
    let narrowed = parts.iter().enumerate().find_map(|(position, part)| {
        let (state, option) = part.left_out()?;
        Some((position, Condition::NarrowedChoice(state, option)))
    });
    let undirected = undirected(parts);
    let is_directed = undirected.is_none();
    let condition = undirected.or(narrowed);
    let alone = condition.is_some() && !(is_directed && no_option_is_needed(parts, limits)?);
    let safe = Together { verdict: Verdict::Safe(()), starvation: None, condition, alone };
    if safe.condition.is_none() || (is_directed && are_projections_safe(parts, limits)?) {
        return Ok(safe);
    }
    let system = compose(parts.iter().map(|part| part.written))?;
    let Decision { verdict, exploration } = decide(&system, limits);
    let verdict = match (verdict, &exploration.starvation) {
        (Verdict::Unsafe(run), _) => Verdict::Unsafe(run),
        // No option is left out, so the order is to blame.
        (_, Some(run)) if !is_directed => Verdict::Unsafe(Box::new(run.clone())),
        (Verdict::Undecided(limit), _) => Verdict::Undecided(limit),
        (Verdict::Safe(_), _) if !is_directed => {
            let asked = parts.iter().filter(|part| part.in_every_run);
            let asked: Vec<&Role> = asked.map(|part| part.written.role()).collect();
            let promised = compose(parts.iter().map(|part| part.projected))?;
            match keeps_promises(&system, &promised, |role| asked.contains(&role), limits) {
                Verdict::Undecided(_) if !parts.iter().any(|part| part.is_strict) => {
                    Verdict::Safe(())
                }
                found => found,
            }
        }
        (Verdict::Safe(_), _) => Verdict::Safe(()),
    };
    let starvation = exploration.starvation.filter(|_| verdict.refusal().is_none());
    Ok(Together { verdict, starvation, ..safe })
}

fn compose<'a>(machines: impl Iterator<Item = &'a Fsm>) -> Result<System, VerifyError> {
    System::new(machines.cloned().collect()).map_err(VerifyError::System)
}

/// A part that does actions early although a peer is not directed.
pub(super) fn undirected(parts: &[Part<'_>]) -> Option<(usize, Condition)> {
    if let Some(position) = parts.iter().position(|part| !part.is_subtype) {
        let Part { written, projected, .. } = parts[position];
        let defect = [projected, written].into_iter().find_map(|fsm| fsm.check_directed().err())?;
        return Some((position, Condition::Undirected(defect)));
    }
    let position = parts.iter().position(|part| part.runs_ahead)?;
    parts.iter().find_map(|part| {
        let peer = part.projected.role().clone();
        Some((position, Condition::UndirectedPeer(peer, part.projected.check_directed().err()?)))
    })
}

/// A state of `sub` that may stand for a choice of `sup`, and an option of the choice that it
/// lacks.
fn left_out(sub: &Fsm, sup: &Fsm) -> Option<(StateId, Action)> {
    if does_the_same(sub, sup) {
        return None;
    }
    let choices = sup.states().map(|state| sends(sup, state));
    let choices: Vec<_> = choices.filter(|options| options.len() > 1).collect();
    let mut with: LiteMap<&Action, Vec<usize>> = LiteMap::new();
    for (position, options) in choices.iter().enumerate() {
        for &option in options {
            with.entry(option).or_default().push(position);
        }
    }
    if with.is_empty() {
        return None;
    }
    sub.states().find_map(|state| {
        let options = sends(sub, state);
        let stands_for = options.iter().filter_map(|option| with.get(option));
        let positions: FixedBitSet = stands_for.flatten().copied().collect();
        let is_missing = |option: &&&Action| options.binary_search(*option).is_err();
        let missing = |position: usize| choices[position].iter().find(is_missing);
        Some((state, (*positions.ones().find_map(missing)?).clone()))
    })
}

/// True if two machines have the same actions in all states that they reach by the same actions.
fn does_the_same(sub: &Fsm, sup: &Fsm) -> bool {
    std::ptr::eq(sub, sup)
        || sub == sup
        || sub.check_deterministic().is_ok()
            && sup.check_deterministic().is_ok()
            && sub.in_step(sup).all(|(own, due)| sub.actions_from(own) == sup.actions_from(due))
}

fn sends(fsm: &Fsm, state: StateId) -> Vec<&Action> {
    sorted(fsm.sends_from(state))
}

/// True if the projections, without the sends that are left out for good, are a safe system that
/// needs no option that is left out, and that lets machines leave the states that they must.
pub(super) fn are_projections_safe(of: &[Part<'_>], limits: &Limits) -> Result<bool, VerifyError> {
    let mut machines = Vec::with_capacity(of.len());
    let mut is_all_done = true;
    for part in of {
        let mut machine = part.projected.clone();
        if part.left_out().is_some() {
            let narrow = without_others(part.projected, part.written);
            match certified(part.written, &narrow, limits) {
                Ok(Verdict::Safe(_)) => machine = narrow,
                // A machine that is not directed has other proofs.
                Ok(_) | Err(VerifyError::Machine(_)) => {}
                Err(error) => return Err(error),
            }
            is_all_done &= left_out(part.written, &machine).is_none();
        }
        machines.push(machine);
    }
    let system = compose(machines.iter())?;
    let exploration = explore(&system, limits);
    if !exploration.verdict.is_safe() || exploration.starvation.is_some() {
        return Ok(false);
    }
    let bound = exploration.coverage.bound;
    let mut left = of.iter().enumerate().filter(|(_, part)| !part.left.is_empty()).peekable();
    if left.peek().is_some() {
        let can_leave = |(machine, part): (usize, &Part<'_>)| {
            can_leave(&system, machine, part.left, bound, limits)
        };
        return Ok(is_all_done && left.all(can_leave));
    }
    let is_directed = machines.iter().all(|machine| machine.check_directed().is_ok());
    Ok(is_all_done || (is_directed && is_live(&system, exploration, limits)))
}

/// True if the projections are live in every run.
fn no_option_is_needed(parts: &[Part<'_>], limits: &Limits) -> Result<bool, VerifyError> {
    let system = compose(parts.iter().map(|part| part.projected))?;
    let found = explore(&system, limits);
    let is_safe = found.verdict.is_safe() && found.starvation.is_none();
    Ok(is_safe && is_live(&system, found, limits))
}

/// True if a system is known to be live in every run.
fn is_live(system: &System, exploration: Exploration, limits: &Limits) -> bool {
    live_in_every_run(system, || exploration, limits) == EveryRun::default()
}

/// The machine without the sends that `sub` never does, and without the states behind them.
fn without_others(sup: &Fsm, sub: &Fsm) -> Fsm {
    let done = sorted(sub.transitions());
    let mut builder = Fsm::builder(sup.role().clone());
    let initial = builder.add_state();
    let mut copied = IndexSet::from_iter([sup.initial()]);
    let mut source = 0;
    while let Some(&state) = copied.get_index(source) {
        let is_kept =
            |by: &Transition<'_>| !by.action.is_send() || done.binary_search(&by.action).is_ok();
        for by in sup.transitions_from(state).filter(is_kept) {
            let (target, is_new) = copied.insert_full(by.target);
            if is_new {
                builder.add_state();
            }
            let (from, to) = (StateId::from_index(source), StateId::from_index(target));
            builder.add_transition(from, by.action.clone(), to);
        }
        source += 1;
    }
    builder.build(initial).played_like(sup)
}
