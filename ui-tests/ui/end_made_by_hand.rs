//! An `End` comes from the last action, from nowhere else.

use rumpsteak::states::{End, State};
use rumpsteak_ui_tests::ping::C;

pub fn end(state: State<'_, C>) -> End<'_, C> {
    End { state }
}

fn main() {}
