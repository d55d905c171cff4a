//! What marks a route as in a session can be seen, and not replaced.

use rumpsteak::transport::Link;
use rumpsteak_ui_tests::ping::C;

pub fn use_again(role: &mut C) {
    *role.s.mark() = Default::default();
}

fn main() {}
