// The processes of streaming, the same in all workflows.

use rumpsteak::{Ended, Result};

async fn source(mut s: SSession<'_>) -> Ended<'_, S> {
    for value in 1..=4 {
        let (Ready, next) = s.receive().await?;
        s = next.select(Value(value)).await?;
    }
    let (Ready, next) = s.receive().await?;
    next.select(Stop).await?.end(())
}

async fn sink(mut s: TSession<'_>) -> Ended<'_, T, i32> {
    let mut sum = 0;
    loop {
        match s.send(Ready).await?.branch().await? {
            TValueChoice::Value(Value(value), next) => {
                sum += value;
                s = next;
            }
            TValueChoice::Stop(Stop, end) => return end.end(sum),
        }
    }
}

/// The sum of the values at the sink.
pub async fn run() -> Result<i32> {
    let ((), sum) = Roles::default().run(source, sink).await?;
    Ok(sum)
}
