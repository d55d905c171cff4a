//! Jacobi's method by a master and any number of workers: a family.
//!
//! `cargo run -p rumpsteak-examples --example jacobi_workers -- --workers 5`
//!
//! Each role is a process. `--transport memory` plays all in one process.

use std::process::ExitCode;

use rumpsteak::try_run;
use rumpsteak_examples::jacobi::workers::roles::{M, Worker};
use rumpsteak_examples::jacobi::workers::{master, together, worker};
use rumpsteak_examples::jacobi::{Task, sequential};
use rumpsteak_examples::processes::{Failure, Place, start_family};

const TASK: Task = Task { size: 30, accuracy: 0.01 };

/// Plays one role.
async fn play(place: Place) -> Result<(), Failure> {
    let workers = place.workers();
    let Some(index) = place.member() else {
        let m = place.join::<M>(&[]).await?.members("worker", workers).connect().await?;
        let process = async |m: &mut M| try_run(m, |s| master(s, TASK, workers)).await;
        let solution = m.play(process).await?;
        if solution != sequential(TASK) || together(TASK, workers).await? != solution {
            return Err("the plate is not that of one process".into());
        }
        println!("{} points after {} rounds, as one process has them", 30 * 30, solution.1);
        return Ok(());
    };
    let join = place.join::<Worker>(&["m"]).await?;
    let role = join.members("worker", workers).member(index).connect().await?;
    let process = async |role: &mut Worker| try_run(role, |s| worker(index, workers, s)).await;
    Ok(role.play(process).await?)
}

fn main() -> ExitCode {
    start_family("JacobiWorkers", |place| Box::pin(play(place)))
}
