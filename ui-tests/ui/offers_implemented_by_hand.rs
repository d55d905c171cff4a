//! Only the module decides what a choice offers. A proof for one label does not fit another.

use rumpsteak::states::{Offers, State};
use rumpsteak_ui_tests::numbers::{More, P, Stop};

/// A label that no protocol has.
pub struct Evil;

pub struct Stolen<'s>(State<'s, P>);

impl<'s> Offers<Evil> for More<'s, P> {
    type Then = Stolen<'s>;
}

pub struct Worse;

impl<'s> Offers<Worse> for More<'s, P> {
    type ByMacro = <Self as Offers<Stop>>::ByMacro;
    type Then = Stolen<'s>;
}

fn main() {}
