//! Projection: the machine of one role in a protocol.
//!
//! ```text
//!                     Global ⊢ p ▷ Fsm
//! ```
//! The judgement holds if every role can follow its own machine, seeing only its own messages, and
//! the roles together do exactly what the protocol says.
//!
//! # Source
//! Li, Stutz, Wies, Zufferey, *Complete Multiparty Session Type Projection with Automata* (CAV'23).
//! Syntactic merging compares the texts of the branches that a role does not choose. Here their
//! languages are compared. So branches may differ in their first receiver, in the sender that tells
//! a role, and in how far loops are unrolled, and a role may learn the branch late.
//!
//! # Construction (CAV'23, §4)
//! Erase from the global automaton everything that `p` does not see: an interaction becomes `q!m`,
//! `q?m` or ε. Then [merge the branches](super::merge): a state `s` of the result is the set of all
//! global states that are possible for `p`.
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
//! The machine is right if each of its states `s` satisfies (see [`validity`](super::validity)):
//!
//! * **send validity** (CAV'23, Def. 5.1; code S0401): each send is possible, after some ε, from
//!   *every* global state in `s`. Otherwise `p` may send in a branch where no role expects it.
//! * **receive validity** (CAV'23, Def. 5.3; S0402): for receives `q1?m1` and `q2?m2` with `q1` ≠
//!   `q2`, the message `m1` cannot be the first in the queue from `q1` once the protocol has taken
//!   a branch with `q2?m2`, however far the others run ahead without `p`. Otherwise `p` takes one
//!   branch for the other, unless it [does the same](super::collector) in both.
//! * **no mixed choice** (Li, Stutz, Wies, Zufferey, OOPSLA'25, "No Mixed Choice"; S0403): not both
//!   a send and a receive.
//! * **progress** (ours; S0404): if `p` has an action in `s`, then from *every* global state in `s`
//!   some action of `p` is reachable by ε. A CSM may stop in a final state that still has receives;
//!   an `async fn` that waits may not: a role that was never told would hang. Together with
//!   fairness this is enough: a role that may be told again and again is told.
//! * **labels** (ours; S0405): one peer, direction and label have one payload, since a receiver
//!   distinguishes messages by label.
//!
//! # Why it is sound
//! The theorem of the paper requires global types that are deterministic, sender-driven and
//! sink-final, which [`determinise`](crate::global::determinise) has ensured. It uses nothing else
//! of their syntax. Sequencing and calls only yield other automata of this kind.
//!
//! # Cost
//! Linear in the automaton if few states look the same to a role. There can be exponentially many
//! subsets, and the set `M` can be exponential too (the problem is PSPACE-complete). [`Limits`]
//! stop both.

use hashbrown::HashSet;
use litemap::LiteMap;
use rumpsteak_fsm::{Action, Direction, Fsm, Role, StateId, TransitionId, family};

use super::collector::collects;
use super::explain::explain;
use super::local::Local;
use super::merge::{Subsets, TooLarge};
use super::validity::{self, Problem};
use crate::diagnostics::{Code, Diagnostic, Found, Span, projection_errors};
use crate::global::automaton::Global;
use crate::index::index;
use crate::limits::Limits;

/// The machine of one role, and the places of its transitions.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The smallest possible machine. Its states are in the order in which a reader of the protocol
    /// meets them.
    ///
    /// A state may receive from several peers: see [`Fsm::check_directed`].
    pub fsm: Fsm,
    /// The machine in which the actions of different parts of a `par` come in any order, if it is
    /// another one and safe with either machine of each other role.
    pub in_any_order: Option<Fsm>,
    /// The places of each transition.
    origins: Vec<Vec<Span>>,
    gathers: HashSet<StateId>,
}

impl Projection {
    pub(super) fn of(local: Local, role: &Role) -> Self {
        let mut builder = Fsm::builder(role.clone());
        let states: Vec<StateId> = local.states.iter().map(|_| builder.add_state()).collect();
        let mut origins = Vec::new();
        for (source, edges) in states.iter().zip(local.states) {
            for edge in edges {
                builder.add_transition(*source, edge.action, states[edge.target as usize]);
                origins.push(edge.origins);
            }
        }
        let gathers = local.gathers.iter().map(|&state| states[state as usize]).collect();
        let fsm = builder.build(states[0]).dropping(local.late);
        Self { fsm, in_any_order: None, origins, gathers }
    }

    /// The machines with the members of families written [singly](family::singly).
    pub(crate) fn singly(
        &self,
        members: impl Fn(&Role) -> Option<u32>,
        differ: bool,
        stops: bool,
    ) -> Vec<Self> {
        let written = family::singly(&self.fsm, members, differ, stops).into_iter();
        let written = written.map(|(fsm, stands_for)| {
            let origins = stands_for.iter().map(|id| self.origins(*id).to_vec()).collect();
            Self { fsm, in_any_order: None, origins, gathers: HashSet::new() }
        });
        written.collect()
    }

    /// The interactions of a transition, in the order of the text: at least one, and several if
    /// branches look the same to the role.
    ///
    /// # Panics
    /// If `transition` belongs to another machine.
    pub fn origins(&self, transition: TransitionId) -> &[Span] {
        &self.origins[transition.index()]
    }

    /// Returns true if the message of this state and the message of the next state may come in
    /// either order: two parts of a `par` in which the role only receives, each from another peer.
    pub fn gathers(&self, state: StateId) -> bool {
        self.gathers.contains(&state)
    }
}

/// The search stops after this many problems: most of them have one reason, and explaining each one
/// takes time.
const MOST_PROBLEMS: usize = 100;

/// Projects onto the role with the number `role`, which is declared at `declared`.
pub(crate) fn project(global: &Global, role: u32, at: Span, limits: &Limits) -> Found<Projection> {
    Ok(Projection::of(local(global, role, at, limits)?, &global.roles[role as usize]))
}

/// The smallest machine of the role. A block stands there as a message of the role to itself,
/// labelled with the number of the block.
pub(super) fn local(global: &Global, role: u32, declared: Span, limits: &Limits) -> Found<Local> {
    match explore(global, role, limits) {
        Ok((subsets, problems)) if problems.is_empty() => Ok(subsets.machine.minimised()),
        Ok((subsets, problems)) => collected(&subsets, &problems)
            .ok_or_else(|| explain(&subsets, &problems, |other| is_projectable(other, limits))),
        Err(limit) => Err(vec![too_large(global, role, declared, limit)]),
    }
}

/// The machine of a ring: it passes on what each member of the family sends.
pub(crate) fn ring(global: &Global, ring: u32, family: u32) -> Projection {
    let mut local = Local::default();
    let (own, peer) = (&global.roles[ring as usize], &global.roles[family as usize]);
    let start = local.add();
    let mut passed: LiteMap<u32, Vec<Span>> = LiteMap::default();
    for edge in global.all_edges().filter(|edge| global.letter(edge).to == ring) {
        passed.entry(global.letter(edge).message).or_default().extend(&edge.origins);
    }
    for (message, origins) in passed {
        let (next, message) = (local.add(), global.messages[message as usize].clone());
        let action = |direction| Action { peer: peer.clone(), direction, message: message.clone() };
        local.connect(start, action(Direction::Receive), next, origins.clone());
        local.connect(next, action(Direction::Send), start, origins);
    }
    let found = Projection::of(local, own);
    Projection { fsm: found.fsm.on_demand(true), ..found }
}

pub(crate) fn is_projectable(global: &Global, limits: &Limits) -> bool {
    (0..index(global.roles.len())).all(|role| {
        explore(global, role, limits).is_ok_and(|(subsets, problems)| {
            problems.is_empty() || collected(&subsets, &problems).is_some()
        })
    })
}

/// The smallest machine of the role, if it only collects the messages that may overtake.
fn collected(subsets: &Subsets<'_>, problems: &[Problem]) -> Option<Local> {
    let is_overtaken = |found: &Problem| found.kind == Code::Overtaken;
    if problems.len() >= MOST_PROBLEMS || !problems.iter().all(is_overtaken) {
        return None;
    }
    let machine = subsets.machine.clone().minimised();
    collects(subsets, problems, &machine).then_some(machine)
}

fn too_large(global: &Global, role: u32, declared: Span, limit: TooLarge) -> Diagnostic {
    projection_errors::projection_too_large(global.roles[role as usize].as_str(), declared, limit)
}

/// Errors about messages that the role may receive first, and that a message of another branch, or
/// a later one, may overtake.
pub(crate) fn overtaken_at_first(
    global: &Global,
    role: u32,
    declared: Span,
    limits: &Limits,
) -> Vec<Diagnostic> {
    match explore(global, role, limits) {
        Ok((subsets, mut problems)) => {
            problems.retain(|found| found.state == 0 && found.kind == Code::Overtaken);
            explain(&subsets, &problems, |_| false)
        }
        Err(limit) => vec![too_large(global, role, declared, limit)],
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
            subsets.add(state, letter, &[edge])?;
        } else {
            let groups = subsets.close(state)?;
            validity::check(&mut subsets, state, &groups, &mut problems)?;
            for group in &groups {
                subsets.add(state, group.letter, &group.edges)?;
            }
        }
        state += 1;
    }
    Ok((subsets, problems))
}
