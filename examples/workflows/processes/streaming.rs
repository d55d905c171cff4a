// The processes of streaming, the same in all workflows.

use rumpsteak_runtime::{Result, try_run};

async fn source(role: &mut S) -> Result<()> {
    try_run(role, async |mut s: SSession<'_>| {
        for value in 1..=4 {
            let (Ready, next) = s.receive().await?;
            s = next.select(Value(value)).await?;
        }
        let (Ready, next) = s.receive().await?;
        Ok(((), next.select(Stop).await?))
    })
    .await
}

async fn sink(role: &mut T) -> Result<i32> {
    try_run(role, async |mut s: TSession<'_>| {
        let mut sum = 0;
        loop {
            match s.send(Ready).await?.branch().await? {
                TValueOrStop::Value(Value(value), next) => {
                    sum += value;
                    s = next;
                }
                TValueOrStop::Stop(Stop, end) => return Ok((sum, end)),
            }
        }
    })
    .await
}

/// The sum of the values at the sink.
pub async fn run() -> Result<i32> {
    let Roles { mut s, mut t } = Roles::default();
    let ((), sum) = tokio::try_join!(source(&mut s), sink(&mut t))?;
    Ok(sum)
}
