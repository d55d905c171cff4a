//! k-multiparty compatibility: whether a whole system is safe, judged at queues of length k.
//!
//! From J. Lange and N. Yoshida, *Verifying asynchronous interactions via communicating session
//! automata*, CAV 2019.
//!
//! # The judgement
//!
//! RS_k are the configurations that a [`System`](crate::System) reaches by runs in which no queue
//! ever holds more than k messages; →_k is one such step. A system is
//!
//! * *k-exhaustive*: for each configuration of RS_k and each send p!a that a machine p offers in
//!   it, some run →_k without p leads to where p!a is possible. The bound only delays it;
//! * *k-safe*: from each configuration of RS_k, each machine that waits can move sooner or later
//!   (*progress*), and each message at the head of a queue can be received sooner or later
//!   (*eventual reception*), by runs →_k;
//! * *directed*: in each state a machine sends to one peer, or receives from one peer;
//! * *k-OBI* (output bound independent): if a machine can do one of its sends, no other is blocked;
//! * *k-IBI* (input bound independent): no machine can ever receive from two queues;
//! * *k-SIBI*: if a machine receives x, no message that it could have received instead from another
//!   queue is there, nor is sent later on by any run →_k;
//! * *k-CIBI*: as k-SIBI, but such a message may be sent later by a machine that, through messages,
//!   depends on the reception of x.
//!
//! **k-MC**: k-exhaustive and k-safe; and directed, or without mixed choices, k-OBI, and k-SIBI or
//! k-CIBI. A system that is k-MC for some k is safe with unbounded queues, in the sense of
//! [`system`](crate::system), and starves no role.
//!
//! ```text
//!   K = S!r; S!r; rec X . S?v; T?r; T!v; S!r; X double buffering, the optimised kernel:
//!   S = rec X . K?r; K!v; X                     at k = 1 the second send of K waits for S, which
//!   T = rec X . K!r; K?v; X                     takes the first: 1-exhaustive, 1-safe, directed
//! ```
//!
//! # Why it is sound
//!
//! *Claim*: from r in RS_k let φ be any run, of unbounded queues, to s. If the system is
//! k-exhaustive and directed, there is a run ψ from s such that φψ, after swapping neighbouring
//! moves of different machines that do not depend on each other, is a run →_k. So all that happens
//! happens within the bound, and what can still happen within the bound can still happen: k-safe is
//! safe.
//!
//! *Proof* by induction on φ. If its first move is possible within the bound, take it. Otherwise it
//! is a send of some p into a full queue, and there is a run χ →_k without p that makes room. Take
//! the first move x of χ, by some m ≠ p. If m does not move in φ, x goes to the end of s, which it
//! does not disable, and χ is one shorter. If m moves in φ, its first move y there is from the same
//! state: both send into the same queue, which is not full, or both receive the same head; so y can
//! be swapped to the front of φ, which is one shorter then.
//!
//! Without directedness, x and y may differ in their queue. If they send, k-OBI says that y is
//! possible too. If they receive, y's message is there already, or it is sent in φ before y, by
//! moves that do not depend on m. By the claim for that shorter part of φ after x, it can be sent
//! within the bound after x, independently of m: which k-SIBI and k-CIBI exclude. A machine that
//! waits and has not moved in ψ waits after it too. Machines need not be deterministic for this;
//! the verdict asks for it as the paper does, because no program is such a machine. Mixed states
//! are refused, unless the bound never mattered, so that all configurations were seen.
//!
//! So a system that is k-exhaustive (and directed or independent) and not k-safe is not safe. Nor
//! is one with a set of machines that wait for each other only. For all others k is raised from 1.
//! In directed systems k-exhaustivity is monotone in k, by the same claim, so k is doubled and then
//! halved. In others it is not (a system of the paper is 1-MC and not 2-MC), and each k is tried.
//!
//! # Cost
//!
//! RS_k has up to (states · messages^k)^machines configurations; the problem is PSPACE-complete.
//! Machines that do not talk to each other are judged apart: sums instead of products. Directed
//! parts are explored one machine at a time (`system::partial_order`), which leaves only
//! choices as branching: streaming with n values ahead has O(n) configurations instead of O(n²), a
//! ring of n machines that all send first O(n²) instead of 4ⁿ.
//!
//! A search ends at [`Limits::configurations`](crate::Limits::configurations), counted over all
//! bounds tried, and at [`Limits::queue`](crate::Limits::queue). Configurations take at most a
//! quarter of a gigabyte; a system of thousands of roles may have no room for as many as the limit
//! says.

mod causal_slice;
pub(crate) mod causality;
pub(crate) mod check;
mod defects;
mod full;
mod reduced;
mod report;
pub(crate) mod violation;

pub use self::check::{Reduction, check, check_at};
pub use self::report::{Flaw, Obstacle, Properties, Property, Report, Verdict, Witness};
