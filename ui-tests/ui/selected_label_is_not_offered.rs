//! The choice offers `Number` and `Stop`, not `Sum`.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::numbers::{P, Producer, Sum};

pub async fn producer(role: &mut P) -> Result<()> {
    try_run(role, async |s: Producer<'_>| {
        let end = s.select(Sum(1)).await?;
        Ok(((), end))
    })
    .await
}

fn main() {}
