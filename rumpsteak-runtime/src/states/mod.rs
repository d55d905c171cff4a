//! The states of a session: the generic primitives of PPoPP'22 §2.1 from which session types are
//! built.
//!
//! A state is the right to perform one action. Performing it consumes the state and returns the
//! next, so Rust's affine types enforce the order: a state cannot be made, copied or used twice.
//! All states of a session share one [`State`]. A process that returns anything but its [`End`]
//! poisons the role.

pub(crate) mod action;
mod branch;
pub(crate) mod choice;
mod each;
mod end;
mod gather;
mod implement;
mod misused;
pub(crate) mod proof;
mod race;
mod receive;
mod receive_any;
mod select;
mod send;
pub(crate) mod state;

pub use self::branch::{Branch, Branching, Drains};
pub use self::choice::{AnyPeer, Choice, EachMember, Family, NotAFamily, Offers, OneMember, Peer};
pub use self::each::TalksToMembers;
pub use self::end::{End, Ended, Ends, Over, Remains};
pub use self::gather::{Due, Gather, Gathering, Gathers};
pub use self::misused::{Awaited, NotBranch, NotEnd, NotGather, NotRace, NotReceive, NotSelect};
pub use self::misused::{NotSend, ToBranch, ToDo, ToGather, ToRace, ToReceive, ToSelect, ToSend};
pub use self::proof::{Holds, OnDemand, Plays, Process, Runs, Supplied, Uncalled};
pub use self::race::{Race, Raced, Until};
pub use self::receive::{Receive, Receiving};
pub use self::receive_any::Peers;
pub use self::select::Select;
pub use self::send::{Follows, Returning, Send, Sending};
pub use self::state::{Session, State};
