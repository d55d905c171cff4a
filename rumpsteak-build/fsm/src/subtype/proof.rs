//! The answer "yes", and its certificate.

use std::fmt;
use std::sync::Arc;

use super::record::Record;
use crate::certificate::{Certificate, FairInvariant};
use crate::machine::StateId;

/// Why a machine is a subtype.
#[derive(Clone)]
pub struct Proof {
    /// The most actions of the supertype that are pending at once. `None` without a bound.
    pub anticipation: Option<usize>,
    /// The number of situations that were compared, or of sets of situations without a bound.
    pub situations: usize,
    pub(super) evidence: Evidence,
}

#[derive(Clone)]
pub(super) enum Evidence {
    Recorded(Arc<Record>),
    Written(Arc<Certificate>),
}

impl Proof {
    /// True if it proves the [fair relation](crate::certificate::invariant::fair) only.
    pub fn is_fair(&self) -> bool {
        self.fair().is_some()
    }

    /// The states of the supertype that the peers must let it leave: see [`FairInvariant::left`].
    /// None if it is a subtype in every run.
    pub fn left(&self) -> &[StateId] {
        self.fair().map_or(&[], |fair| &fair.left)
    }

    fn fair(&self) -> Option<&FairInvariant> {
        let Evidence::Written(certificate) = &self.evidence else { return None };
        if let Certificate::Fair(fair) = &**certificate { Some(fair) } else { None }
    }

    pub(super) fn written(
        situations: usize,
        anticipation: Option<usize>,
        certificate: Certificate,
    ) -> Self {
        Self { anticipation, situations, evidence: Evidence::Written(Arc::new(certificate)) }
    }

    /// Writes the evidence that the search recorded, for
    /// [`certificate::check`](crate::certificate::check).
    pub fn certificate(&self) -> Certificate {
        match &self.evidence {
            Evidence::Recorded(record) => Certificate::Derivation(record.derivation()),
            Evidence::Written(certificate) => (**certificate).clone(),
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
