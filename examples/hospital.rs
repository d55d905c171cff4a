//! Hospital (PPoPP'22, Table 1, after Bravetti et al., CONCUR'19 and LMCS'21): a patient sends
//! readings to a hospital, which accepts or refuses each, and asks for a report now and then. This
//! patient halves a refused reading, and does not wait for the answer to it. So it may run ahead of
//! the answers, further and further. It reads them all before the report.
//!
//! No queue is long enough for every run: it is not k-MC for any k, and no bound on the pending
//! answers is enough. The build accepts it, because it finds an invariant.
//!
//! `cargo run -p rumpsteak-examples --example hospital`

use std::collections::VecDeque;
use std::convert::Infallible;
use std::process::ExitCode;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

#[rumpsteak::protocol(Hospital)]
pub mod hospital {
    #[session(P)]
    type Patient = Select<H, PatientChoice>;

    enum PatientChoice {
        Data(Data, Branch<H, Answer>),
        Ask(Ask, Branch<H, Late>),
    }

    enum Answer {
        Ok(OkMessage, Patient),
        Ko(Ko, Send<H, Data, Patient>),
    }

    /// The answers that are still due, and then the report.
    enum Late {
        Ok(OkMessage, Branch<H, Late>),
        Ko(Ko, Branch<H, Late>),
        Report(Report, Patient),
    }
}
use hospital::*;

/// The result of the patient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay {
    /// How many readings were accepted.
    pub accepted: usize,
    /// How many were refused.
    pub refused: usize,
    /// How many answers were due at most when the patient sent on.
    pub ahead: usize,
    /// The reports.
    pub reports: Vec<String>,
}

async fn patient<'s>(
    mut session: Patient<'s>,
    days: &[&[u32]],
    done: oneshot::Sender<Stay>,
) -> Ended<'s, P, Infallible> {
    let mut stay = Stay { accepted: 0, refused: 0, ahead: 0, reports: Vec::new() };
    // The readings whose answers are due.
    let mut due = VecDeque::new();
    for day in days {
        for &reading in *day {
            due.push_back(reading);
            session = match session.select(Data(reading)).await?.branch().await? {
                Answer::Ok(OkMessage, next) => {
                    stay.accepted += 1;
                    due.pop_front();
                    next
                }
                Answer::Ko(Ko, next) => {
                    stay.refused += 1;
                    // Half of it, and on: the answer to this comes later.
                    let half = due.pop_front().unwrap_or_default() / 2;
                    due.push_back(half);
                    next.send(Data(half)).await?
                }
            };
            println!("patient:  {} answers are due", due.len());
            stay.ahead = stay.ahead.max(due.len());
        }
        let mut late = session.select(Ask).await?.branch().await?;
        session = loop {
            late = match late {
                Late::Ok(OkMessage, next) => {
                    stay.accepted += 1;
                    next.branch().await?
                }
                Late::Ko(Ko, next) => {
                    stay.refused += 1;
                    next.branch().await?
                }
                Late::Report(Report(report), next) => {
                    println!("patient:  is given {report:?}");
                    stay.reports.push(report);
                    due.clear();
                    break next;
                }
            };
        };
    }
    // The protocol never ends. The program stops when the patient may go.
    let _ = done.send(stay);
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

/// Two days of a patient: the first without errors, the second with readings of twice the right
/// value.
pub async fn run() -> Result<Stay> {
    let (done, finished) = oneshot::channel();
    let mut roles = Roles::default();
    let days: [&[u32]; 2] = [&[36, 37], &[78, 76, 90]];
    tokio::select! {
        stopped = roles.run(|p| patient(p, &days, done), hospital) => match stopped?.0 {},
        Ok(stay) = finished => Ok(stay),
    }
}

fn expected() -> Stay {
    Stay {
        accepted: 4,
        refused: 3,
        ahead: 2,
        reports: vec!["[36, 37]".to_owned(), "[36, 37, 39, 38]".to_owned()],
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, expected())
}
