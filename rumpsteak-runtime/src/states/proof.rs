//! The proof that a session was verified.

use std::convert::Infallible;

use crate::machine::Machine;
use crate::role::Role;
use crate::seal::ByMacro;
use crate::states::{Session, State};

/// The proof that role `Self` may run sessions of type `S`, because they were verified.
///
/// The macro of a module implements it for each session with a role.
#[diagnostic::on_unimplemented(
    message = "role `{Self}` has no verified session that begins like this",
    label = "this session was never verified for `{Self}`",
    note = "a session begins with a type that carries `#[session({Self})]`: name it in the process, `async |session: Name<'_>| …`"
)]
pub trait Plays<S>: Sized {
    /// Whether the session passed. A session that did not has a proof beside the errors that say
    /// why, or that another item raises: it keeps rustc from following them up with others, and
    /// proves nothing.
    const VERIFIED: bool = true;

    #[doc(hidden)]
    const BY_MACRO: ByMacro;

    /// The session in progress: `State<'s, Self>`. It stands here, so that rustc does not know it
    /// where there is no proof, and has nothing to follow up.
    type State;

    /// The role, `Self`, for the same reason.
    type Player;

    /// Enters the session.
    fn begin(state: Self::State) -> S;

    /// The machine that was verified; `None` for a proof that was written by hand.
    const MACHINE: Option<Machine> = None;
}

impl Machine {
    /// The machine of a session that a role can begin.
    ///
    /// A session whose proof was written by hand, as in documentation, has one state and no
    /// transition.
    #[must_use]
    pub fn of<S>() -> Self
    where
        S: Session<State: InRole>,
        <S::State as InRole>::Role: Plays<S>,
    {
        let verified = <<S::State as InRole>::Role as Plays<S>>::MACHINE;
        let mut own = verified.unwrap_or(Self::new(<S::State as InRole>::Role::NAME, 1, 0, &[]));
        own.protocol = <S::State as InRole>::Role::PROTOCOL;
        own
    }
}

/// The state of a session of some role.
pub trait InRole {
    /// The role.
    type Role: Role;
}

impl<R: Role> InRole for State<'_, R> {
    type Role = R;
}

/// More answers to "which sessions does `R` play?", so that rustc never guesses the session from
/// its being the only one: a process of another type then gets the message above, and not one about
/// closure signatures. They are no states, so no session begins with them; they are two, so that
/// none is the only one for a role without sessions.
#[derive(Clone, Copy, Debug)]
pub enum Unnamed<const N: u8> {}

macro_rules! unnamed {
    ($number:literal) => {
        #[diagnostic::do_not_recommend]
        impl<R: Role> Plays<Unnamed<$number>> for R {
            const BY_MACRO: ByMacro = ByMacro(());

            type State = Infallible;

            type Player = Infallible;

            fn begin(state: Infallible) -> Unnamed<$number> {
                match state {}
            }
        }
    };
}

unnamed!(0);
unnamed!(1);
