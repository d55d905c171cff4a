//! The actions of other states, so that rustc says which one is meant, and a role that is its own
//! peer.

use std::future::Ready;

use super::{Branch, Ended, Race, Receive, Select, Send, State};
use crate::channel::Capacity;
use crate::error::Result;
use crate::role::stub::NoRoute;
use crate::role::{Role, Route};
use crate::seal::ByMacro;

macro_rules! not {
    ($Not:ident, $due:literal, $call:literal) => {
        /// A state of another kind. There is none: the methods below cannot be called.
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

// rustc prints what lacks the bound, and `State` is short where the states are long. Of a `tt` it
// shows the place where it is given, without the macro.
macro_rules! misused {
    ($State:ident<$($parameter:ident),*> $method:ident($($label:ident)?), $Not:tt) => {
        impl<'s, R: Role, $($parameter),*> $State<'s, R, $($parameter),*> {
            #[doc(hidden)]
            pub fn $method<Then $(, $label)?>(self$(, _: $label)?) -> Ready<Result<Then>>
            where
                State<'s, R>: $Not,
            {
                unreachable!("the bound does not hold")
            }
        }
    };
}

misused!(Branch < P, C > receive(), NotBranch);
misused!(Select < P, C > send(L), NotSelect);
misused!(Race < P, C > receive(), NotRace);
misused!(Race < P, C > send(L), NotRace);
misused!(Race < P, C > branch(), NotRace);
misused!(Race < P, C > select(L), NotRace);
misused!(Receive < P, L, C > branch(), NotReceive);
misused!(Send < P, L, C > select(M), NotSend);

macro_rules! not_over {
    ($State:ident<$($parameter:ident),*>, $NotOver:tt) => {
        impl<'s, R: Role, $($parameter),*> $State<'s, R, $($parameter),*> {
            #[doc(hidden)]
            pub fn end<T>(self, _: T) -> Ended<'s, R, T>
            where
                State<'s, R>: $NotOver,
            {
                unreachable!("the bound does not hold")
            }
        }
    };
}

not_over!(Send<P, L, C>, NotOver);
not_over!(Receive<P, L, C>, NotOver);
not_over!(Select<P, C>, NotOver);
not_over!(Branch<P, C>, NotOver);
not_over!(Race<P, C>, NotOver);

/// A role that is its own peer. There is none, and nobody can name this trait to make one: with it
/// rustc says what is wrong with a session that has its peer as its role, and says it once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no route to itself: it is the peer in this session, which another role runs",
    label = "`{Self}` is the peer here",
    note = "in the type of the session, name the role that runs it in place of `{Self}`: `Session<'_, K>`"
)]
pub trait OwnPeer {}

impl<R: Role + OwnPeer> Route<R> for R {
    type Link = NoRoute;

    const CAPACITY: ByMacro<Capacity> = ByMacro(Capacity::Growable);

    fn route(&mut self) -> &mut NoRoute {
        unreachable!("the bound does not hold")
    }
}
