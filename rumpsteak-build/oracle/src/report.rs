//! What an exploration is asked, and what it answers.

use crate::system::Step;

/// What is wrong in a configuration. Machines are given by their position in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The receiver can only receive, and what is at the front of its queues is not what it takes.
    UnspecifiedReception {
        /// Who is stuck.
        receiver: usize,
    },
    /// Nobody can move and somebody is not finished.
    Deadlock,
    /// A message is queued for a role that is finished.
    Orphan {
        /// Who sent it.
        sender: usize,
        /// Who is finished.
        receiver: usize,
    },
    /// The message at the front of a queue is not received in any run from here on, though its
    /// receiver is not finished.
    Abandoned {
        /// Who sent it.
        sender: usize,
        /// Who never receives it.
        receiver: usize,
    },
    /// The machine waits, and does not move in any run from here on.
    Starvation {
        /// Who waits.
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
    /// Which kind of fault it is.
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
    /// Whether the configuration alone shows the fault, without a word about what may happen later.
    pub fn is_immediate(self) -> bool {
        !matches!(self, Self::Abandoned | Self::Starvation)
    }
}

/// How far [`System::explore`](crate::System::explore) goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest queue.
    pub queue: usize,
    /// The most configurations.
    pub configurations: usize,
    /// The longest run.
    pub steps: usize,
}

/// What an exploration knows about the system with unbounded queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coverage {
    /// A limit cut something off: what was found is there, what was not found may be.
    Partial,
    /// Sends were held back by full queues, but each can be made after others have moved.
    Exhaustive,
    /// No limit was met.
    Complete,
}

/// A fault and a shortest run to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong after the run.
    pub fault: Fault,
    /// The run, from the initial configuration; none within the limits is shorter for this kind of
    /// fault.
    pub run: Vec<Step>,
}

/// An endless run in which every role that can move does, and one waits or does not take what is
/// sent to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neglect {
    /// Who waits, or whose message is never received.
    pub machine: usize,
    /// A run to where it stays like this.
    pub run: Vec<Step>,
    /// The steps that are taken again and again from there on, in some order.
    pub steps: Vec<Step>,
}

/// What [`System::explore`](crate::System::explore) found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The first fault of each kind, shortest runs first, and among equally short ones the more
    /// telling: a stuck receiver before the deadlock that it may be part of.
    pub findings: Vec<Finding>,
    /// How many configurations were visited.
    pub configurations: usize,
    /// Whether that was all.
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
