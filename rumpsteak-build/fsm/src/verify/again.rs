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
fn telling(system: &System) -> Option<System> {
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

#[cfg(test)]
mod tests {
    use super::{Early, Overlap, follow, overlap, telling};
    use crate::capacity::repeated;
    use crate::run::Queue;
    use crate::system::{System, explore};
    use crate::{Limit, Limits, Message, Verdict, dot};

    /// The collector of lines may go on at once: whoever has said its last is not heard any more.
    #[test]
    fn who_has_said_its_last_is_not_heard() {
        let machines = dot::parse(
            r#"digraph a { 0 -> 1 [label="c!x"] }
            digraph b { 0 -> 1 [label="c!y"] }
            digraph c { 0 -> 1 [label="a?x"]; 0 -> 2 [label="b?y"]; 1 -> 3 [label="b?y"]; 2 -> 3 [label="a?x"] }"#,
        );
        let system = System::new(machines.unwrap()).unwrap();
        let verdict = explore(&telling(&system).unwrap(), &Limits::default()).verdict;
        assert_eq!(verdict, Verdict::Safe(()));
    }

    /// In the next session `a` may be faster than `b`: `c` takes `l` for that of this one, and then
    /// hears `x`, which is for `m`.
    #[test]
    fn what_is_taken_for_this_session_is_refused_with_a_run() {
        let machines = dot::parse(
            r#"digraph a { 0 -> 1 [label="d?one"]; 0 -> 2 [label="d?two"]; 2 -> 1 [label="c!l"] }
            digraph b { 0 -> 2 [label="d?one"]; 0 -> 1 [label="d?two"]; 2 -> 1 [label="c!m"] }
            digraph c { 0 -> 1 [label="b?m"]; 0 -> 2 [label="a?l"]; 1 -> 3 [label="e?x"]; 2 -> 3 [label="e?y"] }
            digraph d { 0 -> 1 [label="e!one"]; 1 -> 2 [label="b!one"]; 2 -> 5 [label="a!one"];
                        0 -> 3 [label="e!two"]; 3 -> 4 [label="a!two"]; 4 -> 5 [label="b!two"] }
            digraph e { 0 -> 1 [label="d?one"]; 1 -> 3 [label="c!x"]; 0 -> 2 [label="d?two"]; 2 -> 3 [label="c!y"] }"#,
        );
        let system = System::new(machines.unwrap()).unwrap();
        let limits = Limits::default();
        assert_eq!(explore(&system, &limits).verdict, Verdict::Safe(()));
        let Verdict::Unsafe(run) = follow(&system, &limits) else { panic!("it is unsafe") };
        assert_eq!(run.replay(&repeated(&system)), Ok(()));
        assert_eq!(run.failure.to_string(), "c cannot receive the next message from e");
    }

    /// `a` may have finished while `c` still hears it: the next `x` could come before `y`.
    #[test]
    fn who_may_have_finished_is_heard() {
        let machines = dot::parse(
            r#"digraph a { 0 -> 1 [label="c!x"]; 0 -> 2 [label="b!go"]; 1 -> 3 [label="b!no"]; 2 -> 3 [label="b!no"] }
            digraph b { 0 -> 1 [label="a?go"]; 0 -> 3 [label="a?no"]; 1 -> 2 [label="c!y"]; 2 -> 3 [label="a?no"] }
            digraph c { 0 -> 1 [label="a?x"]; 0 -> 1 [label="b?y"] }"#,
        );
        let system = System::new(machines.unwrap()).unwrap();
        assert_eq!(explore(&system, &Limits::default()).verdict, Verdict::Safe(()));
        let verdict = explore(&telling(&system).unwrap(), &Limits::default()).verdict;
        assert!(verdict.refusal().is_some(), "{verdict:?}");
    }

    /// The end of the session is told by `o`, which then begins again and again; `d` may wait for
    /// it while `m` has finished.
    #[test]
    fn what_is_full_and_who_is_early_is_told() {
        let machines = dot::parse(
            r#"digraph o { 0 -> 0 [label="m!push"]; 0 -> 1 [label="m!finish"]; 1 -> 2 [label="d!reboot"] }
            digraph m { 0 -> 1 [label="o?push"]; 1 -> 0 [label="d!image"]; 0 -> 2 [label="o?finish"] }
            digraph d { 0 -> 0 [label="m?image"]; 0 -> 1 [label="o?reboot"] }"#,
        );
        let system = System::new(machines.unwrap()).unwrap();
        let limits = Limits::default().queue(4);
        assert_eq!(follow(&system, &limits), Verdict::Undecided(Limit::Queue(4)));
        let Overlap { early, full } = overlap(&system, &limits);
        let Early { role, awaited, finished } = early.unwrap();
        assert_eq!([role.as_str(), finished.as_str()], ["d", "m"]);
        let awaited: Vec<String> = awaited.iter().map(ToString::to_string).collect();
        assert_eq!(awaited, ["m?image", "o?reboot"]);
        let Queue { from, to, messages } = full.unwrap();
        assert_eq!([from.as_str(), to.as_str()], ["o", "d"]);
        assert_eq!(messages.iter().map(Message::to_string).collect::<Vec<_>>(), ["reboot"]);
    }
}
