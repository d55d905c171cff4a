//! Implementations that states and their futures share.

use std::fmt;

use super::choice::Peer;
use crate::role::Role;

/// `Session`, `Structure` and `Debug` for `Send` or `Receive`, and `Debug` for its future.
macro_rules! state_with_label {
    ($State:ident, $fingerprint:ident, $Future:ident) => {
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

        impl<R, P, L, C> ::std::fmt::Debug for $State<'_, R, P, L, C>
        where
            R: Role<Message: Message<L>>,
            P: Role,
        {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let label = <R::Message as Message<L>>::NAME;
                $crate::states::implement::show::<R, P>(f, stringify!($State), "label", &label)
                    .finish()
            }
        }

        impl<R, P, L, C> ::std::fmt::Debug for $Future<'_, R, P, L, C>
        where
            R: Role<Message: Message<L>>,
            P: Role,
        {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let label = <R::Message as Message<L>>::NAME;
                $crate::states::implement::show::<R, P>(f, stringify!($Future), "label", &label)
                    .field("completed", &self.state.is_taken())
                    .finish()
            }
        }
    };
}

/// `Session`, `Structure` and `Debug` for a state with a choice.
macro_rules! state_with_choice {
    ($State:ident, $fingerprint:ident) => {
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

        impl<R: Role, P: Peer, C: Choice> ::std::fmt::Debug for $State<'_, R, P, C> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let name = stringify!($State);
                $crate::states::implement::show::<R, P>(f, name, "labels", &C::LABELS).finish()
            }
        }
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

/// Begins the `Debug` output of a state: its role, peer and labels.
pub(super) fn show<'f, 'a, R: Role, P: Peer>(
    f: &'f mut fmt::Formatter<'a>,
    name: &str,
    field: &str,
    labels: &dyn fmt::Debug,
) -> fmt::DebugStruct<'f, 'a> {
    let mut shown = f.debug_struct(name);
    shown.field("role", &R::NAME).field("peer", &P::NAME).field(field, labels);
    shown
}
