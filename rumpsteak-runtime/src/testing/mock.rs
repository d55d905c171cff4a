//! Peers that a test plays by hand.

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::explore::{WAITS, waits_for};
use crate::machine::{Machine, Transition};
use crate::message::{Labelled as _, Message};
use crate::role::{Role, Route};
use crate::transport::{Incoming, Left, Outgoing, RouteError};

/// A role that a test plays action by action. Each action is checked at run time against the
/// machine of one of the role's sessions, so one test can take many ways through the protocol.
///
/// ```no_run
/// # use rumpsteak_doctests::*;
/// use futures::executor::block_on;
/// use futures::future::join;
/// use rumpsteak::machine::Machine;
/// use rumpsteak::testing::Mock;
///
/// let Roles { mut c, s } = Roles::default();
/// let plays = Mock::new(s, Machine::of::<Server<'_>>()).play(async |server| {
///     let Label::Ping(Ping(question)) = server.receive::<C>().await else { panic!() };
///     server.send::<C, _>(Pong(question * 10)).await;
/// });
/// let (answer, ()) = block_on(join(try_run(&mut c, client), plays));
/// assert_eq!(answer?, 10);
/// # Ok::<(), Error>(())
/// ```
pub struct Mock<R> {
    role: R,
    machine: Machine,
    state: usize,
}

impl<R: Role> Mock<R> {
    /// A mock of a role that follows the machine of one of its sessions:
    /// `Machine::of::<Server<'_>>()`. Panics if the machine belongs to another role or protocol.
    #[track_caller]
    pub fn new(role: R, machine: Machine) -> Self {
        let other = machine.role;
        assert!(is_same(other, R::NAME), "the machine is one of `{other}`, not of `{}`", R::NAME);
        let protocol = machine.protocol;
        assert!(
            protocol == R::PROTOCOL,
            "the machine is one of the protocol `{protocol}`, and this `{other}` plays in `{}`",
            R::PROTOCOL
        );
        Self { role, machine, state: machine.initial }
    }

    /// Plays the role from here to its end. Panics if the script does, or if the script ends before
    /// the protocol: other processes would wait forever.
    #[track_caller]
    pub fn play(mut self, script: impl AsyncFnOnce(&mut Self)) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move {
            script(&mut self).await;
            let is_done = self.due().next().is_none();
            assert!(is_done, "the script at {at} ends too early: {}", self.told());
            // It leaves in order.
            self.role.complete();
        }
    }

    /// Sends a label to a peer. Panics if the protocol has another action here, or if the route is
    /// closed.
    #[track_caller]
    pub fn send<Peer, L>(&mut self, label: L) -> Acting<'_, R, ()>
    where
        R: SendsTo<Peer, L>,
    {
        let (peer, name, message) = R::message(label);
        if let Err(told) = self.step(true, peer, name) {
            panic!("{told}");
        }
        let poll = |acting: &mut Acting<'_, R, ()>, context: &mut Context<'_>| {
            let role = &mut acting.mock.role;
            let sent = <R as SendsTo<Peer, L>>::poll_send(role, &mut acting.message, context);
            sent.map(|sent| sent.unwrap_or_else(|error| acting.failed(&error)))
        };
        Acting { mock: self, peer, message: Some(message), at: Location::caller(), poll }
    }

    /// Receives the next message of a peer. Panics if the protocol has another action here, if
    /// another label comes, or if the route is closed.
    #[track_caller]
    pub fn receive<Peer>(&mut self) -> Acting<'_, R, R::Message>
    where
        R: HearsFrom<Peer>,
    {
        let peer = <R as HearsFrom<Peer>>::PEER;
        assert!(
            self.labels(peer).next().is_some(),
            "`{}` cannot receive from `{peer}` here: {}",
            R::NAME,
            self.told()
        );
        let poll = |acting: &mut Acting<'_, R, R::Message>, context: &mut Context<'_>| {
            let received = <R as HearsFrom<Peer>>::poll_receive(&mut acting.mock.role, context);
            let labels: Vec<_> = acting.mock.labels(acting.peer).collect();
            let waits = || waits_for(<R as Role>::NAME, &[acting.peer], &labels);
            WAITS.set(received.is_pending().then(waits));
            received.map(|received| {
                let message = received.unwrap_or_else(|error| acting.failed(&error));
                if let Err(told) = acting.mock.step(false, acting.peer, message.label()) {
                    panic!("{}: {told}", acting.at);
                }
                message
            })
        };
        Acting { mock: self, peer, message: None, at: Location::caller(), poll }
    }

    /// The labels that the protocol lets it receive from a peer here.
    fn labels(&self, peer: &str) -> impl Iterator<Item = &'static str> {
        self.due().filter(move |due| !due.sends && is_same(due.peer, peer)).map(|due| due.label)
    }

    fn due(&self) -> impl Iterator<Item = Transition> {
        let state = self.state;
        self.machine.transitions().filter(move |due| due.source == state)
    }

    /// Performs an action of the machine, or says why it cannot.
    fn step(&mut self, sends: bool, peer: &str, label: &str) -> Result<(), String> {
        let is_this = |due: &Transition| {
            due.sends == sends && is_same(due.peer, peer) && is_same(due.label, label)
        };
        let found = self.due().find(is_this).ok_or_else(|| {
            let action = action(sends, peer, label);
            format!("`{}` cannot {action} here: {}", R::NAME, self.told())
        })?;
        self.state = found.target;
        Ok(())
    }

    fn told(&self) -> String {
        let due = self.due().map(|due| action(due.sends, due.peer, due.label));
        let due: Vec<String> = due.collect();
        match &due[..] {
            [] => "the protocol has ended".to_owned(),
            _ => format!("the role must {}", due.join(" or ")),
        }
    }
}

/// The future of an action of a [`Mock`]. It panics as described there.
#[must_use = "nothing is sent or received unless you `await` the future"]
pub struct Acting<'a, R: Role, T> {
    mock: &'a mut Mock<R>,
    peer: &'static str,
    message: Option<R::Message>,
    at: &'static Location<'static>,
    poll: fn(&mut Self, &mut Context<'_>) -> Poll<T>,
}

impl<R: Role, T> Acting<'_, R, T> {
    fn failed(&self, error: &RouteError) -> ! {
        let Self { peer, at, .. } = self;
        match error {
            RouteError::Transport(error) if !error.is::<Left>() => {
                panic!("{at}: the route of `{}` to `{peer}` failed: {error}", R::NAME)
            }
            _ => panic!(
                "{at}: `{peer}` has closed its route to `{}`: its role was dropped, or it has ended",
                R::NAME
            ),
        }
    }
}

// It is never pinned: the message is only moved.
impl<R: Role, T> Unpin for Acting<'_, R, T> {}

impl<R: Role, T> Future for Acting<'_, R, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        (self.poll)(self.get_mut(), context)
    }
}

/// A role that can send the label `L` to `P`. This one bound has all that sending needs, and a
/// second implementation keeps it open until `P` is known, so rustc reports once what is missing.
#[diagnostic::on_unimplemented(
    message = "a mock of role `{Self}` cannot send this to `{P}`",
    label = "`{Self}` has no route to `{P}`, or its message type has no such label",
    note = "an action of a mock names the peer at its other end: `mock.send::<Peer, _>(label)`"
)]
pub trait SendsTo<P, L>: Role {
    /// The names of the peer and of the label, and the message.
    #[doc(hidden)]
    fn message(_label: L) -> (&'static str, &'static str, Self::Message) {
        unreachable!("`Nobody` is private")
    }

    #[doc(hidden)]
    fn poll_send(
        &mut self,
        _message: &mut Option<Self::Message>,
        _context: &mut Context<'_>,
    ) -> Poll<Result<(), RouteError>> {
        unreachable!("`Nobody` is private")
    }
}

/// A role that can receive from `P`, likewise.
#[diagnostic::on_unimplemented(
    message = "a mock of role `{Self}` cannot receive from `{P}`",
    label = "`{Self}` has no route to `{P}`",
    note = "an action of a mock names the peer at its other end: `mock.receive::<Peer>()`"
)]
pub trait HearsFrom<P>: Role {
    /// The name of the peer.
    #[doc(hidden)]
    const PEER: &'static str = "";

    #[doc(hidden)]
    fn poll_receive(
        &mut self,
        _context: &mut Context<'_>,
    ) -> Poll<Result<Self::Message, RouteError>> {
        unreachable!("`Nobody` is private")
    }
}

#[diagnostic::do_not_recommend]
impl<R, P, L> SendsTo<P, L> for R
where
    R: Route<P, Link: Outgoing<R::Message>, Message: Message<L>>,
    P: Role,
{
    fn message(label: L) -> (&'static str, &'static str, R::Message) {
        (P::NAME, <R::Message as Message<L>>::NAME, R::Message::upcast(label))
    }

    fn poll_send(
        &mut self,
        message: &mut Option<R::Message>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), RouteError>> {
        self.route().poll_send(message, |message| message, context)
    }
}

#[diagnostic::do_not_recommend]
impl<R, P> HearsFrom<P> for R
where
    R: Route<P, Link: Incoming<R::Message>>,
    P: Role,
{
    const PEER: &'static str = P::NAME;

    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<R::Message, RouteError>> {
        self.route().poll_receive(context)
    }
}

/// The peer of the second implementations, which have the traits' defaults.
enum Nobody {}

#[diagnostic::do_not_recommend]
impl<R: Role, L> SendsTo<Nobody, L> for R {}

#[diagnostic::do_not_recommend]
impl<R: Role> HearsFrom<Nobody> for R {}

fn action(sends: bool, peer: &str, label: &str) -> String {
    if sends {
        format!("send `{label}` to `{peer}`")
    } else {
        format!("receive `{label}` from `{peer}`")
    }
}

/// Compares names as the protocol does: ignoring case and `_`.
fn is_same(left: &str, right: &str) -> bool {
    let normal = |name: &str| name.replace('_', "").to_lowercase();
    normal(left) == normal(right)
}

impl_debug!([R: Role, T] Acting<'_, R, T>, "mock": |it| it.mock, "peer": |it| it.peer);
impl_debug!([R: Role] Mock<R>, "role": |_| R::NAME, "state": |it| it.state);
