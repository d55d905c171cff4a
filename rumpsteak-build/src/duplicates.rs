//! One error for one mistake: faults that report what another one has reported already.

use std::mem;

use crate::fault::{Cause, Fault};

impl Fault {
    /// Adds faults to those that are known. One mistake is one error.
    pub(crate) fn add_once(known: &mut Vec<Self>, faults: Vec<Self>) {
        for fault in faults {
            if !known.iter().any(|known| known.is_same(&fault)) {
                known.push(fault);
            }
        }
    }

    /// True if another fault reports the same mistake.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_similar = match (&self.cause, &other.cause) {
            (Cause::Name { problem: own, .. }, Cause::Name { problem: other, .. }) => own == other,
            (Cause::NoLabel { labels: own, .. }, Cause::NoLabel { labels: other, .. }) => {
                own == other
            }
            (own, other) => mem::discriminant(own) == mem::discriminant(other),
        };
        let names = self.cause.names();
        is_similar && names.is_some() && names == other.cause.names()
    }
}
