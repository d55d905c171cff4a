//! Hospital with the patient of CONCUR'19 and LMCS'21: it sends the readings of a day one after the
//! other, and reads no answer before it asks for the report. The hospital is the same as in
//! `hospital.rs`.
//!
//! This patient may never ask, so answers may stay unread for ever. So it is not a subtype in every
//! run, unlike the patient of `hospital.rs`. But it can always still ask, and then reads all
//! answers. It is safe if choices are fair, and `fair(p)` accepts that for this role.
//!
//! `cargo run -p rumpsteak-examples --example eager_hospital`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

#[rumpsteak::protocol(Hospital, fair(p))]
pub mod hospital {
    #[session(P)]
    type EagerPatient = Select<H, EagerChoice>;

    enum EagerChoice {
        Data(Data, EagerPatient),
        Ask(Ask, Branch<H, Answers>),
    }

    /// The answers of the day, and then the report.
    enum Answers {
        Ok(OkMessage, Branch<H, Answers>),
        Ko(Ko, Branch<H, Answers>),
        Report(Report, EagerPatient),
    }
}
use hospital::*;

/// The number of refused readings of each day, and its report.
type Reports = Vec<(usize, String)>;

async fn eager_patient<'s>(
    mut session: EagerPatient<'s>,
    days: &[&[u32]],
    done: oneshot::Sender<Reports>,
) -> Ended<'s, P, Infallible> {
    let mut reports = Vec::new();
    for day in days {
        for &reading in *day {
            println!("patient:  sends {reading}");
            session = session.select(Data(reading)).await?;
        }
        let mut refused = 0;
        let mut late = session.select(Ask).await?.branch().await?;
        session = loop {
            late = match late {
                Answers::Ok(OkMessage, next) => next.branch().await?,
                Answers::Ko(Ko, next) => {
                    refused += 1;
                    next.branch().await?
                }
                Answers::Report(Report(report), next) => {
                    println!("patient:  {refused} refused, and is given {report:?}");
                    reports.push((refused, report));
                    break next;
                }
            };
        };
    }
    // The protocol never ends. The program stops when the patient may go.
    let _ = done.send(reports);
    std::future::pending().await
}

/// Refuses readings above 40.
async fn hospital(mut session: HSession<'_>) -> Ended<'_, H, Infallible> {
    let mut accepted = Vec::new();
    loop {
        session = match session.branch().await? {
            HDataChoice::Data(Data(reading), next) if reading <= 40 => {
                accepted.push(reading);
                next.select(OkMessage).await?
            }
            HDataChoice::Data(Data(reading), next) => {
                println!("hospital: {reading} cannot be right");
                next.select(Ko).await?
            }
            HDataChoice::Ask(Ask, next) => next.send(Report(format!("{accepted:?}"))).await?,
        };
    }
}

/// The reports of two days.
pub async fn run() -> Result<Reports> {
    let (done, finished) = oneshot::channel();
    let mut roles = Roles::default();
    let days: [&[u32]; 2] = [&[36, 37], &[78, 38, 90]];
    tokio::select! {
        stopped = roles.run(|p| eager_patient(p, &days, done), hospital) => match stopped?.0 {},
        Ok(reports) = finished => Ok(reports),
    }
}

fn expected() -> Reports {
    vec![(0, "[36, 37]".to_owned()), (2, "[36, 37, 38]".to_owned())]
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, expected())
}
