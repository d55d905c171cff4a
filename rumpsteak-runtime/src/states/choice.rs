//! Choices between labels, with one role or several at the other end.

use std::convert::Infallible;

use super::state::Names;
use crate::role::Role;
use crate::seal::{ByMacro, Seals};

/// The options of a [`Select`](super::Select) or [`Branch`](super::Branch). The macro of a module
/// implements it for the enums of its sessions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a choice",
    label = "not a choice",
    note = "a choice is an enum of a module with sessions, with a label and what follows in each variant: `Stop(Stop, End)`"
)]
pub trait Choice: Sized {
    /// The peers that its options receive from, if they name them: see [`Peers`](super::Peers).
    #[doc(hidden)]
    type Peers;

    /// The members of a family that choose, as in [`Message`](crate::Message).
    #[doc(hidden)]
    type Members;

    /// The message type of the role that selects or branches.
    type Message;

    /// The session in progress, as in [`Session::State`](super::Session::State).
    type State;

    /// The names of the labels in the protocol.
    const LABELS: &'static [&'static str] = Self::VERIFIED.0;

    /// The labels.
    #[doc(hidden)]
    const VERIFIED: ByMacro<&'static [&'static str]>;

    /// The labels that it may receive, if the role may also send one.
    #[doc(hidden)]
    const HEARD: ByMacro<&'static [&'static str]> = Self::VERIFIED;

    /// The number of labels that come from members, if options name their peers.
    #[doc(hidden)]
    const OF_MEMBERS: ByMacro<usize> = ByMacro(0);

    /// Returns true if `decide` would accept the message. Only used if options name their peers.
    #[doc(hidden)]
    fn takes(_message: &Self::Message, _from: u64) -> bool {
        true
    }

    /// Enters the option that `message` names, or returns the arguments if none does. If options
    /// name their peers, `from` is the number of the sender.
    #[doc(hidden)]
    fn decide(
        state: Self::State,
        message: Self::Message,
        from: u64,
    ) -> Result<Self, (Self::State, Self::Message)>;
}

/// The content of an option that sends, which a process never receives. Used by the macro.
pub enum NeverReceived<T> {
    /// It has no value.
    Never(Infallible, Names<T>),
}

impl_debug!([T] NeverReceived<T>);

/// A choice that offers the label `L`, to `P` if its options name their peers. The macro implements
/// it for each variant that can be selected.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not offer this: select a label of one of its variants, `select(Label(payload))`",
    label = "this is no label that can be selected here",
    note = "a variant itself is not selected: the label is the first thing in it",
    note = "if Rust or sessions need the name of a label, its type has a suffix: `OkMessage`, `EndMessage`"
)]
pub trait Offers<L, P = AnyPeer> {
    #[doc(hidden)]
    type ByMacro: Seals<Self, L, P>;

    /// The next state: a [`Session`](super::Session).
    type Then;
}

/// The peer of a choice whose options name their peers: `Select<C>` is `Select<'s, R, AnyPeer, C>`.
#[derive(Clone, Copy, Debug)]
pub enum AnyPeer {}

/// A role that is not a [family](crate::guide::families). A function with any peer `P` asks for it.
// If this bound of an `impl` fails, rustc says so once, and has no type to go on with. It prints no
// text for the bound, only its name and the line of the trait with its comment.
pub trait NotAFamily: Role {} // For a family, call the method that ends in `_each` or `_one`.

/// A role that is a [family](crate::guide::families). Methods with `_each` or `_one` ask for it.
pub trait Family: Role {} // For one role, call the method without `_each` or `_one`.

macro_rules! or_each {
    ($($Bound:ident)*) => {
        $(#[doc(hidden)] pub trait $Bound: NotAFamily {} impl<P: NotAFamily> $Bound for P {})*
    };
}
or_each!(SendOrSendEach ReceiveOrReceiveEach SelectOrSelectEach BranchOrBranchEach DrainOrDrainEach);

/// The peers of a race that has no family.
pub trait RaceOrUntilEach {}

impl RaceOrUntilEach for () {}

impl<P: NotAFamily, Others: RaceOrUntilEach> RaceOrUntilEach for (P, Others) {}

/// The peers of a race that has a family, which is the first one.
pub trait UntilEachOrRace {}

impl<P: Family, Others> UntilEachOrRace for (P, Others) {}

/// A label for each member of a family: the method ends in `_each`.
#[derive(Clone, Copy, Debug)]
pub enum EachMember {}

/// A label for one member of a family: the method ends in `_one`.
#[derive(Clone, Copy, Debug)]
pub enum OneMember {}

/// The other end of a choice: a role, or [`AnyPeer`].
pub trait Peer {
    /// The name of the role.
    const NAME: &'static str;

    /// A hash of the role's and protocol's names; 0 for [`AnyPeer`].
    #[doc(hidden)]
    const NUMBER: ByMacro<u64>;
}

#[diagnostic::do_not_recommend]
impl<P: Role> Peer for P {
    const NAME: &'static str = P::NAME;

    const NUMBER: ByMacro<u64> = ByMacro(P::PLAYED.0.number);
}

impl Peer for AnyPeer {
    const NAME: &'static str = "any peer";

    const NUMBER: ByMacro<u64> = ByMacro(0);
}
