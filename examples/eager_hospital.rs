//! Hospital with a patient as CONCUR'19 and LMCS'21 have it: it sends its readings of a day one
//! after the other and reads no answer before it asks for the report. Everything else is as in
//! `hospital.rs`.
//!
//! It need not ever ask, so answers may stay unread for ever: no subtype in every run, which that
//! of `hospital.rs` is. But it can always still ask, and reads them all then: it holds if choices
//! are fair, which `build.rs` accepts for this role.
//!
//! `cargo run -p rumpsteak-examples --example eager_hospital`

use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak_runtime::{Result, session, try_run};
use tokio::sync::oneshot;

#[allow(dead_code, reason = "its patient, and the program")]
#[path = "hospital.rs"]
pub mod plain;

use plain::{Accepted, Ask, Data, H, P, Refused, Report, Roles, hospital};

#[session(P)]
pub type EagerPatient = Select<H, EagerChoice>;

#[session]
enum EagerChoice {
    Data(Data, EagerPatient),
    Ask(Ask, Branch<H, Answers>),
}

/// The answers of the day, and then the report.
#[session]
enum Answers {
    Accepted(Accepted, Branch<H, Answers>),
    Refused(Refused, Branch<H, Answers>),
    Report(Report, EagerPatient),
}

async fn eager_patient(
    role: &mut P,
    days: &[&[u32]],
    done: oneshot::Sender<Vec<(usize, String)>>,
) -> Result<Infallible> {
    try_run(role, async |mut session: EagerPatient<'_>| {
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
                    Answers::Accepted(Accepted, next) => next.branch().await?,
                    Answers::Refused(Refused, next) => {
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
        let _ = done.send(reports);
        // The protocol goes on for ever; the program stops when the patient may go.
        std::future::pending().await
    })
    .await
}

/// How many readings were refused each day, and the reports.
pub async fn run() -> Result<Vec<(usize, String)>> {
    let Roles { mut p, mut h } = Roles::default();
    let (done, finished) = oneshot::channel();
    let days: [&[u32]; 2] = [&[36, 37], &[78, 38, 90]];
    tokio::select! {
        stopped = async { tokio::try_join!(eager_patient(&mut p, &days, done), hospital(&mut h)) } => {
            match stopped?.0 {}
        }
        Ok(reports) = finished => Ok(reports),
    }
}

fn expected() -> Vec<(usize, String)> {
    vec![(0, "[36, 37]".to_owned()), (2, "[36, 37, 38]".to_owned())]
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, expected())
}
