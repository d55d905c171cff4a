//! Wrong actions, so that rustc names the right one, and roles that are their own peer.

use std::future::Ready;

use super::{Branch, Ended, Race, Receive, Select, Send, State};
use crate::channel::{Capacity, Channel};
use crate::error::Result;
use crate::role::{Role, Route};
use crate::seal::ByMacro;

macro_rules! not {
    ($Not:ident, $due:literal, $call:literal) => {
        /// A bound that never holds, so the methods below cannot be called.
        #[diagnostic::on_unimplemented(message = $due, label = $call)]
        pub trait $Not {}

        #[diagnostic::do_not_recommend]
        impl $Not for () {}
    };
}

not!(
    NotOver,
    "the session is not over",
    "another action is due here: `end` is a method of `End` alone"
);
not!(NotSend, "one message is due here, and there is no choice", "this is a `Send`: call `send`");
not!(
    NotReceive,
    "one message is due here, and there is no choice",
    "this is a `Receive`: call `receive`"
);
not!(NotSelect, "there is a choice between messages here", "this is a `Select`: call `select`");
not!(NotBranch, "there is a choice between messages here", "this is a `Branch`: call `branch`");
not!(NotRace, "there is a choice between messages here", "this is a `Race`: call `race`");

// rustc prints the type that lacks the bound. It is `State`, because the states' own types are
// long. rustc points at the definition of a `tt` argument, without the macro.
macro_rules! misused {
    ($State:ident<$($parameter:ident),*> $method:ident<$($generic:ident),*>($($argument:ident)?) -> $Result:ty, $Not:tt) => {
        impl<'s, R: Role, $($parameter),*> $State<'s, R, $($parameter),*> {
            #[doc(hidden)]
            pub fn $method<$($generic),*>(self$(, _: $argument)?) -> $Result
            where
                State<'s, R>: $Not,
            {
                unreachable!("the bound does not hold")
            }
        }
    };
}
misused!(Branch<P, C> receive<Then>() -> Ready<Result<Then>>, NotBranch);
misused!(Select<P, C> send<Then, L>(L) -> Ready<Result<Then>>, NotSelect);
misused!(Race<P, C> receive<Then>() -> Ready<Result<Then>>, NotRace);
misused!(Race<P, C> send<Then, L>(L) -> Ready<Result<Then>>, NotRace);
misused!(Race<P, C> branch<Then>() -> Ready<Result<Then>>, NotRace);
misused!(Race<P, C> select<Then, L>(L) -> Ready<Result<Then>>, NotRace);
misused!(Receive<P, L, C> branch<Then>() -> Ready<Result<Then>>, NotReceive);
misused!(Send<P, L, C> select<Then, M>(M) -> Ready<Result<Then>>, NotSend);
misused!(Send<P, L, C> end<T>(T) -> Ended<'s, R, T>, NotOver);
misused!(Receive<P, L, C> end<T>(T) -> Ended<'s, R, T>, NotOver);
misused!(Select<P, C> end<T>(T) -> Ended<'s, R, T>, NotOver);
misused!(Branch<P, C> end<T>(T) -> Ended<'s, R, T>, NotOver);
misused!(Race<P, C> end<T>(T) -> Ended<'s, R, T>, NotOver);

/// A role that is its own peer. No role implements this private trait. It makes rustc say once
/// what is wrong with a session whose role is also its peer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no route to itself: it is the peer in this session, which another role runs",
    label = "`{Self}` is the peer here",
    note = "in the type of the session, name the role that runs it in place of `{Self}`: `Session<'_, K>`"
)]
pub trait OwnPeer {}

impl<R: Role + OwnPeer> Route<R> for R {
    type Link = Channel<R::Message>;

    const CAPACITY: ByMacro<Capacity> = ByMacro(Capacity::Growable);

    fn route(&mut self) -> &mut Self::Link {
        unreachable!("the bound does not hold")
    }
}
