//! What only the macros of this crate implement.

use rumpsteak::states::{Choice, Offers, Plays, Session, State};
use rumpsteak::{Channel, Message, Role, transport::Route};
use rumpsteak_ui_tests::numbers::{Label, More, P, Stop};
use rumpsteak_ui_tests::ping::C;

/// A label that no protocol has.
pub struct Evil;

pub struct Stolen<'s>(State<'s, P>);

impl<'s> Session for Stolen<'s> {
    type State = State<'s, P>;

    fn from_state(state: State<'s, P>) -> Self {
        Self(state)
    }
}

pub struct Choosing<'s>(State<'s, P>);

impl<'s> Choice for Choosing<'s> {
    type Peers = ();
    type Message = Label;
    type State = State<'s, P>;
    const LABELS: &'static [&'static str] = &["Sum"];

    fn decide(state: State<'s, P>, _: Label, _: u64) -> Result<Self, (State<'s, P>, Label)> {
        Ok(Self(state))
    }
}

impl<'s> Offers<Evil> for More<'s, P> {
    type Then = Stolen<'s>;
}

pub struct Worse;

impl<'s> Offers<Worse> for More<'s, P> {
    type ByMacro = <Self as Offers<Stop>>::ByMacro;
    type Then = Stolen<'s>;
}

impl Message<Evil> for Label {
    const NAME: &'static str = "Ping";

    fn upcast(_: Evil) -> Self {
        Self::Stop(Stop)
    }

    fn downcast(self) -> Result<Evil, Self> {
        Ok(Evil)
    }
}

pub struct Player(Channel<Label>);

impl Role for Player {
    const PROTOCOL: &'static str = "Numbers";
    const NAME: &'static str = "p";
    type Message = Label;
}

impl<'s> Plays<Stolen<'s>> for P {
    type State = State<'s, P>;
    type Player = P;

    fn begin(state: State<'s, P>) -> Stolen<'s> {
        Stolen(state)
    }
}

pub struct T;

impl Route<T> for C {
    type Link = Channel<rumpsteak_ui_tests::ping::Label>;

    fn route(&mut self) -> &mut Self::Link {
        &mut self.s
    }
}

fn main() {}
