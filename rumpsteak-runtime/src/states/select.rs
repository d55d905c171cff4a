use std::marker::PhantomData;

use super::choice::{AnyPeer, Choice, Offers, Peer, SelectOrSelectEach};
use super::implement::state_with_choice;
use super::send::{Follows, Returning, Sending};
use super::state::{Names, Session, State};
use crate::role::Role;

/// Sends one of the labels of the choice `C` to the role `P`: an internal choice.
///
/// In a session type it is written `Select<P, C>`, where `C` is an enum of the module. The session
/// continues as in the variant of the selected label.
///
/// `Select<C>` sends to one of several peers, and each variant of `C` names one:
/// `ToA(Send<A, Job, End>)`.
#[must_use = "the session stops here, and the role is poisoned, unless you `select`"]
pub struct Select<'s, R: Role, P, C> {
    state: State<'s, R>,
    names: Names<(P, C)>,
}

impl<'s, R: Role, P: SelectOrSelectEach, C> Select<'s, R, P, C> {
    /// Sends `label` and returns the next state, with the errors and cancel safety of
    /// [`Send::send`](super::Send::send). If it fails, the label is lost; use
    /// [`select_or_return`](Select::select_or_return) to get it back.
    #[inline]
    pub fn select<L>(self, label: L) -> Sending<'s, R, P, L, C::Then>
    where
        C: Choice<State = State<'s, R>> + Offers<L, Then: Follows<'s, R, P, L>>,
    {
        const { C::VERIFIED };
        Sending { state: self.state, label: Some(label), names: PhantomData }
    }

    /// Sends `label` like [`select`](Select::select), and returns it if it could not be sent: see
    /// [`Send::send_or_return`](super::Send::send_or_return).
    #[inline]
    pub fn select_or_return<L>(self, label: L) -> Returning<'s, R, P, L, C::Then>
    where
        C: Choice<State = State<'s, R>> + Offers<L, Then: Follows<'s, R, P, L>>,
    {
        Returning { sending: self.select(label) }
    }
}

impl<'s, R: Role, C> Select<'s, R, AnyPeer, C> {
    /// Sends `label` to `P` and returns the next state, with the errors and cancel safety of
    /// [`Send::send`](super::Send::send). Name `P` only if several peers accept the label:
    /// `select(Stop)`, but `select::<A, _>(Job(1))`. If it fails, the label is lost; use
    /// [`select_or_return`](Select::select_or_return) to get it back.
    #[inline]
    pub fn select<P, L>(self, label: L) -> Sending<'s, R, P, L, <C as Offers<L, P>>::Then>
    where
        C: Choice<State = State<'s, R>> + Offers<L, P, Then: Follows<'s, R, P, L>>,
    {
        const { C::VERIFIED };
        Sending { state: self.state, label: Some(label), names: PhantomData }
    }

    /// Sends `label` to `P` like [`select`](Select::select), and returns it if it could not be
    /// sent: see [`Send::send_or_return`](super::Send::send_or_return).
    #[inline]
    pub fn select_or_return<P, L>(
        self,
        label: L,
    ) -> Returning<'s, R, P, L, <C as Offers<L, P>>::Then>
    where
        C: Choice<State = State<'s, R>> + Offers<L, P, Then: Follows<'s, R, P, L>>,
    {
        Returning { sending: self.select(label) }
    }
}

state_with_choice!(Select, SELECT: Select);
