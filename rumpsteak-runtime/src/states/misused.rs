//! The actions of other states, so that rustc says which one is meant, and a role that is its own
//! peer.

use std::future::Ready;

use super::{Branch, Race, Receive, Select, Send, State};
use crate::channel::Capacity;
use crate::error::Result;
use crate::private::{ByMacro, NoRoute};
use crate::role::{Role, Route};

/// A state that is no `Send`. There is none: the methods below cannot be called.
#[diagnostic::on_unimplemented(
    message = "one message is due here, and there is no choice",
    label = "this is a `Send`: call `send`"
)]
pub trait NotSend {}

/// A state that is no `Receive`: likewise.
#[diagnostic::on_unimplemented(
    message = "one message is due here, and there is no choice",
    label = "this is a `Receive`: call `receive`"
)]
pub trait NotReceive {}

/// A state that is no `Select`: likewise.
#[diagnostic::on_unimplemented(
    message = "there is a choice between messages here",
    label = "this is a `Select`: call `select`"
)]
pub trait NotSelect {}

/// A state that is no `Branch`: likewise.
#[diagnostic::on_unimplemented(
    message = "there is a choice between messages here",
    label = "this is a `Branch`: call `branch`"
)]
pub trait NotBranch {}

/// A state that is no `Race`: likewise.
#[diagnostic::on_unimplemented(
    message = "there is a choice between messages here",
    label = "this is a `Race`: call `race`"
)]
pub trait NotRace {}

#[diagnostic::do_not_recommend]
impl NotSend for () {}
#[diagnostic::do_not_recommend]
impl NotReceive for () {}
#[diagnostic::do_not_recommend]
impl NotSelect for () {}
#[diagnostic::do_not_recommend]
impl NotBranch for () {}
#[diagnostic::do_not_recommend]
impl NotRace for () {}

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
