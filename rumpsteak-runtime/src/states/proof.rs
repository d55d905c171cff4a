//! The proof that a session was verified, and the processes that need it.

use std::convert::Infallible;

use crate::machine::Machine;
use crate::role::Role;
use crate::seal::ByMacro;
use crate::states::{Session, State};

/// The proof that role `Self` may run sessions of type `S`, because they were verified. The macro
/// of a module implements it for each session with a role.
#[diagnostic::on_unimplemented(
    message = "role `{Self}` has no verified session that begins like this",
    label = "this process does not run a session of `{Self}`",
    note = "a session begins with a type that carries `#[session({Self})]`: name it in the process, `async |session: Name<'_>| …`"
)]
pub trait Plays<S>: Sized {
    /// True if the session was verified. If not, the proof only keeps rustc from reporting errors
    /// that follow from the session's own, and nothing that uses it compiles.
    const VERIFIED: bool = true;

    #[doc(hidden)]
    const BY_MACRO: ByMacro;

    /// The session in progress: `State<'s, Self>`. As an associated type, rustc does not know it
    /// without a proof, and reports nothing that follows.
    type State;

    /// The role, `Self`, for the same reason.
    type Player;

    /// Enters the session.
    fn begin(state: Self::State) -> S;

    /// The verified machine.
    const MACHINE: Machine = Machine::new("", 0, 0, &[]);
}

/// [`Plays`] for a process of `Roles::run`.
#[diagnostic::on_unimplemented(
    message = "the process for `{Self}` does not run a session of `{Self}`",
    label = "not a process of `{Self}`",
    note = "`Roles::default().run(…)` takes one process for each role, in the order in which the protocol names the roles",
    note = "a process of `{Self}` takes `{Self}Session<'_>`, or a type of yours with `#[session({Self})]`"
)]
pub trait Runs<S>: Plays<S> {}

#[diagnostic::do_not_recommend]
impl<R: Plays<S>, S> Runs<S> for R {}

/// The role `R`, as a type that rustc knows once it knows the process `Self`. So if [`Runs`] does
/// not hold, rustc points at the process, and if a call lacks a process, it says nothing else.
pub trait Supplied<R> {
    /// The role `R`.
    type Role;
}

impl<P, R> Supplied<R> for P {
    type Role = R;
}

/// A process that is passed to `Roles::run` itself, not called. Of [`FnOnce`], rustc would only say
/// that the future of the called process is not a closure.
#[diagnostic::on_unimplemented(
    message = "`Roles::run` takes a process itself, and calls it with its session",
    label = "name the function, without `(…)`, or write `async |session: …| {{ … }}`"
)]
pub trait Uncalled<S, F>: FnOnce(S) -> F {}

#[diagnostic::do_not_recommend]
impl<S, F, P: FnOnce(S) -> F> Uncalled<S, F> for P {}

/// A process of a role on demand that `Roles::run` could run. Never implemented.
#[diagnostic::on_unimplemented(
    message = "`Roles::run` has one session of each role, and this role plays on demand",
    label = "plays once for each connection, and perhaps never",
    note = "run each role by itself, with `try_run`, and drop it after its last session: see the guide, `peers`"
)]
pub trait OnDemand {}

/// The proof that sessions of type `S` were verified, where `S` owns the role: see
/// [`hold`](crate::hold). Like [`Plays`], for `Client<'static, Held<C>>`.
#[diagnostic::on_unimplemented(
    message = "role `{Self}` has no verified session that begins like this",
    label = "this is not a session of `{Self}`",
    note = "a held session has a type that carries `#[session({Self})]`: `Name<'static, Held<{Self}>>`"
)]
pub trait Holds<S>: Sized {
    /// As [`Plays::VERIFIED`].
    const VERIFIED: bool = true;

    #[doc(hidden)]
    const BY_MACRO: ByMacro;
}

impl Machine {
    /// The machine of a session that a role can begin.
    pub fn of<S>() -> Self
    where
        S: Session<State: InRole>,
        <S::State as InRole>::Role: Plays<S>,
    {
        let mut machine = <<S::State as InRole>::Role as Plays<S>>::MACHINE;
        machine.protocol = <S::State as InRole>::Role::PROTOCOL;
        machine
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

/// More sessions that each role plays, so that rustc never infers the session because it is the
/// only one: it then reports the message above, not a mismatch of closure signatures. They are not
/// states, so no session begins with them. There are two, for roles without a session of their own.
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

/// The future of a process.
///
/// It has a second implementation, which never applies. Without it, rustc would assume the first
/// one and report two errors for a process that is not `async`.
#[diagnostic::on_unimplemented(
    message = "the process is not `async`: it returns `{Self}`",
    label = "write `async |session: …| {{ … }}`"
)]
pub trait Process<A>: Future {
    /// This future.
    type Itself: Future<Output = Self::Output>;

    #[doc(hidden)]
    fn itself(self) -> Self::Itself;
}

#[diagnostic::do_not_recommend]
impl<F: Future> Process<Infallible> for F {
    type Itself = F;

    fn itself(self) -> F {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future + Process<((), F)>> Process<()> for F {
    type Itself = F;

    fn itself(self) -> F {
        self
    }
}
