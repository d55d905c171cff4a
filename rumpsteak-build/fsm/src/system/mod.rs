//! Systems: one machine per role, composed over queues, and every way in which they can go wrong.
//!
//! # Meaning
//!
//! A [`System`] has an unbounded FIFO queue for each ordered pair of roles. A *configuration* has a
//! state for each machine and a content for each queue. At first all machines are in their initial
//! states and all queues are empty. A send puts its message into the queue to its peer; a receive
//! takes it from the head of the queue from its peer.
//!
//! The system is **unsafe** if it can reach
//!
//! * a *deadlock*: no machine can move, and one is not in a terminal state;
//! * an *unspecified reception*: a role waits, and the head of each queue that it listens to is a
//!   message that it cannot take in this state;
//! * an *orphan message*: a message that can never be received, because its receiver is finished,
//!   has no receive from this sender ahead of it, or never gets there.
//!
//! It **starves** a role if the role, from some reachable configuration on, waits for a message
//! that can never come. A deadlock starves too, so only systems that are otherwise safe are
//! searched for starvation.
//!
//! # How it is explored
//!
//! Breadth first, so that the first bad configuration has the shortest run. Orphans and starvation
//! concern all continuations. They are found afterwards, from what can happen after each strongly
//! connected component of the explored graph. If some successors of a configuration were not
//! explored, anything may still happen there. So a reported failure is always real.
//!
//! A safe system may need unbounded queues. So no queue may exceed a bound k, which is 1, 2, 4, …
//! in turn. A bound decides if it held no send back. It also decides if all machines are directed
//! and each send that it held back can be made after others have moved. That is k-exhaustivity
//! (Lange and Yoshida, CAV'19; see [`kmc`](crate::kmc)): every run is then a reordering of a run
//! within the bound, and goes wrong if that one does.
//!
//! A failure is first found with the shortest run under the bound. A run of n steps needs no queue
//! longer than n, so a second search of depth n looks for a shorter one, if the budget allows.
//!
//! If a machine is not directed, the partial-order reduction (`partial_order.rs`) goes first. It is
//! enough if nothing is wrong.
//!
//! A step changes one machine and one queue, so only these are judged again. Cost:
//! O(configurations · (possible moves + w)) time and O(configurations · w) memory, where w is
//! (machines + channels) / 64.

mod chart;
mod composition;
mod early;
mod every_run;
mod exploration;
mod explorer;
mod interned;
pub(crate) mod partial_order;
pub mod run;
mod search;
pub(crate) mod store;

pub use self::composition::{System, SystemError};
pub(crate) use self::every_run::can_leave;
pub use self::every_run::{EveryRun, keeps_promises, live_in_every_run};
pub use self::exploration::{Coverage, Exploration, explore};
pub(crate) use self::explorer::{
    Continuations, ExploredStep, Explorer, MOST_WORDS, Node, Paths, components, index,
};
pub(crate) use self::interned::{
    ChannelIndex, InternedSystem, MachineIndex, Move, StateIndex, StateKind,
};
pub use self::run::Neglected;
pub(crate) use self::run::{Failure, Run, Step};
