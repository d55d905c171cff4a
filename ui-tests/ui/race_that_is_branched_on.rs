//! A race needs a future beside the messages.

use rumpsteak::{Result, try_run};
use rumpsteak_ui_tests::cancel::{Asker, Asking, Patience, Question, Thanks};

pub async fn asker(role: &mut Asker) -> Result<()> {
    try_run(role, async |s: Asking<'_>| {
        let Patience::Answer(_, s) = s.send(Question).await?.branch().await?;
        Ok(((), s.send(Thanks).await?))
    })
    .await
}

fn main() {}
