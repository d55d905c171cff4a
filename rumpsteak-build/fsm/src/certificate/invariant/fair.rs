//! Fair invariants: [invariants](super) that prove the *fair* relation.
//!
//! A system is **fair-safe** if it is safe and starves no role: from each configuration, each
//! message *can* still be received, and each role that waits *can* still be served ([`system`]).
//! The two relations differ in messages that are put off:
//!
//! | relation | what is pending | among peers |
//! |---|---|---|
//! | *every run* | is done in each run, whatever is chosen | that are live in every run |
//! | *fair* | can always still be done | that are fair-safe |
//!
//! ```text
//!   P:  0 h!data 1, 0 h!enough 2, 1 h?ok 0, 1 h?ko 0, 2 h?bye 3
//!   U:  0 h!data 0, 0 h!enough 1, 1 h?ok 1, 1 h?ko 1, 1 h?bye 2
//!
//!   U may send data for ever and read no answer: no subtype in every run. It can always stop, and
//!   reads them all then: fair.
//! ```
//!
//! # What is proven
//!
//! Let P and U be directed, and C a context of directed machines. A context *lets P leave* a state
//! in which P receives if from each configuration of C\[P] in which P is there, some run takes it
//! to where it does not receive. If a fair invariant of U and P is accepted, then for each C that
//! lets P leave the states of [`FairInvariant::left`]: if C\[P] is fair-safe, so is C\[U].
//!
//! Beyond what every invariant says ([*judgements describe the way*](super)) it says three things:
//!
//! * *Only receives are put off, and no option is left out.* No output is ever pending, and where
//!   both send, U has all options of P.
//! * *Sends come to their turn.* `Ahead` is applied finitely often in turn
//!   ([`unfoldings`](FairInvariant::unfoldings)), or P sends after it and is in a state that it can
//!   leave.
//! * *What is pending drains.* From each judgement U can choose its outputs so that, whatever it is
//!   sent, nothing is pending in the end ([`drains`](FairInvariant::drains)): `Match` lowers a
//!   rank, for one output of U or for all inputs. `Take` and `Ahead` do not raise it; the first
//!   shortens what is pending, and the second comes before a `Match`.
//!
//! # Why C\[U] is fair-safe
//!
//! *Lagging.* Take a run of C\[U] and do it again with P, as far as that goes: each machine of C
//! does its own actions again, P takes what it is sent and does the outputs that U has done. Some
//! of these may come later for P, behind inputs that are not there yet: call them *early*. A
//! machine of C that has not done all its actions again waits for an early output, or for a machine
//! that does: it is directed, so it waits for this one role. So each run τ of C\[P] that goes on
//! from there without a send of P consists of actions of the others. These have done the same
//! in both systems, and their queues differ only by what was added behind. So C\[U] can do τ as
//! well, except the inputs of P, which wait in the queues of U.
//!
//! *Catching up.* P waits for an input before the next early output. As C\[P] is fair-safe, some
//! run serves it; and by the second point some such runs lead to the output, which the way through
//! the judgements has there with P's options. P sends it. So any run of C\[U] can be continued by
//! actions of C alone until no output is early. Then C\[U] differs from C\[P] only in messages that
//! P has received and U has not: they are pending, and in the queues of U.
//!
//! *Nothing unexpected.* At that point every message at the front of a queue is so in C\[P], too,
//! or is pending and taken by U. And what was there before it caught up, still is.
//!
//! *Draining.* From there let U go on. Where it sends, let P catch up to its output state first;
//! then the inputs are known, and U chooses what the ranks say. Where it receives, it is served:
//! what is pending is there, and otherwise it does what P does next, or P's inputs from others come
//! first, finitely many. Ranks and lengths fall until nothing is pending. This is a configuration
//! of C\[P], with U in place of P.
//!
//! *Every message.* From there some run ρ of C\[P] receives the message in question, or serves the
//! role. U does ρ as well: where P sends after inputs, U sends at its own turn what P will send in
//! ρ, for it has all options; where U receives, P does. After ρ, drain again: U has received all
//! that P has. So the message can be received and the role served in C\[U].
//!
//! Several roles are replaced one after the other: the rest is a directed context each time, and
//! another role can still leave what it could leave, because U can follow each run.
//!
//! The fair relation holds for more pairs and is undecidable. A subtype in every run that leaves
//! out no option is fair, too, by the argument of [`together`](mod@crate::verify::together).
//! Related: fair refinement of two roles (Bravetti, Lange and Zavattaro, FoSSaCS'21).
//!
//! [`system`]: mod@crate::system

use super::Invariant;
use crate::machine::StateId;

/// The evidence that one machine is a fair subtype of another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FairInvariant {
    /// The judgements; the ranks of their pending words do not matter.
    pub invariant: Invariant,
    /// By judgement, a number that falls with each `Match`, if the subtype chooses well, until
    /// nothing is pending.
    pub drains: Vec<u32>,
    /// By judgement, a number that falls with each `Ahead`, except in states that are left.
    pub unfoldings: Vec<u32>,
    /// The states of the supertype with receives that may go on for ever: the context must let it
    /// leave them.
    pub left: Vec<StateId>,
}
