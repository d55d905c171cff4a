//! Projection: what one role does in a protocol.
//!
//! ```text
//!                     Global ⊢ p ▷ Fsm
//! ```
//! The judgement holds if every role can follow its own machine, seeing only its own messages, and
//! the roles together do exactly what the protocol says.
//!
//! # Source
//! Li, Stutz, Wies, Zufferey, *Complete Multiparty Session Type Projection with Automata* (CAV'23).
//! Syntactic merging compares the branches that a role does not choose as texts; here they are
//! compared as languages. So branches may differ in their first receiver, in the sender that tells
//! a role, in how far loops are unrolled, and a role may learn the branch late.
//!
//! # Construction (CAV'23, §4)
//! Erase from the global automaton what `p` does not see: an interaction becomes `q!m`, `q?m` or ε.
//! [Determinise](super::subsets): a state `s` of the result is the set of all global states that
//! `p` must take for possible.
//!
//! ```text
//!    choice at A { l() from A to B; x() from B to C; }    global   0 ─l A→B─▶ 1 ─x B→C─▶ 3
//!             or { r() from A to B; y() from B to C; }             0 ─r A→B─▶ 2 ─y B→C─▶ 3
//!
//!    C does not see l and r:                              C   {0,1,2} ─B?x─▶ {3}
//!                                                             {0,1,2} ─B?y─▶ {3}
//! ```
//!
//! # Checks
//! The machine is right if in each of its states `s` (see [`validity`](super::validity)):
//!
//! * **send validity** (CAV'23, Def. 5.1; code S0401): each send is possible, after some ε, from
//!   *every* global state in `s`. Otherwise `p` sends although the others may be in a branch where
//!   nobody expects it.
//! * **receive validity** (CAV'23, Def. 5.3; S0402): for receives `q1?m1` and `q2?m2` with `q1` ≠
//!   `q2`, the message `m1` can not be the first in the queue from `q1` once the protocol has taken
//!   a branch with `q2?m2`, however far the others run ahead without `p`. Otherwise `p` takes one
//!   branch for the other.
//! * **no mixed choice** (Li, Stutz, Wies, Zufferey, OOPSLA'25, "No Mixed Choice"; S0403): not both
//!   a send and a receive.
//! * **progress** (ours; S0404): if `p` has an action in `s`, then from *every* global state in `s`
//!   some action of `p` is reachable by ε. A CSM may stop in a final state that still has receives,
//!   an `async fn` that waits may not: a role that was never told would hang. Together with
//!   fairness this is enough: a role that may be told again and again is told.
//! * **labels** (ours; S0405): one peer, direction and label have one payload, since receivers go
//!   by the label.
//!
//! # Why it is sound
//! The theorem of the paper is for global types that are deterministic, sender-driven and
//! sink-final, which [`determinise`](crate::global::determinise) has ensured; it uses nothing else
//! of their syntax. Sequencing and calls only make other automata of this kind.
//!
//! # Cost
//! Linear in the automaton if few states look the same to a role; the subsets can be exponentially
//! many, and the set `M` too (the problem is PSPACE-complete). [`Limits`] stop both.

use rumpsteak_fsm::{Action, Direction, Fsm, Role, StateId, TransitionId};

use super::explain::explain;
use super::grouped::Grouped;
use super::minimise;
use super::subsets::{Subsets, TooLarge};
use super::validity::{self, Problem};
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::projection_errors::{self, ProblemKind};
use crate::diagnostics::span::Span;
use crate::global::automaton::Global;
use crate::index::{NONE, index};
use crate::limits::Limits;

/// The machine of one role, and where its transitions come from.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The machine: as small as possible, its states in the order in which a reader of the protocol
    /// meets them.
    ///
    /// A state may receive from several peers; [`Fsm::check_directed`] tells.
    pub fsm: Fsm,
    /// For each transition where its origins end; they start where those of the one before end.
    ends: Vec<u32>,
    origins: Vec<Span>,
}

impl Projection {
    /// The interactions that a transition stands for, in the order of the text: at least one, and
    /// several where branches look the same to the role.
    ///
    /// # Panics
    /// If `transition` is of another machine.
    pub fn origins(&self, transition: TransitionId) -> &[Span] {
        let at = transition.index();
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.origins[start as usize..self.ends[at] as usize]
    }
}

/// Stops looking after this many problems: most of them have one reason, and explaining takes its
/// time.
const MOST_PROBLEMS: usize = 100;

/// Projects onto the role with the number `role`, which is declared at `declared`.
pub(crate) fn project(
    global: &Global,
    role: u32,
    declared: Span,
    limits: &Limits,
) -> Result<Projection, Vec<Diagnostic>> {
    match explore(global, role, limits) {
        Ok((subsets, problems)) if problems.is_empty() => Ok(merge(&subsets)),
        Ok((subsets, problems)) => Err(explain(&subsets, &problems, |other| {
            (0..index(other.roles.len())).all(|role| {
                explore(other, role, limits).is_ok_and(|(_, problems)| problems.is_empty())
            })
        })),
        Err(TooLarge { limit, value }) => {
            let role = global.roles[role as usize].as_str();
            Err(vec![projection_errors::projection_too_large(role, declared, limit, value)])
        }
    }
}

impl Projection {
    pub(super) fn new(fsm: Fsm, places: impl Iterator<Item = Vec<Span>>) -> Self {
        let (mut ends, mut origins) = (Vec::new(), Vec::new());
        for place in places {
            origins.extend(place);
            ends.push(index(origins.len()));
        }
        Self { fsm, ends, origins }
    }
}

/// Errors if a message that the role hears first may be overtaken by another one that it hears
/// first in another branch, or later.
pub(crate) fn overtaken_at_first(
    global: &Global,
    role: u32,
    declared: Span,
    limits: &Limits,
) -> Vec<Diagnostic> {
    match explore(global, role, limits) {
        Ok((subsets, mut problems)) => {
            problems
                .retain(|found| found.state == 0 && matches!(found.kind, ProblemKind::Overtaken));
            explain(&subsets, &problems, |_| false)
        }
        Err(TooLarge { limit, value }) => {
            let role = global.roles[role as usize].as_str();
            vec![projection_errors::projection_too_large(role, declared, limit, value)]
        }
    }
}

fn explore<'g>(
    global: &'g Global,
    role: u32,
    limits: &'g Limits,
) -> Result<(Subsets<'g>, Vec<Problem>), TooLarge> {
    let mut subsets = Subsets::new(global, role, limits)?;
    let mut problems = Vec::new();
    let mut state = 0;
    while (state as usize) < subsets.len() && problems.len() < MOST_PROBLEMS {
        if let Some((letter, edge)) = subsets.only_edge(state) {
            subsets.spend(2)?;
            subsets.add(letter, &[edge])?;
        } else {
            let groups = subsets.close(state)?;
            validity::check(&mut subsets, state, &groups, &mut problems)?;
            for group in &groups {
                subsets.add(group.letter, &group.edges)?;
            }
        }
        subsets.leave();
        state += 1;
    }
    Ok((subsets, problems))
}

/// Merges equivalent states and numbers them depth first, in the order of the text.
fn merge(subsets: &Subsets<'_>) -> Projection {
    let global = subsets.global;
    let moves = &subsets.moves;
    let classes = minimise::classes(subsets.len(), global.letters.len(), moves);
    let count = classes.iter().max().map_or(0, |&class| class as usize + 1);
    let members = Grouped::new(count, classes.iter().copied());
    // Equivalent states have the same letters: any of them stands for all.
    let moves_of = |class: u32| subsets.moves(members.get(class)[0]);
    let class_behind = |at: usize| classes[moves[at].target as usize];

    let (order, numbers) = minimise::depth_first(&classes, |state| {
        moves_of(classes[state as usize]).rev().map(|at| moves[at].target)
    });

    let mut builder = Fsm::builder(global.roles[subsets.role as usize].clone());
    let states: Vec<StateId> = order.iter().map(|_| builder.add_state()).collect();
    let mut ends = Vec::with_capacity(moves.len());
    let mut origins: Vec<Span> = Vec::with_capacity(moves.len());
    let mut places: Vec<(u32, Span)> = Vec::new();
    for (source, &class) in states.iter().zip(&order) {
        // All that the transitions of the class stand for, by letter.
        places.clear();
        for &member in members.get(class) {
            for at in subsets.moves(member) {
                for &written in subsets.written(at) {
                    for &span in global.origins(subsets.edge(written)) {
                        places.push((moves[at].letter, span));
                    }
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        for at in moves_of(class) {
            let letter = moves[at].letter;
            let target = numbers[class_behind(at) as usize] as usize;
            builder.add_transition(*source, action(subsets, letter), states[target]);
            let start = places.partition_point(|place| place.0 < letter);
            for place in places[start..].iter().take_while(|place| place.0 == letter) {
                origins.push(place.1);
            }
            ends.push(index(origins.len()));
        }
    }
    Projection { fsm: builder.build(states[0]), ends, origins }
}

/// What the role does in an interaction that it sees. A block stands there as a message of the
/// role to itself, which no interaction is; [`blocks`](super::blocks) puts its machine there.
fn action(subsets: &Subsets<'_>, letter: u32) -> Action {
    let letter = subsets.letter(letter);
    if letter.from == NONE {
        let own = subsets.global.roles[subsets.role as usize].clone();
        return Action::send(own, letter.message.to_string(), &[]);
    }
    let (peer, direction) = if letter.from == subsets.role {
        (letter.to, Direction::Send)
    } else {
        (letter.from, Direction::Receive)
    };
    Action {
        peer: Role::clone(&subsets.global.roles[peer as usize]),
        direction,
        message: subsets.global.message(letter).clone(),
    }
}
