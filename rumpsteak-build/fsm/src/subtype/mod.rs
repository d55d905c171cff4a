//! Asynchronous subtyping: may a machine replace another among any peers?
//!
//! ```text
//!   T ≤ T′      T, the subtype, is what a role does; T′, the supertype, is what its protocol says
//! ```
//!
//! A subtype may make fewer choices of its own and offer its peers more, as without queues; and because messages wait in queues, it may
//! also do some actions earlier than its supertype (PPoPP'22, §3.1):
//!
//! * **R1**, an input `p?ℓ` before inputs that are not from p: before an A(p);
//! * **R2**, an output `p!ℓ` before any inputs, and before outputs that are not to p: before a B(p).
//!
//! Never may it do an input before an output (both sides could wait for each other), nor may two messages between the same two
//! roles change places, nor may it leave out for ever what the supertype does (the peer's message would stay in the queue).
//! The relation is Ghilezan, Pantović, Prokić, Scalas and Yoshida's (POPL'21), as PPoPP'22 states it: for all single-output trees U of T and
//! single-input trees V′ of T′ there are W of U and W′ of V′ with W ≲ W′ (App. B.2). Sorts must be equal.
//!
//! # Example
//!
//! The kernel of double buffering asks the source for one value ahead (PPoPP'22, Fig. 4b):
//!
//! ```text
//!   T′ = rec x. s!ready. s?copy. t?ready. t!copy. x
//!   T  = s!ready. T′
//!
//!   the subtype does     what is pending then                by
//!                        ⟨ε, T′⟩
//!   s!ready              ⟨ε, s?copy. t?ready. t!copy. T′⟩     OO, [)O]
//!   s!ready              ⟨s?copy. t?ready. t!copy, T″⟩        OI, IO, [)B]: s! comes after a B(s)         (*)
//!   s?copy               ⟨t?ready. t!copy, T″⟩                [)I]
//!   t?ready              ⟨t!copy, T″⟩                         [)I]
//!   t!copy               ⟨ε, T″⟩                              [)O]
//!   s!ready              ⟨s?copy. t?ready. t!copy, T″⟩        as at (*), in the same state of T: ASM
//!
//!   T″ = s?copy. t?ready. t!copy. T′
//! ```
//!
//! Between the two visits of (\*) the subtype did `s?`, `t?` and `t!`, which is all that is pending there, so nothing is forgotten: it holds.
//!
//! # The algorithm
//!
//! It is that of §3.2 and App. B.5, on machines, with four changes. A *situation* is a state of the subtype, the prefix π′ of the
//! supertype's actions that are pending (`pending`), and the state of the supertype behind it. The rules of Fig. 5 are found in the code
//! under their names (`engine`).
//!
//! 1. **The left prefix π is always empty.** Fig. 5 pushes an action of each side at once and reduces when it can. Here the subtype's action
//!    is reduced at once, and the supertype is unfolded just as far as that takes. Every derivation here is one of Fig. 5 in another order, so
//!    this is sound. It accepts more: when the subtype receives from p, the supertype's next `p?` is known before
//!    one of the subtype's branches is chosen (Fig. 5's rule II guesses the branch when π′ has come only as far as another peer's input).
//! 2. **Outputs of the supertype that are overtaken are not chosen** but kept as an open choice, which the subtype's own later output decides
//!    (`ahead`). The definition lets W′ depend on all of U, so this is sound; where Fig. 5 must guess (∃j in rules OO and IO), here
//!    is nothing to guess. So all branching is universal, the search is plain reachability without backtracking, and
//!    what is met twice is compared once: no choice is explored twice, however it is nested.
//! 3. **Whether an action can be found ahead is decided on the supertype's graph**, by a rank, instead of by unfolding up to a bound. So there is
//!    no bound for the user to choose, and "no" is an answer: each "no" is a pair of U and V′ for which there is no W ≲ W′.
//! 4. **The act check looks at all loops together.** Fig. 5 checks, when rule ASM closes a loop, that what is pending is done within it.
//!    Loops that share situations are not independent, and with memoisation a situation is reached on many paths.
//!    So loops are judged when all situations are known: for each kind of action (`p?` or `p!`), there must be no loop on which an
//!    action of the kind is pending and none is done.
//!
//! ## Why it is sound
//!
//! Take any U and V′, and follow them through the graph of situations; each step is one of the rules of Fig. A.11 for ≲, read without its condition on
//! actions, and its result determines W and W′ as far as they were compared. If the way ends, it does by rule END, with nothing pending. If it is
//! infinite, then W does infinitely many actions, each matched with one of W′ by \[ref-in\], \[ref-out\], \[ref-A\] or \[ref-B\]. What is left to show is that each action
//! of W′ is matched too, because then act(W) = act(A.W′) holds wherever it is asked for. Let a, of kind t, be the oldest action on the spine
//! that is never matched. It stays on the spine for ever. There are finitely many situations, so the way comes to one of them again
//! and again, and runs in loops on which t is pending; by the check, W does actions of kind t infinitely often. Each of them matches
//! the first of its kind on every way through what is pending. Only finitely many are before a. So a is matched after all. An open choice at
//! the end of a spine is no exception: it counts as pending of its kind, and is decided when the subtype does that kind.
//!
//! Situations are equal when state, pending actions, open choices and the states behind them are. Messages of one kind that wait in the
//! same order are interchangeable, so it does not matter by which transitions they were promised.
//!
//! ## What is not decided
//!
//! Subtyping is undecidable. A subtype that anticipates more and more has infinitely many situations. If it may choose never to do what
//! is pending, that is a "no". Otherwise a second engine (`unbounded`) looks for finitely many *sets* of situations that cover them all;
//! where there are none that it can represent, the answer is [`Verdict::Undecided`], with the limit at which the first engine ended.
//!
//! Each "yes" of either engine has a [certificate](crate::certificate) that can be checked without it.
//!
//! Where the subtype overtakes a choice of outputs in a loop, alternatives are dropped beyond [`Limits::branching`]. As long as the choice is open, a "no" about
//! an output may be the fault of the dropping, and is reported as undecided instead; any other "no" is one (`engine` has the argument).
//!
//! # Cost
//!
//! Linear in the number of situations times what is pending at those that are compared: only states where several transitions
//! meet are, since every loop has one. Memory is what those situations hold. There is no recursion on states; look-ahead recurses on
//! branching states, at most 256 deep.
//!
//! # Roads not taken
//!
//! *The paper's visits per pair of states*: the right value differs per protocol, and a low one looks like "no". *Snapshots and
//! undoing* (App. B.5) need a depth-first search, whose first "no" is far from the shortest; and remembering situations needs
//! them as values anyway. *Guessing outputs with backtracking* makes a "no" of a guess depend on assumptions that may be dropped later, so
//! neither answer could be remembered. *The rule TRA* is not used: the paper's implementation has no use for it either.

mod ahead;
mod engine;
mod evidence;
mod lasso;
mod pair;
mod pending;
mod unbounded;

use std::{error::Error, fmt, sync::Arc};

use crate::sorted::SortedSet;
use crate::{
    certificate::{Certificate, Invariant},
    machine::{Defect, Fsm, StateId, TransitionId},
    verdict::{Limit, Limits, Verdict},
};

use self::{
    ahead::Place,
    engine::{Failure, Outcome, Search},
    pair::Pair,
};

/// Judges `sub ≤ sup`.
///
/// The roles' names are not compared; the peers' are.
///
/// ```
/// use rumpsteak_fsm::{Limits, Verdict, dot, subtype};
///
/// let sup = dot::parse(r#"digraph b { 0 -> 1 [label="a?v"]; 1 -> 0 [label="c!v"] }"#)?.remove(0);
/// let sub = dot::parse(r#"digraph b { 0 -> 1 [label="c!v"]; 1 -> 0 [label="a?v"] }"#)?.remove(0);
///
/// // Sending before receiving is safe …
/// assert!(subtype::check(&sub, &sup, &Limits::default())?.is_safe());
/// // … and the other way round is not.
/// let verdict = subtype::check(&sup, &sub, &Limits::default())?;
/// let refusal = verdict.refusal().ok_or("a refusal is expected")?;
/// assert_eq!(refusal.rule, subtype::Rule::InputBeforeOutput);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If one of the machines is not [directed](Fsm::check_directed).
pub fn check(sub: &Fsm, sup: &Fsm, limits: &Limits) -> Result<Verdict<Proof, Refusal>, InputError> {
    for (side, machine) in [(Side::Sub, sub), (Side::Sup, sup)] {
        machine
            .check_directed()
            .map_err(|defect| InputError { side, defect })?;
    }
    let pair = Pair::new(sub, sup);
    if let Some((situations, anticipation)) = lasso::run(&pair, limits) {
        return Ok(Verdict::Safe(Proof {
            situations,
            anticipation: Some(anticipation),
            evidence: Evidence::Situations { pair, slack: 0 },
        }));
    }
    // Where more and more is pending, no budget helps the first engine, so the second is asked early. In proportion to the
    // machines, because much may be pending between large ones.
    let size = pair.sub.len() + pair.sup.len();
    let quick = Limits {
        anticipation: limits.anticipation.min(16 + 4 * size),
        steps: limits.steps.min(2_000 + 200 * size),
        ..*limits
    };
    let budgets = [quick, *limits];
    let budgets = if quick == *limits {
        &budgets[1..]
    } else {
        &budgets
    };
    let mut verdict = Verdict::Undecided(Limit::Steps(limits.steps));
    let mut widen = true;
    for budget in budgets {
        verdict = remembered(&pair, sub, sup, budget);
        if !matches!(verdict, Verdict::Undecided(_)) {
            break;
        }
        if widen {
            match unbounded::search(&pair, budget) {
                unbounded::Outcome::Holds(invariant) => {
                    return Ok(Verdict::Safe(Proof {
                        situations: invariant.judgements.len(),
                        anticipation: None,
                        evidence: Evidence::Invariant(Arc::new(invariant)),
                    }));
                }
                // A larger budget would not help.
                unbounded::Outcome::Stuck => widen = false,
                unbounded::Outcome::Spent => {}
            }
        }
    }
    Ok(verdict)
}

/// The first engine, which remembers what is pending word by word.
fn remembered(pair: &Pair, sub: &Fsm, sup: &Fsm, limits: &Limits) -> Verdict<Proof, Refusal> {
    // Most protocols need no slack; it is costly where loops of choices are nested.
    let mut slack = 0;
    loop {
        match Search::new(pair, limits, slack).run() {
            Outcome::Holds {
                situations,
                anticipation,
            } => {
                return Verdict::Safe(Proof {
                    situations,
                    anticipation: Some(anticipation),
                    evidence: Evidence::Situations {
                        pair: pair.clone(),
                        slack,
                    },
                });
            }
            Outcome::Fails(failure) => return Verdict::Unsafe(Refusal::new(sub, sup, failure)),
            Outcome::Limited(limit) => return Verdict::Undecided(limit),
            Outcome::Lossy if slack >= limits.branching => {
                return Verdict::Undecided(Limit::Branching(limits.branching));
            }
            Outcome::Lossy => slack = (2 * slack + 1).min(limits.branching),
        }
    }
}

/// What a "yes" rests on.
#[derive(Clone)]
pub struct Proof {
    /// How many actions of the supertype are pending at most: the bound that sufficed. `None` if no bound was found: there may be
    /// more and more.
    pub anticipation: Option<usize>,
    /// How many situations were compared, or, without a bound, sets of situations.
    pub situations: usize,
    evidence: Evidence,
}

#[derive(Clone)]
enum Evidence {
    /// All that is needed to write down a derivation: the machines, and which choices the search that succeeded made.
    Situations {
        pair: Pair,
        slack: usize,
    },
    Invariant(Arc<Invariant>),
}

impl Proof {
    /// The evidence, for [`certificate::check`](crate::certificate::check).
    ///
    /// A derivation is written down when it is asked for, which costs about as much as the search did; the search itself only keeps what it
    /// has. An invariant is what its search has.
    pub fn certificate(&self) -> Certificate {
        match &self.evidence {
            // Where there is no derivation after all, the empty one, which the checker refuses.
            Evidence::Situations { pair, slack } => {
                Certificate::Derivation(evidence::certificate(pair, *slack).unwrap_or_default())
            }
            Evidence::Invariant(invariant) => Certificate::Invariant((**invariant).clone()),
        }
    }
}

/// Shows the figures.
impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proof")
            .field("anticipation", &self.anticipation)
            .field("situations", &self.situations)
            .finish_non_exhaustive()
    }
}

/// Compares the figures.
impl PartialEq for Proof {
    fn eq(&self, other: &Self) -> bool {
        (self.anticipation, self.situations) == (other.anticipation, other.situations)
    }
}

impl Eq for Proof {}

/// Which of the two machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The subtype.
    Sub,
    /// The supertype.
    Sup,
}

/// A machine that stands for no local type, so that subtyping means nothing for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// Which one.
    pub side: Side,
    /// What is wrong with it.
    pub defect: Defect,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Sub => "subtype",
            Side::Sup => "supertype",
        };
        write!(f, "the {side} is no local type: {}", self.defect)
    }
}

impl Error for InputError {}

/// Why a machine is no subtype: the two actions that may not change places, and how it comes to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule that forbids it, and what the other fields mean.
    pub rule: Rule,
    /// What the subtype does before, from its initial state; a shortest way, or nearly so.
    pub path: Vec<TransitionId>,
    /// The state of the subtype after `path`.
    pub sub_state: StateId,
    /// The action of the subtype, where it is an action that it does.
    pub sub: Option<TransitionId>,
    /// The state of the supertype where `sup` starts, or where it does nothing more.
    pub sup_state: StateId,
    /// The action of the supertype, where it is one that it does.
    pub sup: Option<TransitionId>,
    /// For [`Rule::Forgotten`] in a loop, the loop of the subtype; otherwise empty.
    pub cycle: Vec<TransitionId>,
}

/// What a subtype may not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// The supertype's action `sup` is never done: the subtype ends without it, or goes round `cycle` without it (the act check of rule ASM).
    /// Do it, or take it out of the protocol.
    Forgotten,
    /// The subtype receives (`sub`) before the supertype's send `sup`. Only inputs may be overtaken by an input: A(p).
    /// Send first.
    InputBeforeOutput,
    /// The peer may send the message of `sup`, and the subtype does not take it in `sub_state`. Handle it.
    InputNotHandled,
    /// The subtype waits for a message (`sub`) that the supertype need never receive, because it ends in `sup_state` or may go
    /// on without it (through `sup`). Receive it only where the protocol has decided that it comes.
    InputNotReached,
    /// The subtype receives (`sub`) before an earlier message from the same peer (`sup`). Receive them in the order of the protocol.
    InputsFromOnePeer,
    /// The subtype sends (`sub`) what the supertype need never send, because it ends in `sup_state` or may go on without it
    /// (through `sup`). Send it only where the protocol has decided on it.
    OutputNotReached,
    /// The subtype sends (`sub`) a label to a peer to which the supertype sends another (`sup`). Choose one that the protocol offers.
    OutputNotOffered,
    /// The subtype sends (`sub`) before an earlier message to the same peer (`sup`). Send them in the order of the protocol.
    OutputsToOnePeer,
    /// The messages of `sub` and `sup` have one label and different payloads. Make the sorts equal.
    PayloadDiffers,
}

/// The rule in a clause.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forgotten => "every action of the protocol must be done sooner or later",
            Self::InputBeforeOutput => "a receive may not overtake a send",
            Self::InputNotHandled => "every message that a peer may send must be handled",
            Self::InputNotReached => {
                "a receive may be done early only if its message comes whatever the peers choose"
            }
            Self::InputsFromOnePeer => "messages from one peer are received in order",
            Self::OutputNotOffered => "a message must be one that the protocol offers",
            Self::OutputNotReached => {
                "a send may be done early only if it is due whatever the peers choose"
            }
            Self::OutputsToOnePeer => "messages to one peer are sent in order",
            Self::PayloadDiffers => "a message has the payload of the protocol",
        })
    }
}

impl Refusal {
    fn new(sub: &Fsm, sup: &Fsm, failure: Failure) -> Self {
        let Failure {
            rule,
            path,
            sub_state,
            sub: own,
            sup: place,
            cycle,
        } = failure;
        let (sup_state, other) = match place {
            Place::State(state) => (StateId::from_index(state as usize), None),
            Place::Transition(id) => {
                let id = TransitionId::from_index(id as usize);
                (sup.transition(id).source, Some(id))
            }
        };
        let sub_state = StateId::from_index(sub_state as usize);
        let mut refusal = Self {
            rule,
            path,
            sub_state,
            sub: own,
            sup_state,
            sup: other,
            cycle,
        };
        refusal.classify(sub, sup);
        refusal
    }

    /// Tells a wrong order from a wrong label from a wrong payload, which are one to the search.
    fn classify(&mut self, sub: &Fsm, sup: &Fsm) {
        let Some(promised) = self.sup.map(|id| sup.transition(id)) else {
            return;
        };
        let candidates: Vec<_> = match (self.rule, self.sub) {
            (Rule::OutputsToOnePeer, Some(id)) => vec![sub.transition(id)],
            (Rule::InputNotHandled, _) => sub.transitions_from(self.sub_state).collect(),
            _ => return,
        };
        let alternatives: Vec<_> = sup.transitions_from(promised.source).collect();
        let label = |candidate: &&crate::machine::Transition<'_>| {
            let own = &candidate.action.message.label;
            match self.rule {
                Rule::InputNotHandled => *own == promised.action.message.label,
                _ => alternatives.iter().any(|other| {
                    other.action.peer == candidate.action.peer && other.action.message.label == *own
                }),
            }
        };
        if let Some(candidate) = candidates.iter().find(label) {
            let alternative = alternatives
                .iter()
                .find(|other| other.action.message.label == candidate.action.message.label);
            self.sub = Some(candidate.id);
            self.sup = alternative.map(|other| other.id).or(self.sup);
            self.rule = Rule::PayloadDiffers;
            return;
        }

        let mut later = SortedSet::new();
        let mut seen = SortedSet::from([promised.target]);
        let mut open = vec![promised.target];
        while let Some(state) = open.pop() {
            for transition in sup.transitions_from(state) {
                later.insert(transition.action);
                if seen.insert(transition.target) {
                    open.push(transition.target);
                }
            }
        }
        let early = candidates
            .iter()
            .find(|candidate| later.contains(candidate.action));
        match (self.rule, early) {
            (Rule::InputNotHandled, Some(candidate)) => {
                self.rule = Rule::InputsFromOnePeer;
                self.sub = Some(candidate.id);
            }
            (Rule::OutputsToOnePeer, None) => self.rule = Rule::OutputNotOffered,
            _ => {}
        }
    }
}
