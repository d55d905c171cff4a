//! The proof that a session was verified.

use crate::machine::Machine;
use crate::role::Role;
use crate::states::{Session, State};

/// The proof that role `Self` may run sessions of type `S`, because they were verified.
///
/// `#[session]` implements it, beside the assertion that the verdict is about this very type.
#[diagnostic::on_unimplemented(
    message = "role `{Self}` has no verified session that begins like this",
    label = "this session was never verified for `{Self}`",
    note = "a session begins with a type that carries `#[session({Self})]`, which the build script verifies",
    note = "the session that was asked for is `{S}`"
)]
pub trait Plays<S>: Sized {
    /// Whether the session passed. A session that did not has a proof beside the errors that say
    /// why, or that another item raises: it keeps rustc from following them up with others, and
    /// proves nothing.
    const VERIFIED: bool = true;

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
        verified.unwrap_or(Self::new(<S::State as InRole>::Role::NAME, 1, 0, &[]))
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

/// A second answer to "which sessions does `R` play?", so that rustc never guesses the session from
/// its being the only one: a process of another type then gets the message above, and not one about
/// closure signatures. It is no state, so no session begins with it.
#[derive(Clone, Copy, Debug)]
pub enum Unnamed {}

impl<R: Role> Plays<Unnamed> for R {}
