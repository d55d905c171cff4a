//! A race is not a single receive.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::cancel::{Answer, Asker, Asking, Question, Thanks};

pub async fn asker(role: &mut Asker) -> Result<i32> {
    try_run(role, async |s: Asking<'_>| {
        let (Answer(answer), s) = s.send(Question).await?.receive().await?;
        Ok((answer, s.send(Thanks).await?))
    })
    .await
}

fn main() {}
