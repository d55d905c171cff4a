#![doc = include_str!("system.md")]

mod chart;
mod composition;
pub mod early;
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
