//! A pool of three workers: a job goes to any free worker, and results are taken as they come.
//!
//! `cargo run -p rumpsteak-examples --example worker_pool`

use std::process::ExitCode;

use rumpsteak::{Ended, Result};
use tokio::task::yield_now;

// Another worker may be served for ever: `fair`.
#[rumpsteak::protocol(WorkerPool, accept_closed_system, fair)]
pub mod worker_pool {
    // All begin with a job. A worker that is done gets the next one.
    #[session(Dispatcher)]
    type Pool = Send<First, Job, Send<Second, Job, Send<Third, Job, Branch<Free>>>>;

    enum Free {
        First(Receive<First, ResultMessage, Select<First, NextOfFirst>>),
        Second(Receive<Second, ResultMessage, Select<Second, NextOfSecond>>),
        Third(Receive<Third, ResultMessage, Select<Third, NextOfThird>>),
    }

    enum NextOfFirst {
        Job(Job, Branch<Free>),
        Stop(Stop, Receive<Second, ResultMessage, Receive<Third, ResultMessage, Stop23>>),
    }

    enum NextOfSecond {
        Job(Job, Branch<Free>),
        Stop(Stop, Receive<First, ResultMessage, Receive<Third, ResultMessage, Stop13>>),
    }

    enum NextOfThird {
        Job(Job, Branch<Free>),
        Stop(Stop, Receive<First, ResultMessage, Receive<Second, ResultMessage, Stop12>>),
    }

    type Stop12 = Send<First, Stop, Send<Second, Stop, End>>;

    type Stop13 = Send<First, Stop, Send<Third, Stop, End>>;

    type Stop23 = Send<Second, Stop, Send<Third, Stop, End>>;
}
use worker_pool::*;

/// Has `first` done, and all of `jobs` after it. Returns the results in the order of arrival.
async fn dispatcher<'s>(
    pool: Pool<'s>,
    first: [&str; 3],
    jobs: &[&str],
) -> Ended<'s, Dispatcher, Vec<u64>> {
    let [a, b, c] = first.map(|job| Job(job.to_owned()));
    let mut pool = pool.send(a).await?.send(b).await?.send(c).await?;
    let (mut jobs, mut results) = (jobs.iter().map(|&job| Job(job.to_owned())), Vec::new());
    /// The next job for a free worker. After the last job, all workers stop.
    macro_rules! next {
        ($result:ident, $free:ident) => {{
            results.push($result);
            match jobs.next() {
                Some(job) => $free.select(job).await?,
                None => {
                    let stopped = $free.select(Stop).await?;
                    let (ResultMessage(result), others) = stopped.receive().await?;
                    let (ResultMessage(last), others) = others.receive().await?;
                    results.extend([result, last]);
                    break others.send(Stop).await?.send(Stop).await?.end(results);
                }
            }
        }};
    }
    loop {
        pool = match pool.branch().await? {
            Free::First(ResultMessage(result), free) => next!(result, free),
            Free::Second(ResultMessage(result), free) => next!(result, free),
            Free::Third(ResultMessage(result), free) => next!(result, free),
        };
    }
}

macro_rules! worker {
    ($worker:ident, $Role:ident, $Session:ident, $Next:ident) => {
        /// Takes so many turns for a job. Returns how many jobs it did.
        async fn $worker(mut session: $Session<'_>, turns: usize) -> Ended<'_, $Role, usize> {
            let mut jobs = 0;
            loop {
                session = match session.branch().await? {
                    $Next::Job(Job(text), working) => {
                        for _ in 0..turns {
                            yield_now().await;
                        }
                        jobs += 1;
                        working.send(ResultMessage(text.len() as u64)).await?
                    }
                    $Next::Stop(Stop, end) => return end.end(jobs),
                };
            }
        }
    };
}

worker!(first, First, FirstSession, FirstJobChoice);
worker!(second, Second, SecondSession, SecondJobChoice);
worker!(third, Third, ThirdSession, ThirdJobChoice);

/// The results, and the number of jobs of each worker: the second and the third are slow.
pub async fn run() -> Result<(Vec<u64>, [usize; 3])> {
    let mut roles = Roles::default();
    let more = ["four", "fives", "sixsix"];
    let all = roles.run(
        |session| dispatcher(session, ["1", "22", "333"], &more),
        |session| first(session, 1),
        |session| second(session, 100),
        |session| third(session, 200),
    );
    let (results, first, second, third) = all.await?;
    Ok((results, [first, second, third]))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    rumpsteak_examples::conclude(run().await, (vec![1, 4, 5, 6, 2, 3], [4, 1, 1]))
}
