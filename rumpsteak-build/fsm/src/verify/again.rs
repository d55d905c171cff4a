//! One session after the other: whether messages of the next one can be taken for those of this.
//!
//! A role that has finished begins its next session while others are still in this one. Its
//! messages stand behind those of this session in every queue, so a peer that hears one role at a
//! time takes them where they belong: in this session, it waits for nobody who has finished. A peer
//! that hears several at once may do so:
//!
//! ```text
//! c = {a?x; end, b?y; end}      a chose to let b tell c, has finished, and begins again:
//!                               its next x comes before the y of this session
//! ```
//!
//! # The judgement
//!
//! Each machine that finishes tells all roles that it has sent something to, by a message behind
//! all others, and then waits for those of its own peers. Where a state hears several at once, it
//! may receive this message, too, and that is wrong. If the system is safe with these additions, no
//! role hears anybody who has finished. Then by induction over a run of all sessions, what each
//! role takes is of its own session: the first message that were not would be at the head of its
//! queue, sent by a role that has finished the session, and all that it had sent in that session
//! received; so without the next session there would be the additional message in its place.

use std::collections::BTreeSet;

use crate::capacity::repeated;
use crate::kmc;
use crate::machine::{Action, Direction, Fsm, Role, StateId};
use crate::run::{Queue, Run, Step};
use crate::system::{System, explore, full_queue};
use crate::verdict::{Limits, Verdict};

/// Whether a state receives, and does so from several peers or may send as well.
#[must_use]
pub fn hears_several(fsm: &Fsm, state: StateId) -> bool {
    let actions = fsm.transitions_from(state).map(|found| found.action);
    let ends: BTreeSet<_> = actions.map(|action| (action.direction, &action.peer)).collect();
    ends.len() > 1 && ends.iter().any(|(direction, _)| *direction == Direction::Receive)
}

/// Judges machines that are safe together and each of which begins the next session as soon as it
/// has finished. The run of a refusal is one of the [`repeated`] system.
#[must_use]
pub fn follow(system: &System, limits: &Limits) -> Verdict<(), Box<Run>> {
    let hears_several = |fsm: &Fsm| fsm.states().any(|state| hears_several(fsm, state));
    if !system.machines().iter().any(hears_several)
        || telling(system).is_some_and(|telling| explore(&telling, limits).verdict.is_safe())
    {
        return Verdict::Safe(());
    }
    let system = repeated(system);
    match explore(&system, limits).verdict {
        Verdict::Safe(()) => Verdict::Safe(()),
        Verdict::Unsafe(run) => Verdict::Unsafe(Box::new(run)),
        Verdict::Undecided(limit) => match kmc::check(&system, limits).verdict {
            kmc::Verdict::Safe { .. } => Verdict::Safe(()),
            kmc::Verdict::Unsafe(run) => Verdict::Unsafe(run),
            kmc::Verdict::Undecided { .. } => Verdict::Undecided(limit),
        },
    }
}

/// What there is to say of sessions of which one may be taken for the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// A role that may still wait for one that has finished, if machines that tell so show one.
    pub early: Option<Early>,
    /// A queue that holds as many messages as one may, with these in it, each once.
    pub full: Option<Queue>,
}

/// A role that waits for several, one of which has finished already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Early {
    /// Who waits.
    pub role: Role,
    /// What it waits for.
    pub awaited: Vec<Action>,
    /// Who has finished.
    pub finished: Role,
}

/// Why machines that [may not follow](follow) one another may not, or may seem so.
#[must_use]
pub fn overlap(system: &System, limits: &Limits) -> Overlap {
    let early = telling(system).and_then(|telling| early(system, &telling, limits));
    Overlap { early, full: full_queue(&repeated(system), limits) }
}

fn early(system: &System, telling: &System, limits: &Limits) -> Option<Early> {
    let explored = explore(telling, limits).verdict;
    let steps = &explored.refusal()?.steps;
    steps.iter().find_map(|Step { role, transition, action }| {
        let number = system.index_of(role)?;
        let machine = &system.machines()[number];
        // States keep their numbers, and the further ones hear one role at a time.
        let state = telling.machines()[number].transition(*transition).source;
        let is_own = state.index() < machine.len() && hears_several(machine, state);
        if action.message.label.as_str() != FINISHED || !is_own {
            return None;
        }
        let awaited = machine.transitions_from(state).map(|found| found.action);
        let awaited = awaited.filter(|action| action.direction == Direction::Receive);
        let (awaited, finished) = (awaited.cloned().collect(), action.peer.clone());
        Some(Early { role: role.clone(), awaited, finished })
    })
}

/// The system whose machines tell each other that they have finished; see the
/// [module](mod@self). If it is safe, its sessions may follow one another.
pub fn telling(system: &System) -> Option<System> {
    let machines = system.machines().iter().map(|machine| tell(machine, system));
    System::new(machines.collect()).ok()
}

/// What is told. No label of a protocol has a blank in it.
const FINISHED: &str = "has finished";

fn tell(machine: &Fsm, system: &System) -> Fsm {
    let mut builder = machine.edit();
    let told = receivers(machine).into_iter().map(|peer| Action::send(peer, FINISHED, &[]));
    let telling = system.machines().iter().filter(|peer| receivers(peer).contains(machine.role()));
    let heard = telling.map(|peer| Action::receive(peer.role(), FINISHED, &[]));
    let goodbye = told.chain(heard);
    let is_terminal = |state: &StateId| machine.is_terminal(*state);
    let mut last: Vec<StateId> = machine.states().filter(is_terminal).collect();
    for action in goodbye {
        let next = builder.add_state();
        for state in last.drain(..) {
            builder.add_transition(state, action.clone(), next);
        }
        last.push(next);
    }
    for state in machine.states().filter(|&state| hears_several(machine, state)) {
        let actions = machine.transitions_from(state).map(|found| found.action);
        let received = actions.filter(|action| action.direction == Direction::Receive);
        for peer in received.map(|action| action.peer.clone()).collect::<BTreeSet<Role>>() {
            // Nobody ever receives what is sent then, so that it is wrong.
            let (wrong, end) = (builder.add_state(), builder.add_state());
            builder.add_transition(state, Action::receive(peer.clone(), FINISHED, &[]), wrong);
            builder.add_transition(wrong, Action::send(peer, "was heard", &[]), end);
        }
    }
    builder.build(machine.initial())
}

/// The roles that a machine sends to.
fn receivers(machine: &Fsm) -> BTreeSet<Role> {
    let actions = machine.transitions().map(|found| found.action);
    let sent = actions.filter(|action| action.direction == Direction::Send);
    sent.map(|action| action.peer.clone()).collect()
}
