//! Families: roles that many equal members play.
//!
//! All members of a family `w` run one machine. A peer that sends to `w` sends to each member, and
//! a peer that receives from `w` receives from each member, in any order. The judgements see the
//! *quotient*, in which `w` is one role, and [`check`] decides whether their result counts for
//! every number of members:
//!
//! * each state of `w` sends one message, or receives from one peer;
//! * a state of a peer that receives from `w` has no other action, and a state that sends to `w`
//!   only sends.
//!
//! # Why
//! Let `S` be the quotient, and `S'` the system with n members. A *full* configuration of `S'` is
//! one in which each peer has sent to all members what it has sent to one, and likewise received.
//!
//! *Erasure.* Take a run of `S'`, and leave out all actions with members other than k. This is a
//! run of `S`: a peer in the middle of sending to the members, or of receiving from them, is before
//! or behind that action of `S`, as k is. The queues to and from k are equal in both runs. So no
//! queue of a member is longer than in `S`, a wrong message in `S'` is a wrong message in `S`, and
//! so is a message that is left when all roles have ended.
//!
//! *Deadlock.* A member never chooses, and waits for one queue at a time. It is a process in the
//! sense of Kahn (*The semantics of a simple language for parallel programming*, 1974). All members
//! get the same sequence from each peer, so each has done the first part of one sequence, up to its
//! *position*. Suppose `S'` is stuck, and take a member x with the least position.
//! * x waits for a message of `r` that another member y has. Then `r` is in the middle of sending
//!   it, and waits for room in the queue of a third member, which has not received the message
//!   before. So its position is less than that of x: a contradiction. Hence no member has that
//!   message, and all have the position of x.
//! * x waits for room in its queue to `r`. A member behind this position has sent one message more.
//!   `r` has not received one more from it, or it would be in the middle of receiving, and the next
//!   message from x is there. So that member's queue holds more than it has room for: a
//!   contradiction, and again all have the position of x.
//! * x has ended. Then all have.
//!
//! All members have one position, so all have sent the same messages. A peer in the middle of
//! receiving finds the missing messages in the queues, and a peer in the middle of sending waits
//! for room in a queue that is shorter than one that had room. Neither is stuck, so the
//! configuration is full, and its erasure is a configuration of `S` that is stuck in the same way.
//!
//! *Eventual reception.* In an infinite run with fair scheduling, all members get equal sequences
//! in the end, and so do the peers from them. So each peer comes to the end of its action, the
//! erasure is fair, too, and in `S` it receives each message.
//!
//! With several families, replace one after the other: no member of a family talks to a member of
//! another one. The tests of `rumpsteak-oracle` explore random systems with up to four members.

use crate::machine::{Direction, Fsm, Role, StateId};

/// Checks that a machine is safe with every number of members if it is safe with one. Costs
/// O(transitions).
///
/// # Errors
/// The first state that may not be, and why.
pub fn check(fsm: &Fsm, is_family: impl Fn(&Role) -> bool) -> Result<(), (StateId, &'static str)> {
    let is_member = is_family(fsm.role());
    for state in fsm.reachable() {
        let actions: Vec<_> = fsm.transitions_from(state).map(|found| found.action).collect();
        let [first, others @ ..] = &actions[..] else { continue };
        let sends = actions.iter().filter(|it| it.direction == Direction::Send).count();
        let with_family = actions.iter().any(|action| is_family(&action.peer));
        let obstacle = match is_member {
            true if with_family => "members of two families talk to each other",
            true if sends > 0 && !others.is_empty() => "each member could choose something else",
            true if others.iter().any(|other| other.peer != first.peer) => {
                "a member receives from whichever peer is first"
            }
            false if with_family && sends == 0 && !others.is_empty() => {
                "a choice depends on what comes from the members"
            }
            false if with_family && sends > 0 && sends < actions.len() => {
                "sending to the members depends on what comes first"
            }
            _ => continue,
        };
        return Err((state, obstacle));
    }
    Ok(())
}
