//! The proof that a session was verified.

use crate::role::Role;

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
    /// The machine that was verified; `None` for a proof that was written by hand.
    const MACHINE: Option<Machine> = None;
}

/// A machine, as the build script saw it.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// The name of its role.
    pub role: &'static str,
    /// The number of its states.
    pub states: usize,
    /// The state in which it begins.
    pub initial: usize,
    /// Its transitions.
    pub transitions: &'static [Transition],
}

/// Source, whether it sends, peer, label, sorts, target.
pub type Transition = (
    usize,
    bool,
    &'static str,
    &'static str,
    &'static [&'static str],
    usize,
);

/// A second answer to "which sessions does `R` play?", so that rustc never guesses the session from
/// its being the only one: a process of another type then gets the message above, and not one about
/// closure signatures. It is no state, so no session begins with it.
#[derive(Clone, Copy, Debug)]
pub enum Unnamed {}

impl<R: Role> Plays<Unnamed> for R {}
