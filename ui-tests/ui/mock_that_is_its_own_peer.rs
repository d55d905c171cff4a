//! A mock names its own role, where the peer is due.

use rumpsteak::testing::Mock;
use rumpsteak_ui_tests::ping::{Pong, S};

async fn ask(mock: &mut Mock<S>) {
    mock.receive::<S>().await;
    mock.send::<S, _>(Pong(1)).await;
}

fn main() {}
