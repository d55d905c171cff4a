//! Actions with all members of a family.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::action::{failed, unexpected};
use super::choice::{AnyPeer, Choice, Offers};
use super::receive::Receive;
use super::select::Select;
use super::send::Send;
use super::state::{Names, Session, State};
use crate::error::{Action, Result};
use crate::message::Message;
use crate::role::{Role, Route};
use crate::seal::ByMacro;
use crate::transport::{Each, Incoming, Outgoing};
use crate::watch::{self, Step};

impl<'s, R: Role, P, L, C> Send<'s, R, P, L, C> {
    /// Sends a label to each member of the family `P`, and returns the next state. `label` makes
    /// the label for the member of an index, counted from 0, right before it is sent. Has the
    /// errors and cancel safety of [`send`](Send::send). Some members may have their labels.
    #[inline]
    pub fn send_each<F: FnMut(usize) -> L>(self, label: F) -> SendingEach<'s, R, P, L, F, C>
    where
        R: Route<P, Link: Each<Link: Outgoing<R::Message>>, Message: Message<L>>,
        P: Role,
        C: Session<State = State<'s, R>>,
    {
        SendingEach::new(self.into_state(ByMacro(())), label)
    }
}

impl<'s, R: Role, P: Role, C> Select<'s, R, P, C> {
    /// Sends a label of the choice to each member of the family `P`: see [`Send::send_each`]. What
    /// it carries may differ.
    #[inline]
    pub fn select_each<L, F>(self, label: F) -> SendingEach<'s, R, P, L, F, C::Then>
    where
        C: Choice<State = State<'s, R>> + Offers<L, Then: Session<State = State<'s, R>>>,
        R: Route<P, Link: Each<Link: Outgoing<R::Message>>, Message: Message<L>>,
        F: FnMut(usize) -> L,
    {
        const { C::VERIFIED };
        SendingEach::new(self.into_state(ByMacro(())), label)
    }
}

impl<'s, R: Role, C> Select<'s, R, AnyPeer, C> {
    /// Sends a label of the choice to each member of the family `P`: see [`Send::send_each`].
    #[inline]
    pub fn select_each<P, L, F>(
        self,
        label: F,
    ) -> SendingEach<'s, R, P, L, F, <C as Offers<L, P>>::Then>
    where
        C: Choice<State = State<'s, R>> + Offers<L, P, Then: Session<State = State<'s, R>>>,
        R: Route<P, Link: Each<Link: Outgoing<R::Message>>, Message: Message<L>>,
        P: Role,
        F: FnMut(usize) -> L,
    {
        const { C::VERIFIED };
        SendingEach::new(self.into_state(ByMacro(())), label)
    }
}

impl<'s, R: Role, P, L, C> Receive<'s, R, P, L, C> {
    /// Waits for the label of each member of the family `P`, and returns the next state. The labels
    /// come in any order: `take` gets each one with the index of its member, counted from 0. Has
    /// the errors and cancel safety of [`receive`](Receive::receive).
    #[inline]
    pub fn receive_each<F: FnMut(usize, L)>(self, take: F) -> ReceivingEach<'s, R, P, L, F, C>
    where
        R: Route<P, Link: Each<Link: Incoming<R::Message>>, Message: Message<L>>,
        P: Role,
        C: Session<State = State<'s, R>>,
    {
        const { assert!(P::PLAYED.0.is_family, "the peer is one role, and no family") };
        let state = self.into_state(ByMacro(()));
        ReceivingEach { state, take, due: None, names: PhantomData }
    }
}

/// The future of [`Send::send_each`] and [`Select::select_each`]. It is cancel safe like
/// [`Sending`](super::Sending), and panics if it is polled after it has completed.
#[must_use = "nothing is sent, and the role is poisoned, unless you `await` the future"]
pub struct SendingEach<'s, R: Role, P, L, F, C> {
    state: State<'s, R>,
    make: F,
    /// The number of labels that were made.
    made: usize,
    /// The label that its route has not taken yet.
    label: Option<L>,
    names: Names<(P, C)>,
}

impl<'s, R: Role, P: Role, L, F, C> SendingEach<'s, R, P, L, F, C> {
    fn new(state: State<'s, R>, make: F) -> Self {
        const { assert!(P::PLAYED.0.is_family, "the peer is one role, and no family") };
        Self { state, make, made: 0, label: None, names: PhantomData }
    }
}

impl<'s, R, P, L, F, C> Future for SendingEach<'s, R, P, L, F, C>
where
    R: Route<P, Link: Each<Link: Outgoing<R::Message>>, Message: Message<L>>,
    P: Role,
    C: Session<State = State<'s, R>>,
    F: FnMut(usize) -> L,
{
    type Output = Result<C>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<C>> {
        let this = self.get_mut();
        let labels = const { &[<R::Message as Message<L>>::NAME] };
        if watch::IS_ON {
            let next = this.made;
            this.state.acts(|role| {
                let link = Route::<P>::route(role).links().get_mut(next);
                let waits = link.is_some_and(|link| link.poll_ready(context).is_pending());
                watch::acts(role, waits, Step { receives: false, peers: vec![P::NAME], labels });
            })?;
        }
        loop {
            let role = this.state.role()?;
            let links = Route::<P>::route(role).links();
            // The member whose label was made last has it, unless it was not sent yet.
            if let Some(link) = this.made.checked_sub(1).and_then(|last| links.get_mut(last)) {
                let sent = ready!(link.poll_send(&mut this.label, R::Message::upcast, context));
                if let Err(error) = sent {
                    let action = Action::Send(R::Message::NAME);
                    return Poll::Ready(Err(failed(this.state.take(), P::NAME, error, action)));
                }
                #[cfg(feature = "tracing")]
                watch::trace::<R>("send", P::NAME, R::Message::NAME);
            }
            if this.made == links.len() {
                return Poll::Ready(Ok(C::from_state(this.state.take())));
            }
            this.label = Some((this.make)(this.made));
            this.made += 1;
        }
    }
}

/// The future of [`Receive::receive_each`]. It is cancel safe like
/// [`Receiving`](super::Receiving), and panics if it is polled after it has completed.
#[must_use = "nothing is received, and the role is poisoned, unless you `await` the future"]
pub struct ReceivingEach<'s, R: Role, P, L, F, C> {
    state: State<'s, R>,
    take: F,
    /// The members whose labels are due, once the future was polled.
    due: Option<Vec<usize>>,
    names: Names<(P, L, C)>,
}

impl<'s, R, P, L, F, C> Future for ReceivingEach<'s, R, P, L, F, C>
where
    R: Route<P, Link: Each<Link: Incoming<R::Message> + 'static>, Message: Message<L> + 'static>,
    P: Role,
    C: Session<State = State<'s, R>>,
    F: FnMut(usize, L),
{
    type Output = Result<C>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<C>> {
        let this = self.get_mut();
        let labels = const { &[<R::Message as Message<L>>::NAME] };
        let role = this.state.role()?;
        let all = || (0..Route::<P>::route(role).links().len()).collect();
        let due = this.due.get_or_insert_with(all);
        if watch::IS_ON {
            this.state.acts(|role| {
                let links = Route::<P>::route(role).links();
                let waits = due.iter().all(|&member| links[member].is_empty(|_| true, context));
                watch::acts(role, waits, Step { receives: true, peers: vec![P::NAME], labels });
            })?;
        }
        let links = Route::<P>::route(this.state.role()?).links();
        let (take, mut wrong) = (&mut this.take, None);
        due.retain(|&member| {
            let link = &mut links[member];
            if wrong.is_some() || link.is_known_idle(context.waker()) {
                return true;
            }
            match link.poll_receive(context) {
                Poll::Pending => return true,
                Poll::Ready(Err(error)) => wrong = Some(Err(error)),
                Poll::Ready(Ok(message)) => {
                    #[cfg(feature = "tracing")]
                    watch::trace::<R>(
                        "receive",
                        P::NAME,
                        crate::message::Labelled::label(&message),
                    );
                    match message.downcast() {
                        Ok(label) => take(member, label),
                        Err(message) => wrong = Some(Ok(message)),
                    }
                }
            }
            false
        });
        match wrong {
            None if due.is_empty() => Poll::Ready(Ok(C::from_state(this.state.take()))),
            None => Poll::Pending,
            Some(Ok(message)) => {
                Poll::Ready(Err(unexpected(this.state.take(), P::NAME, message, labels)))
            }
            Some(Err(error)) => {
                let action = Action::Receive(labels);
                Poll::Ready(Err(failed(this.state.take(), P::NAME, error, action)))
            }
        }
    }
}

macro_rules! future {
    ($Future:ident) => {
        // It is never pinned: the label is only moved.
        impl<R: Role, P, L, F, C> Unpin for $Future<'_, R, P, L, F, C> {}

        impl<R: Role, P: Role, L, F, C> fmt::Debug for $Future<'_, R, P, L, F, C> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = f.debug_struct(stringify!($Future));
                shown.field("role", &R::NAME).field("peer", &P::NAME).finish_non_exhaustive()
            }
        }
    };
}
future!(SendingEach);
future!(ReceivingEach);
