//! Actions with all members of a family.

use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, ready};

use super::action::{abort, failed, unexpected};
use super::branch::{Branch, Drains};
use super::choice::{AnyPeer, Choice, EachMember, Family, Offers, OneMember, UntilEachOrRace};
use super::race::{Race, Until};
use super::receive::Receive;
use super::receive_any::{Of, Peers, receive_any};
use super::select::Select;
use super::send::Send;
use super::state::{Session, State};
use crate::error::{Action, Error, Result};
use crate::message::{Labelled as _, Message};
use crate::role::{Role, Route};
use crate::seal::ByMacro;
use crate::transport::{Each, Incoming, Link as _, Outgoing, RouteError};
use crate::watch::Way;

/// A role whose label `L` goes to the members `M` of the family `P`, or comes from them.
#[diagnostic::on_unimplemented(
    message = "`{L}` does not go between `{Self}` and `{P}` by this call",
    label = "for one member, the method ends in `_one`, and for each member in `_each`"
)]
pub trait TalksToMembers<P, L, M>: Route<P, Link: Each, Message: Message<L, Members = M>> {}

#[diagnostic::do_not_recommend]
impl<R: Route<P, Link: Each, Message: Message<L, Members = M>>, P, L, M> TalksToMembers<P, L, M>
    for R
{
}

impl<'s, R: Role, P: Family, L, C> Send<'s, R, P, L, C> {
    /// Sends a label to each member of the family `P`, and returns the next state. `label` makes
    /// the label for the member of an index, counted from 0, right before it is sent. Has the
    /// errors and cancel safety of [`send`](Send::send). Some members may have their labels.
    pub fn send_each(self, label: impl FnMut(usize) -> L) -> impl Future<Output = Result<C>>
    where
        R: TalksToMembers<P, L, EachMember> + Route<P, Link: Each<Link: Outgoing<R::Message>>>,
        C: Session<State = State<'s, R>>,
    {
        send_each::<R, P, L, C>(self.into_state(ByMacro(())), label)
    }

    /// Sends a label to one member of the family `P`, by its index, counted from 0, and returns the
    /// next state: `to some worker` in the protocol. Has the errors and cancel safety of
    /// [`send`](Send::send). An index without a member is an
    /// [`ErrorKind::Other`](crate::ErrorKind::Other).
    pub fn send_one(self, index: usize, label: L) -> impl Future<Output = Result<C>>
    where
        R: TalksToMembers<P, L, OneMember> + Route<P, Link: Each<Link: Outgoing<R::Message>>>,
        C: Session<State = State<'s, R>>,
    {
        send_one::<R, P, L, C>(self.into_state(ByMacro(())), index, label)
    }
}

impl<'s, R: Role, P: Family, C> Select<'s, R, P, C> {
    /// Sends a label of the choice to each member of the family `P`: see [`Send::send_each`]. What
    /// it carries may differ.
    pub fn select_each<L>(
        self,
        label: impl FnMut(usize) -> L,
    ) -> impl Future<Output = Result<C::Then>>
    where
        C: Choice<State = State<'s, R>> + Offers<L, Then: Session<State = State<'s, R>>>,
        R: TalksToMembers<P, L, EachMember> + Route<P, Link: Each<Link: Outgoing<R::Message>>>,
    {
        const { C::VERIFIED };
        send_each::<R, P, L, C::Then>(self.into_state(ByMacro(())), label)
    }

    /// Sends a label of the choice to one member of the family `P`: see [`Send::send_one`].
    pub fn select_one<L>(self, index: usize, label: L) -> impl Future<Output = Result<C::Then>>
    where
        C: Choice<State = State<'s, R>> + Offers<L, Then: Session<State = State<'s, R>>>,
        R: TalksToMembers<P, L, OneMember> + Route<P, Link: Each<Link: Outgoing<R::Message>>>,
    {
        const { C::VERIFIED };
        send_one::<R, P, L, C::Then>(self.into_state(ByMacro(())), index, label)
    }
}

impl<'s, R: Role, C> Select<'s, R, AnyPeer, C> {
    /// Sends a label of the choice to each member of the family `P`: see [`Send::send_each`].
    pub fn select_each<P, L>(
        self,
        label: impl FnMut(usize) -> L,
    ) -> impl Future<Output = Result<<C as Offers<L, P>>::Then>>
    where
        C: Choice<State = State<'s, R>> + Offers<L, P, Then: Session<State = State<'s, R>>>,
        R: TalksToMembers<P, L, EachMember> + Route<P, Link: Each<Link: Outgoing<R::Message>>>,
        P: Role,
    {
        const { C::VERIFIED };
        send_each::<R, P, L, <C as Offers<L, P>>::Then>(self.into_state(ByMacro(())), label)
    }

    /// Sends a label of the choice to one member of the family `P`: see [`Send::send_one`].
    pub fn select_one<P, L>(
        self,
        index: usize,
        label: L,
    ) -> impl Future<Output = Result<<C as Offers<L, P>>::Then>>
    where
        C: Choice<State = State<'s, R>> + Offers<L, P, Then: Session<State = State<'s, R>>>,
        R: TalksToMembers<P, L, OneMember> + Route<P, Link: Each<Link: Outgoing<R::Message>>>,
        P: Role,
    {
        const { C::VERIFIED };
        send_one::<R, P, L, <C as Offers<L, P>>::Then>(self.into_state(ByMacro(())), index, label)
    }
}

fn send_one<'s, R, P, L, C>(
    mut state: State<'s, R>,
    index: usize,
    label: L,
) -> impl Future<Output = Result<C>>
where
    R: TalksToMembers<P, L, OneMember> + Route<P, Link: Each<Link: Outgoing<R::Message>>>,
    P: Role,
    C: Session<State = State<'s, R>>,
{
    if let Ok(role) = state.role() {
        *Route::<P>::route(role).last_asked() = index;
    }
    send_to::<R, P, L, _, C>(state, Some(index), Some(label), |_, _| None)
}

fn send_each<'s, R, P, L, C>(
    state: State<'s, R>,
    mut make: impl FnMut(usize) -> L,
) -> impl Future<Output = Result<C>>
where
    R: TalksToMembers<P, L, EachMember> + Route<P, Link: Each<Link: Outgoing<R::Message>>>,
    P: Role,
    C: Session<State = State<'s, R>>,
{
    send_to::<R, P, L, _, C>(state, None, None, move |made, members| {
        (made < members).then(|| make(made))
    })
}

/// Sends a label to a member, and then to each next one for which `make` makes it. It gets the
/// index and the number of members.
fn send_to<'s, R, P, L, M, C>(
    mut state: State<'s, R>,
    mut member: Option<usize>,
    mut label: Option<L>,
    mut make: impl FnMut(usize, usize) -> Option<L>,
) -> impl Future<Output = Result<C>>
where
    R: TalksToMembers<P, L, M> + Route<P, Link: Each<Link: Outgoing<R::Message>>>,
    P: Role,
    C: Session<State = State<'s, R>>,
{
    const { assert!(P::PLAYED.0.is_family, "the peer is one role, not a family") };
    let labels: &'static [&'static str] = const { &[<R::Message as Message<L>>::NAME] };
    let one = member;
    poll_fn(move |context| {
        state.acts(Way::Send, labels, |role| {
            let link = Route::<P>::route(role).links().get_mut(member.unwrap_or_default());
            let is_waiting = link.is_some_and(|link| link.poll_ready(context).is_pending());
            (is_waiting, vec![one.map_or(P::NAME.to_owned(), |one| format!("{}[{one}]", P::NAME))])
        })?;
        loop {
            let links = Route::<P>::route(state.role()?).links();
            let members = links.len();
            // The member whose label was made last has it, unless it was not sent yet.
            if let Some(index) = member {
                let Some(link) = links.get_mut(index) else {
                    abort(state.take());
                    let [role, label, peer] = [R::NAME, R::Message::NAME, P::NAME];
                    return Poll::Ready(Err(Error::other(format!(
                        "`{role}` cannot send `{label}` to `{peer}[{index}]`: there are {members} \
                         members, and the first index is 0"
                    ))));
                };
                let sent = ready!(link.poll_send(&mut label, R::Message::upcast, context));
                if let Err(error) = sent {
                    let action = Action::Send(R::Message::NAME);
                    return Poll::Ready(Err(failed(state.take(), P::NAME, error, action)));
                }
                #[cfg(feature = "tracing")]
                crate::watch::trace::<R>("send", P::NAME, R::Message::NAME);
            }
            let next = member.map_or(0, |index| index + 1);
            label = make(next, members);
            if label.is_none() {
                return Poll::Ready(Ok(C::from_state(state.take())));
            }
            member = Some(next);
        }
    })
}

impl<'s, R: Role, P: Family, L, C> Receive<'s, R, P, L, C> {
    /// Waits for the label of each member of the family `P`, and returns the next state. The labels
    /// come in any order: `take` gets each one with the index of its member, counted from 0. Has
    /// the errors and cancel safety of [`receive`](Receive::receive).
    pub fn receive_each(self, mut take: impl FnMut(usize, L)) -> impl Future<Output = Result<C>>
    where
        R: TalksToMembers<P, L, EachMember> + Route<P, Link: Each<Link: Incoming<R::Message>>>,
        C: Session<State = State<'s, R>>,
    {
        let labels = const { &[<R::Message as Message<L>>::NAME] };
        let (mut state, mut due) = (self.into_state(ByMacro(())), None);
        poll_fn(move |context| {
            let take = |member, message: R::Message| {
                take(member, message.downcast()?);
                Ok(())
            };
            poll_each::<R, P>(&mut state, &mut due, (Way::Receive, labels), |_| true, take, context)
                .map_ok(C::from_state)
        })
    }

    /// Waits for the label of the member of the family `P` to which the role has sent last by
    /// [`send_one`](Send::send_one). Returns it with the next state: `from some worker` in the
    /// protocol. Has the errors and cancel safety of [`receive`](Receive::receive).
    pub async fn receive_one(self) -> Result<(L, C)>
    where
        R: TalksToMembers<P, L, OneMember> + Route<P, Link: Each<Link: Incoming<R::Message>>>,
        C: Session<State = State<'s, R>>,
    {
        let labels = const { &[<R::Message as Message<L>>::NAME] };
        let (state, message) = receive_one::<R, P>(self.into_state(ByMacro(())), labels).await?;
        match message.downcast() {
            Ok(label) => Ok((label, C::from_state(state))),
            Err(message) => Err(unexpected(state, P::NAME, message, labels)),
        }
    }
}

impl<'s, R: Role, P: Family, C> Branch<'s, R, P, C> {
    /// Waits for a label of one member, and returns the option: see [`Receive::receive_one`].
    pub async fn branch_one(self) -> Result<C>
    where
        R: Route<P, Link: Each<Link: Incoming<R::Message>>>,
        C: Choice<State = State<'s, R>, Message = R::Message, Members = OneMember>,
    {
        let state = self.into_state(ByMacro(()));
        let (state, message) = receive_one::<R, P>(state, C::LABELS).await?;
        C::decide(state, message, P::PLAYED.0.number)
            .map_err(|(state, message)| unexpected(state, P::NAME, message, C::LABELS))
    }

    /// Waits for a label of each member of the family `P`, and returns the option, which is the
    /// same for all members. It has the label of the first member. `take` gets the messages of the
    /// others as they come, each with the index of its member, counted from 1. Has the errors and
    /// cancel safety of [`branch`](Branch::branch).
    pub fn branch_each(
        self,
        mut take: impl FnMut(usize, R::Message),
    ) -> impl Future<Output = Result<C>>
    where
        R: Route<P, Link: Each<Link: Incoming<R::Message>>>,
        C: Choice<State = State<'s, R>, Message = R::Message, Members = EachMember>,
    {
        const { assert!(!R::PLAYED.0.differ, "members may send different labels: use `drain_each`") };
        let (mut state, mut heard) =
            (self.into_state(ByMacro(())), (None, None, None, Way::Receive));
        poll_fn(move |context| poll_choice::<R, P, C>(&mut state, &mut heard, &mut take, context))
    }

    /// Receives and drops what one member after the other has sent, each up to the label that leads
    /// on. Has the errors and cancel safety of [`drain`](Branch::drain).
    pub async fn drain_each(self) -> Result<C::Rest>
    where
        R: Route<P, Link: Each<Link: Incoming<R::Message>>>,
        C: Choice<State = State<'s, R>, Message = R::Message>,
        C: Drains<R::Message, Rest: Session<State = State<'s, R>>>,
    {
        const {
            _ = C::VERIFIED;
            assert!(R::PLAYED.0.differ, "members send the same labels: use `branch_each`");
        }
        let mut state = self.into_state(ByMacro(()));
        for member in 0..Route::<P>::route(state.role()?).links().len() {
            let mut leads_on = false;
            while !leads_on {
                let mut take = |_, message: R::Message| match C::leads_on(&message) {
                    Some(it) => {
                        leads_on = it;
                        Ok(())
                    }
                    None => Err(message),
                };
                let (any, mut due) = (|_: &R::Message| true, Some(vec![member]));
                let labels = (Way::Receive, C::LABELS);
                let taken = poll_fn(|context| {
                    poll_each::<R, P>(&mut state, &mut due, labels, any, &mut take, context)
                });
                state = taken.await?;
            }
        }
        Ok(C::Rest::from_state(state))
    }
}

impl<'s, R: Role, C: Choice<Peers: UntilEachOrRace>> Branch<'s, R, AnyPeer, C> {
    /// Waits for a message. Has the result, errors and cancel safety of
    /// [`until_each`](Race::until_each).
    pub async fn branch_each<P, O>(self, take: impl FnMut(usize, R::Message)) -> Result<C>
    where
        C: Choice<State = State<'s, R>, Message = R::Message, Peers = (P, O)>,
        R: Route<P, Link: Each<Link: Incoming<R::Message>>>,
        P: Role,
        O: Peers<R>,
    {
        let race = Race::<R, AnyPeer, C>::from_state(self.into_state(ByMacro(())));
        match race.until_each(take, pending::<Infallible>()).await? {
            Until::Heard(heard) => Ok(heard),
            Until::Wished(never, _) => match never {},
        }
    }
}

impl<'s, R: Role, C: Choice<Peers: UntilEachOrRace>> Race<'s, R, AnyPeer, C> {
    /// Waits for a message and for the future `wish`, with the errors and cancel safety of
    /// [`until`](Race::until). If a member of the family `P` was first, waits for the other
    /// members, too, and returns their option, as [`branch_each`](Branch::branch_each) does.
    /// `wish` may complete while some members are due if what the role may send here may also be
    /// sent, with the same end, after the option. Then `take` gets the messages that have come.
    pub async fn until_each<P, O, T>(
        self,
        mut take: impl FnMut(usize, R::Message),
        wish: impl Future<Output = T>,
    ) -> Result<Until<C, T, Select<'s, R, AnyPeer, C>>>
    where
        C: Choice<State = State<'s, R>, Message = R::Message, Peers = (P, O)>,
        R: Route<P, Link: Each<Link: Incoming<R::Message>>>,
        P: Role,
        O: Peers<R>,
    {
        const {
            assert!(
                !R::PLAYED.0.differ || C::OF_MEMBERS.0 < 2,
                "members may send different labels: use `drain_each`"
            )
        }
        let mut state = self.into_state(ByMacro(()));
        let (mut heard, mut wish) = ((None, None, None, Way::Race), pin!(wish));
        // The members and the others take turns, so neither can starve.
        let mark = Route::<P>::route(state.role()?).mark();
        let turn = mark.turn();
        mark.set_turn(turn + 1);
        let first = poll_fn(|context| {
            for polls_members in [turn & 1 == 0, turn & 1 == 1] {
                let polled = match polls_members {
                    true => poll_choice::<R, P, C>(&mut state, &mut heard, &mut take, context),
                    false if heard.1.is_some() || O::COUNT == 0 => Poll::Pending,
                    false => receive_any::<R, O, C>(&mut state, false, context),
                };
                if polled.is_ready() {
                    return polled.map(Err);
                }
            }
            if heard.1.is_some() && !R::PLAYED.0.stops {
                return Poll::Pending;
            }
            wish.as_mut().poll(context).map(Ok)
        });
        match first.await {
            Err(heard) => heard.map(Until::Heard),
            Ok(it) => {
                heard.2.into_iter().for_each(|message| take(0, message));
                Ok(Until::Wished(it, Select::from_state(state)))
            }
        }
    }
}

/// Receives from the member that was asked last.
async fn receive_one<'s, R, P>(
    mut state: State<'s, R>,
    labels: &'static [&'static str],
) -> Result<(State<'s, R>, R::Message)>
where
    R: Route<P, Link: Each<Link: Incoming<R::Message>>>,
    P: Role,
{
    let (mut due, mut heard) = (Some(vec![*Route::<P>::route(state.role()?).last_asked()]), None);
    let mut take = |_, message| {
        heard = Some(message);
        Ok(())
    };
    let labelled = (Way::Receive, labels);
    let received = poll_fn(|context| {
        poll_each::<R, P>(&mut state, &mut due, labelled, |_| true, &mut take, context)
    });
    let state = received.await?;
    match heard {
        Some(message) => Ok((state, message)),
        None => Err(failed(state, P::NAME, RouteError::Closed, Action::Receive(labels))),
    }
}

/// So many members that are due are not listed one by one.
const MOST_SHOWN: usize = 9;

/// The members whose messages are due, once this was polled, the name of the label that has come
/// first, the message of the first member, and the kind of the action.
type Heard<M> = (Option<Vec<usize>>, Option<&'static str>, Option<M>, Way);

/// Receives from each member. The option has the message of the first one.
fn poll_choice<'s, R, P: Role, C: Of<'s, R>>(
    state: &mut State<'s, R>,
    (due, decided, kept, way): &mut Heard<R::Message>,
    mut take: impl FnMut(usize, R::Message),
    context: &mut Context<'_>,
) -> Poll<Result<C>>
where
    R: Route<P, Link: Each<Link: Incoming<R::Message>>>,
{
    const { C::VERIFIED };
    let (is_begun, number, peer) = (decided.is_some(), P::PLAYED.0.number, <P as Role>::NAME);
    let is_wanted = |message: &R::Message| is_begun || C::takes(message, number);
    let take = |member, message: R::Message| {
        let label = message.label();
        if *decided.get_or_insert(label) != label || !C::HEARD.0.contains(&label) {
            return Err(message);
        }
        match member {
            0 => *kept = Some(message),
            _ => take(member, message),
        }
        Ok(())
    };
    let state =
        ready!(poll_each::<R, P>(state, due, (*way, C::HEARD.0), is_wanted, take, context))?;
    Poll::Ready(match kept.take() {
        None => Err(failed(state, peer, RouteError::Closed, Action::Receive(C::HEARD.0))),
        Some(message) => C::decide(state, message, number)
            .map_err(|(state, message)| unexpected(state, peer, message, C::HEARD.0)),
    })
}

/// Receives from each member of the family `P`, and returns the state. `due` has the members whose
/// messages have not come, once this was polled. `take` returns a message that it does not expect.
/// A message that is not wanted stays in its queue.
fn poll_each<'s, R, P>(
    state: &mut State<'s, R>,
    due: &mut Option<Vec<usize>>,
    (way, labels): (Way, &'static [&'static str]),
    is_wanted: impl Fn(&R::Message) -> bool,
    mut take: impl FnMut(usize, R::Message) -> Result<(), R::Message>,
    context: &mut Context<'_>,
) -> Poll<Result<State<'s, R>>>
where
    R: Route<P, Link: Each<Link: Incoming<R::Message>>>,
    P: Role,
{
    const { assert!(P::PLAYED.0.is_family, "the peer is one role, not a family") };
    let links = Route::<P>::route(state.role()?).links();
    let due: &mut Vec<_> = due.get_or_insert_with(|| (0..links.len()).collect());
    state.acts(way, labels, |role| {
        let links = Route::<P>::route(role).links();
        let peers = match due.len() < links.len().min(MOST_SHOWN) {
            true => due.iter().map(|member| format!("{}[{member}]", P::NAME)).collect(),
            false => vec![P::NAME.to_owned()],
        };
        (due.iter().any(|&member| links[member].is_empty(&is_wanted, context)), peers)
    })?;
    let links = Route::<P>::route(state.role()?).links();
    let mut wrong = None;
    due.retain(|&member| {
        let link = &mut links[member];
        if wrong.is_some() || link.is_known_idle(context.waker()) {
            return true;
        }
        let received = link.receive_if(true, &is_wanted, context).map(Result::transpose);
        let Poll::Ready(Some(message)) = received else { return true };
        #[cfg(feature = "tracing")]
        if let Ok(message) = &message {
            crate::watch::trace::<R>("receive", P::NAME, message.label());
        }
        wrong = match message.map(|message| take(member, message)) {
            Ok(taken) => taken.err().map(Ok),
            Err(error) => Some(Err(error)),
        };
        false
    });
    Poll::Ready(match wrong {
        None if due.is_empty() => Ok(state.take()),
        None => return Poll::Pending,
        Some(Ok(message)) => Err(unexpected(state.take(), P::NAME, message, labels)),
        Some(Err(error)) => Err(failed(state.take(), P::NAME, error, Action::Receive(labels))),
    })
}
