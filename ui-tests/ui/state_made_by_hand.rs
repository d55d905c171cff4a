//! States only come from `try_run` and from the actions before them.

use rumpsteak::states::State;
use rumpsteak_ui_tests::ping::C;

pub fn begin(role: &mut C) -> State<'_, C> {
    State { claim: role }
}

fn main() {}
