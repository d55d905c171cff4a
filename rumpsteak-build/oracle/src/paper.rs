//! Asynchronous subtyping exactly as in PPoPP'22: Fig. 5 on machines, as App. B.5 describes.
//!
//! ```text
//! ρ; Σ ⊢ ⟨π, T⟩ ≤ ⟨π', T'⟩      π: actions of T that T' has not yet matched; π': the reverse
//! ```
//! Each visit reduces the prefixes as far as they go, tries to close the branch (`end`, `asm`), and
//! otherwise takes one action of each machine (`oi`, `oo`, `ii`, `io`). A pair of states is visited
//! at most `visits` times on a path. Prefixes are copied, assumptions are searched one by one, and
//! the call stack is the search stack, so that each line can be compared with the paper.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use rumpsteak_fsm::{Action, Direction, Fsm, Role, StateId};

/// The answer of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is a derivation.
    Subtype,
    /// No derivation exists at this bound. A larger bound may have one.
    NoDerivation,
    /// The work exceeded the budget.
    GaveUp,
}

/// Looks for a derivation of `sub ≤ sup` in which no pair of states occurs more than `visits` times
/// on a path, in at most `budget` steps. Each step may recurse, so `budget` also bounds the stack.
///
/// Both machines must be directed; transitions of other peers or directions than a state's first
/// are ignored otherwise.
pub fn subtype(sub: &Fsm, sup: &Fsm, visits: usize, budget: usize) -> Answer {
    let mut visitor =
        Visitor { sub, sup, budget, visits, visited: HashMap::new(), rho: vec![], sigma: vec![] };
    match visitor.visit(sub.initial(), sup.initial(), vec![], vec![]) {
        Some(true) => Answer::Subtype,
        Some(false) => Answer::NoDerivation,
        None => Answer::GaveUp,
    }
}

type Prefix = Vec<Action>;

struct Assumption {
    states: (StateId, StateId),
    prefixes: (Prefix, Prefix),
    /// How long ρ was when the assumption was made.
    rho: usize,
}

struct Visitor<'a> {
    sub: &'a Fsm,
    sup: &'a Fsm,
    budget: usize,
    /// How often a pair of states may be visited on a path.
    visits: usize,
    /// How often each pair of states was visited on this path.
    visited: HashMap<(StateId, StateId), usize>,
    /// Everything that the subtype has done on this path.
    rho: Vec<Action>,
    /// The assumptions of this path.
    sigma: Vec<Assumption>,
}

impl Visitor<'_> {
    /// Returns true if ⟨pi, p⟩ ≤ ⟨pi_sup, q⟩; `None` once the budget is spent.
    fn visit(&mut self, p: StateId, q: StateId, pi: Prefix, pi_sup: Prefix) -> Option<bool> {
        self.budget = self.budget.checked_sub(1)?;

        // [sub], as often as possible; fail early where no longer prefix could be reduced either.
        let Some((pi, pi_sup)) = reduce(pi, pi_sup) else { return Some(false) };

        // [asm]
        let assumed = self.sigma.iter().any(|assumption| {
            assumption.states == (p, q)
                && assumption.prefixes.0 == pi
                && assumption.prefixes.1 == pi_sup
                && actions(&self.rho[assumption.rho..]).is_superset(&actions(&pi_sup))
        });
        if assumed {
            return Some(true);
        }

        // [end]
        match (self.sub.is_terminal(p), self.sup.is_terminal(q)) {
            (true, true) => return Some(pi.is_empty() && pi_sup.is_empty()),
            (true, false) | (false, true) => return Some(false),
            (false, false) => {}
        }

        // [μl], [μr]: the bound on unrolling, here on visits of a pair of states.
        let visited = self.visited.entry((p, q)).or_default();
        if *visited == self.visits {
            return Some(false);
        }
        *visited += 1;
        self.sigma.push(Assumption {
            states: (p, q),
            prefixes: (pi.clone(), pi_sup.clone()),
            rho: self.rho.len(),
        });
        let result = self.actions(p, q, &pi, &pi_sup);
        self.sigma.pop();
        self.visited.entry((p, q)).and_modify(|visited| *visited -= 1);
        result
    }

    /// The rules that take an action of each side, by the quantifiers of Fig. 5: every output of
    /// the subtype and every input of the supertype must be answered by some output of the
    /// supertype and some input of the subtype.
    fn actions(&mut self, p: StateId, q: StateId, pi: &Prefix, pi_sup: &Prefix) -> Option<bool> {
        let (sub, sup) = (self.sub, self.sup);
        let lefts: Vec<_> = sub.transitions_from(p).collect();
        let rights: Vec<_> = sup.transitions_from(q).collect();
        // Neither state is terminal.
        let directions = (lefts[0].action.direction, rights[0].action.direction);

        let mut derivable = |i: usize, j: usize| {
            let (left, right) = (lefts[i], rights[j]);
            let mut pi = pi.clone();
            pi.push(left.action.clone());
            let mut pi_sup = pi_sup.clone();
            pi_sup.push(right.action.clone());
            self.rho.push(left.action.clone());
            let result = self.visit(left.target, right.target, pi, pi_sup);
            self.rho.pop();
            result
        };

        let (m, n) = (0..lefts.len(), 0..rights.len());
        match directions {
            // [oi] ∀i ∀j
            (Direction::Send, Direction::Receive) => {
                all(m, |i| all(n.clone(), |j| derivable(i, j)))
            }
            // [oo] ∀i ∃j
            (Direction::Send, Direction::Send) => all(m, |i| any(n.clone(), |j| derivable(i, j))),
            // [ii] ∀j ∃i
            (Direction::Receive, Direction::Receive) => {
                all(n, |j| any(m.clone(), |i| derivable(i, j)))
            }
            // [io] ∃i ∃j
            (Direction::Receive, Direction::Send) => {
                any(m, |i| any(n.clone(), |j| derivable(i, j)))
            }
        }
    }
}

/// True if `holds` is true of some index, and `None` if it gives up before.
fn any(range: Range<usize>, mut holds: impl FnMut(usize) -> Option<bool>) -> Option<bool> {
    for index in range {
        if holds(index)? {
            return Some(true);
        }
    }
    Some(false)
}

fn all(range: Range<usize>, mut holds: impl FnMut(usize) -> Option<bool>) -> Option<bool> {
    any(range, |index| holds(index).map(|holds| !holds)).map(|is_wrong| !is_wrong)
}

/// Reduces as far as possible ([)i], [)o], [)A], [)B]); `None` if the head of the left prefix is
/// blocked for ever.
fn reduce(mut pi: Prefix, mut pi_sup: Prefix) -> Option<(Prefix, Prefix)> {
    while let Some(head) = pi.first() {
        let mut matched = None;
        for (position, action) in pi_sup.iter().enumerate() {
            if action == head {
                matched = Some(position);
                break;
            }
            let passes = match head.direction {
                // A(p): receives from others.
                Direction::Receive => {
                    action.direction == Direction::Receive && action.peer != head.peer
                }
                // B(p): receives from anyone, sends to others.
                Direction::Send => {
                    action.direction == Direction::Receive || action.peer != head.peer
                }
            };
            if !passes {
                return None;
            }
        }
        let Some(position) = matched else { break };
        pi.remove(0);
        pi_sup.remove(position);
    }
    Some((pi, pi_sup))
}

/// act(π): peers and directions.
fn actions(prefix: &[Action]) -> BTreeSet<(&Role, Direction)> {
    prefix.iter().map(|a| (&a.peer, a.direction)).collect()
}
