//! The mark of a route can be read, but not replaced.

use rumpsteak::transport::Link;
use rumpsteak_ui_tests::ping::C;

pub fn use_again(role: &mut C) {
    *role.s.mark() = Default::default();
}

fn main() {}
