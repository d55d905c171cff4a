//! A supervisor cancels a pipeline that would go on for ever. What is between its stages by then is
//! dropped by the protocol, and the sink reports how far it came.
//!
//! `cargo run -p rumpsteak-examples --example pipeline_cancel`

use std::process::ExitCode;

use rumpsteak_runtime::states::Raced;
use rumpsteak_runtime::{Result, try_run};
use tokio::sync::Notify;
use tokio::task::yield_now;

rumpsteak_runtime::protocol!(PipelineCancel);
use pipeline_cancel::{
    Cancel, Item, Report, Roles, Sink, SinkCancelOrValue, SinkSession, SinkValueOrCancel, Source,
    SourceCancelOrItem, SourceSession, Stage, StageCancelOrItem, StageCancelOrValue,
    StageItemOrCancel, StageSession, Supervisor, SupervisorSession, Value,
};

/// Cancels when it is told that there is enough, and returns what the sink reports.
async fn supervisor(role: &mut Supervisor, enough: &Notify) -> Result<u64> {
    try_run(role, async |session: SupervisorSession<'_>| {
        enough.notified().await;
        println!("supervisor: it is enough");
        let session = session.send(Cancel).await?.send(Cancel).await?.send(Cancel).await?;
        let (Report(values), end) = session.receive().await?;
        Ok((values, end))
    })
    .await
}

async fn source(role: &mut Source) -> Result<()> {
    try_run(role, async |mut session: SourceSession<'_>| {
        for number in 0_u64.. {
            let item = async {
                yield_now().await;
                Item(number.to_string())
            };
            session = match session.race(item).await? {
                Raced::Sent(session) => session,
                Raced::Heard(SourceCancelOrItem::Cancel(Cancel, session)) => {
                    return Ok(((), session.send(Cancel).await?));
                }
            };
        }
        unreachable!("there are enough numbers")
    })
    .await
}

async fn stage(role: &mut Stage) -> Result<()> {
    try_run(role, async |mut session: StageSession<'_>| {
        let cancelled = loop {
            let work = match session.branch().await? {
                StageCancelOrItem::Item(Item(item), working) => {
                    working.race(async { Value(item.len() as u64) }).await?
                }
                StageCancelOrItem::CancelFromSupervisor(Cancel, cancelled) => break cancelled,
                StageCancelOrItem::CancelFromSource(Cancel, session) => {
                    let (Cancel, end) = session.send(Cancel).await?.receive().await?;
                    return Ok(((), end));
                }
            };
            session = match work {
                Raced::Sent(session) => session,
                Raced::Heard(StageCancelOrValue::Cancel(Cancel, cancelled)) => break cancelled,
            };
        };
        let mut session = cancelled.send(Cancel).await?;
        loop {
            session = match session.branch().await? {
                StageItemOrCancel::Item(_, session) => session,
                StageItemOrCancel::Cancel(Cancel, end) => return Ok(((), end)),
            };
        }
    })
    .await
}

/// Says when it has `wanted` values, and reports how many it had in the end.
async fn sink(role: &mut Sink, wanted: u64, enough: &Notify) -> Result<()> {
    try_run(role, async |mut session: SinkSession<'_>| {
        let mut values = 0;
        let reports = loop {
            session = match session.branch().await? {
                SinkCancelOrValue::Value(_, session) => session,
                SinkCancelOrValue::CancelFromStage(Cancel, session) => {
                    break session.receive().await?.1;
                }
                SinkCancelOrValue::CancelFromSupervisor(Cancel, mut session) => {
                    break loop {
                        session = match session.branch().await? {
                            SinkValueOrCancel::Value(_, session) => session,
                            SinkValueOrCancel::Cancel(Cancel, reports) => break reports,
                        };
                    };
                }
            };
            values += 1;
            if values == wanted {
                enough.notify_one();
            }
        };
        Ok(((), reports.send(Report(values)).await?))
    })
    .await
}

/// Whether the sink had all the values that were wanted.
pub async fn run() -> Result<bool> {
    let (mut roles, enough, wanted) = (Roles::default(), Notify::new(), 5);
    let (values, (), (), ()) = tokio::try_join!(
        supervisor(&mut roles.supervisor, &enough),
        source(&mut roles.source),
        stage(&mut roles.stage),
        sink(&mut roles.sink, wanted, &enough),
    )?;
    Ok(values >= wanted)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, true)
}
