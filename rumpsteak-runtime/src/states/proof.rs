//! The proof that a session was verified.

use std::convert::Infallible;

use crate::machine::Machine;
use crate::role::Role;
use crate::seal::ByMacro;
use crate::states::{Session, State};

/// The proof that role `Self` may run sessions of type `S`, because they were verified. The macro of
/// a module implements it for each session with a role.
#[diagnostic::on_unimplemented(
    message = "role `{Self}` has no verified session that begins like this",
    label = "this session was never verified for `{Self}`",
    note = "a session begins with a type that carries `#[session({Self})]`: name it in the process, `async |session: Name<'_>| …`"
)]
pub trait Plays<S>: Sized {
    /// True if the session was verified. If not, the proof only keeps rustc from reporting errors
    /// that follow from the session's own, and nothing that uses it compiles.
    const VERIFIED: bool = true;

    #[doc(hidden)]
    const BY_MACRO: ByMacro;

    /// The session in progress: `State<'s, Self>`. As an associated type, rustc does not know it if
    /// there is no proof, and reports nothing that follows.
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
    /// A hand-written proof, as in documentation, has a machine of one state without transitions.
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

/// More sessions that each role plays, so that rustc never infers the session because it is the only
/// one: it then reports the message above, not a mismatch of closure signatures. They are no states,
/// so no session begins with them. There are two, for roles without a session of their own.
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
