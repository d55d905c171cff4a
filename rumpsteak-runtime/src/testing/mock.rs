//! A peer that a test plays by hand.

use std::fmt;
use std::future::poll_fn;
use std::panic::Location;

use super::explore::{WAITS, waits_for};
use crate::machine::{Machine, Transition};
use crate::message::{Labelled as _, Message};
use crate::role::{Role, Route};
use crate::transport::{Incoming, Left, Outgoing, RouteError};

/// A role that a test plays action by action, and that is checked against its protocol: by the
/// machine of one of its sessions.
///
/// A process with the session is checked when it is compiled; a mock, when the test runs, so that
/// one test can go many ways through the protocol.
///
/// ```no_run
/// # mod ping { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/guide/ping.rs")); } use ping::*;
/// use futures::executor::block_on;
/// use futures::future::join;
/// use rumpsteak_runtime::machine::Machine;
/// use rumpsteak_runtime::testing::Mock;
///
/// let Roles { mut c, s } = Roles::default();
/// let plays = Mock::new(s, Machine::of::<Server<'_>>()).play(async |server| {
///     let Label::Ping(Ping(question)) = server.receive::<C>().await else { panic!() };
///     server.send::<C, _>(Pong(question * 10)).await;
/// });
/// let (answer, ()) = block_on(join(client(&mut c, 4), plays));
/// assert_eq!(answer?, 40);
/// # Ok::<(), Error>(())
/// ```
pub struct Mock<R> {
    role: R,
    machine: Machine,
    state: usize,
}

impl<R: Role> Mock<R> {
    /// A mock of a role, which does what the machine of one of its sessions does:
    /// `Machine::of::<Server<'_>>()`.
    ///
    /// # Panics
    ///
    /// If the machine is one of another role.
    #[must_use]
    #[track_caller]
    pub fn new(role: R, machine: Machine) -> Self {
        let other = machine.role();
        assert!(is_same(other, R::NAME), "the machine is one of `{other}`, not of `{}`", R::NAME);
        Self { role, machine, state: machine.initial() }
    }

    /// Plays the role from here to its end, and leaves: a script that is too short is a panic,
    /// where the processes beside it would wait for ever.
    ///
    /// # Panics
    ///
    /// If the script does, and if the protocol goes on where it ends.
    #[track_caller]
    pub fn play(mut self, script: impl AsyncFnOnce(&mut Self)) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move {
            script(&mut self).await;
            let is_done = self.due().next().is_none();
            assert!(is_done, "the script at {at} ends too early: {}", self.told());
        }
    }

    /// Sends a label to a peer.
    ///
    /// # Panics
    ///
    /// If the protocol has something else here, or the route is closed.
    #[track_caller]
    pub fn send<P, L>(&mut self, label: L) -> impl Future<Output = ()>
    where
        P: Role,
        R: Route<P, Link: Outgoing<R::Message>, Message: Message<L>>,
    {
        self.step(true, P::NAME, <R::Message as Message<L>>::NAME);
        let mut label = Some(label);
        let route = self.role.route();
        let sent = poll_fn(move |context| route.poll_send(&mut label, R::Message::upcast, context));
        async move { sent.await.unwrap_or_else(|error| failed(&error, R::NAME, P::NAME)) }
    }

    /// Receives the next message of a peer.
    ///
    /// # Panics
    ///
    /// If the protocol has something else here, if another label comes, or if the route is closed.
    #[track_caller]
    pub fn receive<P>(&mut self) -> impl Future<Output = R::Message>
    where
        P: Role,
        R: Route<P, Link: Incoming<R::Message>>,
    {
        let is_due = |due: &Transition| !due.sends && is_same(due.peer, P::NAME);
        let labels: Vec<_> = self.due().filter(is_due).map(|due| due.label).collect();
        assert!(
            !labels.is_empty(),
            "`{}` receives nothing from `{}` here, but {}",
            R::NAME,
            P::NAME,
            self.told()
        );
        let waits = waits_for(R::NAME, P::NAME, &labels);
        async move {
            let route = self.role.route();
            let received = poll_fn(|context| {
                let received = route.poll_receive(context);
                WAITS.set(received.is_pending().then(|| waits.clone()));
                received
            });
            let received = received.await;
            let message = received.unwrap_or_else(|error| failed(&error, R::NAME, P::NAME));
            self.step(false, P::NAME, message.label());
            message
        }
    }

    /// What the protocol has here.
    fn due(&self) -> impl Iterator<Item = Transition> {
        let state = self.state;
        self.machine.transitions().filter(move |due| due.source == state)
    }

    /// Does an action of the machine.
    #[track_caller]
    fn step(&mut self, sends: bool, peer: &str, label: &str) {
        let is_this = |due: &Transition| {
            due.sends == sends && is_same(due.peer, peer) && is_same(due.label, label)
        };
        let found = self.due().find(is_this);
        match found {
            Some(found) => self.state = found.target,
            None => panic!(
                "`{}` does not {} here, but {}",
                R::NAME,
                action(sends, peer, label),
                self.told()
            ),
        }
    }

    /// What the protocol has here, in words.
    fn told(&self) -> String {
        let due = self.due().map(|due| action(due.sends, due.peer, due.label));
        let due: Vec<String> = due.collect();
        match &due[..] {
            [] => "the protocol has ended".to_owned(),
            _ => format!("the protocol has it {}", due.join(" or ")),
        }
    }
}

fn action(sends: bool, peer: &str, label: &str) -> String {
    if sends {
        format!("send `{label}` to `{peer}`")
    } else {
        format!("receive `{label}` from `{peer}`")
    }
}

fn failed(error: &RouteError, role: &str, peer: &str) -> ! {
    match error {
        RouteError::Transport(error) if !error.is::<Left>() => {
            panic!("the route of `{role}` to `{peer}` failed: {error}")
        }
        _ => panic!(
            "`{peer}` has closed its route to `{role}`: its role was dropped, or it has ended"
        ),
    }
}

/// Names are those of the protocol, but for case and `_`.
fn is_same(left: &str, right: &str) -> bool {
    let normal = |name: &str| name.replace('_', "").to_lowercase();
    normal(left) == normal(right)
}

impl<R: Role> fmt::Debug for Mock<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mock").field("role", &R::NAME).field("state", &self.state).finish()
    }
}
