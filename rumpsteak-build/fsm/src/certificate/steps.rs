//! Steps: certificates for machines that do everything at its turn, whatever their states are.
//!
//! The evidence is a set of pairs of states. Whenever the subtype is in the one, the supertype
//! would be in the other:
//!
//! ```text
//!   sub  = {a?x; c!stop; end, b?y; end}           sup = {a?x; {c!go; end, c!stop; end}, b?y; end}
//! ```
//!
//! * If neither sends, they receive the same; or they receive from one peer, and the subtype may
//!   have labels that the supertype has not.
//! * If neither receives, the subtype does at least one of the sends of the supertype, and no
//!   other.
//! * A state that sends and receives is paired with a state that does exactly the same.
//!
//! # Why a certificate that is accepted proves that nothing goes wrong
//!
//! Let the supertype be part of a safe system, and put the subtype in its place. By induction on
//! runs, each configuration of the new system is one of the old system, with the paired state: a
//! send of the subtype is one of the supertype. A receive that only the subtype has is never done:
//! its state receives from one peer only, and if that label were the head of the queue, the
//! supertype would be in an unspecified reception. So each step of the new system is one of the
//! old. A machine waits in both, or in neither; and the subtype is finished where the supertype is.
//!
//! Options that are left out are judged [together](mod@crate::verify::together) with other roles. A
//! state may have several peers: nothing changes its place, so it does not matter which one comes
//! first. The two machines have to be [deterministic](crate::Fsm::check_deterministic), which is
//! checked first.

use litemap::LiteMap;

use super::fault::{Fault, Invalid};
use crate::machine::{Action, Direction, Fsm, IndexSet, StateId};

/// The pairs of states; the first one is the pair of initial states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// A state of the subtype, and one of the supertype.
    pub pairs: Vec<(StateId, StateId)>,
}

pub(super) fn check(steps: &Steps, sub: &Fsm, sup: &Fsm) -> Result<(), Invalid> {
    if sub.check_deterministic().is_err() || sup.check_deterministic().is_err() {
        return Err(Invalid::at(0, 0, Fault::NotDirected));
    }
    if steps.pairs.first() != Some(&(sub.initial(), sup.initial())) {
        return Err(Invalid::at(0, 0, Fault::Initial));
    }
    let claimed: IndexSet<_> = steps.pairs.iter().copied().collect();
    for (position, &(q, p)) in steps.pairs.iter().enumerate() {
        let invalid = |fault| Invalid::at(position, 0, fault);
        if q.index() >= sub.len() || p.index() >= sup.len() {
            return Err(invalid(Fault::Unknown));
        }
        let (own, due) = (offers(sub, q), offers(sup, p));
        pair(&own, &due).map_err(invalid)?;
        for (action, target) in own {
            if let Some(&behind) = due.get(action)
                && !claimed.contains(&(target, behind))
            {
                return Err(invalid(Fault::OpenGoal));
            }
        }
    }
    Ok(())
}

type Offers<'a> = LiteMap<&'a Action, StateId>;

fn offers(fsm: &Fsm, state: StateId) -> Offers<'_> {
    let mut offers = Offers::new();
    for found in fsm.transitions_from(state) {
        offers.insert(found.action, found.target);
    }
    offers
}

/// Checks that a state may stand for another.
fn pair(own: &Offers<'_>, due: &Offers<'_>) -> Result<(), Fault> {
    let all = |offers: &Offers<'_>, wanted| offers.keys().all(|it| it.direction == wanted);
    let has_all = |more: &Offers<'_>, of: &Offers<'_>| of.keys().all(|key| more.contains_key(key));
    if own.is_empty() || due.is_empty() {
        return if own.len() == due.len() { Ok(()) } else { Err(Fault::WrongRule) };
    }
    if all(own, Direction::Send) && all(due, Direction::Send) {
        return if has_all(due, own) { Ok(()) } else { Err(Fault::Order) };
    }
    if !has_all(own, due) {
        return Err(Fault::NotHandled);
    }
    let has_one_peer = own.keys().is_sorted_by(|one, other| one.peer == other.peer);
    let hears_one = has_one_peer && all(own, Direction::Receive);
    if hears_one || own.len() == due.len() { Ok(()) } else { Err(Fault::WrongRule) }
}
