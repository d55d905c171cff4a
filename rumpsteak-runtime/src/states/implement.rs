//! Implementations that states and their futures share.

use std::fmt;

use super::choice::Peer;
use super::state::State;
use crate::role::Role;

/// `Session` and `Structure` for `Send` or `Receive`, and `Debug` for the state and its future.
macro_rules! state_with_label {
    ($State:ident, $fingerprint:ident: $($Name:ident),*) => {
        $crate::states::implement::session!($State, P, L, C);

        impl<R, P, L, C> $crate::role::fingerprint::Structure for $State<'_, R, P, L, C>
        where
            R: Role<Message: Message<L>>,
            P: Role,
            C: $crate::role::fingerprint::Structure,
        {
            const FINGERPRINT: u64 = {
                use $crate::role::fingerprint;
                let (peer, label) = (P::PLAYED.0.number, <R::Message as Message<L>>::NAME);
                fingerprint::of_action(fingerprint::$fingerprint, peer, label, C::FINGERPRINT)
            };
        }

        $(impl<R, P, L, C> ::std::fmt::Debug for $Name<'_, R, P, L, C>
        where
            R: Role<Message: Message<L>>,
            P: Role,
        {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let (name, label) = (stringify!($Name), <R::Message as Message<L>>::NAME);
                $crate::states::implement::show::<R, P>(f, name, &self.state, "label", &label)
            }
        })*
    };
}

/// `Session` and `Structure` for a state with a choice, and `Debug` for the state and its future.
macro_rules! state_with_choice {
    ($State:ident, $fingerprint:ident: $($Name:ident),*) => {
        $crate::states::implement::session!($State, P, C);

        impl<R, P, C> $crate::role::fingerprint::Structure for $State<'_, R, P, C>
        where
            R: Role,
            P: Peer,
            C: $crate::role::fingerprint::Structure,
        {
            const FINGERPRINT: u64 = {
                use $crate::role::fingerprint::{self, mix};
                mix(mix(fingerprint::$fingerprint, P::NUMBER.0), C::FINGERPRINT)
            };
        }

        $(impl<R: Role, P: Peer, C: Choice> ::std::fmt::Debug for $Name<'_, R, P, C> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let (name, labels) = (stringify!($Name), &C::LABELS);
                $crate::states::implement::show::<R, P>(f, name, &self.state, "labels", labels)
            }
        })*
    };
}

macro_rules! session {
    ($State:ident, $($parameter:ident),*) => {
        impl<'s, R: Role, $($parameter),*> Session for $State<'s, R, $($parameter),*> {
            type State = State<'s, R>;

            const BY_MACRO: $crate::seal::ByMacro = $crate::seal::ByMacro(());

            #[inline]
            fn from_state(state: State<'s, R>) -> Self {
                Self { state, names: ::std::marker::PhantomData }
            }

            fn into_state(self, _: $crate::seal::ByMacro) -> State<'s, R> {
                self.state
            }
        }
    };
}

pub(super) use session;
pub(super) use state_with_choice;
pub(super) use state_with_label;

/// Writes the `Debug` output of a state: its role, peer and labels.
pub(super) fn show<R: Role, P: Peer>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    state: &State<'_, R>,
    field: &str,
    labels: &dyn fmt::Debug,
) -> fmt::Result {
    let mut shown = f.debug_struct(name);
    shown.field("role", &R::NAME).field("peer", &P::NAME).field(field, labels);
    if state.is_taken() {
        shown.field("completed", &true);
    }
    shown.finish()
}
