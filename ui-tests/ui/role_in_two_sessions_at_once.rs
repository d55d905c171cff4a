//! A session borrows its role exclusively.

use futures::future::try_join;
use rumpsteak::Result;
use rumpsteak_ui_tests::ping::{C, client};

pub async fn both(role: &mut C) -> Result<(i32, i32)> {
    try_join(client(role, 1), client(role, 2)).await
}

fn main() {}
