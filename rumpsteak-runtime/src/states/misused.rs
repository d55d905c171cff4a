//! The actions of other states, so that rustc says which one is meant.

use std::future::Ready;

use super::{Branch, Race, Receive, Select, Send, State};
use crate::error::Result;
use crate::role::Role;

/// A state with a choice between messages. There is none: the methods below cannot be called.
#[diagnostic::on_unimplemented(
    message = "one message is due here, and there is no choice",
    label = "call `send` on a `Send`, `receive` on a `Receive`"
)]
pub trait IsChoice {}

/// A state with one message that is due: likewise.
#[diagnostic::on_unimplemented(
    message = "there is a choice between messages here",
    label = "call `select` on a `Select`, `branch` on a `Branch`, `race` on a `Race`"
)]
pub trait IsAction {}

#[diagnostic::do_not_recommend]
impl IsChoice for () {}

#[diagnostic::do_not_recommend]
impl IsAction for () {}

// rustc prints what lacks the bound, and `State` is short where the states are long. Of a `tt` it
// shows the place where it is given, without the macro.
macro_rules! misused {
    ($State:ident<$($parameter:ident),*> $method:ident($($label:ident)?), $Is:tt) => {
        impl<'s, R: Role, $($parameter),*> $State<'s, R, $($parameter),*> {
            #[doc(hidden)]
            pub fn $method<Then $(, $label)?>(self$(, _: $label)?) -> Ready<Result<Then>>
            where
                State<'s, R>: $Is,
            {
                unreachable!("the bound does not hold")
            }
        }
    };
}

misused!(Branch < P, C > receive(), IsAction);
misused!(Select < P, C > send(L), IsAction);
misused!(Race < P, C > receive(), IsAction);
misused!(Race < P, C > send(L), IsAction);
misused!(Race < P, C > branch(), IsAction);
misused!(Race < P, C > select(L), IsAction);
misused!(Receive < P, L, C > branch(), IsChoice);
misused!(Send < P, L, C > select(M), IsChoice);
