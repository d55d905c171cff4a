//! Compile-time comparison of payload types with the sorts of the protocol.

use crate::detached::Detached;
use crate::role::Role;
use crate::role::wiring::same;
use crate::states::Session;
use crate::states::proof::InRole;

/// `T` itself. Unlike `Into`, it holds for no other type.
#[diagnostic::on_unimplemented(
    message = "the protocol says `{T}` here, and the label carries `{Self}`",
    label = "this is not `{T}`",
    note = "give the label the type of the protocol, or declare another type in the `.scr` file"
)]
pub trait Is<T> {}

#[diagnostic::do_not_recommend]
impl<T> Is<T> for T {}

/// Compiles only if a label carries the type `U` of the protocol.
pub fn carries<U>(_: &impl Is<U>) {}

/// A session that changes hands as a payload.
#[diagnostic::on_unimplemented(
    message = "the protocol says a session here, and the label carries `{Self}`",
    label = "this is not a session that changes hands",
    note = "within a program such a session is a `Detached<Rest<'static, K>>`"
)]
pub trait ChangesHands {
    /// The role whose session it is.
    type Role: Role;
}

impl<S: Session<State: InRole>> ChangesHands for Detached<S> {
    type Role = <S::State as InRole>::Role;
}

/// Returns true if a label carries a session of this role of this protocol.
pub const fn carries_session<T: ChangesHands>(protocol: &str, role: &str) -> bool {
    same(T::Role::PROTOCOL, protocol) && same(T::Role::NAME, role)
}
