//! Only the macro implements the traits of sessions and their proofs.

use rumpsteak::states::{Choice, Plays, Session, State};
use rumpsteak_ui_tests::numbers::{Label, P};

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

impl<'s> Plays<Stolen<'s>> for P {
    type State = State<'s, P>;
    type Player = P;

    fn begin(state: State<'s, P>) -> Stolen<'s> {
        Stolen(state)
    }
}

fn main() {}
