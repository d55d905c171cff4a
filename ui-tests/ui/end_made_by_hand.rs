//! An `End` only comes from the last action.

use rumpsteak::states::{End, State};
use rumpsteak_ui_tests::ping::C;

pub fn end(state: State<'_, C>) -> End<'_, C> {
    End { state }
}

fn main() {}
