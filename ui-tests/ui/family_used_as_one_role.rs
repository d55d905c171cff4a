//! A family is sent to and received from as a whole.

use rumpsteak::{Ended, Result};

#[rumpsteak::protocol(Family)]
mod family {
    #[derive(Roles)]
    struct Roles {
        m: M,
        q: Vec<Q>,
        worker: Worker,
        pair: Vec<Pair>,
    }
}
use family::*;

async fn q(s: QSession<'_>) -> Result<()> {
    match s.branch().await? {
        QNoteOrStop::Note(_, s) => drop(s.send(Seen).await?),
        QNoteOrStop::Stop(_, s) => drop(s.receive_each(|_, _| ()).await?),
    }
    Ok(())
}

async fn worker(s: WorkerSession<'_>) -> Ended<'_, Worker> {
    match s.branch().await? {
        WorkerJobOrStop::Job(Job(number), s) => s.send_each(|_| Done(number)).await?,
        WorkerJobOrStop::Stop(Stop, s) => return s.end(()),
    }
}

fn main() {}
