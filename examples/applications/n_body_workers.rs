//! Bodies that attract each other, by a master and any number of workers: a family.
//!
//! `cargo run -p rumpsteak-examples --example n_body_workers -- --workers 5`
//!
//! Each role is a process. `--transport memory` plays all in one process.

use std::process::ExitCode;

use rumpsteak::try_run;
use rumpsteak_examples::n_body::workers::roles::{M, Worker};
use rumpsteak_examples::n_body::workers::{master, sequential, together, worker};
use rumpsteak_examples::processes::{Failure, Place, start_family};

const BODIES: usize = 60;
const STEPS: usize = 200;

/// Plays one role.
async fn play(place: Place) -> Result<(), Failure> {
    let workers = place.workers();
    let Some(index) = place.member() else {
        let m = place.join::<M>(&[]).await?.members("worker", workers).connect().await?;
        let process = async |m: &mut M| try_run(m, |s| master(s, BODIES, STEPS, workers)).await;
        let places = m.play(process).await?;
        if places != sequential(BODIES, STEPS) || together(BODIES, STEPS, workers).await? != places
        {
            return Err("the bodies are not where one process has them".into());
        }
        println!("{BODIES} bodies after {STEPS} steps, as one process has them");
        return Ok(());
    };
    let join = place.join::<Worker>(&["m"]).await?;
    let role = join.members("worker", workers).member(index).connect().await?;
    let process =
        async |role: &mut Worker| try_run(role, |s| worker(index, workers, BODIES, s)).await;
    Ok(role.play(process).await?)
}

fn main() -> ExitCode {
    start_family("NBodyWorkers", |place| Box::pin(play(place)))
}
