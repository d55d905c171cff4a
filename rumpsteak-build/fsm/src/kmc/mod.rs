//! k-multiparty compatibility: the safety of a whole system, judged at queues of length k (J. Lange
//! and N. Yoshida, *Verifying asynchronous interactions via communicating session automata*,
//! CAV'19).
//!
//! # The judgement
//!
//! RS_k are the configurations that a [`System`](crate::System) reaches by runs in which no queue
//! holds more than k messages; →_k is one such step. A system is
//!
//! * *k-exhaustive*: for each configuration of RS_k and each send p!a that a machine p offers in
//!   it, some run →_k without p leads to where p!a is possible. The bound only delays it;
//! * *k-safe*: from each configuration of RS_k, each waiting machine can move eventually
//!   (*progress*), and each message at the head of a queue can be received eventually (*eventual
//!   reception*), by runs →_k;
//! * *directed*: in each state a machine sends to one peer or receives from one peer;
//! * *k-OBI* (output bound independent): if a machine can do one of its sends, no other is blocked;
//! * *k-IBI* (input bound independent): no machine can ever receive from two queues;
//! * *k-SIBI*: if a machine receives x, no message that it could have received instead from another
//!   queue is there, or is sent later by any run →_k;
//! * *k-CIBI*: as k-SIBI, but such a message may be sent later by a machine that depends on the
//!   reception of x through messages.
//!
//! **k-MC**: k-exhaustive and k-safe; and directed, or without mixed choices, k-OBI, and k-SIBI or
//! k-CIBI. A system that is k-MC for some k is safe with unbounded queues, as defined in
//! [`system`](crate::system), and starves no role.
//!
//! # Why it is sound
//!
//! *Claim*: from r in RS_k let φ be any run with unbounded queues, to s. If the system is
//! k-exhaustive and directed, there is a run ψ from s such that φψ, after swapping neighbouring
//! independent moves of different machines, is a run →_k. So everything that happens also happens
//! within the bound, and everything that can still happen within the bound can still happen: k-safe
//! is safe.
//!
//! *Proof* by induction on φ. If its first move is possible within the bound, take it. Otherwise it
//! is a send of some p into a full queue, and a run χ →_k without p makes room. Take the first move
//! x of χ, by some m ≠ p. If m does not move in φ, x goes to the end of s, which it does not
//! disable, and χ is one shorter. If m moves in φ, its first move y there is from the same state:
//! both send into the same queue, which is not full, or both receive the same head. So y can be
//! swapped to the front of φ, which is then one shorter.
//!
//! Without directedness, the queues of x and y may differ. If they send, y is possible too by
//! k-OBI. If they receive, y's message is there already, or φ sends it before y by moves that do
//! not depend on m. By the claim for that shorter part of φ after x, it can be sent within the
//! bound after x, independently of m, which k-SIBI and k-CIBI exclude. A machine that waits and has
//! not moved in ψ waits after it too. The proof does not need deterministic machines, but the
//! verdict asks for them as the paper does, because no program is nondeterministic. Mixed states
//! are refused unless the bound never mattered.
//!
//! So a system that is k-exhaustive (and directed or independent) and not k-safe is not safe. Nor
//! is a system in which machines wait only for each other. For all others k is raised from 1. In
//! directed systems k-exhaustivity is monotone in k, by the same claim, so k is doubled and then
//! halved. In others it is not, and each k is tried.
//!
//! # Cost
//!
//! RS_k has up to (states · messages^k)^machines configurations; the problem is PSPACE-complete.
//! Parts that exchange no messages are judged apart. Directed parts are explored one machine at a
//! time (`system::partial_order`), which leaves only choices as branching.
//! [`Limits::configurations`](crate::Limits::configurations) counts over all bounds.

pub(crate) mod causality;
pub(crate) mod check;
mod full;
mod reduced;
mod report;
pub(crate) mod violation;

pub use self::check::{Reduction, check, check_at};
pub use self::report::{Flaw, Obstacle, Properties, Property, Report, Verdict, Witness};
