//! Sessions that have not begun, as payloads (SJ §4.1).

use std::marker::PhantomData;

use rumpsteak_runtime::Role;
use rumpsteak_runtime::private::ChangesHands;
use serde::{Deserialize, Serialize};

use super::join::Join;
use crate::{Directory, Host, Joins};

/// An invitation to play the role `R` in a session that has not begun: the name of the session, and
/// the addresses of its peers. It is (part of) the payload `Protocol@role`, as a
/// [`Parcel`](super::Parcel) is for a session that has begun. Whoever has it can only join as `R`.
///
/// A copy is another invitation, and who joins first plays the role.
///
/// The [guide](crate::guide::delegation) has an example.
#[derive(Deserialize, Serialize)]
#[serde(bound = "")]
pub struct Invitation<R> {
    session: String,
    peers: Directory,
    #[serde(skip)]
    role: PhantomData<fn() -> R>,
}

impl<R: Role> ChangesHands for Invitation<R> {
    type Role = R;
}

impl<R: Joins> Invitation<R> {
    /// An invitation to the session of this name, whose roles have these addresses.
    pub fn new(session: impl Into<String>, peers: Directory) -> Self {
        Self { session: session.into(), peers, role: PhantomData }
    }

    /// The name of the session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Joins the session at this host.
    pub fn accept(&self, host: &Host) -> Join<R> {
        host.join(&*self.session).peers(&self.peers)
    }
}

impl<R> Clone for Invitation<R> {
    fn clone(&self) -> Self {
        Self { session: self.session.clone(), peers: self.peers.clone(), role: PhantomData }
    }
}

impl<R> PartialEq for Invitation<R> {
    fn eq(&self, other: &Self) -> bool {
        (&self.session, &self.peers) == (&other.session, &other.peers)
    }
}

impl_debug!([R] Invitation<R>, "session": |it| it.session.clone());
