//! Systems: one machine per role, composed over queues, and every way in which they can go wrong.
//!
//! # Meaning
//!
//! A [`System`] has an unbounded FIFO queue for each ordered pair of roles. A *configuration* is a
//! state for each machine and a content for each queue; at first all machines are in their initial
//! states and all queues are empty. A send puts its message into the queue to its peer; a receive
//! takes it from the head of the queue from its peer.
//!
//! The system is **unsafe** if it can reach
//!
//! * a *deadlock*: no machine can move, and one is not in a terminal state, that is not finished;
//! * an *unspecified reception*: a role waits, and the head of each queue that it listens to is a
//!   message that it cannot take in this state;
//! * an *orphan message*: a message that can never be received from here on, because its receiver
//!   is finished, has no receive from this sender ahead of it, or never gets there.
//!
//! It **starves** a role if from some reachable configuration on, the role waits for a message that
//! can never come. A deadlock starves too; so starvation is looked for only in systems that are
//! otherwise safe.
//!
//! # How it is explored
//!
//! Breadth first, so that the first bad configuration met has the shortest run. Orphans and
//! starvation concern all continuations and are found afterwards: for each strongly connected
//! component of the explored graph, what can happen from there on. If not all successors of a
//! configuration were explored, anything may still happen there. So a failure that is reported is
//! always real.
//!
//! Queues of a safe system need not be bounded. So the search has a bound k that no queue may
//! exceed, which is 1, 2, 4, … in turn. It settles the matter if the bound held no send back; or if
//! each send that it held back can be made after others moved first, and all machines are directed.
//! That is k-exhaustivity (Lange and Yoshida, CAV'19; see [`kmc`](crate::kmc)): every run is then a
//! reordering of one within the bound, and goes wrong if that one does.
//!
//! A failure is found with the shortest run under the bound. A run of n steps needs no queue longer
//! than n, so a second search, as deep as n, looks for a shorter one under that bound, if the
//! budget allows.
//!
//! If a machine is not directed, a smaller search (`partial_order.rs`) goes first. It is enough if
//! nothing is wrong.
//!
//! A step changes one machine and one queue, so only these are looked at again. Cost:
//! O(configurations · (moves that are possible + w)) time and O(configurations · w) memory, where w
//! is (machines + channels) / 64.

mod chart;
pub(crate) mod components;
mod composition;
pub(crate) mod every_run;
mod exploration;
pub(crate) mod explorer;
pub(crate) mod interned;
pub(crate) mod partial_order;
pub mod run;
mod search;
pub(crate) mod store;

pub use self::composition::{System, SystemError};
pub use self::every_run::{EveryRun, keeps_promises, live_in_every_run};
pub use self::exploration::{Coverage, Exploration, explore};
pub use self::run::Neglected;
