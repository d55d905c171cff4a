//! The limits and the report of an exploration.

use crate::system::Step;

/// A fault of a configuration. Machines are given by their position in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The receiver can only receive, and takes none of the messages at the front of its queues.
    UnspecifiedReception {
        /// The stuck role.
        receiver: usize,
    },
    /// No role can move, and some role is not finished.
    Deadlock,
    /// A message is queued for a role that is finished.
    Orphan {
        /// The sender.
        sender: usize,
        /// The finished role.
        receiver: usize,
    },
    /// The message at the front of a queue is not received in any run from here on, though its
    /// receiver is not finished.
    Abandoned {
        /// The sender.
        sender: usize,
        /// The role that never receives it.
        receiver: usize,
    },
    /// The machine waits, and does not move in any run from here on.
    Starvation {
        /// The waiting role.
        machine: usize,
    },
}

/// The kinds of [`Fault`], to ask for the first of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// [`Fault::UnspecifiedReception`]
    UnspecifiedReception,
    /// [`Fault::Deadlock`]
    Deadlock,
    /// [`Fault::Orphan`]
    Orphan,
    /// [`Fault::Abandoned`]
    Abandoned,
    /// [`Fault::Starvation`]
    Starvation,
}

impl Fault {
    /// The kind of the fault.
    pub fn kind(self) -> FaultKind {
        match self {
            Self::Deadlock => FaultKind::Deadlock,
            Self::UnspecifiedReception { .. } => FaultKind::UnspecifiedReception,
            Self::Orphan { .. } => FaultKind::Orphan,
            Self::Abandoned { .. } => FaultKind::Abandoned,
            Self::Starvation { .. } => FaultKind::Starvation,
        }
    }
}

impl FaultKind {
    /// Returns true if the configuration alone shows the fault, whatever happens later.
    pub fn is_immediate(self) -> bool {
        !matches!(self, Self::Abandoned | Self::Starvation)
    }
}

/// The limits of [`System::explore`](crate::System::explore).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest queue.
    pub queue: usize,
    /// The most configurations.
    pub configurations: usize,
    /// The longest run.
    pub steps: usize,
}

/// The knowledge of an exploration about the system with unbounded queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coverage {
    /// A limit cut the exploration off. Its findings are right, and there may be more.
    Partial,
    /// Sends were held back by full queues, but each can be made after others have moved.
    Exhaustive,
    /// No limit was met.
    Complete,
}

/// A fault and a shortest run to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The fault after the run.
    pub fault: Fault,
    /// The run, from the initial configuration; none within the limits is shorter for this kind of
    /// fault.
    pub run: Vec<Step>,
}

/// An endless run in which every role that can move does, and one role waits or does not receive
/// its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neglect {
    /// The role that waits, or the channel whose message is never received.
    pub machine: usize,
    /// A run to the start of the cycle.
    pub run: Vec<Step>,
    /// The steps that repeat from there on, in some order.
    pub steps: Vec<Step>,
}

/// The report of [`System::explore`](crate::System::explore).
#[derive(Clone, Debug)]
pub struct Report {
    /// The first fault of each kind, shortest runs first, and among equally short ones the more
    /// telling: a stuck receiver before the deadlock that it may be part of.
    pub findings: Vec<Finding>,
    /// How many configurations were visited.
    pub configurations: usize,
    /// The coverage of the exploration.
    pub coverage: Coverage,
}

impl Report {
    /// The finding of this kind, if there is one.
    pub fn finding(&self, kind: FaultKind) -> Option<&Finding> {
        self.findings.iter().find(|f| f.fault.kind() == kind)
    }

    /// The first fault that the configuration alone shows: a deadlock, an unspecified reception or
    /// an orphan.
    pub fn immediate(&self) -> Option<&Finding> {
        self.findings.iter().find(|f| f.fault.kind().is_immediate())
    }
}
