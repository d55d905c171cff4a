//! Only the macro implements the traits of roles.

use rumpsteak::transport::Route;
use rumpsteak::{Channel, Role};
use rumpsteak_ui_tests::numbers::Label;
use rumpsteak_ui_tests::ping::{self, C};

pub struct Player(Channel<Label>);

impl Role for Player {
    const PROTOCOL: &'static str = "Numbers";
    const NAME: &'static str = "p";
    type Message = Label;
}

pub struct T;

impl Route<T> for C {
    type Link = Channel<ping::Label>;

    fn route(&mut self) -> &mut Self::Link {
        &mut self.s
    }
}

fn main() {}
