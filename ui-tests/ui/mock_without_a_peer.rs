//! An action of a mock names the peer at its other end.

use rumpsteak::testing::Mock;
use rumpsteak_ui_tests::ping::{Pong, S};

async fn answer(mock: &mut Mock<S>) {
    mock.send(Pong(1)).await;
}

fn main() {}
