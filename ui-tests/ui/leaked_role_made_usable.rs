//! A role whose session was leaked is poisoned until its whole set is reset.

use rumpsteak::{Role, transport::Link, transport::Mark};
use rumpsteak_ui_tests::ping::C;

pub fn use_again(role: &mut C) {
    assert!(role.is_poisoned());
    role.s.set_in_session(false);
    role.s.mark().set_in_session(false);
    let _: &mut Mark = role.s.mark();
}

fn main() {}
