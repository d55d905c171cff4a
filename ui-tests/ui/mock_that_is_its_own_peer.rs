//! A mock names its own role instead of the peer.

use rumpsteak::testing::Mock;
use rumpsteak_ui_tests::ping::{Pong, S};

async fn ask(mock: &mut Mock<S>) {
    mock.receive::<S>().await;
    mock.send::<S, _>(Pong(1)).await;
}

fn main() {}
