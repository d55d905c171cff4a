//! What a choice offers is what its module says, and a proof for one label is none for another.

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
