//! A supervisor cancels a pipeline that would run for ever. The protocol drops the messages between
//! its stages, and the sink reports how far it came.
//!
//! `cargo run -p rumpsteak-examples --example pipeline_cancel`

use std::process::ExitCode;

use rumpsteak::states::Raced;
use rumpsteak::{Ended, Result};
use tokio::sync::Notify;
use tokio::task::yield_now;

// No role has to interrupt: `fair`.
#[rumpsteak::protocol(PipelineCancel, fair)]
pub mod pipeline_cancel {}
use pipeline_cancel::*;

/// Cancels when the sink has enough, and returns the report of the sink.
async fn supervisor<'s>(
    session: SupervisorSession<'s>,
    enough: &Notify,
) -> Ended<'s, Supervisor, u64> {
    enough.notified().await;
    println!("supervisor: it is enough");
    let session = session.send(Cancel).await?.send(Cancel).await?.send(Cancel).await?;
    let (Report(values), end) = session.receive().await?;
    end.end(values)
}

async fn source(mut session: SourceSession<'_>) -> Ended<'_, Source> {
    for number in 0_u64.. {
        let item = async {
            yield_now().await;
            Item(number.to_string())
        };
        session = match session.race(item).await? {
            Raced::Sent(session) => session,
            Raced::Heard(SourceItemChoice::Cancel(Cancel, session)) => {
                return session.send(Cancel).await?.end(());
            }
        };
    }
    unreachable!("there are enough numbers")
}

async fn stage(mut session: StageSession<'_>) -> Ended<'_, Stage> {
    let cancelled = loop {
        let work = match session.branch().await? {
            StageItemChoice::Item(Item(item), working) => {
                working.race(async { Value(item.len() as u64) }).await?
            }
            StageItemChoice::CancelFromSupervisor(Cancel, cancelled) => break cancelled,
            StageItemChoice::CancelFromSource(Cancel, session) => {
                let (Cancel, end) = session.send(Cancel).await?.receive().await?;
                return end.end(());
            }
        };
        session = match work {
            Raced::Sent(session) => session,
            Raced::Heard(StageValueChoice::Cancel(Cancel, cancelled)) => break cancelled,
        };
    };
    let mut session = cancelled.send(Cancel).await?;
    loop {
        session = match session.branch().await? {
            StageItemChoiceAfterCancel::Item(_, session) => session,
            StageItemChoiceAfterCancel::Cancel(Cancel, end) => return end.end(()),
        };
    }
}

/// Says when it has `wanted` values, and reports how many it had in the end.
async fn sink<'s>(mut session: SinkSession<'s>, wanted: u64, enough: &Notify) -> Ended<'s, Sink> {
    let mut values = 0;
    let reports = loop {
        session = match session.branch().await? {
            SinkValueChoice::Value(_, session) => session,
            SinkValueChoice::CancelFromStage(Cancel, session) => {
                break session.receive().await?.1;
            }
            SinkValueChoice::CancelFromSupervisor(Cancel, mut session) => {
                break loop {
                    session = match session.branch().await? {
                        SinkValueChoiceAfterCancel::Value(_, session) => session,
                        SinkValueChoiceAfterCancel::Cancel(Cancel, reports) => break reports,
                    };
                };
            }
        };
        values += 1;
        if values == wanted {
            enough.notify_one();
        }
    };
    reports.send(Report(values)).await?.end(())
}

/// True if the sink had all wanted values.
pub async fn run() -> Result<bool> {
    let (mut roles, enough, wanted) = (Roles::default(), Notify::new(), 5);
    let all = roles.run(
        |session| supervisor(session, &enough),
        source,
        stage,
        |session| sink(session, wanted, &enough),
    );
    let (values, (), (), ()) = all.await?;
    Ok(values >= wanted)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, true)
}
