//! Jacobi's method by a master and any number of workers, a family.

use std::ops::Range;

use rumpsteak::{Ended, Result};

use super::{HOT, Rows, Solution, Task, rows_of};

#[rumpsteak::protocol(
    JacobiWorkers,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
pub mod roles {
    #[session(M)]
    type Master = Send<Worker, Size, MasterRound>;

    struct MasterRound(
        Receive<
            Worker,
            Edges,
            Send<Worker, Borders, Receive<Worker, Change, Select<Worker, Decision>>>,
        >,
    );

    enum Decision {
        More(More, MasterRound),
        Stop(Stop, Receive<Worker, Part, End>),
    }

    #[session(Worker)]
    type Works = Receive<M, Size, Round>;

    struct Round(Send<M, Edges, Receive<M, Borders, Send<M, Change, Branch<M, Order>>>>);

    enum Order {
        More(More, Round),
        Stop(Stop, Send<M, Part, End>),
    }
}
use roles::*;

/// The rows of a worker, of so many.
fn range_of(index: usize, workers: usize, size: usize) -> Range<usize> {
    size * index / workers..size * (index + 1) / workers
}

pub async fn master(session: Master<'_>, task: Task, workers: usize) -> Ended<'_, M, Solution> {
    let size = task.size;
    let mut session = session.send_each(|_| Size(size as u64)).await?;
    let (hot, cold) = (vec![HOT; size], vec![0.0; size]);
    let mut parts = vec![Vec::new(); workers];
    for round in 1.. {
        let mut edges = vec![(Vec::new(), Vec::new()); workers];
        let take = |index, Edges(first, last): Edges| edges[index] = (first, last);
        let next = session.receive_each(take).await?;
        // A worker without rows has no edges.
        let edge = |row: &Vec<f64>| (!row.is_empty()).then(|| row.clone());
        let border = |index: usize| {
            let above = edges[..index].iter().rev().find_map(|(_, last)| edge(last));
            let below = edges[index + 1..].iter().find_map(|(first, _)| edge(first));
            Borders(above.unwrap_or_else(|| hot.clone()), below.unwrap_or_else(|| cold.clone()))
        };
        let next = next.send_each(border).await?;
        let mut change: f64 = 0.0;
        let next = next.receive_each(|_, Change(own)| change = change.max(own)).await?;
        if change > task.accuracy {
            session = next.select_each(|_| More).await?;
            continue;
        }
        let next = next.select_each(|_| Stop).await?;
        let end = next.receive_each(|index, Part(part)| parts[index] = part).await?;
        return end.end((rows_of(&parts.concat(), size), round));
    }
    unreachable!("the changes get smaller and smaller")
}

pub async fn worker(index: usize, workers: usize, session: Works<'_>) -> Ended<'_, Worker> {
    let (Size(size), mut session) = session.receive().await?;
    let size = size as usize;
    let mut plate = Rows::new(range_of(index, workers, size).len(), size);
    loop {
        let row = |row: Option<&Vec<f64>>| row.cloned().unwrap_or_default();
        let edges = Edges(row(plate.rows.first()), row(plate.rows.last()));
        let (Borders(above, below), next) = session.send(edges).await?.receive().await?;
        let change = plate.step(&above, &below);
        match next.send(Change(change)).await?.branch().await? {
            Order::More(More, next) => session = next,
            Order::Stop(Stop, next) => return next.send(Part(plate.rows.concat())).await?.end(()),
        }
    }
}

/// All roles in one process.
pub async fn together(task: Task, workers: usize) -> Result<Solution> {
    let mut roles = Roles::sized(workers);
    let member = |index, session| worker(index, workers, session);
    let (solution, _) = roles.run(|session| master(session, task, workers), member).await?;
    Ok(solution)
}
