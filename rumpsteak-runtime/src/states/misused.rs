//! Wrong actions, so that rustc names the right one, and roles that are their own peer.

use std::future::Ready;

use super::end::Remains;
use super::{Branch, Branching, End, Ended, Gather, Race, Receive, Receiving};
use super::{Select, Send, Sending, State};
use crate::channel::{Capacity, Channel};
use crate::error::Result;
use crate::role::{Role, Route};
use crate::seal::ByMacro;

// Without a label, an error is shorter: often many come at once.
macro_rules! not {
    ($Not:ident$(<$($parameter:ident),*>)?, $text:literal) => {
        /// A bound that never holds, so the methods below cannot be called.
        #[diagnostic::on_unimplemented(message = $text)]
        pub trait $Not$(<$($parameter),*>)? {}

        #[diagnostic::do_not_recommend]
        impl$(<$($parameter),*>)? $Not$(<$($parameter),*>)? for () {}
    };
}

not!(ToSend<P, L>, "the session is not over: send `{L}` to `{P}`, and go on with what this returns");
not!(ToReceive<P, L>, "the session is not over: receive `{L}` from `{P}`, and go on with what this returns");
not!(ToSelect<P>, "the session is not over: `select` a message to `{P}`, and go on from there");
not!(ToBranch<P>, "the session is not over: `branch` on the message of `{P}`, and go on there");
not!(ToGather, "the session is not over: `gather`, and go on with what this returns");
not!(ToRace, "the session is not over: `race`, and go on with what this returns");
not!(ToDo<C>, "the session is not over: go on with `{C}` before the end");
not!(NotSend<P, L>, "the role sends `{L}` to `{P}` here: call `send`, or `send_each` to a family, and go on with what this returns");
not!(NotReceive<P, L>, "the role receives `{L}` from `{P}` here: call `receive`, or `receive_each` from a family, and go on with what this returns");
not! { NotSelect<P>, "the role chooses a message to `{P}`: call `select`, or `select_each` to a family" }
not!(NotBranch<P>, "`{P}` chooses the message here: call `branch`, or `branch_each` for a family");
not!(NotGather, "the role receives from several peers here: call `gather`");
not! { NotRace, "the role or a peer chooses here: call `race`, `until`, or `until_each` with a family" }
not!(Awaited, "the session goes on once this is awaited: write `.await?` in front of this call");
not!(NotEnd, "the session is over here: call `end`");

// rustc prints the type that lacks the bound. It is `State`, because the states' own types are
// long. rustc points at the definition of a `tt` argument, without the macro.
macro_rules! misused {
    ($State:ident($($parameter:ident),*) $method:ident<$($generic:ident),*>($($argument:ty),*) -> $Result:ty, ($($Not:tt)*)) => {
        impl<'s, R: Role, $($parameter),*> $State<'s, R, $($parameter),*> {
            #[doc(hidden)]
            pub fn $method<$($generic),*>(self$(, _: $argument)*) -> $Result
            where
                State<'s, R>: $($Not)*,
            {
                unreachable!("the bound does not hold")
            }
        }
    };
}
// Closures have the types of the right methods, so rustc infers the types in them. The futures have
// no `race`: traits of other crates may give them one. An error shows the line of the state.
macro_rules! calls {
    ($($State:ident $parameters:tt requires $Not:tt for $($receives:ident)* | $($sends:ident)* | $($to_each:ident)* | $($to_one:ident)* | $($from_each:ident)* | $($until_each:ident)?;)*) => {$(
        $(misused!($State $parameters $receives<Then>() -> Ready<Result<Then>>, $Not);)*
        $(misused!($State $parameters $sends<Then, M>(M) -> Ready<Result<Then>>, $Not);)*
        $(misused!($State $parameters $to_each<Then, M>(impl FnMut(usize) -> M) -> Ready<Result<Then>>, $Not);)*
        $(misused!($State $parameters $to_one<Then, M>(usize, M) -> Ready<Result<Then>>, $Not);)*
        $(misused!($State $parameters $from_each<Then, M>(impl FnMut(usize, M)) -> Ready<Result<Then>>, $Not);)*
        $(misused!($State $parameters $until_each<Then, M, W>(impl FnMut(usize, M), W) -> Ready<Result<Then>>, $Not);)?
    )*};
}
calls! {
    Send(P, L, C) requires (NotSend<P, L>) for receive branch gather next receive_one branch_one | select race until | select_each | select_one | receive_each branch_each | until_each;
    Receive(P, L, C) requires (NotReceive<P, L>) for branch gather next branch_one | send select race until | send_each select_each | send_one select_one | branch_each | until_each;
    Select(P, C) requires (NotSelect<P>) for receive branch gather next receive_one branch_one | send race until | send_each | send_one | receive_each branch_each | until_each;
    Branch(P, C) requires (NotBranch<P>) for receive gather next receive_one | send select race until | send_each select_each | send_one select_one | receive_each | until_each;
    Race(P, C) requires (NotRace) for receive branch gather next receive_one branch_one | send select | send_each select_each | send_one select_one | receive_each branch_each |;
    Gather(P, C) requires (NotGather) for receive branch next receive_one branch_one | send select race until | send_each select_each | send_one select_one | receive_each branch_each | until_each;
    Sending(P, L, C) requires (Awaited) for receive branch gather receive_one branch_one | send select | send_each select_each | send_one select_one | receive_each branch_each | until_each;
    Receiving(P, L, C) requires (Awaited) for receive branch gather receive_one branch_one | send select | send_each select_each | send_one select_one | receive_each branch_each | until_each;
    Branching(P, C) requires (Awaited) for receive branch gather receive_one branch_one | send select | send_each select_each | send_one select_one | receive_each branch_each | until_each;
    End() requires (NotEnd) for receive branch gather next receive_one branch_one | send select race until | send_each select_each | send_one select_one | receive_each branch_each | until_each;
}

macro_rules! not_over {
    ($State:ident<$($parameter:ident),*>, $($To:tt)*) => {
        misused!($State($($parameter),*) end<T>(T) -> Ended<'s, R, T>, ($($To)*));

        impl<'s, R: Role, $($parameter),*> Remains<$State<'s, R, $($parameter),*>> for State<'s, R>
        where
            State<'s, R>: $($To)*,
        {
        }
    };
}
misused!(Sending(P, L, C) end<T>(T) -> Ended<'s, R, T>, (Awaited));
not_over!(Send<P, L, C>, ToSend<P, L>);
not_over!(Receive<P, L, C>, ToReceive<P, L>);
not_over!(Select<P, C>, ToSelect<P>);
not_over!(Branch<P, C>, ToBranch<P>);
not_over!(Race<P, C>, ToRace);
not_over!(Gather<P, C>, ToGather);

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
